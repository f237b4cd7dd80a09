//! Open files.

use crate::failure::{Failure, Result, run};
use crate::handles::{Handles, hdfsFS, hdfsFile};
use crate::store::{Input, Writing};
use parking_lot::{Mutex, RwLock};
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zerohop::ReadStatistics;

/// A file being read: reads at an offset go on beside each other, one that moves the position goes alone.
pub(crate) struct Reading {
    pub(crate) input: RwLock<Box<dyn Input>>,
    /// What had been read when the statistics were cleared.
    pub(crate) cleared: Mutex<ReadStatistics>,
    /// What hdfsFileUsesDirectRead() and hdfsFileUsesDirectPread() say.
    uses_direct: [AtomicBool; 2],
}

/// The two ways of reading of which Apache's library has a direct and an indirect kind.
#[derive(Clone, Copy)]
enum Direct {
    Read = 0,
    Pread = 1,
}

/// What a file's handle stands for.
pub(crate) enum File {
    Reading(Box<Reading>),
    Writing(Arc<Writing>),
}

pub(crate) static FILES: Handles<File> = Handles::new("file");

impl File {
    pub(crate) fn reading(input: Box<dyn Input>) -> Self {
        let uses_direct = [const { AtomicBool::new(true) }; 2];
        let (input, cleared) = (RwLock::new(input), Mutex::default());
        Self::Reading(Box::new(Reading { input, cleared, uses_direct }))
    }

    /// The file as one being read; `errno` where it is not.
    pub(crate) fn input(&self, errno: c_int) -> Result<&Reading> {
        match self {
            Self::Reading(reading) => Ok(reading),
            Self::Writing(_) => Err(Failure::new(errno, "the file is not open for reading")),
        }
    }

    /// The file as one being written; `errno` where it is not.
    pub(crate) fn output(&self, errno: c_int) -> Result<&Writing> {
        match self {
            Self::Writing(output) => Ok(output),
            Self::Reading(_) => Err(Failure::new(errno, "the file is not open for writing")),
        }
    }
}

/// Whether a file is open for reading: 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsFileIsOpenForRead(file: hdfsFile) -> c_int {
    run(0, || Ok(matches!(*FILES.get(file)?, File::Reading(_)).into()))
}

/// Whether a file is open for writing: 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsFileIsOpenForWrite(file: hdfsFile) -> c_int {
    run(0, || Ok(matches!(*FILES.get(file)?, File::Writing(_)).into()))
}

fn direct(file: hdfsFile, of: Direct, call: impl FnOnce(&AtomicBool) -> bool) -> c_int {
    run(0, || {
        let file = FILES.get(file)?;
        Ok(file
            .input(libc::EINVAL)
            .is_ok_and(|reading| call(&reading.uses_direct[of as usize]))
            .into())
    })
}

/// Whether reads go to the caller's buffer directly, as they always do: 1, or 0 after hdfsFileDisableDirectRead() and for what
/// is no file being read. This and the three that follow are of Apache's hdfs_test.h.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsFileUsesDirectRead(file: hdfsFile) -> c_int {
    direct(file, Direct::Read, |uses| uses.load(Ordering::Relaxed))
}

/// Has hdfsFileUsesDirectRead() say 0, and changes nothing else.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsFileDisableDirectRead(file: hdfsFile) {
    direct(file, Direct::Read, |uses| uses.swap(false, Ordering::Relaxed));
}

/// hdfsFileUsesDirectRead() for hdfsPread().
#[unsafe(no_mangle)]
pub extern "C" fn hdfsFileUsesDirectPread(file: hdfsFile) -> c_int {
    direct(file, Direct::Pread, |uses| uses.load(Ordering::Relaxed))
}

/// hdfsFileDisableDirectRead() for hdfsPread().
#[unsafe(no_mangle)]
pub extern "C" fn hdfsFileDisableDirectPread(file: hdfsFile) {
    direct(file, Direct::Pread, |uses| uses.swap(false, Ordering::Relaxed));
}

/// Closes a file, and its handle too where that fails. 0, or -1 with errno.
#[unsafe(no_mangle)]
pub extern "C" fn hdfsCloseFile(_fs: hdfsFS, file: hdfsFile) -> c_int {
    run(-1, || {
        if let File::Writing(output) = &*FILES.take(file)? {
            output.lock().close()?;
        }
        Ok(0)
    })
}
