//! `bench profile-cost`: what a running profile costs the process that is recorded.
//!
//! Rounds with and without a recording follow each other on one cluster, so that what else changes on the machine
//! hits both alike.

use std::time::Duration;

use zerohop_bench::dfsio::{Test, Work, clean, run_test};
use zerohop_conf::parse_size;

use super::cluster;
use crate::failure::{Failure, Outcome, complain};
use crate::fs::connect_client;
use crate::observe::target::{Target, fetch};
use crate::settings::Settings;

pub const USAGE: &str = "Usage: zerohop bench profile-cost [--rounds 8] [--size 256m] [--files 2] [--hz 99]
Writes and reads files on a cluster of its own, in rounds with and without a recording of it, and prints the medians.";

const BASE: &str = "/benchmarks/profile-cost";
const BUFFER_LEN: usize = 1 << 20;

struct Options {
    rounds: usize,
    size: u64,
    files: usize,
    hz: u32,
    /// The process of the cluster; None starts one.
    cluster: Option<u32>,
}

pub fn run(settings: &Settings, words: &[String]) -> i32 {
    if words.iter().any(|word| matches!(word.as_str(), "-h" | "--help" | "-help")) {
        sayln!("{USAGE}");
        return 0;
    }
    let done = parse(words).and_then(|options| match options.cluster {
        None => cluster::run_on_own(settings, 1, "bench profile-cost", words),
        Some(pid) => measure(settings, &options, pid),
    });
    done.unwrap_or_else(|failure| complain("bench", &failure))
}

fn parse(words: &[String]) -> Outcome<Options> {
    let mut options = Options { rounds: 8, size: 256 << 20, files: 2, hz: 99, cluster: None };
    for pair in words.chunks(2) {
        let [name, value] = pair else {
            return Err(Failure::usage(format!("{} lacks its value\n{USAGE}", pair.concat())));
        };
        let wrong = || Failure::usage(format!("{name} {value}\n{USAGE}"));
        let number = || value.parse().ok().filter(|number| *number > 0).ok_or_else(wrong);
        match name.as_str() {
            "--rounds" => options.rounds = number()?,
            "--files" => options.files = number()?,
            "--hz" => options.hz = value.parse().map_err(|_| wrong())?,
            "--size" => {
                let size = parse_size(value).and_then(|size| u64::try_from(size).ok());
                options.size = size.ok_or_else(wrong)?;
            }
            "--watch" => {
                let pid = value.strip_prefix("cluster=").and_then(|pid| pid.parse().ok());
                options.cluster = Some(pid.ok_or_else(wrong)?);
            }
            _ => return Err(wrong()),
        }
    }
    Ok(options)
}

fn measure(settings: &Settings, options: &Options, pid: u32) -> Outcome<i32> {
    let fs = connect_client(&settings.load()?)?;
    let address = Target::of_process(pid).address("/profile")?;
    let work = Work {
        fs,
        base: BASE.to_owned(),
        files: options.files,
        size: options.size,
        buffer_len: BUFFER_LEN,
        skip_len: 0,
        storage_policy: None,
        verify: true,
        in_turn: false,
    };
    for test in [Test::Write, Test::Read] {
        // The first round warms up.
        rate(test, &work)?;
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for _ in 0..options.rounds {
            without.push(rate(test, &work)?);
            let recording = Recording::start(&address, options.hz)?;
            with.push(rate(test, &work)?);
            drop(recording);
        }
        let (without, with) = (median(without), median(with));
        sayln!(
            "{test:?}: {without:.0} MB/s without, {with:.0} MB/s with a recording at {} Hz: {:.1} % less",
            options.hz,
            (1.0 - with / without) * 100.0
        );
    }
    clean(&work.fs, BASE).map_err(Failure::of)?;
    Ok(0)
}

fn rate(test: Test, work: &Work) -> Outcome<f64> {
    let (result, _) = run_test(test, work).map_err(Failure::of)?;
    Ok(result.bytes() as f64 / 1e6 / result.seconds.max(1e-9))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// A recording that goes on until this is dropped.
struct Recording {
    stop: std::sync::mpsc::Sender<()>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Recording {
    fn start(address: &str, hz: u32) -> Outcome<Self> {
        let (stop, stopped) = std::sync::mpsc::channel();
        let address = address.to_owned();
        let record = move || {
            while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                let path = format!("/profile?seconds=1&hz={hz}&format=collapsed");
                // One that is refused is asked for again.
                drop(fetch(&address, &path, Duration::from_secs(60)));
            }
        };
        let thread = std::thread::Builder::new().name("recording".to_owned()).spawn(record)?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // The thread may have ended.
        _ = self.stop.send(());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
