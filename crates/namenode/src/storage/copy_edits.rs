//! Edits of the directories, copied into the shared journal.

use super::error::StorageError;
use super::shared_edits::SharedEdits;
use super::{NameStorage, StorageConfig};
use zerohop_journal::layout::LayoutVersion;
use zerohop_journal::log::{Batch, EditCursor, EditSource, Journal, OpenSegment};
use zerohop_journal::op::{self, EditOp, Record};
use zerohop_wire::TxId;

/// Bytes of records that are sent at once.
const BATCH_LEN: usize = 1 << 20;

/// Formats the shared journal with the ids of the directories, and copies the edits behind their newest image into it. The
/// last transaction that was copied; 0 if there was none.
///
/// # Errors
/// If the directories are in use or cannot be read, or a JournalNode does not answer.
pub fn copy_edits_to_shared(mut config: StorageConfig) -> Result<i64, StorageError> {
    let Some(shared) = config.shared_edits.take() else { return Ok(0) };
    let local = NameStorage::open(config)?;
    let reached = local.recover_unfinalized_segments()?;
    let shared = SharedEdits::open(&shared, &local.info)?;
    shared.format()?;
    shared.recover_unfinalized_segments().outcome?;
    let image_txid = local.newest_image()?.0;
    let mut edits = EditCursor::new(&local, TxId(image_txid + 1), false);
    let mut copy =
        Copy { to: &shared, segment: None, first: TxId(0), count: 0, records: Vec::new() };
    while let Some(record) = edits.next()? {
        copy.add(record)?;
    }
    copy.end_segment()?;
    local.history().check_complete(reached, edits.next_txid())?;
    let last = edits.next_txid().0 - 1;
    tracing::info!("{} has the edits from {} to {last}", shared.name(), image_txid + 1);
    local.unlock();
    Ok(if last > image_txid { last } else { 0 })
}

/// A copy that is being made.
struct Copy<'a> {
    to: &'a SharedEdits,
    segment: Option<Box<dyn OpenSegment>>,
    /// The records that wait to be sent: `count` of them, from `first` on.
    first: TxId,
    count: u32,
    records: Vec<u8>,
}

impl Copy<'_> {
    fn add(&mut self, record: Record) -> Result<(), StorageError> {
        let (begins, ends) = (
            matches!(record.op, EditOp::StartLogSegment(_)),
            matches!(record.op, EditOp::EndLogSegment(_)),
        );
        if begins {
            self.end_segment()?;
        }
        if self.segment.is_none() {
            self.segment = Some(self.to.start_segment(record.txid)?);
            self.first = record.txid;
        }
        op::encode(&record.op, record.txid, &record.rpc, LayoutVersion::CURRENT, &mut self.records);
        self.count += 1;
        match () {
            () if ends => self.end_segment(),
            () if self.records.len() >= BATCH_LEN => self.send(),
            () => Ok(()),
        }
    }

    fn send(&mut self) -> Result<(), StorageError> {
        let batch = Batch { first: self.first, count: self.count, records: &self.records };
        if let Some(segment) = self.segment.as_mut().filter(|_| self.count > 0) {
            segment.append(&batch)?.wait()?;
        }
        self.first = TxId(self.first.0 + i64::from(self.count));
        self.count = 0;
        self.records.clear();
        Ok(())
    }

    fn end_segment(&mut self) -> Result<(), StorageError> {
        self.send()?;
        match self.segment.take() {
            Some(segment) => Ok(segment.finalize(TxId(self.first.0 - 1))?),
            None => Ok(()),
        }
    }
}
