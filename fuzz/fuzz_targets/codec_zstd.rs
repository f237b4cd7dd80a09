//! A Zstandard stream of any bytes.
#![no_main]
use libfuzzer_sys::fuzz_target;
use zerohop_codec::Codec;
use zerohop_fuzz::codec::unpack;

fuzz_target!(|bytes: &[u8]| {
    unpack(Codec::Zstandard, bytes);
});
