//! Copies the files and directories of a listing by several threads (`CopyMapper`).

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zerohop_transport::trace;

use super::attributes::Facts;
use super::file::{Action, FileCopy, Trouble};
use super::filter::qualified;
use super::listing::{Listing, join};
use super::options::DistcpOptions;
use super::spool::{Entries, Entry, Scratch};
use crate::failure::{Failure, Outcome};
use crate::fs::progress::Progress;
use crate::fs::shell::Shell;
use crate::fs::status::Status;
use crate::fs::store::{CreateHow, Store};

/// Files listed ahead of the copies.
const QUEUE: usize = 1024;

/// Destination of the copies.
pub struct Goal {
    pub store: Arc<dyn Store>,
    /// The target, or the work directory of `-atomic`.
    pub path: String,
    /// Replace target files without a comparison.
    pub overwrite: bool,
}

/// Counters of a run.
#[derive(Debug, Default)]
pub struct Counters {
    pub copied: AtomicU64,
    pub bytes: AtomicU64,
    pub skipped: AtomicU64,
    pub bytes_skipped: AtomicU64,
    /// Read failures that `-i` ignored.
    pub ignored: AtomicU64,
    /// Other failures.
    pub failed: AtomicU64,
}

impl Counters {
    pub fn get(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }
}

fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Copies all paths. After a failure that `-i` does not ignore, no further file is started.
pub fn copy_all(
    shell: &mut Shell,
    asked: &DistcpOptions,
    listing: &Listing,
    goal: &Goal,
    log: &Log,
) -> Outcome<Counters> {
    let progress = Progress::new();
    progress.expect(listing.bytes);
    let copies = Copies {
        asked,
        listing,
        goal,
        log,
        progress,
        counters: Counters::default(),
        stopped: AtomicBool::new(false),
        shell: Mutex::new(shell),
    };
    let entries = listing.all.entries()?;
    let span = trace::current_span();
    let (sender, receiver) = sync_channel::<Entry>(QUEUE);
    let receiver = Mutex::new(receiver);
    std::thread::scope(|scope| {
        for _ in 0..asked.threads {
            scope.spawn(|| {
                let _within = span.enter();
                loop {
                    let next = locked(&receiver).recv();
                    let Ok(entry) = next else { return };
                    // After a failure, the queue is only emptied.
                    if !copies.stopped.load(Ordering::Relaxed) {
                        copies.note(copies.entry(&entry));
                    }
                }
            });
        }
        copies.note(copies.deal(entries, &sender));
        drop(sender);
    });
    copies.progress.finish();
    Ok(copies.counters)
}

/// State shared by the threads.
struct Copies<'a> {
    asked: &'a DistcpOptions,
    listing: &'a Listing,
    goal: &'a Goal,
    log: &'a Log,
    progress: Progress,
    counters: Counters,
    stopped: AtomicBool,
    /// Prints failures.
    shell: Mutex<&'a mut Shell>,
}

