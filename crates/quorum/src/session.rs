//! A writer's calls to one JournalNode, in order.
//!
//! Each JournalNode has a thread of its own and a queue before it: a slow one does not delay the others. Batches that wait in the
//! queue leave together in one call. A call leaves when the one before is answered: JournalNodes carry out calls of one connection
//! on several threads, and refuse those that overtake others.

use crate::copies::SegmentCopies;
use crate::journal_node::{JournalNode, Prepared, Refusal};
use crate::node_status::{NodeStatus, NodeWatch};
use crate::recovery::Chosen;
use bytes::{Bytes, BytesMut};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use zerohop_proto::hdfs::qjournal::RequestInfoProto;
use zerohop_system::clock;
use zerohop_wire::TxId;

/// Bytes of batches that leave in one call.
const BYTES_TOGETHER_MAX: usize = 4 << 20;

/// What all sessions of a writer share.
#[derive(Debug, Default)]
pub(crate) struct WriterState(Mutex<Term>);

/// The time from one promise of a majority to the next.
#[derive(Clone, Copy, Debug, Default)]
struct Term {
    /// The epoch that a majority promised; 0: none yet.
    epoch: u64,
    /// The last transaction that a majority has, as far as this term knows.
    committed: Option<TxId>,
}

impl WriterState {
    /// The epoch that a majority promised; 0: none yet.
    pub(crate) fn epoch(&self) -> u64 {
        self.0.lock().epoch
    }

    /// A majority has promised an epoch. What was committed before may be less than another writer has committed since, and
    /// is forgotten: JournalNodes refuse a writer that goes back.
    pub(crate) fn begin(&self, epoch: u64) {
        *self.0.lock() = Term { epoch, committed: None };
    }

    /// A majority has everything up to `last`, which was written in `epoch`.
    pub(crate) fn commit(&self, epoch: u64, last: TxId) {
        let mut term = self.0.lock();
        if term.epoch == epoch {
            term.committed = term.committed.max(Some(last));
        }
    }
}

/// The calls to one JournalNode, made on its thread.
pub(crate) struct Session {
    pub(crate) node: JournalNode,
    writer: Arc<WriterState>,
    /// Serial number of the next call of `epoch`.
    serial: u64,
    /// The term that what follows belongs to.
    epoch: u64,
    /// The segment that is written there; none: it missed something, and takes part again with the next segment.
    segment: Option<TxId>,
    /// Where its segments can be fetched, as it said last.
    url: Option<String>,
    /// What it has of the segment that is recovered.
    prepared: Option<Prepared>,
    /// The segment whose recovery it has accepted.
    accepted: Option<TxId>,
    watch: Arc<NodeWatch>,
}

/// Records on their way to one JournalNode.
pub(crate) struct Write {
    /// The epoch of the term that began their segment.
    pub(crate) epoch: u64,
    pub(crate) segment: TxId,
    pub(crate) first: TxId,
    pub(crate) count: u32,
    pub(crate) records: Bytes,
    /// Is told how it ended.
    pub(crate) told: Box<dyn FnOnce(Result<(), Refusal>) + Send>,
}

type Call = Box<dyn FnOnce(&mut Session) + Send>;

enum Job {
    Write(Write),
    Call(Call),
}

/// The queue before a JournalNode.
pub(crate) struct Queue {
    name: String,
    jobs: Sender<Job>,
    /// Bytes of records that wait or are on their way.
    queued: Arc<AtomicUsize>,
    watch: Arc<NodeWatch>,
}

impl Queue {
    /// Starts the thread, which ends when the queue is dropped and the last call is answered.
    pub(crate) fn start(node: JournalNode, writer: Arc<WriterState>) -> std::io::Result<Self> {
        let name = node.name().to_owned();
        let (jobs, waiting) = channel();
        let queued = Arc::new(AtomicUsize::new(0));
        let sent = Arc::clone(&queued);
        let watch = Arc::<NodeWatch>::default();
        let session = Session {
            node,
            writer,
            serial: 0,
            epoch: 0,
            segment: None,
            url: None,
            prepared: None,
            accepted: None,
            watch: Arc::clone(&watch),
        };
        let thread = std::thread::Builder::new().name("journal-node".to_owned());
        thread.spawn(move || serve(session, &waiting, &sent))?;
        Ok(Self { name, jobs, queued, watch })
    }

    /// How the writer stands with it.
    pub(crate) fn status(&self) -> NodeStatus {
        self.watch.status(&self.name, self.queued.load(Ordering::Acquire))
    }

    pub(crate) fn call(&self, call: impl FnOnce(&mut Session) + Send + 'static) {
        // A thread that has ended drops the call, and with it the sender of the answer that is waited for.
        let _ = self.jobs.send(Job::Call(Box::new(call)));
    }

