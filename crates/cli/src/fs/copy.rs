//! Copies between file systems: where to, in which order, by how many threads.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use tracing::Span;
use zerohop_transport::trace;

use super::acl_entry::{AclChange, full_list};
use super::destination::Destination;
use super::interrupt::{Closed, Unfinished};
use super::item::Item;
use super::location::file_name;
use super::parts::Opened;
use super::progress::Progress;
use super::shell::Shell;
use super::status::Status;
use super::store::{CreateHow, OpenHow, Output, Times};
use super::stream::pump;
use crate::failure::{Failure, Outcome};

/// Files found ahead of those being copied.
const QUEUE: usize = 1024;

/// Attributes that a copy keeps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Preserve {
    pub times: bool,
    pub owner: bool,
    pub permission: bool,
    pub acl: bool,
    pub xattr: bool,
}

/// How files are copied.
#[derive(Debug, Clone, Copy)]
pub struct Copying {
    pub overwrite: bool,
    /// Straight into the target, without a temporary file beside it.
    pub direct: bool,
    pub lazy_persist: bool,
    pub verify: bool,
    /// Writes the side file with checksums next to a local target.
    pub write_crc: bool,
    pub preserve: Preserve,
    pub threads: usize,
    /// Deletes each source after its copy.
    pub move_source: bool,
}

impl Default for Copying {
    fn default() -> Self {
        Copying {
            overwrite: false,
            direct: false,
            lazy_persist: false,
            verify: true,
            write_crc: false,
            preserve: Preserve::default(),
            threads: 1,
            move_source: false,
        }
    }
}

/// A file to copy, with its place in the order of the command line.
struct Job {
    index: usize,
    source: Item,
    target: Item,
}

/// What the threads share.
struct Work {
    how: Copying,
    progress: Progress,
    /// Threads for one long file.
    threads_of_file: usize,
    failures: Mutex<BTreeMap<usize, Failure>>,
    /// Of the command: what the threads do is within it.
    span: Span,
}

/// Copies each source to the target, directories with all that is in them.
pub fn copy_all(shell: &mut Shell, sources: &[Item], target: &Item, how: Copying) -> Outcome {
    Destination::check(target, sources, how.overwrite)?;
    let several = sources.len() > 1 || sources.iter().any(Item::is_dir);
    // Sources that go to one name meet there in their order, and the second is refused.
    let names: BTreeSet<&str> = sources.iter().map(|source| file_name(&source.path)).collect();
    let threads = if several && names.len() == sources.len() { how.threads } else { 1 };
    let threads_of_file = if several { 1 } else { how.threads };
    let (progress, failures) = (Progress::new(), Mutex::default());
    let work = Work { how, progress, threads_of_file, failures, span: trace::current_span() };
    let mut directories = Vec::new();
    let walked = std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel::<Job>(QUEUE);
        let receiver = Arc::new(Mutex::new(receiver));
        if threads > 1 {
            for _ in 0..threads {
                let receiver = receiver.clone();
                scope.spawn(|| work.span.in_scope(|| work.run(receiver)));
            }
        }
        let sender = (threads > 1).then_some(sender);
        let mut walk = Walk { work: &work, sender, next: 0, directories: &mut directories };
        shell.each(sources, |shell, source| walk.argument(shell, source, target))
    });
    work.progress.finish();
    let failures = work.failures.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    failures.into_values().try_for_each(|failure| shell.report(failure))?;
    // Times of directories last: what was written into them changed them.
    for (source, target) in directories.iter().rev() {
        let kept = preserve(source, target, how.preserve);
        let moved = kept.and_then(|()| if how.move_source { remove(source) } else { Ok(()) });
        shell.note(moved)?;
    }
    walked
}

/// The walk over the sources; it makes directories itself and hands files to the threads.
struct Walk<'a> {
    work: &'a Work,
    /// `None`: files are copied in the walk.
    sender: Option<SyncSender<Job>>,
    next: usize,
    directories: &'a mut Vec<(Item, Item)>,
}

impl Walk<'_> {
    fn argument(&mut self, shell: &mut Shell, source: &Item, target: &Item) -> Outcome {
        source.found()?;
        let to = Destination::of(target, source)?;
        Destination::check_not_inside(source, &to)?;
        self.visit(shell, source, to)
    }

    fn visit(&mut self, shell: &mut Shell, source: &Item, to: Item) -> Outcome {
        if source.is_dir() {
            return self.directory(shell, source, to);
        }
        self.next += 1;
        let length = source.found()?.length;
        self.work.progress.expect(u64::try_from(length).unwrap_or(0));
        let job = Job { index: self.next, source: source.clone(), target: to };
        match &self.sender {
            None => self.work.copy(&job),
            // Nobody takes jobs any more only when the threads are gone, which they say themselves.
            Some(sender) => sender.send(job).map_err(|_| Failure::io("copying stopped")),
        }
    }

    fn directory(&mut self, shell: &mut Shell, source: &Item, mut to: Item) -> Outcome {
        if self.work.how.move_source && to.is_dir() {
            return Err(Failure::exists(&to.text));
        }
        let fresh = !to.exists();
        if fresh {
            if !to.store.mkdirs(&to.path)? {
                return Err(Failure::io(format!("mkdir `{}': Input/output error", to.text)));
            }
            let status = source.found()?.clone();
            to.status = Some(Status { path: to.path.clone(), ..status });
        } else if !to.is_dir() {
            return Err(Failure::not_directory(&to.text));
        }
        self.directories.push((source.clone(), to.clone()));
        source.store.clone().list(&source.path, &mut |page| {
            for status in page {
                let child = source.listed(status);
                let name = file_name(&child.path);
                // Nothing can be in a directory that was made just now, so nothing is asked.
                let into = if fresh { to.absent_child(name) } else { to.child(name)? };
                let visited = self.visit(shell, &child, into);
                shell.note(visited)?;
            }
            Ok(())
        })
    }
}

