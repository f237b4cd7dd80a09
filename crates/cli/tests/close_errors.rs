//! Commands that write local files fail if the file system refuses data at `close(2)`, as NFS does over a quota.
//!
//! They used to report success.
#![allow(clippy::disallowed_methods, reason = "this is a test")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use support::{run, zerohop};

const SHIM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/full_at_close.c");

/// The library, and the directory that holds it.
static LIBRARY: LazyLock<(tempfile::TempDir, PathBuf)> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    let library = directory.path().join("full_at_close.so");
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(SHIM).status();
    assert!(made.unwrap().success());
    (directory, library)
});

/// Expects the command to fail if files whose path contains `part` cannot be closed, and to succeed otherwise.
fn check(words: &[&str], part: &str) {
    let (code, _, said) = run(zerohop(words).env("LD_PRELOAD", &LIBRARY.1));
    assert_eq!(code, 0, "{words:?}: {said}");
    let mut command = zerohop(words);
    command.env("LD_PRELOAD", &LIBRARY.1).env("FULL_AT_CLOSE", part);
    let (code, _, said) = run(&mut command);
    assert!(code != 0 && said.contains("quota"), "{words:?}: {code} {said}");
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

#[test]
fn an_error_of_close_fails_the_command() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let shown = |name: &str| at(name).display().to_string();
    fs::write(at("plain"), b"some text\n").unwrap();
    fs::create_dir(at("quota")).unwrap();
    let from = uri(&at("plain"));
    let (to, packed) = (shown("quota/file"), shown("quota/file.gz"));
    check(&["fs", "-get", "-f", &from, &to], "/quota/");
    assert!(!at("quota/file._COPYING_").exists());
    check(&["fs", "-get", "-f", "-crc", &from, &to], "/quota/.file.crc");
    check(&["fs", "-cp", "-f", "-d", &from, &uri(&at("quota/file"))], "/quota/");
    check(&["fs", "-put", "-f", &shown("plain"), &uri(&at("quota/file"))], "/quota/");
    check(&["fs", "-getmerge", &from, &to], "/quota/");
    check(&["fs", "-appendToFile", &shown("plain"), &uri(&at("quota/file"))], "/quota/");
    check(&["fs", "-truncate", "3", &uri(&at("quota/file"))], "/quota/");
    check(&["codec", "compress", "-f", "-o", &packed, &shown("plain")], "/quota/");
    check(&["codec", "decompress", "-f", "-o", &to, &packed], "/quota/");
    check(&["man", "--directory", &shown("quota/pages")], "/quota/");
}

/// `codec -o -` used to succeed if the file system refused the data of a redirection.
#[test]
fn standard_output_of_codec_is_closed_with_its_error() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("quota")).unwrap();
    fs::write(root.path().join("plain"), b"some text\n").unwrap();
    let out = fs::File::create(root.path().join("quota/out")).unwrap();
    let plain = root.path().join("plain");
    let mut command = zerohop(&["codec", "compress", "-o", "-"]);
    command.arg(&plain).env("LD_PRELOAD", &LIBRARY.1).env("FULL_AT_CLOSE", "/quota/");
    let done = command.stdout(Stdio::from(out)).output().unwrap();
    let said = support::text(&done.stderr);
    assert!(!done.status.success() && said.contains("quota"), "{said}");
}
