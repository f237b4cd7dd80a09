//! One client that works on files of its own and knows what must be in them.

use std::collections::{BTreeMap, VecDeque};

use fastrand::Rng;
use zerohop_client::blocking::{FileSystem, FileWriter};
use zerohop_client::{AppendOptions, Error, ErrorKind as Kind, RenameOptions};
use zerohop_interop::driver::Driver;
use zerohop_interop::harm::{Explain, SETTLE, shape};
use zerohop_interop::{Outcome, wait};

use crate::known::{Known, content};
use crate::promises::broken;

const BLOCK: u64 = 256 << 10;
const LONGEST: usize = 1 << 20;
/// Files an actor has at most.
const FILES: usize = 6;
/// Operations that a failure shows.
const REMEMBERED: usize = 12;

type Attempt<T = ()> = Result<T, Error>;
/// What a file may be after an operation of unknown outcome; `None` is no file.
type Choices = Vec<Option<Known>>;

/// Where the files of a schedule are.
pub fn directory(seed: u64) -> String {
    format!("/seed{seed}")
}

pub struct Actor {
    fs: FileSystem,
    directory: String,
    rng: Rng,
    files: BTreeMap<String, Known>,
    last: VecDeque<String>,
    /// Operations that were acknowledged.
    pub done: u64,
    /// Operations that ended in an error.
    pub failed: u64,
}

impl Actor {
    pub fn new(fs: FileSystem, number: u64, seed: u64) -> Outcome<Self> {
        let directory = format!("{}/actor{number}", directory(seed));
        fs.mkdirs(&directory).at(&directory)?;
        let rng = Rng::with_seed(seed.wrapping_mul(1000) + number);
        let (files, last) = (BTreeMap::new(), VecDeque::new());
        Ok(Self { fs, directory, rng, files, last, done: 0, failed: 0 })
    }

    /// The last operations.
    pub fn history(&self) -> String {
        self.last.iter().cloned().collect::<Vec<_>>().join("\n  ")
    }

    /// One operation, and what became of it. An error is a broken promise.
    pub fn step(&mut self) -> Outcome {
        let outcome = match self.rng.u8(..18) {
            0..5 => self.write_new(),
            5..9 => self.append(),
            9 => self.truncate(),
            10 => self.rename(),
            11 => self.delete(),
            12 => self.concat(),
            13 => self.list(),
            14 | 15 => self.replicate(),
            _ => self.read(),
        };
        outcome.map_err(|e| format!("{e}\nafter\n  {}", self.history()))
    }

    /// Everything is as it should be, for Apache's client too.
    pub fn check_all(&mut self, judge: &mut Driver) -> Outcome {
        self.compare_names()?;
        for (path, known) in &self.files {
            let found = content(&self.fs, path).at(path)?;
            known
                .may_be(&found)
                .map_err(|e| format!("{path}: {e}\nafter\n  {}", self.history()))?;
            let (len, crc) = (found.len().to_string(), format!("{:08x}", crc32fast::hash(&found)));
            let theirs = judge.ok(&["read", path, "0", "-1"])?;
            if theirs != [len.clone(), crc.clone()] {
                let found = format!("{path}: {len} {crc} here, {theirs:?} by Apache's client");
                return Err(broken("F7", found));
            }
        }
        Ok(())
    }

    fn remember(&mut self, what: String) {
        if self.last.len() == REMEMBERED {
            self.last.pop_front();
        }
        self.last.push_back(what);
    }

    /// Counts and remembers; `false` when the outcome is not known. What a failure of machines cannot
    /// explain is a broken promise.
    fn tell(&mut self, what: &str, attempt: Attempt) -> Outcome<bool> {
        match attempt {
            Ok(()) => {
                self.done += 1;
                self.remember(what.to_owned());
                Ok(true)
            }
            Err(error) => {
                self.failed += 1;
                self.remember(format!("{what}: {error}"));
                use Kind::*;
                match error.kind() {
                    // Not Corrupt: that is a block of which no replica can be reached, too.
                    Denied | NotEmpty | WrongType | Quota | Invalid | Unsupported => {
                        Err(broken("F4", format!("{what}: {error}")))
                    }
                    _ => Ok(false),
                }
            }
        }
    }

    fn any_file(&mut self) -> Option<(String, Known)> {
        let at = self.rng.usize(..self.files.len().max(1));
        self.files.iter().nth(at).map(|(path, known)| (path.clone(), known.clone()))
    }

    fn any_path(&mut self) -> String {
        format!("{}/f{}", self.directory, self.rng.usize(..FILES))
    }

