//! `codec` as a filter and on files: levels, standard input and output, and what it says of damaged data.
#![allow(clippy::disallowed_methods, reason = "this is a test")]

mod support;

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output};

use support::{text, zerohop};

const CODECS: [&str; 8] = ["gzip", "deflate", "bzip2", "zstd", "lz4", "snappy", "lzo", "lzop"];

fn plain() -> Vec<u8> {
    (0..100_000).flat_map(|number: u32| format!("{number}\n").into_bytes()).collect()
}

fn codec(words: &[&str]) -> Command {
    let mut command = zerohop(&["codec"]);
    command.args(words);
    command
}

fn done(command: &mut Command) -> Vec<u8> {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(status.success(), "{command:?}: {}", text(&stderr));
    stdout
}

/// Exit code and standard error of a command that fails.
fn failed(command: &mut Command) -> (i32, String) {
    let output = command.output().unwrap();
    (output.status.code().unwrap_or(-1), text(&output.stderr))
}

fn name(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn streams_go_from_standard_input_to_standard_output() {
    let directory = tempfile::tempdir().unwrap();
    let [file, packed] = ["plain", "packed"].map(|name| directory.path().join(name));
    let plain = plain();
    fs::write(&file, &plain).unwrap();
    for name_of_codec in CODECS {
        let mut command = codec(&["compress", "--codec", name_of_codec, "-"]);
        let bytes = done(command.stdin(File::open(&file).unwrap()));
        assert!(bytes.len() < plain.len(), "{name_of_codec}: {} bytes", bytes.len());
        // The same by a file's name and `-o -`; the head of lzop's format has the time of the file.
        let words = ["compress", "--codec", name_of_codec, "-o", "-", name(&file)];
        assert!(name_of_codec == "lzop" || done(&mut codec(&words)) == bytes, "{name_of_codec}");
        fs::write(&packed, &bytes).unwrap();
        let mut command = codec(&["decompress", "--codec", name_of_codec, "-"]);
        let unpacked = done(command.stdin(File::open(&packed).unwrap()));
        assert!(unpacked == plain, "{name_of_codec}: {} bytes", unpacked.len());
    }
}

#[test]
fn a_level_changes_the_size_and_codecs_without_levels_refuse_one() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("plain");
    fs::write(&file, plain()).unwrap();
    for name_of_codec in ["gzip", "deflate", "bzip2", "zstd"] {
        let packed = |level| {
            let words = ["compress", "--codec", name_of_codec, "--level", level, "-o", "-"];
            done(codec(&words).arg(&file)).len()
        };
        let (fast, small) = (packed("1"), packed("9"));
        // bzip2's level is the size of its blocks, which suits some data better when it is small.
        let is_other = if name_of_codec == "bzip2" { small != fast } else { small < fast };
        assert!(is_other, "{name_of_codec}: {small} bytes at level 9, {fast} at level 1");
    }
    for name_of_codec in ["lz4", "snappy", "lzo", "lzop"] {
        let words = ["compress", "--codec", name_of_codec, "--level", "3", "-o", "-"];
        let (code, said) = failed(codec(&words).arg(&file));
        assert_eq!(code, 255, "{said}");
        assert!(said.contains(&format!("{name_of_codec} has no levels")), "{said}");
    }
    let (code, said) = failed(codec(&["compress", "--level", "much"]).arg(&file));
    assert!(code == 255 && said.contains("--level much: a number is needed"), "{code}: {said}");
}

/// The message names the file, the format, the offset in the compressed file and the cause.
#[test]
fn damage_is_told_with_its_place_and_its_cause() {
    let directory = tempfile::tempdir().unwrap();
    let [file, packed, damaged] =
        ["plain", "packed", "damaged"].map(|name| directory.path().join(name));
    fs::write(&file, plain()).unwrap();
    for name_of_codec in CODECS {
        let words = ["compress", "-f", "--codec", name_of_codec, "-o", name(&packed)];
        done(codec(&words).arg(&file));
        let bytes = fs::read(&packed).unwrap();
        let half = bytes.len() / 2;
        fs::write(&damaged, &bytes[..half]).unwrap();
        let words = ["decompress", "--codec", name_of_codec, "-o", "-"];
        let (code, said) = failed(codec(&words).arg(&damaged));
        let wanted = format!(
            "codec: {}: {name_of_codec} data is damaged at byte {half}: the stream ends in the middle\n",
            damaged.display()
        );
        assert_eq!((code, said), (1, wanted));
    }
    // A bit that was turned, in a stream that has no name.
    for (name_of_codec, cause) in
        [("gzip", "corrupt"), ("lzop", "the LZO block holds more than it should")]
    {
        let words = ["compress", "-f", "--codec", name_of_codec, "-o", name(&packed)];
        done(codec(&words).arg(&file));
        let mut bytes = fs::read(&packed).unwrap();
        let half = bytes.len() / 2;
        bytes[half] ^= 0x55;
        fs::write(&damaged, bytes).unwrap();
        let mut command = codec(&["decompress", "--codec", name_of_codec, "-"]);
        let (code, said) = failed(command.stdin(File::open(&damaged).unwrap()));
        let start = format!("codec: {name_of_codec} data is damaged at byte ");
        assert!(code == 1 && said.starts_with(&start), "{code}: {said}");
        assert!(said.contains(cause), "{name_of_codec}: {said}");
    }
}
