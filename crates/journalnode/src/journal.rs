//! One journal: the promises to its writers, the segment being written, and the recovery of segments.
//!
//! A writer (a NameNode that becomes active) asks a majority of JournalNodes for an epoch above all earlier ones, recovers
//! the last segment, and writes. From the promise on, a JournalNode takes nothing from earlier writers: that fences them.
//!
//! ```text
//! newEpoch -> prepareRecovery -> acceptRecovery -> finalizeLogSegment -> startLogSegment -> journal ... -> finalizeLogSegment
//! ```
//! Source: `Journal`, HDFS-3077 (quorum-based protocol).

use crate::cache::EditsCache;
use crate::download::Source;
use crate::error::{Error, Result};
use crate::recovery::Accepted;
use crate::segments::{SegmentState, Segments};
use crate::status::JournalStatus;
use crate::storage::{CommittedTxid, JournalStorage, PersistentNumber, StorageInfo};
use bytes::Bytes;
use std::path::Path;
use std::sync::Arc;
use zerohop_journal::layout::LayoutVersion;
use zerohop_journal::segment::{self, SegmentKind, SegmentWriter, finalized_name};
use zerohop_wire::TxId;

/// What a journal is given at its start.
#[derive(Clone, Debug)]
pub(crate) struct JournalOptions {
    /// Permissions of the directory (`dfs.journalnode.edits.dir.perm`).
    pub(crate) mode: u32,
    /// Larger records are taken for damage.
    pub(crate) op_size_max: usize,
    /// Bytes of edits kept in memory for those who follow; none: nothing is kept.
    pub(crate) cache_capacity: Option<usize>,
}

/// Who sends a call, and which one it is (`RequestInfoProto`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestInfo {
    pub(crate) epoch: u64,
    /// Rises with each call of an epoch.
    pub(crate) serial: u64,
    /// The last transaction that a majority has.
    pub(crate) committed: Option<u64>,
}

/// Records to write (`JournalRequestProto`).
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) request: RequestInfo,
    /// The first transaction of the segment.
    pub(crate) segment: TxId,
    /// The first record's transaction.
    pub(crate) first: TxId,
    /// How many records there are. None: only what is committed is told.
    pub(crate) count: u32,
    pub(crate) records: Bytes,
}

/// What a journal knows of a segment that is to be recovered (`PrepareRecoveryResponseProto`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prepared {
    pub(crate) state: Option<SegmentState>,
    /// The epoch of an earlier recovery that was accepted here and not completed.
    pub(crate) accepted_in: Option<u64>,
    pub(crate) last_writer: u64,
    pub(crate) committed: Option<u64>,
}

/// A list of segments (`RemoteEditLogManifestProto`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) segments: Vec<SegmentState>,
    pub(crate) committed: Option<u64>,
}

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
}

/// What a formatted journal must not forget.
#[derive(Debug)]
struct Epochs {
    /// No writer with a lower epoch is served.
    promised: PersistentNumber,
    /// The last writer that began a segment here: tells segments apart that begin alike, after a crash at the very beginning.
    writer: PersistentNumber,
    committed: CommittedTxid,
    /// The serial number of the promised writer's last call.
    serial: Option<u64>,
}

/// A segment being written.
#[derive(Debug)]
struct OpenSegment {
    first: TxId,
    next: TxId,
    layout: i32,
    writer: SegmentWriter,
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
        let mut journal =
            Self { id, storage, segments, epochs: None, open: None, highest: 0, cache, status };
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

    /// Empties the journal for a name space; what it holds is only destroyed by `force`.
    pub(crate) fn format(&mut self, info: StorageInfo, force: bool) -> Result<()> {
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
        self.epochs()?;
        self.check_namespace(info)?;
        let promised = self.promised()?;
        if epoch <= promised {
            return Err(Error::EpochNotNew { epoch, promised, journal: self.id.clone() });
        }
        self.epochs_mut()?.promise(epoch)?;
        self.open = None;
        self.report();
        Ok(self.segments.latest()?.map(|(first, _)| first))
    }

