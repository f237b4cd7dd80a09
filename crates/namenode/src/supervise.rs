//! Ends the process where a panic must not be survived.
//!
//! A panic in the midst of a change leaves a namespace that no edit describes, and a task that ends leaves its work undone
//! unnoticed. Both end the process: the next start has what the edit log says. A panic in a call that only
//! reads costs that call (see the RPC server).

use std::any::Any;
use std::convert::Infallible;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use tokio::task::{AbortHandle, JoinHandle};

/// Does `work`; a panic in it aborts the process. `what` says what was being done.
pub(crate) fn abort_on_panic<T>(what: &str, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| abort(what, &*panic))
}

/// Starts a task that runs until it is aborted; a panic in it aborts the process.
pub(crate) fn supervise(
    name: &'static str,
    task: impl Future<Output = Infallible> + Send + 'static,
) -> JoinHandle<Infallible> {
    tokio::spawn(async move {
        let mut task = pin!(task);
        std::future::poll_fn(|context| -> Poll<Infallible> {
            abort_on_panic(name, || task.as_mut().poll(context))
        })
        .await
    })
}

/// A task that must not outlive what started it, until that has succeeded.
pub(crate) struct AbortedWhenDropped {
    task: JoinHandle<Infallible>,
    guard: AbortOnDrop,
}

struct AbortOnDrop(Option<AbortHandle>);

impl AbortedWhenDropped {
    pub(crate) fn new(task: JoinHandle<Infallible>) -> Self {
        let guard = AbortOnDrop(Some(task.abort_handle()));
        Self { task, guard }
    }

    /// The task, which goes on.
    pub(crate) fn keep(mut self) -> JoinHandle<Infallible> {
        self.guard.0 = None;
        self.task
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

/// The panic's own message, with its place, was printed when it began.
fn abort(what: &str, panic: &(dyn Any + Send)) -> ! {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    let text = text.unwrap_or_else(|| "of unknown cause".to_owned());
    let line = format!(
        "FATAL: the NameNode panicked while {what}: {text}. The process is aborted, for what is in memory may differ from \
         the edit log. Start it again; please report this"
    );
    tracing::error!("{line}");
    // The log may be a file.
    zerohop_system::noteln!("{line}");
    std::process::abort()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Output};

    const CASE: &str = "ZEROHOP_TEST_PANIC";

    /// Runs one of these tests again, in a process of its own that may die.
    fn child(test: &str) -> Output {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", &format!("supervise::tests::{test}"), "--nocapture"]);
        command.env(CASE, test).output().unwrap()
    }

    fn is_child() -> bool {
        std::env::var_os(CASE).is_some()
    }

    fn assert_aborted(output: &Output, what: &str) {
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(6), "{printed}");
        assert!(printed.contains(&format!("panicked while {what}: as a bug would")), "{printed}");
        assert!(printed.contains("supervise.rs:"), "the place of the panic: {printed}");
    }

    #[test]
    fn a_panic_between_change_and_edit_aborts_the_process() {
        if is_child() {
            abort_on_panic("changing the namespace", || panic!("as a bug would"));
        }
        let output = child("a_panic_between_change_and_edit_aborts_the_process");
        assert_aborted(&output, "changing the namespace");
    }

    #[test]
    fn a_panic_in_a_supervised_task_aborts_the_process() {
        if is_child() {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                _ = supervise("watching the DataNodes", async {
                    tokio::task::yield_now().await;
                    panic!("{} would", "as a bug")
                })
                .await;
            });
        }
        let output = child("a_panic_in_a_supervised_task_aborts_the_process");
        assert_aborted(&output, "watching the DataNodes");
    }

    #[test]
    fn work_without_a_panic_gives_its_result() {
        assert_eq!(abort_on_panic("adding", || 1 + 1), 2);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let ended = runtime.block_on(async {
            let task = supervise("waiting", std::future::pending());
            task.abort();
            task.await
        });
        assert!(ended.unwrap_err().is_cancelled());
    }
}
