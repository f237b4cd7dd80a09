//! Listings, statuses, locations, sums.

use crate::world::{BLOCK_SIZE, World, exception, kind};
use zerohop_namespace::NamespaceParams;
use zerohop_wire::{InodeId, JavaException};

#[test]
fn a_large_directory_comes_in_pages() {
    let mut world = World::new();
    for n in 0..2500 {
        world.mkdirs(&format!("/d/{n:05}"));
    }
    let root = world.root();
    let mut seen = Vec::new();
    loop {
        let start = seen.last().cloned().unwrap_or_default();
        let start: &String = &start;
        let page =
            world.namespace.view(&root).listing("/d", start.as_bytes(), false).unwrap().unwrap();
        seen.extend(page.entries.iter().map(|entry| entry.path.clone()));
        assert_eq!(page.remaining as usize, 2500 - seen.len());
        if page.remaining == 0 {
            break;
        }
    }
    assert!(seen.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(seen.len(), 2500);
}

#[test]
fn a_file_lists_itself_and_nothing_lists_nothing() {
    let mut world = World::new();
    world.write("/f", &[1]);
    let root = world.root();
    let page = world.namespace.view(&root).listing("/f", b"", true).unwrap().unwrap();
    assert_eq!(page.entries[0].path, "");
    assert_eq!(page.entries[0].locations.as_ref().unwrap().blocks.len(), 1);
    assert!(world.namespace.view(&root).listing("/x", b"", false).unwrap().is_none());
}

#[test]
fn locations_cover_the_range_asked() {
    let mut world = World::new();
    world.write("/f", &[BLOCK_SIZE, BLOCK_SIZE, 10]);
    let root = world.root();
    let offsets = |offset, len| -> Vec<u64> {
        let (located, _) = world.namespace.view(&root).block_locations("/f", offset, len).unwrap();
        located.blocks.iter().map(|block| block.offset / BLOCK_SIZE).collect()
    };
    assert_eq!(offsets(0, u64::MAX), [0, 1, 2]);
    assert_eq!(offsets(0, 1), [0]);
    assert_eq!(offsets(BLOCK_SIZE - 1, 2), [0, 1]);
    assert_eq!(offsets(BLOCK_SIZE, 0), [1]);
    assert!(offsets(3 * BLOCK_SIZE, 5).is_empty());
    let (located, _) = world.namespace.view(&root).block_locations("/f", 0, 1).unwrap();
    assert_eq!((located.file_len, located.last_complete), (2 * BLOCK_SIZE + 10, true));
    assert_eq!(located.last.unwrap().offset, 2 * BLOCK_SIZE);
    assert_eq!(
        kind(world.namespace.view(&root).block_locations("/x", 0, 1)),
        JavaException::FileNotFound
    );
}

#[test]
fn inodes_are_reached_by_number() {
    let mut world = World::new();
    let status = world.write("/d/f", &[1]);
    let by_number = world.stat(&format!("/.reserved/.inodes/{}", status.file_id)).unwrap();
    assert_eq!(by_number.file_id, status.file_id);
    assert_eq!(
        world.stat(&format!("/.reserved/.inodes/{}", InodeId::ROOT)).unwrap().file_id,
        InodeId::ROOT
    );
    let parent = format!("/.reserved/.inodes/{}/..", status.file_id);
    assert_eq!(world.stat(&parent).unwrap().file_id, world.stat("/d").unwrap().file_id);
    assert_eq!(world.stat("/.reserved/raw/d/f").unwrap().file_id, status.file_id);
    assert_eq!(
        kind(world.namespace.view(&world.root()).file_info("/.reserved/.inodes/1")),
        JavaException::FileNotFound
    );
}

#[test]
fn sums_count_files_directories_and_replicas() {
    let mut world = World::new();
    world.write("/d/a/f", &[100]);
    world.write("/d/g", &[10]);
    let root = world.root();
    let sum = world.namespace.view(&root).content_summary("/d").unwrap();
    assert_eq!((sum.files, sum.directories, sum.length, sum.space_consumed), (2, 2, 110, 220));
    assert_eq!((sum.quota, sum.space_quota), (-1, -1));
    let bob = world.user("bob", &[]);
    world.namespace.attributes(&root).set_permission("/d/a", 0o700).unwrap();
    assert_eq!(
        kind(world.namespace.view(&bob).content_summary("/d")),
        JavaException::AccessControl
    );
}

#[test]
fn relative_paths_and_links_are_refused() {
    let mut world = World::new();
    let root = world.root();
    let e = world.namespace.view(&root).file_info("a").unwrap_err();
    assert_eq!(e.to_string(), "Absolute path required, but got 'a'");
    let e = world.namespace.directories(&root).create_symlink("/a", "/b").unwrap_err();
    assert_eq!(
        (exception(&e), &*e.to_string()),
        (JavaException::UnsupportedOperation, "Symlinks not supported")
    );
}

/// A listing that continues after an inode that is gone is refused; otherwise it would lack the entries that follow.
#[test]
fn a_listing_goes_on_from_an_inode_that_is_there() {
    let mut world = World::new();
    ["/d/a", "/d/b", "/d/c"].iter().for_each(|path| world.mkdirs(path));
    let root = world.root();
    let after = format!("/.reserved/.inodes/{}", world.stat("/d/b").unwrap().file_id);
    let page = world.namespace.view(&root).listing("/d", after.as_bytes(), false).unwrap().unwrap();
    assert_eq!(page.entries.iter().map(|entry| &*entry.path).collect::<Vec<_>>(), ["c"]);
    world.namespace.directories(&root).delete("/d/b", true).unwrap();
    let e = world.namespace.view(&root).listing("/d", after.as_bytes(), false).unwrap_err();
    assert_eq!(exception(&e), JavaException::DirectoryListingStartAfterNotFound);
    assert_eq!(e.to_string(), format!("Can't find startAfter {after}"));
}

/// A page of other people's losses is not the end of the list: who gets none stops asking.
#[test]
fn corrupt_files_are_counted_below_the_path_only() {
    let params = NamespaceParams { corrupt_files_batch: 2, ..NamespaceParams::default() };
    let mut world = World::with(params);
    let now = world.now;
    world.namespace.tick(now);
    for path in ["/a/1", "/a/2", "/a/3", "/ab", "/b/1", "/b/2", "/b/3"] {
        world.write(path, &[10]);
        world.lose(path);
    }
    let root = world.root();
    let page = |path: &str, cookie: Option<&str>| {
        let listed = world.namespace.view(&root).list_corrupt_file_blocks(path, cookie);
        let (files, next) = listed.unwrap();
        (files.into_iter().map(|file| file.path).collect::<Vec<_>>(), next)
    };
    let (first, cookie) = page("/b", None);
    assert_eq!(first, ["/b/1", "/b/2"]);
    let (second, cookie) = page("/b", Some(&cookie));
    assert_eq!(second, ["/b/3"]);
    assert_eq!(page("/b", Some(&cookie)), (Vec::new(), cookie.clone()));
    assert_eq!(page("/a/", None).0, ["/a/1", "/a/2"]);
    assert_eq!(page("/ab", None).0, ["/ab"]);
    assert_eq!(page("/", None).0, ["/a/1", "/a/2"]);
}
