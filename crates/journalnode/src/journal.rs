//! One journal: the promises to its writers, the segment being written, and the recovery of segments.
//!
//! A writer (a NameNode that becomes active) asks a majority of JournalNodes for an epoch above all earlier ones, recovers
//! the last segment, and writes. From the promise on, a JournalNode takes nothing from earlier writers: that fences them.
//!
//! ```text
//! newEpoch -> prepareRecovery -> acceptRecovery -> finalizeLogSegment -> startLogSegment -> journal ... -> finalizeLogSegment
//! ```
//! Source: `Journal`, HDFS-3077 (quorum-based protocol).

use crate::accepted::Accepted;
use crate::cache::EditsCache;
use crate::calls::{JournalOptions, Manifest, RequestInfo, Write};
use crate::epochs::Epochs;
use crate::error::{Error, Result};
use crate::open_segment::OpenSegment;
use crate::recovery::SegmentRecovery;
use crate::segments::{SegmentState, Segments};
use crate::status::JournalStatus;
use crate::storage::{JournalStorage, StorageInfo};
use bytes::Bytes;
use std::path::Path;
use std::sync::Arc;
use zerohop_journal::layout::LayoutVersion;
use zerohop_journal::segment::{self, SegmentKind, SegmentWriter};
use zerohop_wire::TxId;

mod takeover;

/// One journal. One thread at a time has it: calls must be carried out in the order in which they arrive.
#[derive(Debug)]
pub(crate) struct Journal {
    id: String,
    storage: JournalStorage,
    segments: Segments,
    epochs: Option<Epochs>,
    /// The segment being written.
    open: Option<OpenSegment>,
    /// The last transaction that was written; 0: none.
    highest: u64,
    cache: Option<EditsCache>,
    status: Arc<JournalStatus>,
    may_format_over_data: bool,
    /// The process that was promised an epoch last: its client id.
    promised_to: Option<[u8; 16]>,
}

impl Journal {
    /// Opens the journal of a directory, which is made if it is missing.
    pub(crate) fn open(
        id: &str,
        root: &Path,
        options: &JournalOptions,
        status: Arc<JournalStatus>,
    ) -> Result<Self> {
        let storage = JournalStorage::open(root, options.mode)?;
        let segments = Segments::new(storage.current(), options.op_size_max);
        let cache =
            options.cache_capacity.map(|capacity| EditsCache::new(capacity, options.op_size_max));
        let id = id.to_owned();
        let mut journal = Self {
            id,
            storage,
            segments,
            epochs: None,
            open: None,
            highest: 0,
            cache,
            status,
            may_format_over_data: options.format_over_data,
            promised_to: None,
        };
        journal.load()?;
        Ok(journal)
    }

    /// Reads what stands in the directory.
    fn load(&mut self) -> Result<()> {
        self.open = None;
        self.epochs = None;
        self.highest = 0;
        if self.storage.info().is_some() {
            self.epochs = Some(Epochs::open(&self.storage.current())?);
            self.highest = self.segments.latest()?.map_or(0, |(_, last)| last.0 as u64);
        }
        self.report();
        Ok(())
    }

    /// Tells the pages what changed.
    fn report(&self) {
        let epochs = self.epochs.as_ref();
        self.status.set(
            self.storage.info(),
            epochs.map_or(0, |epochs| epochs.promised.get()),
            epochs.map_or(0, |epochs| epochs.writer.get()),
            epochs.and_then(|epochs| epochs.committed.get()),
            self.highest,
        );
    }

    /// Empties the journal for a name space; what it holds is only destroyed by `force`, and edits only where the operator allowed it.
    pub(crate) fn format(&mut self, info: StorageInfo, force: bool) -> Result<()> {
        let current = self.storage.current();
        if force
            && !self.may_format_over_data
            && current.is_dir()
            && !self.segments.list()?.is_empty()
        {
            return Err(Error::HoldsEdits(current));
        }
        tracing::info!("formatting the journal {} for {}", self.id, info.to_colon_separated());
        self.open = None;
        self.epochs = None;
        self.clear_cache();
        let formatted = self.storage.format(info, force);
        self.load()?;
        formatted
    }

