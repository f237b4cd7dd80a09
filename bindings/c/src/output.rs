//! Writes.

use crate::failure::{Failure, run};
use crate::files::FILES;
use crate::handles::{hdfsFS, hdfsFile};
use crate::store::Output;
use crate::tSize;
use std::ffi::{c_int, c_void};

/// Writes all of a buffer: its length, or -1 with errno.
///
/// # Safety
/// `buffer` holds `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsWrite(
    _fs: hdfsFS,
    file: hdfsFile,
    buffer: *const c_void,
    length: tSize,
) -> tSize {
    run(-1, || {
        let file = FILES.get(file)?;
        let len = usize::try_from(length)
            .map_err(|_| Failure::invalid(format!("length is negative: {length}")))?;
        let output = file.output(libc::EINVAL)?;
        if len == 0 {
            return Ok(0);
        }
        if buffer.is_null() {
            return Err(Failure::invalid("buffer is NULL"));
        }
        // SAFETY: as the caller promises.
        let data = unsafe { std::slice::from_raw_parts(buffer.cast::<u8>(), len) };
        output.lock().write(data)?;
        Ok(length)
    })
}

fn on_output(
    file: hdfsFile,
    call: impl FnOnce(&mut dyn Output) -> crate::failure::Result<()>,
) -> c_int {
    run(-1, || {
        let file = FILES.get(file)?;
        call(&mut **file.output(libc::EBADF)?.lock())?;
        Ok(0)
    })
}

/// Does nothing: Java's streams have a buffer that this empties; see hdfsHFlush(). 0, or -1 with errno.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsFlush(_fs: hdfsFS, file: hdfsFile) -> c_int {
    on_output(file, |_| Ok(()))
}

/// Whoever opens the file from now on sees what was written: every DataNode of the pipeline has it. 0, or -1 with errno.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsHFlush(_fs: hdfsFS, file: hdfsFile) -> c_int {
    on_output(file, |output| output.hflush())
}

/// The same, and it is on the DataNodes' disks. 0, or -1 with errno.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsHSync(_fs: hdfsFS, file: hdfsFile) -> c_int {
    on_output(file, |output| output.hsync())
}

/// The name that libhdfs3 has for hdfsHSync().
#[unsafe(no_mangle)]
pub extern "C" fn hdfsSync(fs: hdfsFS, file: hdfsFile) -> c_int {
    hdfsHSync(fs, file)
}
