//! From a compressed stream to its plain bytes.

use std::io::{self, BufRead, BufReader, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;

use crate::codec::Codec;
use crate::framed::FramedReader;
use crate::lzo::LzopReader;
use crate::raw::RawCodec;
use crate::source::Source;
use crate::zlib::ZlibReader;

/// The plain bytes of a compressed stream.
pub type Decoded<'a> = Box<dyn Read + Send + 'a>;

/// Bytes that are read ahead of a decoder.
const BUFFER: usize = 128 << 10;

impl Codec {
    /// Reads the plain bytes of a compressed stream.
    pub fn decoder<'a>(self, input: impl Read + Send + 'a) -> io::Result<Decoded<'a>> {
        self.buffered_decoder(BufReader::with_capacity(BUFFER, input))
    }

    /// As [`Codec::decoder`], for a stream that has a buffer of its own.
    pub fn buffered_decoder<'a>(self, input: impl BufRead + Send + 'a) -> io::Result<Decoded<'a>> {
        let format = self.name();
        Ok(match self {
            Codec::Gzip => Box::new(Located(MultiGzDecoder::new(Source::new(input)), format)),
            Codec::Deflate => Box::new(ZlibReader::new(input)),
            Codec::Bzip2 => Box::new(Located(MultiBzDecoder::new(Source::new(input)), format)),
            Codec::Zstandard => {
                let decoder = zstd::stream::read::Decoder::with_buffer(Source::new(input))?;
                Box::new(Located(decoder, format))
            }
            Codec::Lz4 => Box::new(FramedReader::new(input, format, RawCodec::Lz4)),
            Codec::Snappy => Box::new(FramedReader::new(input, format, RawCodec::Snappy)),
            Codec::Lzo => Box::new(FramedReader::new(input, format, RawCodec::Lzo)),
            Codec::Lzop => Box::new(LzopReader::new(input)?),
            Codec::Passthrough => Box::new(input),
        })
    }
}

/// A library's decoder that reads from a [`Source`].
trait OverSource: Read {
    type Input: BufRead;
    fn source(&self) -> &Source<Self::Input>;
}

impl<R: BufRead> OverSource for MultiGzDecoder<Source<R>> {
    type Input = R;
    fn source(&self) -> &Source<R> {
        self.get_ref()
    }
}

impl<R: BufRead> OverSource for MultiBzDecoder<Source<R>> {
    type Input = R;
    fn source(&self) -> &Source<R> {
        self.get_ref()
    }
}

impl<R: BufRead> OverSource for zstd::stream::read::Decoder<'_, Source<R>> {
    type Input = R;
    fn source(&self) -> &Source<R> {
        self.get_ref()
    }
}

/// Adds format and offset to the errors of a library's decoder.
struct Located<D>(D, &'static str);

impl<D: OverSource> Read for Located<D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| self.0.source().explain(self.1, error))
    }
}
