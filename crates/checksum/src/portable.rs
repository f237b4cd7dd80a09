//! Eight bytes a step through tables: every processor.

use crate::algorithm::Algorithm;
use crate::kernel::Kernel;

pub(crate) const PORTABLE: Kernel = Kernel { name: "portable", supported: || true, chunks, update };

type Tables = [[u32; 256]; 8];

static CRC32: Tables = tables(Algorithm::Crc32);
static CRC32C: Tables = tables(Algorithm::Crc32c);

const fn tables(algorithm: Algorithm) -> Tables {
    let polynomial = algorithm.reflected();
    let mut tables = [[0u32; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ if crc & 1 != 0 { polynomial } else { 0 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

/// Moves the register `state` over `data`.
pub(crate) fn update(algorithm: Algorithm, mut state: u32, data: &[u8]) -> u32 {
    let tables = match algorithm {
        Algorithm::Crc32 => &CRC32,
        Algorithm::Crc32c => &CRC32C,
    };
    let (words, tail) = data.as_chunks::<8>();
    for word in words {
        let word = u64::from_le_bytes(*word) ^ u64::from(state);
        state = (0..8).fold(0, |crc, i| crc ^ tables[7 - i][(word >> (8 * i)) as usize & 0xff]);
    }
    for byte in tail {
        state = (state >> 8) ^ tables[0][((state ^ u32::from(*byte)) & 0xff) as usize];
    }
    state
}

unsafe fn chunks(
    algorithm: Algorithm,
    source: *const u8,
    target: *mut u8,
    chunk_len: usize,
    _readable: usize,
    out: &mut [u32],
) {
    for (i, crc) in out.iter_mut().enumerate() {
        // SAFETY: the caller promises `out.len()` chunks of readable bytes.
        let chunk = unsafe { std::slice::from_raw_parts(source.add(i * chunk_len), chunk_len) };
        if !target.is_null() {
            // SAFETY: the caller promises as much writable, distinct memory at `target`.
            unsafe {
                target.add(i * chunk_len).copy_from_nonoverlapping(chunk.as_ptr(), chunk_len)
            };
        }
        *crc = !update(algorithm, !0, chunk);
    }
}
