//! Local reads beside the raw calls on the same bytes, in turn: `cargo run --release --example local`
//! with HADOOP_CONF_DIR naming a cluster of this machine with short-circuit reads.
//!
//! The file is made if it is not there: 1 GiB in blocks of 128 MiB, and beside it a plain file of
//! the same bytes written in calls of 1 MiB. Every row is a median of the rounds; ratios are to the
//! raw row above. With the word `opens` behind it, only the costs of opening; with `ranges`, only
//! ranges next to each other.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::time::Instant;
use zerohop_client::blocking::{FileReader, FileSystem};
use zerohop_client::{CreateOptions, OpenOptions, Verify};
use zerohop_conf::Conf;

const LEN: u64 = 1 << 30;
const BUFFER: usize = 1 << 20;
const ROUNDS: usize = 7;
type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let fs = FileSystem::connect(&Conf::from_env()?, None)?;
    let plain = std::env::temp_dir().join("zerohop-local-plain");
    let bytes: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..)).take(BUFFER).collect();
    make(&fs, &bytes)?;
    let word = std::env::args().nth(1);
    if word.as_deref() == Some("opens") {
        return opens(&fs);
    }
    make_plain(&plain, &bytes)?;
    let plain = File::open(&plain)?;
    let full = fs.open("/local-bench")?;
    if word.as_deref() == Some("ranges") {
        return neighbours(&plain, &full);
    }
    let none = fs.open_with("/local-bench", OpenOptions::verifying(Verify::None))?;
    let once = fs.open_with("/local-bench", OpenOptions::verifying(Verify::Once))?;
    let mut first = fs.open("/local-bench")?;
    let start = Instant::now();
    sequential(&mut first)?;
    println!("first pass of this process: {:.0} MB/s", mb_s(LEN, start));

    println!("sequential, 1 MiB");
    let (mut a, mut b, mut c) = (full, none, once);
    in_turn(&mut [
        ("read(2), plain file", &mut || raw(&plain)),
        ("verified", &mut || timed(LEN, || sequential(&mut a))),
        ("unverified", &mut || timed(LEN, || sequential(&mut b))),
        ("verified once", &mut || timed(LEN, || sequential(&mut c))),
        ("zero-copy, verified", &mut || timed(LEN, || scan(&mut first))),
    ])?;
    for (len, count) in [(4096usize, 200_000u64), (65_536, 30_000)] {
        println!("random, {len} bytes, thousands a second");
        in_turn(&mut [
            ("pread(2), plain file", &mut || {
                per_second(count, || {
                    random(count, len, |at, out| Ok(plain.read_exact_at(out, at)?))
                })
            }),
            ("verified", &mut || {
                per_second(count, || random(count, len, |at, out| Ok(a.read_exact_at(at, out)?)))
            }),
            ("unverified", &mut || {
                per_second(count, || random(count, len, |at, out| Ok(b.read_exact_at(at, out)?)))
            }),
            ("verified once", &mut || {
                per_second(count, || random(count, len, |at, out| Ok(c.read_exact_at(at, out)?)))
            }),
            ("vectored by 100", &mut || per_second(count, || vectored(count, len, &a))),
        ])?;
        println!("the same, 4 threads");
        in_turn(&mut [
            ("pread(2), plain file", &mut || {
                threads(count, || random(count, len, |at, out| Ok(plain.read_exact_at(out, at)?)))
            }),
            ("verified", &mut || {
                threads(count, || random(count, len, |at, out| Ok(a.read_exact_at(at, out)?)))
            }),
        ])?;
    }
    neighbours(&plain, &a)?;
    latencies("pread(2)", |at, out| Ok(plain.read_exact_at(out, at)?))?;
    latencies("verified", |at, out| Ok(a.read_exact_at(at, out)?))?;
    opens(&fs)?;
    println!("{:?}", fs.read_statistics().ranges);
    Ok(())
}

fn make(fs: &FileSystem, bytes: &[u8]) -> Result<(), Failure> {
    if fs.open("/local-bench").is_err() {
        let options = CreateOptions::overwriting().replication(1).block_size(128 << 20);
        let mut writer = fs.create("/local-bench", options)?;
        (0..LEN / BUFFER as u64).try_for_each(|_| writer.write_data(bytes))?;
        writer.close()?;
    }
    Ok(())
}

