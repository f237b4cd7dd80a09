//! Snappy in Hadoop's frames: any bytes as a stream, and as one chunk.
#![no_main]
use libfuzzer_sys::fuzz_target;
use zerohop_codec::Codec;
use zerohop_fuzz::codec::{framed, unpack};

fuzz_target!(|bytes: &[u8]| {
    unpack(Codec::Snappy, bytes);
    unpack(Codec::Snappy, &framed(bytes));
});
