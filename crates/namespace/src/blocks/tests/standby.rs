//! A standby: DataNodes report blocks whose edits have not arrived, and get no commands.

use super::*;
use crate::commit::key::CommitKey;
use crate::ids::Ids;

fn ids(block: i64, stamp: i64) -> Ids {
    Ids { block: BlockId(block), stamp: GenerationStamp(stamp), ..Ids::default() }
}

/// One DataNode on each of two racks; edits up to block 2 and stamp 1002 have been applied.
fn standby() -> Cluster {
    let mut cluster = Cluster::new(&["/a", "/b"]);
    cluster.blocks.become_standby(&ids(2, 1002));
    cluster
}

fn stamped(id: i64, stamp: i64, len: u64) -> Block {
    Block { stamp: GenerationStamp(stamp), ..block(id, len) }
}

fn live(cluster: &Cluster, block: Block) -> u32 {
    cluster.blocks.lookup().replica_counts(block.id).live
}

#[test]
fn a_replica_of_a_block_that_is_not_known_yet_counts_when_its_edit_arrives() {
    let mut cluster = standby();
    let new = stamped(3, 1003, 100);
    cluster.received(0, new);
    cluster.full_report(1, vec![finalized(new)]);
    cluster.full_report(1, vec![finalized(new)]);
    assert_eq!(cluster.blocks.pending_messages(), 2);
    assert_eq!(cluster.blocks.stats().unknown.replicas, 0);
    // The edits of its id and its stamp come first.
    cluster.blocks.edit_applied(&ids(3, 1003), &[]);
    assert_eq!(cluster.blocks.pending_messages(), 2);
    cluster.blocks.put_complete(new, FILE, 2);
    cluster.blocks.edit_applied(&ids(3, 1003), &[new.id]);
    assert_eq!((live(&cluster, new), cluster.blocks.pending_messages()), (2, 0));
}

#[test]
fn a_message_between_the_edits_of_a_block_waits_too() {
    let mut cluster = standby();
    let new = stamped(3, 1003, 100);
    cluster.blocks.edit_applied(&ids(3, 1003), &[]);
    cluster.received(0, new);
    assert_eq!(cluster.blocks.pending_messages(), 1);
    cluster.blocks.put_complete(new, FILE, 2);
    cluster.blocks.edit_applied(&ids(3, 1003), &[new.id]);
    assert_eq!(live(&cluster, new), 1);
}

#[test]
fn a_replica_with_a_later_stamp_is_neither_corrupt_nor_gone() {
    let mut cluster = standby();
    let old = cluster.written(1, 2, &[0, 1]);
    let new = stamped(1, 1003, 200);
    cluster.full_report(0, vec![finalized(new)]);
    cluster.received(1, new);
    let counts = cluster.blocks.lookup().replica_counts(old.id);
    assert_eq!((counts.live, counts.corrupt, cluster.blocks.pending_messages()), (2, 0, 2));
    cluster.blocks.edits(CommitKey::for_tests()).set_block(new);
    cluster.blocks.edit_applied(&ids(2, 1003), &[new.id]);
    let counts = cluster.blocks.lookup().replica_counts(new.id);
    assert_eq!((counts.live, counts.corrupt, cluster.blocks.pending_messages()), (2, 0, 0));
}

/// The close that makes it longer is on its way.
#[test]
fn a_replica_of_another_length_waits_for_the_next_edit_of_its_block() {
    let mut cluster = standby();
    let short = cluster.written(1, 2, &[0]);
    let long = Block { len: 150, ..short };
    cluster.received(1, long);
    assert_eq!(cluster.blocks.lookup().replica_counts(short.id).corrupt, 0);
    assert_eq!(cluster.blocks.pending_messages(), 1);
    cluster.blocks.edits(CommitKey::for_tests()).set_block(long);
    cluster.blocks.edit_applied(&ids(2, 1002), &[long.id]);
    assert_eq!((live(&cluster, long), cluster.blocks.pending_messages()), (2, 0));
}

/// No edit explains it.
#[test]
fn a_corrupt_replica_that_a_standby_heard_of_is_corrupt_when_it_becomes_active() {
    let mut cluster = standby();
    let good = cluster.written(1, 2, &[0]);
    cluster.received(1, Block { len: 150, ..good });
    let corrupt = |cluster: &Cluster| cluster.blocks.lookup().replica_counts(good.id).corrupt;
    assert_eq!((corrupt(&cluster), cluster.blocks.pending_messages()), (0, 1));
    cluster.blocks.become_active();
    assert_eq!((corrupt(&cluster), cluster.blocks.pending_messages()), (1, 0));
    assert_eq!(live(&cluster, good), 1);
}

#[test]
fn messages_about_a_block_are_heard_in_their_order() {
    let mut cluster = standby();
    let new = stamped(3, 1003, 100);
    cluster.received(0, new);
    cluster.received(1, new);
    cluster.event(0, ReplicaEvent::Deleted(new));
    cluster.blocks.put_complete(new, FILE, 2);
    cluster.blocks.edit_applied(&ids(3, 1003), &[new.id]);
    assert_eq!((live(&cluster, new), cluster.blocks.pending_messages()), (1, 0));
}

