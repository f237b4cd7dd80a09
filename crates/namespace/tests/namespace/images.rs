//! Images, and logs that do not fit.

use crate::world::{World, through_image, through_image_of, user_acl};
use zerohop_journal::image::{ImageCodec, ImageFormat, ImageParts};
use zerohop_journal::op;
use zerohop_wire::{InodeId, TxId};

#[test]
fn an_image_holds_open_files_and_counters() {
    let mut world = World::new();
    let root = world.root();
    world.write("/d/closed", &[1, 2, 3]);
    world.create_as(&root, "/d/open", false).unwrap();
    world.add_block("/d/open", None).unwrap();
    world.check_image();
    let loaded = through_image(&world.namespace);
    assert_eq!(loaded.stats().open_files, 1);
    // Saved again it is the same.
    assert_eq!(through_image(&loaded).difference(&loaded), None);
}

/// Several threads write and load it, in more slices than they have turns; what is loaded is the same, and so is its order.
#[test]
fn images_of_every_format_hold_the_same() {
    let mut world = World::new();
    let root = world.root();
    for n in 0..40 {
        world.write(&format!("/d{}/closed{n}", n % 7), &[1, 2]);
        world.create_as(&root, &format!("/d{}/open{n}", n % 5), false).unwrap();
    }
    let entries = [user_acl(Some("ann"), 7)];
    world.namespace.acls(&root).modify_acl_entries("/d1", &entries).unwrap();
    let parts = Some(ImageParts { inodes_min: 10, count: 9 });
    for codec in [None, Some(ImageCodec::Default), Some(ImageCodec::Gzip)] {
        for (threads, parts) in [(1, None), (1, parts), (3, parts), (4, None)] {
            let format = ImageFormat { codec, parts, threads };
            let loaded = through_image_of(&world.namespace, format);
            assert_eq!(world.namespace.difference(&loaded), None, "{format:?}");
        }
    }
}

#[test]
fn a_replay_goes_on_from_an_image() {
    let mut world = World::new();
    let root = world.root();
    world.create_as(&root, "/f", false).unwrap();
    let block = world.add_block("/f", None).unwrap();
    world.edits();
    let mut loaded = through_image(&world.namespace);
    let full = zerohop_wire::Block { len: 9, ..block.block() };
    world.received(&block, full);
    world.close("/f", Some(full));
    world.mkdirs("/later");
    for (at, op) in world.edits().iter().enumerate() {
        loaded.apply(TxId(at as i64), op).unwrap();
    }
    assert_eq!(world.namespace.difference(&loaded), None);
}

#[test]
fn edits_of_what_is_not_supported_are_refused_by_name() {
    let mut world = World::new();
    let snapshot = op::AllowSnapshot { root: "/".into() };
    let e = world.namespace.apply(TxId(9), &snapshot.into()).unwrap_err();
    assert_eq!(
        e.to_string(),
        "cannot replay OP_ALLOW_SNAPSHOT (transaction 9): OP_ALLOW_SNAPSHOT needs \
         snapshots, which this NameNode does not support: take it away with Apache's NameNode, save the namespace there \
         (hdfs dfsadmin -saveNamespace) and start again"
    );
}

#[test]
fn edits_that_do_not_fit_are_refused() {
    let mut world = World::new();
    world.mkdirs("/d");
    let mkdir = |id, path: &str| op::Mkdir {
        inode_id: InodeId(id),
        path: path.into(),
        ..op::Mkdir::default()
    };
    let mut apply = |op: op::EditOp| world.namespace.apply(TxId(1), &op).is_err();
    assert!(apply(mkdir(20_000, "/d").into()));
    assert!(apply(mkdir(16_386, "/e").into()));
    assert!(apply(mkdir(20_000, "/no/e").into()));
    assert!(apply(op::UpdateBlocks { path: "/x".into(), blocks: Vec::new() }.into()));
    assert!(apply(op::RenameOld { src: "x".into(), dst: "/y".into(), timestamp_ms: 0 }.into()));
    assert!(!apply(mkdir(20_000, "/e").into()));
}

#[test]
fn absurd_lengths_in_a_log_do_not_panic() {
    let mut world = World::new();
    let root = world.root();
    let file = world.create_as(&root, "/f", false).unwrap();
    let block =
        |id, len| zerohop_wire::Block { id: zerohop_wire::BlockId(id), len, ..Default::default() };
    let blocks = vec![block(1, u64::MAX), block(2, u64::MAX), block(3, 1 << 63)];
    let close =
        op::Close { inode_id: file.file_id, path: "/f".into(), blocks, ..op::Close::default() };
    world.namespace.apply(TxId(1), &close.into()).unwrap();
    assert_eq!(world.stat("/f").unwrap().len, u64::MAX);
    world.namespace.view(&root).block_locations("/f", 5, 10).unwrap();
    world.namespace.view(&root).content_summary("/").unwrap();
    world.namespace.attributes(&root).set_replication("/f", 500).unwrap();
    assert!(world.namespace.directories(&root).delete("/f", false).unwrap());
}
