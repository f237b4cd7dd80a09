//! The thread that has a journal.
//!
//! Calls are carried out in the order in which they arrive: writers number them. Batches that wait are written together, with
//! one sync for all. A batch that comes when nothing waits may be written by the thread that has it: to hand it over and the
//! answer back would cost two wake-ups.

use crate::calls::Write;
use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::status::JournalStatus;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
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

/// A journal, except while something is done to it: one that a panic has left in the middle of a write is gone, and refuses
/// all calls.
type Slot = Arc<Mutex<Option<Box<Journal>>>>;

/// A journal and its thread. Dropped, it ends the thread and waits for it.
#[derive(Debug)]
pub(crate) struct Worker {
    jobs: Sender<Job>,
    /// Jobs that the thread was given and has not done.
    waiting: Arc<AtomicUsize>,
    journal: Slot,
    thread: Option<JoinHandle<()>>,
    status: Arc<JournalStatus>,
}

impl Worker {
    pub(crate) fn start(id: &str, journal: Journal, status: Arc<JournalStatus>) -> Result<Self> {
        let (jobs, queue) = channel();
        let (slot, waiting) = (Slot::default(), Arc::default());
        *slot.lock() = Some(Box::new(journal));
        let desk = Desk { slot: Arc::clone(&slot), queue, waiting: Arc::clone(&waiting) };
        let thread = std::thread::Builder::new().name(format!("journal {id}"));
        let thread = thread.spawn(move || desk.work()).map_err(|error| {
            tracing::error!("journal {id}: no thread can be started: {error}");
            Error::Stopping
        })?;
        Ok(Self { jobs, waiting, journal: slot, thread: Some(thread), status })
    }

    pub(crate) fn status(&self) -> &Arc<JournalStatus> {
        &self.status
    }

    /// Writes a batch at once, if nothing is before it; blocks until its records are durable.
    ///
    /// # Errors
    /// The batch, if it has to be queued.
    pub(crate) fn write_now(&self, write: Write) -> std::result::Result<Result<()>, Write> {
        if self.waiting.load(Ordering::Acquire) > 0 {
            return Err(write);
        }
        let Some(mut slot) = self.journal.try_lock() else { return Err(write) };
        let outcome = with(&mut slot, |journal| journal.write(&[write]).pop());
        Ok(outcome.and_then(|outcome| outcome.unwrap_or(Err(Error::Stopping))))
    }

    /// Queues a batch. What it returns is ready when the records are durable.
    pub(crate) fn write(&self, write: Write) -> impl Future<Output = Result<()>> + Send + use<> {
        let (answer, outcome) = oneshot::channel();
        self.send(Job::Write(write, answer));
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
        self.send(Job::Run(Box::new(job)));
        async { outcome.await.unwrap_or(Err(Error::Stopping)) }
    }

    fn send(&self, job: Job) {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        // A thread that has ended drops the answer.
        let _ = self.jobs.send(job);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.send(Job::Stop);
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

/// Does something to a journal, which is gone if that panics.
fn with<T>(slot: &mut Option<Box<Journal>>, work: impl FnOnce(&mut Journal) -> T) -> Result<T> {
    let mut journal = slot.take().ok_or(Error::Stopping)?;
    let done = work(&mut journal);
    *slot = Some(journal);
    Ok(done)
}

/// What the thread has.
struct Desk {
    slot: Slot,
    queue: Receiver<Job>,
    waiting: Arc<AtomicUsize>,
}

impl Desk {
    fn work(self) {
        let mut next = self.queue.recv().ok();
        while let Some(job) = next.take() {
            let mut slot = self.slot.lock();
            let done = match job {
                Job::Write(write, answer) => {
                    let (writes, answers, other) = self.together(write, answer);
                    next = other;
                    let count = writes.len();
                    if let Ok(outcomes) = with(&mut slot, |journal| journal.write(&writes)) {
                        for (answer, outcome) in answers.into_iter().zip(outcomes) {
                            // The caller's connection may be gone.
                            let _ = answer.send(outcome);
                        }
                    }
                    count
                }
                Job::Run(call) => {
                    // Without a journal it is dropped, and its answer with it.
                    let _ = with(&mut slot, call);
                    1
                }
                Job::Stop => return drop(slot.take()),
            };
            drop(slot);
            self.waiting.fetch_sub(done, Ordering::AcqRel);
            next = next.or_else(|| self.queue.recv().ok());
        }
    }

    /// A batch and those that wait behind it; and the job that ended the row.
    fn together(&self, write: Write, answer: Answer) -> (Vec<Write>, Vec<Answer>, Option<Job>) {
        let mut bytes = write.records.len();
        let (mut writes, mut answers) = (vec![write], vec![answer]);
        while bytes < BYTES_TOGETHER_MAX {
            match self.queue.try_recv() {
                Ok(Job::Write(write, answer)) => {
                    bytes += write.records.len();
                    writes.push(write);
                    answers.push(answer);
                }
                Ok(other) => return (writes, answers, Some(other)),
                Err(_) => break,
            }
        }
        (writes, answers, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Caller, info, open};
    use zerohop_wire::TxId;

    /// A worker whose writer has begun segment 1.
    fn begun() -> (tempfile::TempDir, Worker, Caller) {
        let directory = tempfile::tempdir().unwrap();
        let (mut journal, mut writer) = (open(directory.path()), Caller::new(1));
        journal.format(info(), false).unwrap();
        journal.new_epoch(&info(), 1).unwrap();
        journal.start_segment(writer.request(), TxId(1), -67).unwrap();
        (directory, Worker::start("ns", journal, Arc::default()).unwrap(), writer)
    }

    #[tokio::test]
    async fn a_batch_is_written_at_once_only_when_nothing_is_before_it() {
        let (_directory, worker, mut writer) = begun();
        worker.write_now(writer.write(1, 1, 2)).unwrap().unwrap();
        let (begin, begun) = std::sync::mpsc::channel();
        let before = worker.run(move |_| Ok(begun.recv().is_ok()));
        let queued = worker.write_now(writer.write(1, 3, 4)).unwrap_err();
        let queued = worker.write(queued);
        begin.send(()).unwrap();
        assert!(before.await.unwrap());
        queued.await.unwrap();
        // The thread counts a job as done when it has answered.
        let next = writer.write(1, 5, 5);
        match worker.write_now(next) {
            Ok(written) => written.unwrap(),
            Err(next) => worker.write(next).await.unwrap(),
        }
        let next = worker.run(|journal| journal.manifest(TxId(1), true)).await.unwrap();
        assert_eq!(next.segments[0].last, TxId(5));
    }

    /// What was appended is not known then.
    #[tokio::test]
    async fn a_journal_that_a_panic_has_left_refuses_all_calls() {
        let (_directory, worker, mut writer) = begun();
        let slot = Arc::clone(&worker.journal);
        let panicked = std::thread::spawn(move || {
            with(&mut slot.lock(), |_| panic!("in the middle of a write")).unwrap()
        });
        panicked.join().unwrap_err();
        let refused = worker.write_now(writer.write(1, 1, 1)).unwrap();
        assert!(matches!(refused, Err(Error::Stopping)), "{refused:?}");
        let refused = worker.run(|journal| journal.promised()).await;
        assert!(matches!(refused, Err(Error::Stopping)), "{refused:?}");
    }
}
