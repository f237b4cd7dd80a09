//! Leases and the recovery of files whose writer is gone.

use crate::world::{BLOCK_SIZE, World, empty, exception, kind};
use zerohop_namespace::blocks::ReplicaEvent;
use zerohop_namespace::{AddBlockRequest, BlockSynchronization, CreateFlags, CreateRequest};
use zerohop_wire::{Block, InodeId, JavaException};

/// The DataNodes end the recovery of a file's last block with this length.
pub fn finish_recovery(world: &mut World, path: &str, len: u64) {
    let root = world.root();
    let (located, _) = world.namespace.view(&root).block_locations(path, 0, u64::MAX).unwrap();
    let last = located.last.unwrap();
    let recovery = world.namespace.blocks().lookup().recovery(last.block().id).unwrap();
    let targets: Vec<_> = (last.locations.replicas.iter())
        .map(|replica| (replica.node.id.uuid.clone(), replica.storage_id.to_string()))
        .collect();
    world
        .namespace
        .block_recoveries(&root)
        .commit_block_synchronization(&BlockSynchronization {
            block: last.block(),
            new_stamp: recovery.stamp.0,
            new_len: len,
            close_file: true,
            delete_block: false,
            targets: &targets,
        })
        .unwrap();
}

fn open_file(world: &mut World, path: &str) -> Block {
    let root = world.root();
    world.create_as(&root, path, false).unwrap();
    world.add_block(path, None).unwrap().block()
}

#[test]
fn another_client_waits_for_the_soft_limit() {
    let mut world = World::new();
    open_file(&mut world, "/f");
    let root = world.root();
    let e = world.namespace.files(&root).append("/f", "other", CreateFlags::default()).unwrap_err();
    assert_eq!(exception(&e), JavaException::AlreadyBeingCreated);
    assert_eq!(
        e.to_string(),
        "Failed to APPEND_FILE /f for other on 127.0.0.1 because this file lease is currently owned by client on 127.0.0.1"
    );
    world.pass_ms(60_001);
    let root = world.root();
    let late = world.namespace.files(&root).append("/f", "other", CreateFlags::default());
    assert_eq!(kind(late), JavaException::RecoveryInProgress);
    finish_recovery(&mut world, "/f", 33);
    assert_eq!(world.stat("/f").unwrap().len, 33);
    world.namespace.files(&root).append("/f", "other", CreateFlags::default()).unwrap();
    world.check_replay();
}

#[test]
fn a_renewed_lease_does_not_run_out() {
    let mut world = World::new();
    open_file(&mut world, "/f");
    world.pass_ms(50_000);
    let root = world.root();
    world.namespace.lease_manager(&root).renew_lease("client").unwrap();
    world.pass_ms(50_000);
    let root = world.root();
    let e = world.namespace.files(&root).append("/f", "other", CreateFlags::default());
    assert_eq!(kind(e), JavaException::AlreadyBeingCreated);
}

#[test]
fn recover_lease_takes_a_file_from_its_writer() {
    let mut world = World::new();
    open_file(&mut world, "/f");
    let root = world.root();
    world.edits();
    assert!(!world.namespace.lease_manager(&root).recover_lease("/f", "other").unwrap());
    assert_eq!(world.edit_names(), ["OP_SET_GENSTAMP_V2", "OP_REASSIGN_LEASE"]);
    assert!(!world.namespace.lease_manager(&root).recover_lease("/f", "other").unwrap());
    assert_eq!(world.edit_names(), ["OP_REASSIGN_LEASE"]);
    finish_recovery(&mut world, "/f", 7);
    assert!(world.namespace.lease_manager(&root).recover_lease("/f", "other").unwrap());
    assert!(world.namespace.view(&root).is_file_closed("/f").unwrap());
    world.check_replay();
}

/// The edit that hands the lease over could not carry it: it would be another one after a restart.
#[test]
fn a_lease_is_not_recovered_for_a_name_that_no_edit_can_carry() {
    let mut world = World::new();
    open_file(&mut world, "/f");
    let root = world.root();
    let long = "x".repeat(21_846);
    assert_eq!(
        kind(world.namespace.lease_manager(&root).recover_lease("/f", &long)),
        JavaException::Io
    );
    assert!(!world.namespace.lease_manager(&root).recover_lease("/f", &long[1..]).unwrap());
    world.check_replay();
}

