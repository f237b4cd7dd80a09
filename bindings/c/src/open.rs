//! How files are opened.

use crate::failure::{Failure, Result, run};
use crate::files::{FILES, File};
use crate::handles::{Handles, hdfsFS, hdfsFile};
use crate::store::{Connected, Creation, FILE_SYSTEMS, Output};
use crate::{tSize, text};
use parking_lot::Mutex;
use std::ffi::{c_char, c_int, c_short};
use std::ptr::null_mut;
use std::sync::Arc;

/// What a stream builder's pointer points to; never looked into.
pub struct hdfsStreamBuilder {
    _private: [u8; 0],
}

/// What an open-file builder's pointer points to; never looked into.
pub struct hdfsOpenFileBuilder {
    _private: [u8; 0],
}

/// What a future's pointer points to; never looked into.
pub struct hdfsOpenFileFuture {
    _private: [u8; 0],
}

/// Units of time (`java.util.concurrent.TimeUnit`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum javaConcurrentTimeUnit {
    jNanoseconds,
    jMicroseconds,
    jMilliseconds,
    jSeconds,
    jMinutes,
    jHours,
    jDays,
}

/// A file to be opened.
struct Opening {
    fs: Arc<Connected>,
    path: String,
    flags: c_int,
    creation: Creation,
}

impl Opening {
    fn new(fs: hdfsFS, path: &str, flags: c_int) -> Result<Self> {
        let fs = FILE_SYSTEMS.get(fs)?;
        let path = fs.absolute(path)?;
        match flags & libc::O_ACCMODE {
            libc::O_RDONLY | libc::O_WRONLY => (),
            libc::O_RDWR => {
                return Err(Failure::unsupported(
                    "a file is open for reading or for writing, not for both",
                ));
            }
            other => {
                return Err(Failure::invalid(format!("cannot open a file with flags {other:#x}")));
            }
        }
        Ok(Self { fs, path, flags, creation: Creation::default() })
    }

    fn is_reading(&self) -> bool {
        self.flags & libc::O_ACCMODE == libc::O_RDONLY
    }

    fn writing(&self, output: Box<dyn Output>) -> Result<File> {
        Ok(File::Writing(self.fs.opened(output)?))
    }

    fn open(&self) -> Result<hdfsFile> {
        let store = &self.fs.store;
        let has = |flag: c_int| self.flags & flag != 0;
        let creation =
            Creation { is_exclusive: has(libc::O_EXCL) && has(libc::O_CREAT), ..self.creation };
        let file = match () {
            () if self.is_reading() => File::reading(store.open(&self.path)?),
            () if has(libc::O_APPEND) => self.writing(match store.append(&self.path) {
                // O_CREAT with O_APPEND makes a missing file, as open(2) does; of two that race one appends.
                Err(failure) if has(libc::O_CREAT) && failure.is_missing() => {
                    match store.create(&self.path, Creation { is_exclusive: true, ..creation }) {
                        Err(failure) if failure.is_there() => store.append(&self.path)?,
                        made => made?,
                    }
                }
                opened => opened?,
            })?,
            () => self.writing(store.create(&self.path, creation)?)?,
        };
        Ok(FILES.add(file))
    }
}

/// Opens a file: O_RDONLY, O_WRONLY (made, or replaced), O_WRONLY|O_APPEND; O_CREAT with O_APPEND makes a missing file, and
/// with O_EXCL refuses one that is there. A buffer's size is ignored; 0 for replication and block size is the
/// configuration's. NULL on an error.
///
/// # Safety
/// `path` is NULL or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsOpenFile(
    fs: hdfsFS,
    path: *const c_char,
    flags: c_int,
    _bufferSize: c_int,
    replication: c_short,
    blocksize: tSize,
) -> hdfsFile {
    run(null_mut(), || {
        // SAFETY: as the caller promises.
        let mut opening = Opening::new(fs, unsafe { text::needed(path, "path") }?, flags)?;
        opening.creation.replication = replication_of(replication)?;
        opening.creation.block_size = block_size_of(blocksize.into())?;
        opening.open()
    })
}