    fn some_bytes(&mut self) -> Vec<u8> {
        let most = if self.rng.bool() { LONGEST } else { 2000 };
        let mut bytes = vec![0; self.rng.usize(..most)];
        self.rng.fill(&mut bytes);
        bytes
    }

    fn write_new(&mut self) -> Outcome {
        let path = self.any_path();
        let replication = self.rng.u16(2..=3);
        let bytes = self.some_bytes();
        let mut new = Known { bytes, sure: 0, replication };
        let what = format!("create {path} x{replication} {}", new.bytes.len());
        let attempt = match self.fs.create(&path, shape(replication, BLOCK)) {
            Ok(writer) => self.write_on(writer, &mut new),
            Err(error) => {
                self.tell(&what, Err(error))?;
                let before = self.files.get(&path).cloned();
                return self.settle(&path, vec![before, Some(new)]);
            }
        };
        self.written(&what, &path, new, attempt)
    }

    fn append(&mut self) -> Outcome {
        let Some((path, mut known)) = self.any_file() else { return self.write_new() };
        let more = self.some_bytes();
        let what = format!("append {path} at {} {}", known.bytes.len(), more.len());
        known.bytes.extend(more);
        let attempt = match self.fs.append(&path, AppendOptions::default()) {
            Ok(writer) => self.write_on(writer, &mut known),
            Err(error) => Err(error),
        };
        self.written(&what, &path, known, attempt)
    }

    fn written(&mut self, what: &str, path: &str, known: Known, attempt: Attempt) -> Outcome {
        match self.tell(what, attempt)? {
            true => drop(self.files.insert(path.to_owned(), known)),
            false => self.settle(path, vec![Some(known)])?,
        }
        Ok(())
    }

    /// Writes what is not written yet, with flushes on the way.
    fn write_on(&mut self, mut writer: FileWriter, known: &mut Known) -> Attempt {
        loop {
            let at = usize::try_from(writer.pos()).unwrap_or(usize::MAX);
            if at == known.bytes.len() {
                break;
            }
            let part = self.rng.usize(1..=known.bytes.len() - at);
            writer.write_data(&known.bytes[at..at + part])?;
            match self.rng.u8(..4) {
                0 => writer.hflush()?,
                1 => writer.hsync()?,
                _ => continue,
            }
            known.sure = at + part;
        }
        writer.close()?;
        known.sure = known.bytes.len();
        Ok(())
    }

    fn truncate(&mut self) -> Outcome {
        let Some((path, known)) = self.any_file() else { return Ok(()) };
        let len = self.rng.usize(..=known.bytes.len());
        let what = format!("truncate {path} from {} to {len}", known.bytes.len());
        let cut = Known::whole(known.bytes[..len].to_vec(), known.replication);
        let attempt = self.fs.truncate(&path, len as u64);
        let choices = match self.tell(&what, attempt.map(drop))? {
            true => vec![Some(cut)],
            false => vec![Some(known), Some(cut)],
        };
        // The last block may have to be cut by the DataNodes first.
        self.settle(&path, choices)
    }

    fn rename(&mut self) -> Outcome {
        let Some((from, known)) = self.any_file() else { return Ok(()) };
        let to = self.any_path();
        if from == to {
            return Ok(());
        }
        let options = RenameOptions::default().overwrite(true);
        let attempt = self.fs.rename2(&from, &to, options);
        let is_done = self.tell(&format!("rename {from} {to}"), attempt)?;
        let is_done = is_done || !self.exists(&from)?;
        if is_done {
            self.files.remove(&from);
            self.settle(&to, vec![Some(known)])?;
            self.settle(&from, vec![None])
        } else {
            let before = self.files.get(&to).cloned();
            self.settle(&from, vec![Some(known)])?;
            self.settle(&to, vec![before])
        }
    }

    fn delete(&mut self) -> Outcome {
        let Some((path, known)) = self.any_file() else { return Ok(()) };
        let attempt = self.fs.delete(&path, false);
        let choices = match self.tell(&format!("delete {path}"), attempt.map(drop))? {
            true => vec![None],
            false => vec![None, Some(known)],
        };
        self.settle(&path, choices)
    }

