//! What is shown of a journal while its thread works.

use crate::storage::StorageInfo;
use parking_lot::Mutex;
use std::time::UNIX_EPOCH;
use zerohop_system::clock;

/// Figures of one journal, and the name space it belongs to.
#[derive(Debug, Default)]
pub(crate) struct JournalStatus(Mutex<Figures>);

/// The figures of a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// None until the journal is formatted.
    pub(crate) info: Option<StorageInfo>,
    pub(crate) promised_epoch: u64,
    pub(crate) writer_epoch: u64,
    /// The last transaction that a majority has, as far as the writer told.
    pub(crate) committed: Option<u64>,
    /// The last transaction written here.
    pub(crate) highest: u64,
    pub(crate) batches: u64,
    pub(crate) transactions: u64,
    pub(crate) bytes: u64,
    /// Batches that a majority had before they came here.
    pub(crate) batches_behind: u64,
    /// When the last batch came, ms since the epoch.
    pub(crate) last_batch_ms: u64,
    /// Segments fetched from other JournalNodes.
    pub(crate) segments_fetched: u64,
}

impl JournalStatus {
    pub(crate) fn get(&self) -> Figures {
        self.0.lock().clone()
    }

    pub(crate) fn set(
        &self,
        info: Option<&StorageInfo>,
        promised_epoch: u64,
        writer_epoch: u64,
        committed: Option<u64>,
        highest: u64,
    ) {
        let mut figures = self.0.lock();
        if figures.info.as_ref() != info {
            figures.info = info.cloned();
        }
        figures.promised_epoch = promised_epoch;
        figures.writer_epoch = writer_epoch;
        figures.committed = committed;
        figures.highest = highest;
    }

    pub(crate) fn count_batch(&self, bytes: u64, transactions: u64, is_behind: bool) {
        let now = clock::wall().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut figures = self.0.lock();
        figures.batches += 1;
        figures.bytes += bytes;
        figures.transactions += transactions;
        figures.batches_behind += u64::from(is_behind);
        figures.last_batch_ms = now.as_millis() as u64;
    }

    pub(crate) fn count_fetched(&self) {
        self.0.lock().segments_fetched += 1;
    }
}

impl Figures {
    /// How many committed transactions are not here yet.
    pub(crate) fn lag(&self) -> u64 {
        self.committed.unwrap_or(0).saturating_sub(self.highest)
    }
}
