//! Everything at and below the path, depth first.

use super::file::FileChecks;
use crate::service::Outcome;
use std::vec;
use zerohop_namespace::{FileKind, FileStatus};

/// A line end is printed and sent each time so many paths were walked, as Hadoop's shows that it is alive.
const PATHS_A_LINE: u64 = 1000;

/// A directory on the way down, with what is still to be checked in it.
struct Level {
    /// Bytes of the walked path that are this directory's; none for the root.
    path_len: usize,
    entries: vec::IntoIter<FileStatus>,
    /// The last of `entries`, where more come after it.
    after: Option<Vec<u8>>,
}

/// Walks a tree.
pub(super) struct Walk<'w, 'a> {
    pub(super) files: &'w mut FileChecks<'a>,
}

impl Walk<'_, '_> {
    /// Checks everything at and below the path of the request, whose status is `top`.
    ///
    /// The directories on the way down are kept in a list and not on the stack: moved into one another they may be deeper
    /// than any stack.
    pub(super) fn run(&mut self, top: &FileStatus) -> Outcome<()> {
        let mut path = self.files.request.path.clone();
        self.visit(&path, top)?;
        if path == "/" {
            path.clear();
        }
        let mut levels = Vec::new();
        if top.kind == FileKind::Directory {
            levels.extend(self.level(&path, &[])?);
        }
        while let Some(level) = levels.last_mut() {
            path.truncate(level.path_len);
            if let Some(entry) = level.entries.next() {
                path.push('/');
                path.push_str(&entry.path);
                self.visit(&path, &entry)?;
                if entry.kind == FileKind::Directory {
                    levels.extend(self.level(&path, &[])?);
                }
                continue;
            }
            let more = match level.after.take() {
                Some(after) => self.level(&path, &after)?,
                None => None,
            };
            match more {
                Some(more) => *level = more,
                None => _ = levels.pop(),
            }
        }
        Ok(())
    }

    fn visit(&mut self, path: &str, status: &FileStatus) -> Outcome<()> {
        self.files.request.check_wanted(&mut self.files.out)?;
        let walked = self.files.totals.dirs + self.files.totals.symlinks + self.files.totals.files;
        if walked.is_multiple_of(PATHS_A_LINE) {
            self.files.out.line("");
            self.files.out.flush();
        }
        match status.kind {
            FileKind::Directory => {
                self.files.totals.dirs += 1;
                if self.files.request.options.files {
                    self.files.out.line(format!("{path} <dir>"));
                }
            }
            FileKind::File => self.files.check(path, status)?,
            _ => {
                self.files.totals.symlinks += 1;
                if self.files.request.options.files {
                    self.files.out.line(format!("{path} <symlink>"));
                }
            }
        }
        Ok(())
    }

    /// One page of a directory, so that the lock is held for one page only. None if the directory is gone.
    fn level(&self, path: &str, after: &[u8]) -> Outcome<Option<Level>> {
        let directory = if path.is_empty() { "/" } else { path };
        let page = self.files.request.service.reads().listing(directory, after, false).wait()?;
        Ok(page.map(|page| Level {
            path_len: path.len(),
            after: page
                .entries
                .last()
                .filter(|_| page.remaining > 0)
                .map(|last| last.path.clone().into_bytes()),
            entries: page.entries.into_iter(),
        }))
    }
}
