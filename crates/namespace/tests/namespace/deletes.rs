//! Deletion.

use crate::world::{World, exception, kind};
use zerohop_wire::JavaException;

#[test]
fn a_tree_goes_with_all_its_blocks() {
    let mut world = World::new();
    let root = world.root();
    world.write("/d/a/f", &[1, 2]);
    world.write("/d/g", &[3]);
    let e = world.namespace.directories(&root).delete("/d", false).unwrap_err();
    assert_eq!(e.to_string(), "`/d is non empty': Directory is not empty");
    assert_eq!(exception(&e), JavaException::PathIsNotEmptyDirectory);
    assert!(world.namespace.directories(&root).delete("/d", true).unwrap());
    assert_eq!((world.stat("/d").is_none(), world.namespace.blocks().block_count()), (true, 0));
    assert!(!world.namespace.directories(&root).delete("/d", true).unwrap());
    assert!(!world.namespace.directories(&root).delete("/", true).unwrap());
    world.check_replay();
}

#[test]
fn a_large_tree_is_freed_in_slices_and_its_quota_with_it() {
    let mut world = World::new();
    let root = world.root();
    world.mkdirs("/q/d");
    world.namespace.quotas(&root).set_quota("/q", 100_000, i64::MAX, None).unwrap();
    for n in 0..25_000 {
        world
            .namespace
            .directories(&root)
            .mkdirs(&format!("/q/d/{n}"), 0o755, None, false)
            .unwrap();
    }
    world.namespace.directories(&root).delete("/q/d", true).unwrap();
    assert!(world.stat("/q/d").is_none());
    assert!(world.namespace.stats().inodes > 2);
    // A directory above what is being freed may move at once.
    world.mkdirs("/other");
    world.namespace.directories(&root).rename("/q", "/other/q").unwrap();
    while world.namespace.free_deleted(1000) {}
    assert_eq!(world.namespace.stats().inodes, 3);
    assert_eq!(world.namespace.view(&root).quota_usage("/other/q").unwrap().names, 1);
    world.check_replay();
}

#[test]
fn an_open_file_may_be_deleted_and_its_writer_learns_it() {
    let mut world = World::new();
    let root = world.root();
    let file = world.create_as(&root, "/f", false).unwrap();
    world.namespace.directories(&root).delete("/f", false).unwrap();
    let e = world
        .namespace
        .file_writes(&root)
        .complete("/f", file.file_id, "client", None)
        .unwrap_err();
    assert_eq!(exception(&e), JavaException::FileNotFound);
    assert!(e.to_string().starts_with(
        "File does not exist: /f (inode 16386) Holder client does not have any open files."
    ));
    assert_eq!(world.namespace.stats().open_files, 0);
}

#[test]
fn reserved_paths_cannot_be_deleted() {
    let mut world = World::new();
    let root = world.root();
    assert_eq!(
        kind(world.namespace.directories(&root).delete("/.reserved", true)),
        JavaException::InvalidPath
    );
}

/// More than is freed before the answer: a writer who made room has it.
#[test]
fn what_a_deletion_gives_back_can_be_used_at_once() {
    let mut world = World::new();
    let root = world.root();
    world.mkdirs("/q/d");
    for n in 0..25_000 {
        world
            .namespace
            .directories(&root)
            .mkdirs(&format!("/q/d/{n}"), 0o755, None, false)
            .unwrap();
    }
    world.namespace.quotas(&root).set_quota("/q", 25_003, i64::MAX, None).unwrap();
    world.namespace.directories(&root).delete("/q/d", true).unwrap();
    assert!(world.namespace.stats().inodes > 3, "not all are freed yet");
    assert_eq!(world.namespace.view(&root).quota_usage("/q").unwrap().names, 1);
    assert_eq!(world.namespace.view(&root).quota_usage("/").unwrap().names, 2);
    world.namespace.directories(&root).mkdirs("/q/a/b", 0o755, None, true).unwrap();
    while world.namespace.free_deleted(1000) {}
    assert_eq!(world.namespace.view(&root).quota_usage("/q").unwrap().names, 3);
    world.check_replay();
}
