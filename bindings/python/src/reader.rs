//! A file that is read. Every read names its offset: the position is the Python object's.

use crate::failure::{self, About, Result};
use crate::held::View;
use crate::operation::{Operation, wait_for};
use crate::process::OfProcess;
use bytes::Bytes;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::HashMap;
use std::future::poll_fn;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::runtime::Handle;
use tokio::sync::RwLock;
use zerohop::{FileReader, ReadPath};

/// Bytes that one step of a long read asks for.
const STEP_LEN: usize = 4 << 20;
/// From this many bytes on the memory is asked for before the read: what is missing is an exception, and not the end of the process.
const LARGE_LEN: u64 = 64 << 20;

/// An open file with what its operations share.
struct Open {
    reader: RwLock<FileReader>,
    path: String,
    /// Readable bytes, as of the last time the NameNode was asked.
    len: AtomicU64,
}

/// A file that is read.
#[pyclass(frozen, module = "zerohop._zerohop")]
pub(crate) struct Reader {
    runtime: Handle,
    /// `None` once it is closed. Locked for a moment, by a thread that holds the interpreter's lock.
    open: Mutex<Option<Arc<OfProcess<Open>>>>,
}

impl Reader {
    pub(crate) fn new(runtime: Handle, reader: FileReader) -> Self {
        let (path, len) = (reader.path().to_owned(), AtomicU64::new(reader.len()));
        let open = OfProcess::new(Open { reader: RwLock::new(reader), path, len });
        Self { runtime, open: Mutex::new(Some(Arc::new(open))) }
    }

    fn open(&self) -> PyResult<Arc<OfProcess<Open>>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let open = open.ok_or_else(failure::closed)?;
        if open.is_here() { Ok(open) } else { Err(failure::of_parent("the open file")) }
    }

    fn operation<T, W>(&self, work: impl FnOnce(Arc<OfProcess<Open>>) -> W) -> PyResult<Operation>
    where
        T: for<'py> IntoPyObject<'py> + Send + 'static,
        W: Future<Output = Result<T>> + Send + 'static,
    {
        Ok(Operation::new(&self.runtime, work(self.open()?)))
    }

    /// Fills `memory` from `offset` on, as far as the file goes.
    fn fill(&self, py: Python<'_>, offset: u64, memory: Memory) -> PyResult<usize> {
        let open = self.open()?;
        wait_for(py, &self.runtime, async { open.fill(offset, memory).await.about(&open.path) })
    }
}

#[pymethods]
impl Reader {
    /// Readable bytes, as of the last time the NameNode was asked.
    #[getter]
    fn size(&self) -> PyResult<u64> {
        Ok(self.open()?.len.load(Ordering::Relaxed))
    }

    /// Asks how long the file is now.
    fn refresh(&self) -> PyResult<Operation> {
        self.operation(|open| async move {
            let len = open.reader.write().await.refresh().await.about(&open.path)?;
            open.len.store(len, Ordering::Relaxed);
            Ok(len)
        })
    }

    /// Fills a buffer from `offset` on; fewer bytes only at the end of the file.
    fn readinto(&self, py: Python<'_>, offset: u64, buffer: &Bound<'_, PyAny>) -> PyResult<usize> {
        let buffer = PyUntypedBuffer::get(buffer)?;
        if buffer.readonly() || !buffer.is_c_contiguous() {
            return Err(PyBufferError::new_err("a writable, contiguous buffer is needed"));
        }
        let memory = Memory { start: buffer.buf_ptr().cast(), len: buffer.len_bytes() };
        let read = self.fill(py, offset, memory);
        buffer.release(py);
        read
    }