#[test]
fn a_file_without_blocks_is_closed_at_once() {
    let mut world = World::new();
    let root = world.root();
    world.create_as(&root, "/f", false).unwrap();
    assert!(world.namespace.lease_manager(&root).recover_lease("/f", "other").unwrap());
    assert_eq!(
        kind(world.namespace.lease_manager(&root).recover_lease("/x", "other")),
        JavaException::FileNotFound
    );
}

#[test]
fn the_namenode_takes_over_after_the_hard_limit() {
    let mut world = World::new();
    open_file(&mut world, "/f");
    world.pass_ms(20 * 60_000);
    let root = world.root();
    assert!(!world.namespace.lease_manager(&root).check_leases(10));
    world.pass_ms(1);
    let root = world.root();
    world.edits();
    assert!(world.namespace.lease_manager(&root).check_leases(10));
    assert_eq!(world.edit_names(), ["OP_SET_GENSTAMP_V2", "OP_REASSIGN_LEASE"]);
    let (open, more) = world.namespace.view(&root).list_open_files(InodeId(0), "/").unwrap();
    assert!(open[0].client_name.starts_with("HDFS_NameNode-") && !more, "{open:?}");
    finish_recovery(&mut world, "/f", 0);
    world.check_replay();
}

#[test]
fn an_answer_with_an_old_recovery_id_is_refused() {
    let mut world = World::new();
    let block = open_file(&mut world, "/f");
    let root = world.root();
    world.namespace.lease_manager(&root).recover_lease("/f", "other").unwrap();
    let request = BlockSynchronization {
        block,
        new_stamp: block.stamp.0,
        new_len: 1,
        ..BlockSynchronization::default()
    };
    let e =
        world.namespace.block_recoveries(&root).commit_block_synchronization(&request).unwrap_err();
    assert!(
        e.to_string().starts_with("The recovery id 1001 does not match current recovery id 1002"),
        "{}",
        e.to_string()
    );
}

/// Its bytes were flushed, which no edit carries, and the DataNodes had not told the new active NameNode of it: it was dropped.
#[test]
fn a_block_without_replicas_is_not_dropped_before_datanodes_had_time_to_report_after_a_failover() {
    let mut world = World::new();
    open_file(&mut world, "/f");
    let mut standby = empty();
    standby.become_standby();
    world.catch_up(&mut standby);
    standby.become_active(world.now);
    let root = world.root();
    assert_eq!(kind(standby.view(&root).block_locations("/f", 0, 1)), JavaException::Retriable);
    for passed_ms in [0, 59_999] {
        world.pass_ms(passed_ms);
        standby.blocks_mut().tick(world.now, &|_| 0);
        let root = world.root();
        assert!(!standby.lease_manager(&root).recover_lease("/f", "other").unwrap());
    }
    while standby.blocks().lookup().keeps_empty() {
        world.pass_ms(1_000);
        standby.blocks_mut().tick(world.now, &|_| 0);
    }
    let root = world.root();
    assert!(standby.lease_manager(&root).recover_lease("/f", "other").unwrap());
    assert!(standby.view(&root).is_file_closed("/f").unwrap(), "nothing was written to it");
}

/// No DataNode had reported since the restart: the block seemed to be empty, and was removed with its flushed bytes.
#[test]
fn recover_lease_right_after_a_restart_keeps_a_block_that_no_datanode_has_reported_yet() {
    let mut world = World::new();
    let flushed = open_file(&mut world, "/f");
    world.restart();
    world.end_safe_mode();
    let root = world.root();
    assert!(!world.namespace.lease_manager(&root).recover_lease("/f", "other").unwrap());
    world.tick_ms(59_999);
    let root = world.root();
    assert!(!world.namespace.lease_manager(&root).recover_lease("/f", "other").unwrap());
    world.report_written(flushed);
    assert!(!world.namespace.lease_manager(&root).recover_lease("/f", "other").unwrap());
    finish_recovery(&mut world, "/f", 33);
    assert_eq!(world.stat("/f").unwrap().len, 33);
    world.check_replay();
}

/// A block without a reported replica after a minute was never written.
#[test]
fn an_empty_block_is_removed_when_datanodes_had_time_to_report_after_a_restart() {
    let mut world = World::new();
    open_file(&mut world, "/f");
    world.restart();
    world.end_safe_mode();
    world.tick_ms(60_000);
    let root = world.root();
    assert!(world.namespace.lease_manager(&root).recover_lease("/f", "other").unwrap());
    assert!(world.namespace.view(&root).is_file_closed("/f").unwrap());
    world.check_replay();
}

