//! Bytes after a complete compressed file: a line end, zeros, text, another file.
//!
//! They used to be an error, where Hadoop and the formats' own programs ignore them.

use std::io::{self, Read, Write};

use zerohop_codec::{Codec, Compressor, Encoder, Options};

fn packed(codec: Codec, plain: &[u8]) -> Vec<u8> {
    let compressor = Compressor::new(codec, Options::default()).unwrap();
    let mut encoder = Encoder::new(compressor, Vec::new()).unwrap();
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// A reader that returns one byte at a time, so that a file's first bytes arrive in several pieces.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = buffer.len().min(1);
        self.0.read(&mut buffer[..count])
    }
}

fn unpacked(codec: Codec, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut decoder = codec.decoder(bytes)?;
    decoder.read_to_end(&mut out)?;
    assert_eq!(decoder.read(&mut [0; 100])?, 0, "{codec}: an end stays an end");
    let mut slowly = Vec::new();
    let input = io::BufReader::with_capacity(1, Slow(bytes));
    codec.buffered_decoder(input)?.read_to_end(&mut slowly)?;
    assert!(slowly == out, "{codec}");
    Ok(out)
}

#[test]
fn other_bytes_behind_a_complete_file_are_ignored() {
    let text = b"some text that is no file of any format".as_slice();
    for codec in [Codec::Gzip, Codec::Bzip2, Codec::Lzop] {
        let file = packed(codec, b"hello ");
        for tail in [&b"\0"[..], b"\n", b"\r\n", &[0; 512], text, b"\x1f", b"BZ"] {
            let bytes = [file.as_slice(), &file, tail].concat();
            assert_eq!(unpacked(codec, &bytes).unwrap(), b"hello hello ", "{codec} {tail:?}");
        }
    }
}

#[test]
fn frames_end_before_bytes_that_are_no_length() {
    for codec in [Codec::Lz4, Codec::Snappy, Codec::Lzo] {
        let file = packed(codec, b"hello");
        for tail in [&b"\0"[..], b"\n", b"\r\n", &[0; 512]] {
            let bytes = [file.as_slice(), tail].concat();
            assert_eq!(unpacked(codec, &bytes).unwrap(), b"hello", "{codec} {tail:?}");
        }
        // Hadoop ends a stream at an empty block and loses the rest.
        let bytes = [&[0; 4], file.as_slice()].concat();
        assert_eq!(unpacked(codec, &bytes).unwrap(), b"hello", "{codec}");
        assert!(unpacked(codec, b"\n").is_err(), "{codec}: no file at all");
    }
}

#[test]
fn a_second_file_that_is_cut_is_an_error() {
    for codec in [Codec::Gzip, Codec::Bzip2, Codec::Lzop] {
        let file = packed(codec, b"hello");
        for cut in 4..file.len() {
            let bytes = [file.as_slice(), &file[..cut]].concat();
            let error = unpacked(codec, &bytes).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{codec} {cut}");
        }
    }
}

/// zstd and Hadoop's zlib refuse what follows; so does Hadoop.
#[test]
fn zstd_and_zlib_refuse_other_bytes() {
    for codec in [Codec::Zstandard, Codec::Deflate] {
        let bytes = [packed(codec, b"hello").as_slice(), b"\nsome text"].concat();
        assert!(unpacked(codec, &bytes).is_err(), "{codec}");
    }
}
