//! A NameNode that becomes active again while some DataNodes are cut off from it.

use super::*;
use crate::ids::Ids;

fn ids() -> Ids {
    Ids { block: BlockId(9), stamp: GenerationStamp(1002), ..Ids::default() }
}

/// Makes this NameNode a standby for a second, and active again.
fn fail_over_and_back(cluster: &mut Cluster) {
    cluster.blocks.become_standby(&ids());
    cluster.pass(1_000);
    cluster.blocks.become_active();
}

/// Returns the blocks that `nodes` are ordered to delete, each with its DataNode.
fn deletions(cluster: &mut Cluster, nodes: &[usize]) -> Vec<(usize, Block)> {
    while cluster.blocks.continue_walks() {}
    cluster.pass(0);
    let mut found = Vec::new();
    for node in nodes {
        for command in cluster.beat(*node) {
            let Command::Invalidate(blocks) = command else { continue };
            found.extend(blocks.into_iter().map(|block| (*node, block)));
        }
    }
    found
}

/// Creates a block of replication 1 with two replicas, and fails over and back. This NameNode had marked the first replica
/// as excess. The other NameNode had the second one deleted, whose DataNode is cut off from this NameNode.
fn last_replica_on_a_pair() -> (Cluster, Block) {
    // Before the DataNode that is cut off counts as dead.
    let excess_timeout_ms = 60_000;
    let params =
        BlockParams { safemode_extension_ms: 0, excess_timeout_ms, ..BlockParams::default() };
    let mut cluster = Cluster::with(&["/a", "/a"], params);
    let block = cluster.written(1, 1, &[0, 1]);
    cluster.settle();
    assert_eq!(deletions(&mut cluster, &[0, 1]), [(0, block)]);
    fail_over_and_back(&mut cluster);
    (cluster, block)
}

/// The mark of the first term stayed: the replica was ordered to be deleted again after a while, and it was the last.
#[test]
fn an_excess_mark_does_not_survive_a_failover_and_back() {
    let (mut cluster, block) = last_replica_on_a_pair();
    assert_eq!(cluster.blocks.stats().excess, 0);
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).live, 2);
    for _ in 0..3 {
        cluster.full_report(0, vec![finalized(block)]);
        assert_eq!(deletions(&mut cluster, &[0]), []);
        cluster.pass(cluster.blocks.params().excess_timeout_ms + 1);
        cluster.beat(0);
    }
    assert_eq!(cluster.blocks.stats().postponed, 1);
}

/// A DataNode that restarted got the order of the first term again.
#[test]
fn a_first_report_after_a_failover_renews_no_order_of_an_earlier_term() {
    let (mut cluster, block) = last_replica_on_a_pair();
    cluster.join(0, "/a");
    cluster.full_report(0, vec![finalized(block)]);
    assert_eq!(deletions(&mut cluster, &[0]), []);
}

/// The report of the DataNode that was cut off makes the other replica superfluous.
#[test]
fn an_excess_replica_is_deleted_when_all_its_datanodes_have_reported_to_the_new_active_namenode() {
    let (mut cluster, block) = last_replica_on_a_pair();
    cluster.beat(0);
    cluster.full_report(0, vec![finalized(block)]);
    assert_eq!(deletions(&mut cluster, &[0]), []);
    cluster.beat(1);
    cluster.full_report(1, vec![finalized(block)]);
    assert_eq!(deletions(&mut cluster, &[0, 1]).len(), 1);
    assert_eq!(cluster.blocks.stats().postponed, 0);
}

/// A block whose copy was ordered in an earlier term seemed to have enough replicas.
#[test]
fn copies_of_an_earlier_term_do_not_count() {
    let mut cluster = Cluster::new(&["/a", "/a", "/a"]);
    let block = cluster.written(1, 2, &[0]);
    cluster.pass(10_000);
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).pending, 1);
    fail_over_and_back(&mut cluster);
    let counts = cluster.blocks.lookup().replica_counts(block.id);
    assert_eq!((counts.live, counts.pending), (1, 0));
    let nodes = cluster.blocks.placement().nodes;
    let scheduled = |index| nodes.node(NodeIdx(index)).unwrap().scheduled.total();
    assert_eq!((0..3).map(scheduled).sum::<u64>(), 0, "no room is set aside");
    cluster.pass(10_000);
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).pending, 1);
}

