//! Segment files: written, read, cut, damaged.

use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;
use zerohop_journal::op::OP_SIZE_MAX;
use zerohop_journal::segment::{self, HEADER_LEN, Scan, SegmentReader, SegmentWriter, Tail};
use zerohop_journal::{EditOp, JournalError, LayoutVersion, op, samples};
use zerohop_wire::TxId;

struct Segment {
    _dir: TempDir,
    path: PathBuf,
}

/// A segment of `bytes` in a directory of its own.
fn stored(bytes: &[u8]) -> Segment {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(segment::in_progress_name(TxId(1)));
    fs::write(&path, bytes).unwrap();
    Segment { _dir: dir, path }
}

fn scan(bytes: &[u8]) -> Result<Scan, JournalError> {
    segment::scan(&stored(bytes).path, OP_SIZE_MAX)
}

fn read_all(bytes: &[u8]) -> Result<Vec<EditOp>, JournalError> {
    let mut reader = SegmentReader::open(&stored(bytes).path, OP_SIZE_MAX)?;
    let mut ops = Vec::new();
    while let Some(record) = reader.next()? {
        ops.push(record.op);
    }
    Ok(ops)
}

/// Three directories made, and the offsets where their records begin and the last one ends.
fn three_mkdirs() -> (Vec<u8>, Vec<usize>) {
    let mut bytes = LayoutVersion::CURRENT.0.to_be_bytes().to_vec();
    bytes.extend_from_slice(&[0; 4]);
    let mut offsets = vec![bytes.len()];
    for txid in 1..=3 {
        let op = op::Mkdir { path: format!("/dir{txid}"), ..op::Mkdir::default() }.into();
        op::encode(&op, TxId(txid), &samples::rpc_ids(), LayoutVersion::CURRENT, &mut bytes);
        offsets.push(bytes.len());
    }
    (bytes, offsets)
}

#[test]
fn what_is_written_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("edits");
    let all = samples::segment(1, &samples::all());
    let mut writer = SegmentWriter::create(&path, LayoutVersion::CURRENT).unwrap();
    writer.append(&all[HEADER_LEN as usize..]).unwrap();
    writer.sync().unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), 1 << 20, "filled ahead");
    let padded = segment::scan(&path, OP_SIZE_MAX).unwrap();
    assert_eq!((padded.valid_len, padded.tail), (all.len() as u64, Tail::Clean));
    writer.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), all);
    let ops = read_all(&all).unwrap();
    assert_eq!(ops[1..ops.len() - 1], samples::all());
}

#[test]
fn a_segment_larger_than_the_readers_buffer() {
    let ops: Vec<EditOp> = (0..20_000)
        .map(|n| op::AllowSnapshot { root: format!("/{n}/{}", "x".repeat(n % 200)) }.into())
        .collect();
    let bytes = samples::segment(5, &ops);
    assert_eq!(read_all(&bytes).unwrap().len(), ops.len() + 2);
    let last = scan(&bytes).unwrap().last;
    assert_eq!(last, Some(TxId(5 + ops.len() as i64 + 1)));
}

/// Where records are passed over, damage among them is told all the same.
#[test]
fn records_before_the_one_that_is_wanted_are_passed_over() {
    let (bytes, offsets) = three_mkdirs();
    let read_from = |bytes: &[u8], txid: i64| {
        let mut reader = SegmentReader::open(&stored(bytes).path, OP_SIZE_MAX)?;
        reader.skip_before(TxId(txid))?;
        Ok::<_, JournalError>(reader.next()?.map(|record| record.txid.0))
    };
    let padded = [&bytes[..], &[0xff; 100]].concat();
    for bytes in [&bytes, &padded] {
        for (txid, found) in [(1, Some(1)), (3, Some(3)), (4, None), (9, None)] {
            assert_eq!(read_from(bytes, txid).unwrap(), found, "from {txid} on");
        }
    }
    let mut damaged = bytes;
    damaged[offsets[1] + 30] ^= 1;
    let error = read_from(&damaged, 3).unwrap_err();
    let JournalError::Corrupt { offset, last_txid, .. } = error else { panic!("{error}") };
    assert_eq!((offset, last_txid), (offsets[1] as u64, 1));
}

/// Whatever is on disk ends in padding, after every sync: blocks are written again as they fill up.
#[test]
fn pieces_of_any_length_are_there_after_their_sync() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("edits");
    let ops: Vec<EditOp> = (0..14_000)
        .map(|n| op::AllowSnapshot { root: format!("/{n}/{}", "x".repeat(n % 300)) }.into())
        .collect();
    let all = samples::segment(1, &ops);
    assert!(all.len() > 2 << 20, "more than what is filled ahead at a time");
    let mut writer = SegmentWriter::create(&path, LayoutVersion::CURRENT).unwrap();
    let (mut at, mut len) = (HEADER_LEN as usize, 1);
    while at < all.len() {
        let end = (at + len).min(all.len());
        writer.append(&all[at..end]).unwrap();
        (at, len) = (end, (len * 7 + 5) % 20_011);
        if len.is_multiple_of(5) {
            writer.sync().unwrap();
            let found = fs::read(&path).unwrap();
            assert!(found[..at] == all[..at], "other bytes before {at}");
            assert!(found[at..].iter().all(|byte| *byte == 0xff), "no padding behind {at}");
        }
    }
    writer.finish().unwrap();
    assert!(fs::read(&path).unwrap() == all);
}

