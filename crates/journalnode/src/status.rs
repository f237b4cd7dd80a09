//! What is shown of a journal while its thread works.

use crate::error::Result;
use crate::storage::StorageInfo;
use bytes::Bytes;
use parking_lot::Mutex;
use std::fmt::Display;
use std::time::UNIX_EPOCH;
use zerohop_daemon::metrics::{Counter, Intervals, QuantilesOverTime, Record};
use zerohop_system::clock;

/// Figures of one journal, and the name space it belongs to.
#[derive(Debug)]
pub(crate) struct JournalStatus {
    figures: Mutex<Figures>,
    /// Why its disk cannot be written, since the last time that it could.
    problem: Mutex<Option<String>>,
    /// Microseconds that syncs take.
    syncs: QuantilesOverTime,
    transactions_served: Counter,
    bytes_served: Counter,
    /// Questions for edits that found none that are new.
    empty_answers: Counter,
    /// Questions for edits that memory does not hold.
    misses: Counter,
}

/// Over a minute, five minutes and an hour, independent of the configuration (`JournalMetrics`).
const SYNC_INTERVALS: [u32; 3] = [60, 300, 3600];

impl Default for JournalStatus {
    fn default() -> Self {
        Self {
            figures: Mutex::default(),
            problem: Mutex::default(),
            syncs: QuantilesOverTime::new(&Intervals::of(SYNC_INTERVALS)),
            transactions_served: Counter::default(),
            bytes_served: Counter::default(),
            empty_answers: Counter::default(),
            misses: Counter::default(),
        }
    }
}

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
        self.figures.lock().clone()
    }

    /// Why its disk cannot be written; None if it can.
    pub(crate) fn problem(&self) -> Option<String> {
        self.problem.lock().clone()
    }

    /// Notes whether the disk could be written.
    pub(crate) fn noted<T, E: Display>(
        &self,
        written: std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        *self.problem.lock() = written.as_ref().err().map(ToString::to_string);
        written
    }

    /// Times a sync, and notes whether the disk could be written.
    pub(crate) fn synced<T, E: Display>(
        &self,
        sync: impl FnOnce() -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let begun = clock::now();
        let done = self.noted(sync());
        self.syncs.add(u64::try_from(clock::since(begun).as_micros()).unwrap_or(u64::MAX));
        done
    }

    /// Counts an answer with edits.
    pub(crate) fn served(&self, answer: Result<(u64, Bytes)>) -> Result<(u64, Bytes)> {
        match &answer {
            Ok((0, _)) => self.empty_answers.increment(),
            Ok((count, edits)) => {
                self.transactions_served.add(*count);
                self.bytes_served.add(edits.len() as u64);
            }
            Err(_) => self.misses.increment(),
        }
        answer
    }

    /// Adds what was counted of answers and syncs to a record.
    pub(crate) fn add_to(&self, record: &mut Record) {
        record.counter("TxnsServedViaRpc", "Edits served from memory", &self.transactions_served);
        record.counter("BytesServedViaRpc", "Bytes of them", &self.bytes_served);
        record.counter("RpcEmptyResponses", "Answers without edits", &self.empty_answers);
        let misses = "Questions for edits that memory does not hold";
        record.counter("RpcRequestCacheMissAmountNumMisses", misses, &self.misses);
        record.quantiles("Syncs", "syncs, microseconds", &self.syncs.figures(), "LatencyMicros");
    }

    pub(crate) fn set(
        &self,
        info: Option<&StorageInfo>,
        promised_epoch: u64,
        writer_epoch: u64,
        committed: Option<u64>,
        highest: u64,
    ) {
        let mut figures = self.figures.lock();
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
        let mut figures = self.figures.lock();
        figures.batches += 1;
        figures.bytes += bytes;
        figures.transactions += transactions;
        figures.batches_behind += u64::from(is_behind);
        figures.last_batch_ms = now.as_millis() as u64;
    }

    pub(crate) fn count_fetched(&self) {
        self.figures.lock().segments_fetched += 1;
    }
}

impl Figures {
    /// How many committed transactions are not here yet.
    pub(crate) fn lag(&self) -> u64 {
        self.committed.unwrap_or(0).saturating_sub(self.highest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_cannot_be_written_is_a_problem_until_it_can() {
        let status = JournalStatus::default();
        assert_eq!(status.problem(), None);
        assert!(status.noted(Err::<(), _>("no space")).is_err());
        assert_eq!(status.problem().as_deref(), Some("no space"));
        status.synced(|| Ok::<_, String>(())).unwrap();
        assert_eq!(status.problem(), None);
    }

    #[test]
    fn answers_are_counted() {
        let status = JournalStatus::default();
        status.served(Ok((0, Bytes::new()))).unwrap();
        status.served(Ok((3, Bytes::from_static(b"edits")))).unwrap();
        let mut record = Record::new("Journal-ns", "JournalNode", "dfs");
        status.add_to(&mut record);
        for (name, expected) in
            [("TxnsServedViaRpc", 3), ("BytesServedViaRpc", 5), ("RpcEmptyResponses", 1)]
        {
            assert_eq!(record.get(name), Some(i64::into(expected)), "{name}");
        }
    }
}