    fn concat(&mut self) -> Outcome {
        let Some((target, first)) = self.any_file() else { return Ok(()) };
        let Some((source, second)) = self.any_file() else { return Ok(()) };
        let fits = first.replication == second.replication
            && first.bytes.len() + second.bytes.len() < 4 * LONGEST;
        if source == target || !fits || first.bytes.is_empty() || second.bytes.is_empty() {
            return Ok(());
        }
        let attempt = self.fs.concat(&target, &[&source]);
        let is_done = self.tell(&format!("concat {target} {source}"), attempt)?;
        let is_done = is_done || !self.exists(&source)?;
        let choice = match is_done {
            true => Known::whole([first.bytes, second.bytes.clone()].concat(), first.replication),
            false => first,
        };
        self.settle(&target, vec![Some(choice)])?;
        self.settle(&source, vec![(!is_done).then_some(second)])
    }

    /// More replicas, or fewer.
    fn replicate(&mut self) -> Outcome {
        let Some((path, mut known)) = self.any_file() else { return Ok(()) };
        known.replication = 5 - known.replication;
        let attempt = self.fs.set_replication(&path, known.replication);
        let what = format!("setrep {path} {}", known.replication);
        if !self.tell(&what, attempt.map(drop))? {
            wait::until(&format!("status of {path}"), SETTLE, || {
                let status = self.fs.status(&path).map_err(|e| e.to_string())?;
                known.replication = status.replication;
                Ok(true)
            })?;
        }
        self.files.insert(path, known);
        Ok(())
    }

    fn list(&mut self) -> Outcome {
        let attempt = self.fs.list(&self.directory);
        let is_done = attempt.is_ok();
        self.tell("list", attempt.map(drop))?;
        if is_done { self.compare_names() } else { Ok(()) }
    }

    fn compare_names(&self) -> Outcome {
        let mut found = None;
        wait::until("a listing", SETTLE, || {
            let listed = self.fs.list(&self.directory).map_err(|e| e.to_string())?;
            found = Some(listed.into_iter().map(|f| (f.path, f.len)).collect::<Vec<_>>());
            Ok(true)
        })?;
        let known = self.files.iter().map(|(path, known)| (path.clone(), known.bytes.len() as u64));
        let known: Vec<(String, u64)> = known.collect();
        match found.as_ref() == Some(&known) {
            true => Ok(()),
            false => {
                let found = format!("{}: {found:?} is there, and not {known:?}", self.directory);
                Err(broken("F3", found))
            }
        }
    }

    fn read(&mut self) -> Outcome {
        let Some((path, known)) = self.any_file() else { return Ok(()) };
        let attempt = content(&self.fs, &path);
        let found = attempt.as_ref().ok().cloned();
        self.tell(&format!("read {path}"), attempt.map(drop))?;
        // That no replica can be reached may be; that there are other bytes may not.
        found.map_or(Ok(()), |found| known.may_be(&found).map_err(|e| format!("{path}: {e}")))
    }

    fn exists(&self, path: &str) -> Outcome<bool> {
        let mut exists = false;
        wait::until(&format!("status of {path}"), SETTLE, || {
            exists = self.fs.exists(path).map_err(|e| e.to_string())?;
            Ok(true)
        })?;
        Ok(exists)
    }

    /// Waits until the file is closed and can be read, and takes what is there for what is known; it
    /// must be one of `choices`.
    fn settle(&mut self, path: &str, choices: Choices) -> Outcome {
        let mut found = None;
        wait::until(&format!("{path} is closed and readable"), SETTLE, || {
            found = match self.closed(path) {
                Ok(bytes) => Some(bytes),
                Err(error) if error.kind() == Kind::NotFound => None,
                Err(error) => return Err(error.to_string()),
            };
            Ok(true)
        })
        .map_err(|e| broken("F5", format!("{path}: {e}")))?;
        let mut refused = Vec::new();
        for choice in choices {
            match (choice, &found) {
                (None, None) => {
                    self.files.remove(path);
                    return Ok(());
                }
                (Some(known), Some(bytes)) => match known.may_be(bytes) {
                    Ok(()) => {
                        let known = Known::whole(bytes.clone(), known.replication);
                        self.files.insert(path.to_owned(), known);
                        return Ok(());
                    }
                    Err(error) => refused.push(error),
                },
                (None, Some(bytes)) => {
                    refused.push(format!("there is one of {} bytes", bytes.len()))
                }
                (Some(_), None) => refused.push("it is gone".to_owned()),
            }
        }
        Err(broken("F4", format!("{path}: {}", refused.join("; or "))))
    }

    fn closed(&self, path: &str) -> Attempt<Vec<u8>> {
        if !self.fs.is_file_closed(path)? && !self.fs.recover_lease(path)? {
            return Err(Error::new(Kind::Unavailable, "it is not closed yet"));
        }
        content(&self.fs, path)
    }
}
