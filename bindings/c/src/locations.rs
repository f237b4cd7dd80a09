//! Where the blocks of a file are.

use crate::failure::{Failure, Result, run};
use crate::handles::hdfsFS;
use crate::store::{BlockHosts, Connected, FILE_SYSTEMS};
use crate::{memory, tOffset, text};
use std::ffi::{c_char, c_int};
use std::ptr::null_mut;

/// Where a block is, as libhdfs3 has it.
#[repr(C)]
pub struct BlockLocation {
    /// Every replica is corrupt.
    pub corrupt: c_int,
    /// Its replicas.
    pub numOfNodes: c_int,
    /// Host names of their DataNodes.
    pub hosts: *mut *mut c_char,
    /// Addresses of their DataNodes, `ip:port`.
    pub names: *mut *mut c_char,
    /// Racks and addresses of their DataNodes.
    pub topologyPaths: *mut *mut c_char,
    /// Its bytes.
    pub length: tOffset,
    /// Where in the file it begins.
    pub offset: tOffset,
}

/// Texts in C's memory, with NULL behind the last.
fn texts(all: &[String]) -> Result<*mut *mut c_char> {
    let array = memory::zeroed::<*mut c_char>(all.len() + 1)?;
    for (at, one) in all.iter().enumerate() {
        match text::copied(one) {
            // SAFETY: there is room for all of them.
            Ok(copy) => unsafe { array.add(at).write(copy) },
            Err(failure) => {
                // SAFETY: made here, with NULL behind what was copied.
                unsafe { free_texts(array) };
                return Err(failure);
            }
        }
    }
    Ok(array)
}

/// # Safety
/// NULL, or of [`texts`], and nobody uses it any more.
unsafe fn free_texts(array: *mut *mut c_char) {
    if array.is_null() {
        return;
    }
    let mut at = array;
    // SAFETY: the array ends with NULL.
    unsafe {
        while !(*at).is_null() {
            memory::free(*at);
            at = at.add(1);
        }
        memory::free(array);
    }
}

/// The blocks of a range; a path that is a directory has none.
fn blocks(fs: &Connected, path: &str, start: tOffset, length: tOffset) -> Result<Vec<BlockHosts>> {
    let number = |what: &str, number: tOffset| {
        u64::try_from(number).map_err(|_| Failure::invalid(format!("{what} is negative: {number}")))
    };
    let (start, length) = (number("start", start)?, number("length", length)?);
    let path = fs.absolute(path)?;
    let info = fs.store.info(&path)?;
    if info.is_directory {
        return Err(Failure::new(libc::EISDIR, format!("{path} is a directory")));
    }
    if length == 0 || start >= info.len {
        return Ok(Vec::new());
    }
    fs.store.block_hosts(&path, start, length)
}

/// The host names of each block of a range: an array with NULL at its end of arrays with NULL at their ends, to be freed
/// with hdfsFreeHosts(). NULL on an error.
///
/// # Safety
/// `path` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsGetHosts(
    fs: hdfsFS,
    path: *const c_char,
    start: tOffset,
    length: tOffset,
) -> *mut *mut *mut c_char {
    run(null_mut(), || {
        // SAFETY: as the caller promises.
        let path = unsafe { text::needed(path, "path") }?;
        let all = blocks(&*FILE_SYSTEMS.get(fs)?, path, start, length)?;
        let array = memory::zeroed::<*mut *mut c_char>(all.len() + 1)?;
        for (at, block) in all.iter().enumerate() {
            match texts(&block.hosts) {
                // SAFETY: there is room for all of them.
                Ok(hosts) => unsafe { array.add(at).write(hosts) },
                Err(failure) => {
                    // SAFETY: made here, with NULL behind what was copied.
                    unsafe { hdfsFreeHosts(array) };
                    return Err(failure);
                }
            }
        }
        Ok(array)
    })
}

/// Frees what hdfsGetHosts() gave.
///
/// # Safety
/// NULL, or what hdfsGetHosts() gave and was not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsFreeHosts(blockHosts: *mut *mut *mut c_char) {
    if blockHosts.is_null() {
        return;
    }
    let mut at = blockHosts;
    // SAFETY: the array ends with NULL.
    unsafe {
        while !(*at).is_null() {
            free_texts(*at);
            at = at.add(1);
        }
        memory::free(blockHosts);
    }
}

/// Where the blocks of a range are, as libhdfs3 says it; to be freed with hdfsFreeFileBlockLocations(). NULL on an error.
///
/// # Safety
/// `path` is NULL or a C string, `numOfBlock` NULL or the place of an int.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsGetFileBlockLocations(
    fs: hdfsFS,
    path: *const c_char,
    start: tOffset,
    length: tOffset,
    numOfBlock: *mut c_int,
) -> *mut BlockLocation {
    run(null_mut(), || {
        // SAFETY: as the caller promises.
        let path = unsafe { text::needed(path, "path") }?;
        // SAFETY: as the caller promises.
        let count = unsafe { numOfBlock.as_mut() };
        let count = count.ok_or_else(|| Failure::invalid("numOfBlock is NULL"))?;
        let all = blocks(&*FILE_SYSTEMS.get(fs)?, path, start, length)?;
        let total = c_int::try_from(all.len()).map_err(|_| Failure::invalid("too many blocks"))?;
        let array = memory::zeroed::<BlockLocation>(all.len())?;
        for (at, block) in all.iter().enumerate() {
            let filled = (|| {
                // SAFETY: an entry of the array, whose zeros are a valid one.
                let entry = unsafe { &mut *array.add(at) };
                entry.corrupt = block.is_corrupt.into();
                entry.numOfNodes = block.hosts.len() as c_int;
                entry.hosts = texts(&block.hosts)?;
                entry.names = texts(&block.names)?;
                entry.topologyPaths = texts(&block.topology)?;
                entry.length = i64::try_from(block.len).unwrap_or(i64::MAX);
                entry.offset = i64::try_from(block.offset).unwrap_or(i64::MAX);
                Ok(())
            })();
            if let Err(failure) = filled {
                // SAFETY: made here; what was not filled in is NULL.
                unsafe { hdfsFreeFileBlockLocations(array, total) };
                return Err(failure);
            }
        }
        *count = total;
        Ok(array)
    })
}

/// Frees what hdfsGetFileBlockLocations() gave.
///
/// # Safety
/// NULL, or what hdfsGetFileBlockLocations() gave, with the number of its entries, and not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsFreeFileBlockLocations(
    locations: *mut BlockLocation,
    numOfBlock: c_int,
) {
    if locations.is_null() {
        return;
    }
    for at in 0..usize::try_from(numOfBlock).unwrap_or_default() {
        // SAFETY: entries of the array.
        unsafe {
            let entry = &*locations.add(at);
            free_texts(entry.hosts);
            free_texts(entry.names);
            free_texts(entry.topologyPaths);
        }
    }
    // SAFETY: as the caller promises.
    unsafe { memory::free(locations) };
}
