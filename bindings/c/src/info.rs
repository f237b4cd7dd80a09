//! `hdfsFileInfo`: what is known of a path, in C's memory.

use crate::failure::{Failure, Result, clear_errno, run};
use crate::handles::hdfsFS;
use crate::store::{FILE_SYSTEMS, Info};
use crate::{memory, tOffset, tTime, text};
use std::ffi::{c_char, c_int, c_short};
use std::ptr::null_mut;

/// What a path is.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum tObjectKind {
    /// A file.
    kObjectKindFile = 70,
    /// A directory.
    kObjectKindDirectory = 68,
}

/// What is known of a file or directory.
#[repr(C)]
pub struct hdfsFileInfo {
    /// A file or a directory.
    pub mKind: tObjectKind,
    /// The path as a URI.
    pub mName: *mut c_char,
    /// When it was modified, in seconds since 1970.
    pub mLastMod: tTime,
    /// Bytes.
    pub mSize: tOffset,
    /// Replicas each block should have.
    pub mReplication: c_short,
    /// Size at which a block is full.
    pub mBlockSize: tOffset,
    /// The owner.
    pub mOwner: *mut c_char,
    /// The group.
    pub mGroup: *mut c_char,
    /// The nine permission bits and the sticky bit.
    pub mPermissions: c_short,
    /// When it was read, in seconds since 1970.
    pub mLastAccess: tTime,
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Behind the NUL of the owner's name stands whether the file is encrypted: the structure has no room for it.
fn owner(info: &Info) -> Result<*mut c_char> {
    let bytes = info.owner.as_bytes();
    let copy = memory::zeroed::<u8>(bytes.len() + 2)?;
    // SAFETY: there is room for the bytes, the NUL and the flag, and nobody else knows the place yet.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), copy, bytes.len());
        *copy.add(bytes.len() + 1) = u8::from(info.is_encrypted);
    }
    Ok(copy.cast())
}

/// An array in C's memory.
fn array(all: &[Info]) -> Result<*mut hdfsFileInfo> {
    let array = memory::zeroed::<hdfsFileInfo>(all.len())?;
    for (at, info) in all.iter().enumerate() {
        let made = (|| {
            Ok(hdfsFileInfo {
                mKind: match info.is_directory {
                    true => tObjectKind::kObjectKindDirectory,
                    false => tObjectKind::kObjectKindFile,
                },
                mName: text::copied(&info.name)?,
                mLastMod: signed(info.modified_s),
                mSize: signed(info.len),
                mReplication: info.replication as c_short,
                mBlockSize: signed(info.block_size),
                mOwner: owner(info)?,
                mGroup: text::copied(&info.group)?,
                mPermissions: info.permission as c_short,
                mLastAccess: signed(info.accessed_s),
            })
        })();
        match made {
            // SAFETY: there is room for all of them.
            Ok(made) => unsafe { array.add(at).write(made) },
            Err(failure) => {
                // SAFETY: those that were made, and those of zeroed memory, which hold NULL.
                unsafe { free(array, all.len()) };
                return Err(failure);
            }
        }
    }
    Ok(array)
}

/// # Safety
/// An array of [`array`] with so many entries, which nobody uses any more.
unsafe fn free(array: *mut hdfsFileInfo, count: usize) {
    for at in 0..count {
        // SAFETY: entries of the array and texts of its own, NULL or made here.
        unsafe {
            let info = array.add(at);
            memory::free((*info).mName);
            memory::free((*info).mOwner);
            memory::free((*info).mGroup);
        }
    }
    // SAFETY: as the caller promises.
    unsafe { memory::free(array) };
}

