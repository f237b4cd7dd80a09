//! An fsimage of any bytes: summary, then every section it claims to have.
#![no_main]
use libfuzzer_sys::fuzz_target;
use zerohop_journal::image::ImageReader;

fuzz_target!(|bytes: &[u8]| {
    let path = std::env::temp_dir().join(format!("fuzz-image-{}", std::process::id()));
    std::fs::write(&path, bytes).expect("the temporary folder is writable");
    let Ok(image) = ImageReader::open(&path) else { return };
    for name in image.sections().unwrap_or_default() {
        if let Ok(Some(mut section)) = image.section(name) {
            while let Ok(Some(_)) =
                section.next::<zerohop_proto::hdfs::fsimage::NameSystemSection>()
            {}
        }
    }
});
