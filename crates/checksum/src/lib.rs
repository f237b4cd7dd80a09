//! CRC32C and CRC32 of chunks, at the speed memory is read.
//!
//! HDFS keeps one 32-bit CRC for each `bytes_per_checksum` (512) bytes of a block; chunks are
//! independent, so several are computed at once with no combine step. The sums are big-endian and
//! lie at any alignment. Every function takes data that starts at a chunk boundary; only the last
//! chunk may be short. The kernel is chosen once, at run time, by what the processor can do.

mod combine;
mod kernel;
mod poly;
mod portable;
mod run;

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use run::{compute, copy_and_compute, copy_and_verify, verify};

use std::fmt;

/// Bytes of one checksum.
pub const SUM_LEN: usize = 4;

/// The two CRCs of HDFS; both reflected, both with all ones before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// The CRC of gzip and zlib (polynomial 0x04c11db7).
    Crc32,
    /// Castagnoli's (polynomial 0x1edc6f41), the default of HDFS.
    Crc32c,
}

impl Algorithm {
    /// The CRC of all of `data`.
    pub fn crc(self, data: &[u8]) -> u32 {
        self.update(0, data)
    }

    /// The CRC of the bytes whose CRC is `crc`, followed by `data`; 0 is the CRC of no bytes.
    pub fn update(self, crc: u32, data: &[u8]) -> u32 {
        !kernel::chosen().update(self, !crc, data)
    }

    /// The CRC of a run of bytes from the CRCs of its first part and of its second, which is
    /// `second_len` bytes long (composite CRCs of Hadoop's COMPOSITE_CRC file checksum).
    pub fn combine(self, first: u32, second: u32, second_len: u64) -> u32 {
        combine::combine(self, first, second, second_len)
    }

    /// What [`combine`](Self::combine) needs of a length: compute it once for many equal lengths.
    pub fn shift(self, second_len: u64) -> Shift {
        Shift { algorithm: self, monomial: combine::monomial(self, second_len) }
    }
}

/// A length made ready for combining CRCs; see [`Algorithm::shift`].
#[derive(Clone, Copy, Debug)]
pub struct Shift {
    algorithm: Algorithm,
    monomial: u32,
}

impl Shift {
    /// The CRC of both parts, of which the second has this shift's length.
    pub fn combine(&self, first: u32, second: u32) -> u32 {
        combine::multiply(self.algorithm, first, self.monomial) ^ second
    }
}

/// The first chunk whose CRC is not the one expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadChunk {
    /// Its number, from 0, in the data given.
    pub index: usize,
    /// The CRC that was stored or sent.
    pub expected: u32,
    /// The CRC of the bytes.
    pub actual: u32,
}

impl fmt::Display for BadChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, expected, actual } = self;
        write!(f, "chunk {index}: expected CRC {expected:#010x}, computed {actual:#010x}")
    }
}

impl std::error::Error for BadChunk {}

/// The number of chunks, the last one perhaps short, in `len` bytes.
pub const fn chunk_count(len: usize, bytes_per_checksum: usize) -> usize {
    len.div_ceil(bytes_per_checksum)
}

/// The name of the kernel this processor runs.
pub fn kernel_name() -> &'static str {
    kernel::chosen().name
}

#[cfg(test)]
mod oracle_test;
