//! An fsimage of any bytes: summary, then every section it claims to have.
#![no_main]
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;
use zerohop_fuzz::MemoryFile;
use zerohop_journal::image::ImageReader;
use zerohop_proto::hdfs::fsimage::NameSystemSection;

thread_local!(static FILE: RefCell<MemoryFile> = RefCell::new(MemoryFile::new()));

// The first byte says how long the summary is, at the end of the rest; with 255 the rest is the whole file.
fuzz_target!(|bytes: &[u8]| {
    let Some((summary_len, rest)) = bytes.split_first() else { return };
    FILE.with_borrow_mut(|file| {
        let path = match *summary_len {
            255 => file.fill(&[rest]),
            len => file.fill(&[b"HDFSIMG1", rest, &u32::from(len).to_be_bytes()]),
        };
        let Ok(image) = ImageReader::open(path) else { return };
        // In loading order, so that one that is named several times is read once.
        let mut names = image.sections().unwrap_or_default();
        names.dedup();
        for name in names {
            if let Ok(Some(mut section)) = image.section(name) {
                while let Ok(Some(_)) = section.next::<NameSystemSection>() {}
            }
        }
    });
});
