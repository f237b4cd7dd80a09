//! `hadoop checknative`: everything is native here.

use crate::settings::Settings;

const LIBRARIES: [(&str, bool); 8] = [
    ("hadoop", true),
    ("zlib", true),
    ("zstd", true),
    ("bzip2", true),
    ("snappy", true),
    ("lz4", true),
    ("openssl", false),
    ("ISA-L", false),
];

pub fn run(_: Settings, words: Vec<String>) -> i32 {
    sayln!("Native library checking:");
    for (name, there) in LIBRARIES {
        let place = if there { "built in" } else { "not used" };
        sayln!("{:<9}{there:<5} {place}", format!("{name}:"));
    }
    // With -a Hadoop fails when a library lacks; without it only when libhadoop does.
    if words.iter().any(|word| word == "-a") { 1 } else { 0 }
}
