//! A whole edit-log segment of any bytes behind a right header.
#![no_main]
use libfuzzer_sys::fuzz_target;
use zerohop_journal::op::OP_SIZE_MAX;

fuzz_target!(|body: &[u8]| {
    let path = std::env::temp_dir().join(format!("fuzz-segment-{}", std::process::id()));
    let mut bytes = (-67i32).to_be_bytes().to_vec();
    bytes.extend_from_slice(&0i32.to_be_bytes());
    bytes.extend_from_slice(body);
    std::fs::write(&path, bytes).expect("the temporary folder is writable");
    let _ = zerohop_journal::segment::scan(&path, OP_SIZE_MAX);
});
