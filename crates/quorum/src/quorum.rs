//! The journal: what a writer asks all JournalNodes, and what a majority answers (`QuorumJournalManager`).

use crate::address::{NamespaceInfo, QuorumAddress};
use crate::connection::{Connection, RpcConnection};
use crate::copies::SegmentCopies;
use crate::download::segment_url;
use crate::journal_node::{JournalNode, Manifest, Refusal, SegmentState};
use crate::majority::{NoMajority, Tally, majority_of, wait_for_all, wait_for_majority};
use crate::node_status::NodeStatus;
use crate::options::QuorumOptions;
use crate::recent::{self, RecentEdits};
use crate::recovery::choose;
use crate::session::{Queue, Session, Write, WriterState};
use crate::stream::RemoteSegment;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;
use zerohop_journal::JournalError;
use zerohop_journal::log::{
    Batch, Completion, EditSource, EditStream, Journal, OpenSegment, Recovery, Selection,
};
use zerohop_system::clock;
use zerohop_transport::rpc::ClientOptions;
use zerohop_wire::TxId;

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
    /// A journal at an address. Nothing is asked yet. While a JournalNode cannot be reached, connecting is tried again as
    /// `client_options` say, and edits wait in its queue: one that is back before that ends has missed nothing. Calls block.
    ///
    /// # Errors
    /// If threads cannot be started.
    pub fn new(
        address: QuorumAddress,
        info: NamespaceInfo,
        options: QuorumOptions,
        client_options: &ClientOptions,
    ) -> std::io::Result<Self> {
        let connect = |node: &String| -> std::io::Result<Arc<dyn Connection>> {
            Ok(Arc::new(RpcConnection::new(node, client_options.clone())?))
        };
        let connections = address.nodes.iter().map(connect).collect::<std::io::Result<_>>()?;
        Self::over(address, info, options, connections)
    }

    /// The same over connections that are there, one for each JournalNode of the address.
    ///
    /// # Errors
    /// If threads cannot be started.
    pub fn over(
        address: QuorumAddress,
        info: NamespaceInfo,
        options: QuorumOptions,
        connections: Vec<Arc<dyn Connection>>,
    ) -> std::io::Result<Self> {
        let writer = Arc::<WriterState>::default();
        let start = |connection| {
            let node = JournalNode::new(connection, &address.journal);
            Queue::start(node, Arc::clone(&writer))
        };
        let queues = connections.into_iter().map(start).collect::<std::io::Result<Vec<_>>>()?;
        Ok(Self { shared: Arc::new(Shared { address, info, options, queues, writer }) })
    }

    /// How this writer stands with each JournalNode; of use while it writes.
    pub fn nodes(&self) -> Vec<NodeStatus> {
        self.shared.queues.iter().map(Queue::status).collect()
    }

    /// The epoch that a majority has promised; 0 before the recovery.
    pub fn epoch(&self) -> u64 {
        self.shared.writer.epoch()
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

    /// As [`Self::ask`], for a question: a JournalNode that has not been asked when the majority has answered is not asked any
    /// more. Else questions would gather before one that hangs.
    fn question<T: Send + 'static>(
        &self,
        what: &'static str,
        patience: Duration,
        question: impl Fn(&mut Session) -> Result<T, Refusal> + Clone + Send + 'static,
    ) -> Result<Vec<(usize, T)>, NoMajority> {
        let is_open = Arc::new(());
        let asked = Arc::downgrade(&is_open);
        self.ask(what, patience, move |session| match asked.upgrade() {
            Some(_) => question(session),
            None => Err(session.node.refusal("it was not asked: the others had answered")),
        })
    }

    /// Asks all, and waits for all of them.
    fn ask_all<T: Send + 'static>(
        &self,
        what: &'static str,
        call: impl Fn(&mut Session) -> Result<T, Refusal> + Clone + Send + 'static,
    ) -> Result<Vec<T>, JournalError> {
        let (sender, answers) = channel();
        for queue in &self.queues {
            let (sender, call) = (sender.clone(), call.clone());
            queue.call(move |session| _ = sender.send(call(session)));
        }
        let deadline = clock::now() + self.options.format;
        let answer = |_| {
            let rest = deadline.saturating_duration_since(clock::now());
            let answer = answers.recv_timeout(rest);
            let answer = answer.map_err(|_| self.failed(format!("{what}: no answer in time")))?;
            answer.map_err(|error| self.failed(format!("{what}: {error}")))
        };
        self.queues.iter().map(answer).collect()
    }

    fn failed(&self, error: impl std::fmt::Display) -> JournalError {
        JournalError::NoQuorum { reason: format!("{}: {error}", self.name()) }
    }

    fn name(&self) -> String {
        format!("qjournal://{}/{}", self.address.nodes.join(";"), self.address.journal)
    }

    /// Has a majority promise an epoch above all others; the first transaction of the last segment that one of them has.
    fn new_epoch(&self) -> Result<Option<TxId>, JournalError> {
        let patience = self.options.state;
        let states = self.ask("getJournalState", patience, Session::promised);
        let states = states.map_err(|error| self.failed(error))?;
        let promised = states.into_iter().map(|(_, promised)| promised).max().unwrap_or(0);
        let (epoch, info) = (promised + 1, self.info.clone());
        let promises = self
            .ask("newEpoch", self.options.new_epoch, move |session| {
                session.node.new_epoch(&info, epoch)
            })
            .map_err(|error| self.failed(error))?;
        tracing::info!("{}: epoch {epoch} is promised", self.name());
        self.writer.begin(epoch);
        Ok(promises.into_iter().filter_map(|(_, last)| last).max())
    }

    /// Makes a majority agree on a segment that a writer left, and finalizes it; its last transaction, 0 where there is none.
    fn recover(&self, first: TxId) -> Result<TxId, JournalError> {
        let prepared = self
            .ask("prepareRecovery", self.options.prepare_recovery, move |session| {
                session.prepare_recovery(first)
            })
            .map_err(|error| self.failed(error))?;
        let chosen = choose(&prepared).map_err(|reason| self.failed(reason))?;
        let Some(chosen) = chosen else { return Ok(TxId(first.0 - 1)) };
        let (node, state) = (chosen.node, chosen.state);
        let source = self.queues.get(node).map_or("", Queue::name).to_owned();
        tracing::info!(
            "{}: segment {first} is recovered up to {} from {source}",
            self.name(),
            state.last
        );
        let url = self.url_of(node)?;
        let copies = SegmentCopies {
            journal: self.address.journal.clone(),
            namespace: self.info.to_colon_separated(),
            state,
            op_size_max: self.options.op_size_max,
            patience: self.options.fetch,
        };
        self.ask("acceptRecovery", self.options.accept_recovery, move |session| {
            session.accept_recovery(&chosen, &copies, &url)
        })
        .map_err(|error| self.failed(error))?;
        self.ask("finalizeLogSegment", self.options.finalize, move |session| {
            session.finalize(state.first, state.last)
        })
        .map_err(|error| self.failed(error))?;
        self.writer.commit(self.writer.epoch(), state.last);
        Ok(state.last)
    }

    /// Where a JournalNode's segments can be fetched.
    fn url_of(&self, node: usize) -> Result<String, JournalError> {
        let (sender, answer) = channel();
        if let Some(queue) = self.queues.get(node) {
            queue.call(move |session| _ = sender.send(session.url()));
        }
        let url = answer.recv_timeout(self.options.state);
        let url = url.map_err(|_| self.failed("getJournalState: no answer in time"))?;
        url.map_err(|error| self.failed(error))
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
        let mut found: BTreeMap<(TxId, bool, TxId), Vec<String>> = BTreeMap::new();
        for (_, manifest) in &manifests {
            // What a majority does not have yet may be taken back by a recovery. Each JournalNode speaks for its own copy: one that
            // missed a recovery has other transactions behind those that it knows to be committed.
            let committed = manifest.committed.and_then(|txid| i64::try_from(txid).ok());
            let committed = TxId(committed.unwrap_or(0));
            for SegmentState { first, last, in_progress } in &manifest.segments {
                let last = if *in_progress { (*last).min(committed) } else { *last };
                if last >= selection.from && last >= *first {
                    let url = self.segment_url(&manifest.url, *first);
                    found.entry((*first, *in_progress, last)).or_default().push(url);
                }
            }
        }
        // Where a copy is finalized, that is what was decided.
        let is_finalized = |first: TxId| {
            found.range((first, false, TxId(0))..(first, true, TxId(0))).next().is_some()
        };
        let decided: Vec<TxId> =
            found.keys().map(|key| key.0).filter(|first| is_finalized(*first)).collect();
        found.retain(|(first, in_progress, _), _| !in_progress || !decided.contains(first));
        let patience = self.options.fetch;
        let op_size_max = self.options.op_size_max;
        let streams = found.into_iter().flat_map(|((first, in_progress, last), urls)| {
            urls.into_iter().map(move |url| -> Box<dyn EditStream> {
                Box::new(RemoteSegment::new(url, first, last, in_progress, op_size_max, patience))
            })
        });
        streams.collect()
    }
}

