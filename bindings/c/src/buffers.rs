//! Reads without a copy.

use crate::failure::{Failure, run};
use crate::files::FILES;
use crate::handles::{Handles, hdfsFile};
use crate::text;
use parking_lot::Mutex;
use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use zerohop::ZeroCopyRead;

/// What the options' pointer points to; never looked into.
pub struct hadoopRzOptions {
    _private: [u8; 0],
}

/// What a buffer's pointer points to; never looked into.
pub struct hadoopRzBuffer {
    _private: [u8; 0],
}

#[derive(Default)]
struct Options {
    /// Bytes that are not mapped may be copied.
    may_copy: bool,
}

static OPTIONS: Handles<Mutex<Options>> = Handles::new("set of options");

/// A buffer: none at the end of the file.
static BUFFERS: Handles<Option<ZeroCopyRead>> = Handles::new("buffer");

/// The name of Java's pool of buffers.
const POOL: &str = "org/apache/hadoop/io/ElasticByteBufferPool";

/// Options for hadoopReadZero(), to be freed with hadoopRzOptionsFree().
#[unsafe(no_mangle)]
pub extern "C" fn hadoopRzOptionsAlloc() -> *mut hadoopRzOptions {
    run(null_mut(), || Ok(OPTIONS.add(Mutex::default())))
}

/// Whether checksums may be skipped, which changes nothing: bytes are verified where they lie, at memory speed. 0, or -1
/// with errno.
#[unsafe(no_mangle)]
pub extern "C" fn hadoopRzOptionsSetSkipChecksum(
    opts: *mut hadoopRzOptions,
    _skip: c_int,
) -> c_int {
    run(-1, || {
        OPTIONS.get(opts)?;
        Ok(0)
    })
}

/// Names a pool of buffers, so that bytes that are not mapped are copied; NULL refuses to copy. 0, or -1 with errno.
///
/// # Safety
/// `className` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hadoopRzOptionsSetByteBufferPool(
    opts: *mut hadoopRzOptions,
    className: *const c_char,
) -> c_int {
    run(-1, || {
        let options = OPTIONS.get(opts)?;
        // SAFETY: as the caller promises.
        let name = unsafe { text::optional(className, "className") }?;
        if let Some(name) = name.filter(|name| name.replace('.', "/") != POOL) {
            return Err(Failure::invalid(format!("no pool {name} is known, only {POOL}")));
        }
        options.lock().may_copy = name.is_some();
        Ok(0)
    })
}

/// Frees options.
#[unsafe(no_mangle)]
pub extern "C" fn hadoopRzOptionsFree(opts: *mut hadoopRzOptions) {
    if !opts.is_null() {
        run((), || OPTIONS.take(opts).map(drop));
    }
}

/// Reads on without a copy: a buffer of at most `maxLength` bytes, to be freed with hadoopRzBufferFree(). NULL on an error;
/// EPROTONOSUPPORT where the bytes are not mapped and no pool was named.
#[unsafe(no_mangle)]
pub extern "C" fn hadoopReadZero(
    file: hdfsFile,
    opts: *mut hadoopRzOptions,
    maxLength: i32,
) -> *mut hadoopRzBuffer {
    run(null_mut(), || {
        let file = FILES.get(file)?;
        let may_copy = OPTIONS.get(opts)?.lock().may_copy;
        let wanted = usize::try_from(maxLength)
            .map_err(|_| Failure::invalid(format!("maxLength is negative: {maxLength}")))?;
        let mut input = file.input(libc::EINVAL)?.input.write();
        let start = input.pos()?;
        let read = input.read_zero_copy(wanted)?;
        if !read.is_empty() && !read.is_mapped() && !may_copy {
            input.seek(start)?;
            let text = "the bytes are not mapped: no replica is on this machine, or it is not read by short circuit";
            return Err(Failure::new(libc::EPROTONOSUPPORT, text));
        }
        // Callers in C have no `is_intact`.
        let read = match read.without_guard() {
            Ok(read) => read,
            Err(error) => {
                input.seek(start)?;
                return Err(error.into());
            }
        };
        let read = Some(read).filter(|read| wanted == 0 || !read.is_empty());
        Ok(BUFFERS.add(read))
    })
}

/// Bytes of a buffer; -1 with errno on an error.
#[unsafe(no_mangle)]
pub extern "C" fn hadoopRzBufferLength(buffer: *const hadoopRzBuffer) -> i32 {
    run(-1, || {
        let buffer = BUFFERS.get(buffer.cast_mut())?;
        let len = (*buffer).as_ref().map_or(0, ZeroCopyRead::len);
        Ok(i32::try_from(len).unwrap_or(i32::MAX))
    })
}

/// Returns the bytes of a buffer, which may be read until it is freed; NULL at the end of the file. If the disk fails under bytes
/// that are not copied, or another process cuts their block file, a read of them raises SIGBUS, as with Apache Hadoop's library.
#[unsafe(no_mangle)]
pub extern "C" fn hadoopRzBufferGet(buffer: *const hadoopRzBuffer) -> *const c_void {
    run(null(), || {
        let buffer = BUFFERS.get(buffer.cast_mut())?;
        Ok((*buffer).as_ref().map_or(null(), |read| read.bytes().as_ptr().cast()))
    })
}

/// Frees a buffer. It may outlive the file.
#[unsafe(no_mangle)]
pub extern "C" fn hadoopRzBufferFree(_file: hdfsFile, buffer: *mut hadoopRzBuffer) {
    if !buffer.is_null() {
        run((), || BUFFERS.take(buffer).map(drop));
    }
}