    fn check_namespace(&self, info: &StorageInfo) -> Result<()> {
        let own = self.own_info()?;
        let directory = self.storage.current();
        let directory = directory.parent().unwrap_or(&directory).display();
        if info.namespace_id != own.namespace_id {
            return Err(Error::OtherNamespace(format!(
                "Incompatible namespaceID for journal {directory}: NameNode has nsId {} but storage has nsId {}",
                info.namespace_id, own.namespace_id
            )));
        }
        if info.cluster_id != own.cluster_id {
            return Err(Error::OtherNamespace(format!(
                "Incompatible clusterID for journal {directory}: NameNode has clusterId '{}' but storage has clusterId '{}'",
                info.cluster_id, own.cluster_id
            )));
        }
        Ok(())
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
        if let Err(error) = open.writer.append(&write.records) {
            self.open = None;
            return Err(error.into());
        }
        open.next = TxId(last.0 + 1);
        let layout = open.layout;
        let (first, last) = (write.first.0 as u64, last.0 as u64);
        if let Some(cache) = &mut self.cache {
            cache.store(first, last, write.records.clone(), layout);
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
            Some(open) => Ok(open.writer.sync()?),
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
        self.check_not_overwritten(first)?;
        self.epochs_mut()?.writer.set(request.epoch)?;
        // A writer only begins a segment when no recovery of it was decided.
        Accepted::remove(&self.storage.paxos_file(first))?;
        let path = self.storage.in_progress(first);
        let mut writer = SegmentWriter::create(&path, LayoutVersion(layout))?;
        writer.sync()?;
        segment::sync_dir(&self.storage.current())?;
        self.open = Some(OpenSegment { first, next: first, layout, writer });
        self.report();
        Ok(())
    }

    /// A crash at the beginning of a segment may have left its first record. Anything more was perhaps accepted.
    fn check_not_overwritten(&self, first: TxId) -> Result<()> {
        let Some(file) = self.segments.find(first)? else { return Ok(()) };
        let refuse = |reason: &str| {
            let path = file.path.display();
            Err(Error::WouldLose(format!("{path}: {reason} ; journal id: {}", self.id)))
        };
        match file.kind {
            SegmentKind::Finalized(_) => refuse("Already have a finalized segment"),
            SegmentKind::InProgress => match self.segments.last_of(&file)? {
                Some(last) if last != first => refuse("seems to contain valid transactions"),
                _ => Ok(()),
            },
        }
    }

    /// Ends a segment with a transaction.
    pub(crate) fn finalize(&mut self, request: RequestInfo, first: TxId, last: TxId) -> Result<()> {
        self.check(request)?;
        let id = self.id.clone();
        let mut needs_validation = true;
        if let Some(open) = self.open.take_if(|open| open.first == first) {
            let next = open.next;
            open.writer.finish()?;
            if next.0 != last.0 + 1 {
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
            SegmentKind::InProgress => {
                let found =
                    if needs_validation { self.segments.last_of(&file)? } else { Some(last) };
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
        let committed = self.epochs()?.committed.get();
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
            return Ok((0, Bytes::new()));
        }
        if since > highest {
            return Err(Error::TooNew { highest, since });
        }
        cache.read(since, count_max)
    }

    /// Ends the segment being written and tells what is here of the segment that begins with `first`.
    pub(crate) fn prepare_recovery(
        &mut self,
        request: RequestInfo,
        first: TxId,
    ) -> Result<Prepared> {
        self.check(request)?;
        self.open = None;
        let accepted = Accepted::read(&self.storage.paxos_file(first), first)?;
        if let Some(accepted) = &accepted {
            self.complete_accepted(accepted)?;
        }
        let state = self.segments.state(first)?;
        let is_finalized = state.is_some_and(|state| !state.in_progress);
        let accepted = accepted.filter(|_| !is_finalized);
        if let Some(accepted) = &accepted
            && state.map(|state| state.last) != Some(accepted.state.last)
        {
            return Err(Error::WouldLose(format!(
                "segment {first} was accepted up to transaction {} and ends with {:?} here ; journal id: {}",
                accepted.state.last,
                state.map(|state| state.last.0),
                self.id
            )));
        }
        let epochs = self.epochs()?;
        Ok(Prepared {
            state: accepted.map(|accepted| accepted.state).or(state),
            accepted_in: accepted.map(|accepted| accepted.epoch),
            last_writer: epochs.writer.get(),
            committed: epochs.committed.get(),
        })
    }

    /// Puts a segment in place that a recovery had fetched and accepted before a crash (HDFS-3955).
    fn complete_accepted(&self, accepted: &Accepted) -> Result<()> {
        let fetched = self.storage.fetched_by(accepted.state.first, accepted.epoch);
        if fetched.exists() {
            segment::rename(&fetched, &self.storage.in_progress(accepted.state.first))?;
        }
        Ok(())
    }

    /// Accepts the state of a segment that a recovery decided, and fetches the segment from `source` where it differs here.
    ///
    /// What was accepted is written down after the segment was fetched and before it replaces what is here: a crash in between
    /// leaves either nothing, or enough for [`Self::prepare_recovery`] to go on.
    pub(crate) fn accept_recovery(
        &mut self,
        request: RequestInfo,
        state: SegmentState,
        source: &dyn Source,
    ) -> Result<()> {
        self.check(request)?;
        self.open = None;
        if state.first.0 <= 0 || state.last < state.first {
            return Err(Error::BadRequest(format!(
                "bad recovery state for segment {}: it ends with {} ; journal id: {}",
                state.first, state.last, self.id
            )));
        }
        let paxos_file = self.storage.paxos_file(state.first);
        if let Some(old) = Accepted::read(&paxos_file, state.first)?
            && old.epoch > request.epoch
        {
            return Err(Error::WouldLose(format!(
                "Bad paxos transition, out-of-order epochs: {} after {} ; journal id: {}",
                request.epoch, old.epoch, self.id
            )));
        }
        let here = self.segments.state(state.first)?;
        let differs = here.is_none_or(|here| here.last != state.last);
        if differs {
            self.check_replaceable(here, state)?;
            self.fetch(request.epoch, state, source)?;
        }
        Accepted { state, epoch: request.epoch }.write(&paxos_file)?;
        if differs {
            let fetched = self.storage.fetched_by(state.first, request.epoch);
            segment::rename(&fetched, &self.storage.in_progress(state.first))?;
            self.set_highest_after(here, state);
        }
        self.report();
        Ok(())
    }

    /// That putting a segment in another's place loses nothing that a majority has.
    fn check_replaceable(&self, here: Option<SegmentState>, new: SegmentState) -> Result<()> {
        let Some(here) = here else { return Ok(()) };
        let committed = self.epochs()?.committed.get();
        if let Some(committed) =
            committed.filter(|txid| here.contains(*txid) && !new.contains(*txid))
        {
            return Err(Error::WouldLose(format!(
                "Cannot replace segment {}-{} with new segment {}-{}: would discard already-committed txn {committed} ; \
                 journal id: {}",
                here.first, here.last, new.first, new.last, self.id
            )));
        }
        if !here.in_progress {
            return Err(Error::WouldLose(format!(
                "Should never be asked to synchronize a different log on top of an already-finalized segment ; journal id: {}",
                self.id
            )));
        }
        Ok(())
    }

    fn fetch(&self, epoch: u64, state: SegmentState, source: &dyn Source) -> Result<()> {
        let to = self.storage.fetched_by(state.first, epoch);
        let fetched = source.fetch(&to).and_then(|()| self.segments.scan(&to));
        let result = fetched.and_then(|scan| match scan {
            Some(scan) if (scan.first, scan.last) == (Some(state.first), Some(state.last)) => Ok(()),
            scan => Err(Error::OutOfSync(format!(
                "the segment {} that was fetched ends with transaction {:?} in place of {} ; journal id: {}",
                state.first,
                scan.and_then(|scan| scan.last).map(|last| last.0),
                state.last,
                self.id
            ))),
        });
        if result.is_err() {
            let _ = std::fs::remove_file(&to);
        }
        result
    }

    fn set_highest_after(&mut self, replaced: Option<SegmentState>, new: SegmentState) {
        let last = new.last.0 as u64;
        match replaced {
            Some(replaced) if replaced.contains(self.highest) => self.highest = last,
            _ => self.highest = self.highest.max(last),
        }
        self.clear_cache();
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
        let mut left = None;
        for file in self.segments.list()?.into_iter().filter(|file| file.first <= last) {
            let is_open = self.open.as_ref().is_some_and(|open| open.first == file.first);
            if is_open {
                return Ok(false);
            }
            if file.kind == SegmentKind::InProgress && file.first == first {
                left = Some(file.path);
            } else if self.segments.last_of(&file)?.is_some_and(|end| end >= first) {
                return Ok(false);
            }
        }
        let scan = self.segments.scan(fetched)?;
        if scan.is_none_or(|scan| (scan.first, scan.last) != (Some(first), Some(last))) {
            return Ok(false);
        }
        segment::rename(fetched, &self.storage.current().join(finalized_name(first, last)))?;
        if let Some(left) = left {
            let mut to = left.clone().into_os_string();
            to.push(".stale");
            segment::rename(&left, Path::new(&to))?;
        }
        Ok(true)
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
        let Some(kept) = self.storage.before_upgrade()? else {
            // Nothing was upgraded here: what is there is what the NameNode goes back to.
            let own = self.own_info()?;
            return Ok(own.layout == before.layout && own.c_time_ms == before.c_time_ms);
        };
        if kept.layout < target_layout {
            return Err(Error::BadRequest(format!(
                "Cannot rollback to storage version {}, its cTime is {} and the newest layout version is {target_layout}",
                kept.layout, now.c_time_ms
            )));
        }
        Ok(true)
    }

    /// Brings back what an upgrade kept.
    pub(crate) fn roll_back(&mut self) -> Result<()> {
        self.open = None;
        self.storage.roll_back()?;
        self.load()
    }

    /// Takes transactions from `first` on out of use.
    pub(crate) fn discard_from(&mut self, first: TxId) -> Result<()> {
        self.epochs()?;
        self.open = None;
        self.segments.discard_from(first)?;
        self.epochs_mut()?.committed.set((first.0 - 1).max(0) as u64)?;
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

impl Epochs {
    fn open(current: &Path) -> Result<Self> {
        Ok(Self {
            promised: PersistentNumber::open(current.join("last-promised-epoch"))?,
            writer: PersistentNumber::open(current.join("last-writer-epoch"))?,
            committed: CommittedTxid::open(&current.join("committed-txid"))?,
            serial: None,
        })
    }

    /// The new writer counts its calls from the beginning.
    fn promise(&mut self, epoch: u64) -> Result<()> {
        self.promised.set(epoch)?;
        self.serial = None;
        Ok(())
    }

    fn check(&mut self, request: RequestInfo, journal: &str) -> Result<()> {
        let promised = self.promised.get();
        if request.epoch < promised {
            let (epoch, journal) = (request.epoch, journal.to_owned());
            return Err(Error::Fenced { epoch, promised, journal });
        }
        if request.epoch > promised {
            // A majority has promised it that epoch, so the writer before is fenced here too.
            self.promise(request.epoch)?;
        }
        if let Some(serial) = self.serial.filter(|serial| request.serial <= *serial) {
            return Err(Error::OutOfSync(format!(
                "IPC serial {} was not higher than prior highest IPC serial {serial} ; journal id: {journal}",
                request.serial
            )));
        }
        self.serial = Some(request.serial);
        let Some(committed) = request.committed else { return Ok(()) };
        match self.committed.get() {
            Some(known) if committed < known => Err(Error::BadRequest(format!(
                "Client trying to move committed txid backward from {known} to {committed} ; journal id: {journal}"
            ))),
            Some(known) if committed == known => Ok(()),
            _ => self.committed.set(committed),
        }
    }
}
