//! Continuous appends by several writers.

use super::plan::RestPlan;
use super::service::{Client, SHORT, Upload};
use crate::GB;
use crate::files::{Failure, repeat};
use crate::measure::Latencies;
use crate::memory::ready_to_write;
use crate::report::Row;
use std::time::{Duration, Instant};

/// Bytes of a chunk of the published experiment.
const CHUNK_LEN: usize = 10_000_000;
/// Bytes of a line.
const LINE_LEN: usize = 4096;
/// A writer that failed so often gives up.
const FAILURES_MAX: u64 = 1000;
/// What a run of appends may be expected to write, so that memory can be made ready for it.
const WRITTEN: u64 = 2 << 30;

/// Chunks of 10 MB by one, two and three writers, each with a file of its own.
pub(super) fn chunks(plan: &RestPlan, add: &mut dyn FnMut(Row)) -> Result<(), Failure> {
    for writers in 1..=3 {
        add(Appends { plan, writers, len: CHUNK_LEN, shares: false }.row("10 MB")?);
    }
    Ok(())
}

/// Lines of 4 KiB by one writer, by several, and by several to one file.
pub(super) fn lines(plan: &RestPlan, add: &mut dyn FnMut(Row)) -> Result<(), Failure> {
    for (writers, shares) in [(1, false), (plan.writers, false), (plan.writers, true)] {
        add(Appends { plan, writers, len: LINE_LEN, shares }.row("4 KiB")?);
    }
    Ok(())
}

struct Appends<'a> {
    plan: &'a RestPlan,
    writers: usize,
    len: usize,
    /// All writers append to one file.
    shares: bool,
}

/// What writers did.
#[derive(Default)]
struct Done {
    latencies: Latencies,
    failures: u64,
}

impl Appends<'_> {
    fn row(&self, what: &str) -> Result<Row, Failure> {
        let writers =
            if self.writers == 1 { "1 writer" } else { &format!("{} writers", self.writers) };
        let file = if self.shares { ", one file" } else { "" };
        let name = format!("append of {what}, {writers}{file}");
        let mut all = Done::default();
        let (unit, cost) = match self.len {
            LINE_LEN => ("ops/s", "us/op"),
            _ => ("MB/s", "s/GB"),
        };
        let plan = self.plan;
        let prepare = || match self.len {
            LINE_LEN => Ok(()),
            _ => ready_to_write(WRITTEN, 1),
        };
        let row = repeat(name, unit, (plan.runs, cost), &plan.watched, prepare, |run| {
            let (took, done) = self.run(run)?;
            let count = done.latencies.count() as f64;
            all.latencies.merge(&done.latencies);
            all.failures += done.failures;
            Ok(match self.len {
                LINE_LEN => (count / took.as_secs_f64(), count / 1e6),
                len => {
                    let bytes = count * len as f64;
                    (bytes / 1e6 / took.as_secs_f64(), bytes / GB)
                }
            })
        })?;
        Ok(Row { latency: Some(all.latencies.percentiles()), ..row.failed(all.failures) })
    }

    /// Appends for the plan's time; each writer ends with the append that it is in.
    fn run(&self, run: usize) -> Result<(Duration, Done), Failure> {
        let service = &self.plan.service;
        let path = |writer: usize| {
            let file = if self.shares { 0 } else { writer };
            self.plan.path(&format!("append-{}-{}-{run}-{file}", self.len, self.writers))
        };
        let files = if self.shares { 1 } else { self.writers };
        let mut client = service.client(SHORT);
        for file in 0..files {
            client.create(&path(file), Upload::Bytes(b""))?;
        }
        let bytes = vec![b'z'; self.len];
        let start = Instant::now();
        let done: Vec<Done> = std::thread::scope(|scope| {
            let bytes = &bytes;
            let begin = |writer: usize| {
                let (path, end) = (path(writer), start + self.plan.time);
                scope.spawn(move || append_until(end, service.client(SHORT), &path, bytes))
            };
            let running: Vec<_> = (0..self.writers).map(begin).collect();
            running
                .into_iter()
                .map(|one| one.join().map_err(|_| "a thread died".into()))
                .collect::<Result<_, Failure>>()
        })?;
        let took = start.elapsed();
        self.check(&mut client, &path, &done)?;
        let mut all = Done::default();
        for one in done {
            all.latencies.merge(&one.latencies);
            all.failures += one.failures;
        }
        Ok((took, all))
    }

    /// All that was acknowledged is there; then the files are deleted.
    fn check(
        &self,
        client: &mut Client<'_>,
        path: &dyn Fn(usize) -> String,
        done: &[Done],
    ) -> Result<(), Failure> {
        let bytes = |done: &Done| done.latencies.count() * self.len as u64;
        let expected: Vec<u64> = match self.shares {
            true => vec![done.iter().map(bytes).sum()],
            false => done.iter().map(bytes).collect(),
        };
        for (file, expected) in expected.into_iter().enumerate() {
            let (path, len) = (path(file), client.len(&path(file))?);
            // An append that failed may have left a beginning.
            if len < expected {
                return Err(
                    format!("{path} has {len} bytes, and {expected} were acknowledged").into()
                );
            }
            client.delete(&path)?;
        }
        Ok(())
    }
}

fn append_until(end: Instant, mut client: Client<'_>, path: &str, bytes: &[u8]) -> Done {
    let mut done = Done::default();
    while Instant::now() < end && done.failures < FAILURES_MAX {
        let start = Instant::now();
        match client.append(path, Upload::Bytes(bytes)) {
            Ok(()) => done.latencies.add(start.elapsed()),
            Err(_) => done.failures += 1,
        }
    }
    done
}
