//! Renames of both kinds.

use crate::world::{World, kind};
use zerohop_namespace::{AddBlockRequest, RenameOptions};
use zerohop_wire::{Block, JavaException};

#[test]
fn a_rename_into_a_directory_keeps_the_name() {
    let mut world = World::new();
    let root = world.root();
    world.write("/a/f", &[1]);
    world.mkdirs("/b");
    world.edits();
    assert!(world.namespace.directories(&root).rename("/a/f", "/b").unwrap());
    assert_eq!(world.edit_names(), ["OP_RENAME_OLD"]);
    assert_eq!((world.names("/a").len(), world.names("/b")), (0, vec!["f".to_owned()]));
    assert!(world.namespace.directories(&root).rename("/b", "/").unwrap());
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
        assert!(!world.namespace.directories(&root).rename(src, dst).unwrap(), "{src} {dst}");
    }
    assert!(world.namespace.directories(&root).rename("/f", "/f").unwrap());
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
        kind(world.namespace.directories(&root).rename2(
            src,
            dst,
            RenameOptions { overwrite, to_trash: false },
        ))
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
    world.namespace.directories(&root).rename2("/f", "/g", overwrite).unwrap();
    assert_eq!((world.names("/"), world.stat("/g").unwrap().len), (vec!["g".to_owned()], 1));
    assert_eq!(world.namespace.blocks().block_count(), 1);
    world.check_replay();
}

#[test]
fn an_open_file_keeps_its_lease_through_a_rename() {
    let mut world = World::new();
    let root = world.root();
    let status = world.create_as(&root, "/a/f", false).unwrap();
    world.namespace.directories(&root).rename("/a", "/b").unwrap();
    world.add_block("/b/f", None).unwrap();
    assert_eq!(world.namespace.path_of(status.file_id).as_deref(), Some("/b/f"));
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

/// The directory is on the way to the new name, though it is not on that to the name asked for.
#[test]
fn the_directory_a_rename_goes_into_must_let_one_pass() {
    let mut world = World::new();
    let root = world.root();
    let eve = world.user("eve", &[]);
    world.mkdirs("/home/eve/d");
    world.namespace.attributes(&root).set_owner("/home/eve", Some("eve"), None).unwrap();
    world.mkdirs("/drop");
    world.namespace.attributes(&root).set_permission("/drop", 0o722).unwrap();
    let e = world.namespace.directories(&eve).rename("/home/eve/d", "/drop").unwrap_err();
    assert_eq!(
        e.to_string(),
        "Permission denied: user=eve, access=EXECUTE, inode=\"/drop\":root:supergroup:drwx-w--w-"
    );
    world.namespace.attributes(&root).set_permission("/drop", 0o733).unwrap();
    assert!(world.namespace.directories(&eve).rename("/home/eve/d", "/drop").unwrap());
}

/// A directory below `top` whose path has `len` bytes; its number.
fn deep_directory(world: &mut World, top: &str, len: usize) -> u64 {
    let mut path = top.to_owned();
    while path.len() < len {
        let name = "x".repeat((len - path.len() - 1).min(250));
        path = format!("{path}/{name}");
    }
    world.mkdirs(&path);
    world.stat(&path).unwrap().file_id.0
}

#[test]
fn a_number_in_a_path_counts_as_what_it_stands_for() {
    let mut world = World::new();
    let root = world.root();
    let id = deep_directory(&mut world, "/a", 7900);
    let below = |len: usize| format!("/.reserved/.inodes/{id}/{}", "y".repeat(len));
    world.namespace.directories(&root).mkdirs(&below(90), 0o755, None, true).unwrap();
    let too_long = world.namespace.directories(&root).mkdirs(&below(150), 0o755, None, true);
    assert_eq!(kind(too_long), JavaException::Io);
    assert_eq!(kind(world.create_as(&root, &below(150), false)), JavaException::Io);
    world.mkdirs(&format!("/{}", "z".repeat(150)));
    let into = format!("/.reserved/.inodes/{id}");
    let moved = world.namespace.directories(&root).rename(&format!("/{}", "z".repeat(150)), &into);
    assert_eq!(kind(moved), JavaException::Io);
    world.check_replay();
}

/// Renames can carry an open file deeper than any edit's path reaches: the next start must find it all the same.
#[test]
fn a_file_moved_too_deep_for_a_path_can_still_be_closed() {
    let mut world = World::new();
    let root = world.root();
    for (top, name) in [("/a", "A"), ("/b", "B"), ("/c", "C")] {
        let id = deep_directory(&mut world, top, 7900);
        let inside = format!("/.reserved/.inodes/{id}/{name}");
        world.namespace.directories(&root).mkdirs(&inside, 0o755, None, true).unwrap();
    }
    let file = format!("{}/A/f", deepest(&world, "/a"));
    let status = world.create_as(&root, &file, false).unwrap();
    let into = format!("{}/B", deepest(&world, "/b"));
    world.namespace.directories(&root).rename("/a", &into).unwrap();
    let into = format!("{}/C", deepest(&world, "/c"));
    world.namespace.directories(&root).rename("/b", &into).unwrap();
    assert!(world.namespace.path_of(status.file_id).unwrap().len() > 3 * 7900);
    let request = AddBlockRequest {
        path: "/a",
        client_name: "client",
        file_id: status.file_id,
        ..AddBlockRequest::default()
    };
    let located = world.namespace.file_writes(&root).add_block(&request).unwrap();
    let block = Block { len: 5, ..located.block() };
    world.received(&located, block);
    assert!(
        world
            .namespace
            .file_writes(&root)
            .complete("/a", status.file_id, "client", Some(block))
            .unwrap()
    );
    let number = format!("/.reserved/.inodes/{}", status.file_id);
    let refused = world.namespace.attributes(&root).set_permission(&number, 0o600);
    assert_eq!(kind(refused), JavaException::Io);
    world.check_replay();
}

/// The deepest directory that [`deep_directory`] made below `top`, without the one named by hand.
fn deepest(world: &World, top: &str) -> String {
    let mut path = top.to_owned();
    while let Some(name) = world.names(&path).into_iter().find(|name| name.starts_with('x')) {
        path = format!("{path}/{name}");
    }
    path
}
