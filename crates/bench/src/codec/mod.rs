//! Codecs: decompression beside the C libraries that Hadoop uses and beside their programs, compression on one thread
//! and on several. Each pair takes turns in the same run.

mod args;
mod c_library;

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use zerohop_codec::parallel;
use zerohop_codec::{Codec, Compressor, Encoder, Options};

use crate::measure::median;
use crate::report::Row;
pub use args::{CodecArgs, USAGE};
use c_library::CLibrary;

/// Programs beside ours. All but `lz4` unpack the same file; that one's frames are not Hadoop's, so it unpacks one of the same bytes
/// that it packed itself.
const PROGRAMS: [(&str, Codec); 5] = [
    ("gzip", Codec::Gzip),
    ("bzip2", Codec::Bzip2),
    ("zstd", Codec::Zstandard),
    ("lz4", Codec::Lz4),
    ("lzop", Codec::Lzop),
];

/// Text as logs have it, of `length` bytes.
pub fn sample(length: usize) -> Vec<u8> {
    const WORDS: [&str; 12] = [
        "INFO",
        "block",
        "received",
        "from",
        "DataNode",
        "replica",
        "of",
        "size",
        "in",
        "pipeline",
        "state",
        "finalized",
    ];
    let mut random = fastrand::Rng::with_seed(15);
    let mut out = Vec::with_capacity(length + 200);
    while out.len() < length {
        let (at, number) = (random.u32(..) % 1_000_000, random.u64(..) >> random.u32(20..60));
        out.extend(format!("2026-11-23 14:{:02}:{:06} ", at % 60, at).bytes());
        for _ in 0..random.usize(4..14) {
            out.extend(WORDS[random.usize(..WORDS.len())].bytes());
            out.push(b' ');
        }
        out.extend(format!("blk_{number}\n").bytes());
    }
    out.truncate(length);
    out
}

fn packed(codec: Codec, plain: &[u8]) -> io::Result<Vec<u8>> {
    let compressor = Compressor::new(codec, Options::default())?;
    let mut encoder = Encoder::new(compressor, Vec::new())?;
    encoder.write_all(plain)?;
    encoder.finish()
}

/// Plain megabytes a second of some work.
fn speed(bytes: usize, work: impl FnOnce() -> io::Result<()>) -> io::Result<f64> {
    let start = Instant::now();
    work()?;
    Ok(bytes as f64 / 1e6 / start.elapsed().as_secs_f64())
}

/// Runs two works in turns; the first pair warms up. The row of the first, beside the second.
fn turns(
    name: String,
    other: &str,
    runs: usize,
    mut first: impl FnMut() -> io::Result<f64>,
    mut second: impl FnMut() -> io::Result<f64>,
) -> io::Result<Row> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for run in 0..=runs {
        let pair = (first()?, second()?);
        if run > 0 {
            ours.push(pair.0);
            theirs.push(pair.1);
        }
    }
    Ok(Row::new(name, "MB/s", ours).against(other, median(&theirs)))
}

/// Our decoders beside the C libraries, in memory. A library that is not installed has no row: `missing` is told of it.
pub fn library_rows(
    plain: &[u8],
    runs: usize,
    done: &mut dyn FnMut(&Row),
    missing: &mut dyn FnMut(&str),
) -> io::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for codec in [Codec::Deflate, Codec::Zstandard, Codec::Lz4, Codec::Snappy, Codec::Lzo] {
        let library = match CLibrary::open(codec) {
            Ok(library) => library,
            Err(name) => {
                missing(&format!("{name} is not installed: nothing to compare {codec} with"));
                continue;
            }
        };
        let bytes = packed(codec, plain)?;
        let mut buffer = vec![0; 256 << 10];
        let ours = || {
            speed(plain.len(), || {
                let mut decoder = codec.buffered_decoder(bytes.as_slice())?;
                while decoder.read(&mut buffer)? > 0 {}
                Ok(())
            })
        };
        let mut target = vec![0; plain.len()];
        let theirs = || speed(plain.len(), || library.unpack(&bytes, &mut target));
        let row = turns(format!("decompress {codec}"), library.name(), runs, ours, theirs)?;
        if target != plain {
            return Err(io::Error::other(format!("{} unpacked other bytes", library.name())));
        }
        done(&row);
        rows.push(row);
    }
    Ok(rows)
}

fn run(command: &mut Command) -> io::Result<()> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{command:?}: {status}"))) }
}

/// `zerohop codec decompress` beside the programs, from a file to nowhere. A program that is not installed has no row: `missing` is
/// told of it.
pub fn program_rows(
    plain: &[u8],
    runs: usize,
    zerohop: &Path,
    directory: &Path,
    done: &mut dyn FnMut(&Row),
    missing: &mut dyn FnMut(&str),
) -> io::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (program, codec) in PROGRAMS {
        if run(Command::new(program).arg("--version")).is_err() {
            missing(&format!("{program} is not installed: nothing to compare {codec} with"));
            continue;
        }
        let file = directory.join(format!("plain{}", codec.extension()));
        std::fs::write(&file, packed(codec, plain)?)?;
        let ours = || {
            let mut command = Command::new(zerohop);
            command.args(["codec", "decompress", "-o", "-"]).arg(&file);
            speed(plain.len(), || run(&mut command))
        };
        let own = directory.join("plain.frames");
        let theirs = if codec == Codec::Lz4 {
            std::fs::write(directory.join("plain"), plain)?;
            run(Command::new(program).args(["-q", "-f"]).arg(directory.join("plain")).arg(&own))?;
            &own
        } else {
            &file
        };
        let theirs = || speed(plain.len(), || run(Command::new(program).arg("-dc").arg(theirs)));
        let row = turns(format!("program, decompress {codec}"), program, runs, ours, theirs)?;
        std::fs::remove_file(&file)?;
        done(&row);
        rows.push(row);
    }
    Ok(rows)
}

/// Compression on `threads` threads beside one, from memory to nowhere.
pub fn parallel_rows(
    plain: &[u8],
    runs: usize,
    threads: usize,
    done: &mut dyn FnMut(&Row),
) -> io::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for codec in Codec::ALL {
        let compressor = Compressor::new(codec, Options::default())?;
        let on = |threads: usize| {
            speed(plain.len(), || {
                let (mut input, mut output) = (plain, io::sink());
                parallel::compress(compressor, threads, &mut input, &mut output, &mut |_| {})
                    .map(|_| ())
            })
        };
        let name = format!("compress {codec}, {threads} threads");
        let row = turns(name, "one thread", runs, || on(threads), || on(1))?;
        done(&row);
        rows.push(row);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codec_is_measured() {
        let plain = sample(300_000);
        assert_eq!(plain.len(), 300_000);
        let rows = parallel_rows(&plain, 1, 2, &mut |_| {}).unwrap();
        assert_eq!(rows.len(), Codec::ALL.len());
        // The libraries check what they unpacked; which are there depends on the machine.
        let mut missing = Vec::new();
        let rows = library_rows(&plain, 1, &mut |_| {}, &mut |text| missing.push(text.to_owned()));
        let rows = rows.unwrap();
        assert_eq!(rows.len() + missing.len(), 5, "{missing:?}");
        assert!(missing.iter().all(|text| text.starts_with("lib")), "{missing:?}");
        assert!(rows.iter().all(|row| row.ratio().is_some_and(|ratio| ratio > 0.0)));
    }
}
