//! The loops that read: the same ones for the cluster's files and for plain ones.

use super::cell::{Cell, Op, RANGES};
use super::source::{Reader, Source};
use crate::dfsio::result::Task;
use crate::files::Failure;
use crate::measure::{Latencies, Percentiles};
use std::sync::Barrier;
use std::time::{Duration, Instant};
use zerohop_client::ReadStatistics;

/// How often the clock is looked at in a loop of short calls.
const CALLS_PER_LOOK: usize = 16;
/// Random places chosen beforehand by each thread.
const PLACES: usize = 1 << 14;

/// What readers did together.
#[derive(Clone, Debug, Default)]
pub struct ReadRun {
    /// Seconds from the first start to the last end; the files were open before.
    pub seconds: f64,
    /// What each of them did.
    pub tasks: Vec<Task>,
    /// Their calls.
    pub calls: u64,
    /// How the bytes were read.
    pub read: Vec<ReadStatistics>,
}

impl ReadRun {
    /// Bytes of all readers.
    pub fn bytes(&self) -> u64 {
        self.tasks.iter().map(|task| task.bytes).sum()
    }

    /// Megabytes (10^6 bytes) a second of all readers together.
    pub fn mb_per_s(&self) -> f64 {
        self.bytes() as f64 / 1e6 / self.seconds
    }

    /// Calls a second of all readers together.
    pub fn calls_per_s(&self) -> f64 {
        self.calls as f64 / self.seconds
    }
}

/// How long the readers read.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// Bytes of each file.
    pub file_len: u64,
    /// Files; reader n reads file n, again from 0 after the last.
    pub files: usize,
    /// How long random reads go on.
    pub time: Duration,
}

/// Reads as the cell says.
pub fn run_readers(source: &dyn Source, cell: &Cell, amount: Amount) -> Result<ReadRun, Failure> {
    let barrier = Barrier::new(cell.threads);
    let one = |number: usize| -> Result<_, Failure> {
        let opened = source.open(number % amount.files);
        let mut buffer = vec![1; cell.size];
        let places = places(cell, amount, number);
        // A thread that cannot open its file must not leave the others waiting.
        barrier.wait();
        let mut reader = opened?;
        let start = Instant::now();
        let (bytes, calls) = match cell.op {
            Op::Read => to_the_end(&mut *reader, &mut buffer, amount.file_len)?,
            Op::Scan => zero_copy_to_the_end(&mut *reader, &mut buffer, cell, amount.file_len)?,
            Op::VectoredRead => ranges(&mut *reader, cell.size, &places, start + amount.time)?,
            Op::RandomRead => anywhere(&mut *reader, &mut buffer, &places, start + amount.time)?,
        };
        let end = Instant::now();
        let task = Task { bytes, seconds: (end - start).as_secs_f64() };
        Ok((task, calls, start, end, reader.statistics()))
    };
    let done: Result<Vec<_>, Failure> = std::thread::scope(|scope| {
        let one = &one;
        let running: Vec<_> =
            (0..cell.threads).map(|number| scope.spawn(move || one(number))).collect();
        running.into_iter().map(|one| one.join().map_err(|_| "a thread died")?).collect()
    });
    let done = done?;
    let start = done.iter().map(|(_, _, start, _, _)| *start).min();
    let end = done.iter().map(|(_, _, _, end, _)| *end).max();
    let seconds = start.zip(end).map_or(0.0, |(start, end)| (end - start).as_secs_f64());
    let mut run = ReadRun { seconds, ..ReadRun::default() };
    for (task, calls, _, _, read) in done {
        run.tasks.push(task);
        run.calls += calls;
        run.read.push(read);
    }
    Ok(run)
}

fn places(cell: &Cell, amount: Amount, seed: usize) -> Vec<u64> {
    if cell.op.is_sequential() {
        return Vec::new();
    }
    let slots = (amount.file_len / cell.size as u64).max(1);
    let mut random = fastrand::Rng::with_seed(seed as u64 + 1);
    (0..PLACES).map(|_| random.u64(..slots) * cell.size as u64).collect()
}

fn to_the_end(reader: &mut dyn Reader, buffer: &mut [u8], len: u64) -> Result<(u64, u64), Failure> {
    until_end(len, || reader.read(buffer))
}

fn zero_copy_to_the_end(
    reader: &mut dyn Reader,
    buffer: &mut [u8],
    cell: &Cell,
    len: u64,
) -> Result<(u64, u64), Failure> {
    until_end(len, || reader.read_zero_copy(buffer, !cell.verified))
}

fn until_end(
    len: u64,
    mut next: impl FnMut() -> Result<usize, Failure>,
) -> Result<(u64, u64), Failure> {
    let (mut total, mut calls) = (0, 0);
    loop {
        match next()? {
            0 if total == len => return Ok((total, calls)),
            0 => return Err(format!("the file ended after {total} of {len} bytes").into()),
            read => total += read as u64,
        }
        calls += 1;
    }
}

