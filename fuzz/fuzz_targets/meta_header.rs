//! The head of a meta file, and sums checked with what it says.
#![no_main]
use libfuzzer_sys::fuzz_target;
use zerohop_wire::meta_header::{LEN, covered_len, decode, file_len};

fuzz_target!(|bytes: &[u8]| {
    let Some((header, sums)) = bytes.split_first_chunk::<LEN>() else { return };
    if let Ok((_, checksum)) = decode(*header) {
        let _ = covered_len(checksum, bytes.len() as u64);
        let _ = file_len(checksum, sums.len() as u64);
        let _ = checksum.verify(sums, header);
    }
});
