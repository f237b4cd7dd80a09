//! LZO beside another implementation (lzokay), files with every kind of header, index files and splits.

use std::io::{self, Cursor, Read, Write};

use proptest::prelude::*;
use zerohop_codec::lzo::{LzoIndex, LzopReader, LzopSplit, lzo1x};
use zerohop_codec::{Codec, Compressor, Encoder, Options};

fn pack(plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    lzo1x::Compressor::default().compress(plain, &mut out);
    out
}

fn unpack(packed: &[u8], length: usize) -> Result<Vec<u8>, lzo1x::Error> {
    let mut plain = vec![0; length];
    let made = lzo1x::decompress(packed, &mut plain)?;
    plain.truncate(made);
    Ok(plain)
}

/// Pieces that repeat at all the distances that instructions tell apart.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..400),
        (any::<u8>(), 0_usize..700).prop_map(|(byte, count)| vec![byte; count]),
        (0_usize..20).prop_map(|n| format!("a line of text, and number {n}\n").into_bytes()),
        (1000_u64..60_000).prop_map(|count| (0..count).map(|n| ((n * n) >> 5) as u8).collect()),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn ours_reads_ours_and_lzokays(plain in pieces()) {
        prop_assert!(unpack(&pack(&plain), plain.len()).unwrap() == plain);
        // lzokay refuses to pack nothing.
        if !plain.is_empty() {
            let theirs = lzokay::compress::compress(&plain).unwrap();
            prop_assert!(unpack(&theirs, plain.len()).unwrap() == plain);
        }
    }

    #[test]
    fn lzokay_reads_ours(plain in pieces()) {
        let packed = pack(&plain);
        let mut theirs = vec![0; plain.len()];
        let made = lzokay::decompress::decompress(&packed, &mut theirs).unwrap();
        prop_assert_eq!(made, plain.len());
        prop_assert!(theirs == plain);
    }

    /// Both take the same blocks, and make the same of them.
    #[test]
    fn damaged_blocks_are_judged_alike(plain in pieces(), at in any::<prop::sample::Index>(), to in any::<u8>()) {
        let mut packed = pack(&plain);
        let place = at.index(packed.len());
        packed[place] = to;
        let ours = unpack(&packed, plain.len());
        let mut theirs = vec![0; plain.len()];
        match lzokay::decompress::decompress(&packed, &mut theirs) {
            Ok(made) => prop_assert!(ours.unwrap() == theirs[..made]),
            // lzokay takes 17 as a first byte for literals.
            Err(_) => prop_assert!(ours.is_err() || packed[0] == 17),
        }
    }

    #[test]
    fn random_blocks_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = unpack(&bytes, 1000);
    }
}

#[test]
fn a_reference_to_before_the_start_is_refused() {
    // A literal, then 3 bytes from 2049 before.
    let error = unpack(&[18, b'a', 0x40, 0xff, 0x11, 0, 0], 100).unwrap_err();
    let wanted = lzo1x::Error::LookbehindOverrun { at: 4, distance: 2041, have: 1 };
    assert_eq!(error, wanted);
    assert_eq!(
        error.to_string(),
        "a back reference 4 bytes into the LZO block points 2041 bytes back, and there are 1"
    );
    assert_eq!(unpack(&[17, 0, 0], 10), Ok(Vec::new()));
    assert_eq!(unpack(&[17, 0], 10), Err(lzo1x::Error::InputOverrun));
    assert_eq!(unpack(&[18, 0, 0], 10), Err(lzo1x::Error::InputOverrun));
    assert_eq!(unpack(&[17, 0, 0, 0], 10), Err(lzo1x::Error::InputNotConsumed(3)));
    assert_eq!(unpack(&[20, 1, 2, 3, 17, 0, 0], 2), Err(lzo1x::Error::OutputOverrun));
    assert_eq!(unpack(&[18, 1, 16, 1, 0, 0], 9), Err(lzo1x::Error::BadEnd(6)));
}

