//! What a NameNode does by itself in its state: other things as the active one than as a standby.

use parking_lot::Mutex;
use std::convert::Infallible;
use tokio::task::JoinHandle;

/// The tasks of the state.
#[derive(Default)]
pub(crate) struct StateJobs {
    tasks: Mutex<Vec<JoinHandle<Infallible>>>,
}

impl StateJobs {
    /// Takes over tasks that have begun.
    pub(crate) fn add(&self, tasks: impl IntoIterator<Item = JoinHandle<Infallible>>) {
        self.tasks.lock().extend(tasks);
    }

    /// Ends all of them; none of them runs any more when this returns.
    pub(crate) async fn stop(&self) {
        let tasks = self.abort();
        for task in tasks {
            _ = task.await;
        }
    }

    /// Has all of them end soon.
    pub(crate) fn abort(&self) -> Vec<JoinHandle<Infallible>> {
        let tasks = std::mem::take(&mut *self.tasks.lock());
        tasks.iter().for_each(JoinHandle::abort);
        tasks
    }

    /// How many there are.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.tasks.lock().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[tokio::test]
    async fn a_job_is_gone_when_it_was_stopped() {
        let jobs = StateJobs::default();
        let (held, kept) = (Arc::new(()), Arc::new(()));
        let job = Arc::clone(&held);
        jobs.add([tokio::spawn(async move {
            let _job = job;
            std::future::pending::<Infallible>().await
        })]);
        assert_eq!((jobs.count(), Arc::strong_count(&held)), (1, 2));
        jobs.stop().await;
        assert_eq!((jobs.count(), Arc::strong_count(&held), Arc::strong_count(&kept)), (0, 1, 1));
    }
}
