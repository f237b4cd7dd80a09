//! The journal: what a writer asks all JournalNodes, and what a majority answers (`QuorumJournalManager`).

use crate::address::{NamespaceInfo, QuorumAddress};
use crate::download::segment_url;
use crate::journal_node::{JournalNode, Manifest, Refusal, SegmentState};
use crate::majority::{NoMajority, Tally, wait_for_majority};
use crate::recovery::choose;
use crate::session::{Queue, Session, Write, WriterState};
use crate::stream::RemoteSegment;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::time::Duration;
use tokio::runtime::Handle;
use zerohop_journal::JournalError;
use zerohop_journal::log::{
    Batch, Completion, EditSource, EditStream, Journal, OpenSegment, Recovery, Selection,
};
use zerohop_transport::login::User;
use zerohop_transport::rpc::{ClientOptions, RpcClient};
use zerohop_wire::TxId;

/// How patient a writer is, and how much may wait for a slow JournalNode.
#[derive(Clone, Debug)]
pub struct QuorumOptions {
    /// For a segment to begin (`dfs.qjournal.start-segment.timeout.ms`).
    pub start_segment: Duration,
    /// For records to be on a majority's disks (`dfs.qjournal.write-txns.timeout.ms`).
    pub write: Duration,
    /// For the other calls that a majority must answer, a recovery's among them (`dfs.qjournal.new-epoch.timeout.ms` and others).
    pub others: Duration,
    /// For lists of segments (`dfs.qjournal.select-input-streams.timeout.ms`), and for one to be fetched to begin.
    pub read: Duration,
    /// Bytes of records that may wait for one JournalNode (`dfs.qjournal.queued-edits.limit.mb`).
    pub queued_max: usize,
    /// Larger records are taken for damage.
    pub op_size_max: usize,
}

impl Default for QuorumOptions {
    fn default() -> Self {
        Self {
            start_segment: Duration::from_secs(20),
            write: Duration::from_secs(20),
            others: Duration::from_secs(120),
            read: Duration::from_secs(20),
            queued_max: 10 << 20,
            op_size_max: 50 << 20,
        }
    }
}

/// A journal that a majority of JournalNodes keeps.
pub struct QuorumJournal {
    shared: Arc<Shared>,
}

struct Shared {
    address: QuorumAddress,
    info: NamespaceInfo,
    options: QuorumOptions,
    queues: Vec<Queue>,
    writer: Arc<WriterState>,
}

impl QuorumJournal {
    /// A journal at an address. Nothing is asked yet. Calls run on `runtime`, and those of this type block: they must not be made
    /// on one of its threads.
    ///
    /// # Errors
    /// If threads cannot be started.
    pub fn new(
        address: QuorumAddress,
        info: NamespaceInfo,
        options: QuorumOptions,
        client_options: &ClientOptions,
        runtime: &Handle,
    ) -> std::io::Result<Self> {
        let mut client_options = client_options.clone();
        // A call is not repeated behind the writer's back, and one JournalNode that is down must not take time.
        (client_options.connect_retries, client_options.connect_retries_on_timeouts) = (0, 0);
        let user = User::of_process();
        let writer = Arc::<WriterState>::default();
        let start = |node: &String| {
            let client = RpcClient::new(
                node,
                crate::journal_node::PROTOCOL,
                crate::journal_node::VERSION,
                &user,
                client_options.clone(),
            );
            let node = JournalNode::new(client, runtime.clone(), &address.journal);
            Queue::start(node, Arc::clone(&writer))
        };
        let queues = address.nodes.iter().map(start).collect::<std::io::Result<Vec<_>>>()?;
        Ok(Self { shared: Arc::new(Shared { address, info, options, queues, writer }) })
    }

    /// The epoch that a majority has promised; 0 before the recovery.
    pub fn epoch(&self) -> u64 {
        self.shared.writer.epoch.load(Ordering::Acquire)
    }
}

