//! Unfinished files go away when a signal ends the command.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::signal::unix::{SignalKind, signal};

use super::store::Store;

type Entry = (u64, Arc<dyn Store>, String);

/// Files that are being written, by their number.
static UNFINISHED: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// Removes its file when it is dropped or when a signal ends the process, unless it was kept.
pub struct Unfinished {
    number: u64,
}

impl Unfinished {
    /// Takes note of a file that is about to be made.
    pub fn new(store: &Arc<dyn Store>, path: &str) -> Unfinished {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        static WATCH: OnceLock<()> = OnceLock::new();
        WATCH.get_or_init(|| drop(std::thread::Builder::new().spawn(watch)));
        let mut all = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        all.push((number, store.clone(), path.to_owned()));
        Unfinished { number }
    }

    /// The file is complete.
    pub fn keep(self) {
        take(self.number);
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some((store, path)) = take(self.number) {
            // The copy has failed already, and that is what the user is told.
            let _ = store.delete(&path, false);
        }
    }
}

fn take(number: u64) -> Option<(Arc<dyn Store>, String)> {
    let mut all = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    let at = all.iter().position(|(one, ..)| *one == number)?;
    let (_, store, path) = all.swap_remove(at);
    Some((store, path))
}

/// Waits for a signal, removes what is unfinished, and ends the process as the signal would.
fn watch() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return };
    let Ok(code) = runtime.block_on(signalled()) else { return };
    // The lock is held to the end, so that nobody finishes or starts a file meanwhile.
    let all = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for (_, store, path) in all.iter() {
        let _ = store.delete(path, false);
    }
    std::process::exit(code);
}

/// The exit code that a shell gives to the signal.
async fn signalled() -> std::io::Result<i32> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(tokio::select! {
        _ = interrupt.recv() => 130,
        _ = terminate.recv() => 143,
        _ = hangup.recv() => 129,
    })
}