#[test]
fn a_torn_last_record_is_told_from_a_whole_one() {
    let (bytes, offsets) = three_mkdirs();
    for cut in offsets[2] + 1..bytes.len() {
        let scan = scan(&bytes[..cut]).unwrap();
        assert_eq!((scan.last, scan.valid_len), (Some(TxId(2)), offsets[2] as u64));
        assert!(matches!(scan.tail, Tail::Torn(_)));
        assert!(matches!(read_all(&bytes[..cut]), Err(JournalError::Corrupt { .. })));
    }
    assert_eq!(scan(&bytes).unwrap().tail, Tail::Clean);
}

/// A power cut within a record whose room was filled ahead: the rest is padding.
#[test]
fn a_record_torn_into_padding_is_a_torn_tail() {
    let (bytes, offsets) = three_mkdirs();
    for cut in offsets[2] + 1..bytes.len() - 1 {
        let mut padded = bytes[..cut].to_vec();
        padded.resize(bytes.len() + 4096, 0xff);
        let scan = scan(&padded).unwrap();
        assert_eq!((scan.last, scan.valid_len), (Some(TxId(2)), offsets[2] as u64), "cut {cut}");
    }
}

#[test]
fn damage_in_the_middle_says_where() {
    let (bytes, offsets) = three_mkdirs();
    for at in offsets[1]..offsets[2] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        match scan(&damaged) {
            Err(JournalError::Corrupt { offset, last_txid, .. }) => {
                assert_eq!((offset, last_txid), (offsets[1] as u64, 1));
            }
            other => panic!("byte {at}: {other:?}"),
        }
    }
}

#[test]
fn a_missing_record_is_a_gap() {
    let (mut bytes, offsets) = three_mkdirs();
    bytes.drain(offsets[1]..offsets[2]);
    match scan(&bytes) {
        Err(JournalError::Gap { expected, found, offset, .. }) => {
            assert_eq!((expected, found, offset), (2, 3, offsets[1] as u64));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn padding_may_be_zeros_behind_the_first_byte() {
    let (mut bytes, _) = three_mkdirs();
    let len = bytes.len() as u64;
    bytes.extend_from_slice(&[0xff, 0, 0, 0xff]);
    bytes.resize(3 << 20, 0);
    assert_eq!(scan(&bytes).unwrap().valid_len, len);
    assert_eq!(read_all(&bytes).unwrap().len(), 3);
    *bytes.last_mut().unwrap() = 1;
    assert!(matches!(scan(&bytes).unwrap().tail, Tail::Torn(_)));
}

#[test]
fn headers_are_checked() {
    let reason = |bytes: &[u8]| scan(bytes).unwrap_err().to_string();
    assert!(reason(&[]).contains("shorter than a header"));
    assert!(reason(&[0xff; 16]).contains("only padding"));
    assert!(reason(&[0xff, 0xff, 0xff, 0xbc, 0, 0, 0, 0]).contains("layout version -68, newer"));
    assert!(reason(&[0xff, 0xff, 0xff, 0xf0, 0, 0, 0, 0]).contains("-16 is not one"));
    assert!(reason(&[0xff, 0xff, 0xff, 0xbd, 0, 0]).contains("within the layout flags"));
    assert!(reason(&[0xff, 0xff, 0xff, 0xbd, 0, 0, 0, 1]).contains("feature flags"));
    assert_eq!(scan(&[0xff, 0xff, 0xff, 0xbd, 0, 0, 0, 0]).unwrap().last, None);
}

#[test]
fn names() {
    use segment::SegmentKind::*;
    let parse = segment::parse_name;
    assert_eq!(parse(&segment::in_progress_name(TxId(7))), Some((TxId(7), InProgress)));
    let name = segment::finalized_name(TxId(1), TxId(9));
    assert_eq!(name, "edits_0000000000000000001-0000000000000000009");
    assert_eq!(parse(&name), Some((TxId(1), Finalized(TxId(9)))));
    for other in ["edits_2-1", "edits_inprogress_1.empty", "edits_x-1", "edits_+1-2", "fsimage_1"] {
        assert_eq!(parse(other), None, "{other}");
    }
}

proptest::proptest! {
    #[test]
    fn random_files_never_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..500)) {
        let mut with_header = vec![0xff, 0xff, 0xff, 0xbd, 0, 0, 0, 0];
        with_header.extend_from_slice(&bytes);
        let _ = scan(&with_header);
        let _ = read_all(&with_header);
        let _ = scan(&bytes);
    }
}