impl Work {
    fn run(&self, jobs: Arc<Mutex<Receiver<Job>>>) {
        loop {
            let job = match jobs.lock() {
                Ok(jobs) => jobs.recv(),
                Err(_) => return,
            };
            let Ok(job) = job else { return };
            self.try_copy(&job);
        }
    }

    /// Copies a file and keeps a failure for later.
    fn try_copy(&self, job: &Job) {
        let Err(failure) = self.copy(job) else { return };
        if let Ok(mut failures) = self.failures.lock() {
            failures.insert(job.index, failure);
        }
    }

    /// Copies a file; a failure that names neither of its names gets one.
    fn copy(&self, job: &Job) -> Outcome {
        self.progress.show(&job.source.text);
        self.copy_file(job).map_err(|failure| {
            let names = [&job.source.text, &job.source.path, &job.target.text, &job.target.path];
            match names.iter().any(|name| failure.text.contains(name.as_str())) {
                true => failure,
                false => {
                    let text = format!("`{}': {}", job.source.text, failure.text);
                    Failure { text, ..failure }
                }
            }
        })
    }

    fn copy_file(&self, job: &Job) -> Outcome {
        let Job { source, target, .. } = job;
        let is_local = target.store.is_local();
        if self.how.direct && is_same(source, target) {
            let (from, to) = (&source.text, &target.text);
            return Err(Failure::io(format!("`{from}' to `{to}': are identical")));
        }
        check_free(target, self.how.overwrite)?;
        // The source first: for one that cannot be opened nothing is done to the target.
        let open = OpenHow { verify: self.how.verify };
        let threads = if is_local { self.threads_of_file } else { 1 };
        let opened = Opened::new(source, open, threads)?;
        write_file(target, self.how, |output| {
            opened.copy(output, &|bytes| self.progress.done(bytes))
        })?;
        if self.how.write_crc && is_local {
            zerohop_local::write_crc_file(&target.path)?;
        }
        preserve(source, target, self.how.preserve)?;
        if self.how.move_source { remove(source) } else { Ok(()) }
    }
}

fn is_same(source: &Item, target: &Item) -> bool {
    source.path == target.path && source.store.uri() == target.store.uri()
}

/// Deletes a source that was moved; a directory only if it is empty.
fn remove(source: &Item) -> Outcome {
    match source.store.delete(&source.path, false)? {
        true => Ok(()),
        false => Err(Failure::io(format!("remove `{}': Input/output error", source.text))),
    }
}

/// Writes a stream to a file that appears under its name when it is complete.
pub fn write_stream(
    input: &mut dyn Read,
    target: &Item,
    how: Copying,
    through: &mut dyn FnMut(u64),
) -> Outcome {
    check_free(target, how.overwrite)?;
    write_file(target, how, |output| pump(input, output, through).map(|_| ()))
}

fn check_free(target: &Item, overwrite: bool) -> Outcome {
    match target.exists() && (target.is_dir() || !overwrite) {
        true => Err(Failure::exists(&target.text)),
        false => Ok(()),
    }
}

/// Writes a file that appears under its name when `fill` is done with it, or at once where that is
/// asked for.
pub fn write_file(
    target: &Item,
    how: Copying,
    fill: impl FnOnce(&mut dyn Output) -> Outcome,
) -> Outcome {
    let create =
        CreateHow { overwrite: true, lazy_persist: how.lazy_persist, ..CreateHow::default() };
    if how.direct {
        return Closed::with(target.store.create(&target.path, create)?, fill);
    }
    let path = format!("{}._COPYING_", target.path);
    let unfinished = Unfinished::new(&target.store, &path);
    let mut output = target.store.create(&path, create)?;
    fill(&mut *output)?;
    output.finish()?;
    put_in_place(target, &path)?;
    unfinished.keep();
    Ok(())
}

/// In one step, so that whatever happens the old file is there or the new one.
fn put_in_place(target: &Item, path: &str) -> Outcome {
    if target.exists() {
        return target.store.replace(path, &target.path);
    }
    match target.store.rename(path, &target.path)? {
        true => Ok(()),
        false => Err(Failure::io(format!(
            "rename `{0}._COPYING_' to `{0}': Input/output error",
            target.text
        ))),
    }
}

fn preserve(source: &Item, target: &Item, keep: Preserve) -> Outcome {
    let status = source.found()?;
    let (store, path) = (&target.store, &target.path);
    if keep.times {
        let (modified_ms, accessed_ms) = (Some(status.modified_ms), Some(status.accessed_ms));
        store.set_times(path, Times { modified_ms, accessed_ms })?;
    }
    if keep.owner {
        store.set_owner(path, Some(&status.owner), Some(&status.group))?;
    }
    if keep.permission || keep.acl {
        store.set_permission(path, status.mode)?;
    }
    if keep.acl && status.has_acl {
        let entries = full_list(status.mode, &source.store.acl(&source.path)?);
        store.change_acl(path, AclChange::Set(entries))?;
    }
    if keep.xattr {
        for (name, value) in source.store.xattrs(&source.path)? {
            store.set_xattr(path, &name, &value)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "copy_test.rs"]
mod tests;
