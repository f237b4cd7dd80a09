//! Bytes that were read, by the buffer protocol.

use crate::process::OfProcess;
use bytes::Bytes;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;
use std::ffi::{c_int, c_void};

/// Bytes of a file in the client's memory, or in the map of a replica of this machine: a memoryview of them copies nothing,
/// and keeps them, with the map, for as long as it lives. A child made by fork() reads them too, but lets nothing go: the
/// anchor that a DataNode sees in shared memory is its parent's.
#[pyclass(frozen, module = "zerohop._zerohop")]
pub(crate) struct HeldBytes(OfProcess<Bytes>);

#[pymethods]
impl HeldBytes {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// # Safety
    /// `view` is to be filled, as Python's buffer protocol has it.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("no view"));
        }
        let bytes = &slf.get().0;
        let (start, len) = (bytes.as_ptr().cast::<c_void>().cast_mut(), bytes.len());
        // SAFETY: the view is Python's; the bytes live as long as `slf`, of which the view takes a reference. They are
        // not written to: the view is read-only.
        let result = unsafe {
            let object = slf.as_ptr();
            ffi::PyBuffer_FillInfo(view, object, start, len as ffi::Py_ssize_t, 1, flags)
        };
        if result == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}

/// Bytes as a read-only memoryview.
pub(crate) struct View(pub(crate) Bytes);

impl<'py> IntoPyObject<'py> for View {
    type Target = PyMemoryView;
    type Output = Bound<'py, PyMemoryView>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        PyMemoryView::from(Bound::new(py, HeldBytes(OfProcess::new(self.0)))?.as_any())
    }
}
