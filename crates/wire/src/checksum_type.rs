//! How a block's bytes are summed: the type and the bytes of a chunk.
//!
//! ```text
//! +------+--------------------+
//! | type | bytes_per_checksum |
//! | u8   | i32                |
//! +------+--------------------+
//! ```
//! (`util/DataChecksum`; this is also how meta files hold it.)

use std::fmt;
use zerohop_checksum::{Algorithm, BadChunk, SUM_LEN, SharedBytes, chunk_count};
use zerohop_proto::hdfs::{ChecksumProto, ChecksumTypeProto};

/// The kind of a checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChecksumType {
    /// None at all.
    Null,
    /// That of gzip.
    Crc32,
    /// Castagnoli's, the default.
    Crc32c,
}

impl ChecksumType {
    /// The type with this number in meta files and messages.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Null),
            1 => Some(Self::Crc32),
            2 => Some(Self::Crc32c),
            _ => None,
        }
    }

    /// Its name in Hadoop's configuration and checksum names.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Crc32 => "CRC32",
            Self::Crc32c => "CRC32C",
        }
    }

    /// The type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Null, Self::Crc32, Self::Crc32c].into_iter().find(|kind| kind.name() == name)
    }

    /// The CRC behind it.
    pub const fn algorithm(self) -> Option<Algorithm> {
        match self {
            Self::Null => None,
            Self::Crc32 => Some(Algorithm::Crc32),
            Self::Crc32c => Some(Algorithm::Crc32c),
        }
    }
}

impl From<ChecksumTypeProto> for ChecksumType {
    fn from(proto: ChecksumTypeProto) -> Self {
        match proto {
            ChecksumTypeProto::ChecksumNull => Self::Null,
            ChecksumTypeProto::ChecksumCrc32 => Self::Crc32,
            ChecksumTypeProto::ChecksumCrc32c => Self::Crc32c,
        }
    }
}

impl From<ChecksumType> for ChecksumTypeProto {
    fn from(kind: ChecksumType) -> Self {
        match kind {
            ChecksumType::Null => Self::ChecksumNull,
            ChecksumType::Crc32 => Self::ChecksumCrc32,
            ChecksumType::Crc32c => Self::ChecksumCrc32c,
        }
    }
}

/// The checksums do not fit the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksumError {
    /// The type or the chunk's length cannot be: `(type, bytes per checksum)`.
    Invalid(i32, i64),
    /// Not one sum for each chunk.
    Length {
        /// Bytes of data.
        data_len: usize,
        /// Bytes of checksums.
        sums_len: usize,
    },
    /// Data and checksum differ.
    Mismatch(BadChunk),
}

impl fmt::Display for ChecksumError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(kind, len) => {
                write!(f, "no checksum has type {kind} and {len} bytes a chunk")
            }
            Self::Length { data_len, sums_len } => {
                write!(f, "{sums_len} bytes of checksums do not fit {data_len} bytes of data")
            }
            Self::Mismatch(bad) => write!(f, "checksum mismatch: {bad}"),
        }
    }
}

impl std::error::Error for ChecksumError {}

impl From<BadChunk> for ChecksumError {
    fn from(bad: BadChunk) -> Self {
        Self::Mismatch(bad)
    }
}

/// A checksum type with the bytes that each sum covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DataChecksum {
    kind: ChecksumType,
    bytes_per_checksum: u32,
}

impl Default for DataChecksum {
    fn default() -> Self {
        Self { kind: ChecksumType::Crc32c, bytes_per_checksum: 512 }
    }
}

impl DataChecksum {
    /// Bytes of its encoding.
    pub const ENCODED_LEN: usize = 5;

    /// `bytes_per_checksum` from 1 to 2^31 - 1.
    pub const fn new(kind: ChecksumType, bytes_per_checksum: u32) -> Result<Self, ChecksumError> {
        if bytes_per_checksum == 0 || bytes_per_checksum > i32::MAX as u32 {
            return Err(ChecksumError::Invalid(kind as i32, bytes_per_checksum as i64));
        }
        Ok(Self { kind, bytes_per_checksum })
    }

    /// The type.
    pub const fn kind(&self) -> ChecksumType {
        self.kind
    }

    /// Bytes of data that one sum covers; at least 1.
    pub const fn bytes_per_checksum(&self) -> usize {
        self.bytes_per_checksum as usize
    }

    /// Bytes of one sum: 4, or 0 for the null type.
    pub const fn sum_len(&self) -> usize {
        match self.kind {
            ChecksumType::Null => 0,
            _ => SUM_LEN,
        }
    }

    /// Bytes of the sums of `data_len` bytes that begin at a chunk boundary.
    pub const fn sums_len(&self, data_len: usize) -> usize {
        chunk_count(data_len, self.bytes_per_checksum()) * self.sum_len()
    }

    /// The boundary of a chunk at or before `offset`.
    pub const fn chunk_start(&self, offset: u64) -> u64 {
        offset - offset % self.bytes_per_checksum as u64
    }

