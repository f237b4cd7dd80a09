//! Ranges of a file that are read with one call: where they lie, which go together, how they are filled.

use std::ops::Range;

/// Offsets in the file, and what is to be filled from there.
pub(super) type Ranges<'a, 'b> = &'a mut [(u64, &'b mut [u8])];

/// How many of `order`, from its first on, are read as one, and from where to where. `joins` is asked
/// about what is together so far and the next.
#[inline]
pub(super) fn together(
    order: &[usize],
    extent: impl Fn(usize) -> Range<u64>,
    joins: impl Fn(&Range<u64>, &Range<u64>) -> bool,
) -> (usize, Range<u64>) {
    let Some((first, others)) = order.split_first() else { return (0, 0..0) };
    let mut all = extent(*first);
    let mut count = 1;
    for at in others {
        let next = extent(*at);
        if !joins(&all, &next) {
            break;
        }
        all.end = all.end.max(next.end);
        count += 1;
    }
    (count, all)
}

/// From where to where a range goes.
pub(super) fn extent(ranges: &[(u64, &mut [u8])], at: usize) -> Range<u64> {
    ranges.get(at).map_or(0..0, |(start, out)| *start..start.saturating_add(out.len() as u64))
}

/// Copies what lies in the file from `start` on to those of `ranges` that `some` names.
pub(super) fn scatter(bytes: &[u8], start: u64, ranges: Ranges<'_, '_>, some: &[usize]) {
    for at in some {
        let Some((offset, out)) = ranges.get_mut(*at) else { continue };
        let from = offset.saturating_sub(start) as usize;
        if let Some(bytes) = bytes.get(from..from + out.len()) {
            out.copy_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_find_their_buffers() {
        let bytes: Vec<u8> = (0..100).collect();
        let (mut a, mut b, mut c) = ([0; 4], [0; 4], [0; 2]);
        let ranges: Ranges<'_, '_> = &mut [(1008, &mut a), (1006, &mut b), (1000, &mut c)];
        scatter(&bytes, 1000, ranges, &[2, 1, 0]);
        assert_eq!((a, b, c), ([8, 9, 10, 11], [6, 7, 8, 9], [0, 1]));
    }
}
