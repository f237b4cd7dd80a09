//! The journal: what a writer asks all JournalNodes, and what a majority answers (`QuorumJournalManager`).

use crate::address::{NamespaceInfo, QuorumAddress};
use crate::connection::{Connection, RpcConnection};
use crate::download::segment_url;
use crate::failed_fetches::FailedFetches;
use crate::journal_node::{JournalNode, Manifest, SegmentState};
use crate::majority::{Tally, majority_of};
use crate::members::Members;
use crate::node_status::NodeStatus;
use crate::options::QuorumOptions;
use crate::recent::{self, RecentEdits};
use crate::session::{Queue, Write, WriterState};
use crate::stream::{RemoteSegment, SegmentCopy};
use crate::takeover::Takeover;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use zerohop_journal::JournalError;
use zerohop_journal::log::{
    Batch, Completion, EditSource, EditStream, Journal, OpenSegment, Recovery, Selection,
};
use zerohop_transport::rpc::ClientOptions;
use zerohop_wire::TxId;

/// A journal that a majority of JournalNodes keeps.
pub struct QuorumJournal {
    members: Arc<Members>,
    failed_fetches: Arc<FailedFetches>,
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
        Ok(Self {
            members: Arc::new(Members { address, info, options, queues, writer }),
            failed_fetches: Arc::default(),
        })
    }

    /// How this writer stands with each JournalNode; of use while it writes.
    pub fn nodes(&self) -> Vec<NodeStatus> {
        self.members.queues.iter().map(Queue::status).collect()
    }

    /// The epoch that a majority has promised; 0 before the recovery.
    pub fn epoch(&self) -> u64 {
        self.members.writer.epoch()
    }
}

impl QuorumJournal {
    fn segment_url(&self, base: &str, first: TxId) -> String {
        let Members { info, address, .. } = &*self.members;
        segment_url(base, &address.journal, &info.to_colon_separated(), first, true)
    }

