//! One file: its durable bytes, and the changes since.

use std::borrow::Cow;

/// What a disk writes whole or not at all.
pub const SECTOR: usize = 512;

#[derive(Clone, Default)]
pub struct File {
    durable: Vec<u8>,
    pending: Vec<Change>,
    syncs_are_lost: bool,
}

#[derive(Clone)]
pub enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    SetLen(usize),
}

impl Change {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::SetLen(len) => content.resize(*len, 0),
            Self::Write { offset, bytes } => {
                let end = offset + bytes.len();
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[*offset..end].copy_from_slice(bytes);
            }
        }
    }
}

/// What a power cut leaves of a file's pending changes.
pub enum Left<'a> {
    /// All of them.
    All,
    /// None.
    Nothing,
    /// All but the last, of which only so many of the bytes that it changed.
    Torn(usize),
    /// So many of the changes, and of the next one so many of the bytes that it changed.
    Prefix(usize, usize),
    /// Of each written sector, what the closure says.
    Sectors(&'a mut dyn FnMut() -> Sector),
}

/// What a power cut leaves of a sector that was written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sector {
    /// The new bytes.
    New,
    /// What was there before; zeros where the file was shorter.
    Old,
    /// The first bytes, so many, are new.
    Torn(usize),
}

impl File {
    pub fn durable(bytes: Vec<u8>) -> Self {
        Self { durable: bytes, ..Self::default() }
    }

    pub fn change(&mut self, change: Change) {
        self.pending.push(change);
    }

    pub fn sync(&mut self) {
        if !self.syncs_are_lost {
            for change in self.pending.drain(..) {
                change.apply(&mut self.durable);
            }
        }
    }

    pub fn lose_syncs(&mut self) {
        self.syncs_are_lost = true;
    }

    pub fn pending_len(&self) -> usize {
        self.pending.len()
    }

    /// The bytes of the last pending change that are not as they were; as a range of the write.
    fn changed(&self, at: usize) -> Option<(usize, usize)> {
        let Some(Change::Write { offset, bytes }) = self.pending.get(at) else { return None };
        let before = self.content(at);
        let old = |n: usize| before.get(offset + n).copied();
        let differs = |n: &usize| old(*n) != Some(bytes[*n]);
        let first = (0..bytes.len()).find(differs)?;
        let last = (0..bytes.len()).rfind(differs)?;
        Some((first, last + 1))
    }

    pub fn last_write_len(&self) -> usize {
        let last = self.pending.len().checked_sub(1).and_then(|last| self.changed(last));
        last.map_or(0, |(first, end)| end - first)
    }

    /// The bytes after the first `count` pending changes.
    fn content(&self, count: usize) -> Cow<'_, [u8]> {
        if count == 0 || self.pending.is_empty() {
            return Cow::Borrowed(&self.durable);
        }
        let mut content = self.durable.clone();
        self.pending.iter().take(count).for_each(|change| change.apply(&mut content));
        Cow::Owned(content)
    }

    pub fn after_crash(&self, left: Left<'_>) -> Cow<'_, [u8]> {
        let all = self.pending.len();
        match left {
            Left::All => self.content(all),
            Left::Nothing => self.content(0),
            Left::Torn(count) if all > 0 => self.torn(all - 1, count),
            Left::Torn(_) => self.content(0),
            Left::Prefix(changes, count) => self.torn(changes, count),
            Left::Sectors(choose) => {
                let mut content = self.durable.clone();
                for change in &self.pending {
                    survive_in_sectors(change, &mut content, choose);
                }
                Cow::Owned(content)
            }
        }
    }

    /// `count` of the bytes that the change `at` changed, behind all changes before it.
    fn torn(&self, at: usize, count: usize) -> Cow<'_, [u8]> {
        let before = self.content(at);
        match (self.pending.get(at), self.changed(at)) {
            (Some(Change::Write { offset, bytes }), Some((first, end))) => {
                let end = end.min(first + count);
                let mut content = before.into_owned();
                let part = Change::Write { offset: *offset, bytes: bytes[..end].to_vec() };
                part.apply(&mut content);
                Cow::Owned(content)
            }
            _ => before,
        }
    }
}

fn survive_in_sectors(change: &Change, content: &mut Vec<u8>, choose: &mut dyn FnMut() -> Sector) {
    let Change::Write { offset, bytes } = change else {
        if choose() == Sector::New {
            change.apply(content);
        }
        return;
    };
    // The file's length may reach the disk without its bytes.
    let end = offset + bytes.len();
    if content.len() < end && choose() == Sector::New {
        content.resize(end, 0);
    }
    let mut at = 0;
    // One choice covers what fills the file in advance.
    let step = if bytes.len() > 64 * SECTOR { bytes.len().div_ceil(4) } else { SECTOR };
    while at < bytes.len() {
        // Up to the next border of a sector of the file.
        let border = (offset + at + step) / SECTOR * SECTOR;
        let next = bytes.len().min(border - offset);
        let kept = match choose() {
            Sector::New => next - at,
            Sector::Old => 0,
            Sector::Torn(count) => count.min(next - at),
        };
        if kept > 0 {
            let part = Change::Write { offset: offset + at, bytes: bytes[at..at + kept].to_vec() };
            part.apply(content);
        }
        at = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> File {
        let mut file = File::durable(b"abcdef".to_vec());
        file.change(Change::Write { offset: 2, bytes: b"cXYZ".to_vec() });
        file
    }

    #[test]
    fn what_was_not_synced_survives_in_whole_in_part_or_not_at_all() {
        let file = written();
        assert_eq!(&*file.after_crash(Left::Nothing), b"abcdef");
        assert_eq!(&*file.after_crash(Left::All), b"abcXYZ");
        assert_eq!(file.last_write_len(), 3, "c was there before");
        assert_eq!(&*file.after_crash(Left::Torn(2)), b"abcXYf");
        let mut long = File::default();
        long.change(Change::Write { offset: 0, bytes: vec![1; 3 * SECTOR] });
        let mut choices = [Sector::New, Sector::Old, Sector::New, Sector::Torn(5)].into_iter();
        let content = long.after_crash(Left::Sectors(&mut || choices.next().unwrap()));
        assert_eq!(content.len(), 3 * SECTOR);
        let ones = |range: std::ops::Range<usize>| content[range].iter().all(|byte| *byte == 1);
        let zeros = |range: std::ops::Range<usize>| content[range].iter().all(|byte| *byte == 0);
        assert!(zeros(0..SECTOR) && ones(SECTOR..2 * SECTOR));
        assert!(ones(2 * SECTOR..2 * SECTOR + 5) && zeros(2 * SECTOR + 5..3 * SECTOR));
    }

    #[test]
    fn what_was_synced_stays_unless_the_sync_failed() {
        let mut file = written();
        file.sync();
        assert_eq!(&*file.after_crash(Left::Nothing), b"abcXYZ");
        file.change(Change::SetLen(1));
        file.lose_syncs();
        file.sync();
        assert_eq!(&*file.after_crash(Left::Nothing), b"abcXYZ");
        assert_eq!(&*file.after_crash(Left::All), b"a");
    }
}
