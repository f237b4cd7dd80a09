//! Every operation survives its bytes, in every layout; bad bytes are errors.

use proptest::prelude::*;
use zerohop_journal::op::{self, EditOp, OP_CODES, OP_SIZE_MAX, Record};
use zerohop_journal::types::RpcIds;
use zerohop_journal::{DecodeError, LayoutVersion, samples};
use zerohop_proto::hdfs::{XAttrEditLogProto, XAttrProto};
use zerohop_wire::TxId;

fn encode(op: &EditOp, layout: LayoutVersion) -> Vec<u8> {
    let mut bytes = Vec::new();
    op::encode(op, TxId(77), &samples::rpc_ids(), layout, &mut bytes);
    bytes
}

fn decode(bytes: &[u8], layout: LayoutVersion) -> Result<Record, DecodeError> {
    op::decode(bytes, layout, OP_SIZE_MAX).map(|(record, _)| record)
}

#[test]
fn there_is_a_sample_of_every_code() {
    let codes: Vec<u8> = samples::all().iter().map(EditOp::code).collect();
    let all = OP_CODES.iter().map(|(code, _)| *code);
    assert_eq!(codes, all.filter(|code| !matches!(code, 23 | 24)).collect::<Vec<_>>());
}

#[test]
fn every_operation_survives_its_bytes() {
    for op in samples::all() {
        let bytes = encode(&op, LayoutVersion::CURRENT);
        let (record, len) = op::decode(&bytes, LayoutVersion::CURRENT, OP_SIZE_MAX).unwrap();
        let rpc = if op.has_rpc_ids() { samples::rpc_ids() } else { RpcIds::NONE };
        assert_eq!((record, len), (Record { txid: TxId(77), op, rpc }, bytes.len()));
    }
}

/// What an old layout cannot say is lost, nothing else: the second time round nothing changes.
#[test]
fn every_layout_survives_its_bytes() {
    for layout in (-67..=-56).map(LayoutVersion) {
        for op in samples::all() {
            let once = decode(&encode(&op, layout), layout).unwrap().op;
            let twice = decode(&encode(&once, layout), layout).unwrap().op;
            assert_eq!(once, twice, "{layout}");
            if layout == LayoutVersion::CURRENT {
                assert_eq!(once, op);
            }
        }
    }
}

#[test]
fn strings_too_long_for_their_length_are_cut_as_hadoop_cuts_them() {
    let op = op::AllowSnapshot { root: "\u{65e5}".repeat(30_000) }.into();
    match decode(&encode(&op, LayoutVersion::CURRENT), LayoutVersion::CURRENT).unwrap().op {
        EditOp::AllowSnapshot(cut) => assert_eq!(cut.root.chars().count(), 0xffff / 3),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_client_id_of_another_length_is_none() {
    assert_eq!(RpcIds::new(b"short", 3), RpcIds::NONE);
    assert_eq!(RpcIds::new(b"0123456789abcdef", 42), samples::rpc_ids());
}

fn seal(code: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![code];
    bytes.extend_from_slice(&(12 + body.len() as u32).to_be_bytes());
    bytes.extend_from_slice(&7i64.to_be_bytes());
    bytes.extend_from_slice(body);
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
    bytes
}

#[test]
fn unknown_codes_and_leftovers_are_errors() {
    let error = |bytes: &[u8]| decode(bytes, LayoutVersion::CURRENT).unwrap_err();
    assert_eq!(error(&seal(5, &[])), DecodeError::OpCode(5));
    assert_eq!(error(&seal(53, &[])), DecodeError::OpCode(53));
    assert_eq!(error(&seal(24, &[1, 2])), DecodeError::LeftOver(2));
    assert_eq!(error(&seal(30, &[0, 9])), DecodeError::Overrun { code: 30, needed: 9 });
}

/// An attribute of a namespace that nobody knows became one of the namespace `user`.
#[test]
fn an_unknown_namespace_of_an_attribute_was_another_one() {
    use prost::Message;
    let xattr = XAttrProto { namespace: 77, name: "n".to_owned(), value: None };
    let body = XAttrEditLogProto { src: Some("/d".to_owned()), x_attrs: vec![xattr] };
    let what = "namespace of an extended attribute";
    assert_eq!(
        decode(&seal(43, &body.encode_length_delimited_to_vec()), LayoutVersion::CURRENT),
        Err(DecodeError::Value { what, value: 77 })
    );
}

/// Counts that cannot be are found before memory is set aside for them.
#[test]
fn counts_without_bytes_behind_them_are_errors() {
    let mut body = vec![0, 1, b'/'];
    body.extend_from_slice(&i32::MAX.to_be_bytes());
    assert!(matches!(
        decode(&seal(16, &body), LayoutVersion::CURRENT),
        Err(DecodeError::Value { what: "number of concat sources", .. })
    ));
}

proptest! {
    #[test]
    fn random_frames_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode(&bytes, LayoutVersion::CURRENT);
        let _ = op::check(&bytes, OP_SIZE_MAX);
    }

    #[test]
    fn random_bodies_never_panic(
        code in 0u8..56,
        layout in -67i32..=-56,
        body in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        if let Ok(record) = decode(&seal(code, &body), LayoutVersion(layout)) {
            let again = encode(&record.op, LayoutVersion(layout));
            prop_assert_eq!(decode(&again, LayoutVersion(layout)).unwrap().op, record.op);
        }
    }

    #[test]
    fn a_flipped_bit_is_found(which in 0usize..48, at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let mut bytes = encode(&samples::all()[which], LayoutVersion::CURRENT);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(decode(&bytes, LayoutVersion::CURRENT).is_err());
    }

    /// Also where the CRC does not save us: a body changed and sealed again.
    #[test]
    fn changed_bodies_never_panic(
        which in 0usize..48,
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let op = &samples::all()[which];
        let bytes = encode(op, LayoutVersion::CURRENT);
        let mut body = bytes[13..bytes.len() - 4].to_vec();
        if !body.is_empty() {
            let at = at.index(body.len());
            body[at] = byte;
        }
        let _ = decode(&seal(op.code(), &body), LayoutVersion::CURRENT);
    }

    #[test]
    fn any_text_survives(root in any::<String>()) {
        let op: EditOp = op::AllowSnapshot { root }.into();
        let bytes = encode(&op, LayoutVersion::CURRENT);
        prop_assert_eq!(decode(&bytes, LayoutVersion::CURRENT).unwrap().op, op);
    }
}
