//! Protected directories, and how much there may be.

use crate::world::{World, exception, kind};
use zerohop_namespace::{NamespaceParams, RenameOptions};
use zerohop_wire::{Block, JavaException};

fn protected(protected_subdirectories: bool) -> World {
    let mut world = World::with(NamespaceParams {
        protected_directories: vec!["/p/q".to_owned(), "/p".to_owned()],
        protected_subdirectories,
        ..NamespaceParams::default()
    });
    for path in ["/p/q/a/b", "/p/c/d", "/px/a/b"] {
        world.mkdirs(path);
    }
    world
}

#[test]
fn protected_directories_stay_as_long_as_anything_is_in_them() {
    let mut world = protected(false);
    let root = world.root();
    let namespace = &mut world.namespace;
    let e = namespace.directories(&root).delete("/p", true).unwrap_err();
    assert_eq!(e.to_string(), "Cannot delete/rename non-empty protected directory /p");
    let e = namespace.directories(&root).rename("/p/q", "/x").unwrap_err();
    assert_eq!(e.to_string(), "Cannot delete/rename non-empty protected directory /p/q");
    assert!(namespace.directories(&root).delete("/p/q/a", true).unwrap());
    assert!(namespace.directories(&root).delete("/p/q", true).unwrap());
    assert!(namespace.directories(&root).rename("/p/c", "/c").unwrap());
}

#[test]
fn what_is_below_protected_directories_can_be_protected_as_well() {
    let mut world = protected(true);
    let root = world.root();
    let namespace = &mut world.namespace;
    let refusal = |directory: &str| {
        format!("Cannot delete/rename subdirectory under protected subdirectory {directory}")
    };
    let e = namespace.directories(&root).delete("/p/q/a", true).unwrap_err();
    assert_eq!((exception(&e), e.to_string()), (JavaException::AccessControl, refusal("/p/q")));
    let e = namespace.directories(&root).rename("/p/c", "/c").unwrap_err();
    assert_eq!(e.to_string(), refusal("/p"));
    let e =
        namespace.directories(&root).rename2("/p/c", "/c", RenameOptions::default()).unwrap_err();
    assert_eq!(e.to_string(), refusal("/p"));
    // Not what is empty, and not what is beside.
    assert!(namespace.directories(&root).delete("/p/c/d", true).unwrap());
    assert!(namespace.directories(&root).delete("/px/a", true).unwrap());
}

#[test]
fn no_more_inodes_and_blocks_than_configured() {
    let params = NamespaceParams { objects_max: 5, ..NamespaceParams::default() };
    let mut world = World::with(params);
    let root = world.root();
    world.mkdirs("/a");
    world.create_as(&root, "/f", false).unwrap();
    let first = world.add_block("/f", None).unwrap();
    // The root, two more and a block: one object is left.
    world.mkdirs("/b");
    let e = world.namespace.directories(&root).mkdirs("/c", 0o755, None, true).unwrap_err();
    assert_eq!(
        (exception(&e), &*e.to_string()),
        (JavaException::Io, "Exceeded the configured number of objects 5 in the filesystem.")
    );
    assert_eq!(kind(world.create_as(&root, "/g", false)), JavaException::Io);
    let short = Block { len: 10, ..first.block() };
    world.received(&first, short);
    assert_eq!(kind(world.add_block("/f", Some(short))), JavaException::Io);
    assert!(world.close("/f", Some(short)));
    world.mkdirs("/a");
    world.create_as(&root, "/f", true).unwrap();
    world.add_block("/f", None).unwrap();
    world.check_replay();
}
