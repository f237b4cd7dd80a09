//! A whole edit-log segment of any bytes behind a right header.
#![no_main]
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;
use zerohop_fuzz::MemoryFile;
use zerohop_journal::op::OP_SIZE_MAX;

thread_local!(static FILE: RefCell<MemoryFile> = RefCell::new(MemoryFile::new()));

fuzz_target!(|body: &[u8]| {
    FILE.with_borrow_mut(|file| {
        let layout = (-67i32).to_be_bytes();
        let path = file.fill(&[&layout, &[0; 4], body]);
        let _ = zerohop_journal::segment::scan(path, OP_SIZE_MAX);
    });
});
