//! The image container: written, read, damaged.

use std::fs;
use std::io::Write;
use zerohop_journal::JournalError;
use zerohop_journal::image::{self, ImageReader, ImageWriter, SectionName};
use zerohop_proto::hdfs::fsimage::string_table_section::Entry;
use zerohop_proto::hdfs::fsimage::{NameSystemSection, StringTableSection};
use zerohop_wire::TxId;

fn sample() -> (Vec<u8>, [u8; 16]) {
    let mut bytes = Vec::new();
    let mut writer = ImageWriter::new(&mut bytes);
    let counters = NameSystemSection { transaction_id: Some(9), ..Default::default() };
    writer.message(&counters).unwrap();
    writer.end(SectionName::NsInfo).unwrap();
    writer.message(&StringTableSection { num_entry: Some(2), mask_bits: None }).unwrap();
    for (id, text) in [(1, "alice"), (2, "staff")] {
        writer.message(&Entry { id: Some(id), str: Some(text.to_owned()) }).unwrap();
    }
    writer.end(SectionName::StringTable).unwrap();
    let digest = writer.finish().unwrap();
    (bytes, digest)
}

#[test]
fn what_is_written_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fsimage_0000000000000000009");
    let (bytes, digest) = sample();
    fs::write(&path, &bytes).unwrap();
    image::write_md5(&path, &digest).unwrap();
    image::verify_md5(&path).unwrap();
    let reader = ImageReader::open(&path).unwrap();
    assert_eq!(reader.sections().unwrap(), [SectionName::NsInfo, SectionName::StringTable]);
    let mut strings = reader.section(SectionName::StringTable).unwrap().unwrap();
    let head: StringTableSection = strings.expect().unwrap();
    assert_eq!(head.num_entry(), 2);
    assert_eq!(strings.next::<Entry>().unwrap().unwrap().str(), "alice");
    assert_eq!(strings.next::<Entry>().unwrap().unwrap().str(), "staff");
    assert!(strings.next::<Entry>().unwrap().is_none());
    assert!(strings.expect::<Entry>().unwrap_err().to_string().contains("STRING_TABLE"));
    assert!(reader.section(SectionName::Inode).unwrap().is_none());
}

/// An image under another name, or sent as that of another transaction, was taken for it: edits were applied twice or not at
/// all.
#[test]
fn an_image_of_another_transaction_was_taken() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fsimage_0000000000050000000");
    fs::write(&path, sample().0).unwrap();
    let image = ImageReader::open(&path).unwrap();
    image.check_txid(TxId(9)).unwrap();
    let refused = image.check_txid(TxId(50_000_000)).unwrap_err().to_string();
    assert!(refused.contains("up to transaction 9, not up to 50000000"), "{refused}");
}

/// Of two sections with one name, the second was not read.
#[test]
fn a_section_that_is_there_twice_was_read_once() {
    let mut bytes = Vec::new();
    let mut writer = ImageWriter::new(&mut bytes);
    for _ in 0..2 {
        writer.message(&StringTableSection { num_entry: Some(0), mask_bits: None }).unwrap();
        writer.end(SectionName::StringTable).unwrap();
    }
    writer.finish().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fsimage_1");
    fs::write(&path, bytes).unwrap();
    let image = ImageReader::open(&path).unwrap();
    assert!(image.sections().unwrap_err().to_string().contains("two sections STRING_TABLE"));
    assert!(image.check_txid(TxId(1)).unwrap_err().to_string().contains("no section NS_INFO"));
}

#[test]
fn a_changed_image_does_not_match_its_md5() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fsimage_1");
    let (mut bytes, digest) = sample();
    image::write_md5(&path, &digest).unwrap();
    assert!(fs::read_to_string(image::md5_path(&path)).unwrap().ends_with(" *fsimage_1\n"));
    bytes[20] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert!(matches!(image::verify_md5(&path), Err(JournalError::Image { .. })));
    fs::remove_file(image::md5_path(&path)).unwrap();
    assert!(image::verify_md5(&path).unwrap_err().to_string().contains("no MD5 file"));
}

#[test]
fn compressed_sections_are_read() {
    use flate2::{Compression, write::GzEncoder, write::ZlibEncoder};
    use prost::Message;
    use zerohop_proto::hdfs::fsimage::{FileSummary, file_summary::Section};
    let message = NameSystemSection { transaction_id: Some(9), ..Default::default() };
    let plain = message.encode_length_delimited_to_vec();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&plain).unwrap();
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    zlib.write_all(&plain).unwrap();
    let codecs = [
        ("org.apache.hadoop.io.compress.GzipCodec", gzip.finish().unwrap()),
        ("org.apache.hadoop.io.compress.DefaultCodec", zlib.finish().unwrap()),
        ("org.apache.hadoop.io.compress.Lz4Codec", plain),
    ];
    for (codec, section) in codecs {
        let mut bytes = image::MAGIC.to_vec();
        bytes.extend_from_slice(&section);
        let summary = FileSummary {
            ondisk_version: 1,
            layout_version: -67i32 as u32,
            codec: Some(codec.to_owned()),
            sections: vec![Section {
                name: Some("NS_INFO".to_owned()),
                length: Some(section.len() as u64),
                offset: Some(8),
            }],
        }
        .encode_length_delimited_to_vec();
        bytes.extend_from_slice(&summary);
        bytes.extend_from_slice(&(summary.len() as u32).to_be_bytes());
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fsimage_9");
        fs::write(&path, &bytes).unwrap();
        let found = ImageReader::open(&path).unwrap().section(SectionName::NsInfo);
        if codec.ends_with("Lz4Codec") {
            assert!(found.err().unwrap().to_string().contains("dfs.image.compress=false"));
        } else {
            let read: NameSystemSection = found.unwrap().unwrap().expect().unwrap();
            assert_eq!(read, message);
        }
    }
}

fn read_everything(bytes: &[u8]) -> Result<(), JournalError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fsimage_9");
    fs::write(&path, bytes).unwrap();
    let reader = ImageReader::open(&path)?;
    for name in reader.sections()? {
        let Some(mut section) = reader.section(name)? else { continue };
        while section.next::<Entry>()?.is_some() {}
    }
    Ok(())
}

proptest::proptest! {
    #[test]
    fn changed_images_never_panic(
        changes in proptest::collection::vec(
            (proptest::prelude::any::<proptest::sample::Index>(), proptest::prelude::any::<u8>()),
            1..5,
        ),
    ) {
        let mut bytes = sample().0;
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = read_everything(&bytes);
    }

    #[test]
    fn cut_images_are_errors(len in 0usize..100) {
        let bytes = sample().0;
        let cut = len.min(bytes.len() - 1);
        proptest::prop_assert!(read_everything(&bytes[..cut]).is_err());
    }
}
