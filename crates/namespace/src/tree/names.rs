//! Names of inodes.
//!
//! ```text
//! short, 16 bytes in the inode:  length 1, up to 15 | the name
//! longer:                        255 | its number 4 | length 1, 0 above 255 | its first ten bytes
//! ```
//! Longer names lie side by side in pages of names of one length: they cost their bytes and nothing else. Most comparisons
//! are decided by the bytes in the inode.

use std::cmp::Ordering;

/// The longest name in an inode, bytes.
const SHORT_MAX: usize = 15;
/// The first byte of a name that is not in the inode.
const ELSEWHERE: u8 = u8::MAX;
const PREFIX: usize = 10;
/// The longest name in a page, bytes: the default of dfs.namenode.fs-limits.max-component-length.
const PAGED_MAX: usize = 255;
/// Names of a page.
const PAGE: usize = 256;
const NONE: u32 = u32::MAX;

/// An inode's name: the bytes themselves, or where [`Names`] keeps them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Name([u8; 16]);

impl Name {
    fn short(bytes: &[u8]) -> Option<Self> {
        let mut name = [0; 16];
        name.get_mut(1..=bytes.len()).filter(|_| bytes.len() <= SHORT_MAX)?.copy_from_slice(bytes);
        name[0] = bytes.len() as u8;
        Some(Self(name))
    }

    /// `bytes`: more than [`SHORT_MAX`].
    fn elsewhere(number: u32, bytes: &[u8]) -> Self {
        let mut name = [ELSEWHERE; 16];
        name[1..5].copy_from_slice(&number.to_le_bytes());
        name[5] = u8::try_from(bytes.len()).unwrap_or(0);
        name[6..].copy_from_slice(&bytes[..PREFIX]);
        Self(name)
    }

    fn is_short(&self) -> bool {
        self.0[0] != ELSEWHERE
    }

    fn number(&self) -> u32 {
        u32::from_le_bytes([self.0[1], self.0[2], self.0[3], self.0[4]])
    }

    fn prefix(&self) -> &[u8] {
        &self.0[6..]
    }
}

/// The names that are too long for an inode.
pub(super) struct Names {
    /// By length: the first entry has those of one byte more than [`SHORT_MAX`].
    of_length: Vec<NamesOfLength>,
    longer: Vec<Box<[u8]>>,
    /// Unused entries of `longer`.
    longer_free: Vec<u32>,
}

/// Names by number, all of one length.
struct NamesOfLength {
    len: usize,
    pages: Vec<Vec<u8>>,
    /// An unused number, [`NONE`] if there is none; its place has the next one.
    free: u32,
}

impl NamesOfLength {
    fn new(len: usize) -> Self {
        Self { len, pages: Vec::new(), free: NONE }
    }

    fn place(&self, number: u32) -> (usize, std::ops::Range<usize>) {
        let begin = number as usize % PAGE * self.len;
        (number as usize / PAGE, begin..begin + self.len)
    }

    fn get(&self, number: u32) -> &[u8] {
        let (page, range) = self.place(number);
        self.pages.get(page).and_then(|page| page.get(range)).unwrap_or_default()
    }

    fn get_mut(&mut self, number: u32) -> Option<&mut [u8]> {
        let (page, range) = self.place(number);
        self.pages.get_mut(page)?.get_mut(range)
    }

    fn add(&mut self, bytes: &[u8]) -> u32 {
        let number = self.free;
        if number != NONE
            && let Some(place) = self.get_mut(number)
        {
            let next = [place[0], place[1], place[2], place[3]];
            place.copy_from_slice(bytes);
            self.free = u32::from_le_bytes(next);
            return number;
        }
        let full = PAGE * self.len;
        if self.pages.last().is_none_or(|page| page.len() == full) {
            // The first page grows: there are few names of most lengths.
            let capacity = if self.pages.is_empty() { 0 } else { full };
            self.pages.push(Vec::with_capacity(capacity));
        }
        let before = self.pages.len().saturating_sub(1) * PAGE;
        let Some(page) = self.pages.last_mut() else { return NONE };
        let number = before + page.len() / self.len;
        page.extend_from_slice(bytes);
        number as u32
    }

    fn remove(&mut self, number: u32) {
        let next = self.free;
        if let Some(place) = self.get_mut(number) {
            place[..4].copy_from_slice(&next.to_le_bytes());
            self.free = number;
        }
    }
}

impl Default for Names {
    fn default() -> Self {
        let of_length = (SHORT_MAX + 1..=PAGED_MAX).map(NamesOfLength::new).collect();
        Self { of_length, longer: Vec::new(), longer_free: Vec::new() }
    }
}

