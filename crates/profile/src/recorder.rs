//! One recording at a time: the process has one signal handler.

use crate::handler::Sampling;
use crate::options::{Clock, Options};
use crate::perf::{KernelSample, ThreadEvents};
use crate::recording::Recording;
use crate::symbols::KnownNames;
use crate::tally::Tally;
use crate::tasks::{self, ThreadNames, Tid, threads};
use crate::timers::ThreadTimers;
use crate::waits;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant, SystemTime};
use zerohop_system::clock;

/// How often new threads are looked for.
const THREADS_INTERVAL: Duration = Duration::from_millis(50);
/// Of the time, so much may go into looking at threads one after the other.
const LOOKING_SHARE: u32 = 10;

static RUNNING: Mutex<Option<Busy>> = Mutex::new(None);
static KNOWN: Mutex<Option<KnownNames>> = Mutex::new(None);

/// Somebody else is recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Busy {
    /// Who it is.
    pub who: String,
    /// When that recording ends; finding its names takes a moment longer.
    pub until: SystemTime,
}

/// The right to make the one recording; it ends with this.
#[derive(Debug)]
pub struct Turn {
    options: Options,
}

impl Turn {
    /// Takes the turn for `who`.
    ///
    /// # Errors
    /// If somebody else is recording.
    pub fn take(who: &str, options: Options) -> Result<Self, Busy> {
        let mut running = RUNNING.lock();
        if let Some(busy) = &*running {
            return Err(busy.clone());
        }
        let until = clock::wall() + options.duration;
        *running = Some(Busy { who: who.to_owned(), until });
        Ok(Self { options })
    }

    /// Records, until the time is over or `is_given_up` says so. The calling thread is not in the picture.
    ///
    /// # Errors
    /// If the system does not let this process look at itself.
    pub fn record(self, is_given_up: impl Fn() -> bool) -> io::Result<Recording> {
        let sampling = Sampling::start()?;
        let mut recorded = Recorded::new(self.options, &sampling);
        match self.options.clock {
            Clock::Cpu => match recorded.events() {
                Some(events) => recorded.by_events(events, is_given_up)?,
                None => recorded.by_timers(is_given_up)?,
            },
            Clock::Wall => recorded.by_looking(is_given_up)?,
        }
        recorded.finish()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *RUNNING.lock() = None;
    }
}

struct Recorded<'a> {
    options: Options,
    sampling: &'a Sampling,
    begun: Instant,
    tally: Tally,
    refused: u64,
    lost: u64,
    hz: f64,
    has_kernel: bool,
}

impl<'a> Recorded<'a> {
    fn new(options: Options, sampling: &'a Sampling) -> Self {
        let begun = clock::now();
        let hz = options.hz.into();
        let has_kernel = options.clock == Clock::Wall;
        let tally = Tally::default();
        Self { options, sampling, begun, tally, refused: 0, lost: 0, hz, has_kernel }
    }

    fn interval(&self) -> Duration {
        Duration::from_secs(1) / self.options.hz.max(1)
    }

    /// None when the time is over.
    fn left(&self) -> Option<Duration> {
        self.options.duration.checked_sub(clock::since(self.begun)).filter(|left| !left.is_zero())
    }

    /// The kernel's samples, where they are permitted.
    fn events(&self) -> Option<ThreadEvents> {
        let threads = threads().ok().filter(|_| !self.options.by_signals)?;
        ThreadEvents::new(self.options.hz, &threads, tasks::own()).ok()
    }

    fn by_events(
        &mut self,
        mut events: ThreadEvents,
        is_given_up: impl Fn() -> bool,
    ) -> io::Result<()> {
        let mut names = ThreadNames::default();
        // For those that get no event.
        let mut timers = ThreadTimers::new(self.interval());
        let pause = events.reading_interval().min(THREADS_INTERVAL);
        let mut covered = clock::now();
        while let Some(left) = self.left().filter(|_| !is_given_up()) {
            clock::sleep_thread(left.min(pause));
            let tally = &mut self.tally;
            let mut add = |KernelSample { tid, kernel, process }| {
                tally.add_with_kernel(names.words(tid), kernel, process);
            };
            events.drain(&mut add);
            if clock::since(covered) < THREADS_INTERVAL {
                continue;
            }
            events.cover(&threads()?, tasks::own(), add);
            timers.cover(events.refused(), tasks::own());
            self.sampling.samples().drain(|sample| self.tally.add(sample, |_| 1));
            names.forget();
            covered = clock::now();
        }
        (self.has_kernel, self.refused, self.lost) = (true, timers.refused(), events.lost());
        drop(timers);
        events.drain(|KernelSample { tid, kernel, process }| {
            self.tally.add_with_kernel(names.words(tid), kernel, process);
        });
        self.sampling.samples().drain(|sample| self.tally.add(sample, |_| 1));
        Ok(())
    }