    /// Reads `len` bytes at `offset` as bytes; fewer only at the end of the file.
    fn read<'py>(&self, py: Python<'py>, offset: u64, len: usize) -> PyResult<Bound<'py, PyBytes>> {
        let len = self.open()?.clip(offset, len);
        // SAFETY: bytes whose content is not set yet, and which nothing else knows of before they are filled.
        let object = unsafe {
            let new = ffi::PyBytes_FromStringAndSize(std::ptr::null(), len as ffi::Py_ssize_t);
            Bound::from_owned_ptr_or_err(py, new)?.cast_into_unchecked::<PyBytes>()
        };
        // SAFETY: the memory of these bytes, which live through the call.
        let start = unsafe { ffi::PyBytes_AsString(object.as_ptr()) }.cast();
        let read = self.fill(py, offset, Memory { start, len })?;
        if read == len {
            return Ok(object);
        }
        Ok(PyBytes::new(py, object.as_bytes().get(..read).unwrap_or_default()))
    }

    /// Reads `len` bytes at `offset` as a memoryview, beside other reads; without a copy where the file was opened for that
    /// and a replica of this machine is mapped.
    fn read_at(&self, offset: u64, len: usize) -> PyResult<Operation> {
        let len = self.open()?.clip(offset, len);
        check_memory(len as u64)?;
        self.operation(|open| async move {
            let bytes = open.reader.read().await.read_bytes_at(offset, len).await;
            Ok(View(bytes.about(&open.path)?))
        })
    }

    /// The same as part of a sequential read, which keeps its connection to a DataNode.
    fn read_on(&self, offset: u64, len: usize) -> PyResult<Operation> {
        let len = self.open()?.clip(offset, len);
        check_memory(len as u64)?;
        self.operation(|open| async move {
            Ok(View(open.read_on(offset, len).await.about(&open.path)?))
        })
    }

    /// Reads several ranges (offset and length), each as a memoryview, in as few requests as possible.
    fn read_ranges(&self, ranges: Vec<(u64, usize)>) -> PyResult<Operation> {
        let open = self.open()?;
        let clipped = ranges.iter().map(|(offset, len)| open.clip(*offset, *len) as u64);
        check_memory(clipped.fold(0, u64::saturating_add))?;
        self.operation(|open| async move {
            let all = open.reader.read().await.read_ranges(&ranges).await.about(&open.path)?;
            Ok(all.into_iter().map(View).collect::<Vec<View>>())
        })
    }

    /// Lets the connection and the replicas of this machine go until the next read.
    fn unbuffer(&self) -> PyResult<Operation> {
        self.operation(|open| async move {
            open.reader.write().await.unbuffer();
            Ok(())
        })
    }

    /// Bytes read: `total`, `local`, `zero_copy`, `checked`, and by the name of each way they went.
    fn statistics(&self) -> PyResult<Operation> {
        self.operation(|open| async move {
            let statistics = open.reader.read().await.statistics();
            let mut all: HashMap<&str, u64> = ReadPath::ALL
                .into_iter()
                .map(|path| (path.name(), statistics.bytes_by(path)))
                .collect();
            all.insert("total", statistics.total());
            all.insert("local", statistics.local_bytes());
            all.insert("zero_copy", statistics.zero_copy_bytes);
            all.insert("checked", statistics.checked_bytes);
            Ok(all)
        })
    }

    /// Closes it; reads that are under way come to their end.
    fn close(&self) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(open);
    }
}

impl Open {
    /// As much of `len` as the file has from `offset` on.
    fn clip(&self, offset: u64, len: usize) -> usize {
        let rest = self.len.load(Ordering::Relaxed).saturating_sub(offset);
        len.min(usize::try_from(rest).unwrap_or(usize::MAX))
    }

    async fn fill(&self, offset: u64, memory: Memory) -> zerohop::Result<usize> {
        let mut reader = self.reader.write().await;
        if offset >= reader.len() {
            return Ok(0);
        }
        reader.seek_to(offset)?;
        let mut filled = 0;
        while filled < memory.len {
            let step = poll_fn(|cx| {
                // SAFETY: the caller of the read waits for it, and holds the buffer as long.
                let mut buffer = ReadBuf::uninit(unsafe { memory.part(filled, STEP_LEN) });
                let polled = Pin::new(&mut *reader).poll_read(cx, &mut buffer);
                polled.map_ok(|()| buffer.filled().len())
            });
            match step.await {
                Ok(0) => break,
                Ok(read) => filled += read,
                // What was read before does not count: fewer bytes than asked for mean the end of the file.
                Err(error) => return Err(of_io(error)),
            }
        }
        Ok(filled)
    }

    async fn read_on(&self, offset: u64, len: usize) -> zerohop::Result<Bytes> {
        let mut reader = self.reader.write().await;
        if offset >= reader.len() {
            return Ok(Bytes::new());
        }
        reader.seek_to(offset)?;
        let first = reader.read_bytes(len).await?;
        if first.len() == len {
            return Ok(first);
        }
        // The file ends here, or what follows cannot be read: the next read says which.
        let mut all = Vec::with_capacity(len);
        let mut next = first;
        while !next.is_empty() {
            all.extend_from_slice(&next);
            next = reader.read_bytes(len - all.len()).await?;
        }
        Ok(all.into())
    }
}

/// The client's error that an [`AsyncRead`] wraps.
fn of_io(error: std::io::Error) -> zerohop::Error {
    let text = error.to_string();
    match error.downcast::<zerohop::Error>() {
        Ok(error) => error,
        Err(_) => zerohop::Error::new(zerohop::ErrorKind::Io, text),
    }
}

fn check_memory(len: u64) -> PyResult<()> {
    let is_there = len < LARGE_LEN
        || usize::try_from(len).is_ok_and(|len| Vec::<u8>::new().try_reserve_exact(len).is_ok());
    if is_there { Ok(()) } else { Err(failure::too_large(len)) }
}

/// Memory of a Python object that the calling thread holds until the read has ended.
#[derive(Clone, Copy)]
struct Memory {
    start: *mut u8,
    len: usize,
}

// SAFETY: any holder may write to the memory, on any thread: Python's buffers are plain memory.
unsafe impl Send for Memory {}
// SAFETY: as above; only `part` reaches the memory, and its caller promises that no other part is used.
unsafe impl Sync for Memory {}

impl Memory {
    /// At most `len` bytes from `start` on.
    ///
    /// # Safety
    /// The object lives, its buffer is held, and no other part is used meanwhile.
    unsafe fn part<'a>(self, start: usize, len: usize) -> &'a mut [MaybeUninit<u8>] {
        let start = start.min(self.len);
        let len = len.min(self.len - start);
        if len == 0 {
            return &mut [];
        }
        // SAFETY: inside the buffer, which the caller promises to be there.
        unsafe { slice::from_raw_parts_mut(self.start.add(start).cast(), len) }
    }
}
