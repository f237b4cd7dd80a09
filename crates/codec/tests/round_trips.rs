//! What was compressed is read back, by one thread and by several; damage is an error that says where.

use std::io::{self, Read, Write};

use proptest::prelude::*;
use zerohop_codec::parallel::{self, Totals};
use zerohop_codec::{Codec, Compressor, Damage, Encoder, Options};

/// Bytes that compress a little: rows of earlier bytes between new ones.
fn mixed(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut bytes: Vec<u8> = Vec::with_capacity(length);
    while bytes.len() < length {
        let (kind, count) = (next() % 3, 1 + (next() % 40) as usize);
        match kind {
            0 if !bytes.is_empty() => {
                let back = 1 + next() as usize % bytes.len().min(60_000);
                for _ in 0..count {
                    bytes.push(bytes[bytes.len() - back]);
                }
            }
            1 => bytes.extend(std::iter::repeat_n(next() as u8, count)),
            _ => bytes.extend((0..count).map(|_| next() as u8)),
        }
    }
    bytes.truncate(length);
    bytes
}

fn packed(codec: Codec, plain: &[u8]) -> Vec<u8> {
    let compressor = Compressor::new(codec, Options::default()).unwrap();
    let mut encoder = Encoder::new(compressor, Vec::new()).unwrap();
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn unpacked(codec: Codec, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    codec.decoder(bytes)?.read_to_end(&mut out)?;
    Ok(out)
}

#[test]
fn streams_of_all_lengths_come_back() {
    for codec in Codec::ALL {
        for length in [0, 1, 2, 3, 4, 100, 65_536, 300_000, 1_048_576, 3_000_000] {
            let plain = mixed(length, 7);
            let bytes = packed(codec, &plain);
            assert!(unpacked(codec, &bytes).unwrap() == plain, "{codec}, {length} bytes");
        }
    }
}

/// Threads change nothing: the same stream as one thread makes.
#[test]
fn several_threads_write_the_same_stream() {
    for codec in Codec::ALL {
        for length in [0, 5_000, 5_000_001] {
            let plain = mixed(length, 3);
            let compressor = Compressor::new(codec, Options::default()).unwrap();
            let mut out = Vec::new();
            let mut last = Totals::default();
            let totals =
                parallel::compress(compressor, 3, &mut plain.as_slice(), &mut out, &mut |t| {
                    last = t
                })
                .unwrap();
            assert_eq!(totals, last);
            assert_eq!((totals.read, totals.written), (plain.len() as u64, out.len() as u64));
            assert!(out == packed(codec, &plain), "{codec}, {length} bytes");
            let mut back = Vec::new();
            parallel::decompress(codec, &mut out.as_slice(), &mut back, &mut |_| {}).unwrap();
            assert!(back == plain, "{codec}");
        }
    }
}

struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("the disk is full"))
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An output that fails, and an input that fails, end all threads with the error.
#[test]
fn failures_of_the_streams_pass_through() {
    let plain = mixed(9_000_000, 5);
    for codec in [Codec::Gzip, Codec::Lz4] {
        let compressor = Compressor::new(codec, Options::default()).unwrap();
        let error =
            parallel::compress(compressor, 2, &mut plain.as_slice(), &mut Full, &mut |_| {});
        assert_eq!(error.unwrap_err().to_string(), "the disk is full");
        let bytes = packed(codec, &plain);
        let error = parallel::decompress(codec, &mut bytes.as_slice(), &mut Full, &mut |_| {});
        assert_eq!(error.unwrap_err().to_string(), "the disk is full");
        let broken = bytes[..bytes.len() / 2].chain(Broken);
        let error = codec.decoder(broken).unwrap().read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "the DataNode is gone", "{codec}");
    }
}

struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("the DataNode is gone"))
    }
}

/// Members, streams, frames and files that follow each other are one stream.
#[test]
fn streams_may_be_joined() {
    let (a, b) = (mixed(70_000, 1), mixed(1000, 2));
    for codec in Codec::ALL {
        let bytes = [packed(codec, &a), packed(codec, &b), packed(codec, &[])].concat();
        let plain = unpacked(codec, &bytes).unwrap();
        assert!(plain == [a.as_slice(), &b].concat(), "{codec}");
    }
}

/// A stream that was cut says so, and where; what is left of frames at a block's end is whole.
#[test]
fn a_cut_stream_is_an_error_with_its_offset() {
    let plain = mixed(800, 9);
    for codec in Codec::ALL {
        let bytes = packed(codec, &plain);
        let is_framed = matches!(codec, Codec::Lz4 | Codec::Snappy | Codec::Lzo);
        for cut in 1..bytes.len() {
            let error = match unpacked(codec, &bytes[..cut]) {
                Err(error) => error,
                Ok(_) if is_framed => continue,
                Ok(_) => panic!("{codec} cut at {cut} of {} was read", bytes.len()),
            };
            let damage = error.get_ref().and_then(|inner| inner.downcast_ref::<Damage>());
            let damage = damage.unwrap_or_else(|| panic!("{codec} cut at {cut}: {error}"));
            assert_eq!(damage.format, codec.name());
            assert!(damage.offset <= cut as u64, "{codec} cut at {cut}: {error}");
        }
    }
}

/// Where there are checksums, no changed byte of the data goes unseen.
#[test]
fn wrong_checksums_are_seen() {
    let plain = mixed(5000, 11);
    for codec in [Codec::Gzip, Codec::Deflate, Codec::Bzip2, Codec::Zstandard, Codec::Lzop] {
        let bytes = packed(codec, &plain);
        for at in (bytes.len() / 3..bytes.len() - 8).step_by(7) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x10;
            // Some bits mean nothing.
            let is_seen = unpacked(codec, &bytes).map_or(true, |out| out == plain);
            assert!(is_seen, "{codec}: byte {at} was changed");
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_come_back(plain in prop::collection::vec(any::<u8>(), 0..3000)) {
        for codec in Codec::ALL {
            prop_assert_eq!(&unpacked(codec, &packed(codec, &plain)).unwrap(), &plain);
        }
    }

    #[test]
    fn random_bytes_are_an_error_or_end(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for codec in Codec::ALL {
            let _ = unpacked(codec, &bytes);
        }
    }

    #[test]
    fn damage_never_panics(at in 0_usize..3000, to in any::<u8>(), cut in 0_usize..4000) {
        let plain = mixed(4000, 13);
        for codec in Codec::ALL {
            let mut bytes = packed(codec, &plain);
            if let Some(byte) = bytes.get_mut(at) {
                *byte = to;
            }
            bytes.truncate(cut.max(at + 1));
            if let Ok(out) = unpacked(codec, &bytes) {
                prop_assert!(out.len() <= 1 << 20);
            }
        }
    }
}
