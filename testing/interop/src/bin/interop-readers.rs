//! Many readers in one process: `interop-readers CONF PATH SEED LEN READERS SECONDS`.
//!
//! Each opens PATH, reads ranges of it and compares them, again and again. After a quarter of the
//! time more than SECONDS it prints `before KIB DESCRIPTORS`, at the end `after KIB DESCRIPTORS` and
//! `read TOTAL LOCAL MISSES`: resident memory and open descriptors of this process, bytes read,
//! those of them read locally, replicas asked for.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use std::time::{Duration, Instant};

use zerohop_client::blocking::FileSystem;
use zerohop_interop::harm::{Explain, client, footprint};
use zerohop_interop::{Outcome, content};

/// Longest range.
const RANGE_MAX: usize = 70_000;
/// Ranges between two opens.
const RANGES: usize = 20;
/// A reader's rest behind them: the readers are to be many, not to take the machine from the tests
/// that run beside this one.
const REST: Duration = Duration::from_millis(20);

struct Work {
    fs: FileSystem,
    path: String,
    seed: u64,
    len: u64,
    readers: usize,
}

fn main() {
    if let Err(error) = run() {
        eprintln!("interop-readers: {error}");
        std::process::exit(1);
    }
}

fn run() -> Outcome {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [conf, path, numbers @ ..] = args.as_slice() else { return Err("usage".to_owned()) };
    let numbers: Result<Vec<u64>, _> = numbers.iter().map(|n| n.parse()).collect();
    let &[seed, len, readers, seconds] = numbers.at("a number")?.as_slice() else {
        return Err("usage".to_owned());
    };
    let fs = client(conf.as_ref(), &[])?;
    let work = Work { fs, path: path.clone(), seed, len, readers: readers as usize };
    work.run(Duration::from_secs(seconds) / 4)?;
    print("before")?;
    work.run(Duration::from_secs(seconds))?;
    print("after")?;
    let read = work.fs.read_statistics();
    println!("read {} {} {}", read.total(), read.local_bytes(), read.cache_misses);
    Ok(())
}

fn print(when: &str) -> Outcome {
    let (kib, descriptors) = footprint(std::process::id())?;
    println!("{when} {kib} {descriptors}");
    Ok(())
}

impl Work {
    fn run(&self, time: Duration) -> Outcome {
        let end = Instant::now() + time;
        let reader = || {
            while Instant::now() < end {
                self.round()?;
                std::thread::sleep(REST);
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.readers).map(|_| scope.spawn(reader)).collect();
            let ended = threads.into_iter().map(|t| t.join().map_err(|_| "a reader died")?);
            ended.collect()
        })
    }

    fn round(&self) -> Outcome {
        let reader = self.fs.open(&self.path).at(&self.path)?;
        for _ in 0..RANGES {
            let mut out = vec![0; fastrand::usize(1..RANGE_MAX)];
            let at = fastrand::u64(..self.len - out.len() as u64);
            reader.read_exact_at(at, &mut out).at(&self.path)?;
            let mut want = vec![0; out.len()];
            content::fill(self.seed, at, &mut want);
            if out != want {
                return Err(format!("{}: wrong bytes at {at}", self.path));
            }
        }
        Ok(())
    }
}
