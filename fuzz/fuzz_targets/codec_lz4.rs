//! LZ4 in Hadoop's frames: any bytes as a stream, and as one chunk.
#![no_main]
use libfuzzer_sys::fuzz_target;
use zerohop_codec::Codec;
use zerohop_fuzz::codec::{framed, unpack};

fuzz_target!(|bytes: &[u8]| {
    unpack(Codec::Lz4, bytes);
    unpack(Codec::Lz4, &framed(bytes));
});