    /// The epoch below which no writer is served.
    pub(crate) fn promised(&self) -> Result<u64> {
        Ok(self.epochs()?.promised.get())
    }

    /// Promises a writer to serve none before it. The answer is the first transaction of the last segment.
    pub(crate) fn new_epoch(&mut self, info: &StorageInfo, epoch: u64) -> Result<Option<TxId>> {
        self.storage.check_namespace(info)?;
        let promised = self.promised()?;
        if epoch <= promised {
            return Err(Error::EpochNotNew { epoch, promised, journal: self.id.clone() });
        }
        self.epochs_mut()?.promise(epoch)?;
        self.close_segment();
        // What the writer before has sent may be replaced by the recovery.
        self.clear_cache();
        self.report();
        Ok(self.segments.latest()?.map(|(first, _)| first))
    }

    /// That a call comes from the promised writer, or one after it, and in order.
    pub(crate) fn check(&mut self, request: RequestInfo) -> Result<()> {
        let id = self.id.clone();
        let epochs = self.epochs_mut()?;
        let checked = epochs.check(request, &id);
        if checked.is_ok() {
            self.report();
        }
        checked
    }

    /// Writes batches of records. They are durable when this returns; one sync serves all. Each has its own answer.
    pub(crate) fn write(&mut self, writes: &[Write]) -> Vec<Result<()>> {
        let mut answers = Vec::with_capacity(writes.len());
        let mut needs_sync = false;
        let before = self.highest;
        for write in writes {
            let appended = self.append(write);
            needs_sync |= matches!(appended, Ok(true));
            answers.push(appended.map(drop));
        }
        if needs_sync && let Err(error) = self.sync() {
            let reason = error.to_string();
            tracing::error!("journal {}: {reason}", self.id);
            // What was appended may not be durable, so none of it is answered for.
            for answer in answers.iter_mut().filter(|answer| answer.is_ok()) {
                *answer = Err(Error::OutOfSync(reason.clone()));
            }
            self.open = None;
            self.highest = before;
            self.clear_cache();
        }
        self.report();
        answers
    }

    /// Appends one batch; whether it still needs a sync.
    fn append(&mut self, write: &Write) -> Result<bool> {
        self.check(write.request)?;
        let id = &self.id;
        let writer = self.epochs()?.writer.get();
        if write.request.epoch != writer {
            let (epoch, journal) = (write.request.epoch, id.clone());
            return Err(Error::NotTheWriter { epoch, writer, journal });
        }
        if write.count == 0 {
            return Ok(false);
        }
        let Some(open) = &mut self.open else {
            let message = format!("Can't write, no segment open ; journal id: {id}");
            return Err(Error::OutOfSync(message));
        };
        if open.first != write.segment {
            let message = format!(
                "Writer out of sync: it thinks it is writing segment {} but current segment is {} ; journal id: {id}",
                write.segment, open.first
            );
            // Finalizing the last segment and beginning this one both failed: the old one must not grow.
            self.open = None;
            return Err(Error::OutOfSync(message));
        }
        if open.next != write.first {
            return Err(Error::OutOfSync(format!(
                "Can't write txid {} expecting nextTxId={} ; journal id: {id}",
                write.first, open.next
            )));
        }
        let last = TxId(write.first.0 + i64::from(write.count) - 1);
        if let Err(error) = self.status.noted(open.writer.append(&write.records)) {
            self.open = None;
            return Err(error.into());
        }
        open.next = TxId(last.0 + 1);
        open.is_unsynced = true;
        let layout = open.layout;
        let (first, last) = (write.first.0 as u64, last.0 as u64);
        if let Some(cache) = &mut self.cache {
            cache.store(first, last, &write.records, layout);
        }
        self.highest = last;
        // A majority has it on disk already: this journal is catching up.
        let is_committed =
            self.epochs()?.committed.get().is_some_and(|committed| last <= committed);
        self.status.count_batch(write.records.len() as u64, u64::from(write.count), is_committed);
        Ok(!is_committed)
    }

    fn sync(&mut self) -> Result<()> {
        match &mut self.open {
            Some(open) => {
                self.status.synced(|| open.writer.sync())?;
                open.is_unsynced = false;
                Ok(())
            }
            None => Err(Error::OutOfSync("the segment was closed before it was synced".to_owned())),
        }
    }