#[test]
fn a_datanode_that_registers_anew_reports_anew() {
    let mut cluster = standby();
    cluster.received(0, stamped(3, 1003, 100));
    cluster.received(1, stamped(3, 1003, 100));
    cluster.join(0, "/a");
    assert_eq!(cluster.blocks.pending_messages(), 1);
}

#[test]
fn a_standby_orders_nothing_and_an_active_one_decides_about_what_waited() {
    let mut cluster = standby();
    cluster.blocks.edit_applied(&ids(8, 1002), &[]);
    let copied = cluster.written(1, 1, &[0, 1]);
    let orphan = stamped(7, 900, 5);
    let newer = stamped(9, 2500, 5);
    for _ in 0..2 {
        cluster.full_report(0, vec![finalized(copied), finalized(orphan), finalized(newer)]);
    }
    cluster.pass(1000);
    assert!(cluster.beat(0).is_empty() && cluster.beat(1).is_empty());
    assert_eq!(cluster.blocks.pending_messages(), 1);
    cluster.blocks.become_active();
    cluster.full_report(0, vec![finalized(copied), finalized(orphan), finalized(newer)]);
    assert_eq!(cluster.blocks.pending_messages(), 0);
    let commands = cluster.beat(0);
    let [Command::Invalidate(blocks)] = commands.as_slice() else { panic!("{commands:?}") };
    assert!(blocks.contains(&orphan) && blocks.contains(&newer), "{blocks:?}");
}

/// A standby had applied the edits that make a file and delete it, and a DataNode still had its replica: safe mode did not end by
/// itself, not even when this NameNode became active.
#[test]
fn a_replica_whose_file_was_deleted_since_the_start_is_no_block_of_the_future() {
    let mut cluster = Cluster::new(&["/a"]);
    cluster.blocks.put_complete(block(1, 100), FILE, 1);
    cluster.blocks.start(cluster.now, GenerationStamp(1002));
    cluster.blocks.become_standby(&ids(2, 1002));
    cluster.blocks.edit_applied(&ids(4, 1005), &[]);
    let deleted = stamped(3, 1003, 50);
    let lost = stamped(9, 2000, 60);
    cluster.full_report(0, vec![finalized(deleted), finalized(lost), finalized(block(1, 100))]);
    assert_eq!(cluster.blocks.stats().bytes_in_future, 0);
    cluster.blocks.become_active();
    assert_eq!(cluster.blocks.stats().bytes_in_future, 0, "its edit was never acknowledged");
    cluster.pass(100_000);
    assert!(!cluster.blocks.safe_mode().is_starting());
}

/// A block that was appended to and closed again counted twice, and safe mode waited for a block that is not there.
#[test]
fn a_block_that_is_appended_to_while_a_standby_starts_counts_once() {
    let mut cluster = Cluster::new(&["/a"]);
    cluster.blocks.put_complete(block(1, 100), FILE, 1);
    cluster.blocks.start(cluster.now, GenerationStamp(1002));
    cluster.blocks.become_standby(&ids(2, 1002));
    let id = BlockId(1);
    for _ in 0..3 {
        cluster.blocks.edits(CommitKey::for_tests()).set_under_construction(id);
        cluster.blocks.under_construction().expect_reopened(id);
        cluster.blocks.edits(CommitKey::for_tests()).set_committed(id);
        cluster.blocks.under_construction().complete_replayed(id);
    }
    cluster.full_report(0, vec![finalized(block(1, 100))]);
    cluster.pass(100_000);
    assert!(!cluster.blocks.safe_mode().is_starting(), "{}", cluster.blocks.safe_mode().tip());
}

fn told_to_delete(cluster: &mut Cluster, count: usize) -> Vec<usize> {
    let is_told = |index: &usize| {
        let commands = cluster.beat(*index);
        commands.iter().any(|command| matches!(command, Command::Invalidate(_)))
    };
    (0..count).filter(is_told).collect()
}

/// The NameNode that was active before had chosen another replica than this one chose, and both were deleted (HDFS-16420).
#[test]
fn a_new_active_namenode_deletes_no_extra_replica_before_all_their_storages_have_reported() {
    let mut cluster = Cluster::new(&["/a", "/a", "/b", "/b"]);
    let block = cluster.written(1, 3, &[0, 1, 2]);
    cluster.blocks.become_standby(&ids(2, 1002));
    cluster.blocks.become_active();
    cluster.received(3, block);
    cluster.settle();
    assert_eq!(told_to_delete(&mut cluster, 4), Vec::<usize>::new());
    for index in 0..3 {
        cluster.full_report(index, vec![finalized(block)]);
        while cluster.blocks.continue_walks() {}
        cluster.settle();
        assert_eq!(told_to_delete(&mut cluster, 4), Vec::<usize>::new(), "{index}");
    }
    cluster.full_report(3, vec![finalized(block)]);
    while cluster.blocks.continue_walks() {}
    cluster.settle();
    assert_eq!(told_to_delete(&mut cluster, 4).len(), 1);
}
