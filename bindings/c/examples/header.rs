//! Prints `hdfs.h`.

fn main() {
    let root = env!("CARGO_MANIFEST_DIR");
    let config = cbindgen::Config::from_root_or_default(root);
    let made = cbindgen::generate_with_config(root, config).expect("the sources can be read");
    made.write(std::io::stdout());
}