    /// Begins a segment; the one before must be finalized.
    pub(crate) fn start_segment(
        &mut self,
        request: RequestInfo,
        first: TxId,
        layout: i32,
    ) -> Result<()> {
        self.check(request)?;
        if let Some(open) = self.open.take() {
            tracing::warn!(
                "journal {}: segment {first} begins while {} is written; the writer may have lost its connection",
                self.id,
                open.writer.path().display()
            );
        }
        self.recovery()?.check_not_overwritten(first)?;
        self.epochs_mut()?.writer.set(request.epoch)?;
        // A writer only begins a segment when no recovery of it was decided.
        Accepted::remove(&self.storage.paxos_file(first))?;
        let path = self.storage.in_progress(first);
        self.segments.forget_scan();
        let mut writer = SegmentWriter::create(&path, LayoutVersion(layout))?;
        writer.sync()?;
        segment::sync_dir(&self.storage.current())?;
        self.open = Some(OpenSegment { first, next: first, layout, writer, is_unsynced: false });
        self.report();
        Ok(())
    }

    /// Ends a segment with a transaction.
    pub(crate) fn finalize(&mut self, request: RequestInfo, first: TxId, last: TxId) -> Result<()> {
        self.check(request)?;
        let id = self.id.clone();
        let mut needs_validation = true;
        if let Some(open) = self.open.take_if(|open| open.first == first) {
            let next = open.next;
            open.writer.finish()?;
            if next.0 - 1 != last.0 {
                return Err(Error::OutOfSync(format!(
                    "Trying to finalize in-progress log segment {first} to end at txid {last} but only written up to txid \
                     {} ; journal id: {id}",
                    next.0 - 1
                )));
            }
            needs_validation = false;
        }
        let Some(file) = self.segments.find(first)? else {
            return Err(Error::OutOfSync(format!(
                "No log file to finalize at transaction ID {first} ; journal id: {id}"
            )));
        };
        match file.kind {
            SegmentKind::InProgress if !needs_validation => {
                self.segments.name_finalized(first, last)?;
            }
            SegmentKind::InProgress => {
                self.recovery()?.check_decided(
                    request.epoch,
                    self.epochs()?.writer.get(),
                    first,
                )?;
                let found = self.segments.last_of(&file)?;
                if found != Some(last) {
                    return Err(Error::OutOfSync(format!(
                        "Trying to finalize in-progress log segment {first} to end at txid {last} but log {} on disk only \
                         contains up to txid {} ; journal id: {id}",
                        file.path.display(),
                        found.unwrap_or(TxId(first.0 - 1))
                    )));
                }
                self.segments.finalize(first, last)?;
            }
            SegmentKind::Finalized(found) if found != last => {
                return Err(Error::BadRequest(format!(
                    "Trying to re-finalize already finalized log {} with different endTxId {last} ; journal id: {id}",
                    file.path.display()
                )));
            }
            SegmentKind::Finalized(_) => {}
        }
        // A finalized segment is itself the decision.
        Accepted::remove(&self.storage.paxos_file(first))
    }

    /// Removes segments that end before a transaction.
    pub(crate) fn purge(&mut self, request: RequestInfo, before: TxId) -> Result<()> {
        self.check(request)?;
        self.segments.purge(before)?;
        self.storage.purge_paxos(before);
        Ok(())
    }

    /// Segments that hold a transaction from `since` on.
    pub(crate) fn manifest(&self, since: TxId, in_progress_too: bool) -> Result<Manifest> {
        let epochs = self.epochs()?;
        let committed = epochs.committed.get();
        // What a replaced writer left is undecided until it is recovered.
        let in_progress_too = in_progress_too && epochs.writer.get() == epochs.promised.get();
        let mut segments = Vec::new();
        for file in self.segments.list()? {
            let in_progress = file.kind == SegmentKind::InProgress;
            if in_progress && !in_progress_too {
                continue;
            }
            let last = match &self.open {
                // What was not synced yet is not offered.
                Some(open) if in_progress && open.first == file.first => {
                    Some(TxId(open.next.0 - 1))
                }
                _ => self.segments.last_of(&file)?,
            };
            if let Some(last) = last.filter(|last| *last >= since && *last >= file.first) {
                segments.push(SegmentState { first: file.first, last, in_progress });
            }
        }
        Ok(Manifest { segments, committed })
    }

