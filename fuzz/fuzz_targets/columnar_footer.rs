//! The footers of ORC and Parquet files of any bytes.
#![no_main]
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;
use zerohop_codec::files::{orc, parquet};

fuzz_target!(|bytes: &[u8]| {
    let _ = orc::write_summary(Cursor::new(bytes), &mut std::io::sink());
    let _ = parquet::write_summary(Cursor::new(bytes), &mut std::io::sink());
    let length = (bytes.len() as u32).to_le_bytes();
    let file = [bytes, &length, b"PAR1"].concat();
    let _ = parquet::write_summary(Cursor::new(file), &mut std::io::sink());
    // A postscript without compression: footer length, version, magic.
    let mut post = vec![0x08];
    let mut rest = bytes.len();
    while rest >= 0x80 {
        post.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    post.push(rest as u8);
    post.extend(b"\x10\x00\x82\xf4\x03\x03ORC");
    let file = [bytes, &post, &[post.len() as u8]].concat();
    let _ = orc::write_summary(Cursor::new(file), &mut std::io::sink());
});
