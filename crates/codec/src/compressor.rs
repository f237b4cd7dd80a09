//! From plain bytes to a compressed stream, in pieces that do not depend on each other.

use std::io::{self, Write};

use flate2::write::GzEncoder;
use flate2::{Compress, Compression, FlushCompress};

use crate::codec::Codec;
use crate::framed::frame;
use crate::lzo;
use crate::raw::{RawCodec, Scratch};

/// How a stream is compressed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// The level, in the codec's own numbers; its usual one where it is `None`. LZ4, Snappy and LZO have none.
    pub level: Option<i32>,
    /// The buffer of Hadoop's block codecs (`io.compression.codec.lz4.buffersize` and the like), from which
    /// the length of a block follows; Hadoop's own where it is `None`.
    pub buffer: Option<usize>,
    /// When the plain file was changed, in seconds since 1970; lzop files hold it.
    pub modified: u32,
}

/// Compresses a stream piece by piece. Pieces may be compressed in any order, and side by side.
#[derive(Debug, Clone, Copy)]
pub struct Compressor {
    codec: Codec,
    options: Options,
}

/// What a piece became.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    pub bytes: Vec<u8>,
    adler: u32,
    plain: u64,
}

/// What the end of a stream depends on: the pieces, in order.
#[derive(Debug)]
pub(crate) struct Sums {
    adler: u32,
    pieces: u64,
}

impl Compressor {
    /// A compressor, if the codec has the level that is asked for.
    pub fn new(codec: Codec, options: Options) -> io::Result<Compressor> {
        let levels = Compressor::levels(codec);
        match (options.level, levels) {
            (Some(level), Some((least, most))) if !(least..=most).contains(&level) => {
                Err(invalid(format!("{codec} has the levels {least} to {most}, not {level}")))
            }
            (Some(_), None) => Err(invalid(format!("{codec} has no levels"))),
            _ => Ok(Compressor { codec, options }),
        }
    }

    /// The least and the highest level of a codec.
    pub fn levels(codec: Codec) -> Option<(i32, i32)> {
        match codec {
            Codec::Gzip | Codec::Deflate => Some((0, 9)),
            Codec::Bzip2 => Some((1, 9)),
            Codec::Zstandard => Some((*zstd::compression_level_range().start(), 22)),
            _ => None,
        }
    }

    /// The codec.
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// Plain bytes of a piece.
    pub fn piece_length(&self) -> usize {
        match self.codec {
            Codec::Bzip2 => 100_000 * self.options.level.unwrap_or(9) as usize,
            Codec::Zstandard => 4 << 20,
            Codec::Gzip | Codec::Deflate | Codec::Passthrough => 1 << 20,
            // As many whole blocks as a megabyte holds.
            _ => self.block_length() * ((1 << 20) / self.block_length()).max(1),
        }
    }

    /// Plain bytes of a block: what Hadoop's BlockCompressorStream puts into one, so that its readers have room.
    fn block_length(&self) -> usize {
        let buffer = |usual: usize| self.options.buffer.unwrap_or(usual).clamp(1 << 10, 64 << 20);
        match self.codec {
            Codec::Lz4 => buffer(256 << 10) - buffer(256 << 10) / 255 - 16,
            Codec::Snappy => buffer(256 << 10) - buffer(256 << 10) / 6 - 32,
            Codec::Lzo => buffer(64 << 10) - buffer(64 << 10) / 16 - 67,
            // lzop itself takes 256 KiB, for which readers with this buffer have no room.
            _ => buffer(64 << 10),
        }
    }

    /// What stands before the first piece.
    pub(crate) fn start(&self) -> Vec<u8> {
        match self.codec {
            // A window of 32 KiB, no dictionary.
            Codec::Deflate => vec![0x78, 0x9c],
            Codec::Lzop => lzo::file_header(self.options.modified),
            _ => Vec::new(),
        }
    }

    /// Compresses a piece.
    pub(crate) fn piece(&self, plain: &[u8], scratch: &mut Scratch) -> io::Result<Piece> {
        self.piece_in(Vec::new(), plain, scratch)
    }

    /// Compresses a piece into a buffer whose content does not matter.
    pub(crate) fn piece_in(
        &self,
        mut bytes: Vec<u8>,
        plain: &[u8],
        scratch: &mut Scratch,
    ) -> io::Result<Piece> {
        bytes.clear();
        let mut piece = Piece { bytes, plain: plain.len() as u64, adler: 0 };
        let (out, block) = (&mut piece.bytes, self.block_length());
        match self.codec {
            Codec::Gzip => {
                let mut encoder = GzEncoder::new(&mut *out, self.compression());
                encoder.write_all(plain)?;
                encoder.finish()?;
            }
            Codec::Deflate => {
                piece.adler = simd_adler32::adler32(&plain);
                self.deflate(plain, FlushCompress::Sync, out)?;
            }
            Codec::Bzip2 => {
                let level = bzip2::Compression::new(self.options.level.unwrap_or(9) as u32);
                let mut encoder = bzip2::write::BzEncoder::new(&mut *out, level);
                encoder.write_all(plain)?;
                encoder.finish()?;
            }
            Codec::Zstandard => {
                let level = self.options.level.unwrap_or(3);
                let mut encoder = zstd::stream::write::Encoder::new(&mut *out, level)?;
                encoder.include_checksum(true)?;
                encoder.set_pledged_src_size(Some(plain.len() as u64))?;
                encoder.write_all(plain)?;
                encoder.finish()?;
            }
            Codec::Lz4 => frame(RawCodec::Lz4, plain, block, out, scratch),
            Codec::Snappy => frame(RawCodec::Snappy, plain, block, out, scratch),
            Codec::Lzo => frame(RawCodec::Lzo, plain, block, out, scratch),
            Codec::Lzop => lzo::append_blocks(plain, block, out, &mut scratch.lzo),
            Codec::Passthrough => out.extend_from_slice(plain),
        }
        Ok(piece)
    }