    /// Queues records if at most `limit` bytes wait then; else the session is given up until the next segment.
    pub(crate) fn write(&self, write: Write, limit: usize) {
        self.watch.gave(last_of(write.first, write.count));
        let waiting = self.queued.fetch_add(write.records.len(), Ordering::AcqRel);
        if waiting > 0 && waiting + write.records.len() > limit {
            self.queued.fetch_sub(write.records.len(), Ordering::AcqRel);
            let reason =
                format!("{waiting} bytes of edits wait for it already: it is too far behind");
            let node = self.name.clone();
            let refusal = Refusal { node, reason };
            let reason = refusal.clone();
            let epoch = write.epoch;
            self.call(move |session| {
                if session.enter(epoch).is_ok() {
                    session.leave(&reason);
                }
            });
            return (write.told)(Err(refusal));
        }
        let _ = self.jobs.send(Job::Write(write));
    }
}

impl Session {
    /// Nothing more of the segment goes there.
    fn leave(&mut self, reason: &Refusal) {
        self.watch.ends();
        self.watch.failed(&reason.reason);
        if self.segment.take().is_some() {
            tracing::warn!("edits go to the other JournalNodes until the next segment: {reason}");
        }
    }

    /// Begins a call that was queued in `epoch`. One of a term that has ended is refused: in the name of the new term it could end or
    /// discard what that term writes. State of the JournalNode is dropped with its term.
    fn enter(&mut self, epoch: u64) -> Result<(), Refusal> {
        let current = self.writer.epoch();
        if epoch != current {
            let reason = format!("the call is of epoch {epoch}, and this writer has {current} now");
            return Err(self.node.refusal(reason));
        }
        if self.epoch != epoch {
            (self.epoch, self.serial) = (epoch, 0);
            (self.segment, self.prepared, self.accepted) = (None, None, None);
        }
        Ok(())
    }

    /// Creates the head of the next call of the current term.
    fn request(&mut self) -> RequestInfoProto {
        let Term { epoch, committed } = *self.writer.0.lock();
        let committed = committed.filter(|_| epoch == self.epoch);
        let committed = committed.and_then(|txid| u64::try_from(txid.0).ok());
        let request = self.node.request(self.epoch, self.serial, committed);
        self.serial += 1;
        request
    }

    /// What it promised.
    pub(crate) fn promised(&mut self) -> Result<u64, Refusal> {
        let state = self.node.state()?;
        self.url = Some(state.url);
        Ok(state.promised)
    }

    /// Where its segments can be fetched. It is asked only if it has not said so yet: a recovery must not depend on one more
    /// answer of a single JournalNode.
    fn url(&mut self) -> Result<String, Refusal> {
        match &self.url {
            Some(url) => Ok(url.clone()),
            None => Ok(self.node.state()?.url),
        }
    }

    pub(crate) fn start_segment(
        &mut self,
        epoch: u64,
        first: TxId,
        layout: i32,
    ) -> Result<(), Refusal> {
        self.enter(epoch)?;
        self.segment = None;
        self.watch.ends();
        let request = self.request();
        let started = self.node.start_segment(request, first, layout);
        started.inspect_err(|refusal| self.watch.failed(&refusal.reason))?;
        self.segment = Some(first);
        self.watch.begins(TxId(first.0 - 1));
        Ok(())
    }

    /// Ends the segment that was written or recovered there. A JournalNode that missed a part of it must not end it: it may have
    /// as many transactions of a writer that was replaced.
    pub(crate) fn finalize(&mut self, epoch: u64, first: TxId, last: TxId) -> Result<(), Refusal> {
        self.enter(epoch)?;
        let segment = self.segment.take();
        if segment != Some(first) && self.accepted != Some(first) {
            return Err(self.node.refusal("it missed a part of the segment"));
        }
        let request = self.request();
        self.node.finalize(request, first, last)
    }

    /// Removes segments that end before a transaction.
    pub(crate) fn purge(&mut self, epoch: u64, before: TxId) -> Result<(), Refusal> {
        self.enter(epoch)?;
        let request = self.request();
        self.node.purge(request, before)
    }

    /// Takes segments that begin with `first` or later out of use.
    pub(crate) fn discard_segments(&mut self, epoch: u64, first: TxId) -> Result<(), Refusal> {
        self.enter(epoch)?;
        // Apache's JournalNodes do not check the epoch of the call itself, but that of this one.
        let heartbeat = self.request();
        self.node.heartbeat(heartbeat)?;
        let request = self.request();
        self.node.discard_segments(request, first)
    }

    /// Asks for the state of a segment that its writer left, and for the address to fetch it from.
    pub(crate) fn prepare_recovery(
        &mut self,
        epoch: u64,
        first: TxId,
    ) -> Result<(Prepared, Option<String>), Refusal> {
        self.enter(epoch)?;
        (self.segment, self.prepared, self.accepted) = (None, None, None);
        let request = self.request();
        let prepared = self.node.prepare_recovery(request, first)?;
        self.prepared = Some(prepared.clone());
        Ok((prepared, self.url().ok()))
    }

