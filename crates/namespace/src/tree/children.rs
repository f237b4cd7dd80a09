//! The children of a directory: slots in name order, in chunks so that a large directory takes an insert in bounded time.

use smallvec::SmallVec;
use std::cmp::Ordering;

/// A chunk is split when it would pass this; 4 bytes a child.
const CHUNK_MAX: usize = 512;

/// Slots sorted by the name they have in the arena; no chunk is empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Children {
    chunks: SmallVec<[Vec<u32>; 1]>,
    len: u32,
}

/// Where a child is, or would be put.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    chunk: usize,
    at: usize,
}

impl Children {
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Finds by an ordering of a stored child against what is sought; `Err` says where to put it.
    pub(crate) fn search(&self, mut compare: impl FnMut(u32) -> Ordering) -> Result<u32, Place> {
        let chunk = match self.chunks.len() {
            0 => return Err(Place { chunk: 0, at: 0 }),
            1 => 0,
            _ => self.chunks.partition_point(|chunk| compare(chunk[0]).is_le()).saturating_sub(1),
        };
        let children = &self.chunks[chunk];
        match children.binary_search_by(|child| compare(*child)) {
            Ok(at) => Ok(children[at]),
            Err(at) => Err(Place { chunk, at }),
        }
    }

    /// Puts a child where [`Children::search`] said.
    pub(crate) fn insert(&mut self, place: Place, child: u32) {
        self.len += 1;
        let Some(chunk) = self.chunks.get_mut(place.chunk) else {
            return self.chunks.push(vec![child]);
        };
        if chunk.len() == chunk.capacity() && chunk.len() < 64 {
            // Directories are many and small: grow by half, not to the double.
            chunk.reserve_exact((chunk.len() / 2).max(2));
        }
        chunk.insert(place.at, child);
        if chunk.len() > CHUNK_MAX {
            // Names mostly arrive in order: leave the left chunk full.
            let cut = if place.at + 1 == chunk.len() { CHUNK_MAX } else { CHUNK_MAX / 2 };
            let mut right = Vec::with_capacity(CHUNK_MAX);
            right.extend(chunk.drain(cut..));
            self.chunks.insert(place.chunk + 1, right);
        }
    }

    /// Takes the child that `compare` finds out of the list.
    pub(crate) fn remove(&mut self, compare: impl Fn(u32) -> Ordering) -> Option<u32> {
        let chunk = match self.chunks.len() {
            0 => return None,
            1 => 0,
            _ => self.chunks.partition_point(|chunk| compare(chunk[0]).is_le()).saturating_sub(1),
        };
        let children = &mut self.chunks[chunk];
        let at = children.binary_search_by(|child| compare(*child)).ok()?;
        let child = children.remove(at);
        if children.is_empty() {
            self.chunks.remove(chunk);
        }
        self.len -= 1;
        Some(child)
    }

    /// Appends a child known to be the last in order (image loading checks the order).
    pub(crate) fn push(&mut self, child: u32) {
        self.len += 1;
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK_MAX => chunk.push(child),
            _ => self.chunks.push(vec![child]),
        }
    }

    /// The last child in order.
    pub(crate) fn last(&self) -> Option<u32> {
        self.chunks.last().and_then(|chunk| chunk.last()).copied()
    }

    /// Takes any child out (the last one): for taking a subtree apart.
    pub(crate) fn pop(&mut self) -> Option<u32> {
        let chunk = self.chunks.last_mut()?;
        let child = chunk.pop();
        if chunk.is_empty() {
            self.chunks.pop();
        }
        self.len -= 1;
        child
    }

    /// All children in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.chunks.iter().flatten().copied()
    }

    /// The children after the place where `compare` says the start is; and how many those are.
    pub(crate) fn after(
        &self,
        mut compare: impl FnMut(u32) -> Ordering,
    ) -> (impl Iterator<Item = u32> + '_, usize) {
        let chunk = self
            .chunks
            .partition_point(|chunk| chunk.last().is_some_and(|last| compare(*last).is_le()));
        let at = self
            .chunks
            .get(chunk)
            .map_or(0, |chunk| chunk.partition_point(|child| compare(*child).is_le()));
        let before: usize = self.chunks[..chunk].iter().map(Vec::len).sum::<usize>() + at;
        let rest = self.chunks[chunk..].iter().flatten().copied().skip(at);
        (rest, self.len() - before)
    }

    /// The children before the place where `compare` says the end is, the last one first; all without `compare`.
    pub(crate) fn before(
        &self,
        compare: Option<impl Fn(u32) -> Ordering>,
    ) -> impl Iterator<Item = u32> + '_ {
        let is_before = |child: u32| compare.as_ref().is_none_or(|compare| compare(child).is_lt());
        let chunks = self.chunks.partition_point(|chunk| is_before(chunk[0]));
        let (last, whole) =
            self.chunks[..chunks].split_last().map_or((&[][..], &[][..]), |(last, whole)| {
                (&last[..last.partition_point(|child| is_before(*child))], whole)
            });
        whole.iter().flatten().chain(last).copied().rev()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_stay_sorted_in_any_order_of_insertion() {
        let mut children = Children::default();
        for step in [7u32, 3, 1] {
            for n in 0..2000u32 {
                let value = n * 11 % 2003 * step;
                if let Err(place) = children.search(|child| child.cmp(&value)) {
                    children.insert(place, value);
                }
            }
        }
        let all: Vec<u32> = children.iter().collect();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(all.len(), children.len());
        let (rest, count) = children.after(|child| child.cmp(&all[700]));
        assert_eq!(count, all.len() - 701);
        assert_eq!(rest.collect::<Vec<_>>(), all[701..]);
        let before = |end: u32| children.before(Some(move |child: u32| child.cmp(&end)));
        assert!(before(all[700]).eq(all[..700].iter().rev().copied()));
        assert!(before(all[700] + 1).take(1).eq([all[700]]));
        assert_eq!(before(0).next(), None);
        assert!(children.before(None::<fn(u32) -> Ordering>).eq(all.iter().rev().copied()));
        for value in &all {
            assert_eq!(children.remove(|child| child.cmp(value)), Some(*value));
        }
        assert!(children.is_empty());
    }
}
