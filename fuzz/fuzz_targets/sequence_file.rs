//! A SequenceFile of any bytes.
#![no_main]
use libfuzzer_sys::fuzz_target;
use zerohop_codec::files::sequence;

fuzz_target!(|bytes: &[u8]| {
    let _ = sequence::write_lines(bytes, &mut std::io::sink());
    let _ = sequence::write_lines([b"SEQ\x06", bytes].concat().as_slice(), &mut std::io::sink());
});