/// The other NameNode may have deleted the good replicas: their storages had not reported since the failover.
#[test]
fn a_corrupt_replica_is_kept_while_the_good_ones_are_on_stale_storages() {
    let mut cluster = Cluster::new(&["/a", "/a", "/a"]);
    let block = cluster.written(1, 2, &[0, 1, 2]);
    fail_over_and_back(&mut cluster);
    cluster.block_is_bad(0, block);
    assert_eq!(deletions(&mut cluster, &[0, 1, 2]), []);
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).corrupt, 1);
    cluster.full_report(1, vec![finalized(block)]);
    assert_eq!(deletions(&mut cluster, &[0, 1, 2]), [], "one good replica is not enough");
    cluster.full_report(2, vec![finalized(block)]);
    assert_eq!(deletions(&mut cluster, &[0, 1, 2]), [(0, block)]);
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).live, 2);
}

/// The DataNode had listed its replicas when the other NameNode still gave orders; the list arrived after the failover.
#[test]
fn a_split_report_that_was_begun_before_a_failover_makes_no_storage_fresh() {
    let mut cluster = Cluster::new(&["/a", "/a"]);
    let block = cluster.written(1, 1, &[0, 1]);
    cluster.blocks.become_standby(&ids());
    let wants = Heartbeat { wants_report_lease: true, ..Heartbeat::default() };
    let now = cluster.now;
    let lease = |cluster: &mut Cluster| {
        let beat = wants.clone();
        cluster.blocks.heartbeat("uuid-0", beat, &[disk(0)], now, &|_| 0).report_lease
    };
    let before = lease(&mut cluster);
    assert!(cluster.blocks.is_report_lease_held("uuid-0", before));
    cluster.blocks.become_active();
    assert!(!cluster.blocks.is_report_lease_held("uuid-0", before), "the rest is refused");
    let after = lease(&mut cluster);
    assert!(cluster.blocks.is_report_lease_held("uuid-0", after));
    cluster.full_report(0, vec![finalized(block)]);
    assert_eq!(cluster.blocks.stats().stale_storages, 1);
}

/// A part of a report was taken in before the failover and the rest after it.
#[test]
fn a_report_in_flight_during_a_failover_makes_no_storage_fresh() {
    let mut cluster = Cluster::new(&["/a", "/a"]);
    let blocks = [cluster.written(1, 1, &[0, 1]), cluster.written(2, 1, &[0, 1])];
    cluster.blocks.become_standby(&ids());
    let replicas = blocks.map(finalized).to_vec();
    let storage = (&storage(0), StorageType::Disk);
    let begun = cluster.blocks.block_reports().begin_full_report("uuid-0", storage, replicas);
    let mut report = begun.unwrap();
    assert_eq!(cluster.blocks.continue_full_report(&mut report, 1).unwrap(), None);
    cluster.blocks.become_active();
    cluster.beat(0);
    while cluster.blocks.continue_full_report(&mut report, 1).unwrap().is_none() {}
    assert_eq!(cluster.blocks.stats().stale_storages, 2);
}

/// A lifeline has no answer that tells the DataNode which NameNode is active.
#[test]
fn a_lifeline_does_not_count_as_hearing_of_the_new_active_namenode() {
    let mut cluster = Cluster::new(&["/a"]);
    let block = cluster.written(1, 1, &[0]);
    fail_over_and_back(&mut cluster);
    let now = cluster.now;
    let lifeline = Heartbeat::default();
    assert!(cluster.blocks.datanode_manager().lifeline("uuid-0", lifeline, &[disk(0)], now));
    cluster.full_report(0, vec![finalized(block)]);
    assert_eq!(cluster.blocks.stats().stale_storages, 1);
    cluster.beat(0);
    cluster.full_report(0, vec![finalized(block)]);
    assert_eq!(cluster.blocks.stats().stale_storages, 0);
}

/// The NameNode in between had ordered later recoveries, under stamps that no edit carries: the block was closed as the first
/// one left it, and was corrupt.
#[test]
fn a_recovery_that_was_ordered_in_an_earlier_term_does_not_count() {
    let mut cluster = Cluster::new(&["/a"]);
    let open = block(1, 0);
    cluster.blocks.put_under_construction(open, FILE, 1);
    cluster.event(0, ReplicaEvent::Receiving(open));
    let stamp = GenerationStamp(1002);
    assert!(cluster.blocks.under_construction().start_recovery(open.id, stamp).unwrap());
    assert!(cluster.blocks.lookup().recovery(open.id).unwrap().is_asked());
    fail_over_and_back(&mut cluster);
    assert!(cluster.blocks.lookup().recovery(open.id).is_none());
    let later = GenerationStamp(1003);
    assert!(cluster.blocks.under_construction().start_recovery(open.id, later).unwrap());
}

