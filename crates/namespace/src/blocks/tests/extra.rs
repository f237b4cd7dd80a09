//! Replicas too many: which one goes, and that it does not count while it does.

use super::*;

fn doomed(cluster: &mut Cluster, count: usize) -> Vec<usize> {
    let told = |index: &usize| {
        let commands = cluster.beat(*index);
        commands.iter().any(|command| matches!(command, Command::Invalidate(_)))
    };
    (0..count).filter(told).collect()
}

fn named(index: usize) -> (String, String) {
    (format!("uuid-{index}"), format!("DS-{index}"))
}

fn storages(cluster: &Cluster, indexes: &[usize]) -> Storages {
    let names: Vec<_> = indexes.iter().map(|index| named(*index)).collect();
    cluster
        .blocks
        .datanodes()
        .resolve_storages(names.iter().map(|(node, id)| (&**node, &**id)))
        .unwrap()
}

#[test]
fn an_extra_replica_is_deleted() {
    let mut cluster = Cluster::new(&["/a", "/a", "/b"]);
    let block = cluster.written(1, 3, &[0, 1, 2]);
    cluster.blocks.set_replication(block.id, 2);
    let doomed: Vec<usize> = (0..3)
        .filter(|index| matches!(cluster.beat(*index).as_slice(), [Command::Invalidate(_)]))
        .collect();
    assert_eq!(doomed.len(), 1);
    assert_ne!(doomed, [2], "the only one on its rack stays");
    cluster.event(doomed[0], ReplicaEvent::Deleted(block));
    assert_eq!(
        cluster.blocks.lookup().replica_counts(block.id),
        ReplicaCounts { live: 2, ..ReplicaCounts::default() }
    );
    assert_eq!(cluster.blocks.stats().excess, 0);
}

/// Two replicas, one wanted: the second is being deleted when a client appends. When the file is closed,
/// the replica that the client wrote to must stay in any case.
fn append_after_setrep(is_told: bool, goes_on: bool) {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let block = cluster.written(1, 2, &[0, 1]);
    cluster.blocks.set_replication(block.id, 1);
    cluster.settle();
    let mut gone = None;
    if is_told {
        gone = doomed(&mut cluster, 2).pop();
        assert!(gone.is_some());
    }
    cluster.blocks.reopen(block.id).unwrap();
    let targets = cluster.blocks.lookup().targets(block.id);
    assert_eq!(targets.len(), if is_told { 1 } else { 2 }, "what is not deleted yet is written to");
    let appended = Block { stamp: GenerationStamp(1002), len: 150, ..block };
    let last = if goes_on { appended } else { block };
    if goes_on {
        let kept = if is_told { targets } else { storages(&cluster, &[0]) };
        cluster.blocks.update_pipeline(block.id, appended.stamp, 100, &kept).unwrap();
        let kept: Vec<usize> = match gone {
            Some(gone) => vec![1 - gone],
            None => vec![0],
        };
        kept.iter().for_each(|index| cluster.received(*index, appended));
        assert_eq!(cluster.blocks.lookup().replica_counts(block.id).live, 1);
    }
    assert!(cluster.blocks.commit(last).unwrap());
    cluster.settle();
    if let Some(gone) = gone {
        assert!(cluster.beat(1 - gone).is_empty(), "the good one is not deleted");
        cluster.event(gone, ReplicaEvent::Deleted(block));
    } else if !goes_on {
        assert_eq!(doomed(&mut cluster, 2).len(), 1);
    }
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).live, 1);
    cluster.pass(3_000);
    assert_eq!(cluster.blocks.stats().missing, 0);
}

#[test]
fn an_append_keeps_the_good_replica_when_the_other_is_being_deleted() {
    append_after_setrep(true, true);
    append_after_setrep(true, false);
}

#[test]
fn an_append_cancels_deletions_that_no_datanode_knows_of() {
    append_after_setrep(false, true);
    append_after_setrep(false, false);
}

#[test]
fn a_datanode_that_started_anew_is_told_again() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    (0..2).for_each(|index| cluster.full_report(index, vec![]));
    let block = cluster.written(1, 1, &[0, 1]);
    let [gone] = doomed(&mut cluster, 2)[..] else { panic!("one is too much") };
    cluster.full_report(gone, vec![finalized(block)]);
    cluster.join(gone, "/a");
    assert!(doomed(&mut cluster, 2).is_empty());
    cluster.full_report(gone, vec![finalized(block)]);
    assert_eq!(doomed(&mut cluster, 2), [gone]);
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).live, 1);
}

/// Both replicas would be gone: one deleted, the other corrupt.
#[test]
fn a_queued_deletion_is_called_off_when_the_replica_to_be_kept_is_corrupt() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let block = cluster.written(1, 1, &[0, 1]);
    cluster.settle();
    let excess = |cluster: &Cluster, index: usize| {
        let check = cluster.blocks.lookup().inspect(block.id).unwrap();
        let found = check
            .replicas
            .iter()
            .find(|replica| replica.location.node.id.uuid == format!("uuid-{index}"));
        found.is_some_and(|replica| replica.is_excess)
    };
    let gone = usize::from(excess(&cluster, 1));
    assert!(excess(&cluster, gone) && !excess(&cluster, 1 - gone));
    let (uuid, storage) = named(1 - gone);
    cluster.blocks.block_reports().bad_replica(block, &uuid, &storage);
    assert_eq!(doomed(&mut cluster, 2), [1 - gone], "the corrupt one goes instead");
    assert_eq!(
        cluster.blocks.lookup().replica_counts(block.id),
        ReplicaCounts { live: 1, ..ReplicaCounts::default() }
    );
}

