//! From a compressed stream to its plain bytes.

use std::io::{self, BufRead, BufReader, Read};
use std::marker::PhantomData;

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;

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
    ///
    /// Several files of gzip, bzip2 or lzop may follow each other. Other bytes after a complete file are ignored, as
    /// in Hadoop and these programs.
    pub fn decoder<'a>(self, input: impl Read + Send + 'a) -> io::Result<Decoded<'a>> {
        self.buffered_decoder(BufReader::with_capacity(BUFFER, input))
    }

    /// As [`Codec::decoder`], for a stream that has a buffer of its own.
    pub fn buffered_decoder<'a>(self, input: impl BufRead + Send + 'a) -> io::Result<Decoded<'a>> {
        let format = self.name();
        Ok(match self {
            Codec::Gzip => Box::new(Members::<_, GzDecoder<_>>::new(input, format)),
            Codec::Deflate => Box::new(ZlibReader::new(input)),
            Codec::Bzip2 => Box::new(Members::<_, BzDecoder<_>>::new(input, format)),
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

/// A library's decoder of one file, which reads from a [`Source`].
trait Member<R>: Read {
    /// The first bytes of each file.
    const MAGIC: &'static [u8];
    fn begin(source: Source<R>) -> Self;
    fn source(&self) -> &Source<R>;
    fn end(self) -> Source<R>;
}

impl<R: BufRead> Member<R> for GzDecoder<Source<R>> {
    const MAGIC: &'static [u8] = b"\x1f\x8b";
    fn begin(source: Source<R>) -> Self {
        GzDecoder::new(source)
    }
    fn source(&self) -> &Source<R> {
        self.get_ref()
    }
    fn end(self) -> Source<R> {
        self.into_inner()
    }
}

impl<R: BufRead> Member<R> for BzDecoder<Source<R>> {
    const MAGIC: &'static [u8] = b"BZh";
    fn begin(source: Source<R>) -> Self {
        BzDecoder::new(source)
    }
    fn source(&self) -> &Source<R> {
        self.get_ref()
    }
    fn end(self) -> Source<R> {
        self.into_inner()
    }
}

/// Compressed files that follow each other, up to the end or to bytes that begin no other file.
struct Members<R, M> {
    /// `None` at the end.
    member: Option<M>,
    format: &'static str,
    source: PhantomData<R>,
}

impl<R: BufRead, M: Member<R>> Members<R, M> {
    fn new(input: R, format: &'static str) -> Self {
        let member = Some(M::begin(Source::new(input)));
        Members { member, format, source: PhantomData }
    }
}

impl<R: BufRead, M: Member<R>> Read for Members<R, M> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while let Some(member) = &mut self.member {
            match member.read(buffer) {
                Ok(0) => {}
                Ok(count) => return Ok(count),
                Err(error) => return Err(member.source().explain(self.format, error)),
            }
            let Some(ended) = self.member.take() else { break };
            let mut source = ended.end();
            if source.peek(M::MAGIC.len())? == M::MAGIC {
                self.member = Some(M::begin(source));
            }
        }
        Ok(0)
    }
}

/// Adds format and offset to the errors of zstd's decoder.
struct Located<'a, R: BufRead>(zstd::stream::read::Decoder<'a, Source<R>>, &'static str);

impl<R: BufRead> Read for Located<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| self.0.get_ref().explain(self.1, error))
    }
}
