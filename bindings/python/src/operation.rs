//! What has to wait.

use crate::completions::{Completions, Outcome, Task};
use crate::failure::{self, Failure, Result};
use crate::process::OfProcess;
use crate::shutdown;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// How long a thread waits before it looks for signals: Ctrl-C works within it.
const TICK: Duration = Duration::from_millis(100);

type Work = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// Something to be done once: `wait()` does it on the calling thread, `start()` as a task that reports to an event loop.
#[pyclass(frozen, module = "zerohop._zerohop")]
pub(crate) struct Operation {
    runtime: Handle,
    /// Locked for a moment, by a thread that holds the interpreter's lock: fork() never finds it locked.
    work: Mutex<Option<OfProcess<Work>>>,
}

impl Operation {
    pub(crate) fn new<T>(
        runtime: &Handle,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Self
    where
        T: for<'py> IntoPyObject<'py> + Send + 'static,
    {
        let work = async move {
            let result = work.await;
            let outcome: Outcome = Box::new(move |py| match result {
                Ok(value) => value.into_py_any(py),
                Err(failure) => Err(failure.exception(py)),
            });
            outcome
        };
        let work: Work = Box::pin(work);
        Self { runtime: runtime.clone(), work: Mutex::new(Some(OfProcess::new(work))) }
    }

    fn take(&self) -> PyResult<Work> {
        let taken = self.work.lock().unwrap_or_else(PoisonError::into_inner).take();
        let begun = || PyRuntimeError::new_err("the operation was begun already");
        let work = taken.ok_or_else(begun)?;
        work.into_inner().ok_or_else(|| failure::of_parent("the operation"))
    }
}

#[pymethods]
impl Operation {
    /// Does it on this thread, which may be interrupted by a signal.
    fn wait(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        wait(py, &self.runtime, self.take()?)?(py)
    }

    /// Does it as a task; `completions` gives the outcome by `number`.
    fn start(&self, completions: &Completions, number: u64) -> PyResult<Task> {
        let report = completions.reporter()?;
        let work = self.take()?;
        let task = self.runtime.spawn(async move { report.report(number, work.await) });
        Ok(Task::new(task.abort_handle()))
    }
}

/// Waits for `work` without the interpreter's lock. A signal whose handler raises, as that of Ctrl-C does, ends the wait, and
/// what is left of `work` is given up.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    runtime: &Handle,
    work: impl Future<Output = T> + Send,
) -> PyResult<T> {
    let mut work = pin!(work);
    loop {
        let step = py.detach(|| {
            let step = runtime.block_on(async { timeout(TICK, work.as_mut()).await });
            shutdown::before_return_to_python();
            step
        });
        shutdown::after_return_to_python();
        match step {
            Ok(value) => return Ok(value),
            Err(_) => py.check_signals()?,
        }
    }
}

/// Waits for `work` on the calling thread, and raises what it failed with.
pub(crate) fn wait_for<T: Send>(
    py: Python<'_>,
    runtime: &Handle,
    work: impl Future<Output = Result<T>> + Send,
) -> PyResult<T> {
    wait(py, runtime, work)?.map_err(|failure: Failure| failure.exception(py))
}
