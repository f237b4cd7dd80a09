//! The compressions that Hadoop's files come in.

use std::io::{self, Read};

use crate::failure::{Failure, Outcome};

/// Largest compressed or uncompressed piece that is believed to be meant.
const PIECE_MAX: usize = 64 << 20;

/// A compression, found by the end of a file name or by Hadoop's class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    Gzip,
    Deflate,
    Bzip2,
    Zstandard,
    Snappy,
    Lz4,
}

impl Codec {
    /// By file name, as CompressionCodecFactory finds it. LZO is an error: it cannot be read.
    pub fn of_name(name: &str) -> Outcome<Option<Codec>> {
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        Ok(Some(match extension {
            "gz" => Codec::Gzip,
            "deflate" => Codec::Deflate,
            "bz2" => Codec::Bzip2,
            "zst" => Codec::Zstandard,
            "snappy" => Codec::Snappy,
            "lz4" => Codec::Lz4,
            "lzo" | "lzo_deflate" => {
                return Err(Failure::unsupported(
                    "LZO is not supported; get the file and use lzop",
                ));
            }
            _ => return Ok(None),
        }))
    }

    pub fn of_class(class: &str) -> Outcome<Codec> {
        let name = class.rsplit('.').next().unwrap_or_default();
        Ok(match name {
            "GzipCodec" => Codec::Gzip,
            "DefaultCodec" | "DeflateCodec" => Codec::Deflate,
            "BZip2Codec" => Codec::Bzip2,
            "ZStandardCodec" => Codec::Zstandard,
            "SnappyCodec" => Codec::Snappy,
            "Lz4Codec" => Codec::Lz4,
            _ => return Err(Failure::unsupported(format!("compression {class} is not supported"))),
        })
    }

    /// The plain bytes of a compressed stream.
    pub fn decode<'a>(self, input: Box<dyn Read + 'a>) -> Outcome<Box<dyn Read + 'a>> {
        Ok(match self {
            Codec::Gzip => Box::new(flate2::read::MultiGzDecoder::new(input)),
            Codec::Deflate => Box::new(flate2::read::ZlibDecoder::new(input)),
            Codec::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(input)),
            Codec::Zstandard => Box::new(zstd::stream::read::Decoder::new(input)?),
            Codec::Snappy => Box::new(Framed::new(input, snappy)),
            Codec::Lz4 => Box::new(Framed::new(input, lz4)),
        })
    }
}

fn damaged(problem: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("compressed data is damaged: {problem}"))
}

fn snappy(piece: &[u8], _room: usize) -> io::Result<Vec<u8>> {
    let length = snap::raw::decompress_len(piece).map_err(damaged)?;
    if length > PIECE_MAX {
        return Err(damaged("a piece is too large"));
    }
    snap::raw::Decoder::new().decompress_vec(piece).map_err(damaged)
}

fn lz4(piece: &[u8], room: usize) -> io::Result<Vec<u8>> {
    lz4_flex::block::decompress(piece, room).map_err(damaged)
}

/// Hadoop's frame around block compressions:
/// `u32 plain length of the block, then (u32 compressed length, bytes) until that is reached`.
struct Framed<R> {
    input: R,
    decode: fn(&[u8], usize) -> io::Result<Vec<u8>>,
    /// Plain bytes of the block that no piece has brought yet.
    left: usize,
    plain: Vec<u8>,
    /// Bytes of `plain` that were handed out; never more than its length.
    used: usize,
}

impl<R: Read> Framed<R> {
    fn new(input: R, decode: fn(&[u8], usize) -> io::Result<Vec<u8>>) -> Self {
        Framed { input, decode, left: 0, plain: Vec::new(), used: 0 }
    }

    /// A big-endian length; `None` at the end of the stream.
    fn length(&mut self) -> io::Result<Option<usize>> {
        let mut bytes = [0; 4];
        let mut filled = 0;
        while filled < bytes.len() {
            match self.input.read(&mut bytes[filled..])? {
                0 if filled == 0 => return Ok(None),
                0 => return Err(damaged("the file ends in a length")),
                count => filled += count,
            }
        }
        let length = u32::from_be_bytes(bytes) as usize;
        if length > PIECE_MAX {
            return Err(damaged("a piece is too large"));
        }
        Ok(Some(length))
    }

    /// Fills `plain` with the next piece; false at the end of the stream.
    fn next_piece(&mut self) -> io::Result<bool> {
        while self.left == 0 {
            match self.length()? {
                Some(length) => self.left = length,
                None => return Ok(false),
            }
        }
        let length = self.length()?.ok_or_else(|| damaged("the file ends in a block"))?;
        let mut piece = Vec::new();
        self.input.by_ref().take(length as u64).read_to_end(&mut piece)?;
        if piece.len() < length {
            return Err(damaged("the file ends in a piece"));
        }
        self.plain = (self.decode)(&piece, self.left)?;
        self.used = 0;
        self.left = self
            .left
            .checked_sub(self.plain.len())
            .ok_or_else(|| damaged("a block holds more than it says"))?;
        Ok(true)
    }
}

impl<R: Read> Read for Framed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.used == self.plain.len() {
            if !self.next_piece()? {
                return Ok(0);
            }
        }
        let ready = &self.plain[self.used..];
        let count = ready.len().min(buffer.len());
        buffer[..count].copy_from_slice(&ready[..count]);
        self.used += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(codec: Codec, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        codec.decode(Box::new(bytes)).map_err(|f| damaged(f.text))?.read_to_end(&mut out)?;
        Ok(out)
    }

    fn framed(pieces: &[&[u8]], compress: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
        let total: usize = pieces.iter().map(|piece| piece.len()).sum();
        let mut out = (total as u32).to_be_bytes().to_vec();
        for piece in pieces {
            let packed = compress(piece);
            out.extend((packed.len() as u32).to_be_bytes());
            out.extend(packed);
        }
        out
    }

    #[test]
    fn hadoops_frames() {
        let snappy = |piece: &[u8]| snap::raw::Encoder::new().compress_vec(piece).unwrap();
        let mut bytes = framed(&[b"hello ", b"world"], snappy);
        bytes.extend(framed(&[b"!"], snappy));
        assert_eq!(all(Codec::Snappy, &bytes).unwrap(), b"hello world!");
        let bytes = framed(&[b"aaaaaaaaaaaaaaaaaaaaaaaa"], lz4_flex::block::compress);
        assert_eq!(all(Codec::Lz4, &bytes).unwrap(), b"aaaaaaaaaaaaaaaaaaaaaaaa");
        assert!(all(Codec::Snappy, &bytes[..7]).is_err());
    }

    proptest! {
        #[test]
        fn random_bytes_are_an_error_or_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            for codec in [Codec::Gzip, Codec::Deflate, Codec::Bzip2, Codec::Zstandard, Codec::Snappy, Codec::Lz4] {
                let _ = all(codec, &bytes);
            }
        }
    }
}