    /// Has the chosen copy of a segment accepted, which the JournalNodes at `sources` have: each is tried in turn, because transfers
    /// from one may stall. A JournalNode keeps a copy of the same length as its own, so one that holds other transactions is taken
    /// out of its use before.
    ///
    /// Only a copy that was compared is discarded. One with the same transactions may be all that is left of them when a source
    /// ends before they were fetched. One with others holds nothing that counts: the later writer saw nothing of it on a
    /// majority.
    pub(crate) fn accept_recovery(
        &mut self,
        epoch: u64,
        chosen: &Chosen,
        copies: &SegmentCopies,
        sources: &[String],
    ) -> Result<(), Refusal> {
        self.enter(epoch)?;
        let Some(prepared) = self.prepared.take() else {
            return Err(self.node.refusal("it is not known what it has of the segment"));
        };
        let state = chosen.state;
        if chosen.may_differ_from(&prepared) && !self.has_same_copy(copies, sources)? {
            tracing::warn!("{}: its segment {} is another writer's", self.node.name(), state.first);
            self.discard_segments(epoch, state.first)?;
        }
        let mut outcome =
            Err(self.node.refusal("no JournalNode says where the segment can be fetched"));
        for source in sources {
            self.enter(epoch)?;
            let request = self.request();
            outcome = self.node.accept_recovery(request, state, &copies.url(source));
            if outcome.is_ok() {
                self.accepted = Some(state.first);
                break;
            }
        }
        outcome
    }

    fn has_same_copy(
        &mut self,
        copies: &SegmentCopies,
        sources: &[String],
    ) -> Result<bool, Refusal> {
        let own = self.url()?;
        copies.are_same(&own, sources).map_err(|reason| {
            self.node.refusal(format!("its copy cannot be compared with the chosen one: {reason}"))
        })
    }

    fn write(
        &mut self,
        (epoch, segment): (u64, TxId),
        first: TxId,
        count: u32,
        records: Bytes,
    ) -> Result<(), Refusal> {
        self.enter(epoch)?;
        if self.segment != Some(segment) {
            return Err(self.node.refusal(
                "it missed a part of the segment, and takes part again with the next one",
            ));
        }
        let request = self.request();
        let begun = clock::now();
        let written = self.node.write(request, segment, first, count, records);
        match &written {
            Ok(()) => self.watch.acknowledged(last_of(first, count), clock::since(begun)),
            // It may have some of them or all.
            Err(refusal) => self.leave(refusal),
        }
        written
    }
}

fn last_of(first: TxId, count: u32) -> TxId {
    TxId(first.0 + i64::from(count) - 1)
}

fn serve(mut session: Session, waiting: &Receiver<Job>, queued: &AtomicUsize) {
    let mut next = waiting.recv().ok();
    while let Some(job) = next.take() {
        match job {
            Job::Call(call) => call(&mut session),
            Job::Write(write) => {
                let (writes, other) = together(write, waiting);
                next = other;
                let bytes: usize = writes.iter().map(|write| write.records.len()).sum();
                send(&mut session, writes);
                queued.fetch_sub(bytes, Ordering::AcqRel);
            }
        }
        next = next.or_else(|| waiting.recv().ok());
    }
}

/// A write and those that wait behind it and continue it; and the job that ended the row.
fn together(write: Write, waiting: &Receiver<Job>) -> (Vec<Write>, Option<Job>) {
    let mut bytes = write.records.len();
    let mut next = write.first.0 + i64::from(write.count);
    let (epoch, segment) = (write.epoch, write.segment);
    let mut writes = vec![write];
    while bytes < BYTES_TOGETHER_MAX {
        match waiting.try_recv() {
            Ok(Job::Write(write))
                if (write.epoch, write.segment, write.first.0) == (epoch, segment, next) =>
            {
                bytes += write.records.len();
                next += i64::from(write.count);
                writes.push(write);
            }
            Ok(other) => return (writes, Some(other)),
            Err(_) => break,
        }
    }
    (writes, None)
}

fn send(session: &mut Session, writes: Vec<Write>) {
    let Some(head) = writes.first() else { return };
    let (term, first) = ((head.epoch, head.segment), head.first);
    let count = writes.iter().map(|write| write.count).sum();
    let records = match &writes[..] {
        [one] => one.records.clone(),
        many => {
            let mut all =
                BytesMut::with_capacity(many.iter().map(|write| write.records.len()).sum());
            many.iter().for_each(|write| all.extend_from_slice(&write.records));
            all.freeze()
        }
    };
    let outcome = session.write(term, first, count, records);
    writes.into_iter().for_each(|write| (write.told)(outcome.clone()));
}
