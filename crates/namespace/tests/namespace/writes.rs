//! Files created, written, appended to, cut and joined.

use crate::world::{BLOCK_SIZE, World, exception, kind};
use zerohop_journal::EditOp;
use zerohop_journal::op::SetGenstampV2;
use zerohop_namespace::{CreateFlags, CreateRequest, NamespaceParams, SafeModeNotice};
use zerohop_wire::{Block, BlockId, GenerationStamp, InodeId, JavaException, TxId};

#[test]
fn mkdirs_makes_what_is_missing_an_edit_each() {
    let mut world = World::new();
    world.mkdirs("/a/b/c");
    assert_eq!(world.edit_names(), ["OP_MKDIR"; 3]);
    assert_eq!(world.stat("/a/b").unwrap().permission, 0o755);
    world.mkdirs("/a/b/c");
    assert!(world.edit_names().is_empty());
    world.check_replay();
}

#[test]
fn mkdirs_gives_directories_in_between_write_for_the_owner() {
    let mut world = World::new();
    let root = world.root();
    world.namespace.directories(&root).mkdirs("/a/b", 0o444, None, true).unwrap();
    assert_eq!(
        (world.stat("/a").unwrap().permission, world.stat("/a/b").unwrap().permission),
        (0o744, 0o444)
    );
}

#[test]
fn mkdirs_refuses_files_in_the_way_and_bad_names() {
    let mut world = World::new();
    let root = world.root();
    world.write("/f", &[]);
    let mut try_path =
        |path| kind(world.namespace.directories(&root).mkdirs(path, 0o755, None, true));
    assert_eq!(try_path("/f"), JavaException::FileAlreadyExists);
    assert_eq!(try_path("/f/a"), JavaException::ParentNotDirectory);
    assert_eq!(try_path("/a:b"), JavaException::InvalidPath);
    assert_eq!(try_path("/.reserved"), JavaException::HadoopIllegalArgument);
    assert_eq!(try_path("/a/.snapshot"), JavaException::HadoopIllegalArgument);
    assert_eq!(try_path(&format!("/{}", "x".repeat(256))), JavaException::PathComponentTooLong);
    let e = world.namespace.directories(&root).mkdirs("/x/y", 0o755, None, false).unwrap_err();
    assert_eq!(e.to_string(), "Parent directory doesn't exist: /x");
}

#[test]
fn a_file_is_logged_as_apache_logs_it() {
    let mut world = World::new();
    let status = world.write("/f", &[BLOCK_SIZE, 10]);
    assert_eq!(status.len, BLOCK_SIZE + 10);
    let ids = ["OP_ALLOCATE_BLOCK_ID", "OP_SET_GENSTAMP_V2", "OP_ADD_BLOCK"];
    let expected: Vec<_> =
        ["OP_ADD"].into_iter().chain(ids).chain(ids).chain(["OP_CLOSE"]).collect();
    assert_eq!(world.edit_names(), expected);
    let Some(EditOp::Close(close)) = world.log.last().map(|edit| &edit.op) else {
        panic!("no close")
    };
    assert_eq!(close.blocks.iter().map(|block| block.len).collect::<Vec<_>>(), [BLOCK_SIZE, 10]);
    assert_eq!(close.blocks[0].id, BlockId(1_073_741_825));
    assert_eq!(close.blocks[0].stamp, GenerationStamp(1001));
    assert_eq!(world.log[0].rpc.call_id, 42);
    world.check_replay();
    world.check_image();
}

#[test]
fn a_repeated_add_block_gives_the_same_block() {
    let mut world = World::new();
    let root = world.root();
    world.create_as(&root, "/f", false).unwrap();
    let first = world.add_block("/f", None).unwrap();
    assert_eq!(world.add_block("/f", None).unwrap().block(), first.block());
    let full = Block { len: BLOCK_SIZE, ..first.block() };
    world.received(&first, full);
    let second = world.add_block("/f", Some(full)).unwrap();
    assert_eq!(second.offset, BLOCK_SIZE);
    assert_eq!(world.add_block("/f", Some(full)).unwrap().block(), second.block());
    let stranger = Block { id: BlockId(1), ..full };
    assert_eq!(kind(world.add_block("/f", Some(stranger))), JavaException::Io);
    world.check_replay();
}