/// The only DataNode that had reported since the restart had lost its bytes with the power; the others held them.
#[test]
fn a_recovery_right_after_a_restart_deletes_no_block() {
    let mut world = World::new();
    let flushed = open_file(&mut world, "/f");
    world.restart();
    world.end_safe_mode();
    world.report_written(flushed);
    let root = world.root();
    world.namespace.lease_manager(&root).recover_lease("/f", "other").unwrap();
    let recovery = world.namespace.blocks().lookup().recovery(flushed.id).unwrap();
    let request = BlockSynchronization {
        block: flushed,
        new_stamp: recovery.stamp.0,
        close_file: true,
        delete_block: true,
        ..BlockSynchronization::default()
    };
    let e =
        world.namespace.block_recoveries(&root).commit_block_synchronization(&request).unwrap_err();
    assert!(e.to_string().contains("may hold flushed bytes"), "{e}");
    world.tick_ms(60_000);
    let root = world.root();
    world.namespace.block_recoveries(&root).commit_block_synchronization(&request).unwrap();
    assert!(world.namespace.view(&root).is_file_closed("/f").unwrap());
}

/// No edit carries that a client told the length of the last block. A different NameNode recovered the block in between, a late
/// report completed it here under its old stamp, and its replicas were corrupt.
#[test]
fn the_length_that_a_client_told_in_an_earlier_term_is_not_final() {
    close_in_the_next_term(false);
}

/// The replicas had been reported, and the client had not repeated its call.
#[test]
fn a_block_that_became_complete_in_an_earlier_term_and_not_by_an_edit_is_not_final() {
    close_in_the_next_term(true);
}

fn close_in_the_next_term(is_complete: bool) {
    let mut world = World::new();
    let root = world.root();
    world.create_as(&root, "/f", false).unwrap();
    let located = world.add_block("/f", None).unwrap();
    let written = Block { len: 10, ..located.block() };
    assert!(!world.close("/f", Some(written)), "no replica is known");
    if is_complete {
        world.received(&located, written);
        assert!(world.namespace.blocks().is_complete(written.id));
    }
    world.namespace.become_standby();
    world.namespace.become_active(world.now);
    assert_eq!(world.namespace.miscounted(), None);
    world.received(&located, written);
    assert!(!world.namespace.blocks().is_complete(written.id));
    assert!(world.close("/f", Some(written)), "the client says it again");
    assert_eq!(world.namespace.miscounted(), None);
    world.check_replay();
}

/// The DataNodes that were asked have nothing of it; others may.
#[test]
fn a_recovery_deletes_no_block_with_acknowledged_bytes() {
    let mut world = World::new();
    let root = world.root();
    world.write("/f", &[10]);
    world.namespace.files(&root).append("/f", "client", CreateFlags::default()).unwrap();
    world.namespace.lease_manager(&root).recover_lease("/f", "other").unwrap();
    let block =
        world.namespace.view(&root).block_locations("/f", 0, 1).unwrap().0.blocks[0].block();
    let recovery = world.namespace.blocks().lookup().recovery(block.id).unwrap();
    let request = BlockSynchronization {
        block,
        new_stamp: recovery.stamp.0,
        close_file: true,
        delete_block: true,
        ..BlockSynchronization::default()
    };
    let e =
        world.namespace.block_recoveries(&root).commit_block_synchronization(&request).unwrap_err();
    assert!(e.to_string().contains("10 bytes of it were acknowledged"), "{e}");
    finish_recovery(&mut world, "/f", 10);
    assert_eq!(world.stat("/f").unwrap().len, 10);
}

/// The NameNode died while DataNodes cut the block: what they answer does not count, they are asked anew.
#[test]
fn a_truncate_goes_on_after_a_restart() {
    restart_under_truncate(World::restart);
}

/// An image did not say that the file was being truncated: after a checkpoint and a restart it kept its old length.
#[test]
fn a_truncate_goes_on_after_a_start_from_an_image() {
    restart_under_truncate(World::restart_from_image);
}

fn restart_under_truncate(restart: fn(&mut World)) {
    let mut world = World::new();
    let root = world.root();
    world.write("/f", &[10]);
    assert!(!world.namespace.files(&root).truncate("/f", 4, "client").unwrap());
    let cut =
        world.namespace.view(&root).block_locations("/f", 0, 1).unwrap().0.last.unwrap().block();
    let asked = world.namespace.blocks().lookup().recovery(cut.id).unwrap().stamp.0;
    world.check_image();
    restart(&mut world);
    let root = world.root();
    assert!(!world.namespace.lease_manager(&root).check_leases(10), "no replica is known yet");
    world.report(cut);
    let request =
        BlockSynchronization { block: cut, new_stamp: asked, new_len: 4, ..Default::default() };
    let late =
        world.namespace.block_recoveries(&root).commit_block_synchronization(&request).unwrap_err();
    assert!(late.to_string().contains("does not match current recovery id 0"), "{late}");
    assert!(world.namespace.lease_manager(&root).check_leases(10));
    assert!(!world.namespace.lease_manager(&root).check_leases(10), "they are asked once");
    finish_recovery(&mut world, "/f", 4);
    assert_eq!(world.stat("/f").unwrap().len, 4);
    world.check_replay();
}