impl Copies<'_> {
    /// Creates directories, and hands files to the threads: a directory has to exist before a file in it, because
    /// implicitly created directories get other permissions.
    fn deal(&self, entries: Entries, files: &SyncSender<Entry>) -> Result<(), Trouble> {
        let mut is_first = true;
        for entry in entries {
            let entry = entry?;
            if is_first && !entry.key.is_empty() {
                self.goal.store.mkdirs(&self.goal.path)?;
            }
            is_first = false;
            if self.stopped.load(Ordering::Relaxed) {
                return Ok(());
            }
            if entry.directory.is_some() {
                self.note(self.entry(&entry));
            } else if files.send(entry).is_err() {
                return Err(Failure::io("copying stopped").into());
            }
        }
        Ok(())
    }

    /// Counts, logs and prints a failure.
    fn note(&self, done: Result<(), Trouble>) {
        let Err(trouble) = done else { return };
        let is_ignored = self.asked.ignore_failures && trouble.reading;
        let counter = if is_ignored { &self.counters.ignored } else { &self.counters.failed };
        add(counter, 1);
        self.stopped.fetch_or(!is_ignored, Ordering::Relaxed);
        let logged = self.log.line(&format!("FAIL: {}", trouble.failure.text));
        let mut shell = locked(&self.shell);
        // A failure to print is ignored: the counter decides the exit code.
        let _ = shell.report(trouble.failure).and_then(|()| shell.note(logged));
    }

    fn entry(&self, entry: &Entry) -> Result<(), Trouble> {
        let root = self.listing.roots.get(entry.source);
        let root = root.ok_or_else(|| Failure::io("the list of paths is damaged"))?;
        let (source, from) = (&root.store, root.path_of(&entry.key));
        let (target, to) = (&self.goal.store, join(&self.goal.path, &entry.key));
        let status = source
            .status(&from)
            .map_err(|failure| Trouble { reading: failure.is_not_found(), failure })?;
        let found = match target.status(&to) {
            Ok(found) => Some(found),
            Err(failure) if failure.is_not_found() => None,
            Err(failure) => return Err(failure.into()),
        };
        if let Some(found) = found.as_ref().filter(|found| found.is_dir() != status.is_dir()) {
            let kind = |status: &Status| if status.is_dir() { "dir" } else { "file" };
            return Err(Failure::io(format!(
                "Can't replace {}. Target is {}, Source is {}",
                qualified(&**target, &to),
                kind(found),
                kind(&status)
            ))
            .into());
        }
        if status.is_dir() {
            return match found.is_some() || target.mkdirs(&to)? {
                true => Ok(()),
                false => Err(Failure::io(format!("mkdir failed for {to}")).into()),
            };
        }
        let copy = FileCopy {
            asked: self.asked,
            overwrite: self.goal.overwrite,
            source: source.clone(),
            from,
            status,
            target: target.clone(),
            to,
            found,
            progress: &self.progress,
        };
        self.file(&copy)
    }

    fn file(&self, copy: &FileCopy) -> Result<(), Trouble> {
        self.progress.show(&copy.from);
        let length = u64::try_from(copy.status.length).unwrap_or(0);
        let action = copy.action();
        if action == Action::Skip {
            add(&self.counters.skipped, 1);
            add(&self.counters.bytes_skipped, length);
            self.progress.done(length);
            self.log.line(&format!("SKIP: {}", copy.names().0))?;
        } else {
            let goes_on = || !self.stopped.load(Ordering::Relaxed);
            let bytes = copy.run(action, &goes_on)?;
            add(&self.counters.copied, 1);
            add(&self.counters.bytes, bytes);
        }
        if self.asked.verbose {
            let verb = if action == Action::Skip { "SKIPPED" } else { "COPIED" };
            let (from, to) = copy.names();
            let before = copy.found.as_ref().map_or(0, |found| found.length);
            self.log.line(&format!(
                "FILE_{verb}: source={from}, size={length} --> target={to}, size={before}"
            ))?;
        }
        let facts = Facts::of(&copy.status);
        let source = (&*copy.source, copy.from.as_str());
        Ok(self.asked.keep.apply(source, &facts, &*copy.target, &copy.to)?)
    }
}

/// The lines of `-log`. They are collected in a local file and uploaded at the end, so that no HDFS file stays
/// open for hours.
pub struct Log {
    file: Option<(PathBuf, Mutex<std::fs::File>)>,
}

impl Log {
    pub fn new(asked: &DistcpOptions, scratch: &Scratch) -> Outcome<Log> {
        if asked.log.is_none() {
            return Ok(Log { file: None });
        }
        let path = scratch.file();
        let file = std::fs::File::create(&path)?;
        Ok(Log { file: Some((path, Mutex::new(file))) })
    }

    fn line(&self, text: &str) -> Outcome {
        let Some((_, file)) = &self.file else { return Ok(()) };
        // One call per line, so that lines of several threads do not mix.
        Ok(locked(file).write_all(format!("{text}\n").as_bytes())?)
    }

    /// Writes the output files of Hadoop's job: the lines and, after success, the marker.
    pub fn finish(self, shell: &mut Shell, directory: &str, succeeded: bool) -> Outcome {
        let Some((path, _)) = self.file else { return Ok(()) };
        let directory = shell.item(directory)?;
        directory.store.mkdirs(&directory.path)?;
        let write = |name: &str, text: &mut dyn std::io::Read| {
            let path = directory.absent_child(name).path;
            let how = CreateHow { overwrite: true, ..CreateHow::default() };
            let mut output = directory.store.create(&path, how)?;
            crate::fs::stream::pump(text, &mut *output, &mut |_| ())?;
            output.finish()
        };
        write("part-m-00000", &mut std::fs::File::open(path)?)?;
        if succeeded { write("_SUCCESS", &mut std::io::empty()) } else { Ok(()) }
    }
}
