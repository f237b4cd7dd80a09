//! Lost, extra and corrupt replicas.

use super::*;

#[test]
fn a_lost_replica_is_copied_from_a_live_one() {
    let mut cluster = Cluster::new(&["/a"; 4]);
    let block = cluster.written(1, 3, &[0, 1, 2]);
    cluster.pass(3_000);
    assert!((0..4).all(|index| cluster.beat(index).is_empty()));
    cluster.event(2, ReplicaEvent::Deleted(block));
    cluster.pass(3_000);
    let commands: Vec<Command> = (0..4).flat_map(|index| cluster.beat(index)).collect();
    let [Command::Transfer(transfers)] = commands.as_slice() else { panic!("{commands:?}") };
    assert_eq!(transfers[0].block, block);
    let target = &transfers[0].targets[0].node.id.host;
    assert!(["dn2", "dn3"].contains(&target.as_str()), "{target}");
    assert_eq!(cluster.blocks.stats().under_replicated, 0, "a copy on its way counts");
    let index = if target == "dn2" { 2 } else { 3 };
    cluster.received(index, block);
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).live, 3);
}

#[test]
fn a_silent_datanode_is_dead_and_its_replicas_do_not_count() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    let block = cluster.written(1, 2, &[0, 1]);
    cluster.pass(400_000);
    (1..3).for_each(|index| _ = cluster.beat(index));
    cluster.pass(400_000);
    assert_eq!(cluster.blocks.stats().dead_nodes, 1);
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).live, 1);
    assert!(matches!(cluster.beat(0).as_slice(), [Command::Register]));
    cluster.join(0, "/a");
    cluster.full_report(0, vec![finalized(block)]);
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).live, 2);
}

#[test]
fn a_corrupt_replica_is_replaced_before_it_is_deleted() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    let block = cluster.written(1, 2, &[0, 1]);
    cluster.blocks.block_reports().bad_replica(block, "uuid-0", "DS-0");
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).corrupt, 1);
    let locations = cluster.blocks.lookup().locations(block.id, "").unwrap();
    assert_eq!(locations.replicas.len(), 1);
    assert!(!locations.corrupt);
    cluster.pass(3_000);
    assert!(matches!(cluster.beat(1).as_slice(), [Command::Transfer(_)]));
    assert!(cluster.beat(0).is_empty());
    cluster.received(2, block);
    assert!(matches!(cluster.beat(0).as_slice(), [Command::Invalidate(_)]));
    assert_eq!(
        cluster.blocks.lookup().replica_counts(block.id),
        ReplicaCounts { live: 2, ..ReplicaCounts::default() }
    );
}

/// They were reported before any good one was, and there is no other node that could take a copy.
#[test]
fn stale_replicas_make_room_as_soon_as_a_good_one_is_known() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    let stored = Block { stamp: GenerationStamp(1002), ..block(1, 100) };
    cluster.blocks.put_complete(stored, FILE, 3);
    (0..2).for_each(|index| cluster.full_report(index, vec![finalized(block(1, 100))]));
    assert!(
        (0..2).all(|index| cluster.beat(index).is_empty()),
        "nothing else is left of the block"
    );
    cluster.received(2, stored);
    for index in 0..2 {
        let commands = cluster.beat(index);
        assert!(
            matches!(&commands[..], [Command::Invalidate(stale)] if stale[..] == [block(1, 100)]),
            "{commands:?}"
        );
    }
    cluster.pass(3_000);
    let commands = cluster.beat(2);
    let [Command::Transfer(transfers)] = &commands[..] else { panic!("{commands:?}") };
    assert_eq!(transfers[0].targets.len(), 2);
}

/// Its DataNode would not delete it under the stamp that the block has now.
#[test]
fn a_stale_replica_is_deleted_under_its_own_stamp() {
    let stale = block(1, 100);
    let new = Block { stamp: GenerationStamp(1005), ..stale };
    let doomed = |commands: &[Command]| match commands {
        [Command::Invalidate(blocks)] => blocks.clone(),
        other => panic!("{other:?}"),
    };
    // It stays while good ones are missing, and goes when they are there.
    let mut cluster = Cluster::new(&["/a"; 4]);
    cluster.blocks.put_complete(new, FILE, 3);
    cluster.received(0, stale);
    for index in [1, 2, 3] {
        cluster.received(index, new);
    }
    assert_eq!(doomed(&cluster.beat(0)), [stale]);
    // It goes with its file.
    let mut cluster = Cluster::new(&["/a"; 2]);
    cluster.blocks.put_complete(new, FILE, 2);
    cluster.received(0, stale);
    cluster.received(1, new);
    cluster.blocks.remove(new.id);
    assert_eq!(doomed(&cluster.beat(0)), [stale]);
    assert_eq!(doomed(&cluster.beat(1)), [new]);
}