#[test]
fn the_block_before_the_last_must_be_complete() {
    let mut world = World::new();
    let root = world.root();
    world.create_as(&root, "/f", false).unwrap();
    let first = world.add_block("/f", None).unwrap();
    let full = Block { len: BLOCK_SIZE, ..first.block() };
    let second = world.add_block("/f", Some(full)).unwrap();
    let second_full = Block { len: BLOCK_SIZE, ..second.block() };
    assert_eq!(kind(world.add_block("/f", Some(second_full))), JavaException::NotReplicatedYet);
    world.received(&first, full);
    world.add_block("/f", Some(second_full)).unwrap();
}

#[test]
fn complete_waits_for_replicas_and_may_be_repeated() {
    let mut world = World::new();
    let root = world.root();
    world.create_as(&root, "/f", false).unwrap();
    let located = world.add_block("/f", None).unwrap();
    let block = Block { len: 5, ..located.block() };
    assert!(!world.close("/f", Some(block)));
    world.received(&located, block);
    assert_eq!(world.namespace.blocks_mut().take_completed(), [block.id]);
    assert!(world.close("/f", Some(block)));
    assert!(world.close("/f", Some(block)));
    let e = world.namespace.file_writes(&root).complete("/f", InodeId::GRANDFATHER, "client", None);
    assert_eq!(kind(e), JavaException::LeaseExpired);
}

#[test]
fn only_the_writer_may_go_on() {
    let mut world = World::new();
    let root = world.root();
    world.create_as(&root, "/f", false).unwrap();
    let e = world
        .namespace
        .file_writes(&root)
        .complete("/f", InodeId::GRANDFATHER, "other", None)
        .unwrap_err();
    assert_eq!(exception(&e), JavaException::LeaseExpired);
    assert!(
        e.to_string().starts_with("Client (=other) is not the lease owner (=client: /f (inode 0)")
    );
    assert_eq!(kind(world.create_as(&root, "/f", false)), JavaException::AlreadyBeingCreated);
}

#[test]
fn overwrite_replaces_a_file_in_one_edit() {
    let mut world = World::new();
    let root = world.root();
    let old = world.write("/f", &[5]);
    world.edits();
    let new = world.create_as(&root, "/f", true).unwrap();
    assert_ne!(old.file_id, new.file_id);
    assert_eq!(world.edit_names(), ["OP_ADD"]);
    assert_eq!(world.namespace.blocks().block_count(), 0);
    assert_eq!(kind(world.create_as(&root, "/", true)), JavaException::FileAlreadyExists);
    world.close("/f", None);
    assert_eq!(kind(world.create_as(&root, "/f", false)), JavaException::FileAlreadyExists);
    world.check_replay();
}

#[test]
fn bad_create_parameters_are_refused() {
    let mut world = World::new();
    let root = world.root();
    let create = CreateFlags { create: true, ..CreateFlags::default() };
    let e = world.create_with(&root, "/f", create, 600).unwrap_err();
    assert_eq!(
        e.to_string(),
        "Requested replication factor of 600 exceeds maximum of 512 for /f, clientName=127.0.0.1"
    );
    let mut sized = |block_size| {
        let request = CreateRequest {
            path: "/f",
            flags: create,
            replication: 1,
            block_size,
            ..CreateRequest::default()
        };
        world.namespace.files(&root).create(&request)
    };
    let e = sized(1 << 48).unwrap_err();
    assert_eq!(exception(&e), JavaException::IllegalArgument);
    assert_eq!(
        e.to_string(),
        "Illagal value: PREFERRED_BLOCK_SIZE = 281474976710656 > MAX = 281474976710655"
    );
    assert_eq!(sized((1 << 48) - 1).unwrap().block_size, (1 << 48) - 1);
    world.namespace.directories(&root).delete("/f", false).unwrap();
    let overwrite = CreateFlags { overwrite: true, ..CreateFlags::default() };
    assert_eq!(kind(world.create_with(&root, "/f", overwrite, 1)), JavaException::FileNotFound);
    assert_eq!(
        kind(world.create_with(&root, "/.reserved/x", create, 1)),
        JavaException::InvalidPath
    );
}

