//! What a NameNode has promised: a load of changes whose answers are written down, and the check
//! that all of them are there after a crash. A change that got no answer may be there or not; it is
//! never both, and nothing else may be different.

use std::collections::BTreeMap;

use zerohop_client::blocking::FileSystem;
use zerohop_client::{CreateOptions, Result};

use crate::Outcome;
use crate::harm::Explain;

/// Entries of a directory: name, and permission bits.
type Entries = BTreeMap<String, u16>;

/// One change.
#[derive(Clone, Debug)]
enum Change {
    Make(String),
    Create(String),
    Rename(String, String),
    Delete(String),
    Mode(String, u16),
}

/// A thread's own directory and what must be in it.
pub struct Promises {
    directory: String,
    entries: Entries,
    unanswered: Option<Change>,
    /// Changes tried, answered or not: the number in a new name, so that no name comes twice. (A
    /// change that was made and never answered is there after a crash; the same name again would be
    /// refused.)
    tried: u64,
    count: u64,
    random: fastrand::Rng,
}

impl Promises {
    /// A directory that the load makes first.
    pub fn new(directory: &str, seed: u64) -> Self {
        Self {
            directory: directory.to_owned(),
            entries: Entries::new(),
            unanswered: None,
            tried: 0,
            count: 0,
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// Changes that were answered so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Makes changes until one fails, which it returns, or `goes_on` says no.
    pub fn load(
        &mut self,
        fs: &FileSystem,
        goes_on: &dyn Fn() -> bool,
    ) -> Option<zerohop_client::Error> {
        if let Err(error) = fs.mkdirs(&self.directory) {
            return Some(error);
        }
        while goes_on() {
            let change = self.choose();
            self.unanswered = Some(change.clone());
            if let Err(error) = self.ask(fs, &change) {
                return Some(error);
            }
            apply(&mut self.entries, &change);
            self.unanswered = None;
            self.count += 1;
        }
        None
    }

    fn choose(&mut self) -> Change {
        let some = |random: &mut fastrand::Rng, entries: &Entries| {
            let at = random.usize(..entries.len().max(1));
            entries.keys().nth(at).cloned()
        };
        self.tried += 1;
        let fresh = format!("n{}-{}", self.tried, "x".repeat(self.random.usize(..60)));
        let Some(known) = some(&mut self.random, &self.entries) else { return Change::Make(fresh) };
        match self.random.u8(..10) {
            0..=2 => Change::Make(fresh),
            3..=5 => Change::Create(fresh),
            6 => Change::Rename(known, fresh),
            7 if self.entries.len() > 20 => Change::Delete(known),
            _ => Change::Mode(known, self.random.u16(..0o1000)),
        }
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.directory)
    }

    fn ask(&self, fs: &FileSystem, change: &Change) -> Result<()> {
        match change {
            Change::Make(name) => fs.mkdirs_with(&self.path(name), MODE, true).map(drop),
            Change::Create(name) => {
                let options = CreateOptions::default().permission(MODE);
                let mut file = fs.create(&self.path(name), options)?;
                // Its name is there from here on; what becomes of the close is another question.
                let _ = file.close();
                Ok(())
            }
            Change::Rename(from, to) => fs.rename(&self.path(from), &self.path(to)).map(drop),
            Change::Delete(name) => fs.delete(&self.path(name), true).map(drop),
            Change::Mode(name, mode) => fs.set_permission(&self.path(name), *mode),
        }
    }

    /// Looks at what is there after the crash; from here on that is what counts.
    pub fn check(&mut self, fs: &FileSystem) -> Outcome {
        let listed = fs.list(&self.directory).at(&self.directory)?;
        let found: Entries =
            listed.iter().map(|s| (s.name().to_owned(), s.permission & 0o777)).collect();
        let mut with_last = self.entries.clone();
        if let Some(change) = &self.unanswered {
            apply(&mut with_last, change);
        }
        if found != self.entries && found != with_last {
            let lost: Vec<_> =
                self.entries.iter().filter(|e| found.get(e.0) != Some(e.1)).collect();
            let new: Vec<_> = found.iter().filter(|e| self.entries.get(e.0) != Some(e.1)).collect();
            return Err(format!(
                "{}: of {} answered changes not there: {lost:?}; there and never asked for: \
                 {new:?}; without an answer: {:?}",
                self.directory, self.count, self.unanswered
            ));
        }
        self.entries = found;
        self.unanswered = None;
        Ok(())
    }
}

const MODE: u16 = 0o755;

fn apply(entries: &mut Entries, change: &Change) {
    match change {
        Change::Make(name) | Change::Create(name) => drop(entries.insert(name.clone(), MODE)),
        Change::Rename(from, to) => {
            let mode = entries.remove(from).unwrap_or(MODE);
            entries.insert(to.clone(), mode);
        }
        Change::Delete(name) => drop(entries.remove(name)),
        Change::Mode(name, mode) => drop(entries.insert(name.clone(), *mode)),
    }
}