impl Shared {
    /// Asks all, and waits for a majority.
    fn ask<T: Send + 'static>(
        &self,
        what: &'static str,
        patience: Duration,
        call: impl Fn(&mut Session) -> Result<T, Refusal> + Clone + Send + 'static,
    ) -> Result<Vec<(usize, T)>, NoMajority> {
        let (sender, answers) = channel();
        for (number, queue) in self.queues.iter().enumerate() {
            let (sender, call) = (sender.clone(), call.clone());
            queue.call(move |session| {
                // Who asked may have had enough answers already.
                let _ = sender.send((number, call(session)));
            });
        }
        drop(sender);
        wait_for_majority(what, self.queues.len(), &answers, patience)
    }

    fn failed(&self, error: impl std::fmt::Display) -> JournalError {
        JournalError::NoQuorum { reason: format!("{}: {error}", self.name()) }
    }

    fn name(&self) -> String {
        format!("qjournal://{}/{}", self.address.nodes.join(";"), self.address.journal)
    }

    /// Has a majority promise an epoch above all others; the first transaction of the last segment that one of them has.
    fn new_epoch(&self) -> Result<Option<TxId>, JournalError> {
        let others = self.options.others;
        let states = self.ask("getJournalState", others, |session| session.node.state());
        let states = states.map_err(|error| self.failed(error))?;
        let promised = states.iter().map(|(_, state)| state.promised).max().unwrap_or(0);
        let (epoch, info) = (promised + 1, self.info.clone());
        let promises = self
            .ask("newEpoch", others, move |session| session.node.new_epoch(&info, epoch))
            .map_err(|error| self.failed(error))?;
        tracing::info!("{}: epoch {epoch} is promised", self.name());
        self.writer.epoch.store(epoch, Ordering::Release);
        Ok(promises.into_iter().filter_map(|(_, last)| last).max())
    }

    /// Makes a majority agree on a segment that a writer left, and finalizes it; its last transaction, 0 where there is none.
    fn recover(&self, first: TxId) -> Result<TxId, JournalError> {
        let others = self.options.others;
        let prepared = self
            .ask("prepareRecovery", others, move |session| {
                let request = session.request();
                session.node.prepare_recovery(request, first)
            })
            .map_err(|error| self.failed(error))?;
        let chosen = choose(&prepared).map_err(|reason| self.failed(reason))?;
        let Some((node, state)) = chosen else { return Ok(TxId(first.0 - 1)) };
        let source = self.queues.get(node).map_or("", Queue::name).to_owned();
        tracing::info!(
            "{}: segment {first} is recovered up to {} from {source}",
            self.name(),
            state.last
        );
        let url = self.url_of(node, first)?;
        self.ask("acceptRecovery", others, move |session| {
            let request = session.request();
            session.node.accept_recovery(request, state, &url)
        })
        .map_err(|error| self.failed(error))?;
        self.ask("finalizeLogSegment", others, move |session| {
            session.finalize(state.first, state.last)
        })
        .map_err(|error| self.failed(error))?;
        self.writer.commit(state.last);
        Ok(state.last)
    }

    /// Where a JournalNode's segment can be fetched.
    fn url_of(&self, node: usize, first: TxId) -> Result<String, JournalError> {
        let (sender, answer) = channel();
        if let Some(queue) = self.queues.get(node) {
            queue.call(move |session| _ = sender.send(session.node.state()));
        }
        let state = answer.recv_timeout(self.options.others);
        let state = state.map_err(|_| self.failed("getJournalState: no answer in time"))?;
        let state = state.map_err(|error| self.failed(error))?;
        Ok(self.segment_url(&state.url, first))
    }

    fn segment_url(&self, base: &str, first: TxId) -> String {
        let namespace = self.info.to_colon_separated();
        segment_url(base, &self.address.journal, &namespace, first, true)
    }

    /// All copies of segments by their first transaction, and up to where they may be read.
    fn copies(
        &self,
        manifests: Vec<(usize, Manifest)>,
        selection: Selection,
    ) -> Vec<Box<dyn EditStream>> {
        let committed = manifests.iter().filter_map(|(_, manifest)| manifest.committed).max();
        let committed = TxId(committed.and_then(|txid| i64::try_from(txid).ok()).unwrap_or(0));
        let mut found: BTreeMap<(TxId, bool, TxId), Vec<String>> = BTreeMap::new();
        for (_, manifest) in &manifests {
            for SegmentState { first, last, in_progress } in &manifest.segments {
                // What a majority does not have yet may be taken back by a recovery.
                let last = if *in_progress { (*last).min(committed) } else { *last };
                if last >= selection.from && last >= *first {
                    let url = self.segment_url(&manifest.url, *first);
                    found.entry((*first, *in_progress, last)).or_default().push(url);
                }
            }
        }
        let patience = self.options.read;
        let op_size_max = self.options.op_size_max;
        let streams = found.into_iter().flat_map(|((first, in_progress, last), urls)| {
            urls.into_iter().map(move |url| -> Box<dyn EditStream> {
                Box::new(RemoteSegment::new(url, first, last, in_progress, op_size_max, patience))
            })
        });
        streams.collect()
    }
}

