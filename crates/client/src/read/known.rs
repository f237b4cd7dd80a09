//! The short way of a read: a replica that this file has open, found and read without a lock or a
//! system call.

use super::block::path_of;
use super::local::{Lent, LocalError, LocalReplica};
use super::plan::{ReadPath, ReadReason};
use super::stats::Counters;
use crate::types::Verify;
use arc_swap::ArcSwap;
use parking_lot::Mutex;
use std::sync::Arc;

/// Replicas that one file keeps open beside the client's cache.
const KNOWN_MAX: usize = 64;

/// An open replica and the part of the file that it holds.
#[derive(Clone)]
pub(super) struct Known {
    /// In the file, where the block begins.
    base: u64,
    /// In the file, where what may be read of it ends.
    end: u64,
    replica: Arc<LocalReplica>,
    /// Whether it is certain whose replica it is.
    pub(super) is_certain: bool,
}

impl Known {
    pub(super) fn replica(&self) -> &Arc<LocalReplica> {
        &self.replica
    }
}

/// The open replicas of a file by offset.
#[derive(Default)]
pub(super) struct KnownReplicas {
    list: ArcSwap<Vec<Known>>,
    /// Held by whoever replaces the list.
    changing: Mutex<()>,
}

impl KnownReplicas {
    /// The replica that holds `offset`, if it is open and may be read.
    pub(super) fn at(&self, offset: u64) -> Option<Known> {
        let list = self.list.load();
        find(&list, offset).filter(|known| known.replica.is_current()).cloned()
    }

    pub(super) fn add(&self, base: u64, end: u64, replica: &Arc<LocalReplica>, is_certain: bool) {
        let _changing = self.changing.lock();
        let mut list = Vec::clone(&self.list.load());
        list.retain(|known| known.base != base && known.replica.is_current());
        if list.len() >= KNOWN_MAX {
            list.remove(fastrand::usize(..list.len()));
        }
        let at = list.partition_point(|known| known.base < base);
        list.insert(at, Known { base, end, replica: Arc::clone(replica), is_certain });
        self.list.store(Arc::new(list));
    }

    /// Lets all of them go.
    pub(super) fn clear(&self) {
        let _changing = self.changing.lock();
        self.list.store(Arc::default());
    }

    /// Reads all of `out` from one open replica; `None` leaves it to the long way.
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

    /// Reads those of `ranges` that lie in open replicas, in the order given, and says which do not.
    /// While one is verified the processor brings the next.
    pub(super) fn read_many(
        &self,
        counters: &Counters,
        ranges: &mut [(u64, &mut [u8])],
        order: &[usize],
        verify: Verify,
    ) -> Vec<usize> {
        let list = self.list.load();
        let mut left = Vec::new();
        let mut ahead = order.iter().skip(1);
        for at in order {
            if let Some((offset, buffer)) = ahead.next().and_then(|next| ranges.get(*next))
                && let Some(known) = find(&list, *offset)
            {
                known.replica.prefetch(offset - known.base, buffer.len());
            }
            let Some((offset, buffer)) = ranges.get_mut(*at) else { continue };
            let done = find(&list, *offset)
                .filter(|known| *offset + buffer.len() as u64 <= known.end)
                .is_some_and(|known| {
                    let read = known.replica.read(*offset - known.base, buffer, verify);
                    if let Ok(checked) = read {
                        count(counters, &known.replica, buffer.len(), checked);
                    }
                    read.is_ok()
                });
            if !done {
                left.push(*at);
            }
        }
        left
    }

    /// Lends at most `len` bytes from `offset`, as far as one mapped replica goes.
    pub(super) fn lend(
        &self,
        counters: &Counters,
        offset: u64,
        len: usize,
        verify: Verify,
    ) -> Result<Option<Lent>, LocalError> {
        let list = self.list.load();
        let Some(known) = find(&list, offset) else { return Ok(None) };
        let rest = usize::try_from(known.end - offset).unwrap_or(usize::MAX);
        let lent = Lent::mapped(&known.replica, offset - known.base, len.min(rest), verify)?;
        if let Some(lent) = &lent {
            counters.lent(lent.len(), verify != Verify::None && !lent.is_anchored());
        }
        Ok(lent)
    }
}

#[inline]
fn find(list: &[Known], offset: u64) -> Option<&Known> {
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