    /// The boundary of a chunk at or after `offset`.
    pub const fn chunk_end(&self, offset: u64) -> u64 {
        self.chunk_start(offset.saturating_add(self.bytes_per_checksum as u64 - 1))
    }

    /// Writes the sums of `data` into `sums`.
    pub fn compute(&self, data: &[u8], sums: &mut [u8]) -> Result<(), ChecksumError> {
        self.check_len(data.len(), sums.len())?;
        if let Some(algorithm) = self.kind.algorithm() {
            zerohop_checksum::compute(algorithm, self.bytes_per_checksum(), data, sums);
        }
        Ok(())
    }

    /// Checks `data`, which begins at a chunk boundary, against `sums`.
    pub fn verify(&self, data: &[u8], sums: &[u8]) -> Result<(), ChecksumError> {
        self.verify_shared(data.into(), sums.into())
    }

    /// As [`verify`](Self::verify), of bytes that may change: it says what they were when they were read
    /// here.
    pub fn verify_shared(
        &self,
        data: SharedBytes<'_>,
        sums: SharedBytes<'_>,
    ) -> Result<(), ChecksumError> {
        self.check_len(data.len(), sums.len())?;
        if let Some(algorithm) = self.kind.algorithm() {
            zerohop_checksum::verify(algorithm, self.bytes_per_checksum(), data, sums)?;
        }
        Ok(())
    }

    /// As [`verify`](Self::verify), while copying `source` to `target` of the same length: after `Ok` the
    /// bytes of `target` match `sums`, even if `source` changed meanwhile.
    pub fn copy_and_verify(
        &self,
        source: SharedBytes<'_>,
        target: &mut [u8],
        sums: SharedBytes<'_>,
    ) -> Result<(), ChecksumError> {
        self.check_len(source.len(), sums.len())?;
        if target.len() != source.len() {
            return Err(ChecksumError::Length { data_len: target.len(), sums_len: sums.len() });
        }
        match self.kind.algorithm() {
            Some(algorithm) => {
                let chunk_len = self.bytes_per_checksum();
                zerohop_checksum::copy_and_verify(algorithm, chunk_len, source, target, sums)?;
            }
            None => source.copy_to(target),
        }
        Ok(())
    }

    const fn check_len(&self, data_len: usize, sums_len: usize) -> Result<(), ChecksumError> {
        if sums_len == self.sums_len(data_len) {
            return Ok(());
        }
        Err(ChecksumError::Length { data_len, sums_len })
    }

    /// The five bytes of a meta file's header.
    pub const fn encode(&self) -> [u8; Self::ENCODED_LEN] {
        let [a, b, c, d] = self.bytes_per_checksum.to_be_bytes();
        [self.kind as u8, a, b, c, d]
    }

    /// Decodes five bytes of a meta file's header.
    pub const fn decode(bytes: [u8; Self::ENCODED_LEN]) -> Result<Self, ChecksumError> {
        let [kind, a, b, c, d] = bytes;
        let bytes_per_checksum = u32::from_be_bytes([a, b, c, d]);
        match ChecksumType::from_code(kind) {
            Some(kind) => Self::new(kind, bytes_per_checksum),
            None => Err(ChecksumError::Invalid(kind as i32, bytes_per_checksum as i64)),
        }
    }
}

impl TryFrom<&ChecksumProto> for DataChecksum {
    type Error = ChecksumError;

    fn try_from(proto: &ChecksumProto) -> Result<Self, ChecksumError> {
        let invalid = || ChecksumError::Invalid(proto.r#type, i64::from(proto.bytes_per_checksum));
        let kind = ChecksumTypeProto::try_from(proto.r#type).map_err(|_| invalid())?;
        Self::new(kind.into(), proto.bytes_per_checksum)
    }
}

impl From<DataChecksum> for ChecksumProto {
    fn from(checksum: DataChecksum) -> Self {
        Self {
            r#type: ChecksumTypeProto::from(checksum.kind).into(),
            bytes_per_checksum: checksum.bytes_per_checksum,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_decodes_encodes_to_the_same(bytes: [u8; 5]) {
            if let Ok(checksum) = DataChecksum::decode(bytes) {
                prop_assert_eq!(checksum.encode(), bytes);
                let proto = ChecksumProto::from(checksum);
                prop_assert_eq!(DataChecksum::try_from(&proto), Ok(checksum));
            }
        }
    }

    #[test]
    fn lengths_are_checked_before_sums() {
        let checksum = DataChecksum::default();
        let error = checksum.verify(&[0; 513], &[0; 4]);
        assert_eq!(error, Err(ChecksumError::Length { data_len: 513, sums_len: 4 }));
        let null = DataChecksum::new(ChecksumType::Null, 512).unwrap();
        assert_eq!(null.verify(&[0; 513], &[]), Ok(()));
    }

    #[test]
    fn chunk_boundaries_enclose_a_range() {
        let checksum = DataChecksum::default();
        assert_eq!((checksum.chunk_start(513), checksum.chunk_end(513)), (512, 1024));
        assert_eq!((checksum.chunk_start(1024), checksum.chunk_end(1024)), (1024, 1024));
    }
}
