//! An lzop file of any bytes, and one of any blocks behind a good header; its index and a split.
#![no_main]
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;
use zerohop_codec::Codec;
use zerohop_codec::lzo::{LzoIndex, LzopSplit};
use zerohop_fuzz::codec::{lzop_file, read, unpack};

fuzz_target!(|bytes: &[u8]| {
    unpack(Codec::Lzop, bytes);
    let file = lzop_file(bytes);
    unpack(Codec::Lzop, &file);
    let Ok(index) = LzoIndex::build(Cursor::new(&file)) else { return };
    let range = 0..file.len() as u64 / 2;
    if let Ok(Some(split)) = LzopSplit::new(Cursor::new(&file), &index, range) {
        read(split);
    }
});
