//! One life of a NameNode: from its start, on what the crash before left, to its end. All that it
//! does to its directories is recorded.

use crate::calls::{FileCall, Verdict, observe};
use crate::disk::Image;
use crate::journal::{Event, Journal};
use crate::namenode::Layout;
use crate::past::Past;
use crate::promises::{Broken, Promise};
use crate::world::{Replicas, World, save_image};
use fastrand::Rng;
use std::path::Path;
use std::sync::Arc;
use zerohop_namenode::storage::EditLog;

/// Segments are filled a megabyte ahead. Most histories keep only so much of that: how long it is has
/// no meaning, and it costs time.
const PADDING_MAX: usize = 16 << 10;

/// One call that is made to fail.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    /// Below this directory.
    pub directory: &'static str,
    /// So many calls succeed before it.
    pub after: usize,
    /// How it fails.
    pub errno: i32,
    /// Whether all that come after it fail too.
    pub is_for_good: bool,
}

impl Failure {
    /// A random one in a directory of edits.
    pub fn any(layout: &Layout, rng: &mut Rng) -> Self {
        let errnos = [libc::EIO, libc::ENOSPC, libc::EROFS];
        Self {
            directory: layout.any_edits_dir(rng),
            after: rng.usize(0..120),
            errno: errnos[rng.usize(0..errnos.len())],
            is_for_good: rng.bool(),
        }
    }
}

/// A life that is over.
pub struct Life {
    /// The files at its begin.
    pub begin: Image<'static>,
    /// What happened.
    pub events: Vec<Event>,
    /// The last transaction that was loaded.
    pub first: i64,
    /// DataNodes' replicas at its begin.
    pub replicas: Arc<Replicas>,
}

/// What a life begins with.
pub struct Begin {
    /// The files.
    pub image: Image<'static>,
    /// What DataNodes hold.
    pub replicas: Arc<Replicas>,
}

impl Life {
    /// Lives it. `past` is what was logged before, and afterwards also what this life logged.
    ///
    /// # Errors
    /// A broken promise, or a machine on which this cannot be done.
    pub fn live(
        begin: Begin,
        root: &Path,
        layout: &Layout,
        past: Past,
        failure: Option<Failure>,
        rng: &mut Rng,
    ) -> Result<(Self, Past), Failed> {
        begin.image.write(root).map_err(Failed::machine)?;
        let journal = Journal::new(past);
        let (replicas, seed) = (begin.replicas.clone(), rng.u64(..));
        let padding_max = if rng.u8(0..16) == 0 { usize::MAX } else { PADDING_MAX };
        let mut calls = 0;
        let judge = |call: FileCall| {
            let Some(mut call) = below(&call, root) else { return Verdict::Proceed };
            if let FileCall::Write { bytes, .. } = &mut call
                && bytes.iter().all(|byte| *byte == 0xff)
            {
                bytes.truncate(padding_max);
            }
            let errno = failure.filter(|f| call.path().is_some_and(|p| p.starts_with(f.directory)));
            let errno = errno.filter(|failure| {
                calls += 1;
                calls == failure.after + 1 || failure.is_for_good && calls > failure.after
            });
            match (errno, call) {
                (None, call) => {
                    journal.with(|state| state.events.push(Event::Call(call)));
                    Verdict::Proceed
                }
                (Some(failure), call) => {
                    if let FileCall::Sync { path } = call {
                        journal.with(|state| state.events.push(Event::FailedSync(path)));
                    }
                    Verdict::Fail(failure.errno)
                }
            }
        };
        let work = || work(root, layout, &journal, &replicas, Rng::with_seed(seed));
        let worked = observe(judge, work).map_err(Failed::machine)?;
        let state = journal.into_state();
        if let Some(broken) = state.broken {
            return Err(Failed::Promise(broken));
        }
        let first = match worked {
            Ok(first) => first,
            Err(error) if failure.is_none() => {
                return Err(Failed::Promise(Broken::new(Promise::StartsOrNamesTheCommand, error)));
            }
            // With a disk that fails, it may refuse to start.
            Err(_) => 0,
        };
        let Begin { image, replicas } = begin;
        Ok((Self { begin: image, events: state.events, first, replicas }, state.past))
    }
}

/// Why a history ended early.
pub enum Failed {
    /// A promise was broken.
    Promise(Broken),
    /// This machine cannot simulate.
    Machine(String),
}

impl Failed {
    fn machine(error: std::io::Error) -> Self {
        Self::Machine(error.to_string())
    }
}

/// The NameNode starts, serves, and ends. The last transaction that it loaded.
fn work(
    root: &Path,
    layout: &Layout,
    journal: &Journal,
    replicas: &Replicas,
    mut rng: Rng,
) -> Result<i64, String> {
    let loaded = layout.load(root).map_err(|e| e.to_string())?;
    let (namespace, storage, last) = (loaded.namespace, loaded.storage, loaded.last);
    journal.with(|state| state.past.forget_after(last));
    journal.compare(last, &namespace);
    if rng.u8(0..4) == 0 {
        save_image(&storage, &namespace, last);
    }
    let Ok(log) = EditLog::start(storage.clone(), last + 1, |_| {}) else { return Ok(last) };
    journal.acknowledged(last + 1);
    let steps = rng.usize(5..30);
    let closes = rng.bool();
    let mut world = World::new(namespace, (log, storage), journal, replicas.clone(), rng);
    // An error is that of a disk which was made to fail.
    if world.work(steps).is_ok() && closes {
        let _ = world.close();
    }
    Ok(last)
}

/// The call with paths below `root`; none for other files, and for the locks, which hold no data.
fn below(call: &FileCall, root: &Path) -> Option<FileCall> {
    let strip = |path: &Path| path.strip_prefix(root).map(Path::to_owned).ok();
    if call.path().is_some_and(|path| path.ends_with("in_use.lock")) {
        return None;
    }
    Some(match call {
        FileCall::Create { path, truncates } => {
            FileCall::Create { path: strip(path)?, truncates: *truncates }
        }
        FileCall::Write { path, offset, bytes } => {
            FileCall::Write { path: strip(path)?, offset: *offset, bytes: bytes.clone() }
        }
        FileCall::SetLen { path, len } => FileCall::SetLen { path: strip(path)?, len: *len },
        FileCall::Sync { path } => FileCall::Sync { path: strip(path)? },
        FileCall::Rename { from, to } => FileCall::Rename { from: strip(from)?, to: strip(to)? },
        FileCall::Remove { path } => FileCall::Remove { path: strip(path)? },
        FileCall::MakeDir { path } => FileCall::MakeDir { path: strip(path)? },
        FileCall::Other { number } => FileCall::Other { number: *number },
    })
}
