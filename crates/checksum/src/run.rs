//! The public calls: over one run of bytes, and over many chunks (batches of whole ones, then the short one).

use crate::algorithm::Algorithm;
use crate::kernel::Kernel;
use crate::kernels::chosen;
use crate::shared::SharedBytes;
use std::fmt;

/// Bytes of one checksum.
pub const SUM_LEN: usize = 4;

/// Chunks whose CRCs are computed before they are compared or stored: 64 of 512 bytes fit the
/// first-level cache.
const BATCH: usize = 64;

impl Algorithm {
    /// The CRC of all of `data`.
    pub fn crc(self, data: &[u8]) -> u32 {
        self.update(0, data)
    }

    /// The CRC of the bytes whose CRC is `crc`, followed by `data`; 0 is the CRC of no bytes.
    pub fn update(self, crc: u32, data: &[u8]) -> u32 {
        !chosen().update(self, !crc, data.into())
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

/// Writes the CRC of each chunk of `data` into `sums`, big-endian.
///
/// # Panics
/// If `bytes_per_checksum` is 0 or `sums` is not [`SUM_LEN`] bytes for each chunk.
pub fn compute(algorithm: Algorithm, bytes_per_checksum: usize, data: &[u8], sums: &mut [u8]) {
    store(algorithm, bytes_per_checksum, data.into(), None, sums);
}

/// As [`compute`], while copying `source` to `target`.
///
/// # Panics
/// As [`compute`], and if `target` is not as long as `source`.
pub fn copy_and_compute(
    algorithm: Algorithm,
    bytes_per_checksum: usize,
    source: &[u8],
    target: &mut [u8],
    sums: &mut [u8],
) {
    store(algorithm, bytes_per_checksum, source.into(), Some(target), sums);
}

/// Checks each chunk of `data` against its big-endian CRC in `sums`. Of data that may change it says
/// what they were when they were read here.
///
/// # Panics
/// If `bytes_per_checksum` is 0 or `sums` is not [`SUM_LEN`] bytes for each chunk.
pub fn verify<'a>(
    algorithm: Algorithm,
    bytes_per_checksum: usize,
    data: impl Into<SharedBytes<'a>>,
    sums: impl Into<SharedBytes<'a>>,
) -> Result<(), BadChunk> {
    check(algorithm, bytes_per_checksum, data.into(), None, sums.into())
}

/// As [`verify`], while copying `source` to `target`: after `Ok` the bytes of `target` match `sums`,
/// whatever happened to `source` meanwhile. After an error `target` holds what was copied until
/// then, good chunks or not.
///
/// # Panics
/// As [`verify`], and if `target` is not as long as `source`.
pub fn copy_and_verify<'a>(
    algorithm: Algorithm,
    bytes_per_checksum: usize,
    source: impl Into<SharedBytes<'a>>,
    target: &mut [u8],
    sums: impl Into<SharedBytes<'a>>,
) -> Result<(), BadChunk> {
    check(algorithm, bytes_per_checksum, source.into(), Some(target), sums.into())
}

fn store(
    algorithm: Algorithm,
    chunk_len: usize,
    source: SharedBytes<'_>,
    target: Option<&mut [u8]>,
    sums: &mut [u8],
) {
    assert_eq!(sums.len(), chunk_count(source.len(), chunk_len) * SUM_LEN, "length of the sums");
    let mut out = sums.chunks_exact_mut(SUM_LEN);
    let done = each(chosen(), algorithm, chunk_len, source, target, |crcs| {
        for (crc, sum) in crcs.iter().zip(&mut out) {
            sum.copy_from_slice(&crc.to_be_bytes());
        }
        Ok::<_, BadChunk>(())
    });
    debug_assert!(done.is_ok());
}

fn check(
    algorithm: Algorithm,
    chunk_len: usize,
    source: SharedBytes<'_>,
    target: Option<&mut [u8]>,
    sums: SharedBytes<'_>,
) -> Result<(), BadChunk> {
    assert_eq!(sums.len(), chunk_count(source.len(), chunk_len) * SUM_LEN, "length of the sums");
    let mut expected = [[0; SUM_LEN]; BATCH];
    let mut first = 0;
    each(chosen(), algorithm, chunk_len, source, target, |crcs| {
        let expected = &mut expected[..crcs.len()];
        let range = first * SUM_LEN..(first + crcs.len()) * SUM_LEN;
        let sums = sums.get(range).expect("a sum for each chunk");
        sums.copy_to(expected.as_flattened_mut());
        compare(crcs, expected, first)?;
        first += crcs.len();
        Ok(())
    })
}

fn compare(crcs: &[u32], sums: &[[u8; SUM_LEN]], first: usize) -> Result<(), BadChunk> {
    let differ =
        crcs.iter().zip(sums).fold(0, |d, (crc, sum)| d | (crc ^ u32::from_be_bytes(*sum)));
    if differ == 0 {
        return Ok(());
    }
    let bad = crcs.iter().zip(sums).position(|(crc, sum)| crc.to_be_bytes() != *sum);
    let at = bad.unwrap_or_default();
    let expected = u32::from_be_bytes(sums[at]);
    Err(BadChunk { index: first + at, expected, actual: crcs[at] })
}

/// Gives the CRCs of all chunks to `take`, at most [`BATCH`] at once.
pub(crate) fn each<E>(
    kernel: &Kernel,
    algorithm: Algorithm,
    chunk_len: usize,
    source: SharedBytes<'_>,
    mut target: Option<&mut [u8]>,
    mut take: impl FnMut(&[u32]) -> Result<(), E>,
) -> Result<(), E> {
    let mut crcs = [0u32; BATCH];
    let mut at = 0;
    while at < source.len() {
        let len = chunk_len.saturating_mul(BATCH).min(source.len() - at);
        let copy = target.as_deref_mut().map(|target| &mut target[at..at + len]);
        let crcs = &mut crcs[..chunk_count(len, chunk_len)];
        let rest = source.get(at..source.len()).expect("a part of the source");
        kernel.chunks(algorithm, chunk_len, (rest, len), copy, crcs);
        take(crcs)?;
        at += len;
    }
    Ok(())
}
