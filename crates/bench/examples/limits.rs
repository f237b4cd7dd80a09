//! What this machine allows, without any cluster: `cargo run --release --example limits [DIRECTORY]`.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use std::io;
use std::path::PathBuf;
use zerohop_bench::checksum::checksum_rows;
use zerohop_bench::{Report, Row, raw};

fn main() -> io::Result<()> {
    let directory = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let mut report = Report::new();
    report.rows.extend(checksum_rows(64 << 10, 4 << 30, 5));
    let source = raw::Scratch::create(&directory, 1 << 30)?;
    for buffer_len in [64 << 10, 1 << 20] {
        let runs = raw::read_cached(&source, buffer_len, 5)?;
        report.rows.push(Row::new(format!("read(2), {} KiB", buffer_len / 1024), "MB/s", runs));
    }
    let (_, tried) = raw::stream_best(&source, raw::SocketKind::Tcp, 2 << 30, 5)?;
    report.rows.extend(tried.iter().map(raw::StreamLimit::row));
    for (request, answer) in [(64, 64), (4096, 64)] {
        let times = raw::round_trip(request, answer, 20_000)?;
        let name = format!("loopback TCP round trip, {request} B, {answer} B back");
        report.rows.push(Row::latency(name, times));
    }
    let times = raw::append_and_sync(&directory, 4096, 500)?;
    report.rows.push(Row::latency("4 KiB append and fdatasync", times));
    print!("{}", report.to_table());
    Ok(())
}
