//! Memory that C frees.

use crate::failure::{Failure, Result};

/// Room for `count` values, all bits 0.
pub(crate) fn zeroed<T>(count: usize) -> Result<*mut T> {
    // SAFETY: calloc(3) checks the product; at least one byte, so that NULL means that there was no memory.
    let place = unsafe { libc::calloc(count.max(1), size_of::<T>().max(1)) };
    if place.is_null() {
        return Err(Failure::new(libc::ENOMEM, "no memory"));
    }
    Ok(place.cast())
}

/// Gives memory of [`zeroed`] back; NULL is nothing.
///
/// # Safety
/// It is of `zeroed`, and nobody uses it any more.
pub(crate) unsafe fn free<T>(place: *mut T) {
    // SAFETY: as the caller promises.
    unsafe { libc::free(place.cast()) };
}
