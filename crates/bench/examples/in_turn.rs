//! The raw limits, reads and writes in turn, so that all of them see the same machine:
//! `cargo run --release --example in_turn hdfs://HOST:PORT ROUNDS MIB PID WHAT...`
//!
//! PID is the servers' process; WHAT is any of `write`, `sendfile` (raw loopback, 512 KiB a call) and
//! `file` (a file written in calls of 1 MiB), `r1` and `r2` (readers), `w1` and `w3` (replicas). The
//! first one named is what the others are compared with.
//!
//! Before a file is written the memory for it is made warm (`zerohop_bench::memory`).
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use std::io::{Read, Write};
use std::time::Instant;
use zerohop_bench::files::Failure;
use zerohop_bench::memory;
use zerohop_bench::process::CpuMeter;
use zerohop_bench::raw;
use zerohop_bench::{WatchedProcess, median};
use zerohop_client::CreateOptions;
use zerohop_client::blocking::FileSystem;
use zerohop_conf::Conf;

const BUFFER: usize = 1 << 20;

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [uri, rounds, mib, pid, what @ ..] = words.as_slice() else {
        return Err("URI ROUNDS MIB PID WHAT...".into());
    };
    let fs = FileSystem::connect(&Conf::from_env()?, Some(uri))?;
    let (rounds, len) = (rounds.parse::<usize>()?, mib.parse::<u64>()? << 20);
    let watched = [WatchedProcess::this("client"), WatchedProcess::new("servers", pid.parse()?)];
    let source = raw::Scratch::create(&std::env::temp_dir(), len)?;
    for n in 0..2 {
        write(&fs, &format!("/in-turn-{n}"), len, 1)?;
    }
    let mut runs = vec![Vec::new(); what.len()];
    for _ in 0..rounds {
        for (what, runs) in what.iter().zip(&mut runs) {
            runs.push(measure(&fs, &source, what, &watched)?);
        }
    }
    let mut limit = None;
    for (what, runs) in what.iter().zip(&runs) {
        let of = |pick: fn(&Run) -> f64| median(&runs.iter().map(pick).collect::<Vec<_>>());
        let run =
            Run { speed: of(|r| r.speed), client: of(|r| r.client), servers: of(|r| r.servers) };
        let limit = limit.get_or_insert(run);
        println!(
            "{what:8} {:6.0} MB/s, {:.2} of the limit; client {:.3}, servers {:.3} s/GB, {:.2} of the limit",
            run.speed,
            run.speed / limit.speed,
            run.client,
            run.servers,
            (run.client + run.servers) / limit.client
        );
    }
    Ok(())
}

/// MB/s, and CPU seconds for a gigabyte.
#[derive(Clone, Copy)]
struct Run {
    speed: f64,
    client: f64,
    servers: f64,
}

fn measure(
    fs: &FileSystem,
    source: &raw::Scratch,
    what: &str,
    watched: &[WatchedProcess],
) -> Result<Run, Failure> {
    let len = source.len;
    let replicas = if what == "w3" { 3 } else { 1 };
    if what == "file" || what.starts_with('w') && what != "write" {
        memory::ready_to_write(len, replicas)?;
    }
    let meter = CpuMeter::start(watched);
    let start = Instant::now();
    let moved = match what {
        "write" => raw::stream(source, raw::SocketKind::Tcp, raw::Sender::Write, 512 << 10, len, 1)
            .map(|_| len)?,
        "sendfile" => {
            raw::stream(source, raw::SocketKind::Tcp, raw::Sender::Sendfile, 512 << 10, len, 1)
                .map(|_| len)?
        }
        "file" => raw::Scratch::create(&std::env::temp_dir(), len)?.len,
        "r1" => read(fs, 1)?,
        "r2" => read(fs, 2)?,
        "w1" => write(fs, "/in-turn-w", len, 1)?,
        "w3" => write(fs, "/in-turn-w", len, 3)?,
        other => return Err(other.into()),
    };
    let (took, gb) = (start.elapsed().as_secs_f64(), moved as f64 / 1e9);
    let cpu = meter.stop();
    Ok(Run { speed: gb * 1e3 / took, client: cpu[0].1 / gb, servers: cpu[1].1 / gb })
}

fn read(fs: &FileSystem, readers: usize) -> Result<u64, Failure> {
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..readers)
            .map(|n| {
                scope.spawn(move || -> Result<u64, Failure> {
                    let mut file = fs.open(&format!("/in-turn-{n}"))?;
                    let mut buffer = vec![0; BUFFER];
                    let mut total = 0;
                    loop {
                        match file.read(&mut buffer)? {
                            0 => return Ok(total),
                            read => total += read as u64,
                        }
                    }
                })
            })
            .collect();
        running.into_iter().map(|one| one.join().map_err(|_| "died")?).sum()
    })
}

fn write(fs: &FileSystem, path: &str, len: u64, replication: u16) -> Result<u64, Failure> {
    let options = CreateOptions::overwriting().replication(replication);
    let mut buffer = vec![0; BUFFER];
    fastrand::Rng::with_seed(3).fill(&mut buffer);
    let mut file = fs.create(path, options)?;
    for _ in 0..len / BUFFER as u64 {
        file.write_all(&buffer)?;
    }
    file.close()?;
    Ok(len)
}