impl Names {
    /// Keeps a name; to be given back to [`Names::remove`].
    pub(super) fn add(&mut self, bytes: &[u8]) -> Name {
        if let Some(name) = Name::short(bytes) {
            return name;
        }
        let number = match self.of_length.get_mut(bytes.len() - SHORT_MAX - 1) {
            Some(paged) => paged.add(bytes),
            None => self.add_longer(bytes.into()),
        };
        Name::elsewhere(number, bytes)
    }

    fn add_longer(&mut self, bytes: Box<[u8]>) -> u32 {
        if let Some(number) = self.longer_free.pop() {
            self.longer[number as usize] = bytes;
            return number;
        }
        self.longer.push(bytes);
        self.longer.len() as u32 - 1
    }

    /// Forgets a name that was added here.
    pub(super) fn remove(&mut self, name: Name) {
        if name.is_short() {
            return;
        }
        let (number, len) = (name.number(), usize::from(name.0[5]));
        if let Some(paged) = len.checked_sub(SHORT_MAX + 1) {
            self.of_length[paged].remove(number);
        } else if let Some(longer) = self.longer.get_mut(number as usize) {
            *longer = Box::default();
            self.longer_free.push(number);
        }
    }

    /// The bytes of a name that was added here.
    pub(super) fn get<'a>(&'a self, name: &'a Name) -> &'a [u8] {
        if name.is_short() {
            return name.0.get(1..=usize::from(name.0[0])).unwrap_or_default();
        }
        match usize::from(name.0[5]).checked_sub(SHORT_MAX + 1) {
            Some(paged) => self.of_length[paged].get(name.number()),
            None => self.longer.get(name.number() as usize).map_or(&[], |longer| longer),
        }
    }

    /// How a name that was added here sorts against another.
    pub(super) fn compare(&self, name: &Name, other: &[u8]) -> Ordering {
        if name.is_short() {
            return compare_names(self.get(name), other);
        }
        let (begin, rest) = other.split_at(other.len().min(PREFIX));
        compare_names(name.prefix(), begin)
            .then_with(|| compare_names(self.get(name).get(PREFIX..).unwrap_or_default(), rest))
    }
}

/// Names as Hadoop orders them: byte by byte, bytes signed.
pub(crate) fn compare_names(left: &[u8], right: &[u8]) -> Ordering {
    // A loop of its own: names are short, and a search makes a dozen of these.
    for (left, right) in left.iter().zip(right) {
        if left != right {
            return (*left as i8).cmp(&(*right as i8));
        }
    }
    left.len().cmp(&right.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name() -> impl Strategy<Value = Vec<u8>> {
        // Two letters: many of them begin alike.
        let letters = |len| proptest::collection::vec(prop_oneof![Just(b'a'), Just(0xc3)], len);
        prop_oneof![letters(0..=40), letters(250..=260), letters(1000..=1001)]
    }

    proptest! {
        #[test]
        fn names_come_back_and_sort_as_bytes_do(all in proptest::collection::vec(name(), 2..60)) {
            let mut names = Names::default();
            let added: Vec<Name> = all.iter().map(|bytes| names.add(bytes)).collect();
            // Every other one goes, and its place is taken by a name of its length.
            let kept = |at: usize| at.is_multiple_of(2);
            added.iter().enumerate().filter(|(at, _)| !kept(*at)).for_each(|(_, name)| names.remove(*name));
            let other = |bytes: &[u8]| vec![b'x'; bytes.len()];
            let again: Vec<Name> = all.iter().map(|bytes| names.add(&other(bytes))).collect();
            for (at, bytes) in all.iter().enumerate() {
                prop_assert_eq!(names.get(&again[at]), other(bytes));
                if kept(at) {
                    prop_assert_eq!(names.get(&added[at]), bytes.as_slice());
                    for other in &all {
                        let found = names.compare(&added[at], other);
                        prop_assert_eq!(found, compare_names(bytes, other));
                    }
                }
            }
        }
    }

    #[test]
    fn places_of_removed_names_are_used_again() {
        let mut names = Names::default();
        let text = |n: usize| format!("a-name-of-some-length-{n:06}").into_bytes();
        let added: Vec<Name> = (0..1000).map(|n| names.add(&text(n))).collect();
        let pages = |names: &Names| names.of_length.iter().map(|of| of.pages.len()).sum::<usize>();
        let before = pages(&names);
        added.iter().for_each(|name| names.remove(*name));
        let again: Vec<Name> = (0..1000).map(|n| names.add(&text(n))).collect();
        assert_eq!(pages(&names), before);
        for (n, name) in again.iter().enumerate() {
            assert_eq!(names.get(name), text(n));
        }
    }
}
