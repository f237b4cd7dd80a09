//! Open files.

use crate::failure::{Failure, Result, run};
use crate::handles::{Handles, hdfsFS, hdfsFile};
use crate::store::{Input, Output};
use parking_lot::{Mutex, RwLock};
use std::ffi::c_int;
use zerohop::ReadStatistics;

/// A file being read: reads at an offset go on beside each other, one that moves the position goes alone.
pub(crate) struct Reading {
    pub(crate) input: RwLock<Box<dyn Input>>,
    /// What had been read when the statistics were cleared.
    pub(crate) cleared: Mutex<ReadStatistics>,
}

/// What a file's handle stands for.
pub(crate) enum File {
    Reading(Box<Reading>),
    Writing(Mutex<Box<dyn Output>>),
}

pub(crate) static FILES: Handles<File> = Handles::new("file");

impl File {
    pub(crate) fn reading(input: Box<dyn Input>) -> Self {
        Self::Reading(Box::new(Reading { input: RwLock::new(input), cleared: Mutex::default() }))
    }

    pub(crate) fn writing(output: Box<dyn Output>) -> Self {
        Self::Writing(Mutex::new(output))
    }

    /// The file as one being read; `errno` where it is not.
    pub(crate) fn input(&self, errno: c_int) -> Result<&Reading> {
        match self {
            Self::Reading(reading) => Ok(reading),
            Self::Writing(_) => Err(Failure::new(errno, "the file is not open for reading")),
        }
    }

    /// The file as one being written; `errno` where it is not.
    pub(crate) fn output(&self, errno: c_int) -> Result<&Mutex<Box<dyn Output>>> {
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
