//! Clients of ours that make directories as fast as they can, or at a rate, and when each was made.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use zerohop_interop::harm::{Explain, client, put, shape};
use zerohop_interop::pair::LIMIT;
use zerohop_interop::{Outcome, wait};

/// When an operation began and ended.
type Times = (Instant, Instant);

#[derive(Default)]
struct Shared {
    times: Mutex<Vec<Times>>,
    failed: AtomicU64,
    ends: AtomicBool,
}

impl Shared {
    fn times(&self) -> Vec<Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Makes so many empty files, by enough clients that edits are synced in batches.
pub fn fill(conf: &Path, count: usize) -> Outcome {
    const CLIENTS: usize = 32;
    std::thread::scope(|scope| {
        let fills = |number: usize| {
            scope.spawn(move || -> Outcome {
                let fs = client(conf, &[])?;
                (0..count.div_ceil(CLIENTS)).try_for_each(|made| {
                    let path = format!("/filled/{number}/{}/{made}", made / 1000);
                    put(&fs, &path, 0, 0, shape(1, 1 << 20))
                })
            })
        };
        let running: Vec<_> = (0..CLIENTS).map(fills).collect();
        let mut ended = running.into_iter().map(|client| client.join());
        ended.try_for_each(|end| end.map_err(|_| "a client panicked".to_owned())?)
    })
}

/// Running clients.
pub struct Load {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    /// Clients that begin the next operation when the last one has ended.
    pub fn start(conf: &Path, clients: usize) -> Outcome<Self> {
        Self::start_paced(conf, clients, Duration::ZERO)
    }

    /// Clients that begin an operation after each interval, or as soon as the last one has ended where that is later.
    pub fn start_paced(conf: &Path, clients: usize, interval: Duration) -> Outcome<Self> {
        static LOADS: AtomicU64 = AtomicU64::new(0);
        let load = LOADS.fetch_add(1, Ordering::Relaxed);
        let shared = Arc::<Shared>::default();
        let mut threads = Vec::new();
        for number in 0..clients {
            let fs = client(conf, &[])?;
            let directory = format!("/load{load}-{number}");
            fs.mkdirs(&directory).at(&directory)?;
            let shared = Arc::clone(&shared);
            threads.push(std::thread::spawn(move || {
                let mut made = 0;
                let start = Instant::now();
                while !shared.ends.load(Ordering::Relaxed) {
                    std::thread::sleep((interval * made).saturating_sub(start.elapsed()));
                    let begun = Instant::now();
                    match fs.mkdirs(&format!("{directory}/{made}")) {
                        Ok(_) => {
                            let mut times =
                                shared.times.lock().unwrap_or_else(PoisonError::into_inner);
                            times.push((begun, Instant::now()));
                        }
                        Err(error) => {
                            eprintln!("an operation failed: {error}");
                            shared.failed.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    made += 1;
                }
            }));
        }
        Ok(Self { shared, threads })
    }

    /// Waits until so many operations are done.
    pub fn until(&self, count: usize) -> Outcome {
        wait::until("the load runs", LIMIT, || Ok(self.shared.times().len() >= count))
    }

    /// Waits until some operations are done that began after a moment.
    pub fn until_after(&self, moment: Instant) -> Outcome {
        wait::until("the load goes on", LIMIT, || {
            let times = self.shared.times();
            Ok(times.iter().filter(|(begun, _)| *begun > moment).count() >= 50)
        })
    }

    pub fn stop(self) -> Outcome<Done> {
        self.shared.ends.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().map_err(|_| "a client panicked".to_owned())?;
        }
        let mut times = self.shared.times();
        times.sort_by_key(|(_, ended)| *ended);
        Ok(Done { times, failed: self.shared.failed.load(Ordering::Relaxed) })
    }
}

/// What the clients did.
pub struct Done {
    times: Vec<Times>,
    pub failed: u64,
}

impl Done {
    /// From a moment to the first operation behind the longest time without one: operations that were answered just before the
    /// NameNode was hit do not count.
    pub fn end_of_gap(&self, moment: Instant) -> Duration {
        let ends: Vec<Instant> =
            self.times.iter().map(|(_, ended)| *ended).filter(|ended| *ended > moment).collect();
        let mut longest = (Duration::ZERO, Duration::ZERO);
        let mut before = moment;
        for ended in ends {
            longest = longest.max((ended - before, ended - moment));
            before = ended;
        }
        longest.1
    }

    /// The longest time between two operations that ended one after the other.
    pub fn longest_gap(&self) -> Duration {
        let gaps = self.times.windows(2).map(|pair| pair[1].1 - pair[0].1);
        gaps.max().unwrap_or_default()
    }

    /// Operations that were answered.
    pub fn count(&self) -> usize {
        self.times.len()
    }

    /// Operations that ended after a moment.
    pub fn count_after(&self, moment: Instant) -> usize {
        self.times.iter().filter(|(_, ended)| *ended > moment).count()
    }
}
