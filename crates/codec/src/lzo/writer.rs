//! Writes lzop files as hadoop-lzo does: LZO1X-1, blocks with the Adler-32 of their plain bytes, no name.

use super::header::{ADLER32_PLAIN, LIBRARY, MAGIC, VERSION, VERSION_NEEDED};
use super::lzo1x::Compressor;

/// LZO1X-1, in lzop's numbering.
const METHOD: u8 = 1;
const LEVEL: u8 = 5;
/// A regular file that its owner may read and write and others may read.
const MODE: u32 = 0o100_644;

/// The header of a file; `modified` is in seconds since 1970, 0 where it is not known.
pub(crate) fn file_header(modified: u32) -> Vec<u8> {
    let mut fields = Vec::new();
    for number in [VERSION, LIBRARY, VERSION_NEEDED] {
        fields.extend(number.to_be_bytes());
    }
    fields.extend([METHOD, LEVEL]);
    for number in [ADLER32_PLAIN, MODE, modified, 0] {
        fields.extend(number.to_be_bytes());
    }
    // The length of the name.
    fields.push(0);
    let checksum = simd_adler32::adler32(&fields.as_slice());
    [MAGIC.as_slice(), &fields, &checksum.to_be_bytes()].concat()
}

/// Appends `plain` in blocks of at most `block` bytes; what LZO makes longer is stored as it is.
pub(crate) fn append_blocks(
    plain: &[u8],
    block: usize,
    out: &mut Vec<u8>,
    compressor: &mut Compressor,
) {
    for part in plain.chunks(block) {
        out.extend((part.len() as u32).to_be_bytes());
        let at = out.len();
        out.extend([0; 4]);
        out.extend(simd_adler32::adler32(&part).to_be_bytes());
        let packed_from = out.len();
        compressor.compress(part, out);
        if out.len() - packed_from >= part.len() {
            out.truncate(packed_from);
            out.extend_from_slice(part);
        }
        let length = (out.len() - packed_from) as u32;
        out[at..at + 4].copy_from_slice(&length.to_be_bytes());
    }
}

/// What ends a file.
pub(crate) fn end() -> [u8; 4] {
    [0; 4]
}
