//! Tests of the local file system.

use super::*;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use zerohop_system::files::close;

/// Hadoop's programs cannot read a file whose side file is of another.
#[test]
fn checksums_of_an_earlier_file_go() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let fill = |names: &[&str]| names.iter().for_each(|name| fs::write(path(name), *name).unwrap());
    let names = || {
        let entries = fs::read_dir(directory.path()).unwrap();
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).into_string().unwrap()).collect();
        names.sort();
        names
    };
    let files = LocalFiles::default();
    fill(&["a", ".a.crc"]);
    close(files.create(&path("a"), true).unwrap()).unwrap();
    assert_eq!(names(), ["a"]);
    fill(&["a", ".a.crc"]);
    close(files.append(&path("a")).unwrap()).unwrap();
    assert_eq!(names(), ["a"]);
    fill(&[".a.crc"]);
    files.truncate(&path("a"), 0).unwrap();
    assert_eq!(names(), ["a"]);

    fill(&[".a.crc", "b", ".b.crc"]);
    files.rename(&path("a"), &path("b")).unwrap();
    assert_eq!(names(), [".b.crc", "b"]);
    assert_eq!(fs::read_to_string(path(".b.crc")).unwrap(), ".a.crc");
    let listed = || -> Vec<String> {
        let pages = files.pages(directory.path().to_str().unwrap()).unwrap();
        pages.flat_map(|page| page.unwrap()).map(|entry| entry.path).collect()
    };
    assert_eq!(listed(), [path("b")]);
    fill(&["c"]);
    files.replace(&path("c"), &path("b")).unwrap();
    assert_eq!(names(), ["b"]);
    fill(&[".b.crc"]);
    assert!(files.delete(&path("b"), false).unwrap());
    assert!(names().is_empty());
    assert!(!files.delete(&path("b"), false).unwrap());
}

#[test]
fn a_cut_makes_no_file_longer() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file").to_str().unwrap().to_owned();
    fs::write(&path, "text").unwrap();
    let files = LocalFiles::default();
    let error = files.truncate(&path, 5).unwrap_err();
    assert_eq!(error.source.kind(), io::ErrorKind::InvalidInput);
    assert_eq!(fs::read(&path).unwrap(), b"text");
}

/// A copy of a directory used to leave such a file out, and to succeed.
#[test]
fn a_name_that_is_not_text_ends_a_listing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    symlink("nowhere", directory.path().join("link")).unwrap();
    symlink("loop", directory.path().join("loop")).unwrap();
    let files = LocalFiles::default();
    let listed: Vec<_> = files.pages(path).unwrap().flat_map(|page| page.unwrap()).collect();
    assert!(listed.is_empty(), "{listed:?}");
    fs::write(directory.path().join(OsStr::from_bytes(b"\xff")), "text").unwrap();
    let error = files.pages(path).err().unwrap();
    assert_eq!(error.source.kind(), io::ErrorKind::InvalidData);
}

#[test]
fn times_before_1970_and_times_that_stay() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file").to_str().unwrap().to_owned();
    fs::write(&path, "").unwrap();
    let files = LocalFiles::default();
    files.set_times(&path, Some(-1), Some(1500)).unwrap();
    files.set_times(&path, None, Some(2500)).unwrap();
    let found = files.status(&path).unwrap();
    assert_eq!((found.modified_ms, found.accessed_ms), (-1, 2500));
    assert_eq!(
        files.status(&format!("{path}/below")).unwrap_err().source.kind(),
        io::ErrorKind::NotFound
    );
}