/// A recovery that had been given up gave it that stamp meanwhile. The order named the first one: the replica
/// stayed, and kept its DataNode from taking a copy.
#[test]
fn a_stale_replica_is_deleted_under_the_last_stamp_reported() {
    let stale = block(1, 100);
    let later = Block { stamp: GenerationStamp(1003), ..stale };
    let new = Block { stamp: GenerationStamp(1005), ..stale };
    let mut cluster = Cluster::new(&["/a"; 4]);
    cluster.blocks.put_complete(new, FILE, 3);
    for reported in [stale, later, stale] {
        cluster.received(0, reported);
    }
    for index in [1, 2, 3] {
        cluster.received(index, new);
    }
    let commands = cluster.beat(0);
    assert!(
        matches!(&commands[..], [Command::Invalidate(doomed)] if doomed[..] == [later]),
        "{commands:?}"
    );
}

#[test]
fn with_only_corrupt_replicas_a_client_is_told_so() {
    let mut cluster = Cluster::new(&["/a"; 1]);
    let block = cluster.written(1, 1, &[0]);
    cluster.blocks.block_reports().bad_replica(block, "uuid-0", "DS-0");
    let locations = cluster.blocks.lookup().locations(block.id, "").unwrap();
    assert!(locations.corrupt);
    assert_eq!(locations.replicas.len(), 1);
    assert_eq!(cluster.blocks.stats().missing, 1);
}

/// A pipeline of three lost two nodes and went on; when they come back with the old stamp, their
/// replicas must go before the good one is copied: there may be no other nodes to copy to.
#[test]
fn what_a_pipeline_left_behind_makes_room_for_a_good_copy() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    let new = Block { stamp: GenerationStamp(1005), ..block(1, 100) };
    cluster.blocks.put_complete(new, FILE, 3);
    cluster.received(0, new);
    for index in [1, 2] {
        cluster.received(index, block(1, 100));
        let commands = cluster.beat(index);
        assert!(matches!(commands.as_slice(), [Command::Invalidate(_)]), "{commands:?}");
    }
    assert_eq!(cluster.blocks.lookup().replica_counts(new.id).corrupt, 0);
    cluster.pass(3_000);
    let commands = cluster.beat(0);
    assert!(matches!(&commands[..], [Command::Transfer(copies)] if copies[0].targets.len() == 2));
}

#[test]
fn a_failed_volume_loses_its_replicas_only() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let block = cluster.written(1, 1, &[0]);
    let beat = Heartbeat { failed_volumes: 1, ..Heartbeat::default() };
    cluster.blocks.heartbeat("uuid-0", beat, &[], cluster.now, &|_| 0);
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).live, 0);
    assert_eq!(cluster.blocks.stats().live_nodes, 2);
}

#[test]
fn fsck_sees_each_replica_with_its_condition() {
    let mut cluster = Cluster::new(&["/a", "/a", "/b"]);
    let block = cluster.written(1, 2, &[0, 1]);
    let locations = cluster.blocks.lookup().locations(block.id, "").unwrap().replicas;
    let misplaced = Misplaced { racks_missing: 1, racks: 2 };
    assert_eq!(cluster.blocks.datanodes().misplaced(&locations, 2), Some(misplaced));
    assert_eq!(
        cluster.blocks.datanodes().misplaced(&locations, 1),
        None,
        "one replica is in one rack"
    );
    assert!(!cluster.blocks.requeue(BlockId(2)), "not known");
    let check = cluster.blocks.lookup().inspect(block.id).unwrap();
    assert_eq!((check.counts.live, check.replicas.len()), (2, 2));
    let is_fine = |replica: &ReplicaCheck| {
        replica.corrupt.is_none() && !replica.is_excess && !replica.is_stale_node
    };
    assert!(check.replicas.iter().all(is_fine));
    cluster.pass(40_000);
    cluster.beat(1);
    cluster.pass(0);
    let bad = ReplicaEvent::Received(Block { len: 50, ..block });
    cluster.event(1, bad);
    let check = cluster.blocks.lookup().inspect(block.id).unwrap();
    let found: Vec<_> =
        check.replicas.iter().map(|replica| (replica.is_stale_node, replica.corrupt)).collect();
    assert_eq!(found, [(true, None), (false, Some(CorruptReason::SizeMismatch))]);
}

