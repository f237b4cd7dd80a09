//! Files that Apache Hadoop wrote: see fixtures/README.md.

use std::path::{Path, PathBuf};
use zerohop_journal::image::{self, ImageReader, SectionName};
use zerohop_journal::op::{self, EditOp, OP_SIZE_MAX};
use zerohop_journal::segment::{self, SegmentFile, SegmentKind, SegmentReader};
use zerohop_journal::types::XAttrNamespace;
use zerohop_proto::hdfs::fsimage::i_node_section::INode;
use zerohop_proto::hdfs::fsimage::{INodeSection, NameSystemSection};
use zerohop_wire::TxId;

fn current() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/apache-3.4.3/current")
}

/// Each record with the bytes it was read from.
fn records(file: &SegmentFile) -> Vec<(op::Record, Vec<u8>)> {
    let bytes = std::fs::read(&file.path).unwrap();
    let mut reader = SegmentReader::open(&file.path, OP_SIZE_MAX).unwrap();
    let mut all = Vec::new();
    let mut from = reader.offset() as usize;
    while let Some(record) = reader.next().unwrap() {
        let to = reader.offset() as usize;
        all.push((record, bytes[from..to].to_vec()));
        from = to;
    }
    all
}

#[test]
fn every_record_is_written_back_byte_for_byte() {
    let mut next = 1;
    for file in segment::list(&current()).unwrap() {
        assert_eq!(file.first, TxId(next));
        for (record, bytes) in records(&file) {
            let mut ours = Vec::new();
            let layout = zerohop_journal::LayoutVersion::CURRENT;
            op::encode(&record.op, record.txid, &record.rpc, layout, &mut ours);
            assert_eq!(ours, bytes, "{record:?}");
            next += 1;
        }
        match file.kind {
            SegmentKind::Finalized(last) => assert_eq!(last, TxId(next - 1)),
            SegmentKind::InProgress => assert_eq!(next, 150),
        }
    }
}

#[test]
fn the_recording_has_nearly_every_operation() {
    let files = segment::list(&current()).unwrap();
    let mut codes: Vec<u8> =
        files.iter().flat_map(records).map(|(record, _)| record.op.code()).collect();
    codes.sort_unstable();
    codes.dedup();
    let missing: Vec<u8> =
        op::OP_CODES.iter().map(|(code, _)| *code).filter(|code| !codes.contains(code)).collect();
    // Legacy stamps, obsolete quotas, tokens without security.
    assert_eq!(missing, [10, 11, 12, 18, 19, 20]);
}

#[test]
fn attributes_and_letters_mean_what_was_set() {
    let files = segment::list(&current()).unwrap();
    let ops: Vec<EditOp> = files.iter().flat_map(records).map(|(record, _)| record.op).collect();
    let add = ops.iter().find_map(|op| match op {
        EditOp::Add(add) if add.path.starts_with("/acl/child") => Some(add),
        _ => None,
    });
    let add = add.unwrap();
    assert_eq!(add.path, "/acl/child/\u{65e5}\u{672c}-\u{1f600}");
    assert!(
        add.acl.iter().any(|entry| entry.name.as_deref() == Some("carol") && entry.permission == 7)
    );
    let set = ops.iter().find_map(|op| match op {
        EditOp::SetXAttr(set) if set.path == "/acl/child" => Some(&set.xattrs[0]),
        _ => None,
    });
    let xattr = set.unwrap();
    assert_eq!((xattr.namespace, &*xattr.name), (XAttrNamespace::User, "note"));
    assert_eq!(xattr.value.as_deref(), Some(&[0, 1, 255][..]));
}

#[test]
fn images_have_their_sections() {
    for txid in [0, 143] {
        let path = current().join(format!("fsimage_{txid:019}"));
        image::verify_md5(&path).unwrap();
        let image = ImageReader::open(&path).unwrap();
        let mut counters = image.section(SectionName::NsInfo).unwrap().unwrap();
        let counters: NameSystemSection = counters.expect().unwrap();
        assert_eq!(counters.transaction_id(), txid);
        let mut inodes = image.section(SectionName::Inode).unwrap().unwrap();
        let head: INodeSection = inodes.expect().unwrap();
        let mut count = 0;
        while inodes.next::<INode>().unwrap().is_some() {
            count += 1;
        }
        assert_eq!(head.num_inodes(), count);
        assert!(image.sections().unwrap().contains(&SectionName::StringTable));
    }
}
