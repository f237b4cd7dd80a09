//! The index of a Hadoop archive, versions 1 to 3.
//!
//! ```text
//! _masterindex: "VERSION \n", then "HASH HASH BEGIN END \n": the bytes of _index to read
//! _index:       "NAME dir  none|PROPERTIES 0     0      CHILD... \n"
//!               "NAME file PART            START LENGTH [PROPERTIES] \n"
//! ```
//! Names are escaped as in forms since version 2; properties, since version 3, are "TIME MODE OWNER GROUP"; Hadoop
//! uses the time alone.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read};

use crate::failure::{Failure, Outcome};

/// The newest version that is known.
const VERSION: u32 = 3;

/// Longest line; that of a directory has the names of all its entries.
const LINE_LEN_MAX: u64 = 1 << 30;

/// A file or directory of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HarEntry {
    /// The part file; `None` for a directory.
    pub part: Option<String>,
    /// The first byte in the part file.
    pub start: u64,
    pub length: u64,
    /// Milliseconds since 1970; `None` before version 3.
    pub modified_ms: Option<i64>,
    /// The names in a directory.
    pub children: Vec<String>,
}

/// The entries of an archive by their path in it.
#[derive(Debug, Default)]
pub struct HarIndex {
    pub version: u32,
    entries: HashMap<String, HarEntry>,
}

/// The master index of an archive.
#[derive(Debug)]
pub struct MasterIndex {
    version: u32,
    /// The first byte, and the first one after the range, of each part of the index.
    pub ranges: Vec<(u64, u64)>,
}

impl MasterIndex {
    /// Reads the master index.
    ///
    /// # Errors
    /// Fails if a line is none of a master index, or the version is not known.
    pub fn read(input: impl Read) -> Outcome<MasterIndex> {
        let mut lines = Lines(BufReader::new(input));
        let first = lines.next()?.ok_or_else(|| damaged("an empty _masterindex"))?;
        let version = first.split(' ').next().and_then(|text| text.trim().parse().ok());
        let version = version.ok_or_else(|| damaged(&first))?;
        if !(1..=VERSION).contains(&version) {
            return Err(Failure::io(format!("Invalid version {version} expected {VERSION}")));
        }
        let mut ranges = Vec::new();
        while let Some(line) = lines.next()? {
            let mut numbers = line.split(' ').skip(2).map(|text| text.parse().ok());
            match (numbers.next().flatten(), numbers.next().flatten()) {
                (Some(begin), Some(end)) if begin <= end => ranges.push((begin, end)),
                _ => return Err(damaged(&line)),
            }
        }
        Ok(MasterIndex { version, ranges })
    }

    /// Creates an index without entries.
    pub fn index(&self) -> HarIndex {
        HarIndex { version: self.version, entries: HashMap::new() }
    }
}

impl HarIndex {
    /// Adds the entries of one part of the index.
    ///
    /// # Errors
    /// Fails if a line is none of an index.
    pub fn add(&mut self, part: impl Read) -> Outcome {
        let mut lines = Lines(BufReader::new(part));
        while let Some(line) = lines.next()? {
            let (name, entry) = self.parse(&line).ok_or_else(|| damaged(&line))?;
            self.entries.insert(name, entry);
        }
        Ok(())
    }

    /// Returns the entry of a path in the archive.
    pub fn get(&self, path: &str) -> Option<&HarEntry> {
        self.entries.get(path)
    }

    fn parse(&self, line: &str) -> Option<(String, HarEntry)> {
        let mut fields = line.split(' ');
        let name = self.name(fields.next()?)?;
        let kind = fields.next()?;
        let part = fields.next()?;
        let start = fields.next()?.parse().ok()?;
        let length = fields.next()?.parse().ok()?;
        let rest: Vec<&str> = fields.filter(|field| !field.is_empty()).collect();
        let is_directory = kind == "dir";
        let properties = match (self.version, is_directory) {
            (3, true) => Some(part),
            (3, false) => rest.first().copied(),
            _ => None,
        };
        let modified_ms = properties.and_then(|text| {
            let text = unescaped(text)?;
            text.split(' ').next()?.parse().ok()
        });
        let children = if is_directory {
            rest.iter().map(|name| self.name(name)).collect()
        } else {
            Some(Vec::new())
        };
        Some((
            name,
            HarEntry {
                part: (!is_directory).then(|| part.to_owned()),
                start,
                length,
                modified_ms: modified_ms.or((self.version == 3).then_some(0)),
                children: children?,
            },
        ))
    }

    fn name(&self, text: &str) -> Option<String> {
        if self.version == 1 { Some(text.to_owned()) } else { unescaped(text) }
    }
}

/// Decodes a text like Java's `URLDecoder`.
fn unescaped(text: &str) -> Option<String> {
    let text = text.replace('+', " ");
    Some(percent_encoding::percent_decode_str(&text).decode_utf8().ok()?.into_owned())
}

fn damaged(line: &str) -> Failure {
    let start: String = line.chars().take(80).collect();
    Failure::io(format!("damaged index of a Hadoop archive: `{start}'; archive the files again"))
}

struct Lines<R>(BufReader<R>);

impl<R: Read> Lines<R> {
    fn next(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        let count = self.0.by_ref().take(LINE_LEN_MAX).read_line(&mut line)?;
        if count == 0 {
            return Ok(None);
        }
        if count as u64 == LINE_LEN_MAX {
            return Err(io::Error::other("a line of the index is too long"));
        }
        line.truncate(line.trim_end_matches(['\r', '\n']).len());
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(version: &str, lines: &str) -> Outcome<HarIndex> {
        let master = format!("{version} \n0 715472208 0 {} \n", lines.len());
        let master = MasterIndex::read(master.as_bytes())?;
        assert_eq!(master.ranges, [(0, lines.len() as u64)]);
        let mut index = master.index();
        index.add(lines.as_bytes())?;
        Ok(index)
    }

    #[test]
    fn all_versions_are_read() {
        let lines = "%2F dir 1331+493+root+root 0 0 a+b %C3%A9 \n%2Fa+b file part-0 5 7 1440+420+root+root \n";
        let found = index("3", lines).unwrap();
        assert_eq!(found.get("/").unwrap().children, ["a b", "é"]);
        let file = found.get("/a b").unwrap();
        assert_eq!((file.part.as_deref(), file.start, file.length), (Some("part-0"), 5, 7));
        assert_eq!(file.modified_ms, Some(1440));

        let found = index("2", "%2F dir none 0 0 a+b \n%2Fa+b file part-0 5 7 \n").unwrap();
        assert_eq!(found.get("/a b").unwrap().modified_ms, None);
        let found = index("1", "/ dir none 0 0 a+b \n/a+b file part-0 5 7 \n").unwrap();
        assert_eq!(found.get("/").unwrap().children, ["a+b"]);
        assert!(found.get("/a+b").is_some());
    }

    #[test]
    fn a_damaged_index_is_an_error() {
        for lines in [
            "x\n",
            "%2F dir none 0\n",
            "%2Fa file part-0 -5 7\n",
            "%2Fa file part-0 5 x\n",
            "%FF dir none 0 0\n",
        ] {
            assert!(index("3", lines).is_err(), "{lines}");
        }
        for master in ["", "x \n", "4 \n", "0 \n", "3 \n0 1 2\n", "3 \n0 1 9 2 \n"] {
            assert!(MasterIndex::read(master.as_bytes()).is_err(), "{master}");
        }
    }
}