    /// Records from a transaction on, at most `count_max`: how many, and their bytes as a segment has them.
    pub(crate) fn edits(&self, since: u64, count_max: u64) -> Result<(u64, Bytes)> {
        self.epochs()?;
        let Some(cache) = &self.cache else {
            return Err(Error::NotCached(
                "The journal edits cache is not enabled, which is a requirement to fetch journaled edits via RPC. Please \
                 enable it via dfs.ha.tail-edits.in-progress"
                    .to_owned(),
            ));
        };
        let highest = self.highest;
        if since == highest + 1 {
            return self.status.served(Ok((0, Bytes::new())));
        }
        if since > highest {
            return Err(Error::TooNew { highest, since });
        }
        self.status.served(cache.read(since, count_max))
    }

    fn recovery(&self) -> Result<SegmentRecovery<'_>> {
        Ok(SegmentRecovery {
            journal: &self.id,
            storage: &self.storage,
            segments: &self.segments,
            committed: self.epochs()?.committed.get(),
        })
    }

    /// Ends the writing of the open segment, which stays in progress.
    fn close_segment(&mut self) {
        if let Some(open) = self.open.take() {
            open.close(&self.segments);
        }
    }

    fn clear_cache(&mut self) {
        if let Some(cache) = &mut self.cache {
            cache.clear();
        }
    }

    /// Takes a finalized segment that was fetched into use, if all of it is committed and nothing of it is here but what a
    /// crash left of the same segment.
    pub(crate) fn add_fetched(&self, fetched: &Path, first: TxId, last: TxId) -> Result<bool> {
        let committed = self.epochs()?.committed.get();
        if committed.is_none_or(|committed| last.0 as u64 > committed) {
            return Ok(false);
        }
        let open = self.open.as_ref().map(|open| open.first);
        self.segments.add_fetched(fetched, first, last, open)
    }

    /// When the name space was last upgraded, ms since the epoch.
    pub(crate) fn c_time(&self) -> Result<i64> {
        Ok(self.own_info()?.c_time_ms)
    }

    /// Keeps the directory as it is for a rollback.
    pub(crate) fn begin_upgrade(&mut self) -> Result<()> {
        self.epochs()?;
        self.open = None;
        self.storage.begin_upgrade()
    }

    /// Takes over the creation time and layout of an upgrade.
    pub(crate) fn complete_upgrade(&mut self, info: &StorageInfo) -> Result<()> {
        self.storage.complete_upgrade(info.c_time_ms, info.layout)?;
        self.load()
    }

    /// Gives up what an upgrade kept.
    pub(crate) fn finalize_upgrade(&mut self) -> Result<()> {
        self.storage.finalize_upgrade()
    }

    /// Whether an upgrade to `now` can be rolled back to `before`, whose layout must be one that the NameNode reads.
    pub(crate) fn can_roll_back(
        &self,
        now: &StorageInfo,
        before: &StorageInfo,
        target_layout: i32,
    ) -> Result<bool> {
        self.own_info()?;
        self.storage.can_roll_back(now, before, target_layout)
    }

    /// Brings back what an upgrade kept.
    pub(crate) fn roll_back(&mut self) -> Result<()> {
        self.open = None;
        self.clear_cache();
        self.storage.roll_back()?;
        self.load()
    }

    fn own_info(&self) -> Result<&StorageInfo> {
        self.storage.info().ok_or_else(|| self.not_formatted())
    }

    fn epochs(&self) -> Result<&Epochs> {
        self.epochs.as_ref().ok_or_else(|| self.not_formatted())
    }

    fn epochs_mut(&mut self) -> Result<&mut Epochs> {
        let error = || Error::NotFormatted { journal: self.id.clone() };
        self.epochs.as_mut().ok_or_else(error)
    }

    fn not_formatted(&self) -> Error {
        Error::NotFormatted { journal: self.id.clone() }
    }
}