const HOUR_MS: u64 = 3_600_000;

fn pass_beating(cluster: &mut Cluster, ms: u64) {
    for _ in 0..ms / 100_000 {
        cluster.pass(100_000);
        assert!((0..2).all(|index| cluster.beat(index).is_empty()));
    }
}

/// HDFS-17250: the answer to a heartbeat was lost, and the replica stayed excess for ever.
#[test]
fn the_deletion_of_an_excess_replica_is_ordered_again_after_an_hour() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let block = cluster.written(1, 1, &[0, 1]);
    let [gone] = doomed(&mut cluster, 2)[..] else { panic!("one is too much") };
    pass_beating(&mut cluster, HOUR_MS);
    cluster.pass(1_000);
    assert_eq!(doomed(&mut cluster, 2), [gone]);
    cluster.event(gone, ReplicaEvent::Deleted(block));
    assert_eq!(cluster.blocks.stats().excess, 0);
    pass_beating(&mut cluster, HOUR_MS);
    cluster.pass(1_000);
    assert!(doomed(&mut cluster, 2).is_empty());
}

/// `fsck -delete` took the file for lost, though the replica whose deletion had been ordered could be read.
#[test]
fn an_excess_replica_that_is_the_last_one_is_not_missing() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    let block = cluster.written(1, 1, &[0, 1]);
    let [gone] = doomed(&mut cluster, 2)[..] else { panic!("one is too much") };
    cluster.event(1 - gone, ReplicaEvent::Deleted(block));
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).live, 1);
    assert_eq!(cluster.blocks.stats().missing, 0);
    cluster.event(gone, ReplicaEvent::Deleted(block));
    assert_eq!(cluster.blocks.stats().missing, 1, "the order had arrived after all");
}

#[test]
fn a_replica_that_was_copied_elsewhere_goes() {
    for from in 0..2 {
        let mut cluster = Cluster::new(&["/a"; 3]);
        let block = cluster.written(1, 2, &[0, 1]);
        let hint = cluster.blocks.datanodes().by_uuid(&format!("uuid-{from}")).unwrap();
        cluster.event(2, ReplicaEvent::Moved(block, hint));
        assert_eq!(doomed(&mut cluster, 3), [from]);
    }
}

#[test]
fn a_rack_is_not_given_up_for_a_hint() {
    let mut cluster = Cluster::new(&["/a", "/b", "/a"]);
    let block = cluster.written(1, 2, &[0, 1]);
    let hint = cluster.blocks.datanodes().by_uuid("uuid-1").unwrap();
    cluster.event(2, ReplicaEvent::Moved(block, hint));
    assert_ne!(doomed(&mut cluster, 3), [1]);
}

/// The mover copied a replica to the type the policy wants: the one on the other type goes, hint or not.
#[test]
fn a_replica_on_a_type_that_is_not_wanted_goes_first() {
    for is_hinted in [false, true] {
        let mut cluster = Cluster::new(&["/a"; 4]);
        cluster.policy = 12;
        for index in [0, 2, 3] {
            cluster.beat_on(index, StorageType::Ssd, Heartbeat::default());
        }
        let block = cluster.written(1, 2, &[0, 1]);
        // dn1 is the one on a disk; the hint for dn0 must not win over that.
        let hint = cluster.blocks.datanodes().by_uuid("uuid-0").unwrap();
        cluster.event(
            2,
            if is_hinted {
                ReplicaEvent::Moved(block, hint)
            } else {
                ReplicaEvent::Received(block)
            },
        );
        cluster.settle();
        let commands = cluster.beat(1);
        assert!(matches!(commands.as_slice(), [Command::Invalidate(_)]), "{commands:?}");
    }
}

#[test]
fn a_copy_goes_to_the_type_the_policy_wants() {
    for (policy, kinds, target) in [
        (12, [StorageType::Ssd; 3], Some("dn1")),
        (0, [StorageType::Ssd; 3], None),
        // One replica on SSD is there: the next belongs on a disk.
        (10, [StorageType::Ssd, StorageType::Ssd, StorageType::Disk], Some("dn2")),
        // HOT may fall back to ARCHIVE for copies.
        (7, [StorageType::Disk, StorageType::Ssd, StorageType::Archive], Some("dn2")),
    ] {
        let mut cluster = Cluster::new(&["/a"; 3]);
        cluster.policy = policy;
        for (index, kind) in kinds.into_iter().enumerate() {
            cluster.beat_on(index, kind, Heartbeat::default());
        }
        cluster.written(1, 2, &[0]);
        cluster.pass(3_000);
        let commands = cluster.beat_on(0, kinds[0], Heartbeat::default());
        let found = match &commands[..] {
            [Command::Transfer(copies)] => {
                Some(copies[0].targets[0].node.id.host.as_str()).map(|host| match host {
                    // Both are as good for ALL_SSD.
                    "dn2" if policy == 12 => "dn1",
                    host => host,
                })
            }
            _ => None,
        };
        assert_eq!(found, target, "policy {policy}");
    }
}
