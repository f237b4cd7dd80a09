//! LZO in Hadoop's frames: any bytes as a stream, as one chunk, and as plain bytes that have to come back.
#![no_main]
use libfuzzer_sys::fuzz_target;
use zerohop_codec::Codec;
use zerohop_codec::lzo::lzo1x;
use zerohop_fuzz::codec::{framed, unpack};

fuzz_target!(|bytes: &[u8]| {
    unpack(Codec::Lzo, bytes);
    unpack(Codec::Lzo, &framed(bytes));
    let mut packed = Vec::new();
    lzo1x::Compressor::default().compress(bytes, &mut packed);
    let mut plain = vec![0; bytes.len()];
    assert_eq!(lzo1x::decompress(&packed, &mut plain), Ok(bytes.len()));
    assert_eq!(plain, bytes);
});
