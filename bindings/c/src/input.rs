//! Reads.

use crate::failure::{EINTERNAL, Failure, Result, run, run_for_number};
use crate::files::{FILES, File};
use crate::handles::{hdfsFS, hdfsFile};
use crate::{tOffset, tSize};
use std::ffi::{c_int, c_void};

/// The caller's room for a read.
///
/// # Safety
/// NULL, or room for `length` bytes that nobody else uses as long as what is returned is used.
unsafe fn room<'a>(buffer: *mut c_void, length: tSize) -> Result<&'a mut [u8]> {
    let length = usize::try_from(length)
        .map_err(|_| Failure::invalid(format!("length is negative: {length}")))?;
    match (buffer.is_null(), length) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(Failure::invalid("buffer is NULL")),
        // SAFETY: as the caller promises. Bytes that were never written are only written here.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts_mut(buffer.cast(), length) }),
    }
}

fn offset_of(number: tOffset) -> Result<u64> {
    u64::try_from(number).map_err(|_| Failure::invalid(format!("the offset is negative: {number}")))
}

/// A count of bytes of a buffer whose length was a tSize.
fn size(count: usize) -> tSize {
    tSize::try_from(count).unwrap_or(tSize::MAX)
}

/// Reads on: the bytes read, fewer only at the file's end; 0 there, -1 with errno.
///
/// # Safety
/// `buffer` has room for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsRead(
    _fs: hdfsFS,
    file: hdfsFile,
    buffer: *mut c_void,
    length: tSize,
) -> tSize {
    run(-1, || {
        let file = FILES.get(file)?;
        // SAFETY: as the caller promises.
        let room = unsafe { room(buffer, length) }?;
        let read = file.input(libc::EINVAL)?.input.write().read(room)?;
        Ok(size(read))
    })
}

/// hdfsRead(): Apache's library exports it under this name too, which no header declares and fio's engine calls.
///
/// # Safety
/// `buffer` has room for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn readDirect(
    fs: hdfsFS,
    file: hdfsFile,
    buffer: *mut c_void,
    length: tSize,
) -> tSize {
    // SAFETY: as the caller promises.
    unsafe { hdfsRead(fs, file, buffer, length) }
}

/// Reads at an offset, and leaves the position as it is. See hdfsRead().
///
/// # Safety
/// `buffer` has room for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsPread(
    _fs: hdfsFS,
    file: hdfsFile,
    position: tOffset,
    buffer: *mut c_void,
    length: tSize,
) -> tSize {
    run(-1, || {
        let file = FILES.get(file)?;
        // SAFETY: as the caller promises.
        let room = unsafe { room(buffer, length) }?;
        let read = file.input(libc::EINVAL)?.input.read().read_at(offset_of(position)?, room)?;
        Ok(size(read))
    })
}

/// Reads exactly so many bytes at an offset. 0, or -1 with errno.
///
/// # Safety
/// `buffer` has room for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsPreadFully(
    _fs: hdfsFS,
    file: hdfsFile,
    position: tOffset,
    buffer: *mut c_void,
    length: tSize,
) -> c_int {
    run(-1, || {
        let file = FILES.get(file)?;
        // SAFETY: as the caller promises.
        let room = unsafe { room(buffer, length) }?;
        let (wanted, position) = (room.len(), offset_of(position)?);
        let reading = file.input(libc::EINVAL)?;
        let mut done = 0;
        while done < wanted {
            match reading.input.read().read_at(position + done as u64, &mut room[done..])? {
                0 => {
                    let text = "End of file reached before reading fully.";
                    return Err(Failure::new(EINTERNAL, format!("java.io.EOFException: {text}")));
                }
                more => done += more,
            }
        }
        Ok(0)
    })
}

/// Sets the position of a file being read. 0, or -1 with errno.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsSeek(_fs: hdfsFS, file: hdfsFile, desiredPos: tOffset) -> c_int {
    run(-1, || {
        let file = FILES.get(file)?;
        file.input(libc::EBADF)?.input.write().seek(offset_of(desiredPos)?)?;
        Ok(0)
    })
}

/// The position in a file: -1 with errno on an error.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsTell(_fs: hdfsFS, file: hdfsFile) -> tOffset {
    run(-1, || {
        let pos = match &*FILES.get(file)? {
            File::Reading(reading) => reading.input.write().pos()?,
            File::Writing(output) => output.lock().pos()?,
        };
        Ok(tOffset::try_from(pos).unwrap_or(tOffset::MAX))
    })
}

/// Bytes between the position and the end: -1 with errno on an error.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsAvailable(_fs: hdfsFS, file: hdfsFile) -> c_int {
    run(-1, || {
        let file = FILES.get(file)?;
        let mut input = file.input(libc::EBADF)?.input.write();
        let left = input.len()?.saturating_sub(input.pos()?);
        Ok(c_int::try_from(left).unwrap_or(c_int::MAX))
    })
}

/// Lets connections and open replicas go until the next read. 0, or the number of the error, ENOTSUP for a file that has none.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsUnbufferFile(file: hdfsFile) -> c_int {
    run_for_number(|| {
        let file = FILES.get(file)?;
        file.input(libc::ENOTSUP)?.input.write().unbuffer()?;
        Ok(())
    })
}