/// An lzop file of one stored block, with any flags, before its checksums are made.
fn file(flags: u32, version: u16, change: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let mut fields = version.to_be_bytes().to_vec();
    fields.extend(0x20a0_u16.to_be_bytes());
    if version >= 0x0940 {
        fields.extend(0x0940_u16.to_be_bytes());
    }
    fields.push(1);
    if version >= 0x0940 {
        fields.push(5);
    }
    fields.extend(flags.to_be_bytes());
    fields.extend([0; 8]);
    if version >= 0x0940 {
        fields.extend([0; 4]);
    }
    fields.extend([4]);
    fields.extend(b"name");
    change(&mut fields);
    let sum = |bytes: &[u8]| match flags & 0x1000 {
        0 => simd_adler(bytes),
        _ => crc(bytes),
    };
    let mut out = b"\x89LZO\0\r\n\x1a\n".to_vec();
    out.extend(&fields);
    out.extend(sum(&fields).to_be_bytes());
    if flags & 0x40 != 0 {
        let extra = [0, 0, 0, 2, 7, 7];
        out.extend(extra);
        out.extend(sum(&extra).to_be_bytes());
    }
    let plain = [b'x'; 100];
    let packed = pack(&plain);
    for (plain, packed) in [(&plain[..], &packed[..]), (b"stored".as_slice(), b"stored")] {
        out.extend((plain.len() as u32).to_be_bytes());
        out.extend((packed.len() as u32).to_be_bytes());
        let is_packed = plain != packed;
        for (flag, sum) in [
            (0x1, simd_adler(plain)),
            (0x100, crc(plain)),
            (if is_packed { 0x2 } else { 0 }, simd_adler(packed)),
            (if is_packed { 0x200 } else { 0 }, crc(packed)),
        ] {
            if flags & flag != 0 {
                out.extend(sum.to_be_bytes());
            }
        }
        out.extend(packed);
    }
    out.extend([0; 4]);
    out
}

fn simd_adler(bytes: &[u8]) -> u32 {
    let (a, b) = bytes.iter().fold((1_u32, 0_u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65521;
        (a, (a + b) % 65521)
    });
    b << 16 | a
}

fn crc(bytes: &[u8]) -> u32 {
    let mut sum = flate2::Crc::new();
    sum.update(bytes);
    sum.sum()
}

fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    LzopReader::new(bytes)?.read_to_end(&mut out)?;
    Ok(out)
}

#[test]
fn every_kind_of_header_and_checksum() {
    let wanted = [vec![b'x'; 100], b"stored".to_vec()].concat();
    for flags in [0, 0x1, 0x2, 0x3, 0x100, 0x200, 0x303, 0x1000, 0x1040, 0x40, 0x0300_0303] {
        for version in [0x1040, 0x0940, 0x0900] {
            let bytes = file(flags, version, |_| {});
            assert_eq!(read(&bytes).unwrap(), wanted, "flags {flags:x}, version {version:x}");
            let index = LzoIndex::build(Cursor::new(&bytes)).unwrap();
            assert_eq!(index.offsets().len(), 2, "flags {flags:x}");
            let twice = [bytes.as_slice(), &bytes].concat();
            assert_eq!(read(&twice).unwrap().len(), 2 * wanted.len());
        }
    }
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let cause = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
    assert!(cause(b"no lzop file").contains("at byte 0: this is no lzop file"));
    assert!(cause(b"\x89LZ").contains("the stream ends"));
    let old = file(1, 0x0800, |_| {});
    assert!(cause(&old).contains("too old"), "{}", cause(&old));
    let needed = file(1, 0x1040, |fields| fields[4] = 0x20);
    assert!(cause(&needed).contains("version 0x2040 of lzop is needed"), "{}", cause(&needed));
    let method = file(1, 0x1040, |fields| fields[6] = 0x80);
    assert!(cause(&method).contains("method 128 is not LZO1X"));
    let many = file(0x401, 0x1040, |_| {});
    assert!(cause(&many).contains("one part of several"));
    let mut header = file(1, 0x1040, |_| {});
    header[30] ^= 1;
    assert!(cause(&header).contains("the header's checksum is"), "{}", cause(&header));
    let mut block = file(1, 0x1040, |_| {});
    let at = block.len() - 4 - 3;
    block[at] ^= 1;
    assert!(cause(&block).contains("the adler32 of a block's plain bytes"), "{}", cause(&block));
    // Lengths that cannot be.
    let start =
        LzoIndex::build(Cursor::new(file(0, 0x1040, |_| {}))).unwrap().offsets()[0] as usize;
    for (plain, packed, text) in [
        (u32::MAX, 10, "a block of 4294967295 bytes"),
        (10, 11, "a block of 11 for 10 plain bytes"),
        (10, 0, "a block of 0 for 10 plain bytes"),
        (60 << 20, 20, "which 20 packed ones cannot hold"),
    ] {
        let mut bytes = file(0, 0x1040, |_| {});
        bytes[start..start + 4].copy_from_slice(&u32::to_be_bytes(plain));
        bytes[start + 4..start + 8].copy_from_slice(&u32::to_be_bytes(packed));
        let cause = cause(&bytes);
        assert!(cause.contains(text) && cause.contains(&format!("at byte {start}")), "{cause}");
    }
}

