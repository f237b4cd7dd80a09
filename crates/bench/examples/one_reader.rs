//! What the Rust client reads of `/languages` in one process, as a line of JSON: the figures that `make languages`
//! sets those of C and Python beside. The file is made if it is not there.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use std::hint::black_box;
use std::time::Instant;
use zerohop_client::CreateOptions;
use zerohop_client::blocking::{FileReader, FileSystem};
use zerohop_conf::Conf;

const PATH: &str = "/languages";
const LEN: u64 = 1 << 30;
const BUFFER: usize = 1 << 20;
const RANDOM_CALLS: u64 = 200_000;
const RANGES_CALLS: u64 = 300;
type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let fs = FileSystem::connect(&Conf::from_env()?, None)?;
    if fs.open(PATH).is_err() {
        make(&fs)?;
    }
    let mut file = fs.open(PATH)?;
    sequential(&mut file)?;
    let start = Instant::now();
    sequential(&mut file)?;
    let sequential = LEN as f64 / start.elapsed().as_secs_f64() / 1e6;
    let start = Instant::now();
    random(&file)?;
    let random = RANDOM_CALLS as f64 / start.elapsed().as_secs_f64() / 1e3;
    let start = Instant::now();
    ranges(&file)?;
    let ranges = 100.0 * RANGES_CALLS as f64 / start.elapsed().as_secs_f64() / 1e3;
    println!(r#"{{"sequential": {sequential}, "random": {random}, "ranges": {ranges}}}"#);
    Ok(())
}

fn make(fs: &FileSystem) -> Result<(), Failure> {
    let bytes: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..)).take(BUFFER).collect();
    let mut writer = fs.create(PATH, CreateOptions::overwriting().replication(1))?;
    (0..LEN / BUFFER as u64).try_for_each(|_| writer.write_data(&bytes))?;
    Ok(writer.close()?)
}

fn sequential(file: &mut FileReader) -> Result<(), Failure> {
    let mut buffer = vec![1; BUFFER];
    file.seek_to(0)?;
    while file.read_some(&mut buffer)? > 0 {
        black_box(&buffer);
    }
    Ok(())
}

fn random(file: &FileReader) -> Result<(), Failure> {
    let mut buffer = [1; 4096];
    for _ in 0..RANDOM_CALLS {
        file.read_exact_at(fastrand::u64(..LEN - 4096), &mut buffer)?;
        black_box(&buffer);
    }
    Ok(())
}

/// A hundred ranges of 64 KiB a call, into buffers of the call's own, as a caller of Python gets them.
fn ranges(file: &FileReader) -> Result<(), Failure> {
    for _ in 0..RANGES_CALLS {
        let mut buffers = vec![vec![0; 65_536]; 100];
        let mut ranges: Vec<(u64, &mut [u8])> =
            buffers.iter_mut().map(|out| (fastrand::u64(..LEN - 65_536), &mut out[..])).collect();
        file.read_ranges(&mut ranges)?;
        black_box(&buffers);
    }
    Ok(())
}
