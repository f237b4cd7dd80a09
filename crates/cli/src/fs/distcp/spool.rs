//! Lists of paths that may be longer than memory: sorted pieces in files of this machine, merged whenever the
//! list is read.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering as Memory};

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::attributes::Facts;
use crate::failure::{Failure, Outcome};
use crate::fs::interrupt::Unfinished;

/// Bytes of entries in memory before a piece goes to a file.
const PIECE_BYTES: usize = 32 << 20;
/// What an entry takes besides its text.
const ENTRY_BYTES: usize = 160;
/// Files that are read at the same time.
const FILES_MAX: usize = 64;

/// A path of a listing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The path below the root of its source, which begins with `/`; empty for the root itself.
    pub key: String,
    /// Number of its source.
    pub source: usize,
    pub length: u64,
    /// Of a directory; a file is looked at again when it is copied.
    pub directory: Option<Facts>,
}

/// Order of the paths of a tree: what is below a directory comes right behind it. In the order of the
/// text alone `/d.bak` would stand between `/d` and `/d/f`.
pub fn in_tree(a: &str, b: &str) -> Ordering {
    let rank = |byte: u8| if byte == b'/' { 0 } else { byte };
    a.bytes().map(rank).cmp(b.bytes().map(rank))
}

/// Which way a list is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// A directory before what is in it.
    Down,
    /// What is in a directory before it.
    Up,
}

impl Direction {
    fn compare(self, a: &Entry, b: &Entry) -> Ordering {
        let order = in_tree(&a.key, &b.key).then(a.source.cmp(&b.source));
        if self == Direction::Down { order } else { order.reverse() }
    }
}

/// A directory of this machine for lists; it goes away with the command, also by a signal.
pub struct Scratch {
    directory: TempDir,
    _unfinished: Unfinished,
}

impl Scratch {
    pub fn new() -> Outcome<Scratch> {
        let directory = tempfile::Builder::new().prefix("distcp").tempdir();
        let directory = directory.map_err(|error| failure(&std::env::temp_dir(), error))?;
        let path = directory.path().to_owned();
        let _unfinished = Unfinished::with(move || drop(std::fs::remove_dir_all(&path)));
        Ok(Scratch { directory, _unfinished })
    }

    /// The name of a new file.
    pub fn file(&self) -> PathBuf {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Memory::Relaxed);
        self.directory.path().join(number.to_string())
    }
}

fn failure(path: &Path, error: io::Error) -> Failure {
    Failure::io(format!(
        "the list of paths in {}: {error}; TMPDIR names another place for it",
        path.display()
    ))
}

/// A list that is being made.
pub struct Spool<'a> {
    scratch: &'a Scratch,
    direction: Direction,
    limit: usize,
    entries: Vec<Entry>,
    bytes: usize,
    pieces: Vec<PathBuf>,
}