fn replication_of(number: i16) -> Result<Option<u16>> {
    let number = u16::try_from(number)
        .map_err(|_| Failure::invalid(format!("replication is negative: {number}")))?;
    Ok((number > 0).then_some(number))
}

fn block_size_of(number: i64) -> Result<Option<u64>> {
    let number = u64::try_from(number)
        .map_err(|_| Failure::invalid(format!("the block size is negative: {number}")))?;
    Ok((number > 0).then_some(number))
}

static STREAM_BUILDERS: Handles<Mutex<Opening>> = Handles::new("stream builder");

/// A builder for a file, with flags as of hdfsOpenFile(); hdfsStreamBuilderBuild() frees it.
///
/// # Safety
/// `path` is NULL or a C string. It is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsStreamBuilderAlloc(
    fs: hdfsFS,
    path: *const c_char,
    flags: c_int,
) -> *mut hdfsStreamBuilder {
    run(null_mut(), || {
        // SAFETY: as the caller promises.
        let opening = Opening::new(fs, unsafe { text::needed(path, "path") }?, flags)?;
        Ok(STREAM_BUILDERS.add(Mutex::new(opening)))
    })
}

/// Frees a builder that was not built.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsStreamBuilderFree(bld: *mut hdfsStreamBuilder) {
    if !bld.is_null() {
        run((), || STREAM_BUILDERS.take(bld).map(drop));
    }
}

fn of_writer(
    bld: *mut hdfsStreamBuilder,
    change: impl FnOnce(&mut Creation) -> Result<()>,
) -> c_int {
    run(-1, || {
        let opening = STREAM_BUILDERS.get(bld)?;
        let mut opening = opening.lock();
        if opening.is_reading() {
            return Err(Failure::invalid("this is set for files being written only"));
        }
        change(&mut opening.creation)?;
        Ok(0)
    })
}

/// Does nothing: there is no buffer to be sized. 0, or -1 with errno.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsStreamBuilderSetBufferSize(
    bld: *mut hdfsStreamBuilder,
    bufferSize: i32,
) -> c_int {
    run(-1, || {
        STREAM_BUILDERS.get(bld)?;
        match bufferSize < 0 {
            true => Err(Failure::invalid(format!("bufferSize is negative: {bufferSize}"))),
            false => Ok(0),
        }
    })
}

/// Sets the replicas of each block. 0, or -1 with errno.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsStreamBuilderSetReplication(
    bld: *mut hdfsStreamBuilder,
    replication: i16,
) -> c_int {
    of_writer(bld, |creation| {
        creation.replication = replication_of(replication)?;
        Ok(())
    })
}

/// Sets the size at which a block is full. 0, or -1 with errno.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsStreamBuilderSetDefaultBlockSize(
    bld: *mut hdfsStreamBuilder,
    defaultBlockSize: i64,
) -> c_int {
    of_writer(bld, |creation| {
        creation.block_size = block_size_of(defaultBlockSize)?;
        Ok(())
    })
}

/// Opens the file, and frees the builder. NULL on an error.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsStreamBuilderBuild(bld: *mut hdfsStreamBuilder) -> hdfsFile {
    run(null_mut(), || STREAM_BUILDERS.take(bld)?.lock().open())
}

static OPEN_FILE_BUILDERS: Handles<Mutex<Opening>> = Handles::new("open-file builder");

/// A file that was opened, until it is taken; a failure is told when it is asked for.
static FUTURES: Handles<Mutex<Option<Result<hdfsFileNumber>>>> = Handles::new("future");

/// A file's handle as a number: it may go from thread to thread.
type hdfsFileNumber = usize;

