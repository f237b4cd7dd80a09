//! Sorted lists of paths that may exceed memory: sorted runs in local files, merged when the list is read.

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

/// Memory for entries before they are written to a file.
const RUN_BYTES: usize = 32 << 20;
/// Memory of an entry in addition to its key.
const ENTRY_BYTES: usize = 160;
/// Largest number of files that are merged.
const FILES_MAX: usize = 64;

/// A listed path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Path relative to the source's root, with a leading `/`; empty for the root.
    pub key: String,
    /// Index of the source.
    pub source: usize,
    pub length: u64,
    /// Attributes of a directory; `None` for a file, whose status is read again when it is copied.
    pub directory: Option<Facts>,
}

/// Compares paths in tree order: descendants directly follow their directory. Byte order would put `/d.bak`
/// between `/d` and `/d/f`.
pub fn in_tree(a: &str, b: &str) -> Ordering {
    let rank = |byte: u8| if byte == b'/' { 0 } else { byte };
    a.bytes().map(rank).cmp(b.bytes().map(rank))
}

/// Sort direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Directories before their entries.
    Down,
    /// Entries before their directory.
    Up,
}

impl Direction {
    fn compare(self, a: &Entry, b: &Entry) -> Ordering {
        let order = in_tree(&a.key, &b.key).then(a.source.cmp(&b.source));
        if self == Direction::Down { order } else { order.reverse() }
    }
}

/// A temporary local directory, removed at the end of the command and after a signal.
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

    /// Returns a new file name.
    pub fn file(&self) -> PathBuf {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Memory::Relaxed);
        self.directory.path().join(number.to_string())
    }
}

fn failure(path: &Path, error: io::Error) -> Failure {
    Failure::io(format!(
        "cannot store the list of paths in {}: {error}; set TMPDIR to another directory",
        path.display()
    ))
}

/// A list under construction.
pub struct Spool<'a> {
    scratch: &'a Scratch,
    direction: Direction,
    limit: usize,
    entries: Vec<Entry>,
    bytes: usize,
    runs: Vec<PathBuf>,
}

impl<'a> Spool<'a> {
    pub fn new(scratch: &'a Scratch, direction: Direction) -> Spool<'a> {
        Spool::with_limit(scratch, direction, RUN_BYTES)
    }

    fn with_limit(scratch: &'a Scratch, direction: Direction, limit: usize) -> Spool<'a> {
        Spool { scratch, direction, limit, entries: Vec::new(), bytes: 0, runs: Vec::new() }
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
        self.write_run(entries.into_iter().map(Ok))?;
        if self.runs.len() >= FILES_MAX {
            let runs = std::mem::take(&mut self.runs);
            self.write_run(Entries::open(&runs, &[], self.direction)?)?;
            for run in runs {
                std::fs::remove_file(&run).map_err(|error| failure(&run, error))?;
            }
        }
        Ok(())
    }

    fn sort(&mut self) {
        let direction = self.direction;
        self.entries.sort_unstable_by(|a, b| direction.compare(a, b));
    }

    fn write_run(&mut self, entries: impl Iterator<Item = Outcome<Entry>>) -> Outcome {
        let path = self.scratch.file();
        let at = |error| failure(&path, error);
        let mut file = BufWriter::new(File::create(&path).map_err(at)?);
        for entry in entries {
            serde_json::to_writer(&mut file, &entry?).map_err(|error| at(error.into()))?;
            file.write_all(b"\n").map_err(at)?;
        }
        file.flush().map_err(at)?;
        self.runs.push(path);
        Ok(())
    }

    pub fn finish(mut self) -> Sorted {
        self.sort();
        Sorted { entries: self.entries, runs: self.runs, direction: self.direction }
    }
}

/// A complete list, which can be read repeatedly.
pub struct Sorted {
    entries: Vec<Entry>,
    runs: Vec<PathBuf>,
    direction: Direction,
}

impl Sorted {
    pub fn entries(&self) -> Outcome<Entries<'_>> {
        Entries::open(&self.runs, &self.entries, self.direction)
    }
}

/// The next entry of a run.
struct Head {
    entry: Entry,
    run: usize,
    direction: Direction,
}

impl Ord for Head {
    /// Reversed, because `BinaryHeap` returns the largest element first.
    fn cmp(&self, other: &Self) -> Ordering {
        self.direction.compare(&other.entry, &self.entry).then(other.run.cmp(&self.run))
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

/// The entries of all runs in order.
pub struct Entries<'a> {
    files: Vec<(PathBuf, BufReader<File>)>,
    memory: std::slice::Iter<'a, Entry>,
    heads: BinaryHeap<Head>,
    direction: Direction,
}

impl<'a> Entries<'a> {
    fn open(runs: &[PathBuf], memory: &'a [Entry], direction: Direction) -> Outcome<Entries<'a>> {
        let open = |path: &PathBuf| match File::open(path) {
            Ok(file) => Ok((path.clone(), BufReader::new(file))),
            Err(error) => Err(failure(path, error)),
        };
        let files = runs.iter().map(open).collect::<Outcome<Vec<_>>>()?;
        let count = files.len();
        let heads = BinaryHeap::new();
        let mut entries = Entries { files, memory: memory.iter(), heads, direction };
        for run in 0..=count {
            entries.refill(run)?;
        }
        Ok(entries)
    }

    /// Reads the next entry of a run. The run in memory has the index after the last file.
    fn refill(&mut self, run: usize) -> Outcome {
        let entry = match self.files.get_mut(run) {
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
            self.heads.push(Head { entry, run, direction: self.direction });
        }
        Ok(())
    }
}

impl Iterator for Entries<'_> {
    type Item = Outcome<Entry>;

    fn next(&mut self) -> Option<Outcome<Entry>> {
        let Head { entry, run, .. } = self.heads.pop()?;
        Some(self.refill(run).map(|()| entry))
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
            assert!(spool.runs.len() > 2 && spool.runs.len() < FILES_MAX);
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
        assert_eq!(spool.runs.len(), 1);
        let read: Vec<Entry> = spool.finish().entries().unwrap().map(Result::unwrap).collect();
        assert_eq!(read, [odd]);
    }
}