impl<'a> Spool<'a> {
    pub fn new(scratch: &'a Scratch, direction: Direction) -> Spool<'a> {
        Spool::with_limit(scratch, direction, PIECE_BYTES)
    }

    fn with_limit(scratch: &'a Scratch, direction: Direction, limit: usize) -> Spool<'a> {
        Spool { scratch, direction, limit, entries: Vec::new(), bytes: 0, pieces: Vec::new() }
    }

    pub fn push(&mut self, entry: Entry) -> Outcome {
        self.bytes += entry.key.len() + ENTRY_BYTES;
        self.entries.push(entry);
        if self.bytes < self.limit {
            return Ok(());
        }
        self.sort();
        let entries = std::mem::take(&mut self.entries);
        self.bytes = 0;
        self.write_piece(entries.into_iter().map(Ok))?;
        if self.pieces.len() >= FILES_MAX {
            let pieces = std::mem::take(&mut self.pieces);
            self.write_piece(Entries::open(&pieces, &[], self.direction)?)?;
            for piece in pieces {
                std::fs::remove_file(&piece).map_err(|error| failure(&piece, error))?;
            }
        }
        Ok(())
    }

    fn sort(&mut self) {
        let direction = self.direction;
        self.entries.sort_unstable_by(|a, b| direction.compare(a, b));
    }

    fn write_piece(&mut self, entries: impl Iterator<Item = Outcome<Entry>>) -> Outcome {
        let path = self.scratch.file();
        let at = |error| failure(&path, error);
        let mut file = BufWriter::new(File::create(&path).map_err(at)?);
        for entry in entries {
            serde_json::to_writer(&mut file, &entry?).map_err(|error| at(error.into()))?;
            file.write_all(b"\n").map_err(at)?;
        }
        file.flush().map_err(at)?;
        self.pieces.push(path);
        Ok(())
    }

    pub fn finish(mut self) -> Sorted {
        self.sort();
        Sorted { entries: self.entries, pieces: self.pieces, direction: self.direction }
    }
}

/// A list that can be read as often as is needed, in order.
pub struct Sorted {
    entries: Vec<Entry>,
    pieces: Vec<PathBuf>,
    direction: Direction,
}

impl Sorted {
    pub fn entries(&self) -> Outcome<Entries<'_>> {
        Entries::open(&self.pieces, &self.entries, self.direction)
    }
}

/// The next entry of a piece.
struct Head {
    entry: Entry,
    piece: usize,
    direction: Direction,
}

impl Ord for Head {
    /// The first in order is the largest, which a heap gives first.
    fn cmp(&self, other: &Self) -> Ordering {
        self.direction.compare(&other.entry, &self.entry).then(other.piece.cmp(&self.piece))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Head {}

/// Entries of all pieces in order.
pub struct Entries<'a> {
    files: Vec<(PathBuf, BufReader<File>)>,
    memory: std::slice::Iter<'a, Entry>,
    heads: BinaryHeap<Head>,
    direction: Direction,
}

impl<'a> Entries<'a> {
    fn open(pieces: &[PathBuf], memory: &'a [Entry], direction: Direction) -> Outcome<Entries<'a>> {
        let open = |path: &PathBuf| match File::open(path) {
            Ok(file) => Ok((path.clone(), BufReader::new(file))),
            Err(error) => Err(failure(path, error)),
        };
        let files = pieces.iter().map(open).collect::<Outcome<Vec<_>>>()?;
        let count = files.len();
        let heads = BinaryHeap::new();
        let mut entries = Entries { files, memory: memory.iter(), heads, direction };
        for piece in 0..=count {
            entries.refill(piece)?;
        }
        Ok(entries)
    }

    /// Reads the next entry of a piece; what is in memory has the number behind the last file.
    fn refill(&mut self, piece: usize) -> Outcome {
        let entry = match self.files.get_mut(piece) {
            None => self.memory.next().cloned(),
            Some((path, file)) => {
                let mut line = Vec::new();
                let count = file.read_until(b'\n', &mut line).map_err(|e| failure(path, e))?;
                let read = |line: &[u8]| serde_json::from_slice(line);
                match count {
                    0 => None,
                    _ => Some(read(&line).map_err(|error| failure(path, error.into()))?),
                }
            }
        };
        if let Some(entry) = entry {
            self.heads.push(Head { entry, piece, direction: self.direction });
        }
        Ok(())
    }
}

impl Iterator for Entries<'_> {
    type Item = Outcome<Entry>;

    fn next(&mut self) -> Option<Outcome<Entry>> {
        let Head { entry, piece, .. } = self.heads.pop()?;
        Some(self.refill(piece).map(|()| entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: String) -> Entry {
        Entry { key, source: 0, length: 1, directory: None }
    }

    #[test]
    fn a_list_that_went_to_many_files_is_read_in_order_and_again() {
        let scratch = Scratch::new().unwrap();
        for direction in [Direction::Down, Direction::Up] {
            let mut spool = Spool::with_limit(&scratch, direction, 1000);
            let count = 2000;
            for number in 0..count {
                spool.push(entry(format!("/{:04}", number * 7919 % count))).unwrap();
            }
            assert!(spool.pieces.len() > 2 && spool.pieces.len() < FILES_MAX);
            let sorted = spool.finish();
            for _ in 0..2 {
                let mut keys: Vec<String> =
                    sorted.entries().unwrap().map(|entry| entry.unwrap().key).collect();
                if direction == Direction::Up {
                    keys.reverse();
                }
                let expected: Vec<String> = (0..count).map(|n| format!("/{n:04}")).collect();
                assert_eq!(keys, expected);
            }
        }
    }

    #[test]
    fn what_is_in_a_directory_comes_right_behind_it() {
        let mut keys = ["/d.bak", "/d/f", "/d", "", "/d/f/g", "/d/f g", "/da"];
        keys.sort_by(|a, b| in_tree(a, b));
        assert_eq!(keys, ["", "/d", "/d/f", "/d/f/g", "/d/f g", "/d.bak", "/da"]);
    }

    #[test]
    fn names_with_line_ends_survive_the_file() {
        let scratch = Scratch::new().unwrap();
        let mut spool = Spool::with_limit(&scratch, Direction::Down, 1);
        let odd = entry("/a\nb\"\\\u{1}".to_owned());
        spool.push(odd.clone()).unwrap();
        assert_eq!(spool.pieces.len(), 1);
        let read: Vec<Entry> = spool.finish().entries().unwrap().map(Result::unwrap).collect();
        assert_eq!(read, [odd]);
    }
}