    fn by_timers(&mut self, is_given_up: impl Fn() -> bool) -> io::Result<()> {
        let mut timers = ThreadTimers::new(self.interval());
        while let Some(left) = self.left().filter(|_| !is_given_up()) {
            timers.cover(&threads()?, tasks::own());
            clock::sleep_thread(left.min(THREADS_INTERVAL));
            self.sampling.samples().drain(|sample| self.tally.add(sample, |_| 1));
        }
        self.refused = timers.refused();
        drop(timers);
        self.sampling.samples().drain(|sample| self.tally.add(sample, |_| 1));
        Ok(())
    }

    fn by_looking(&mut self, is_given_up: impl Fn() -> bool) -> io::Result<()> {
        // Threads that have not taken the sample they were asked for, and for how many rounds: nothing interrupts one that
        // waits for a disk.
        let mut late: HashMap<Tid, u64> = HashMap::new();
        let mut rounds = 0u32;
        while let Some(left) = self.left().filter(|_| !is_given_up()) {
            let round_begun = clock::now();
            self.look_at_all(&mut late)?;
            rounds += 1;
            let took = clock::since(round_begun);
            let pause = self.interval().saturating_sub(took).max(took * (LOOKING_SHARE - 1));
            clock::sleep_thread(pause.min(left));
            self.sampling.samples().drain(|sample| {
                self.tally.add(sample, |tid| late.remove(&tid).unwrap_or(1));
            });
        }
        self.hz = f64::from(rounds) / clock::since(self.begun).as_secs_f64().max(0.001);
        Ok(())
    }

    fn look_at_all(&mut self, late: &mut HashMap<Tid, u64>) -> io::Result<()> {
        let all = threads()?;
        late.retain(|tid, _| all.contains(tid));
        let own = tasks::own();
        for tid in all.into_iter().filter(|tid| *tid != own) {
            if let Some(rounds) = late.get_mut(&tid) {
                *rounds += 1;
                continue;
            }
            let Some(wait) = waits::look(tid) else { continue };
            let tag = self.tally.tag(wait);
            match waits::interrupt(tid, tag) {
                true => _ = late.insert(tid, 1),
                false => self.refused += 1,
            }
        }
        Ok(())
    }

    fn finish(self) -> io::Result<Recording> {
        let dropped = self.sampling.samples().take_dropped() + self.tally.dropped() + self.lost;
        let mut known = KNOWN.lock();
        let stacks = self.tally.named(known.get_or_insert_default());
        let path = std::env::current_exe().unwrap_or_default();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Recording {
            options: self.options,
            hz: self.hz,
            process: format!("{name} (process {})", std::process::id()),
            has_kernel: self.has_kernel,
            dropped,
            refused: self.refused,
            stacks,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    /// Threads that the kernel gives no event were not in the picture at all.
    #[test]
    fn threads_without_an_event_get_a_timer() {
        let sampling = Sampling::start().unwrap();
        let options = Options { duration: Duration::from_secs(60), ..Options::default() };
        let mut recorded = Recorded::new(options, &sampling);
        let (ends, cpu_ms) = (AtomicBool::new(false), AtomicU64::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !ends.load(Ordering::Relaxed) {
                    cpu_ms.store(own_cpu_ms(), Ordering::Relaxed);
                }
            });
            let has_worked = || cpu_ms.load(Ordering::Relaxed) > 300;
            recorded.by_events(ThreadEvents::refusing(), has_worked).unwrap();
            ends.store(true, Ordering::Relaxed);
        });
        assert_eq!(recorded.refused, 0);
        assert!(recorded.finish().unwrap().samples() > 0);
    }

    /// The processor time of the calling thread.
    fn own_cpu_ms() -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call writes the time.
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
        time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000
    }
}
