//! What a NameNode does by itself in its state: other things as the active one than as a standby.

use parking_lot::Mutex;
use std::convert::Infallible;
use tokio::task::JoinHandle;

/// The tasks of the state.
#[derive(Default)]
pub(crate) struct StateJobs(Mutex<Jobs>);

#[derive(Default)]
struct Jobs {
    tasks: Vec<JoinHandle<Infallible>>,
    /// The NameNode has been stopped.
    has_ended: bool,
}

impl StateJobs {
    /// Takes over tasks that have begun. They are ended at once where the NameNode was stopped, by a transition that was still
    /// under way then.
    pub(crate) fn add(&self, tasks: impl IntoIterator<Item = JoinHandle<Infallible>>) {
        let mut jobs = self.0.lock();
        jobs.tasks.extend(tasks);
        if jobs.has_ended {
            jobs.tasks.iter().for_each(JoinHandle::abort);
        }
    }

    /// Ends all of them; none of them runs any more when this returns.
    pub(crate) async fn stop(&self) {
        let tasks = std::mem::take(&mut self.0.lock().tasks);
        tasks.iter().for_each(JoinHandle::abort);
        for task in tasks {
            _ = task.await;
        }
    }

    /// Ends all of them soon, and those that are added from now on.
    pub(crate) fn end(&self) {
        let mut jobs = self.0.lock();
        jobs.has_ended = true;
        jobs.tasks.iter().for_each(JoinHandle::abort);
    }

    /// Whether the NameNode has been stopped.
    pub(crate) fn have_ended(&self) -> bool {
        self.0.lock().has_ended
    }

    /// How many there are.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.0.lock().tasks.len()
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

    #[tokio::test]
    async fn a_job_that_begins_when_the_namenode_has_stopped_ends() {
        let jobs = StateJobs::default();
        jobs.end();
        let (ended, job) = tokio::sync::oneshot::channel::<()>();
        jobs.add([tokio::spawn(async move {
            let _ended = ended;
            std::future::pending::<Infallible>().await
        })]);
        job.await.unwrap_err();
    }
}
