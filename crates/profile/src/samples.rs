//! Where signal handlers leave their samples: two areas of words, one of which is written while the other is read. No lock,
//! no allocation.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use zerohop_system::clock;

/// Words of one area: 2 MiB, a tenth of a second of 128 processors at 99 Hz with the deepest stacks.
const AREA_LEN: usize = 1 << 18;
/// A handler that finds the areas exchanged between two of its steps tries again.
const TRIES: usize = 4;
const WRITER_WAIT: Duration = Duration::from_micros(50);

struct Area {
    words: Box<[AtomicU64]>,
    used: AtomicUsize,
    /// Handlers that are writing into this area.
    writers: AtomicUsize,
}

/// Samples as words; each is behind its length.
pub(crate) struct SampleBuffer {
    areas: [Area; 2],
    active: AtomicUsize,
    dropped: AtomicU64,
}

impl Area {
    fn new(len: usize) -> Self {
        let words = std::iter::repeat_with(AtomicU64::default).take(len).collect();
        Self { words, used: AtomicUsize::new(0), writers: AtomicUsize::new(0) }
    }

    /// Appends a sample; false if there is no room.
    fn append(&self, sample: &[u64]) -> bool {
        let at = self.used.fetch_add(sample.len() + 1, Ordering::Relaxed);
        let Some(room) = self.words.get(at..).and_then(|room| room.get(..sample.len() + 1)) else {
            return false;
        };
        let (head, body) = room.split_at(1);
        body.iter().zip(sample).for_each(|(word, value)| word.store(*value, Ordering::Relaxed));
        head.iter().for_each(|head| head.store(sample.len() as u64, Ordering::Relaxed));
        true
    }

    /// Gives all samples and empties the area, which nobody writes.
    fn take(&self, mut each: impl FnMut(&[u64])) {
        let used = self.used.load(Ordering::Relaxed).min(self.words.len());
        let words = self.words.get(..used).unwrap_or_default();
        let (mut at, mut sample) = (0, Vec::new());
        while let Some(len) = words.get(at).map(|head| head.load(Ordering::Relaxed) as usize) {
            let body = words.get(at + 1..).and_then(|rest| rest.get(..len));
            // The first that found no room: none behind it did.
            let Some(body) = body.filter(|_| len > 0) else { break };
            sample.clear();
            sample.extend(body.iter().map(|word| word.load(Ordering::Relaxed)));
            each(&sample);
            at += 1 + len;
        }
        words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        self.used.store(0, Ordering::Relaxed);
    }
}

impl SampleBuffer {
    pub(crate) fn new() -> Self {
        Self::with_area_len(AREA_LEN)
    }

    fn with_area_len(len: usize) -> Self {
        Self {
            areas: [Area::new(len), Area::new(len)],
            active: AtomicUsize::new(0),
            dropped: AtomicU64::new(0),
        }
    }

    /// Keeps a sample, or counts it as dropped. May be called in a signal handler.
    pub(crate) fn push(&self, sample: &[u64]) {
        for _ in 0..TRIES {
            let index = self.active.load(Ordering::SeqCst);
            let Some(area) = self.areas.get(index) else { break };
            area.writers.fetch_add(1, Ordering::SeqCst);
            // The reader exchanges the areas before it looks for writers.
            let is_active = self.active.load(Ordering::SeqCst) == index;
            let is_kept = is_active && area.append(sample);
            area.writers.fetch_sub(1, Ordering::SeqCst);
            if is_kept {
                return;
            }
            if is_active {
                break;
            }
        }
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// Gives the samples that are there, and frees their room. For one thread at a time.
    pub(crate) fn drain(&self, each: impl FnMut(&[u64])) {
        let index = self.active.load(Ordering::SeqCst);
        self.active.store(1 - index.min(1), Ordering::SeqCst);
        let Some(area) = self.areas.get(index) else { return };
        while area.writers.load(Ordering::SeqCst) > 0 {
            clock::sleep_thread(WRITER_WAIT);
        }
        area.take(each);
    }

    /// Samples that found no room since this was asked last.
    pub(crate) fn take_dropped(&self) -> u64 {
        self.dropped.swap(0, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn what_finds_no_room_is_counted() {
        let buffer = SampleBuffer::with_area_len(8);
        for value in 1..=5 {
            buffer.push(&[value, value]);
        }
        let mut kept = Vec::new();
        buffer.drain(|sample| kept.push(sample.to_vec()));
        assert_eq!(kept, [[1, 1], [2, 2]]);
        assert_eq!(buffer.take_dropped(), 3);
        buffer.push(&[9]);
        kept.clear();
        buffer.drain(|sample| kept.push(sample.to_vec()));
        assert_eq!(kept, [[9]]);
        buffer.drain(|_| panic!("it is empty"));
    }

    #[test]
    fn samples_of_many_threads_arrive_whole_while_areas_are_exchanged() {
        let buffer = SampleBuffer::with_area_len(1 << 10);
        let ends = AtomicBool::new(false);
        let (mut seen, pushed) = (0u64, AtomicU64::new(0));
        std::thread::scope(|scope| {
            for thread in 1..=3u64 {
                let (buffer, ends, pushed) = (&buffer, &ends, &pushed);
                scope.spawn(move || {
                    while !ends.load(Ordering::Relaxed) {
                        buffer.push(&[thread; 7]);
                        pushed.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            for _ in 0..200 {
                buffer.drain(|sample| {
                    assert!(sample.len() == 7 && sample.iter().all(|word| *word == sample[0]));
                    seen += 1;
                });
            }
            ends.store(true, Ordering::Relaxed);
        });
        for _ in 0..2 {
            buffer.drain(|_| seen += 1);
        }
        assert_eq!(seen + buffer.take_dropped(), pushed.load(Ordering::Relaxed));
    }
}
