//! Files that stay open for a while after they were read, so that the NameNode is asked once for several reads of an object.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::Instant;
use zerohop_client::FileReader;
use zerohop_system::clock;

/// How many files are open at most: a replica on this machine costs descriptors.
const FILES_MAX: usize = 64;

/// The open files of a store. One is used again for a time after it was opened, but not after the store has changed an
/// object, or has learned an ETag of this one that is not the open file's.
pub(crate) struct OpenFiles {
    time: Duration,
    /// Runtime of the client. A caller's runtime may end before the files are closed.
    runtime: Handle,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By path.
    files: HashMap<String, OpenFile>,
    /// Files that are being opened.
    turns: HashMap<String, Weak<Turn>>,
    /// How often the store has changed or looked at objects: what was opened before is not kept.
    events: u64,
    /// Whether a task closes what has been open for long enough.
    is_swept: bool,
}

struct OpenFile {
    reader: FileReader,
    /// Not known of a file that was opened by its path alone.
    e_tag: Option<String>,
    until: Instant,
}

/// Held while a file is opened: of several reads that come together one opens it.
pub(crate) type Turn = tokio::sync::Mutex<()>;

/// A moment in the order of a store's changes and looks.
#[derive(Clone, Copy)]
pub(crate) struct Moment(u64);

impl OpenFiles {
    pub(crate) fn for_a(time: Duration, runtime: &Handle) -> Arc<Self> {
        Arc::new(Self { time, runtime: runtime.clone(), state: Mutex::default() })
    }

    /// Now: to be taken before the NameNode is asked for a file that is to be kept open.
    pub(crate) fn moment(&self) -> Moment {
        Moment(self.state.lock().events)
    }

    /// What is to be held by those who open a file.
    pub(crate) fn turn(&self, path: &str) -> Arc<Turn> {
        let mut state = self.state.lock();
        if let Some(turn) = state.turns.get(path).and_then(Weak::upgrade) {
            return turn;
        }
        state.turns.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::new(Turn::default());
        state.turns.insert(path.to_owned(), Arc::downgrade(&turn));
        turn
    }

    /// An object's file, if it is open.
    pub(crate) fn find(&self, path: &str) -> Option<FileReader> {
        self.find_if(path, |_| true)
    }

    /// An object's file, if it is open and has this tag.
    pub(crate) fn find_tagged(&self, path: &str, e_tag: Option<&str>) -> Option<FileReader> {
        self.find_if(path, |file| file.e_tag.is_some() && file.e_tag.as_deref() == e_tag)
    }

    fn find_if(&self, path: &str, fits: impl Fn(&OpenFile) -> bool) -> Option<FileReader> {
        let state = self.state.lock();
        let file = state.files.get(path)?;
        (file.until > clock::runtime_now() && fits(file)).then(|| file.reader.duplicate())
    }

    /// Keeps a file open, unless the store has changed or looked at an object since `asked`. A file whose tag is not known
    /// takes no other one's place. One that is being written is not kept: it grows.
    pub(crate) fn keep(
        self: &Arc<Self>,
        asked: Moment,
        path: &str,
        reader: &FileReader,
        e_tag: Option<String>,
    ) {
        if reader.is_under_construction() {
            return;
        }
        let mut state = self.state.lock();
        let is_late = state.events != asked.0;
        if is_late || (e_tag.is_none() && state.files.contains_key(path)) {
            return;
        }
        state.make_room(path);
        let until = clock::runtime_now() + self.time;
        let file = OpenFile { reader: reader.duplicate(), e_tag, until };
        state.files.insert(path.to_owned(), file);
        if !std::mem::replace(&mut state.is_swept, true) {
            self.runtime.spawn(sweep(Arc::downgrade(self)));
        }
    }

    /// Closes the object's file unless it has this tag, with which the object was seen.
    pub(crate) fn seen(&self, path: &str, e_tag: Option<&str>) {
        let mut state = self.state.lock();
        state.events += 1;
        let is_other = |file: &OpenFile| file.e_tag.is_none() || file.e_tag.as_deref() != e_tag;
        if state.files.get(path).is_some_and(is_other) {
            state.files.remove(path);
        }
    }

    /// Closes an object's file.
    pub(crate) fn close(&self, path: &str) {
        self.state.lock().files.remove(path);
    }

    /// Closes all files: the store has changed an object, or has tried.
    pub(crate) fn close_all(&self) {
        let mut state = self.state.lock();
        state.events += 1;
        state.files.clear();
    }
}

impl State {
    /// Closes the oldest of many files.
    fn make_room(&mut self, path: &str) {
        if self.files.len() < FILES_MAX || self.files.contains_key(path) {
            return;
        }
        let oldest = self.files.iter().min_by_key(|(_, file)| file.until);
        if let Some(oldest) = oldest.map(|(path, _)| path.clone()) {
            self.files.remove(&oldest);
        }
    }
}

/// Closes files when their time is over, until none is left or the store is gone.
async fn sweep(files: Weak<OpenFiles>) {
    loop {
        let next = {
            let Some(files) = files.upgrade() else { return };
            let mut state = files.state.lock();
            let now = clock::runtime_now();
            state.files.retain(|_, file| file.until > now);
            let next = state.files.values().map(|file| file.until).min();
            state.is_swept = next.is_some();
            next
        };
        let Some(next) = next else { return };
        clock::sleep_until(next).await;
    }
}

/// Closes all files when a change ends, however it ends: of one that failed nobody knows whether it was made.
pub(crate) struct Change(Option<Arc<OpenFiles>>);

impl Change {
    pub(crate) fn of(files: Option<&Arc<OpenFiles>>) -> Self {
        Self(files.cloned())
    }
}

impl Drop for Change {
    fn drop(&mut self) {
        if let Some(files) = &self.0 {
            files.close_all();
        }
    }
}