/// DataNodes were told to lock what a plan of the first term had chosen.
#[test]
fn orders_of_an_earlier_term_to_lock_blocks_in_memory_are_forgotten() {
    let mut cluster = Cluster::new(&["/a"]);
    let block = cluster.written(1, 1, &[0]);
    cluster.beat_with(0, Heartbeat { cache_capacity: GB, ..Heartbeat::default() });
    let mut plan = cluster.blocks.plan_caches([(block.id, 1)].into());
    while cluster.blocks.advance_plan(&mut plan, 10) {}
    fail_over_and_back(&mut cluster);
    assert!(cluster.beat(0).is_empty());
}

/// The stale replica of a DataNode that a pipeline excluded was deleted when the block was complete, though the storages of the good
/// replicas had not reported since the failover.
#[test]
fn a_replica_that_a_pipeline_left_behind_is_kept_while_the_good_ones_are_on_stale_storages() {
    let mut cluster = Cluster::new(&["/a", "/a"]);
    let open = block(1, 0);
    cluster.blocks.put_under_construction(open, FILE, 1);
    let both = [cluster.disk_of(0), cluster.disk_of(1)];
    cluster.blocks.under_construction().set_targets(open.id, &both);
    fail_over_and_back(&mut cluster);
    let stamp = GenerationStamp(1002);
    cluster.blocks.update_pipeline(open.id, stamp, 0, &both[..1]).unwrap();
    let done = Block { stamp, len: 10, ..open };
    cluster.received(0, done);
    assert!(cluster.blocks.commit(done).unwrap());
    assert_eq!(deletions(&mut cluster, &[0, 1]), []);
    cluster.full_report(0, vec![finalized(done)]);
    cluster.full_report(1, vec![ReportedReplica { block: open, state: ReplicaState::Rbw }]);
    assert_eq!(deletions(&mut cluster, &[0, 1]), [(1, open)]);
}

/// Creates a block of replication 1 with two replicas. The DataNode of the first one was told to delete it, and is slow. The
/// second one is away for a while.
fn told_to_delete_the_only_replica(params: BlockParams) -> (Cluster, Block) {
    let params = BlockParams { safemode_extension_ms: 0, ..params };
    let mut cluster = Cluster::with(&["/a", "/a"], params);
    let block = cluster.written(1, 1, &[0, 1]);
    cluster.settle();
    assert_eq!(deletions(&mut cluster, &[0, 1]), [(0, block)]);
    cluster.event(1, ReplicaEvent::Deleted(block));
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).live, 1, "the order may be lost");
    (cluster, block)
}

/// The replica that counted again although its DataNode was deleting it had the other one deleted: it was the last.
#[test]
fn a_replica_that_its_datanode_was_told_to_delete_spared_another_one() {
    let (mut cluster, block) = told_to_delete_the_only_replica(BlockParams::default());
    // The second DataNode is late, and would be the first to lose a replica.
    cluster.pass(13_000);
    cluster.beat(0);
    cluster.received(1, block);
    cluster.settle();
    assert_eq!(deletions(&mut cluster, &[0, 1]), [(0, block)]);
    cluster.event(0, ReplicaEvent::Deleted(block));
    cluster.settle();
    assert_eq!(deletions(&mut cluster, &[0, 1]), []);
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).live, 1);
}

/// Of two replicas being deleted, the one whose DataNode was told counted again, and the other one's order stood.
#[test]
fn an_order_that_its_datanode_had_not_got_was_not_called_off() {
    let params = BlockParams { safemode_extension_ms: 0, ..BlockParams::default() };
    let mut cluster = Cluster::with(&["/a", "/a", "/a"], params);
    let block = cluster.written(1, 1, &[0, 1, 2]);
    cluster.settle();
    assert_eq!(deletions(&mut cluster, &[0]), [(0, block)]);
    assert_eq!(cluster.blocks.stats().excess, 2);
    cluster.event(2, ReplicaEvent::Deleted(block));
    assert_eq!(deletions(&mut cluster, &[1]), []);
    cluster.event(0, ReplicaEvent::Deleted(block));
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).live, 1);
}