/// A builder for a file to be read; hdfsOpenFileBuilderBuild() frees it.
///
/// # Safety
/// `path` is NULL or a C string. It is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsOpenFileBuilderAlloc(
    fs: hdfsFS,
    path: *const c_char,
) -> *mut hdfsOpenFileBuilder {
    run(null_mut(), || {
        // SAFETY: as the caller promises.
        let path = unsafe { text::needed(path, "path") }?;
        let opening = Opening::new(fs, path, libc::O_RDONLY)?;
        Ok(OPEN_FILE_BUILDERS.add(Mutex::new(opening)))
    })
}

/// Sets an option that the file system must know. It knows none but the standard ones of `fs.option.openfile.`, which
/// are hints. The builder; NULL on an error.
///
/// # Safety
/// `key` and `value` are NULL or C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsOpenFileBuilderMust(
    builder: *mut hdfsOpenFileBuilder,
    key: *const c_char,
    _value: *const c_char,
) -> *mut hdfsOpenFileBuilder {
    run(null_mut(), || {
        OPEN_FILE_BUILDERS.get(builder)?;
        // SAFETY: as the caller promises.
        let key = unsafe { text::needed(key, "key") }?;
        match key.starts_with("fs.option.openfile.") {
            true => Ok(builder),
            false => Err(Failure::invalid(format!("no option {key} for opening a file is known"))),
        }
    })
}

/// Sets an option that the file system may ignore, and ignores it. The builder; NULL on an error.
///
/// # Safety
/// `key` and `value` are NULL or C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hdfsOpenFileBuilderOpt(
    builder: *mut hdfsOpenFileBuilder,
    key: *const c_char,
    _value: *const c_char,
) -> *mut hdfsOpenFileBuilder {
    run(null_mut(), || {
        OPEN_FILE_BUILDERS.get(builder)?;
        // SAFETY: as the caller promises.
        unsafe { text::needed(key, "key") }?;
        Ok(builder)
    })
}

/// Opens the file, which takes one call to the NameNode, and frees the builder. NULL on an error; that there is no such
/// file is told when the file is asked for.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsOpenFileBuilderBuild(
    builder: *mut hdfsOpenFileBuilder,
) -> *mut hdfsOpenFileFuture {
    run(null_mut(), || {
        let opened = OPEN_FILE_BUILDERS.take(builder)?.lock().open();
        Ok(FUTURES.add(Mutex::new(Some(opened.map(|file| file.addr())))))
    })
}

/// Frees a builder that was not built.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsOpenFileBuilderFree(builder: *mut hdfsOpenFileBuilder) {
    if !builder.is_null() {
        run((), || OPEN_FILE_BUILDERS.take(builder).map(drop));
    }
}

/// The file. NULL on an error. It can be asked for once.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsOpenFileFutureGet(future: *mut hdfsOpenFileFuture) -> hdfsFile {
    run(null_mut(), || {
        let opened = FUTURES.get(future)?.lock().take();
        let gone = || Err(Failure::invalid("the file was taken from this future already"));
        Ok(std::ptr::without_provenance_mut(opened.unwrap_or_else(gone)?))
    })
}

/// The same: the file is open when there is a future.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsOpenFileFutureGetWithTimeout(
    future: *mut hdfsOpenFileFuture,
    _timeout: i64,
    _timeUnit: javaConcurrentTimeUnit,
) -> hdfsFile {
    hdfsOpenFileFutureGet(future)
}

/// -1: a file that is open cannot be cancelled. errno says whether there is such a future.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsOpenFileFutureCancel(
    future: *mut hdfsOpenFileFuture,
    _mayInterruptIfRunning: c_int,
) -> c_int {
    run(-1, || {
        FUTURES.get(future)?;
        Err(Failure::new(libc::EALREADY, "the file is open"))
    })
}

/// Frees a future, and closes a file that nobody took.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsOpenFileFutureFree(future: *mut hdfsOpenFileFuture) {
    if future.is_null() {
        return;
    }
    run((), || {
        if let Some(Ok(file)) = FUTURES.take(future)?.lock().take() {
            FILES.take(std::ptr::without_provenance_mut::<u8>(file))?;
        }
        Ok(())
    });
}
