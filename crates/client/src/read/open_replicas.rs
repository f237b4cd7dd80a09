//! The short way of a read: a replica that this file has open, found and read without a lock or a
//! system call.

use super::block::path_of;
use super::local::{LocalReplica, ZeroCopyRead};
use super::local_outcome::LocalError;
use super::plan::{ReadPath, ReadReason};
use super::ranges::{Ranges, extent, scatter, together};
use super::stats::Counters;
use crate::types::Verify;
use arc_swap::ArcSwap;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;
use zerohop_system::random;

/// Replicas that one file keeps open beside the client's cache.
const OPEN_REPLICAS_MAX: usize = 64;
/// Ranges of a replica are verified together up to this length, and copied behind that: it should fit
/// a processor's first-level cache.
const TOGETHER_MAX: u64 = 32 << 10;
/// A range up to this length costs more for being one than for its bytes.
const SHORT_MAX: u64 = 2 << 10;

/// An open replica and the part of the file that it holds.
#[derive(Clone)]
pub(super) struct OpenReplica {
    /// In the file, where the block begins.
    base: u64,
    /// In the file, where what may be read of it ends.
    end: u64,
    replica: Arc<LocalReplica>,
}

impl OpenReplica {
    pub(super) fn replica(&self) -> &Arc<LocalReplica> {
        &self.replica
    }

    /// Whether the next range is read with those in front of it: it begins in the chunk in which they
    /// end; or it is a short one that begins where they end. Long ones that share nothing are better
    /// verified while they are copied.
    #[inline]
    fn joins(&self, all: &Range<u64>, next: &Range<u64>) -> bool {
        let end = all.end.max(next.end);
        if end > self.end || end - all.start > TOGETHER_MAX {
            return false;
        }
        let reach = self.base + self.replica.chunk_end(all.end - self.base);
        next.start < reach || next.start == reach && next.end - next.start <= SHORT_MAX
    }

    /// Reads several ranges that lie in `all`, which is copied to `copy` and verified there as one; whether
    /// it was good.
    fn read_together(
        &self,
        counters: &Counters,
        ranges: Ranges<'_, '_>,
        some: &[usize],
        all: &Range<u64>,
        verify: Verify,
        copy: &mut Vec<u8>,
    ) -> bool {
        copy.resize((all.end - all.start) as usize, 0);
        let Ok(checked) = self.replica.read(all.start - self.base, copy, verify) else {
            return false;
        };
        scatter(copy, all.start, ranges, some);
        let lens =
            some.iter().map(|at| extent(ranges, *at)).map(|one| (one.end - one.start) as usize);
        lens.for_each(|len| count(counters, &self.replica, len, checked));
        true
    }

    #[inline]
    fn read_one(
        &self,
        counters: &Counters,
        ranges: Ranges<'_, '_>,
        at: usize,
        verify: Verify,
    ) -> bool {
        let Some((offset, out)) = ranges.get_mut(at) else { return true };
        if *offset + out.len() as u64 > self.end {
            return false;
        }
        let read = self.replica.read(*offset - self.base, out, verify);
        if let Ok(checked) = read {
            count(counters, &self.replica, out.len(), checked);
        }
        read.is_ok()
    }
}

/// The open replicas of a file by offset.
#[derive(Default)]
pub(super) struct OpenReplicas {
    list: ArcSwap<Vec<OpenReplica>>,
    /// Held by the thread that replaces the list.
    changing: Mutex<()>,
}

impl OpenReplicas {
    /// The replica that holds `offset`, if it is open and may be read.
    pub(super) fn at(&self, offset: u64) -> Option<OpenReplica> {
        let list = self.list.load();
        find(&list, offset).filter(|known| known.replica.is_current()).cloned()
    }

    pub(super) fn add(&self, base: u64, end: u64, replica: &Arc<LocalReplica>) {
        let _changing = self.changing.lock();
        let mut list = Vec::clone(&self.list.load());
        list.retain(|known| known.base != base && known.replica.is_current());
        if list.len() >= OPEN_REPLICAS_MAX {
            list.remove(random::usize(..list.len()));
        }
        let at = list.partition_point(|known| known.base < base);
        list.insert(at, OpenReplica { base, end, replica: Arc::clone(replica) });
        self.list.store(Arc::new(list));
    }

    /// Drops all of them.
    pub(super) fn clear(&self) {
        let _changing = self.changing.lock();
        self.list.store(Arc::default());
    }

