//! A disk as a power cut sees it: what was synced, and what was changed since.

mod crash;
mod file;

pub use crash::{Image, Survival};
use file::{Change, File};

use crate::calls::FileCall;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The files below one directory.
#[derive(Clone, Default)]
pub struct Disk {
    files: Vec<File>,
    directories: BTreeMap<PathBuf, Directory>,
}

/// The names in a directory. A name stands for an index of the disk's files.
#[derive(Clone, Default)]
struct Directory {
    durable: BTreeMap<OsString, usize>,
    /// Changes since the directory was synced, in order; they reach the disk in this order too, but
    /// a power cut may come after any of them.
    pending: Vec<NameChange>,
}

#[derive(Clone)]
enum NameChange {
    Link(OsString, usize),
    Rename(OsString, OsString),
    Remove(OsString),
}

impl Directory {
    /// The names after the first `count` pending changes.
    fn after(&self, count: usize) -> BTreeMap<OsString, usize> {
        let mut names = self.durable.clone();
        for change in self.pending.iter().take(count) {
            match change {
                NameChange::Link(name, file) => drop(names.insert(name.clone(), *file)),
                NameChange::Remove(name) => drop(names.remove(name)),
                NameChange::Rename(from, to) => {
                    if let Some(file) = names.remove(from) {
                        names.insert(to.clone(), file);
                    }
                }
            }
        }
        names
    }

    fn now(&self) -> BTreeMap<OsString, usize> {
        self.after(self.pending.len())
    }
}

impl Disk {
    fn add(&mut self, file: File) -> usize {
        self.files.push(file);
        self.files.len() - 1
    }

    fn find(&self, path: &Path) -> Option<usize> {
        let (directory, name) = split(path);
        self.directories.get(&directory)?.now().get(&name).copied()
    }

    fn change_names(&mut self, path: &Path, change: impl FnOnce(OsString) -> NameChange) {
        let (directory, name) = split(path);
        self.directories.entry(directory).or_default().pending.push(change(name));
    }

    /// Makes the change of a call, whose paths are below the disk's root.
    ///
    /// # Errors
    /// If the call is not modelled.
    pub fn apply(&mut self, call: &FileCall) -> Result<(), String> {
        match call {
            FileCall::Create { path, truncates } => match self.find(path) {
                Some(file) if *truncates => self.files[file].change(Change::SetLen(0)),
                Some(_) => {}
                None => {
                    let file = self.add(File::default());
                    self.change_names(path, |name| NameChange::Link(name, file));
                }
            },
            FileCall::Write { path, offset, bytes } => {
                let change = Change::Write { offset: *offset as usize, bytes: bytes.clone() };
                self.file(path)?.change(change);
            }
            FileCall::SetLen { path, len } => {
                self.file(path)?.change(Change::SetLen(*len as usize));
            }
            FileCall::Sync { path } => match self.directories.get_mut(path) {
                Some(directory) => {
                    directory.durable = directory.now();
                    directory.pending.clear();
                }
                None => self.file(path)?.sync(),
            },
            FileCall::Rename { from, to } => {
                let ((directory, name), target) = (split(from), split(to));
                if directory != target.0 {
                    return Err(format!("not modelled: a rename to another directory, {call:?}"));
                }
                self.change_names(from, |_| NameChange::Rename(name, target.1));
            }
            FileCall::Remove { path } => self.change_names(path, NameChange::Remove),
            FileCall::MakeDir { path } => drop(self.directories.entry(path.clone()).or_default()),
            FileCall::Other { .. } => return Err(format!("not modelled: {call:?}")),
        }
        Ok(())
    }

    /// A sync failed: what was not durable may be there or not, and no later sync changes that.
    pub fn fail_sync(&mut self, path: &Path) {
        if let Some(file) = self.find(path) {
            self.files[file].lose_syncs();
        }
    }

    fn file(&mut self, path: &Path) -> Result<&mut File, String> {
        match self.find(path) {
            Some(file) => Ok(&mut self.files[file]),
            None => Err(format!("{} is written and was never created", path.display())),
        }
    }

    /// How many bytes the last write to a file changed: at so many places it can be torn. A file
    /// that was synced since has none.
    pub fn last_write_len(&self, path: &Path) -> usize {
        self.find(path).map_or(0, |file| self.files[file].last_write_len())
    }
}

fn split(path: &Path) -> (PathBuf, OsString) {
    let directory = path.parent().map(Path::to_owned).unwrap_or_default();
    (directory, path.file_name().map(OsString::from).unwrap_or_default())
}
