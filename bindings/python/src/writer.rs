//! A file that is written.

use crate::failure::{self, About};
use crate::operation::Operation;
use crate::process::OfProcess;
use bytes::Bytes;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Handle;
use zerohop::{FileWriter, SyncOptions};

struct Open {
    writer: tokio::sync::Mutex<FileWriter>,
    path: String,
    /// Where the last write ended, for those who ask during the next one.
    pos: AtomicU64,
}

/// Shorter data is copied: an object that is kept has to be given back to the interpreter.
const KEPT_LEN_MIN: usize = 64 << 10;

/// A file that is written.
#[pyclass(frozen, module = "zerohop._zerohop")]
pub(crate) struct Writer {
    runtime: Handle,
    open: Arc<OfProcess<Open>>,
    /// Set by the first `close()`. Locked for a moment, by a thread that holds the interpreter's lock.
    is_closed: Mutex<bool>,
}

impl Writer {
    pub(crate) fn new(runtime: Handle, writer: FileWriter) -> Self {
        let (path, pos) = (writer.path().to_owned(), AtomicU64::new(writer.pos()));
        let open = Open { writer: tokio::sync::Mutex::new(writer), path, pos };
        Self { runtime, open: Arc::new(OfProcess::new(open)), is_closed: Mutex::new(false) }
    }

    fn open(&self) -> PyResult<Arc<OfProcess<Open>>> {
        if *self.is_closed.lock().unwrap_or_else(PoisonError::into_inner) {
            return Err(failure::closed());
        }
        if self.open.is_here() {
            Ok(Arc::clone(&self.open))
        } else {
            Err(failure::of_parent("the open file"))
        }
    }
}

#[pymethods]
impl Writer {
    /// Bytes of the file with those written so far.
    #[getter]
    fn pos(&self) -> PyResult<u64> {
        let open = self.open()?;
        let pos = open.writer.try_lock().map(|writer| writer.pos());
        Ok(pos.unwrap_or_else(|_| open.pos.load(Ordering::Relaxed)))
    }

    /// Writes all of `data`, an object with the buffer protocol; `bytes` are not copied. The position counts what will be
    /// written, also where the wait for it is given up.
    fn write(&self, data: &Bound<'_, PyAny>) -> PyResult<Operation> {
        let (open, data) = (self.open()?, bytes_of(data)?);
        Ok(Operation::new(&self.runtime, async move {
            let len = data.len();
            let mut writer = open.writer.lock().await;
            let result = writer.write_bytes(data).await.about(&open.path);
            open.pos.store(writer.pos(), Ordering::Relaxed);
            result.map(|()| len)
        }))
    }

    /// New readers see everything that was written.
    fn hflush(&self) -> PyResult<Operation> {
        let open = self.open()?;
        Ok(Operation::new(&self.runtime, async move {
            open.writer.lock().await.hflush().await.about(&open.path)
        }))
    }

    /// The same, and it is on the disks of all DataNodes; the NameNode may learn the new length.
    #[pyo3(signature = (update_length=false, end_block=false))]
    fn hsync(&self, update_length: bool, end_block: bool) -> PyResult<Operation> {
        let open = self.open()?;
        let options = SyncOptions::default().update_length(update_length).end_block(end_block);
        Ok(Operation::new(&self.runtime, async move {
            open.writer.lock().await.hsync_with(options).await.about(&open.path)
        }))
    }

    /// Sends the rest and completes the file. Each call waits for that, and fails if it fails: one before may have been given up.
    /// None in a child made by fork(), whose parent has the file.
    fn close(&self) -> Option<Operation> {
        *self.is_closed.lock().unwrap_or_else(PoisonError::into_inner) = true;
        if !self.open.is_here() {
            return None;
        }
        let open = Arc::clone(&self.open);
        Some(Operation::new(&self.runtime, async move {
            open.writer.lock().await.close().await.about(&open.path)
        }))
    }
}

/// The bytes of an object: kept where they cannot change, copied otherwise.
fn bytes_of(data: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        if bytes.as_bytes().len() < KEPT_LEN_MIN {
            return Ok(Bytes::copy_from_slice(bytes.as_bytes()));
        }
        return Ok(Bytes::from_owner(PyBackedBytes::from(bytes.clone())));
    }
    let buffer = PyUntypedBuffer::get(data)?;
    if !buffer.is_c_contiguous() {
        return Err(PyBufferError::new_err("a contiguous buffer is needed"));
    }
    let len = buffer.len_bytes();
    if len == 0 {
        return Ok(Bytes::new());
    }
    // SAFETY: the buffer is held and as long as it says, and this thread holds the interpreter's lock.
    let copy = Bytes::copy_from_slice(unsafe {
        std::slice::from_raw_parts(buffer.buf_ptr().cast::<u8>().cast_const(), len)
    });
    buffer.release(data.py());
    Ok(copy)
}
