//! Files below a directory, in order of their names.

use crate::key_range::KeyRange;
use crate::names::is_hidden;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::vec::IntoIter;
use zerohop_client::{ErrorKind, FileStatus, FileSystem, ListPages, Result};

/// A walk over the files below a directory in order of their names, which is not the order in which HDFS lists a directory and
/// what is below it: `a/b` comes after `a-b`.
pub(crate) struct Walk {
    fs: FileSystem,
    range: KeyRange,
    /// Whether directories are entered.
    enters: bool,
    levels: Vec<Level>,
}

/// An entry with its name below the root, that of a directory with a slash at its end.
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) status: FileStatus,
}

impl Walk {
    /// Walks over `directory`, the one at `path`, which need not be there. `directory` is empty for the root, and has a
    /// slash at its end otherwise.
    pub(crate) fn new(
        fs: &FileSystem,
        path: &str,
        directory: &str,
        range: KeyRange,
    ) -> Result<Self> {
        let mut walk = Self { fs: fs.clone(), range, enters: true, levels: Vec::new() };
        walk.enter(path, directory.to_owned())?;
        Ok(walk)
    }

    /// The same without what is below the directories in it: these are entries of their own.
    pub(crate) fn flat(
        fs: &FileSystem,
        path: &str,
        directory: &str,
        range: KeyRange,
    ) -> Result<Self> {
        Ok(Self { enters: false, ..Self::new(fs, path, directory, range)? })
    }

    /// Makes this the continuation of an earlier walk, which found the directory: it is an error if it does not exist now.
    pub(crate) fn continued(mut self) -> Self {
        self.levels.iter_mut().for_each(|level| level.has_begun = true);
        self
    }

    fn enter(&mut self, path: &str, directory: String) -> Result<()> {
        let pages = self.fs.list_pages(path)?.after(&self.range.list_after(&directory));
        let (page, held) = (Vec::new().into_iter(), BinaryHeap::new());
        self.levels.push(Level {
            path: path.to_owned(),
            directory,
            pages,
            page,
            has_begun: false,
            listed: None,
            held,
        });
        Ok(())
    }

    /// The next file, or directory where these are not entered.
    pub(crate) async fn next(&mut self) -> Result<Option<Named>> {
        while let Some(level) = self.levels.last_mut() {
            let Some(entry) = level.next().await? else {
                self.levels.pop();
                continue;
            };
            let Named { name, status } = entry;
            if status.is_dir() && self.enters {
                if self.range.may_hold_below(&name) {
                    self.enter(&status.path, name)?;
                }
            } else if self.range.holds(&name) {
                return Ok(Some(Named { name, status }));
            }
        }
        Ok(None)
    }
}

/// A directory that is being listed.
struct Level {
    path: String,
    directory: String,
    pages: ListPages,
    page: IntoIter<FileStatus>,
    /// True after the first page. A directory that is missing later has entries that were not listed.
    has_begun: bool,
    /// Listed and not yet held.
    listed: Option<FileStatus>,
    /// Entries that may have to wait for ones that are listed later and come before.
    held: BinaryHeap<Reverse<Held>>,
}

impl Level {
    /// The entry whose name is the least of those that are left.
    async fn next(&mut self) -> Result<Option<Named>> {
        loop {
            self.list().await?;
            let Some(listed) = &self.listed else {
                return Ok(self.held.pop().map(|Reverse(held)| held.0));
            };
            let is_least = |Reverse(held): &Reverse<Held>| {
                held.0.name.get(self.directory.len()..).is_some_and(|name| name < listed.name())
            };
            if self.held.peek().is_some_and(is_least) {
                return Ok(self.held.pop().map(|Reverse(held)| held.0));
            }
            self.hold();
        }
    }

    /// Sees to it that the next entry is listed, if there is one.
    async fn list(&mut self) -> Result<()> {
        while self.listed.is_none() {
            self.listed = self.page.next();
            if self.listed.is_none() {
                match self.pages.next().await {
                    Ok(Some(page)) => {
                        self.has_begun = true;
                        self.page = page.into_iter();
                    }
                    Ok(None) => return Ok(()),
                    // There is none, or it was deleted after the directory above was listed.
                    Err(e)
                        if !self.has_begun
                            && matches!(e.kind(), ErrorKind::NotFound | ErrorKind::WrongType) =>
                    {
                        return Ok(());
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    fn hold(&mut self) {
        let Some(status) = self.listed.take() else { return };
        // A file lists itself.
        let is_itself = status.path == self.path;
        let is_shown = status.is_file() || status.is_dir();
        if is_itself || !is_shown || is_hidden(status.name()) {
            return;
        }
        let slash = if status.is_dir() { "/" } else { "" };
        let name = format!("{}{}{slash}", self.directory, status.name());
        self.held.push(Reverse(Held(Named { name, status })));
    }
}

/// Compared by name.
struct Held(Named);

impl Ord for Held {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.name.cmp(&other.0.name)
    }
}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Held {}