fn make_plain(plain: &std::path::Path, bytes: &[u8]) -> Result<(), Failure> {
    let file = File::create(plain)?;
    for at in 0..LEN / BUFFER as u64 {
        file.write_all_at(bytes, at * BUFFER as u64)?;
    }
    Ok(())
}

fn mb_s(bytes: u64, start: Instant) -> f64 {
    bytes as f64 / start.elapsed().as_secs_f64() / 1e6
}

fn timed(bytes: u64, work: impl FnOnce() -> Result<(), Failure>) -> Result<f64, Failure> {
    let start = Instant::now();
    work()?;
    Ok(mb_s(bytes, start))
}

fn per_second(count: u64, work: impl FnOnce() -> Result<(), Failure>) -> Result<f64, Failure> {
    let start = Instant::now();
    work()?;
    Ok(count as f64 / start.elapsed().as_secs_f64() / 1e3)
}

fn threads(count: u64, work: impl Fn() -> Result<(), Failure> + Sync) -> Result<f64, Failure> {
    let start = Instant::now();
    std::thread::scope(|scope| {
        let all: Vec<_> =
            (0..4).map(|_| scope.spawn(|| work().map_err(|e| e.to_string()))).collect();
        all.into_iter().try_for_each(|t| t.join().map_err(|_| "panicked".to_owned())?)
    })?;
    Ok(4.0 * count as f64 / start.elapsed().as_secs_f64() / 1e3)
}

type Row<'a> = (&'a str, &'a mut dyn FnMut() -> Result<f64, Failure>);

