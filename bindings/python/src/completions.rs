//! Outcomes on their way to an event loop of asyncio.
//!
//! Tasks never touch the interpreter: they leave their outcomes here and wake the loop by a descriptor that it watches. So
//! no task waits for the interpreter's lock, and none can be caught by the interpreter's end.

use crate::failure;
use crate::process::OfProcess;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rustix::event::{EventfdFlags, eventfd};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::AbortHandle;

/// A result that becomes an object or an exception where Python is at hand.
pub(crate) type Outcome = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;

struct Finished {
    number: u64,
    outcome: Outcome,
}

struct Shared {
    finished: Mutex<Vec<Finished>>,
    event: OwnedFd,
}

/// The outcomes for one event loop, which calls `drain()` when the descriptor can be read. A child made by fork() shares the
/// counter of the descriptor, so that it must not read it: its parent would not be woken.
#[pyclass(frozen, module = "zerohop._zerohop")]
pub(crate) struct Completions(Arc<OfProcess<Shared>>);

/// Where tasks leave their outcomes.
pub(crate) struct Reporter(Arc<OfProcess<Shared>>);

impl Reporter {
    pub(crate) fn report(&self, number: u64, outcome: Outcome) {
        let mut finished = self.0.finished.lock().unwrap_or_else(PoisonError::into_inner);
        finished.push(Finished { number, outcome });
        if finished.len() == 1 {
            // The counter is 0 or 1 here, so that adding to it cannot fail.
            let _ = rustix::io::write(&self.0.event, &1u64.to_ne_bytes());
        }
    }
}

impl Completions {
    /// Returns the place for outcomes, or an error in a child made by fork(): its parent's event loop would get them.
    pub(crate) fn reporter(&self) -> PyResult<Reporter> {
        match self.0.is_here() {
            true => Ok(Reporter(Arc::clone(&self.0))),
            false => Err(failure::of_parent("the event loop")),
        }
    }
}

#[pymethods]
impl Completions {
    #[new]
    fn new() -> std::io::Result<Self> {
        let event = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        let shared = Shared { finished: Mutex::default(), event };
        Ok(Self(Arc::new(OfProcess::new(shared))))
    }

    /// The descriptor to watch.
    fn fileno(&self) -> i32 {
        self.0.event.as_raw_fd()
    }

    /// What has finished since the last call: (number, value, exception), one of the last two being None.
    fn drain<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        if !self.0.is_here() {
            return Ok(Vec::new());
        }
        // Nothing to be read means that another call took it all.
        let _ = rustix::io::read(&self.0.event, &mut [0u8; 8][..]);
        let finished = {
            let mut finished = self.0.finished.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *finished)
        };
        let mut all = Vec::with_capacity(finished.len());
        for Finished { number, outcome } in finished {
            let one = match outcome(py) {
                Ok(value) => (number, value, py.None()),
                Err(error) => (number, py.None(), error.into_value(py).into_any()),
            };
            all.push(one.into_pyobject(py)?);
        }
        Ok(all)
    }
}

/// A task that was started.
#[pyclass(frozen, module = "zerohop._zerohop")]
pub(crate) struct Task(OfProcess<AbortHandle>);

impl Task {
    pub(crate) fn new(task: AbortHandle) -> Self {
        Self(OfProcess::new(task))
    }
}

#[pymethods]
impl Task {
    /// Gives the task up, unless it is done, or is one of the process before fork().
    fn cancel(&self) {
        if self.0.is_here() {
            self.0.abort();
        }
    }
}