    /// Reads all of `out` from one open replica; `None` if none holds all of it.
    #[inline]
    pub(super) fn read(
        &self,
        counters: &Counters,
        offset: u64,
        out: &mut [u8],
        verify: Verify,
    ) -> Option<usize> {
        let list = self.list.load();
        let known = find(&list, offset)?;
        if offset + out.len() as u64 > known.end {
            return None;
        }
        let checked = known.replica.read(offset - known.base, out, verify).ok()?;
        count(counters, &known.replica, out.len(), checked);
        Some(out.len())
    }

    /// Reads those of `ranges` that lie in open replicas, in the order given, which is by offset, and
    /// says which do not. Those that share chunks are verified once together; while one is verified
    /// the processor brings the next.
    pub(super) fn read_many(
        &self,
        counters: &Counters,
        ranges: Ranges<'_, '_>,
        order: &[usize],
        verify: Verify,
    ) -> Vec<usize> {
        let list = self.list.load();
        let (mut left, mut copy) = (Vec::new(), Vec::new());
        let mut rest = order;
        while let Some(first) = rest.first() {
            let known = find(&list, extent(ranges, *first).start);
            let (count, all) = together(
                rest,
                |at| extent(ranges, at),
                |all, next| known.is_some_and(|k| k.joins(all, next)),
            );
            let (some, later) = rest.split_at(count);
            rest = later;
            if let Some((offset, buffer)) = later.first().and_then(|next| ranges.get(*next))
                && let Some(known) = find(&list, *offset)
            {
                known.replica.prefetch(offset - known.base, buffer.len());
            }
            let is_done = known.is_some_and(|k| {
                count > 1 && k.read_together(counters, ranges, some, &all, verify, &mut copy)
            });
            if !is_done {
                let is_left =
                    |at: &usize| !known.is_some_and(|k| k.read_one(counters, ranges, *at, verify));
                left.extend(some.iter().copied().filter(is_left));
            }
        }
        left
    }

    /// How many bytes can be read from `offset` without waiting for a disk: 0, or `len` as far as the block
    /// goes.
    pub(super) fn in_memory(&self, offset: u64, len: usize) -> usize {
        let list = self.list.load();
        let Some(known) = find(&list, offset) else { return 0 };
        let len = len.min(usize::try_from(known.end - offset).unwrap_or(usize::MAX));
        if known.replica.is_in_memory(offset - known.base, len) { len } else { 0 }
    }

    /// Whether a read of `len` bytes at `offset` is better made from the block file than from its map, because they have to
    /// come from the disk.
    pub(super) fn is_cold(&self, offset: u64, len: usize) -> bool {
        let list = self.list.load();
        find(&list, offset).is_some_and(|known| known.replica.is_cold(offset - known.base, len))
    }

    /// Whether one open replica has all of `len` bytes from `offset`.
    pub(super) fn has_all(&self, offset: u64, len: usize) -> bool {
        find(&self.list.load(), offset).is_some_and(|known| offset + len as u64 <= known.end)
    }

    /// At most `len` bytes from `offset` without a copy, as far as one mapped replica goes.
    pub(super) fn read_zero_copy(
        &self,
        counters: &Counters,
        offset: u64,
        len: usize,
        verify: Verify,
    ) -> Result<Option<ZeroCopyRead>, LocalError> {
        let list = self.list.load();
        let Some(known) = find(&list, offset) else { return Ok(None) };
        let rest = usize::try_from(known.end - offset).unwrap_or(usize::MAX);
        let len = len.min(rest);
        let read = ZeroCopyRead::mapped(&known.replica, offset - known.base, len, verify)?;
        if let Some(read) = &read {
            counters.read_zero_copy(read.len(), verify != Verify::None && !read.is_anchored());
        }
        Ok(read)
    }
}

#[inline]
fn find(list: &[OpenReplica], offset: u64) -> Option<&OpenReplica> {
    let after = list.partition_point(|known| known.base <= offset);
    list.get(after.checked_sub(1)?).filter(|known| offset < known.end)
}

#[inline]
fn count(counters: &Counters, replica: &LocalReplica, len: usize, checked: bool) {
    match path_of(replica) {
        ReadPath::LocalMapped => counters.read_mapped(len, checked),
        path => counters.read(path, ReadReason::None, len, checked),
    }
}