/// All rows take turns; medians, and ratios to the first.
fn in_turn(rows: &mut [Row<'_>]) -> Result<(), Failure> {
    let mut found = vec![Vec::new(); rows.len()];
    for _ in 0..ROUNDS {
        for (row, found) in rows.iter_mut().zip(&mut found) {
            found.push((row.1)()?);
        }
    }
    let median = |all: &mut Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let medians: Vec<f64> = found.iter_mut().map(median).collect();
    for (row, median) in rows.iter().zip(&medians) {
        println!("  {:22} {median:9.0}  {:.2}", row.0, median / medians[0]);
    }
    Ok(())
}

fn raw(file: &File) -> Result<f64, Failure> {
    let mut buffer = vec![1; BUFFER];
    timed(LEN, || {
        for at in 0..LEN / BUFFER as u64 {
            file.read_exact_at(&mut buffer, at * BUFFER as u64)?;
        }
        black_box(&buffer);
        Ok(())
    })
}

fn sequential(reader: &mut FileReader) -> Result<(), Failure> {
    let mut buffer = vec![1; BUFFER];
    reader.seek_to(0)?;
    while reader.read_some(&mut buffer)? > 0 {
        black_box(&buffer);
    }
    Ok(())
}

fn scan(reader: &mut FileReader) -> Result<(), Failure> {
    reader.seek_to(0)?;
    loop {
        let read = reader.read_zero_copy(BUFFER)?;
        if read.is_empty() {
            return Ok(());
        }
        assert!(read.is_mapped());
        black_box(read.bytes());
    }
}

fn random(
    count: u64,
    len: usize,
    mut read: impl FnMut(u64, &mut [u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut buffer = vec![0; len];
    for _ in 0..count {
        read(fastrand::u64(..LEN / len as u64) * len as u64, &mut buffer)?;
        black_box(&buffer);
    }
    Ok(())
}

fn vectored(count: u64, len: usize, reader: &FileReader) -> Result<(), Failure> {
    let mut buffers = vec![0; len * 100];
    for _ in 0..count / 100 {
        let mut ranges: Vec<(u64, &mut [u8])> = buffers
            .chunks_mut(len)
            .map(|buffer| (fastrand::u64(..LEN / len as u64) * len as u64, buffer))
            .collect();
        reader.read_ranges(&mut ranges)?;
        black_box(&ranges);
    }
    Ok(())
}

/// Ranges that share chunks or touch.
fn neighbours(plain: &File, reader: &FileReader) -> Result<(), Failure> {
    for (len, step) in [(300, 300), (300, 150), (4096, 4096), (4096, 2048)] {
        println!("100 ranges of {len} bytes, the next {step} further on, thousands a second");
        let count = 100_000;
        in_turn(&mut [
            ("pread(2), plain file", &mut || {
                per_second(count, || {
                    near(count, len, step, |ranges| {
                        let mut each = ranges.iter_mut();
                        each.try_for_each(|(at, out)| Ok(plain.read_exact_at(out, *at)?))
                    })
                })
            }),
            ("verified, one by one", &mut || {
                per_second(count, || {
                    near(count, len, step, |ranges| {
                        let mut each = ranges.iter_mut();
                        each.try_for_each(|(at, out)| Ok(reader.read_exact_at(*at, out)?))
                    })
                })
            }),
            ("verified, in one call", &mut || {
                per_second(count, || {
                    near(count, len, step, |ranges| Ok(reader.read_ranges(ranges)?))
                })
            }),
        ])?;
    }
    Ok(())
}

/// A hundred ranges a call, each `step` behind the one before.
fn near(
    count: u64,
    len: usize,
    step: usize,
    mut read: impl FnMut(&mut [(u64, &mut [u8])]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut buffers = vec![0; len * 100];
    for _ in 0..count / 100 {
        let start = fastrand::u64(..LEN - (100 * len) as u64) / 4096 * 4096;
        let place = |at: usize| start + (at * step) as u64;
        let buffers = buffers.chunks_mut(len).enumerate();
        let mut ranges: Vec<(u64, &mut [u8])> = buffers.map(|(at, out)| (place(at), out)).collect();
        read(&mut ranges)?;
        black_box(&ranges);
    }
    Ok(())
}

fn latencies(
    name: &str,
    mut read: impl FnMut(u64, &mut [u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut nanos = Vec::new();
    let mut buffer = vec![0; 4096];
    for _ in 0..200_000 {
        let at = fastrand::u64(..LEN / 4096) * 4096;
        let start = Instant::now();
        read(at, &mut buffer)?;
        nanos.push(start.elapsed().as_nanos());
    }
    nanos.sort_unstable();
    println!("4 KiB {name}: p50 {} ns, p99 {} ns", nanos[100_000], nanos[198_000]);
    Ok(())
}

/// Opening and the first 4 KiB, of a replica that is known and of one that is not, beside the
/// NameNode's round trip.
fn opens(fs: &FileSystem) -> Result<(), Failure> {
    let mut micros: [Vec<u128>; 5] = Default::default();
    let mut buffer = vec![0; 4096];
    // A client that closes replicas as soon as their last reader is gone.
    let mut conf = Conf::from_env()?;
    conf.set("dfs.client.read.shortcircuit.streams.cache.size", "0");
    let forgetful = FileSystem::connect(&conf, None)?;
    forgetful.open("/local-bench")?.read_exact_at(0, &mut buffer)?;
    for round in 0..500 {
        let start = Instant::now();
        fs.block_locations("/local-bench", 0, LEN)?;
        micros[0].push(start.elapsed().as_nanos());
        let start = Instant::now();
        fs.open("/local-bench")?.read_exact_at(0, &mut buffer)?;
        micros[1].push(start.elapsed().as_nanos());
        let start = Instant::now();
        let reader = forgetful.open("/local-bench")?;
        let opened = start.elapsed();
        reader.read_exact_at((round % 8) << 27, &mut buffer)?;
        micros[2].push(start.elapsed().as_nanos());
        micros[4].push((start.elapsed() - opened).as_nanos());
        drop(reader);
        if round % 10 == 0 {
            let fresh = FileSystem::connect(&Conf::from_env()?, None)?;
            fresh.block_locations("/local-bench", 0, LEN)?;
            // A segment of slots and a first connection.
            fresh.open("/local-bench")?.read_exact_at(0, &mut buffer)?;
            let start = Instant::now();
            fresh.open("/local-bench")?.read_exact_at(200 << 20, &mut buffer)?;
            micros[3].push(start.elapsed().as_nanos());
        }
    }
    let names = [
        "block locations",
        "open + 4 KiB, known",
        "open + 4 KiB, not known",
        "open + 4 KiB, not known, by a client just made",
        "4 KiB of a replica that is not known, alone",
    ];
    for (name, micros) in names.iter().zip(&mut micros) {
        micros.sort_unstable();
        println!("{name}: {} us", micros[micros.len() / 2] / 1000);
    }
    Ok(())
}
