//! A block report's buffers, cut anywhere.
#![no_main]
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use zerohop_wire::block_report::{Report, decode_longs};

fuzz_target!(|input: (u64, Vec<Vec<u8>>, Vec<u64>)| {
    let (count, buffers, longs) = input;
    let buffers: Vec<Bytes> = buffers.into_iter().map(Bytes::from).collect();
    for replica in Report::new(count, &buffers) {
        if replica.is_err() {
            break;
        }
    }
    let _ = decode_longs(&longs);
});