impl Shared {
    /// The edits from `from` on that a majority has in memory; none if there are none yet.
    fn recent_edits(
        &self,
        from: TxId,
        count_max: u32,
    ) -> Result<Option<RecentEdits>, JournalError> {
        let answers = self
            .question("getJournaledEdits", self.options.read, move |session| {
                session.node.recent_edits(from, count_max)
            })
            .map_err(|error| self.failed(error))?;
        let answers = answers.into_iter().map(|(_, answer)| answer).collect();
        let majority = majority_of(self.queues.len());
        recent::common(&self.name(), from, answers, majority, self.options.op_size_max)
    }
}

impl EditSource for QuorumJournal {
    fn name(&self) -> String {
        self.shared.name()
    }

    fn streams(&self, selection: Selection) -> Result<Vec<Box<dyn EditStream>>, JournalError> {
        let shared = &self.shared;
        let (from, in_progress) = (selection.from, selection.in_progress);
        if let Some(count_max) = shared.options.recent_max.filter(|_| in_progress) {
            match shared.recent_edits(from, count_max) {
                Ok(found) => {
                    return Ok(found.into_iter().map(|edits| Box::new(edits) as _).collect());
                }
                // Too old for the JournalNodes' memory, or they keep none.
                Err(error) => {
                    tracing::debug!("edits from {from} on are read from segments: {error}")
                }
            }
        }
        let manifests = shared
            .question("getEditLogManifest", shared.options.read, move |session| {
                session.node.manifest(from, in_progress)
            })
            .map_err(|error| shared.failed(error))?;
        Ok(shared.copies(manifests, selection))
    }
}