    fn compression(&self) -> Compression {
        Compression::new(self.options.level.unwrap_or(6) as u32)
    }

    /// Appends a part of a raw deflate stream, which `flush` ends at a byte.
    fn deflate(&self, plain: &[u8], flush: FlushCompress, out: &mut Vec<u8>) -> io::Result<()> {
        let mut deflate = Compress::new(self.compression(), false);
        out.reserve(plain.len() / 2 + 64);
        loop {
            let rest = &plain[deflate.total_in() as usize..];
            deflate.compress_vec(rest, out, flush).map_err(io::Error::other)?;
            // Room that is left means that nothing waits for room.
            if deflate.total_in() as usize == plain.len() && out.len() < out.capacity() {
                return Ok(());
            }
            out.reserve(64 << 10);
        }
    }

    /// What stands behind the last piece.
    pub(crate) fn end(&self, sums: &Sums) -> io::Result<Vec<u8>> {
        let mut end = Vec::new();
        match self.codec {
            Codec::Deflate => {
                self.deflate(&[], FlushCompress::Finish, &mut end)?;
                end.extend(sums.adler.to_be_bytes());
            }
            Codec::Lzop => end.extend(lzo::end()),
            // A stream of nothing is no empty file.
            _ if sums.pieces == 0 => end = self.piece(&[], &mut Scratch::default())?.bytes,
            _ => {}
        }
        Ok(end)
    }
}

impl Default for Sums {
    fn default() -> Self {
        Sums { adler: 1, pieces: 0 }
    }
}

impl Sums {
    pub(crate) fn add(&mut self, piece: &Piece) {
        self.adler = joined_adler(self.adler, piece.adler, piece.plain);
        self.pieces += 1;
    }
}

/// The Adler-32 of bytes and of `length` more that follow them.
fn joined_adler(first: u32, second: u32, length: u64) -> u32 {
    const BASE: u64 = 65521;
    let (a1, b1) = (u64::from(first & 0xffff), u64::from(first >> 16));
    let (a2, b2) = (u64::from(second & 0xffff), u64::from(second >> 16));
    let length = length % BASE;
    // Each sum of the second began with 1 where it has to begin with that of the first.
    let a = (a1 + a2 + BASE - 1) % BASE;
    let b = (b1 + b2 + length * (a1 + BASE - 1)) % BASE;
    (b << 16 | a) as u32
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

/// Writes a compressed stream. [`Encoder::finish`] ends it.
pub struct Encoder<W> {
    output: W,
    compressor: Compressor,
    /// Less than a piece.
    waiting: Vec<u8>,
    scratch: Scratch,
    sums: Sums,
}

impl<W: Write> Encoder<W> {
    /// Writes what stands at the start of the stream.
    pub fn new(compressor: Compressor, mut output: W) -> io::Result<Encoder<W>> {
        output.write_all(&compressor.start())?;
        let (waiting, scratch, sums) = Default::default();
        Ok(Encoder { output, compressor, waiting, scratch, sums })
    }

    fn write_piece(&mut self) -> io::Result<()> {
        let piece = self.compressor.piece(&self.waiting, &mut self.scratch)?;
        self.output.write_all(&piece.bytes)?;
        self.sums.add(&piece);
        self.waiting.clear();
        Ok(())
    }

    /// Writes the rest and the end of the stream, and gives the output back.
    pub fn finish(mut self) -> io::Result<W> {
        if !self.waiting.is_empty() {
            self.write_piece()?;
        }
        self.output.write_all(&self.compressor.end(&self.sums)?)?;
        self.output.flush()?;
        Ok(self.output)
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.compressor.piece_length() - self.waiting.len();
        let count = room.min(bytes.len());
        self.waiting.extend_from_slice(&bytes[..count]);
        if self.waiting.len() == self.compressor.piece_length() {
            self.write_piece()?;
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adlers_join() {
        let bytes: Vec<u8> = (0..200_000_u64).map(|n| ((n * n) >> 7) as u8).collect();
        for at in [0, 1, 65_521, 70_000, 200_000] {
            let (a, b) = bytes.split_at(at);
            let joined =
                joined_adler(simd_adler32::adler32(&a), simd_adler32::adler32(&b), b.len() as u64);
            assert_eq!(joined, simd_adler32::adler32(&bytes.as_slice()), "{at}");
        }
    }

    #[test]
    fn levels_are_checked() {
        let with = |codec, level| {
            let options = Options { level: Some(level), ..Options::default() };
            Compressor::new(codec, options).map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(with(Codec::Gzip, 10).unwrap_err(), "gzip has the levels 0 to 9, not 10");
        assert_eq!(with(Codec::Lzop, 1).unwrap_err(), "lzop has no levels");
        assert!(with(Codec::Bzip2, 0).is_err());
        assert!(with(Codec::Zstandard, -5).is_ok() && with(Codec::Zstandard, 23).is_err());
    }
}
