//! All journals of a JournalNode, each with a thread of its own.

use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::settings::{Settings, check_journal_id};
use crate::status::Figures;
use crate::storage;
use crate::worker::Worker;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Journals by id. One is opened at the start of the JournalNode if its directory is there, or when a NameNode formats it:
/// calls for others cost neither a thread nor a directory.
#[derive(Debug)]
pub(crate) struct Journals {
    settings: Settings,
    /// None when the JournalNode has stopped.
    open: Mutex<Option<BTreeMap<String, Arc<OpenJournal>>>>,
}

/// A journal that is served.
#[derive(Debug)]
pub(crate) struct OpenJournal {
    pub(crate) id: String,
    pub(crate) root: PathBuf,
    pub(crate) worker: Worker,
}

impl OpenJournal {
    pub(crate) fn figures(&self) -> Figures {
        self.worker.status().get()
    }

    /// Where its segments are.
    pub(crate) fn current(&self) -> PathBuf {
        self.root.join("current")
    }
}

impl Journals {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, open: Mutex::new(Some(BTreeMap::new())) }
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Opens the journals whose directories are there, so that one that another process has, or that cannot be read, is
    /// reported at the start.
    pub(crate) fn open_existing(&self) -> Result<()> {
        for (service, directory) in self.settings.directories() {
            let Ok(entries) = std::fs::read_dir(directory) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name();
                let Some(id) = name.to_str().filter(|id| check_journal_id(id).is_ok()) else {
                    continue;
                };
                if entry.path().join("current").is_dir() {
                    self.get(id, service)?;
                }
            }
        }
        Ok(())
    }

    /// The journals that are open.
    pub(crate) fn all(&self) -> Vec<Arc<OpenJournal>> {
        self.open.lock().iter().flat_map(|open| open.values().cloned()).collect()
    }

    /// Whether this is the only journal.
    pub(crate) fn has_no_other(&self, journal: &OpenJournal) -> bool {
        self.open.lock().iter().flat_map(BTreeMap::keys).all(|id| *id == journal.id)
    }

    /// Closes all, which ends their threads and unlocks their directories. None is opened any more.
    pub(crate) fn close(&self) {
        let open = self.open.lock().take();
        drop(open);
    }

    /// A journal that is formatted, or was once.
    pub(crate) fn get(&self, id: &str, service: Option<&str>) -> Result<Arc<OpenJournal>> {
        check_journal_id(id)?;
        let mut open = self.open.lock();
        let open = open.as_mut().ok_or(Error::Stopping)?;
        if let Some(journal) = open.get(id) {
            return Ok(Arc::clone(journal));
        }
        let root = self.settings.root(id, service);
        if !storage::exists(&root) {
            return Err(Error::NotFormatted { journal: id.to_owned() });
        }
        self.start(open, id, &root)
    }

    /// A journal that is about to be formatted.
    pub(crate) fn get_or_make(&self, id: &str, service: Option<&str>) -> Result<Arc<OpenJournal>> {
        check_journal_id(id)?;
        let mut open = self.open.lock();
        let open = open.as_mut().ok_or(Error::Stopping)?;
        match open.get(id) {
            Some(journal) => Ok(Arc::clone(journal)),
            None if open.len() >= self.settings.journals_max => {
                Err(Error::TooManyJournals { max: self.settings.journals_max })
            }
            None => self.start(open, id, &self.settings.root(id, service)),
        }
    }

    fn start(
        &self,
        open: &mut BTreeMap<String, Arc<OpenJournal>>,
        id: &str,
        root: &Path,
    ) -> Result<Arc<OpenJournal>> {
        tracing::info!("opening the journal {id} in {}", root.display());
        let status = Arc::default();
        let journal = Journal::open(id, root, &self.settings.journal, Arc::clone(&status))?;
        let worker = Worker::start(id, journal, status)?;
        let journal = Arc::new(OpenJournal { id: id.to_owned(), root: root.to_owned(), worker });
        open.insert(id.to_owned(), Arc::clone(&journal));
        Ok(journal)
    }
}
