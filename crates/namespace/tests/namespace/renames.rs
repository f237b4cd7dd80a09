//! Renames of both kinds.

use crate::world::{World, kind};
use zerohop_namespace::RenameOptions;
use zerohop_wire::JavaException;

#[test]
fn a_rename_into_a_folder_keeps_the_name() {
    let mut world = World::new();
    let root = world.root();
    world.write("/a/f", &[1]);
    world.mkdirs("/b");
    world.edits();
    assert!(world.namespace.rename(&root, "/a/f", "/b").unwrap());
    assert_eq!(world.edit_names(), ["OP_RENAME_OLD"]);
    assert_eq!((world.names("/a").len(), world.names("/b")), (0, vec!["f".to_owned()]));
    assert!(world.namespace.rename(&root, "/b", "/").unwrap());
    world.check_replay();
}

#[test]
fn a_rename_that_cannot_be_says_false() {
    let mut world = World::new();
    let root = world.root();
    world.write("/f", &[]);
    world.write("/g", &[]);
    world.mkdirs("/d/e");
    for (src, dst) in [("/x", "/y"), ("/f", "/g"), ("/d", "/d/e"), ("/f", "/no/f"), ("/", "/d")] {
        assert!(!world.namespace.rename(&root, src, dst).unwrap(), "{src} {dst}");
    }
    assert!(world.namespace.rename(&root, "/f", "/f").unwrap());
}

#[test]
fn rename2_says_why_not() {
    let mut world = World::new();
    let root = world.root();
    world.write("/f", &[]);
    world.write("/g", &[]);
    world.mkdirs("/d/e");
    world.mkdirs("/h");
    let mut rename = |src, dst, overwrite| {
        kind(world.namespace.rename2(&root, src, dst, RenameOptions { overwrite, to_trash: false }))
    };
    assert_eq!(rename("/x", "/y", false), JavaException::FileNotFound);
    assert_eq!(rename("/f", "/f", true), JavaException::FileAlreadyExists);
    assert_eq!(rename("/f", "/g", false), JavaException::FileAlreadyExists);
    assert_eq!(rename("/d", "/d/e/f", false), JavaException::Io);
    assert_eq!(rename("/f", "/d", true), JavaException::Io);
    assert_eq!(rename("/h", "/d", true), JavaException::Io);
    assert_eq!(rename("/f", "/no/f", false), JavaException::FileNotFound);
    assert_eq!(rename("/f", "/g/f", false), JavaException::ParentNotDirectory);
    assert_eq!(rename("/", "/z", false), JavaException::Io);
}

#[test]
fn overwrite_removes_what_was_there() {
    let mut world = World::new();
    let root = world.root();
    world.write("/f", &[1]);
    world.write("/g", &[2]);
    let overwrite = RenameOptions { overwrite: true, to_trash: false };
    world.namespace.rename2(&root, "/f", "/g", overwrite).unwrap();
    assert_eq!((world.names("/"), world.stat("/g").unwrap().len), (vec!["g".to_owned()], 1));
    assert_eq!(world.namespace.blocks.block_count(), 1);
    world.check_replay();
}

#[test]
fn an_open_file_keeps_its_lease_through_a_rename() {
    let mut world = World::new();
    let root = world.root();
    let status = world.create_as(&root, "/a/f", false).unwrap();
    world.namespace.rename(&root, "/a", "/b").unwrap();
    world.add_block("/b/f", None).unwrap();
    assert_eq!(world.namespace.path_of(status.id).as_deref(), Some("/b/f"));
    world.check_replay();
}

#[test]
fn names_sort_by_signed_bytes() {
    let mut world = World::new();
    for name in ["b", "ä", "a", "Z"] {
        world.mkdirs(&format!("/{name}"));
    }
    assert_eq!(world.names("/"), ["ä", "Z", "a", "b"]);
}
