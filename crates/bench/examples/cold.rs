//! Local reads from a dropped page cache beside read(2) of plain files of the same bytes:
//! `cargo run --profile fast -p zerohop-bench --example cold DATA_DIRECTORY`, with HADOOP_CONF_DIR naming a
//! cluster of this machine with short-circuit reads, whose only DataNode keeps its blocks below DATA_DIRECTORY.
//! The plain files are made there, too, so that both are on one disk.
//!
//! In each round read(2) and the client take turns, each on files that were dropped just before, by one
//! reader and by two. Printed are medians: MB/s, and the ratio of each pair.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
use zerohop_bench::median;
use zerohop_client::blocking::FileSystem;
use zerohop_client::{CreateOptions, OpenOptions, ReadPath, Verify};
use zerohop_conf::Conf;

const FILE_LEN: u64 = 512 << 20;
const BUFFER_LEN: usize = 1 << 20;
const FILES: usize = 2;
const ROUNDS: usize = 7;
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let directory = std::env::args().nth(1).ok_or("the DataNode's directory is missing")?;
    let directory = PathBuf::from(directory);
    let fs = FileSystem::connect(&Conf::from_env()?, None)?;
    let bytes: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..)).take(BUFFER_LEN).collect();
    for number in 0..FILES {
        if fs.open(&path(number)).is_err() {
            let options = CreateOptions::overwriting().replication(1);
            let mut writer = fs.create(&path(number), options)?;
            (0..FILE_LEN / BUFFER_LEN as u64).try_for_each(|_| writer.write_data(&bytes))?;
            writer.close()?;
        }
        let mut plain = File::create(plain(&directory, number))?;
        (0..FILE_LEN / BUFFER_LEN as u64).try_for_each(|_| plain.write_all(&bytes))?;
    }
    drop(fs);
    let mut files = Vec::new();
    find(&directory, &mut files)?;
    for file in &files {
        File::open(file)?.sync_all()?;
    }
    for readers in 1..=FILES {
        for verify in [Verify::Full, Verify::None] {
            measure(&directory, &files, readers, verify)?;
        }
    }
    Ok(())
}

fn measure(
    directory: &Path,
    files: &[PathBuf],
    readers: usize,
    verify: Verify,
) -> Result<(), Failure> {
    let (mut raw, mut ours, mut again) = (Vec::new(), Vec::new(), Vec::new());
    let mut ratios = Vec::new();
    for round in 0..ROUNDS {
        let read_raw = || {
            drop_all(files)?;
            timed(readers, |number| {
                let mut file = File::open(plain(directory, number))?;
                to_the_end(|buffer| Ok(file.read(buffer)?))
            })
        };
        let mut read_ours = || {
            drop_all(files)?;
            let fs = FileSystem::connect(&Conf::from_env()?, None)?;
            let one = |number| {
                let mut file = fs.open_with(&path(number), OpenOptions::verifying(verify))?;
                to_the_end(|buffer| Ok(file.read_some(buffer)?))
            };
            let cold = timed(readers, one)?;
            again.push(timed(readers, one)?);
            let read = fs.read_statistics();
            if read.bytes_by(ReadPath::LocalMapped) != read.total() {
                return Err("not all was read locally".into());
            }
            Ok::<f64, Failure>(cold)
        };
        // Who is first changes.
        let (a, b) = match round % 2 {
            0 => (read_raw()?, read_ours()?),
            _ => {
                let ours = read_ours()?;
                (read_raw()?, ours)
            }
        };
        raw.push(a);
        ours.push(b);
        ratios.push(b / a);
    }
    println!(
        "{readers} readers, {verify:?}: read(2) {:.0} MB/s, ours {:.0}, {:.2} of it ({:.2} to {:.2}); read again {:.0}",
        median(&raw),
        median(&ours),
        median(&ratios),
        ratios.iter().copied().fold(f64::MAX, f64::min),
        ratios.iter().copied().fold(0.0, f64::max),
        median(&again),
    );
    Ok(())
}

fn path(number: usize) -> String {
    format!("/cold-bench-{number}")
}

fn plain(directory: &Path, number: usize) -> PathBuf {
    directory.join(format!("blk_plain_{number}"))
}

/// All block and meta files, and the plain ones.
fn find(directory: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, found)?;
        } else if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("blk_")) {
            found.push(path);
        }
    }
    Ok(())
}

fn drop_all(files: &[PathBuf]) -> Result<(), Failure> {
    files.iter().try_for_each(|path| Ok(fadvise(File::open(path)?, 0, None, Advice::DontNeed)?))
}

/// MB/s of all readers together.
fn timed(
    readers: usize,
    one: impl Fn(usize) -> Result<(), Failure> + Sync,
) -> Result<f64, Failure> {
    let start = Instant::now();
    let one = &one;
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..readers).map(|number| scope.spawn(move || one(number))).collect();
        all.into_iter().try_for_each(|reader| reader.join().map_err(|_| "a reader died")?)
    })?;
    Ok(readers as f64 * FILE_LEN as f64 / start.elapsed().as_secs_f64() / 1e6)
}

fn to_the_end(mut read: impl FnMut(&mut [u8]) -> Result<usize, Failure>) -> Result<(), Failure> {
    let mut buffer = vec![1; BUFFER_LEN];
    while read(&mut buffer)? > 0 {
        black_box(&buffer);
    }
    Ok(())
}
