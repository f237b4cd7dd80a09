//! Loading what is left of damaged edits (`namenode -recover`, `MetaRecoveryContext`). Somebody says for each damage what to do.

use super::NameStorage;
use super::error::StorageError;
use super::load::{LoadReport, Replay};
use zerohop_journal::log::{EditSource, EditStream, Journal, Selection};
use zerohop_journal::op::Record;
use zerohop_wire::TxId;

/// What to do about a damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryChoice {
    /// Go on behind it.
    Continue,
    /// Keep what was read so far, and abandon all later edits.
    Stop,
    /// Leave everything as it is.
    Quit,
}

/// Who decides.
pub trait RecoveryQuestions {
    /// A damage, and in words what going on means.
    fn ask(&mut self, problem: &str, continuing: &str) -> RecoveryChoice;
}

/// One of the copies of a segment.
struct Copy {
    stream: Box<dyn EditStream>,
    /// It has not failed, or was moved behind the damage.
    is_usable: bool,
    /// An edit that was read and is not applied yet.
    ahead: Option<Record>,
}

impl Copy {
    /// The next edit from `next` on; none where this copy has no more of them.
    fn next(&mut self, next: TxId) -> Option<Record> {
        while self.is_usable {
            let read = match self.ahead.take() {
                Some(record) => Ok(Some(record)),
                None => self.stream.next(),
            };
            match read {
                Ok(Some(record)) if record.txid >= next => return Some(record),
                Ok(Some(_)) => {}
                Ok(None) => self.is_usable = false,
                Err(error) => {
                    tracing::error!("{error}");
                    self.is_usable = false;
                }
            }
        }
        None
    }

    /// Moves behind a damage, and reads the first edit there.
    fn resync(&mut self, next: TxId) -> Option<TxId> {
        self.is_usable = self.stream.resync().unwrap_or_else(|error| {
            tracing::error!("{error}");
            false
        });
        self.ahead = self.next(next);
        self.ahead.as_ref().map(|record| record.txid)
    }
}

/// Why no more edits are applied.
enum End {
    Segment,
    Stop,
    Quit,
}

struct Salvage<'a> {
    replay: &'a mut dyn Replay,
    questions: &'a mut dyn RecoveryQuestions,
    next: TxId,
    applied: u64,
}

impl NameStorage {
    /// Loads the newest image, and behind it what edits can be read; where they cannot, `questions` are asked. None if the answer
    /// was to leave everything as it is. The report's last transaction is that of the last edit there was, so that an image
    /// of it makes all damaged segments, and abandoned ones, edits that nobody reads any more.
    ///
    /// # Errors
    /// If there is no image, or it cannot be read.
    pub fn load_damaged(
        &self,
        replay: &mut dyn Replay,
        questions: &mut dyn RecoveryQuestions,
    ) -> Result<Option<LoadReport>, StorageError> {
        let mut reached = TxId(0);
        if self.shared.is_none() {
            for dir in self.edits_dirs() {
                let journal = dir.journal(self.config.op_size_max);
                let recovery = journal.recover_unfinalized_segments();
                reached = reached.max(recovery.reached);
                if let Err(error) = recovery.outcome {
                    tracing::error!("{error}");
                    journal.finalize_damaged_segments()?;
                }
            }
        }
        let (image_txid, path) = self.newest_image()?;
        self.replay_image(&path, image_txid, replay)?;
        let mut salvage = Salvage { replay, questions, next: TxId(image_txid + 1), applied: 0 };
        loop {
            let from = salvage.next;
            let selection = Selection { from, in_progress: false };
            let mut streams = match &self.shared {
                Some(shared) => shared.every_copy(selection)?,
                None => self.streams(selection)?,
            };
            streams.retain(|stream| stream.last().is_some_and(|last| last >= from));
            streams.sort_by_key(|stream| (stream.first(), stream.last()));
            reached = streams.iter().filter_map(|it| it.last()).fold(reached, TxId::max);
            let Some(first) = streams.first().map(|stream| stream.first()) else { break };
            let ended = salvage.segment(streams, first.max(from))?;
            match ended {
                End::Segment => {}
                End::Stop => break,
                End::Quit => return Ok(None),
            }
        }
        let last = reached.max(TxId(salvage.next.0 - 1));
        let report = self.report(image_txid, path, last.0)?;
        Ok(Some(LoadReport { edits: salvage.applied, ..report }))
    }
}

impl Salvage<'_> {
    /// Applies what can be read of the segment that holds the transaction `first`, the next one that there is.
    fn segment(
        &mut self,
        streams: Vec<Box<dyn EditStream>>,
        first: TxId,
    ) -> Result<End, StorageError> {
        if let Some(end) = self.check_gap(first) {
            return Ok(end);
        }
        self.next = first;
        let copies = streams.into_iter().filter(|stream| stream.first() <= first);
        let mut copies: Vec<Copy> =
            copies.map(|stream| Copy { stream, is_usable: true, ahead: None }).collect();
        let last = copies.iter().filter_map(|copy| copy.stream.last()).max().unwrap_or(first);
        while self.next <= last {
            let next = self.next;
            let record = copies.iter_mut().find_map(|copy| copy.next(next));
            let Some(record) = record else {
                // The copy that has the earliest edit behind its damage goes first.
                let found = copies.iter_mut().map(|copy| copy.resync(next));
                let found: Vec<Option<TxId>> = found.collect();
                let found = found.into_iter().enumerate().filter_map(|(at, it)| Some((it?, at)));
                let best = found.min();
                // A copy that was damaged before may have what another one lacks here.
                if best.is_none_or(|(txid, _)| txid > next) {
                    let problem = format!("We failed to read txId {next}");
                    if let Some(end) = self.ask(&problem, "skipping the bad section in the log") {
                        return Ok(end);
                    }
                }
                match best {
                    Some((_, at)) => copies.swap(0, at),
                    None => break,
                }
                continue;
            };
            if let Some(end) = self.check_gap(record.txid) {
                return Ok(end);
            }
            if let Some(end) = self.apply(record) {
                return Ok(end);
            }
        }
        self.next = self.next.max(TxId(last.0 + 1));
        Ok(End::Segment)
    }

    /// Asks where the next edit is not the one that is expected.
    fn check_gap(&mut self, found: TxId) -> Option<End> {
        let expected = self.next;
        if found <= expected {
            return None;
        }
        let problem = format!(
            "There appears to be a gap in the edit log.  We expected txid {expected}, but got txid {found}."
        );
        self.ask(&problem, "ignoring missing  transaction IDs")
    }

    fn apply(&mut self, record: Record) -> Option<End> {
        let (name, txid) = (record.op.name(), record.txid);
        self.next = TxId(txid.0 + 1);
        match self.replay.edit(record) {
            Ok(()) => {
                self.applied += 1;
                None
            }
            Err(error) => {
                let problem = format!(
                    "Failed to apply edit log operation {name} (transaction {txid}): error {error}"
                );
                self.ask(&problem, "applying edits")
            }
        }
    }

    fn ask(&mut self, problem: &str, continuing: &str) -> Option<End> {
        match self.questions.ask(problem, continuing) {
            RecoveryChoice::Continue => None,
            RecoveryChoice::Stop => Some(End::Stop),
            RecoveryChoice::Quit => Some(End::Quit),
        }
    }
}
