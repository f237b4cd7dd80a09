//! Compressed streams of any bytes.

use std::io::Read;

use zerohop_codec::Codec;

/// Plain bytes after which a stream has shown what it can do.
const ENOUGH: u64 = 4 << 20;

/// Reads a stream to its end or its damage.
pub fn read(mut stream: impl Read) {
    let _ = std::io::copy(&mut stream.by_ref().take(ENOUGH), &mut std::io::sink());
}

/// Unpacks bytes as a stream.
pub fn unpack(codec: Codec, bytes: &[u8]) {
    if let Ok(stream) = codec.buffered_decoder(bytes) {
        read(stream);
    }
}

/// Bytes as the only chunk of a block of Hadoop's frames; the block declares 64 KiB.
pub fn framed(bytes: &[u8]) -> Vec<u8> {
    [&65536_u32.to_be_bytes(), &(bytes.len() as u32).to_be_bytes(), bytes].concat()
}

/// Bytes as the blocks of an lzop file without checksums.
pub fn lzop_file(bytes: &[u8]) -> Vec<u8> {
    let fields = b"\x10\x40\x20\xa0\x09\x40\x01\x05\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    let (a, b) = fields.iter().fold((1_u32, 0_u32), |(a, b), byte| {
        let a = a + u32::from(*byte);
        (a, a + b)
    });
    [b"\x89LZO\0\r\n\x1a\n", fields.as_slice(), &(b << 16 | a).to_be_bytes(), bytes].concat()
}
