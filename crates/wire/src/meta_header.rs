//! The head of a `.meta` file; the sums of the block's chunks follow it.
//!
//! ```text
//! +---------+------+--------------------+------+------+--
//! | version | type | bytes_per_checksum | sum  | sum  |
//! | i16, 1  | u8   | i32                | u32  | u32  |
//! +---------+------+--------------------+------+------+--
//! ```
//! (`server/datanode/BlockMetadataHeader`)

use crate::checksum_type::{ChecksumError, DataChecksum};

/// Bytes of the header.
pub const LEN: usize = 2 + DataChecksum::ENCODED_LEN;
/// The only version there is.
pub const VERSION: i16 = 1;

/// The header of a meta file with this checksum.
pub const fn encode(checksum: DataChecksum) -> [u8; LEN] {
    let [high, low] = VERSION.to_be_bytes();
    let [a, b, c, d, e] = checksum.encode();
    [high, low, a, b, c, d, e]
}

/// The checksum in a header. Apache reads other versions too, with a warning; so the version is
/// returned and not judged.
pub const fn decode(header: [u8; LEN]) -> Result<(i16, DataChecksum), ChecksumError> {
    let [high, low, a, b, c, d, e] = header;
    match DataChecksum::decode([a, b, c, d, e]) {
        Ok(checksum) => Ok((i16::from_be_bytes([high, low]), checksum)),
        Err(error) => Err(error),
    }
}

/// Where in a meta file the sum of the chunk at block offset `offset` (a chunk boundary) is.
pub const fn sum_offset(checksum: DataChecksum, offset: u64) -> u64 {
    LEN as u64 + offset / checksum.bytes_per_checksum() as u64 * checksum.sum_len() as u64
}

/// How long the meta file of a block of `data_len` bytes is.
pub const fn file_len(checksum: DataChecksum, data_len: u64) -> u64 {
    sum_offset(checksum, checksum.chunk_end(data_len))
}

/// How many bytes of data at most the sums of a meta file of this length cover.
pub const fn covered_len(checksum: DataChecksum, meta_len: u64) -> u64 {
    let sums = meta_len.saturating_sub(LEN as u64);
    match checksum.sum_len() as u64 {
        0 => u64::MAX,
        sum_len => (sums / sum_len).saturating_mul(checksum.bytes_per_checksum() as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_default_header_is_hadoops() {
        let header = encode(DataChecksum::default());
        assert_eq!(header, [0, 1, 2, 0, 0, 2, 0]);
        assert_eq!(decode(header), Ok((VERSION, DataChecksum::default())));
        assert_eq!(file_len(DataChecksum::default(), 1025), 7 + 12);
        assert_eq!(covered_len(DataChecksum::default(), 7 + 11), 1024);
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes: [u8; LEN], len: u64) {
            if let Ok((_, checksum)) = decode(bytes) {
                let _ = covered_len(checksum, len);
                let _ = file_len(checksum, len >> 3);
            }
        }
    }
}
