//! Blocks that are written, committed and recovered.

use super::*;

#[test]
fn a_block_is_complete_when_committed_and_reported_in_either_order() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    for (id, report_first) in [(1, true), (2, false)] {
        cluster.blocks.put_under_construction(block(id, 0), FILE, 1);
        let targets = cluster.blocks.choose_targets(&request("10.0.0.0", 1)).unwrap();
        cluster.blocks.under_construction().set_targets(BlockId(id), &targets);
        if report_first {
            cluster.received(0, block(id, 10));
        }
        assert_eq!(cluster.blocks.commit(block(id, 10)).unwrap(), report_first);
        if !report_first {
            assert_eq!(cluster.blocks.get(BlockId(id)).unwrap().state, BlockState::Committed);
            cluster.received(0, block(id, 10));
        }
        assert!(cluster.blocks.is_complete(BlockId(id)));
        assert_eq!(cluster.blocks.take_completed(), [BlockId(id)]);
        let found = cluster.blocks.lookup().locations(BlockId(id), "").unwrap();
        assert_eq!(found.replicas.len(), 1);
        assert_eq!(found.block.len, 10);
    }
}

#[test]
fn a_commit_with_another_stamp_is_refused() {
    let mut cluster = Cluster::new(&["/a"]);
    cluster.blocks.put_under_construction(block(1, 0), FILE, 1);
    let other = Block { stamp: GenerationStamp(1002), ..block(1, 10) };
    assert!(
        cluster
            .blocks
            .commit(other)
            .unwrap_err()
            .to_string()
            .starts_with("Commit block with mismatching GS.")
    );
}

#[test]
fn recovery_asks_one_live_replica_and_then_another() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    cluster.blocks.put_under_construction(block(1, 0), FILE, 3);
    let targets = cluster.blocks.choose_targets(&request("10.0.0.0", 3)).unwrap();
    cluster.blocks.under_construction().set_targets(BlockId(1), &targets);
    let mut leaders = Vec::new();
    for stamp in [1002, 1003] {
        assert!(cluster.blocks.begin_recovery(BlockId(1), GenerationStamp(stamp), None).unwrap());
        for index in 0..3 {
            for command in cluster.beat(index) {
                let Command::Recover(recoveries) = command else { panic!("{command:?}") };
                assert_eq!(recoveries[0].new_stamp, GenerationStamp(stamp));
                assert_eq!(recoveries[0].locations.len(), 3);
                leaders.push(index);
            }
        }
        cluster.pass(31_000);
        (0..3).for_each(|index| _ = cluster.beat(index));
    }
    assert_eq!(leaders.len(), 2);
    assert_ne!(leaders[0], leaders[1]);
    cluster.blocks.end_recovery(BlockId(1), GenerationStamp(1003), 42, &targets[..2]).unwrap();
    let recovered = Block { stamp: GenerationStamp(1003), ..block(1, 42) };
    assert!(cluster.blocks.commit(recovered).unwrap());
    assert_eq!(cluster.blocks.lookup().replica_counts(BlockId(1)).live, 2);
    // What the third node may have would keep it from taking a copy.
    let commands: Vec<Command> = (0..3).flat_map(|index| cluster.beat(index)).collect();
    assert!(
        matches!(&commands[..], [Command::Invalidate(left)] if left[0].stamp == block(1, 0).stamp),
        "{commands:?}"
    );
}

/// Its answer to the recovery's leader was lost, not its work.
#[test]
fn a_recovery_deletes_no_replica_that_has_its_stamp() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    cluster.blocks.put_under_construction(block(1, 0), FILE, 2);
    let targets = cluster.blocks.choose_targets(&request("10.0.0.0", 2)).unwrap();
    cluster.blocks.under_construction().set_targets(BlockId(1), &targets);
    let recovered = Block { stamp: GenerationStamp(1003), ..block(1, 42) };
    assert!(cluster.blocks.begin_recovery(BlockId(1), recovered.stamp, None).unwrap());
    (0..2).for_each(|index| _ = cluster.beat(index));
    (0..2).for_each(|index| cluster.received(index, recovered));
    cluster.blocks.end_recovery(BlockId(1), recovered.stamp, 42, &targets[..1]).unwrap();
    assert!((0..2).all(|index| cluster.beat(index).is_empty()));
}

/// The NameNode died after one DataNode had truncated its replica and before it was told so.
#[test]
fn a_truncate_goes_on_with_the_replicas_that_are_truncated() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    cluster.blocks.put_under_construction(block(1, 100), FILE, 2);
    let truncated = Block { stamp: GenerationStamp(1016), ..block(1, 60) };
    cluster.received(0, block(1, 100));
    cluster.received(1, truncated);
    let stamp = GenerationStamp(1131);
    let target = Block { stamp, ..truncated };
    assert!(cluster.blocks.begin_recovery(BlockId(1), stamp, Some(target)).unwrap());
    assert!(cluster.beat(0).is_empty());
    let commands = cluster.beat(1);
    assert!(
        matches!(&commands[..], [Command::Recover(asked)] if asked[0].locations.len() == 1),
        "{commands:?}"
    );
    // The other replica would keep its node from taking a copy.
    let leader = cluster.disk_of(1);
    cluster.blocks.end_recovery(BlockId(1), stamp, 60, &[leader]).unwrap();
    let commands = cluster.beat(0);
    assert!(
        matches!(&commands[..], [Command::Invalidate(left)] if left[0].stamp == block(1, 0).stamp),
        "{commands:?}"
    );
    assert!(cluster.beat(1).is_empty());
}