    /// All copies of segments by their first transaction, and up to where they may be read.
    fn copies(
        &self,
        manifests: Vec<(usize, Manifest)>,
        selection: Selection,
    ) -> Vec<Box<dyn EditStream>> {
        let mut found: BTreeMap<(TxId, bool, TxId), Vec<SegmentCopy>> = BTreeMap::new();
        for (_, manifest) in &manifests {
            // What a majority does not have yet may be taken back by a recovery. Each JournalNode speaks for its own copy: one that
            // missed a recovery has other transactions behind those that it knows to be committed.
            let committed = manifest.committed.and_then(|txid| i64::try_from(txid).ok());
            let committed = TxId(committed.unwrap_or(0));
            for SegmentState { first, last, in_progress } in &manifest.segments {
                let last = if *in_progress { (*last).min(committed) } else { *last };
                if last >= selection.from && last >= *first {
                    let base = manifest.url.clone();
                    let url = self.segment_url(&base, *first);
                    let copy = SegmentCopy { base, url };
                    found.entry((*first, *in_progress, last)).or_default().push(copy);
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
        let QuorumOptions { fetch, op_size_max, .. } = self.members.options;
        let mut streams: Vec<Box<dyn EditStream>> = Vec::new();
        for ((first, in_progress, last), mut copies) in found {
            // Of copies that go equally far, readers take the last one first.
            copies.sort_by_key(|copy| !self.failed_fetches.is_recent(&copy.base));
            for copy in copies {
                let failed = Arc::clone(&self.failed_fetches);
                streams.push(Box::new(RemoteSegment::new(
                    copy,
                    (first, last),
                    in_progress,
                    op_size_max,
                    (fetch, failed),
                )));
            }
        }
        streams
    }

    /// The edits from `from` on that a majority has in memory; none if there are none yet.
    fn recent_edits(
        &self,
        from: TxId,
        count_max: u32,
    ) -> Result<Option<RecentEdits>, JournalError> {
        let members = &self.members;
        let answers = members
            .question("getJournaledEdits", members.options.read, move |session| {
                session.node.recent_edits(from, count_max)
            })
            .map_err(|error| members.failed(error))?;
        let answers = answers.into_iter().map(|(_, answer)| answer).collect();
        let majority = majority_of(members.queues.len());
        recent::common(&members.name(), from, answers, majority, members.options.op_size_max)
    }
}

impl EditSource for QuorumJournal {
    fn name(&self) -> String {
        self.members.name()
    }

    fn streams(&self, selection: Selection) -> Result<Vec<Box<dyn EditStream>>, JournalError> {
        let members = &self.members;
        let (from, in_progress) = (selection.from, selection.in_progress);
        if let Some(count_max) = members.options.recent_max.filter(|_| in_progress) {
            match self.recent_edits(from, count_max) {
                Ok(found) => {
                    return Ok(found.into_iter().map(|edits| Box::new(edits) as _).collect());
                }
                // Too old for the JournalNodes' memory, or they keep none.
                Err(error) => {
                    tracing::debug!("edits from {from} on are read from segments: {error}")
                }
            }
        }
        let manifests = members
            .question("getEditLogManifest", members.options.read, move |session| {
                session.node.manifest(from, in_progress)
            })
            .map_err(|error| members.failed(error))?;
        Ok(self.copies(manifests, selection))
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
        let members = &self.members;
        let (from, in_progress) = (selection.from, selection.in_progress);
        let manifests = members
            .question_every("getEditLogManifest", members.options.read, move |session| {
                session.node.manifest(from, in_progress)
            })
            .map_err(|error| members.failed(error))?;
        Ok(self.copies(manifests, selection))
    }

    /// Whether a segment holds this transaction, be it finalized or not, and committed or not yet.
    ///
    /// # Errors
    /// If no majority answers.
    pub fn holds(&self, txid: TxId) -> Result<bool, JournalError> {
        let members = &self.members;
        let manifests = members
            .question("getEditLogManifest", members.options.read, move |session| {
                session.node.manifest(txid, true)
            })
            .map_err(|error| members.failed(error))?;
        let mut segments = manifests.iter().flat_map(|(_, manifest)| &manifest.segments);
        Ok(segments.any(|segment| segment.first <= txid && txid <= segment.last))
    }

    /// Removes all segments that begin with `first` or later: what they changed is given up. All JournalNodes must be there.
    ///
    /// # Errors
    /// If no epoch was promised to this writer, or a JournalNode does not do it.
    pub fn discard_segments(&self, first: TxId) -> Result<(), JournalError> {
        let epoch = self.promised_epoch()?;
        let members = &self.members;
        members
            .ask_all("discardSegments", move |session| session.discard_segments(epoch, first))
            .map(drop)
    }

    /// The epoch of this writer's term.
    fn promised_epoch(&self) -> Result<u64, JournalError> {
        match self.epoch() {
            0 => {
                let reason = "no epoch was promised: its segments were not recovered";
                Err(self.members.failed(reason))
            }
            epoch => Ok(epoch),
        }
    }
}

impl Journal for QuorumJournal {
    /// Every JournalNode is asked: one with data is enough.
    fn has_data(&self) -> Result<bool, JournalError> {
        let formatted =
            self.members.ask_all("isFormatted", |session| session.node.is_formatted())?;
        Ok(formatted.contains(&true))
    }

    /// All of them must be there: one that is not would stay without the journal.
    fn format(&self) -> Result<(), JournalError> {
        let info = self.members.info.clone();
        self.members.ask_all("format", move |session| session.node.format(&info)).map(drop)
    }

    fn recover_unfinalized_segments(&self) -> Recovery {
        Takeover { members: &self.members }.run()
    }

    fn start_segment(&self, first: TxId) -> Result<Box<dyn OpenSegment>, JournalError> {
        let members = &self.members;
        let (epoch, layout) = (self.promised_epoch()?, members.info.layout);
        members
            .ask("startLogSegment", members.options.start_segment, move |session| {
                session.start_segment(epoch, first, layout)
            })
            .map_err(|error| members.failed(error))?;
        Ok(Box::new(QuorumSegment { members: Arc::clone(members), epoch, first }))
    }

    /// A JournalNode removes all segments up to a transaction: those before `kept` only.
    fn purge(&self, before: TxId, kept: Option<RangeInclusive<i64>>) {
        let before = kept.map_or(before, |kept| before.min(TxId(*kept.start())));
        let epoch = self.epoch();
        for queue in &self.members.queues {
            queue.call(move |session| {
                if let Err(refusal) = session.purge(epoch, before) {
                    tracing::warn!("old segments were not removed: {refusal}");
                }
            });
        }
    }

    fn close(&self) {}
}

/// A segment that a majority writes.
struct QuorumSegment {
    members: Arc<Members>,
    /// The epoch of the term that began the segment.
    epoch: u64,
    first: TxId,
}

impl OpenSegment for QuorumSegment {
    fn append(&mut self, batch: &Batch<'_>) -> Result<Completion, JournalError> {
        let (members, epoch) = (&self.members, self.epoch);
        let records = Bytes::copy_from_slice(batch.records);
        let last = TxId(batch.first.0 + i64::from(batch.count) - 1);
        let (completer, completion) = Completion::pending_within(members.options.write);
        let tally = Arc::new(Tally::new(members.queues.len(), completer));
        for queue in &members.queues {
            let (tally, writer) = (Arc::clone(&tally), Arc::clone(&members.writer));
            let write = Write {
                epoch,
                segment: self.first,
                first: batch.first,
                count: batch.count,
                records: records.clone(),
                told: Box::new(move |answer| tally.count(answer, || writer.commit(epoch, last))),
            };
            queue.write(write, members.options.queued_max);
        }
        Ok(completion)
    }

    fn finalize(self: Box<Self>, last: TxId) -> Result<(), JournalError> {
        let (members, epoch, first) = (&self.members, self.epoch, self.first);
        members
            .ask("finalizeLogSegment", members.options.finalize, move |session| {
                session.finalize(epoch, first, last)
            })
            .map(drop)
            .map_err(|error| members.failed(error))
    }
}
