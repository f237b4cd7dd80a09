//! Texts that come from C and go to C.

use crate::failure::{Failure, Result};
use crate::memory;
use std::ffi::{CStr, c_char};

/// A C string; none for NULL.
///
/// # Safety
/// NULL, or a C string that lives as long as what is returned is used.
pub(crate) unsafe fn optional<'a>(text: *const c_char, what: &str) -> Result<Option<&'a str>> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(text) };
    match text.to_str() {
        Ok(text) => Ok(Some(text)),
        Err(_) => Err(Failure::invalid(format!("{what} is not UTF-8: {}", text.to_string_lossy()))),
    }
}

/// A C string that must be there.
///
/// # Safety
/// As for [`optional`].
pub(crate) unsafe fn needed<'a>(text: *const c_char, what: &str) -> Result<&'a str> {
    // SAFETY: as the caller promises.
    let text = unsafe { optional(text, what) }?;
    text.ok_or_else(|| Failure::invalid(format!("{what} is NULL")))
}

/// A copy that C frees with free(3) or one of this library's functions.
pub(crate) fn copied(text: &str) -> Result<*mut c_char> {
    let bytes = text.as_bytes();
    let copy = memory::zeroed::<u8>(bytes.len() + 1)?;
    // SAFETY: there is room for the bytes and the NUL, and nobody else knows the place yet.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), copy, bytes.len()) };
    Ok(copy.cast())
}
