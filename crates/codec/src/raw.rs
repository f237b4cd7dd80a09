//! The block compressions that Hadoop frames itself.

use crate::lzo::lzo1x;

/// Plain bytes of one chunk that are believed to be meant. Hadoop's writers stay below their buffer, 64 or 256 KiB.
pub(crate) const CHUNK_MAX: usize = 64 << 20;
/// Room that is made for a chunk before it is known how much it holds.
const FIRST_ROOM: usize = 256 << 10;

/// A compression of one block of bytes, which does not say where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RawCodec {
    Lz4,
    Snappy,
    Lzo,
}

/// Why a chunk could not be unpacked.
enum Problem {
    /// The chunk holds more than the room that was made for it.
    Room,
    Damaged(String),
}

impl RawCodec {
    /// Unpacks a chunk to the front of `plain` and returns its length, which is at most `limit`. The buffer grows as
    /// far as the chunk really reaches.
    pub(crate) fn unpack(
        self,
        packed: &[u8],
        plain: &mut Vec<u8>,
        limit: usize,
    ) -> Result<usize, String> {
        let limit = limit.min(CHUNK_MAX).min(self.most(packed.len()));
        if self == RawCodec::Snappy {
            return snappy(packed, plain, limit);
        }
        loop {
            let room = plain.len().max(FIRST_ROOM).min(limit);
            if plain.len() < room {
                plain.resize(room, 0);
            }
            match self.into(packed, &mut plain[..room]) {
                Ok(length) => return Ok(length),
                Err(Problem::Room) if room < limit => {
                    let larger = room.saturating_mul(4).min(limit);
                    plain.resize(larger, 0);
                }
                Err(Problem::Room) => return Err(more_than(limit)),
                Err(Problem::Damaged(cause)) => return Err(cause),
            }
        }
    }

    /// Unpacks a chunk into `buffer`, if all fits that the chunk may hold.
    pub(crate) fn unpack_direct(
        self,
        packed: &[u8],
        buffer: &mut [u8],
        limit: usize,
    ) -> Option<Result<usize, String>> {
        let most = match self {
            RawCodec::Snappy => {
                snap::raw::decompress_len(packed).ok().filter(|len| *len <= limit)?
            }
            _ => limit.min(CHUNK_MAX).min(self.most(packed.len())),
        };
        let target = buffer.get_mut(..most)?;
        let unpacked = self.into(packed, target);
        Some(unpacked.map_err(|problem| match problem {
            Problem::Room => more_than(most),
            Problem::Damaged(cause) => cause,
        }))
    }

    fn into(self, packed: &[u8], plain: &mut [u8]) -> Result<usize, Problem> {
        use lz4_flex::block::DecompressError;
        match self {
            RawCodec::Lz4 => match lz4_flex::block::decompress_into(packed, plain) {
                Ok(length) => Ok(length),
                Err(DecompressError::OutputTooSmall { .. }) => Err(Problem::Room),
                Err(error) => Err(Problem::Damaged(error.to_string())),
            },
            RawCodec::Snappy => {
                let unpacked = snap::raw::Decoder::new().decompress(packed, plain);
                unpacked.map_err(|error| Problem::Damaged(error.to_string()))
            }
            RawCodec::Lzo => match lzo1x::decompress(packed, plain) {
                Ok(length) => Ok(length),
                Err(lzo1x::Error::OutputOverrun) => Err(Problem::Room),
                Err(error) => Err(Problem::Damaged(error.to_string())),
            },
        }
    }

    /// The most plain bytes that so many compressed ones can stand for.
    fn most(self, packed: usize) -> usize {
        match self {
            // A copy of 64 bytes takes three.
            RawCodec::Snappy => packed.saturating_mul(22).saturating_add(64),
            RawCodec::Lz4 | RawCodec::Lzo => packed.saturating_mul(255).saturating_add(64),
        }
    }

    /// Appends a compressed chunk to `out`.
    pub(crate) fn pack(self, plain: &[u8], out: &mut Vec<u8>, scratch: &mut Scratch) {
        let start = out.len();
        match self {
            RawCodec::Lz4 => {
                out.resize(start + lz4_flex::block::get_maximum_output_size(plain.len()), 0);
                let count = lz4_flex::block::compress_into(plain, &mut out[start..]);
                out.truncate(start + count.expect("room for any chunk was made"));
            }
            RawCodec::Snappy => {
                out.resize(start + snap::raw::max_compress_len(plain.len()), 0);
                let count = scratch.snappy.compress(plain, &mut out[start..]);
                out.truncate(start + count.expect("room for any chunk was made"));
            }
            RawCodec::Lzo => scratch.lzo.compress(plain, out),
        }
    }
}

fn more_than(limit: usize) -> String {
    format!("a chunk holds more than the {limit} bytes it may")
}

/// Memory that compressing a chunk needs, kept from one to the next.
pub(crate) struct Scratch {
    snappy: snap::raw::Encoder,
    pub(crate) lzo: lzo1x::Compressor,
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch { snappy: snap::raw::Encoder::new(), lzo: lzo1x::Compressor::default() }
    }
}

/// Snappy says in front how much a chunk holds.
fn snappy(packed: &[u8], plain: &mut Vec<u8>, limit: usize) -> Result<usize, String> {
    let length = snap::raw::decompress_len(packed).map_err(|error| error.to_string())?;
    if length > limit {
        return Err(format!("a chunk declares {length} bytes, and cannot hold more than {limit}"));
    }
    if plain.len() < length {
        plain.resize(length, 0);
    }
    let plain = &mut plain[..length];
    snap::raw::Decoder::new().decompress(packed, plain).map_err(|error| error.to_string())
}