#[test]
fn an_abandoned_block_is_gone() {
    let mut world = World::new();
    let root = world.root();
    world.create_as(&root, "/f", false).unwrap();
    let block = world.add_block("/f", None).unwrap().block();
    world.edits();
    world
        .namespace
        .file_writes(&root)
        .abandon_block("/f", InodeId::GRANDFATHER, "client", block)
        .unwrap();
    assert_eq!(world.edit_names(), ["OP_UPDATE_BLOCKS"]);
    assert_eq!(world.namespace.blocks().block_count(), 0);
    assert!(world.close("/f", None));
    world.check_replay();
}

#[test]
fn fsync_shows_the_length_so_far() {
    let mut world = World::new();
    let root = world.root();
    world.create_as(&root, "/f", false).unwrap();
    world.add_block("/f", None).unwrap();
    world.namespace.file_writes(&root).fsync("/f", InodeId::GRANDFATHER, "client", 123).unwrap();
    assert_eq!(world.stat("/f").unwrap().len, 123);
    let (located, _) = world.namespace.view(&root).block_locations("/f", 0, u64::MAX).unwrap();
    assert!(located.under_construction && !located.last_complete);
    assert_eq!((located.file_len, located.blocks.len()), (0, 1));
    world.check_replay();
}

#[test]
fn a_pipeline_gets_a_new_stamp_and_goes_on_with_fewer_nodes() {
    let mut world = World::new();
    let root = world.root();
    world.create_as(&root, "/f", false).unwrap();
    let located = world.add_block("/f", None).unwrap();
    let old = located.block();
    let bumped = world
        .namespace
        .file_writes(&root)
        .update_block_for_pipeline(old, "client")
        .unwrap()
        .block();
    assert_eq!(bumped.stamp.0, old.stamp.0 + 1);
    let replica = &located.locations.replicas[0];
    let storages = [(replica.node.id.uuid.clone(), replica.storage_id.to_string())];
    let new = Block { len: 100, ..bumped };
    world.namespace.file_writes(&root).update_pipeline("client", old, new, &storages).unwrap();
    assert_eq!(
        kind(world.namespace.file_writes(&root).update_pipeline("client", new, old, &storages)),
        JavaException::Io
    );
    let e = world.namespace.file_writes(&root).update_block_for_pipeline(new, "other");
    assert_eq!(kind(e), JavaException::LeaseExpired);
    assert_eq!(world.namespace.blocks().lookup().targets(old.id).len(), 1);
    world.check_replay();
}

/// The counter follows the stamps that were given out, not what a client says: one client must not use them all up.
#[test]
fn a_pipeline_takes_no_stamp_that_was_not_given_out() {
    let mut world = World::new();
    let root = world.root();
    world.create_as(&root, "/f", false).unwrap();
    let located = world.add_block("/f", None).unwrap();
    let old = located.block();
    let replica = &located.locations.replicas[0];
    let storages = [(replica.node.id.uuid.clone(), replica.storage_id.to_string())];
    let before = world.namespace.ids().stamp;
    let new = Block { stamp: GenerationStamp(i64::MAX), ..old };
    let refused = world.namespace.file_writes(&root).update_pipeline("client", old, new, &storages);
    assert_eq!(kind(refused), JavaException::Io);
    assert_eq!(world.namespace.ids().stamp, before);
    world.check_replay();
}

#[test]
fn stamps_do_not_start_over_when_they_are_used_up() {
    let mut world = World::new();
    let root = world.root();
    let op = SetGenstampV2 { stamp: GenerationStamp(i64::MAX) };
    world.namespace.apply(TxId(1), &op.into()).unwrap();
    world.create_as(&root, "/f", false).unwrap();
    assert_eq!(kind(world.add_block("/f", None)), JavaException::Io);
    assert_eq!(world.namespace.ids().stamp, GenerationStamp(i64::MAX));
    assert!(!world.edit_names().contains(&"OP_ALLOCATE_BLOCK_ID"), "no block was begun");
}

