//! Lists the paths to copy (`SimpleCopyListing`).

use std::sync::Arc;

use super::attributes::Facts;
use super::filter::{Filter, qualified};
use super::options::DistcpOptions;
use super::spool::{Direction, Entry, Scratch, Sorted, Spool};
use crate::failure::{Failure, Outcome};
use crate::fs::item::Item;
use crate::fs::location::{child, parent};
use crate::fs::status::Status;
use crate::fs::store::Store;

/// The root of a source, which the keys of its entries are relative to.
pub struct Root {
    pub store: Arc<dyn Store>,
    path: String,
}

impl Root {
    pub fn path_of(&self, key: &str) -> String {
        join(&self.path, key)
    }

    fn key_of<'p>(&self, path: &'p str) -> &'p str {
        if self.path == "/" { path } else { path.strip_prefix(&self.path).unwrap_or(path) }
    }
}

/// Joins a root and a key.
pub fn join(root: &str, key: &str) -> String {
    match (root, key) {
        (_, "") => root.to_owned(),
        ("/", _) => key.to_owned(),
        _ => format!("{root}{key}"),
    }
}

/// All paths of the sources.
pub struct Listing {
    pub roots: Vec<Root>,
    pub all: Sorted,
    /// Directories, in the direction [`Direction::Up`].
    pub directories: Sorted,
    pub files: u64,
    pub bytes: u64,
}

/// Returns the root of a source (`computeSourceRootPath`).
fn root_of(asked: &DistcpOptions, source: &Item, count: usize, target: &Item) -> Root {
    let itself = if source.is_dir() {
        let is_special = (count == 1 && !target.exists()) || asked.is_sync();
        is_special || source.path == "/"
    } else {
        count == 1 && !target.is_dir()
    };
    let path = match itself {
        true => source.path.as_str(),
        false => parent(&source.path).unwrap_or("/"),
    };
    Root { store: source.store.clone(), path: path.to_owned() }
}

/// Lists the sources. A directory that cannot be listed completely is an error.
pub fn build(
    asked: &DistcpOptions,
    sources: &[Item],
    target: &Item,
    filter: &Filter,
    scratch: &Scratch,
) -> Outcome<Listing> {
    let roots: Vec<Root> =
        sources.iter().map(|source| root_of(asked, source, sources.len(), target)).collect();
    let mut walk = Walk {
        filter,
        refuses_erasure_coding: asked.keep.erasure_policy,
        all: Spool::new(scratch, Direction::Down),
        directories: Spool::new(scratch, Direction::Up),
        files: 0,
        bytes: 0,
    };
    for (number, (source, root)) in sources.iter().zip(&roots).enumerate() {
        let status = source.found()?;
        let is_skipped = status.is_dir() && root.path == source.path && asked.skips_root();
        if !is_skipped {
            walk.note(number, root, &source.path, status)?;
        }
        if status.is_dir() {
            walk.directory(number, root, &source.path)?;
        }
    }
    let Walk { all, directories, files, bytes, .. } = walk;
    Ok(Listing { roots, all: all.finish(), directories: directories.finish(), files, bytes })
}

struct Walk<'a> {
    filter: &'a Filter,
    refuses_erasure_coding: bool,
    all: Spool<'a>,
    directories: Spool<'a>,
    files: u64,
    bytes: u64,
}

impl Walk<'_> {
    fn note(&mut self, source: usize, root: &Root, path: &str, status: &Status) -> Outcome {
        if !self.filter.keeps(&*root.store, path) {
            return Ok(());
        }
        if self.refuses_erasure_coding && !status.erasure_policy.is_empty() {
            return Err(Failure::unsupported(format!(
                "{}: cannot preserve the erasure coding policy {}; remove e from -p",
                qualified(&*root.store, path),
                status.erasure_policy
            )));
        }
        let length = match status.is_dir() {
            true => 0,
            false => u64::try_from(status.length).unwrap_or(0),
        };
        let directory = status.is_dir().then(|| Facts::of(status));
        let entry = Entry { key: root.key_of(path).to_owned(), source, length, directory };
        if entry.directory.is_some() {
            self.directories.push(entry.clone())?;
        } else {
            self.files += 1;
            self.bytes += length;
        }
        self.all.push(entry)
    }

    /// Holds one page of each directory on the path from the root.
    fn directory(&mut self, source: usize, root: &Root, path: &str) -> Outcome {
        root.store.list(path, &mut |page| {
            for status in page {
                let below = child(path, status.name());
                // A file lists itself.
                if status.path == path && !status.is_dir() {
                    return Err(Failure::not_directory(qualified(&*root.store, path)));
                }
                self.note(source, root, &below, &status)?;
                if status.is_dir() {
                    self.directory(source, root, &below)?;
                }
            }
            Ok(())
        })
    }
}
