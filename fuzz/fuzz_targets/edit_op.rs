//! One edit-log record whose checksum is right and whose body is anything.
#![no_main]
use libfuzzer_sys::fuzz_target;
use zerohop_journal::LayoutVersion;
use zerohop_journal::op::{OP_SIZE_MAX, decode};

fuzz_target!(|input: (u8, u8, Vec<u8>)| {
    let (code, layout, body) = input;
    let mut record = vec![code];
    record.extend_from_slice(&(body.len() as u32 + 16).to_be_bytes());
    record.extend_from_slice(&1i64.to_be_bytes());
    record.extend_from_slice(&body);
    record.extend_from_slice(&crc32fast::hash(&record).to_be_bytes());
    let layout = LayoutVersion(-56 - i32::from(layout % 12));
    let _ = decode(&record, layout, OP_SIZE_MAX);
});
