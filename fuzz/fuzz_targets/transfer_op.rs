//! The request at the head of a data-transfer connection.
#![no_main]
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = zerohop_wire::transfer::op::take(bytes);
});
