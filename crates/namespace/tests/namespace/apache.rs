//! Apache's edits give Apache's image: see tests/fixtures/README.md.

use crate::world::{empty, through_image};
use std::path::{Path, PathBuf};
use zerohop_journal::image::{ImageReader, ImageWriter, SectionName};
use zerohop_journal::op::OP_SIZE_MAX;
use zerohop_journal::segment::SegmentReader;
use zerohop_namespace::{ImageInfo, Namespace};
use zerohop_proto::hdfs::fsimage::ErasureCodingSection;
use zerohop_wire::TxId;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/apache-3.4.3").join(name)
}

fn loaded(name: &str, txid: i64) -> Namespace {
    let mut namespace = empty();
    let info = namespace.load_image(&ImageReader::open(&file(name)).unwrap(), 0).unwrap();
    assert_eq!(info.txid, TxId(txid));
    namespace
}

#[test]
fn replay_of_apaches_segment_gives_apaches_image() {
    let mut replayed = loaded("fsimage_0000000000000000000", 0);
    let segment = file("edits_0000000000000000001-0000000000000000201");
    let mut records = SegmentReader::open(&segment, OP_SIZE_MAX).unwrap();
    while let Some(record) = records.next().unwrap() {
        replayed.apply(record.txid, &record.op).unwrap();
    }
    let image = loaded("fsimage_0000000000000000201", 201);
    assert_eq!(replayed.difference(&image), None);
    assert!(image.stats().inodes > 20);
}

#[test]
fn apaches_image_saved_by_us_is_the_same() {
    let image = loaded("fsimage_0000000000000000201", 201);
    assert_eq!(through_image(&image).difference(&image), None);
}

#[test]
fn erasure_coding_policies_pass_through_an_image() {
    let image = file("fsimage_0000000000000000201");
    let policies = |path: &Path| {
        let reader = ImageReader::open(path).unwrap();
        let mut section = reader.section(SectionName::ErasureCoding).unwrap().expect("the section");
        section.expect::<ErasureCodingSection>().unwrap().policies
    };
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("copy");
    let mut bytes = std::fs::File::create(&copy).unwrap();
    let mut writer = ImageWriter::new(&mut bytes);
    let info = ImageInfo { namespace_id: 1, txid: TxId(201) };
    loaded("fsimage_0000000000000000201", 201).save_image(&mut writer, info).unwrap();
    writer.finish().unwrap();
    assert_eq!(policies(&copy), policies(&image));
}
