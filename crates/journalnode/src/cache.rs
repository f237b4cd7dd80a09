//! The last batches of edits in memory, for NameNodes that follow a segment in progress (`JournaledEditsCache`).

use crate::error::{Error, Result};
use bytes::{BufMut, Bytes, BytesMut};
use std::collections::VecDeque;
use zerohop_journal::op;

/// Batches that follow one another, at most `capacity` bytes of them.
#[derive(Debug)]
pub(crate) struct EditsCache {
    capacity: usize,
    op_size_max: usize,
    batches: VecDeque<Batch>,
    size: usize,
    /// The layout of all batches.
    layout: i32,
}

#[derive(Debug)]
struct Batch {
    first: u64,
    last: u64,
    records: Bytes,
}

impl EditsCache {
    pub(crate) fn new(capacity: usize, op_size_max: usize) -> Self {
        Self { capacity, op_size_max, batches: VecDeque::new(), size: 0, layout: 0 }
    }

    /// Keeps a batch. What does not follow on it is dropped, and so are the oldest batches beyond the capacity.
    pub(crate) fn store(&mut self, first: u64, last: u64, records: &[u8], layout: i32) {
        let follows = self.batches.back().is_none_or(|newest| newest.last + 1 == first);
        if layout != self.layout || !follows {
            self.clear();
        }
        self.layout = layout;
        // A copy: the request's memory, which the server's budget counts, would stay taken.
        let records = Bytes::copy_from_slice(records);
        self.size += records.len();
        self.batches.push_back(Batch { first, last, records });
        while self.size > self.capacity {
            let Some(oldest) = self.batches.pop_front() else { break };
            self.size -= oldest.records.len();
        }
    }

    pub(crate) fn clear(&mut self) {
        self.batches.clear();
        self.size = 0;
    }

    /// At most `count_max` records from transaction `since` on: how many, and their bytes behind a segment's header.
    pub(crate) fn read(&self, since: u64, count_max: u64) -> Result<(u64, Bytes)> {
        let Some(oldest) = self.batches.front().filter(|oldest| oldest.first <= since) else {
            return Err(self.missing(since));
        };
        let newest = self.batches.back().map_or(oldest.last, |newest| newest.last);
        if since > newest || count_max == 0 {
            return Ok((0, Bytes::new()));
        }
        let end = newest.min(since.saturating_add(count_max - 1));
        let mut records = BytesMut::new();
        records.put_i32(self.layout);
        // No layout flags.
        records.put_i32(0);
        let start = self.batches.partition_point(|batch| batch.last < since);
        for batch in self.batches.range(start..).take_while(|batch| batch.first <= end) {
            let from = self.offset_of(batch, since)?;
            let to = self.offset_of(batch, end + 1)?;
            records.extend_from_slice(batch.records.get(from..to).unwrap_or_default());
        }
        Ok((end + 1 - since, records.freeze()))
    }

    /// Where the record of a transaction begins in a batch; its end where the batch ends before.
    fn offset_of(&self, batch: &Batch, txid: u64) -> Result<usize> {
        if txid <= batch.first {
            return Ok(0);
        }
        if txid > batch.last {
            return Ok(batch.records.len());
        }
        let mut at = 0;
        for _ in batch.first..txid {
            let rest = batch.records.get(at..).unwrap_or_default();
            let (_, len) = op::check(rest, self.op_size_max)
                .map_err(|error| Error::NotCached(format!("a cached batch of edits: {error}")))?;
            at += len;
        }
        Ok(at)
    }

    fn missing(&self, since: u64) -> Error {
        Error::NotCached(match self.batches.front() {
            None => "Cache is empty; either it was never written to or the last write overflowed the cache capacity."
                .to_owned(),
            Some(oldest) => format!(
                "Oldest txn ID available in the cache is {}, but requested txns starting at {since}. The cache size \
                 (dfs.journalnode.edit-cache-size.bytes) may need to be increased to hold more transactions (currently \
                 {} bytes).",
                oldest.first, self.capacity
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::records;

    #[test]
    fn a_reader_gets_whole_records_from_where_it_asks() {
        let mut cache = EditsCache::new(1 << 20, 1 << 20);
        assert!(matches!(cache.read(1, 10), Err(Error::NotCached(_))));
        cache.store(1, 3, &records(1, 3), -67);
        cache.store(4, 4, &records(4, 4), -67);
        cache.store(5, 9, &records(5, 9), -67);
        for (since, count_max, last) in [(1, 100, 9), (2, 4, 5), (4, 1, 4), (9, 5, 9), (3, 2, 4)] {
            let (count, bytes) = cache.read(since, count_max).unwrap();
            assert_eq!(count, last + 1 - since, "{since} {count_max}");
            let header = [&(-67_i32).to_be_bytes()[..], &[0; 4]].concat();
            assert_eq!(bytes, [&header[..], &records(since, last)].concat(), "{since}");
        }
        assert_eq!(cache.read(10, 5).unwrap(), (0, Bytes::new()));
    }

    /// With a cache as large as the memory for requests, the JournalNode took no large batch any more.
    #[test]
    fn a_cached_batch_kept_the_request_that_brought_it() {
        let mut cache = EditsCache::new(1 << 20, 1 << 20);
        let request = records(1, 3);
        cache.store(1, 3, &request, -67);
        assert!(request.is_unique());
    }

    #[test]
    fn what_does_not_follow_or_has_no_room_is_dropped() {
        let mut cache = EditsCache::new(records(1, 3).len(), 1 << 20);
        cache.store(1, 2, &records(1, 2), -67);
        cache.store(3, 4, &records(3, 4), -67);
        assert!(cache.read(1, 1).is_err());
        assert_eq!(cache.read(3, 10).unwrap().0, 2);
        cache.store(6, 6, &records(6, 6), -67);
        assert!(cache.read(3, 1).is_err());
        assert_eq!(cache.read(6, 1).unwrap().0, 1);
        cache.store(7, 7, &records(7, 7), -68);
        assert!(cache.read(6, 1).is_err(), "another layout");
        cache.store(8, 20, &records(8, 20), -68);
        assert!(cache.read(8, 1).is_err(), "larger than the cache");
    }
}
