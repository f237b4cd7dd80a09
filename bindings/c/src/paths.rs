//! Calls about paths.

use crate::failure::{EINTERNAL, Failure, Result, run};
use crate::handles::hdfsFS;
use crate::store::{Connected, FILE_SYSTEMS};
use crate::{tOffset, tTime, text};
use std::ffi::{c_char, c_int, c_short};
use std::ptr::null_mut;

/// A call about a path: 0, or -1 with errno.
///
/// # Safety
/// `path` is NULL or a C string.
unsafe fn on(
    fs: hdfsFS,
    path: *const c_char,
    call: impl FnOnce(&Connected, &str) -> Result<c_int>,
) -> c_int {
    run(-1, || {
        // SAFETY: as the caller promises.
        let path = unsafe { text::needed(path, "path") }?;
        let fs = FILE_SYSTEMS.get(fs)?;
        call(&fs, &fs.absolute(path)?)
    })
}

/// Java's servers say `false` of what could not be done, and no more.
fn done(is_done: bool, what: impl FnOnce() -> String) -> Result<c_int> {
    if is_done { Ok(0) } else { Err(Failure::new(libc::EIO, what())) }
}

/// Whether there is such a path: 0, or -1 with errno, ENOENT if there is none.
///
/// # Safety
/// `path` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsExists(fs: hdfsFS, path: *const c_char) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { on(fs, path, |fs, path| fs.store.info(path).map(|_| 0)) }
}

/// Deletes a path, and what is below it if `recursive` is not 0. 0, or -1 with errno.
///
/// # Safety
/// `path` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsDelete(fs: hdfsFS, path: *const c_char, recursive: c_int) -> c_int {
    let call = |fs: &Connected, path: &str| {
        done(fs.store.delete(path, recursive != 0)?, || format!("nothing was deleted: {path}"))
    };
    // SAFETY: as the caller promises.
    unsafe { on(fs, path, call) }
}

/// Renames a path. 0, or -1 with errno.
///
/// # Safety
/// `oldPath` and `newPath` are NULL or C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsRename(
    fs: hdfsFS,
    oldPath: *const c_char,
    newPath: *const c_char,
) -> c_int {
    let call = |fs: &Connected, old: &str| {
        // SAFETY: as the caller promises.
        let new = fs.absolute(unsafe { text::needed(newPath, "newPath") }?)?;
        done(fs.store.rename(old, &new)?, || format!("{old} was not renamed to {new}"))
    };
    // SAFETY: as the caller promises.
    unsafe { on(fs, oldPath, call) }
}

/// Makes a directory and those above it that are missing. 0, or -1 with errno.
///
/// # Safety
/// `path` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsCreateDirectory(fs: hdfsFS, path: *const c_char) -> c_int {
    let call = |fs: &Connected, path: &str| {
        done(fs.store.mkdirs(path)?, || format!("the directory was not made: {path}"))
    };
    // SAFETY: as the caller promises.
    unsafe { on(fs, path, call) }
}

/// Sets how many replicas each block of a file should have. 0, or -1 with errno: ENOENT for a directory, too.
///
/// # Safety
/// `path` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsSetReplication(
    fs: hdfsFS,
    path: *const c_char,
    replication: i16,
) -> c_int {
    let call = |fs: &Connected, path: &str| {
        let refused = |_| {
            let text = format!("java.io.IOException: replication is negative: {replication}");
            Failure::new(EINTERNAL, text)
        };
        let number = u16::try_from(replication).map_err(refused)?;
        match fs.store.set_replication(path, number)? {
            true => Ok(0),
            false => Err(Failure::new(libc::ENOENT, format!("no file: {path}"))),
        }
    };
    // SAFETY: as the caller promises.
    unsafe { on(fs, path, call) }
}

/// Cuts a file off: 1 if it can be written at once, 0 if the cluster is still at it; -1 with errno.
///
/// # Safety
/// `path` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsTruncateFile(
    fs: hdfsFS,
    path: *const c_char,
    newlength: tOffset,
) -> c_int {
    let call = |fs: &Connected, path: &str| {
        let len = u64::try_from(newlength)
            .map_err(|_| Failure::invalid(format!("newlength is negative: {newlength}")))?;
        Ok(fs.store.truncate(path, len)?.into())
    };
    // SAFETY: as the caller promises.
    unsafe { on(fs, path, call) }
}

