//! Hadoop's frames around block compressions (BlockCompressorStream):
//!
//! ```text
//! block: plain length (u32) | chunks until that is reached
//! chunk: compressed length (u32) | bytes
//! ```
//!
//! All numbers are big-endian. A chunk does not say how much it holds; a block of no bytes has no chunk.

use std::io::{self, BufRead, Read};

use crate::damage::{cut, damaged};
use crate::raw::{CHUNK_MAX, RawCodec, Scratch};
use crate::source::Source;

pub(crate) struct FramedReader<R> {
    source: Source<R>,
    format: &'static str,
    raw: RawCodec,
    /// Plain bytes of the block that no chunk has brought yet.
    left: usize,
    packed: Vec<u8>,
    plain: Vec<u8>,
    /// `used <= ready <= plain.len()`: the bytes between the two were not handed out yet.
    used: usize,
    ready: usize,
    /// A block was read to its end.
    is_begun: bool,
}

impl<R: BufRead> FramedReader<R> {
    pub(crate) fn new(input: R, format: &'static str, raw: RawCodec) -> Self {
        let (packed, plain) = Default::default();
        FramedReader {
            source: Source::new(input),
            format,
            raw,
            left: 0,
            packed,
            plain,
            used: 0,
            ready: 0,
            is_begun: false,
        }
    }

    /// Unpacks the next chunk, into `buffer` where it fits.
    fn next_chunk(&mut self, buffer: &mut [u8]) -> io::Result<Chunk> {
        while self.left == 0 {
            let mut length = [0; 4];
            match self.source.fill(&mut length)? {
                4 => self.left = u32::from_be_bytes(length) as usize,
                // Hadoop ignores up to three bytes after the last block, for example a line end.
                0 => return Ok(Chunk::End),
                _ if self.is_begun => return Ok(Chunk::End),
                _ => return Err(cut(self.format, self.source.offset())),
            }
            self.is_begun = true;
        }
        let start = self.source.offset();
        let length = self.source.u32(self.format)? as usize;
        if length > CHUNK_MAX {
            let cause = format!("a chunk of {length} bytes");
            return Err(damaged(self.format, start, cause));
        }
        self.source.read_into(self.format, length, &mut self.packed)?;
        let limit = self.left;
        let direct = self.raw.unpack_direct(&self.packed, buffer, limit);
        let is_direct = direct.is_some();
        let made = direct.unwrap_or_else(|| self.raw.unpack(&self.packed, &mut self.plain, limit));
        let made = made.map_err(|cause| damaged(self.format, start, cause))?;
        self.left -= made;
        if is_direct {
            return Ok(Chunk::Direct(made));
        }
        (self.used, self.ready) = (0, made);
        Ok(Chunk::Inside)
    }
}

/// What came next in a stream.
enum Chunk {
    End,
    /// A chunk that is in the reader's own buffer.
    Inside,
    /// So many bytes, which are in the caller's buffer.
    Direct(usize),
}

impl<R: BufRead> Read for FramedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.used == self.ready {
            match self.next_chunk(buffer)? {
                Chunk::End => return Ok(0),
                // A chunk of nothing is no end.
                Chunk::Inside | Chunk::Direct(0) => {}
                Chunk::Direct(count) => return Ok(count),
            }
        }
        let ready = &self.plain[self.used..self.ready];
        let count = ready.len().min(buffer.len());
        buffer[..count].copy_from_slice(&ready[..count]);
        self.used += count;
        Ok(count)
    }
}

