//! Several ranges at once: neighbours are read together.

use super::buffers::Buffer;
use super::file::File;
use super::ranges::{Ranges, extent, scatter, together};
use crate::error::{Error, Result};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Ranges of a DataNode with a smaller gap are read together
/// (`PositionedReadable.minSeekForVectorReads`).
const GAP: u64 = 16 << 10;
/// Up to this length (`PositionedReadable.maxReadSizeForVectorReads`).
const TOGETHER_MAX: u64 = 1 << 20;

/// Hadoop's rule for ranges of a stream (`CombinedFileRange.merge`); its ranges must not overlap, these
/// may.
fn are_near(all: &Range<u64>, next: &Range<u64>) -> bool {
    let len = all.end.max(next.end) - all.start;
    next.start.saturating_sub(all.end) < GAP && len <= TOGETHER_MAX
}

/// The order by offset; without those that are empty, which need no reading.
fn sorted(count: usize, extent: impl Fn(usize) -> Range<u64>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).filter(|at| !extent(*at).is_empty()).collect();
    order.sort_unstable_by_key(|at| extent(*at).start);
    order
}

impl File {
    /// Reads several ranges, each exactly, those of open replicas first. All are tried even
    /// if one fails; then the first error is returned.
    pub(crate) fn read_ranges(self: &Arc<Self>, ranges: Ranges<'_, '_>) -> Result<()> {
        let left = self.read_known_ranges(ranges);
        let len = self.len();
        let (left, beyond): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|at| extent(ranges, *at).end <= len);
        let mut failed = None;
        let mut rest = left.as_slice();
        while !rest.is_empty() {
            let (count, all) = together(rest, |at| extent(ranges, at), are_near);
            let (some, later) = rest.split_at(count);
            self.read_together(ranges, some, &all, &mut failed);
            rest = later;
        }
        let ends_early = |at: &usize| self.ends_early(&extent(ranges, *at));
        failed.or_else(|| beyond.first().map(ends_early)).map_or(Ok(()), Err)
    }

    /// Reads those ranges that lie in open replicas; which are left, by offset.
    pub(crate) fn read_known_ranges(&self, ranges: Ranges<'_, '_>) -> Vec<usize> {
        let order = sorted(ranges.len(), |at| extent(ranges, at));
        self.known.read_many(&self.counters, ranges, &order, self.verify_local)
    }

    /// One of several that are read as one may be bad, or what lies between them: then each is read
    /// alone. After a first failure nothing is waited for any more.
    fn read_together(
        self: &Arc<Self>,
        ranges: Ranges<'_, '_>,
        some: &[usize],
        all: &Range<u64>,
        failed: &mut Option<Error>,
    ) {
        let mut waits = failed.is_none();
        if some.len() > 1 {
            let mut bytes = vec![0; (all.end - all.start) as usize];
            match self.fill(all.start, &mut bytes, waits) {
                Ok(()) => return scatter(&bytes, all.start, ranges, some),
                Err(error) => tracing::info!("{error}; reading {} ranges alone", some.len()),
            }
            waits = false;
        }
        for at in some {
            let Some((offset, out)) = ranges.get_mut(*at) else { continue };
            if let Err(error) = self.fill(*offset, out, waits) {
                failed.get_or_insert(error);
                waits = false;
            }
        }
    }

    /// Reads exactly `buffer` at `offset`.
    pub(crate) fn read_exact_at(self: &Arc<Self>, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.fill(offset, buffer, true)
    }

    /// The same; `waits`: where no replica can be read, the NameNode is asked again after a while.
    fn fill(self: &Arc<Self>, offset: u64, buffer: &mut [u8], waits: bool) -> Result<()> {
        let read = match self.read_open_replica(offset, buffer) {
            Some(read) => read,
            None => self.read_at_the_long_way(offset, buffer, waits)?,
        };
        if read == buffer.len() {
            return Ok(());
        }
        Err(self.ends_early(&(offset..offset.saturating_add(buffer.len() as u64))))
    }

    pub(super) fn ends_early(&self, wanted: &Range<u64>) -> Error {
        let (offset, len) = (wanted.start, wanted.end - wanted.start);
        Error::io(
            format_args!("{}: {len} bytes at {offset}", self.path()),
            io::ErrorKind::UnexpectedEof.into(),
        )
    }
}

/// Ranges with memory of their own, to be filled.
pub(crate) fn borrowed(ranges: &mut [(u64, Buffer)]) -> Vec<(u64, &mut [u8])> {
    ranges.iter_mut().map(|(offset, bytes)| (*offset, bytes.as_mut())).collect()
}

/// For callers that read what is together at the same time: the ranges of each part, by number.
pub(crate) fn parts(ranges: &[(u64, usize)], left: &[usize]) -> Vec<Vec<usize>> {
    let extent = |at: usize| {
        ranges.get(at).map_or(0..0, |(start, len)| *start..start.saturating_add(*len as u64))
    };
    let mut parts = Vec::new();
    let mut rest = left;
    while !rest.is_empty() {
        let (some, later) = rest.split_at(together(rest, extent, are_near).0);
        parts.push(some.to_vec());
        rest = later;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lens(ranges: &[(u64, usize)]) -> Vec<Vec<usize>> {
        let order = sorted(ranges.len(), |at| {
            let (start, len) = ranges[at];
            start..start + len as u64
        });
        parts(ranges, &order)
    }

    #[test]
    fn neighbours_go_together_by_hadoop_s_rule() {
        let gap = GAP as usize;
        assert_eq!(lens(&[(0, 10), (9 + GAP, 10)]), [[0, 1]]);
        assert_eq!(lens(&[(0, 10), (10 + GAP, 10)]), [[0], [1]], "a gap that is too wide");
        // In any order; one within another; the same twice; an empty one is not read.
        assert_eq!(lens(&[(500, 10), (0, 1000), (500, 10), (7, 0)]), [[1, 0, 2]]);
        let max = TOGETHER_MAX as usize;
        assert_eq!(lens(&[(0, max - 1), (TOGETHER_MAX - 1, 1)]), [[0, 1]]);
        assert_eq!(lens(&[(0, max), (TOGETHER_MAX, 1)]), [[0], [1]], "too long together");
        assert_eq!(lens(&[(0, 3 * max), (5, 1)]), [[0], [1]], "one that is too long stays alone");
        // What is near to one in front of the last counts.
        assert_eq!(lens(&[(0, 3 * gap), (5, 1), (3 * GAP + 5, 1)]), [[0, 1, 2]]);
        assert!(lens(&[]).is_empty());
    }
}