#[test]
fn append_opens_the_last_block_again() {
    let mut world = World::new();
    let root = world.root();
    world.write("/f", &[10]);
    world.edits();
    let (block, status) =
        world.namespace.files(&root).append("/f", "client", CreateFlags::default()).unwrap();
    let block = block.unwrap();
    assert_eq!((block.offset, block.block().len, status.len), (0, 10, 10));
    assert!(!block.locations.replicas.is_empty());
    assert_eq!(world.edit_names(), ["OP_APPEND"]);
    let bumped = world
        .namespace
        .file_writes(&root)
        .update_block_for_pipeline(block.block(), "client")
        .unwrap()
        .block();
    let storages: Vec<_> = (block.locations.replicas.iter())
        .map(|replica| (replica.node.id.uuid.clone(), replica.storage_id.to_string()))
        .collect();
    world
        .namespace
        .file_writes(&root)
        .update_pipeline("client", block.block(), bumped, &storages)
        .unwrap();
    let longer = Block { len: 25, ..bumped };
    world.received(&block, longer);
    assert!(world.close("/f", Some(longer)));
    assert_eq!(world.stat("/f").unwrap().len, 25);
    world.check_replay();
    world.check_image();
}

#[test]
fn append_with_a_new_block_leaves_the_last_one_alone() {
    let mut world = World::new();
    let root = world.root();
    world.write("/f", &[10]);
    let flags = CreateFlags { new_block: true, ..CreateFlags::default() };
    let (last, _) = world.namespace.files(&root).append("/f", "client", flags).unwrap();
    let last = last.unwrap();
    assert!(last.locations.replicas.is_empty());
    let next = world.add_block("/f", Some(last.block())).unwrap();
    assert_eq!(next.offset, 10);
    let block = Block { len: 7, ..next.block() };
    world.received(&next, block);
    assert!(world.close("/f", Some(block)));
    assert_eq!(world.stat("/f").unwrap().len, 17);
    world.check_replay();
}

#[test]
fn append_to_what_is_no_file_is_refused() {
    let mut world = World::new();
    let root = world.root();
    world.mkdirs("/d");
    let mut append =
        |path| kind(world.namespace.files(&root).append(path, "client", CreateFlags::default()));
    assert_eq!(append("/d"), JavaException::FileAlreadyExists);
    assert_eq!(append("/x"), JavaException::FileNotFound);
}

#[test]
fn truncate_at_a_block_boundary_is_done_at_once() {
    let mut world = World::new();
    let root = world.root();
    world.write("/f", &[BLOCK_SIZE, BLOCK_SIZE, 10]);
    assert!(world.namespace.files(&root).truncate("/f", BLOCK_SIZE, "client").unwrap());
    assert_eq!(world.stat("/f").unwrap().len, BLOCK_SIZE);
    assert_eq!(world.namespace.blocks().block_count(), 1);
    assert!(world.namespace.files(&root).truncate("/f", BLOCK_SIZE, "client").unwrap());
    let longer = world.namespace.files(&root).truncate("/f", BLOCK_SIZE + 1, "client");
    assert_eq!(kind(longer), JavaException::HadoopIllegalArgument);
    world.check_replay();
}

#[test]
fn truncate_within_a_block_waits_for_its_recovery() {
    let mut world = World::new();
    let root = world.root();
    world.write("/f", &[BLOCK_SIZE, 10]);
    world.edits();
    assert!(!world.namespace.files(&root).truncate("/f", BLOCK_SIZE + 4, "client").unwrap());
    assert_eq!(world.edit_names(), ["OP_SET_GENSTAMP_V2", "OP_TRUNCATE"]);
    assert!(!world.namespace.files(&root).truncate("/f", BLOCK_SIZE + 4, "client").unwrap());
    assert_eq!(
        kind(world.namespace.files(&root).truncate("/f", BLOCK_SIZE + 5, "client")),
        JavaException::AlreadyBeingCreated
    );
    assert!(!world.namespace.view(&root).is_file_closed("/f").unwrap());
    world.check_replay();
    crate::leases::finish_recovery(&mut world, "/f", 4);
    assert_eq!(world.stat("/f").unwrap().len, BLOCK_SIZE + 4);
    assert!(world.namespace.view(&root).is_file_closed("/f").unwrap());
    world.check_replay();
}

