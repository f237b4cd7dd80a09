//! `hdfs.h` is that of the sources.

#[test]
fn the_header_is_that_of_the_sources() {
    let root = env!("CARGO_MANIFEST_DIR");
    let config = cbindgen::Config::from_root_or_default(root);
    let made = cbindgen::generate_with_config(root, config).unwrap();
    let mut text = Vec::new();
    made.write(&mut text);
    let header = std::fs::read_to_string(format!("{root}/include/hdfs.h")).unwrap();
    assert!(
        header == String::from_utf8(text).unwrap(),
        "run: cargo run -q -p zerohop-libhdfs --example header >bindings/c/include/hdfs.h"
    );
}
