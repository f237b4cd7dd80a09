//! What a copy reads from: a file from its front to its end, or a long one by several threads, each
//! block to its place of the local file.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use zerohop_transport::trace;

use super::item::Item;
use super::store::{BUFFER, Input, OpenHow, Output};
use super::stream::pump;
use crate::failure::{Failure, Outcome};

/// A file that was opened to be copied.
pub enum Opened {
    Whole(Box<dyn Input>),
    Parts(Parts, Vec<Box<dyn Input>>),
}

impl Opened {
    /// Opens a file, for `threads` where it has so many blocks; for one where the path did not stand
    /// for the same file all the while, whose parts might belong to another.
    pub fn new(source: &Item, how: OpenHow, threads: usize) -> Outcome<Opened> {
        let open = || source.store.open(&source.path, how);
        let first = open()?;
        let Some(cut) = Cut::of(source, threads) else { return Ok(Opened::Whole(first)) };
        let mut inputs = vec![first];
        while inputs.len() < cut.threads {
            match open() {
                Ok(input) => inputs.push(input),
                Err(_) => break,
            }
        }
        if inputs.len() == cut.threads && is_what_it_was(source) {
            return Ok(Opened::Parts(Parts::new(source, cut), inputs));
        }
        Ok(Opened::Whole(inputs.swap_remove(0)))
    }

    /// Copies everything; tells of each piece that is through.
    pub fn copy(self, output: &mut dyn Output, through: &(dyn Fn(u64) + Sync)) -> Outcome {
        let mut input = match (self, output.file()) {
            (Opened::Parts(parts, inputs), Some(file)) => return parts.copy(inputs, file, through),
            (Opened::Parts(_, mut inputs), None) => inputs.swap_remove(0),
            (Opened::Whole(input), _) => input,
        };
        pump(&mut *input, output, &mut |bytes| through(bytes)).map(|_| ())
    }
}

/// Whether the path stands for the file, at the length, that was looked up.
fn is_what_it_was(source: &Item) -> bool {
    let Some(was) = &source.status else { return false };
    let now = source.store.status(&source.path);
    now.is_ok_and(|now| now.id.is_some() && (now.id, now.length) == (was.id, was.length))
}

/// How a file is cut: one block a part.
struct Cut {
    len: u64,
    part_len: u64,
    threads: usize,
}

impl Cut {
    /// `None` where one thread does as well: for a file of one block, or a local one.
    fn of(source: &Item, threads: usize) -> Option<Cut> {
        let status = source.status.as_ref().filter(|_| !source.store.is_local())?;
        let len = u64::try_from(status.length).ok()?;
        let part_len = u64::try_from(status.block_size).ok().filter(|size| *size > 0)?;
        let threads = usize::try_from(len.div_ceil(part_len)).unwrap_or(threads).min(threads);
        (threads > 1).then_some(Cut { len, part_len, threads })
    }
}

/// A file by several threads.
pub struct Parts {
    cut: Cut,
    /// The file, for errors.
    text: String,
    next: AtomicU64,
    stopped: AtomicBool,
    /// Held while the local file is written. The kernel lets one thread at a time write to a file and
    /// the others spin, which took up to ten times as long as all of the copy.
    writing: Mutex<()>,
}

impl Parts {
    fn new(source: &Item, cut: Cut) -> Parts {
        let (next, stopped) = (AtomicU64::new(0), AtomicBool::new(false));
        Parts { cut, text: source.text.clone(), next, stopped, writing: Mutex::new(()) }
    }

    /// Copies everything to `file`, with a thread for each input; tells of each piece that is through.
    fn copy(
        &self,
        inputs: Vec<Box<dyn Input>>,
        file: &File,
        through: &(dyn Fn(u64) + Sync),
    ) -> Outcome {
        std::thread::scope(|scope| {
            let span = trace::current_span();
            let start = |input| {
                let span = span.clone();
                scope.spawn(move || span.in_scope(|| self.run(input, file, through)))
            };
            let running: Vec<_> = inputs.into_iter().map(start).collect();
            let ended = running.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|_| Err(Failure::io("a copying thread died")))
            });
            // All of them are waited for, and the first failure is told.
            let ended: Vec<Outcome> = ended.collect();
            ended.into_iter().collect()
        })
    }

    fn run(&self, input: Box<dyn Input>, file: &File, through: &(dyn Fn(u64) + Sync)) -> Outcome {
        let copied = self.run_parts(input, file, through);
        if copied.is_err() {
            self.stopped.store(true, Ordering::Relaxed);
        }
        copied
    }

    fn run_parts(
        &self,
        mut input: Box<dyn Input>,
        file: &File,
        through: &(dyn Fn(u64) + Sync),
    ) -> Outcome {
        let mut buffer = vec![0; BUFFER];
        loop {
            let start = self.next.fetch_add(self.cut.part_len, Ordering::Relaxed);
            if start >= self.cut.len || self.stopped.load(Ordering::Relaxed) {
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
        let end = start.checked_add(self.cut.part_len).filter(|end| *end < self.cut.len);
        let mut at = start;
        while !self.stopped.load(Ordering::Relaxed) {
            let left = end.map_or(u64::MAX, |end| end - at);
            let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            let room = buffer.get_mut(..wanted).unwrap_or_default();
            let count = match input.read(room) {
                Ok(0) if left > 0 && at < self.cut.len => {
                    let path = &self.text;
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