impl QuorumJournal {
    /// As [`EditSource::streams`], with the copies of all JournalNodes that answer in time: of a damaged segment the whole copy
    /// may be on the slowest one.
    ///
    /// # Errors
    /// If no majority answers.
    pub fn every_copy(
        &self,
        selection: Selection,
    ) -> Result<Vec<Box<dyn EditStream>>, JournalError> {
        let shared = &self.shared;
        let (from, in_progress) = (selection.from, selection.in_progress);
        let (sender, answers) = channel();
        for (number, queue) in shared.queues.iter().enumerate() {
            let sender = sender.clone();
            queue.call(move |session| {
                _ = sender.send((number, session.node.manifest(from, in_progress)));
            });
        }
        drop(sender);
        let nodes = shared.queues.len();
        let manifests = wait_for_all("getEditLogManifest", nodes, &answers, shared.options.read);
        Ok(shared.copies(manifests.map_err(|error| shared.failed(error))?, selection))
    }

    /// Whether a segment holds this transaction, be it finalized or not, and committed or not yet.
    ///
    /// # Errors
    /// If no majority answers.
    pub fn holds(&self, txid: TxId) -> Result<bool, JournalError> {
        let shared = &self.shared;
        let manifests = shared
            .question("getEditLogManifest", shared.options.read, move |session| {
                session.node.manifest(txid, true)
            })
            .map_err(|error| shared.failed(error))?;
        let mut segments = manifests.iter().flat_map(|(_, manifest)| &manifest.segments);
        Ok(segments.any(|segment| segment.first <= txid && txid <= segment.last))
    }

    /// Removes all segments that begin with `first` or later: what they changed is given up. All JournalNodes must be there.
    ///
    /// # Errors
    /// If one of them does not do it.
    pub fn discard_segments(&self, first: TxId) -> Result<(), JournalError> {
        self.shared
            .ask_all("discardSegments", move |session| session.node.discard_segments(first))
            .map(drop)
    }
}

impl Journal for QuorumJournal {
    /// Every JournalNode is asked: one with data is enough.
    fn has_data(&self) -> Result<bool, JournalError> {
        let formatted =
            self.shared.ask_all("isFormatted", |session| session.node.is_formatted())?;
        Ok(formatted.contains(&true))
    }

    /// All of them must be there: one that is not would stay without the journal.
    fn format(&self) -> Result<(), JournalError> {
        let info = self.shared.info.clone();
        self.shared.ask_all("format", move |session| session.node.format(&info)).map(drop)
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
        let epoch = shared.writer.epoch();
        let tally = Arc::new(Tally::new(shared.queues.len(), completer));
        for queue in &shared.queues {
            let (tally, writer) = (Arc::clone(&tally), Arc::clone(&shared.writer));
            let write = Write {
                epoch,
                segment: self.first,
                first: batch.first,
                count: batch.count,
                records: records.clone(),
                told: Box::new(move |answer| tally.count(answer, || writer.commit(epoch, last))),
            };
            queue.write(write, shared.options.queued_max);
        }
        Ok(completion)
    }

    fn finalize(self: Box<Self>, last: TxId) -> Result<(), JournalError> {
        let (shared, first) = (&self.shared, self.first);
        shared
            .ask("finalizeLogSegment", shared.options.finalize, move |session| {
                session.finalize(first, last)
            })
            .map(drop)
            .map_err(|error| shared.failed(error))
    }
}
