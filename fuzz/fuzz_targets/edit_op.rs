//! One edit-log record whose checksum is right and whose body is anything.
#![no_main]
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;
use zerohop_journal::LayoutVersion;
use zerohop_journal::op::{OP_SIZE_MAX, decode};

thread_local!(static RECORD: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) });

fuzz_target!(|input: &[u8]| {
    let [code, layout, body @ ..] = input else { return };
    RECORD.with_borrow_mut(|record| {
        record.clear();
        record.push(*code);
        record.extend_from_slice(&(body.len() as u32 + 16).to_be_bytes());
        record.extend_from_slice(&1i64.to_be_bytes());
        record.extend_from_slice(body);
        let checksum = crc32fast::hash(record);
        record.extend_from_slice(&checksum.to_be_bytes());
        let layout = LayoutVersion(-56 - i32::from(layout % 12));
        let _ = decode(record, layout, OP_SIZE_MAX);
    });
});
