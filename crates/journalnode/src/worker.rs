//! The thread that has a journal.
//!
//! Calls are carried out in the order in which they arrive: writers number them. Batches that wait are written together, with
//! one sync for all.

use crate::calls::Write;
use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::status::JournalStatus;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// Bytes of batches that share a sync.
const BYTES_TOGETHER_MAX: usize = 4 << 20;

type Answer = oneshot::Sender<Result<()>>;

enum Job {
    Write(Write, Answer),
    Run(Box<dyn FnOnce(&mut Journal) + Send>),
    Stop,
}

/// A journal and its thread. Dropped, it ends the thread and waits for it.
#[derive(Debug)]
pub(crate) struct Worker {
    jobs: Sender<Job>,
    thread: Option<JoinHandle<()>>,
    status: Arc<JournalStatus>,
}

impl Worker {
    pub(crate) fn start(id: &str, journal: Journal, status: Arc<JournalStatus>) -> Result<Self> {
        let (jobs, queue) = channel();
        let thread = std::thread::Builder::new().name(format!("journal {id}"));
        let thread = thread.spawn(move || work(journal, &queue)).map_err(|error| {
            tracing::error!("journal {id}: no thread can be started: {error}");
            Error::Stopping
        })?;
        Ok(Self { jobs, thread: Some(thread), status })
    }

    pub(crate) fn status(&self) -> &Arc<JournalStatus> {
        &self.status
    }

    /// Queues a batch. What it returns is ready when the records are durable.
    pub(crate) fn write(&self, write: Write) -> impl Future<Output = Result<()>> + Send + use<> {
        let (answer, outcome) = oneshot::channel();
        // A thread that has ended drops the answer.
        let _ = self.jobs.send(Job::Write(write, answer));
        async { outcome.await.unwrap_or(Err(Error::Stopping)) }
    }

    /// Queues another call.
    pub(crate) fn run<T: Send + 'static, C>(
        &self,
        call: C,
    ) -> impl Future<Output = Result<T>> + Send + use<T, C>
    where
        C: FnOnce(&mut Journal) -> Result<T> + Send + 'static,
    {
        let (answer, outcome) = oneshot::channel();
        let job = move |journal: &mut Journal| _ = answer.send(call(journal));
        let _ = self.jobs.send(Job::Run(Box::new(job)));
        async { outcome.await.unwrap_or(Err(Error::Stopping)) }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.jobs.send(Job::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Write(..) => "Write",
            Self::Run(_) => "Run",
            Self::Stop => "Stop",
        })
    }
}

fn work(mut journal: Journal, queue: &Receiver<Job>) {
    let mut next = queue.recv().ok();
    while let Some(job) = next.take() {
        match job {
            Job::Write(write, answer) => next = write_together(&mut journal, write, answer, queue),
            Job::Run(call) => call(&mut journal),
            Job::Stop => return,
        }
        next = next.or_else(|| queue.recv().ok());
    }
}

/// Writes a batch and those that wait behind it. The job that ended the row is returned.
fn write_together(
    journal: &mut Journal,
    write: Write,
    answer: Answer,
    queue: &Receiver<Job>,
) -> Option<Job> {
    let mut bytes = write.records.len();
    let (mut writes, mut answers) = (vec![write], vec![answer]);
    let mut other = None;
    while bytes < BYTES_TOGETHER_MAX {
        match queue.try_recv() {
            Ok(Job::Write(write, answer)) => {
                bytes += write.records.len();
                writes.push(write);
                answers.push(answer);
            }
            Ok(job) => {
                other = Some(job);
                break;
            }
            Err(_) => break,
        }
    }
    for (answer, outcome) in answers.into_iter().zip(journal.write(&writes)) {
        // The caller's connection may be gone.
        let _ = answer.send(outcome);
    }
    other
}
