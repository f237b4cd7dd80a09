//! One long file by several threads: each block goes to its place of the local file.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::item::Item;
use super::store::{BUFFER, Input, OpenHow};
use crate::failure::{Failure, Outcome};

/// A file and how it is cut.
pub struct Parts<'a> {
    source: &'a Item,
    open: OpenHow,
    len: u64,
    part_len: u64,
    threads: u64,
    next: AtomicU64,
    stopped: AtomicBool,
    /// Held while the local file is written. The kernel lets one thread at a time write to a file and
    /// the others spin, which took up to ten times as long as all of the copy.
    writing: Mutex<()>,
}

impl<'a> Parts<'a> {
    /// `None` where one thread does as well: for a file of one block, or a local one.
    pub fn of(source: &'a Item, open: OpenHow, threads: usize) -> Option<Self> {
        let status = source.status.as_ref().filter(|_| !source.store.is_local())?;
        let len = u64::try_from(status.length).ok()?;
        let part_len = u64::try_from(status.block_size).ok().filter(|size| *size > 0)?;
        let threads = len.div_ceil(part_len).min(threads as u64);
        let (next, stopped) = (AtomicU64::new(0), AtomicBool::new(false));
        let writing = Mutex::new(());
        (threads > 1).then_some(Self {
            source,
            open,
            len,
            part_len,
            threads,
            next,
            stopped,
            writing,
        })
    }

    /// Copies everything to `file`; tells of each piece that is through.
    pub fn copy(&self, file: &File, through: &(dyn Fn(u64) + Sync)) -> Outcome {
        std::thread::scope(|scope| {
            let start = |_| scope.spawn(|| self.run(file, through));
            let running: Vec<_> = (0..self.threads).map(start).collect();
            let ended = running.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|_| Err(Failure::io("a copying thread died")))
            });
            // All of them are waited for, and the first failure is told.
            let ended: Vec<Outcome> = ended.collect();
            ended.into_iter().collect()
        })
    }

    fn run(&self, file: &File, through: &(dyn Fn(u64) + Sync)) -> Outcome {
        let copied = self.run_parts(file, through);
        if copied.is_err() {
            self.stopped.store(true, Ordering::Relaxed);
        }
        copied
    }

    fn run_parts(&self, file: &File, through: &(dyn Fn(u64) + Sync)) -> Outcome {
        let mut input = self.source.store.open(&self.source.path, self.open)?;
        let mut buffer = vec![0; BUFFER];
        loop {
            let start = self.next.fetch_add(self.part_len, Ordering::Relaxed);
            if start >= self.len || self.stopped.load(Ordering::Relaxed) {
                return Ok(());
            }
            input.seek_to(start)?;
            self.part(&mut *input, start, file, &mut buffer, through)?;
        }
    }

    fn part(
        &self,
        input: &mut dyn Input,
        start: u64,
        file: &File,
        buffer: &mut [u8],
        through: &(dyn Fn(u64) + Sync),
    ) -> Outcome {
        // The last part goes as far as the file does, should it have grown.
        let end = start.checked_add(self.part_len).filter(|end| *end < self.len);
        let mut at = start;
        while !self.stopped.load(Ordering::Relaxed) {
            let left = end.map_or(u64::MAX, |end| end - at);
            let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            let room = buffer.get_mut(..wanted).unwrap_or_default();
            let count = match input.read(room) {
                Ok(0) if left > 0 && at < self.len => {
                    let path = &self.source.text;
                    return Err(Failure::io(format!("{path}: it ended at {at} while it was read")));
                }
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Failure::io(error.to_string())),
            };
            let written = {
                let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
                file.write_all_at(buffer.get(..count).unwrap_or_default(), at)
            };
            written.map_err(|error| Failure::io(error.to_string()))?;
            at += count as u64;
            through(count as u64);
        }
        Ok(())
    }
}