/// Sets owner and group; NULL leaves one as it is. 0, or -1 with errno.
///
/// # Safety
/// `path`, `owner` and `group` are NULL or C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsChown(
    fs: hdfsFS,
    path: *const c_char,
    owner: *const c_char,
    group: *const c_char,
) -> c_int {
    let call = |fs: &Connected, path: &str| {
        // SAFETY: as the caller promises.
        let (owner, group) =
            unsafe { (text::optional(owner, "owner")?, text::optional(group, "group")?) };
        if owner.is_some() || group.is_some() {
            fs.store.set_owner(path, owner, group)?;
        }
        Ok(0)
    };
    // SAFETY: as the caller promises.
    unsafe { on(fs, path, call) }
}

/// Sets the permission bits. 0, or -1 with errno.
///
/// # Safety
/// `path` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsChmod(fs: hdfsFS, path: *const c_char, mode: c_short) -> c_int {
    let call = |fs: &Connected, path: &str| {
        fs.store.set_permission(path, mode as u16 & 0o1777)?;
        Ok(0)
    };
    // SAFETY: as the caller promises.
    unsafe { on(fs, path, call) }
}

/// Sets the times of a file, in seconds since 1970; -1 leaves one as it is. 0, or -1 with errno.
///
/// # Safety
/// `path` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsUtime(
    fs: hdfsFS,
    path: *const c_char,
    mtime: tTime,
    atime: tTime,
) -> c_int {
    let call = |fs: &Connected, path: &str| {
        let ms = |seconds: tTime| u64::try_from(seconds).ok().map(|time| time.saturating_mul(1000));
        fs.store.set_times(path, ms(mtime), ms(atime))?;
        Ok(0)
    };
    // SAFETY: as the caller promises.
    unsafe { on(fs, path, call) }
}

/// Writes the working directory's URI into a buffer: the buffer, or NULL with errno, ENAMETOOLONG if it is too small.
///
/// # Safety
/// `buffer` has room for `bufferSize` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsGetWorkingDirectory(
    fs: hdfsFS,
    buffer: *mut c_char,
    bufferSize: usize,
) -> *mut c_char {
    run(null_mut(), || {
        let fs = FILE_SYSTEMS.get(fs)?;
        if buffer.is_null() {
            return Err(Failure::invalid("buffer is NULL"));
        }
        let text = format!("{}{}", fs.store.uri(), fs.working.lock());
        if text.len() >= bufferSize {
            let text = format!("the working directory has {} bytes", text.len() + 1);
            return Err(Failure::new(libc::ENAMETOOLONG, text));
        }
        // SAFETY: the text and its NUL fit into the buffer.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast(), text.len());
            *buffer.add(text.len()) = 0;
        }
        Ok(buffer)
    })
}

/// Sets the working directory of a file system's handle. 0, or -1 with errno.
///
/// # Safety
/// `path` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsSetWorkingDirectory(fs: hdfsFS, path: *const c_char) -> c_int {
    let call = |fs: &Connected, path: &str| {
        *fs.working.lock() = path.to_owned();
        Ok(0)
    };
    // SAFETY: as the caller promises.
    unsafe { on(fs, path, call) }
}

fn number(call: impl FnOnce() -> Result<u64>) -> tOffset {
    run(-1, || Ok(tOffset::try_from(call()?).unwrap_or(tOffset::MAX)))
}

/// The block size of a new file; -1 with errno on an error.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsGetDefaultBlockSize(fs: hdfsFS) -> tOffset {
    number(|| FILE_SYSTEMS.get(fs)?.store.default_block_size("/"))
}

/// The block size of a new file at a path; -1 with errno on an error.
///
/// # Safety
/// `path` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsGetDefaultBlockSizeAtPath(fs: hdfsFS, path: *const c_char) -> tOffset {
    number(|| {
        // SAFETY: as the caller promises.
        let path = unsafe { text::needed(path, "path") }?;
        let fs = FILE_SYSTEMS.get(fs)?;
        fs.store.default_block_size(&fs.absolute(path)?)
    })
}

/// Bytes that the cluster's disks have for blocks; -1 with errno on an error.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsGetCapacity(fs: hdfsFS) -> tOffset {
    number(|| Ok(FILE_SYSTEMS.get(fs)?.store.capacity()?.0))
}

/// Bytes of all replicas; -1 with errno on an error.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsGetUsed(fs: hdfsFS) -> tOffset {
    number(|| Ok(FILE_SYSTEMS.get(fs)?.store.capacity()?.1))
}