#[test]
fn a_badly_placed_block_is_copied_to_another_rack_when_it_is_queued() {
    let mut cluster = Cluster::new(&["/a", "/a", "/b"]);
    cluster.pass(3_000);
    let block = cluster.written(1, 2, &[0, 1]);
    assert!(cluster.blocks.requeue(block.id));
    cluster.pass(3_000);
    let commands: Vec<Command> = (0..3).flat_map(|index| cluster.beat(index)).collect();
    let [Command::Transfer(transfers)] = commands.as_slice() else { panic!("{commands:?}") };
    assert_eq!(transfers[0].targets[0].node.id.host, "dn2");
}

/// Two blocks a DataNode in three seconds held re-replication at 85 MB/s a DataNode, whatever its disk could do.
#[test]
fn copies_do_not_wait_for_the_interval_while_datanodes_are_idle() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    let blocks: Vec<Block> = (1..=40).map(|id| cluster.written(id, 2, &[0, 1])).collect();
    cluster.pass(3_000);
    for block in &blocks {
        cluster.event(0, ReplicaEvent::Deleted(*block));
    }
    let copied = |commands: &[Command]| -> usize {
        let copies = |command: &Command| match command {
            Command::Transfer(transfers) => transfers.len(),
            _ => 0,
        };
        commands.iter().map(copies).sum()
    };
    cluster.pass(3_000);
    let mut ordered = 0;
    for _ in 0..10 {
        // What was ordered is done by the next heartbeat.
        let now = copied(&cluster.beat(1));
        assert!(now <= 2, "dfs.namenode.replication.max-streams");
        ordered += now;
        cluster.pass(500);
    }
    assert!(ordered >= 18, "{ordered} copies in 5 s");
    // One that makes as many as it may gets no more.
    let busy = Heartbeat { transfers_running: 2, ..Heartbeat::default() };
    assert_eq!(copied(&cluster.beat_with(1, busy)), 0);
}

/// All replicas of a dead DataNode were forgotten under one hold of the lock.
#[test]
fn the_death_of_a_datanode_forgets_its_replicas_in_slices() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    let blocks: Vec<_> = (1..=2500).map(|id| cluster.written(id, 2, &[0, 1])).collect();
    cluster.blocks.datanode_manager().remove("uuid-1");
    let still_listed = |cluster: &Cluster| {
        let slots = blocks.iter().filter_map(|block| cluster.blocks.replicas().map.slot(block.id));
        slots.filter(|slot| cluster.blocks.replicas().map.storages(*slot).len() == 2).count()
    };
    assert_eq!(still_listed(&cluster), 1500);
    for block in &blocks {
        let found = cluster.blocks.lookup().locations(block.id, "").unwrap();
        assert_eq!(found.replicas.len(), 1, "nobody is sent to the dead one");
    }
    assert!(cluster.blocks.continue_walks());
    assert_eq!(still_listed(&cluster), 500);
    while cluster.blocks.continue_walks() {}
    assert_eq!(still_listed(&cluster), 0);
    assert_eq!(cluster.blocks.stats().under_replicated, 2500);
}

/// A DataNode that had nothing to send when a round was made waited for its next heartbeat but one, 3 s and more.
#[test]
fn a_heartbeat_brings_copies_while_replicas_are_made_again() {
    let mut cluster = Cluster::new(&["/r"; 3]);
    // All that the first round looks at is on DataNode 0.
    let blocks: Vec<Block> =
        (0..40).map(|id| cluster.written(id, 2, &[if id < 30 { 0 } else { 1 }, 2])).collect();
    cluster.blocks.datanode_manager().remove("uuid-2");
    while cluster.blocks.continue_walks() {}
    cluster.pass(3_000);
    let Some(Command::Transfer(copies)) = cluster.beat(1).pop() else {
        panic!("DataNode 1 has blocks to send")
    };
    assert_eq!(copies.len(), cluster.blocks.params().transfer_streams_max);
    assert!(copies.iter().all(|copy| blocks[30..].contains(&copy.block)));
}