/// What a directory holds, or the file itself; to be freed with hdfsFreeFileInfo(). NULL for an empty directory, with
/// errno 0, and on an error.
///
/// # Safety
/// `path` is NULL or a C string, `numEntries` NULL or the place of an int.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsListDirectory(
    fs: hdfsFS,
    path: *const c_char,
    numEntries: *mut c_int,
) -> *mut hdfsFileInfo {
    run(null_mut(), || {
        // SAFETY: as the caller promises.
        let path = unsafe { text::needed(path, "path") }?;
        // SAFETY: as the caller promises.
        let count = unsafe { numEntries.as_mut() };
        let count = count.ok_or_else(|| Failure::invalid("numEntries is NULL"))?;
        let fs = FILE_SYSTEMS.get(fs)?;
        let all = fs.store.list(&fs.absolute(path)?)?;
        *count = c_int::try_from(all.len())
            .map_err(|_| Failure::new(libc::EOVERFLOW, format!("{path} has too many entries")))?;
        clear_errno();
        if all.is_empty() { Ok(null_mut()) } else { array(&all) }
    })
}

/// What is known of a path; to be freed with hdfsFreeFileInfo(). NULL on an error.
///
/// # Safety
/// `path` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsGetPathInfo(fs: hdfsFS, path: *const c_char) -> *mut hdfsFileInfo {
    run(null_mut(), || {
        // SAFETY: as the caller promises.
        let path = unsafe { text::needed(path, "path") }?;
        let fs = FILE_SYSTEMS.get(fs)?;
        array(&[fs.store.info(&fs.absolute(path)?)?])
    })
}

/// Frees what hdfsListDirectory() and hdfsGetPathInfo() gave.
///
/// # Safety
/// NULL, or what one of these gave, with the number of its entries, and not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsFreeFileInfo(hdfsFileInfo: *mut hdfsFileInfo, numEntries: c_int) {
    if !hdfsFileInfo.is_null() {
        // SAFETY: as the caller promises.
        unsafe { free(hdfsFileInfo, usize::try_from(numEntries).unwrap_or_default()) };
    }
}

/// Whether a file is encrypted: 1 or 0; -1 on an error.
///
/// # Safety
/// NULL, or what hdfsListDirectory() or hdfsGetPathInfo() gave, or an entry of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsFileIsEncrypted(hdfsFileInfo: *mut hdfsFileInfo) -> c_int {
    run(-1, || {
        // SAFETY: as the caller promises.
        let info = unsafe { hdfsFileInfo.as_ref() };
        let info = info.filter(|info| !info.mOwner.is_null());
        let owner = info.ok_or_else(|| Failure::invalid("hdfsFileInfo is NULL"))?.mOwner;
        // SAFETY: a C string of `owner`, with a byte behind its NUL.
        Ok(unsafe { c_int::from(*owner.add(libc::strlen(owner) + 1)) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn an_entry_in_c_s_memory_says_what_is_known() {
        let info = |is_encrypted| Info {
            is_directory: false,
            name: "hdfs://nn:1/a".to_owned(),
            modified_s: 7,
            accessed_s: 8,
            len: 9,
            replication: 3,
            block_size: u64::MAX,
            owner: "alice".to_owned(),
            group: String::new(),
            permission: 0o1755,
            is_encrypted,
            identity: (0, 0),
        };
        let all = array(&[info(false), info(true)]).unwrap();
        // SAFETY: two entries, freed once.
        unsafe {
            let first = &*all;
            assert_eq!(first.mKind, tObjectKind::kObjectKindFile);
            assert_eq!(CStr::from_ptr(first.mName).to_bytes(), b"hdfs://nn:1/a");
            assert_eq!(CStr::from_ptr(first.mOwner).to_bytes(), b"alice");
            assert_eq!((first.mSize, first.mBlockSize, first.mPermissions), (9, i64::MAX, 0o1755));
            assert_eq!((hdfsFileIsEncrypted(all), hdfsFileIsEncrypted(all.add(1))), (0, 1));
            hdfsFreeFileInfo(all, 2);
            assert_eq!(hdfsFileIsEncrypted(null_mut()), -1);
            hdfsFreeFileInfo(null_mut(), 3);
        }
    }
}
