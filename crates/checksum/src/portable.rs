//! Eight bytes a step through tables: every processor.

use crate::algorithm::Algorithm;
use crate::kernel::Kernel;
use crate::shared::copy_once;

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

/// Moves the register `state` over `len` bytes, each of which is read once.
///
/// # Safety
/// `len` bytes are readable at `data`.
pub(crate) unsafe fn update(
    algorithm: Algorithm,
    mut state: u32,
    data: *const u8,
    len: usize,
) -> u32 {
    let tables = match algorithm {
        Algorithm::Crc32 => &CRC32,
        Algorithm::Crc32c => &CRC32C,
    };
    let words = len / 8;
    for at in 0..words {
        // SAFETY: the word lies in the `len` bytes that the caller promises.
        let word = unsafe { data.cast::<u64>().add(at).read_unaligned() };
        let word = u64::from_le(word) ^ u64::from(state);
        state = (0..8).fold(0, |crc, i| crc ^ tables[7 - i][(word >> (8 * i)) as usize & 0xff]);
    }
    for at in words * 8..len {
        // SAFETY: as above.
        let byte = unsafe { data.add(at).read() };
        state = (state >> 8) ^ tables[0][((state ^ u32::from(byte)) & 0xff) as usize];
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
        // SAFETY: the caller promises `out.len()` chunks of readable bytes, and as much writable,
        // distinct memory at a `target` that is not null.
        unsafe {
            let mut chunk = source.add(i * chunk_len);
            if !target.is_null() {
                let copy = target.add(i * chunk_len);
                copy_once(chunk, copy, chunk_len);
                chunk = copy;
            }
            *crc = !update(algorithm, !0, chunk, chunk_len);
        }
    }
}