impl EditSource for QuorumJournal {
    fn name(&self) -> String {
        self.shared.name()
    }

    fn streams(&self, selection: Selection) -> Result<Vec<Box<dyn EditStream>>, JournalError> {
        let shared = &self.shared;
        let (from, in_progress) = (selection.from, selection.in_progress);
        let manifests = shared
            .ask("getEditLogManifest", shared.options.read, move |session| {
                session.node.manifest(from, in_progress)
            })
            .map_err(|error| shared.failed(error))?;
        Ok(shared.copies(manifests, selection))
    }
}

impl Journal for QuorumJournal {
    fn has_data(&self) -> Result<bool, JournalError> {
        let shared = &self.shared;
        let formatted = shared
            .ask("isFormatted", shared.options.others, |session| session.node.is_formatted())
            .map_err(|error| shared.failed(error))?;
        Ok(formatted.into_iter().any(|(_, is_formatted)| is_formatted))
    }

    /// All of them must be there: one that is not would stay without the journal.
    fn format(&self) -> Result<(), JournalError> {
        let shared = &self.shared;
        let (sender, answers) = channel();
        for queue in &shared.queues {
            let (sender, info) = (sender.clone(), shared.info.clone());
            queue.call(move |session| _ = sender.send(session.node.format(&info)));
        }
        for _ in &shared.queues {
            let answer = answers.recv_timeout(shared.options.others);
            let answer = answer.map_err(|_| shared.failed("format: no answer in time"))?;
            answer.map_err(|error| shared.failed(error))?;
        }
        Ok(())
    }

    fn recover_unfinalized_segments(&self) -> Recovery {
        let last = match self.shared.new_epoch() {
            Ok(last) => last,
            Err(error) => return Recovery { reached: TxId(0), outcome: Err(error) },
        };
        let Some(first) = last else { return Recovery { reached: TxId(0), outcome: Ok(()) } };
        match self.shared.recover(first) {
            Ok(reached) => Recovery { reached, outcome: Ok(()) },
            Err(error) => Recovery { reached: first, outcome: Err(error) },
        }
    }

    fn start_segment(&self, first: TxId) -> Result<Box<dyn OpenSegment>, JournalError> {
        let shared = &self.shared;
        if self.epoch() == 0 {
            return Err(shared.failed("no epoch was promised: its segments were not recovered"));
        }
        let layout = shared.info.layout;
        shared
            .ask("startLogSegment", shared.options.start_segment, move |session| {
                session.start_segment(first, layout)
            })
            .map_err(|error| shared.failed(error))?;
        Ok(Box::new(QuorumSegment { shared: Arc::clone(shared), first }))
    }

    /// A JournalNode removes all segments up to a transaction: those before `kept` only.
    fn purge(&self, before: TxId, kept: Option<RangeInclusive<i64>>) {
        let before = kept.map_or(before, |kept| before.min(TxId(*kept.start())));
        for queue in &self.shared.queues {
            queue.call(move |session| {
                let request = session.request();
                if let Err(refusal) = session.node.purge(request, before) {
                    tracing::warn!("old segments were not removed: {refusal}");
                }
            });
        }
    }

    fn close(&self) {}
}

/// A segment that a majority writes.
struct QuorumSegment {
    shared: Arc<Shared>,
    first: TxId,
}

impl OpenSegment for QuorumSegment {
    fn append(&mut self, batch: &Batch<'_>) -> Result<Completion, JournalError> {
        let shared = &self.shared;
        let records = Bytes::copy_from_slice(batch.records);
        let last = TxId(batch.first.0 + i64::from(batch.count) - 1);
        let (completer, completion) = Completion::pending_within(shared.options.write);
        let tally = Arc::new(Tally::new(shared.queues.len(), completer));
        for queue in &shared.queues {
            let (tally, writer) = (Arc::clone(&tally), Arc::clone(&shared.writer));
            let write = Write {
                segment: self.first,
                first: batch.first,
                count: batch.count,
                records: records.clone(),
                told: Box::new(move |answer| tally.count(answer, || writer.commit(last))),
            };
            queue.write(write, shared.options.queued_max);
        }
        Ok(completion)
    }

    fn finalize(self: Box<Self>, last: TxId) -> Result<(), JournalError> {
        let (shared, first) = (&self.shared, self.first);
        shared
            .ask("finalizeLogSegment", shared.options.others, move |session| {
                session.finalize(first, last)
            })
            .map(drop)
            .map_err(|error| shared.failed(error))
    }
}