#[test]
fn open_files_are_listed_in_pages_below_a_path() {
    let mut world = World::new();
    let root = world.root();
    for path in ["/a/1", "/a/2", "/b/3"] {
        world.create_as(&root, path, false).unwrap();
    }
    let (open, _) = world.namespace.view(&root).list_open_files(InodeId(0), "/a").unwrap();
    assert_eq!(open.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["/a/1", "/a/2"]);
    let (rest, _) = world.namespace.view(&root).list_open_files(open[1].id, "/").unwrap();
    assert_eq!(rest.len(), 1);
    let user = world.user("bob", &[]);
    assert_eq!(
        kind(world.namespace.view(&user).list_open_files(InodeId(0), "/")),
        JavaException::AccessControl
    );
}

fn client_names(world: &World) -> Vec<String> {
    let root = world.root();
    let (open, _) = world.namespace.view(&root).list_open_files(InodeId(0), "/").unwrap();
    open.into_iter().map(|file| file.client_name).collect()
}

/// Files that others leave behind every few minutes must not keep a file from its next try.
#[test]
fn a_file_taken_over_is_tried_again_however_many_come_after_it() {
    let mut world = World::new();
    open_file(&mut world, "/first");
    world.pass_ms(20 * 60_000 + 1);
    let root = world.root();
    world.namespace.lease_manager(&root).check_leases(10);
    let taken_by = client_names(&world).remove(0);
    for minute in 0..60 {
        let root = world.root();
        let path = format!("/later{minute}");
        let name = format!("client{minute}");
        let flags = CreateFlags { create: true, ..CreateFlags::default() };
        world
            .namespace
            .files(&root)
            .create(&CreateRequest {
                path: &path,
                client_name: &name,
                flags,
                replication: 1,
                block_size: BLOCK_SIZE,
                ..CreateRequest::default()
            })
            .unwrap();
        world
            .namespace
            .file_writes(&root)
            .add_block(&AddBlockRequest {
                path: &path,
                client_name: &name,
                ..AddBlockRequest::default()
            })
            .unwrap();
        world.pass_ms(60_000);
        let root = world.root();
        world.namespace.lease_manager(&root).check_leases(10);
    }
    let first = client_names(&world).remove(0);
    assert!(first.starts_with("HDFS_NameNode-"), "{first}");
    assert_ne!(first, taken_by, "it was tried again");
    world.check_replay();
}

/// A file with a block that was committed and one before it that is lost cannot be released: others get their turn.
#[test]
fn files_that_cannot_be_released_hold_up_no_others() {
    let mut world = World::new();
    let root = world.root();
    for path in ["/stuck1", "/stuck2"] {
        world.create_as(&root, path, false).unwrap();
        let first = world.add_block(path, None).unwrap();
        let full = Block { len: 1, ..first.block() };
        world.received(&first, full);
        let second = world.add_block(path, Some(full)).unwrap();
        assert!(!world.close(path, Some(Block { len: 1, ..second.block() })));
        for replica in &first.locations.replicas {
            let storage = (&replica.storage_id, replica.kind);
            let gone = [ReplicaEvent::Deleted(full)];
            let uuid = &replica.node.id.uuid;
            world
                .namespace
                .blocks_mut()
                .block_reports()
                .incremental_report(uuid, storage, gone)
                .unwrap();
        }
    }
    open_file(&mut world, "/free");
    world.pass_ms(20 * 60_000 + 1);
    let root = world.root();
    world.namespace.lease_manager(&root).check_leases(2);
    assert!(client_names(&world).iter().all(|name| name == "client"));
    world.namespace.lease_manager(&root).check_leases(2);
    assert!(client_names(&world)[2].starts_with("HDFS_NameNode-"), "{:?}", client_names(&world));
    assert!(!world.namespace.lease_manager(&root).check_leases(2), "not at once again");
    world.pass_ms(60_000);
    let root = world.root();
    assert!(world.namespace.lease_manager(&root).check_leases(2), "but soon");
}