/// Each range counts as a call.
fn ranges(
    reader: &mut dyn Reader,
    size: usize,
    places: &[u64],
    deadline: Instant,
) -> Result<(u64, u64), Failure> {
    let mut buffers = vec![vec![1; size]; RANGES];
    let mut calls = 0;
    for some in places.chunks_exact(RANGES).cycle() {
        let mut wanted: Vec<(u64, &mut [u8])> =
            some.iter().copied().zip(buffers.iter_mut().map(Vec::as_mut_slice)).collect();
        reader.read_ranges(&mut wanted)?;
        calls += some.len() as u64;
        if Instant::now() >= deadline {
            break;
        }
    }
    Ok((calls * size as u64, calls))
}

fn anywhere(
    reader: &mut dyn Reader,
    buffer: &mut [u8],
    places: &[u64],
    deadline: Instant,
) -> Result<(u64, u64), Failure> {
    let mut calls = 0;
    for some in places.chunks(CALLS_PER_LOOK).cycle() {
        for place in some {
            reader.read_at(*place, buffer)?;
        }
        calls += some.len() as u64;
        if Instant::now() >= deadline {
            break;
        }
    }
    Ok((calls * buffer.len() as u64, calls))
}

/// The times of single calls, in a pass of its own: looking at the clock costs as much as a tenth of
/// the shortest of them.
pub fn latencies(
    source: &dyn Source,
    cell: &Cell,
    amount: Amount,
    all: &mut Latencies,
) -> Result<(), Failure> {
    let one = |number: usize| -> Result<Latencies, Failure> {
        let mut reader = source.open(number % amount.files)?;
        let mut buffer = vec![1; cell.size];
        let places = places(cell, amount, number);
        let deadline = Instant::now() + amount.time;
        let mut own = Latencies::default();
        for place in places.iter().cycle() {
            let start = Instant::now();
            reader.read_at(*place, &mut buffer)?;
            let end = Instant::now();
            own.add(end - start);
            if end >= deadline {
                break;
            }
        }
        Ok(own)
    };
    let done: Result<Vec<Latencies>, Failure> = std::thread::scope(|scope| {
        let one = &one;
        let running: Vec<_> =
            (0..cell.threads).map(|number| scope.spawn(move || one(number))).collect();
        running.into_iter().map(|one| one.join().map_err(|_| "a thread died")?).collect()
    });
    done?.iter().for_each(|one| all.merge(one));
    Ok(())
}

/// The percentiles, if there was anything.
pub fn percentiles(all: &Latencies) -> Option<Percentiles> {
    (all.count() > 0).then(|| all.percentiles())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dfsio::matrix::ReadMode;
    use crate::dfsio::matrix::source::Plain;
    use crate::raw::Scratch;

    fn plain(files: usize, len: u64) -> Plain {
        let directory = std::env::temp_dir();
        Plain((0..files).map(|_| Scratch::create(&directory, len).unwrap()).collect())
    }

    fn cell(op: Op, size: usize, threads: usize) -> Cell {
        Cell { op, mode: ReadMode::Tcp, verified: true, is_dropped: false, size, threads }
    }

    #[test]
    fn readers_read_each_file_whole() {
        let source = plain(2, 3_000_000);
        let amount = Amount { file_len: 3_000_000, files: 2, time: Duration::ZERO };
        let run = run_readers(&source, &cell(Op::Read, 1 << 20, 2), amount).unwrap();
        assert_eq!((run.bytes(), run.calls), (6_000_000, 6));
        assert!(run.seconds > 0.0 && run.mb_per_s() > 0.0);
    }

    #[test]
    fn a_short_file_is_an_error() {
        let source = plain(1, 1000);
        let amount = Amount { file_len: 2000, files: 1, time: Duration::ZERO };
        let error = run_readers(&source, &cell(Op::Read, 4096, 1), amount).unwrap_err();
        assert!(error.to_string().contains("1000 of 2000"), "{error}");
    }

    #[test]
    fn ranges_count_each() {
        let source = plain(1, 1 << 20);
        let amount = Amount { file_len: 1 << 20, files: 1, time: Duration::from_millis(2) };
        let run = run_readers(&source, &cell(Op::VectoredRead, 4096, 1), amount).unwrap();
        assert!(run.calls.is_multiple_of(RANGES as u64) && run.bytes() == run.calls * 4096);
    }

    #[test]
    fn random_reads_are_whole_calls() {
        let source = plain(1, 1 << 20);
        let amount = Amount { file_len: 1 << 20, files: 1, time: Duration::from_millis(2) };
        let cell = cell(Op::RandomRead, 4096, 2);
        let run = run_readers(&source, &cell, amount).unwrap();
        assert!(run.calls > 0 && run.bytes() == run.calls * 4096);
        let mut all = Latencies::default();
        latencies(&source, &cell, amount, &mut all).unwrap();
        assert!(percentiles(&all).is_some_and(|times| times.p50_us <= times.p99_us));
    }
}
