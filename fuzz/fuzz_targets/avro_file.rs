//! An Avro file of any bytes, and one of any blocks behind a good header.
#![no_main]
use libfuzzer_sys::fuzz_target;
use zerohop_codec::files::avro;

/// Records of several kinds of fields.
const HEADER: &[u8] = b"Obj\x01\x02\x16avro.schema\xac\x03{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"long\"},{\"name\":\"b\",\"type\":[\"null\",\"string\",\"R\"]},{\"name\":\"c\",\"type\":{\"type\":\"array\",\"items\":\"double\"}},{\"name\":\"d\",\"type\":{\"type\":\"map\",\"values\":\"bytes\"}}]}\x00syncsyncsyncsync";

fuzz_target!(|bytes: &[u8]| {
    let _ = avro::write_lines(bytes, &mut std::io::sink());
    let _ = avro::write_lines([HEADER, bytes].concat().as_slice(), &mut std::io::sink());
});