/// Appends `plain` as blocks of one chunk each, of at most `block` plain bytes.
pub(crate) fn frame(
    raw: RawCodec,
    plain: &[u8],
    block: usize,
    out: &mut Vec<u8>,
    scratch: &mut Scratch,
) {
    if plain.is_empty() {
        out.extend([0; 4]);
    }
    for part in plain.chunks(block) {
        out.extend((part.len() as u32).to_be_bytes());
        let at = out.len();
        out.extend([0; 4]);
        raw.pack(part, out, scratch);
        let length = (out.len() - at - 4) as u32;
        out[at..at + 4].copy_from_slice(&length.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(raw: RawCodec, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        FramedReader::new(bytes, "test", raw).read_to_end(&mut out)?;
        Ok(out)
    }

    /// A block whose plain length is reached by several chunks, as Apache writes large buffers.
    #[test]
    fn a_block_of_several_chunks() {
        for raw in [RawCodec::Lz4, RawCodec::Snappy, RawCodec::Lzo] {
            let mut scratch = Scratch::default();
            let mut bytes = 11_u32.to_be_bytes().to_vec();
            for part in [b"hello ".as_slice(), b"world"] {
                let mut packed = Vec::new();
                raw.pack(part, &mut packed, &mut scratch);
                bytes.extend((packed.len() as u32).to_be_bytes());
                bytes.extend(packed);
            }
            bytes.extend([0; 4]);
            frame(raw, b"!", 100, &mut bytes, &mut scratch);
            assert_eq!(read(raw, &bytes).unwrap(), b"hello world!", "{raw:?}");
            for cut in 1..bytes.len() {
                let text = read(raw, &bytes[..cut]).map(|_| ()).map_err(|e| e.to_string());
                let boundary = text.is_ok();
                assert!(boundary || text.unwrap_err().contains("the stream ends"), "{cut}");
            }
        }
    }

    /// Reads with buffers of so many bytes.
    fn read_by(raw: RawCodec, bytes: &[u8], len: usize) -> io::Result<(Vec<u8>, usize)> {
        let mut reader = FramedReader::new(bytes, "test", raw);
        let (mut all, mut buffer) = (Vec::new(), vec![0; len]);
        loop {
            match reader.read(&mut buffer)? {
                0 => return Ok((all, reader.plain.len())),
                count => all.extend_from_slice(&buffer[..count]),
            }
        }
    }

    #[test]
    fn chunks_that_fit_are_unpacked_in_the_callers_buffer() {
        let plain: Vec<u8> = (0..20_000_u32).map(|n| (n % 251) as u8).collect();
        for raw in [RawCodec::Lz4, RawCodec::Snappy, RawCodec::Lzo] {
            let mut bytes = Vec::new();
            frame(raw, &plain, 7000, &mut bytes, &mut Scratch::default());
            let (large, own) = read_by(raw, &bytes, 7000).unwrap();
            assert!(large == plain && own == 0, "{raw:?} {own}");
            let (small, own) = read_by(raw, &bytes, 6999).unwrap();
            assert!(small == plain && own >= 7000, "{raw:?} {own}");
            // A block that says less than it holds.
            bytes[..4].copy_from_slice(&6000_u32.to_be_bytes());
            for len in [100, 7000] {
                let error = read_by(raw, &bytes, len).unwrap_err().to_string();
                assert!(error.starts_with("test data is damaged at byte 4"), "{raw:?} {error}");
            }
        }
    }

    #[test]
    fn nothing_is_allocated_on_a_declared_length() {
        let mut bytes = u32::MAX.to_be_bytes().to_vec();
        bytes.extend(u32::MAX.to_be_bytes());
        for raw in [RawCodec::Lz4, RawCodec::Snappy, RawCodec::Lzo] {
            let error = read(raw, &bytes).unwrap_err();
            let wanted = "test data is damaged at byte 4: a chunk of 4294967295 bytes";
            assert_eq!(error.to_string(), wanted);
        }
        // Snappy: four bytes that declare a gigabyte.
        let mut bytes = u32::MAX.to_be_bytes().to_vec();
        bytes.extend([0, 0, 0, 5, 0x80, 0x80, 0x80, 0x80, 0x04]);
        let text = read(RawCodec::Snappy, &bytes).unwrap_err().to_string();
        assert!(text.contains("declares 1073741824 bytes"), "{text}");
        // A block that holds more than it says.
        let mut bytes = Vec::new();
        frame(RawCodec::Lz4, &[7; 1000], 1000, &mut bytes, &mut Scratch::default());
        bytes[..4].copy_from_slice(&10_u32.to_be_bytes());
        let text = read(RawCodec::Lz4, &bytes).unwrap_err().to_string();
        assert!(text.contains("more than the 10 bytes"), "{text}");
    }
}
