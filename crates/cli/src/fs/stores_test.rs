//! Views and archives over directories of this machine.

use super::*;
use crate::failure::Kind;
use crate::fs::store::{CreateHow, OpenHow};
use std::fs;
use std::io::{Read, Write};
use std::path::Path;

fn open(conf: &Conf, uri: &str) -> Outcome<Arc<dyn Store>> {
    OpenStores::new(conf.clone()).open(&Location::parse(uri))
}

fn write(store: &dyn Store, path: &str) -> Outcome {
    let mut output = store.create(path, CreateHow::default())?;
    output.write_all(path.as_bytes())?;
    output.finish()
}

fn read(store: &dyn Store, path: &str) -> Outcome<String> {
    let mut text = String::new();
    store.open(path, OpenHow::default())?.read_to_string(&mut text)?;
    Ok(text)
}

fn names(store: &dyn Store, path: &str) -> Vec<String> {
    let entries = store.list_all(path).unwrap();
    entries.iter().map(|entry| entry.path.clone()).collect()
}

/// A view of two directories.
fn view(directory: &Path, settings: &[(&str, &str)]) -> Conf {
    let mut conf = Conf::new();
    for name in ["a", "b"] {
        fs::create_dir_all(directory.join(name)).unwrap();
        let target = format!("file://{}/{name}", directory.display());
        conf.set(&format!("fs.viewfs.mounttable.v.link./{name}"), target);
    }
    settings.iter().for_each(|(name, value)| conf.set(name, *value));
    conf
}

#[test]
fn renames_between_mount_points_follow_the_strategy() {
    let directory = tempfile::tempdir().unwrap();
    let strategy = "fs.viewfs.rename.strategy";
    for (value, allowed) in [
        ("SAME_MOUNTPOINT", false),
        ("SAME_TARGET_URI_ACROSS_MOUNTPOINT", false),
        ("SAME_FILESYSTEM_ACROSS_MOUNTPOINT", true),
    ] {
        let store = open(&view(directory.path(), &[(strategy, value)]), "viewfs://v").unwrap();
        let _ = store.delete("/b/f", false);
        let _ = store.delete("/a/f", false);
        write(&*store, "/a/f").unwrap();
        let renamed = store.rename("/a/f", "/b/f");
        assert_eq!(renamed.is_ok(), allowed, "{value}");
        let now = if allowed { "/b/f" } else { "/a/f" };
        assert_eq!(read(&*store, now).unwrap(), "/a/f", "{value}");
    }
    assert!(open(&view(directory.path(), &[(strategy, "ANY")]), "viewfs://v").is_err());
}

#[test]
fn directories_above_mount_points_are_read_only() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&view(directory.path(), &[]), "viewfs://v").unwrap();
    assert_eq!(names(&*store, "/"), ["/a", "/b"]);
    let refused = |done: Outcome| done.unwrap_err().kind == Kind::Denied;
    assert!(refused(write(&*store, "/f")));
    assert!(refused(store.delete("/a", true).map(drop)));
    assert!(refused(store.set_permission("/", 0o777)));
    assert!(refused(store.rename("/a", "/c").map(drop)));
    assert!(directory.path().join("a").is_dir());
    assert_eq!(store.status("/c").unwrap_err().kind, Kind::NotFound);
}

/// What was deleted in a view used to go to the trash of the user's home, on whatever file system that is.
#[test]
fn the_trash_can_be_inside_the_mount_point() {
    let directory = tempfile::tempdir().unwrap();
    let user = zerohop_client::User::of_process().name;
    let inside = [("fs.viewfs.trash.force-inside-mount-point", "true")];
    let store = open(&view(directory.path(), &inside), "viewfs://v").unwrap();
    let expected = Some(format!("/a/.Trash/{user}"));
    assert_eq!(store.trash_root_inside("/a/f").unwrap(), expected);
    let store = open(&view(directory.path(), &[]), "viewfs://v").unwrap();
    assert_eq!(store.trash_root_inside("/a/f").unwrap(), None);
    let resolved = store.resolve("/a/f").unwrap().unwrap();
    assert_eq!(resolved.path, format!("{}/a/f", directory.path().display()));
    assert!(resolved.store.is_local());
}

#[test]
fn views_in_a_circle_are_refused() {
    let mut conf = Conf::new();
    conf.set("fs.viewfs.mounttable.v.link./a", "viewfs://v/a");
    let error = open(&conf, "viewfs://v").unwrap().status("/a").unwrap_err();
    assert!(error.text.contains("circle"), "{error}");
}

#[test]
fn archives_of_all_versions_are_read_and_a_short_part_file_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    for (version, root, file) in
        [("1", "none", ""), ("2", "none", ""), ("3", "1331+493+root+root", " 1440+420+root+root")]
    {
        let archive = directory.path().join(format!("v{version}.har"));
        fs::create_dir(&archive).unwrap();
        let name = if version == "1" { "/f" } else { "%2Ff" };
        let above = if version == "1" { "/" } else { "%2F" };
        let index = format!("{above} dir {root} 0 0 f \n{name} file part-0 2 5{file} \n");
        fs::write(archive.join("_masterindex"), format!("{version} \n0 9 0 {} \n", index.len()))
            .unwrap();
        fs::write(archive.join("_index"), index).unwrap();
        fs::write(archive.join("part-0"), "..hello..").unwrap();
        let path = archive.display().to_string();
        let store = open(&Conf::new(), &format!("har://file-{path}/f")).unwrap();
        assert_eq!(names(&*store, &path), [format!("{path}/f")]);
        assert_eq!(read(&*store, &format!("{path}/f")).unwrap(), "hello");
        let mut input = store.open(&format!("{path}/f"), OpenHow::default()).unwrap();
        input.seek_to(3).unwrap();
        let mut rest = String::new();
        input.read_to_string(&mut rest).unwrap();
        assert!(rest == "lo" && input.seek_to(6).is_err());
        let modified = store.status(&format!("{path}/f")).unwrap().modified_ms;
        assert_eq!(modified == 1440, version == "3");
        assert!(write(&*store, &format!("{path}/g")).is_err());

        fs::write(archive.join("part-0"), "..hel").unwrap();
        let store = open(&Conf::new(), &format!("har://file-{path}")).unwrap();
        assert!(read(&*store, &format!("{path}/f")).is_err());
    }
}
