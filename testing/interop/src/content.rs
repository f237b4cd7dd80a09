//! File content as a function of a seed and an offset (the same as `Content.java`), so that any
//! part of a file can be checked without keeping what was written.

/// Eight bytes of the stream of `seed`, little end first, from offset `index * 8`.
pub fn word(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(index).wrapping_add(1);
    z = z.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The bytes `[offset, offset + out.len())` of the stream of `seed`.
pub fn fill(seed: u64, offset: u64, out: &mut [u8]) {
    for (at, byte) in (offset..).zip(out) {
        *byte = (word(seed, at >> 3) >> (8 * (at & 7))) as u8;
    }
}

/// The CRC-32 that a driver reports for `len` bytes from `offset` of the stream of `seed`.
pub fn crc(seed: u64, offset: u64, len: u64) -> String {
    let mut hasher = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    let mut done = 0;
    while done < len {
        let part = &mut buffer[..(len - done).min(1 << 16) as usize];
        fill(seed, offset + done, part);
        hasher.update(part);
        done += part.len() as u64;
    }
    format!("{:08x}", hasher.finalize())
}