#[test]
fn a_recovery_deletes_a_corrupt_replica_that_had_no_part_in_it() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let stored = Block { stamp: GenerationStamp(1002), ..block(1, 100) };
    cluster.blocks.put_under_construction(stored, FILE, 2);
    let leader = cluster.disk_of(0);
    cluster.blocks.under_construction().set_targets(BlockId(1), &[leader]);
    cluster.received(1, block(1, 100));
    assert!(cluster.beat(1).is_empty());
    cluster.blocks.begin_recovery(BlockId(1), GenerationStamp(1003), None).unwrap();
    cluster.blocks.end_recovery(BlockId(1), GenerationStamp(1003), 60, &[leader]).unwrap();
    let commands = cluster.beat(1);
    assert!(
        matches!(&commands[..], [Command::Invalidate(left)] if left[0].stamp == block(1, 0).stamp),
        "{commands:?}"
    );
}

/// DataNodes tell of a new block once, perhaps only when a pipeline has gone on without one of them.
#[test]
fn a_late_report_takes_no_datanode_out_of_a_pipeline() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    cluster.blocks.put_under_construction(block(1, 0), FILE, 3);
    let targets = cluster.blocks.choose_targets(&request("10.0.0.0", 3)).unwrap();
    cluster.blocks.under_construction().set_targets(BlockId(1), &targets);
    let stamp = GenerationStamp(1002);
    cluster.blocks.update_pipeline(BlockId(1), stamp, 10, &targets[..2]).unwrap();
    (0..3).for_each(|index| cluster.event(index, ReplicaEvent::Receiving(block(1, 0))));
    assert_eq!(cluster.blocks.lookup().targets(BlockId(1))[..], targets[..2]);
}

/// Asked alone, its DataNode would say that nothing was ever written, and the block would be dropped.
#[test]
fn a_replica_that_was_deleted_is_not_asked_to_recover() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    cluster.blocks.put_under_construction(block(1, 0), FILE, 2);
    cluster.received(0, block(1, 10));
    cluster.event(0, ReplicaEvent::Deleted(block(1, 10)));
    assert!(!cluster.blocks.begin_recovery(BlockId(1), GenerationStamp(1002), None).unwrap());
    cluster.received(1, block(1, 10));
    assert!(cluster.blocks.begin_recovery(BlockId(1), GenerationStamp(1003), None).unwrap());
    assert!(cluster.beat(0).is_empty());
    assert!(
        matches!(&cluster.beat(1)[..], [Command::Recover(asked)] if asked[0].locations.len() == 1)
    );
}

/// Its DataNode was told to delete it under the stamp it had before.
#[test]
fn a_replica_that_was_recovered_is_not_too_much_any_more() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let old = cluster.written(1, 1, &[0, 1]);
    let told = (0..2).find(|index| !cluster.beat(*index).is_empty()).unwrap();
    cluster.blocks.reopen(old.id).unwrap();
    let stamp = GenerationStamp(1002);
    cluster.blocks.begin_recovery(old.id, stamp, None).unwrap();
    let holder = cluster.disk_of(told);
    cluster.blocks.end_recovery(old.id, stamp, old.len, &[holder]).unwrap();
    assert!(cluster.blocks.commit(Block { stamp, ..old }).unwrap());
    assert_eq!(cluster.blocks.lookup().replica_counts(old.id).live, 1);
}

#[test]
fn a_recovered_block_with_too_few_replicas_is_copied() {
    let params =
        BlockParams { replication_min: 2, safemode_extension_ms: 0, ..BlockParams::default() };
    let mut cluster = Cluster::with(&["/a"; 3], params);
    cluster.blocks.put_under_construction(block(1, 0), FILE, 2);
    let targets = cluster.blocks.choose_targets(&request("10.0.0.0", 2)).unwrap();
    cluster.blocks.under_construction().set_targets(BlockId(1), &targets);
    cluster.blocks.begin_recovery(BlockId(1), GenerationStamp(1002), None).unwrap();
    cluster.blocks.end_recovery(BlockId(1), GenerationStamp(1002), 42, &targets[..1]).unwrap();
    let recovered = Block { stamp: GenerationStamp(1002), ..block(1, 42) };
    assert!(!cluster.blocks.commit(recovered).unwrap());
    cluster.blocks.under_construction().complete_recovered(BlockId(1));
    assert_eq!(cluster.blocks.stats().under_replicated, 1);
    assert_eq!(cluster.blocks.take_completed(), [BlockId(1)]);
    cluster.pass(3_000);
    let commands: Vec<Command> = (0..3).flat_map(|index| cluster.beat(index)).collect();
    assert!(commands.iter().any(|command| matches!(command, Command::Transfer(_))), "{commands:?}");
}