fn lines(count: usize) -> Vec<u8> {
    let line = |n: usize| format!("line {n} {}\n", "x".repeat(n * n % 300)).into_bytes();
    (0..count).flat_map(line).collect()
}

/// A file of many small blocks.
fn small_blocks(plain: &[u8]) -> Vec<u8> {
    let options = Options { buffer: Some(4096), ..Options::default() };
    let compressor = Compressor::new(Codec::Lzop, options).unwrap();
    let mut encoder = Encoder::new(compressor, Vec::new()).unwrap();
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// However a file is split, each of its lines is in one split, whole and in order.
#[test]
fn splits_cover_a_file_once() {
    for plain in [lines(1000), b"one line without an end".repeat(3000), Vec::new(), b"\n".to_vec()]
    {
        let bytes = small_blocks(&plain);
        let index = LzoIndex::build(Cursor::new(&bytes)).unwrap();
        assert_eq!(index.offsets().len(), plain.len().div_ceil(4096));
        let mut written = Vec::new();
        index.write(&mut written).unwrap();
        assert_eq!(LzoIndex::read(written.as_slice()).unwrap(), index);
        for size in [700, 5000, 33_333, 1 << 20] {
            let mut all = Vec::new();
            for start in (0..bytes.len() as u64).step_by(size) {
                let range = start..start + size as u64;
                let split = LzopSplit::new(Cursor::new(&bytes), &index, range).unwrap();
                let before = all.len();
                if let Some(mut split) = split {
                    split.read_to_end(&mut all).unwrap();
                }
                assert!(before == 0 || before == all.len() || all[before - 1] == b'\n');
            }
            assert!(all == plain, "splits of {size} bytes");
        }
    }
}

#[test]
fn damaged_indexes_are_refused() {
    let cause = |bytes: &[u8]| LzoIndex::read(bytes).unwrap_err().to_string();
    assert!(cause(&[0; 7]).contains("no multiple of 8"));
    assert!(cause(&[0; 16]).contains("not in order"));
    let bytes = small_blocks(&lines(100));
    for cut in [0, 5, 20, bytes.len() - 4, bytes.len() - 5, bytes.len() / 2] {
        assert!(LzoIndex::build(Cursor::new(&bytes[..cut])).is_err(), "{cut}");
    }
    // An index of another file leads to no block.
    let index = LzoIndex::read([0, 0, 0, 0, 0, 0, 0, 77].as_slice()).unwrap();
    let mut split = LzopSplit::new(Cursor::new(&bytes), &index, 0..1000).unwrap().unwrap();
    assert!(split.read_to_end(&mut Vec::new()).is_err());
}
