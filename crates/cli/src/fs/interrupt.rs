//! What a signal leaves in order when it ends the command: unfinished files go away, and those that
//! are written under their own name are closed with what they have.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::store::{Output, Store};
use crate::failure::{Failure, Outcome};
use crate::stop::Stop;

/// Longest time that a signal waits for files to be removed and closed; a second signal waits no
/// longer.
const CLEAN_UP_MAX: Duration = Duration::from_secs(15);

/// A file being written that others may close; `None` once it is closed.
type Shared = Arc<Mutex<Option<Box<dyn Output>>>>;

/// What is to be done about a file.
enum Task {
    Remove(Box<dyn Fn() + Send>),
    Close(Shared),
}

impl Task {
    /// What fails here has no one to be told.
    fn run(&self) {
        match self {
            Task::Remove(remove) => remove(),
            Task::Close(file) => drop(close(file)),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the file, unless that was done.
fn close(file: &Shared) -> Outcome {
    let mut file = locked(file);
    file.take().map_or(Ok(()), Output::finish)
}

/// Files that are being written, by their number.
static UNFINISHED: Mutex<Vec<(u64, Task)>> = Mutex::new(Vec::new());

fn note(task: Task) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static WATCH: OnceLock<()> = OnceLock::new();
    WATCH.get_or_init(start_watch);
    let mut all = locked(&UNFINISHED);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    all.push((number, task));
    number
}

fn take(number: u64) -> Option<Task> {
    let mut all = locked(&UNFINISHED);
    let at = all.iter().position(|(one, _)| *one == number)?;
    Some(all.swap_remove(at).1)
}

/// Removes its file when it is dropped or when a signal ends the process, unless it was kept.
pub struct Unfinished {
    number: u64,
}

impl Unfinished {
    /// Takes note of a file that is about to be made.
    pub fn new(store: &Arc<dyn Store>, path: &str) -> Unfinished {
        let (store, path) = (store.clone(), path.to_owned());
        Unfinished::with(move || drop(store.delete(&path, false)))
    }

    /// The same of something that `remove` takes away.
    pub fn with(remove: impl Fn() + Send + 'static) -> Unfinished {
        Unfinished { number: note(Task::Remove(Box::new(remove))) }
    }

    /// The file is complete.
    pub fn keep(self) {
        take(self.number);
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(task) = take(self.number) {
            // The copy has failed already, and that is what the user is told.
            task.run();
        }
    }
}

/// A file that is closed with what was written to it, however its writing ends.
pub struct Closed {
    file: Shared,
}

impl Closed {
    /// Lets `fill` write the file, and closes it: when that is done, when it failed, and when a signal
    /// ends the process. Hadoop's programs close such files, too; one that stays open is locked until
    /// its lease runs out, and its last bytes are missing.
    pub fn with(output: Box<dyn Output>, fill: impl FnOnce(&mut dyn Output) -> Outcome) -> Outcome {
        let file = Arc::new(Mutex::new(Some(output)));
        let number = note(Task::Close(file.clone()));
        let mut output = Closed { file };
        let filled = fill(&mut output);
        let closed = close(&output.file);
        // Only now: a signal has to wait for the closing. After one this waits for the end.
        take(number);
        filled.and(closed)
    }
}

impl Write for Closed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut *locked(&self.file) {
            Some(output) => output.write(bytes),
            None => Err(io::Error::other("the file was closed by a signal")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        locked(&self.file).as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Output for Closed {
    // `write_from` of the trait reads before it writes. That of the file would read with the file
    // locked, for as long as it takes somebody at a terminal to type.

    fn finish(self: Box<Self>) -> Outcome {
        close(&self.file)
    }
}

/// From here on signals wait for the files to be left in order.
fn start_watch() {
    let (ready, is_ready) = std::sync::mpsc::channel();
    if std::thread::Builder::new().spawn(move || watch(ready)).is_ok() {
        // An error: it cannot watch, and a signal ends the process at once.
        let _ = is_ready.recv();
    }
}

/// Waits for a signal, leaves everything in order, and ends the process as the signal would.
fn watch(ready: std::sync::mpsc::Sender<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return };
    let Ok(code) = runtime.block_on(signalled(ready)) else { return };
    std::process::exit(code);
}

/// The exit code that a shell gives to the signal.
async fn signalled(ready: std::sync::mpsc::Sender<()>) -> Outcome<i32> {
    let mut stop = Stop::new()?;
    let _ = ready.send(());
    let code = stop.wait().await.exit_code();
    let (done, cleaned) = tokio::sync::oneshot::channel();
    std::thread::Builder::new().spawn(move || clean_up(done)).map_err(Failure::of)?;
    let in_time = async {
        if tokio::time::timeout(CLEAN_UP_MAX, cleaned).await.is_err() {
            let limit = CLEAN_UP_MAX.as_secs();
            noteln!(
                "no answer within {limit} s: files that were being written may be left unfinished"
            );
        }
    };
    stop.unless_again(in_time).await;
    Ok(code)
}

fn clean_up(done: tokio::sync::oneshot::Sender<()>) {
    let all = locked(&UNFINISHED);
    for (_, task) in all.iter() {
        task.run();
    }
    let _ = done.send(());
    // The lock is held to the end of the process, so that nobody finishes or starts a file meanwhile.
    loop {
        std::thread::park();
    }
}