/// A client's fsync said how long the last block is while DataNodes cut it: that length was logged, and a file that was to be
/// cut to 4 bytes had 2.
#[test]
fn an_fsync_during_a_pending_truncate_does_not_shrink_the_file_below_the_target() {
    let mut world = World::new();
    let root = world.root();
    world.write("/f", &[BLOCK_SIZE, 10]);
    assert!(!world.namespace.files(&root).truncate("/f", BLOCK_SIZE + 4, "client").unwrap());
    let before = world.stat("/f").unwrap();
    world.namespace.file_writes(&root).fsync("/f", before.file_id, "client", 2).unwrap();
    assert_eq!(world.stat("/f").unwrap().len, before.len);
    assert!(!world.namespace.files(&root).truncate("/f", BLOCK_SIZE + 4, "client").unwrap());
    world.check_replay();
    world.check_image();
    crate::leases::finish_recovery(&mut world, "/f", 4);
    assert_eq!(world.stat("/f").unwrap().len, BLOCK_SIZE + 4);
    world.check_replay();
}

#[test]
fn truncate_to_nothing_drops_all_blocks() {
    let mut world = World::new();
    let root = world.root();
    world.write("/f", &[10]);
    assert!(world.namespace.files(&root).truncate("/f", 0, "client").unwrap());
    assert_eq!((world.stat("/f").unwrap().len, world.namespace.blocks().block_count()), (0, 0));
    world.check_replay();
}

#[test]
fn safe_mode_refuses_changes_with_its_tip() {
    let mut world = World::new();
    let root = world.root();
    let notice = |is_passing| Some(SafeModeNotice { tip: "The tip.".to_owned(), is_passing });
    world.namespace.set_safe_mode(notice(true));
    let e = world.namespace.directories(&root).mkdirs("/a", 0o755, None, true).unwrap_err();
    assert_eq!(exception(&e), JavaException::Retriable);
    world.namespace.set_safe_mode(notice(false));
    let e = world.namespace.directories(&root).mkdirs("/a", 0o755, None, true).unwrap_err();
    assert_eq!(exception(&e), JavaException::SafeMode);
    assert_eq!(e.to_string(), "Cannot create directory /a. Name node is in safe mode.\nThe tip.");
    assert!(world.stat("/a").is_none());
}

/// What an inode cannot hold is refused, not cut, even if the configuration allows it.
#[test]
fn more_replicas_than_an_inode_can_hold_are_refused() {
    let mut world =
        World::with(NamespaceParams { replication_max: 32767, ..NamespaceParams::default() });
    let root = world.root();
    let create = CreateFlags { create: true, ..CreateFlags::default() };
    let e = world.create_with(&root, "/f", create, 2048).unwrap_err();
    assert_eq!(exception(&e), JavaException::IllegalArgument);
    assert_eq!(e.to_string(), "Invalid replication value 2048");
    assert_eq!(world.create_with(&root, "/f", create, 2047).unwrap().replication, 2047);
    assert_eq!(
        kind(world.namespace.attributes(&root).set_replication("/f", 4096)),
        JavaException::IllegalArgument
    );
}

/// An older image was restored, and its next blocks got the ids and stamps of those written since it was saved: DataNodes
/// that still had these refused them, or their old replica was taken for one of the new block.
#[test]
fn blocks_after_a_restored_image_have_numbers_that_no_lost_block_had() {
    let mut world = World::new();
    world.write("/before", &[10]);
    world.restart_from_image();
    let lost = Block { id: BlockId(1_073_741_900), stamp: GenerationStamp(1_100), len: 10 };
    world.report(lost);
    // A damaged number is not followed.
    world.report(Block { id: BlockId(i64::MAX - 7), stamp: GenerationStamp(3), len: 10 });
    world.log.clear();
    let root = world.root();
    world.create_as(&root, "/after", true).unwrap();
    let block = world.add_block("/after", None).unwrap().block();
    assert_eq!(block.stamp, GenerationStamp(1_101));
    assert!(block.id.0 < i64::MAX - 7, "{block:?}");
}

#[test]
fn the_next_block_id_is_above_those_of_unknown_replicas() {
    let mut world = World::new();
    world.write("/before", &[10]);
    world.report(Block { id: BlockId(1_073_741_900), stamp: GenerationStamp(900), len: 10 });
    let root = world.root();
    world.create_as(&root, "/after", true).unwrap();
    let block = world.add_block("/after", None).unwrap().block();
    assert_eq!((block.id, block.stamp), (BlockId(1_073_741_901), GenerationStamp(1_002)));
    world.check_replay();
}
