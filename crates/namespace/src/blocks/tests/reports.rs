//! What DataNodes report of their replicas.

use super::*;

#[test]
fn a_full_report_tells_what_is_gone_and_what_is_orphan() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let kept = cluster.written(1, 2, &[0, 1]);
    let lost = cluster.written(2, 2, &[0, 1]);
    let unknown = block(99, 5);
    cluster.full_report(0, vec![finalized(kept), finalized(unknown)]);
    cluster.full_report(0, vec![finalized(kept), finalized(unknown)]);
    assert_eq!(cluster.blocks.lookup().replica_counts(kept.id).live, 2);
    assert_eq!(cluster.blocks.lookup().replica_counts(lost.id).live, 1);
    let commands = cluster.beat(0);
    let [Command::Invalidate(blocks)] = commands.as_slice() else { panic!("{commands:?}") };
    assert_eq!(blocks.as_slice(), [unknown]);
}

#[test]
fn a_removed_block_is_deleted_everywhere_and_not_taken_back() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let block = cluster.written(1, 2, &[0, 1]);
    cluster.blocks.remove(block.id);
    cluster.full_report(0, vec![finalized(block)]);
    assert!(cluster.blocks.get(block.id).is_none());
    for index in 0..2 {
        let commands = cluster.beat(index);
        assert!(
            matches!(commands.as_slice(), [Command::Invalidate(blocks)] if blocks == &[block]),
            "{commands:?}"
        );
    }
    assert_eq!(cluster.blocks.stats().pending_deletion, 0);
}

#[test]
fn an_old_stamp_is_corrupt() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let new = Block { stamp: GenerationStamp(1005), ..block(1, 100) };
    cluster.blocks.put_complete(new, FILE, 1);
    cluster.received(0, new);
    cluster.received(1, block(1, 100));
    let commands = cluster.beat(1);
    assert!(
        matches!(commands.as_slice(), [Command::Invalidate(blocks)] if blocks[0].stamp == GenerationStamp(1001))
    );
    assert_eq!(cluster.blocks.lookup().replica_counts(new.id).live, 1);
}

fn begin(cluster: &mut Cluster, replicas: &[Block]) -> FullReport {
    let replicas = replicas.iter().copied().map(finalized).collect();
    let storage = (&storage(0), StorageType::Disk);
    cluster.blocks.block_reports().begin_full_report("uuid-0", storage, replicas).unwrap()
}

fn finish(cluster: &mut Cluster, mut report: FullReport) -> ReportOutcome {
    loop {
        if let Some(outcome) = cluster.blocks.continue_full_report(&mut report, 2).unwrap() {
            return outcome;
        }
    }
}

fn live(cluster: &Cluster, block: Block) -> u32 {
    cluster.blocks.lookup().replica_counts(block.id).live
}

/// A storage's report was taken in under one hold of the namespace's lock, and what it did not list was forgotten under it.
#[test]
fn a_full_report_is_taken_in_by_slices() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let blocks: Vec<Block> = (0..3500).map(|id| cluster.written(id, 1, &[0])).collect();
    let mut report = begin(&mut cluster, &blocks[..1500]);
    let mut slices = 0;
    loop {
        let mut outcome = None;
        let counts = cluster.counts_of(|cluster| {
            outcome = cluster.blocks.continue_full_report(&mut report, 1000).unwrap();
        });
        assert!(counts <= 4000, "{counts}");
        slices += 1;
        if outcome.is_some() {
            break;
        }
        assert_eq!(live(&cluster, blocks[0]), 1);
    }
    assert_eq!(slices, 4);
    assert_eq!((live(&cluster, blocks[1499]), live(&cluster, blocks[1500])), (1, 0));
}

/// Between two slices of a report its DataNode sends incremental reports, and files are deleted and written.
#[test]
fn what_changes_while_a_report_is_taken_in_is_newer_than_the_report() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let [kept, lost, deleted, removed, appended] =
        [1, 2, 3, 4, 5].map(|id| cluster.written(id, 1, &[0]));
    let mut report = begin(&mut cluster, &[kept, deleted, removed, appended]);
    assert_eq!(cluster.blocks.continue_full_report(&mut report, 1).unwrap(), None);
    cluster.event(0, ReplicaEvent::Deleted(deleted));
    cluster.blocks.remove(removed.id);
    // The place of the removed block in the block map is used again.
    let written = cluster.written(6, 1, &[0]);
    let longer = Block { stamp: GenerationStamp(1002), len: 150, ..appended };
    cluster.blocks.reopen(appended.id).unwrap();
    let target = cluster.blocks.datanodes().resolve_storages([("uuid-0", "DS-0")]).unwrap();
    cluster.received(0, longer);
    cluster.blocks.update_pipeline(appended.id, longer.stamp, 100, &target).unwrap();
    assert!(cluster.blocks.commit(longer).unwrap());
    finish(&mut cluster, report);
    let found = [kept, lost, deleted, written, longer].map(|block| live(&cluster, block));
    assert_eq!(found, [1, 0, 0, 1, 1]);
    assert_eq!(cluster.blocks.lookup().replica_counts(longer.id).corrupt, 0);
    let commands = cluster.beat(0);
    assert!(
        matches!(commands.as_slice(), [Command::Invalidate(blocks)] if blocks == &[removed]),
        "{commands:?}"
    );
}

/// A DataNode gave up waiting for the answer and sent its report again; or it was started anew.
#[test]
fn a_report_that_another_one_follows_is_dropped() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let block = cluster.written(1, 1, &[0]);
    let mut first = begin(&mut cluster, &[]);
    let mut second = begin(&mut cluster, &[block]);
    assert!(cluster.blocks.continue_full_report(&mut first, 9).is_err());
    cluster.join(0, "/a");
    assert!(cluster.blocks.continue_full_report(&mut second, 9).is_err());
    assert_eq!(live(&cluster, block), 1);
    let mut third = begin(&mut cluster, &[]);
    cluster.blocks.datanode_manager().remove("uuid-0");
    assert!(cluster.blocks.continue_full_report(&mut third, 9).is_err());
}

/// Safe mode must not end before the report tells, further on, that the metadata is too old.
#[test]
fn safe_mode_does_not_end_while_a_report_is_half_read() {
    let params = BlockParams { safemode_extension_ms: 0, ..BlockParams::default() };
    let mut cluster = Cluster {
        blocks: BlockManager::new(params),
        now: Now { wall_ms: 1, mono_ms: 1 },
        policy: 0,
    };
    let known = [block(1, 100), block(2, 100)];
    known.iter().for_each(|block| cluster.blocks.put_complete(*block, FILE, 1));
    cluster.blocks.start(cluster.now, LAST_STAMP);
    cluster.join(0, "/a");
    let newer = Block { stamp: GenerationStamp(LAST_STAMP.0 + 1), ..block(7, 30) };
    let mut report = begin(&mut cluster, &[known[0], known[1], newer]);
    assert_eq!(cluster.blocks.continue_full_report(&mut report, 2).unwrap(), None);
    cluster.pass(1_000);
    cluster.event(0, ReplicaEvent::Received(known[0]));
    assert!(cluster.blocks.safe_mode().is_starting());
    finish(&mut cluster, report);
    cluster.blocks.block_reports().end_report("uuid-0");
    cluster.pass(1_000);
    assert_eq!(cluster.blocks.safe_mode().bytes_in_future(), 30);
    assert!(cluster.blocks.safe_mode().is_starting());
}

/// The DataNode deleted what it had before an append, and says so late.
#[test]
fn the_end_of_an_older_replica_is_not_that_of_a_newer_one() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let new = Block { stamp: GenerationStamp(1005), ..block(1, 100) };
    cluster.blocks.put_complete(new, FILE, 1);
    cluster.received(0, new);
    cluster.event(0, ReplicaEvent::Deleted(block(1, 100)));
    assert_eq!(cluster.blocks.lookup().replica_counts(new.id).live, 1);
    cluster.event(0, ReplicaEvent::Deleted(new));
    assert_eq!(cluster.blocks.lookup().replica_counts(new.id).live, 0);
}

#[test]
fn so_many_full_reports_at_once() {
    let params = BlockParams { report_leases_max: 2, report_lease_ms: 1_000, ..Default::default() };
    let mut cluster = Cluster::with(&["/a"; 3], params);
    let ask = |cluster: &mut Cluster, index: usize| {
        let beat = Heartbeat { wants_report_lease: true, ..Heartbeat::default() };
        let uuid = format!("uuid-{index}");
        cluster.blocks.heartbeat(&uuid, beat, &[], cluster.now, &|_| 0).report_lease
    };
    let first = ask(&mut cluster, 0);
    let again = ask(&mut cluster, 0);
    assert!(first != 0 && again != 0, "who asks again gets another one");
    assert!(!cluster.blocks.is_report_lease_held("uuid-0", first));
    assert!(cluster.blocks.is_report_lease_held("uuid-0", again));
    assert!(!cluster.blocks.is_report_lease_held("uuid-1", again), "it is not for others");
    assert!(cluster.blocks.is_report_lease_held("uuid-1", 0), "who was told to report needs none");
    assert_ne!(ask(&mut cluster, 1), 0);
    assert_eq!(ask(&mut cluster, 2), 0);
    cluster.blocks.block_reports().end_report("uuid-1");
    let last = ask(&mut cluster, 2);
    assert_ne!(last, 0);
    cluster.pass(1_000);
    assert!(!cluster.blocks.is_report_lease_held("uuid-2", last), "it was too slow");
    assert_ne!(ask(&mut cluster, 1), 0);
}

/// A replica that was reported too short, and then whole, counts from then on: for completion, and for copies.
#[test]
fn a_good_report_after_a_bad_one_has_its_consequences() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    cluster.blocks.put_under_construction(block(1, 0), FILE, 1);
    assert!(!cluster.blocks.commit(block(1, 10)).unwrap());
    cluster.received(0, block(1, 5));
    assert_eq!(cluster.blocks.lookup().replica_counts(BlockId(1)).corrupt, 1);
    cluster.received(0, block(1, 10));
    assert!(cluster.blocks.is_complete(BlockId(1)));

    let whole = cluster.written(2, 1, &[]);
    cluster.received(0, block(2, 50));
    assert_eq!(cluster.blocks.stats().missing, 1);
    cluster.received(0, whole);
    assert_eq!(cluster.blocks.stats().missing, 0);
}

/// The end of a recovery overtook the DataNode's own report of the try before.
#[test]
fn a_late_report_of_an_older_stamp_does_not_count() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let block = cluster.written(1, 1, &[0, 1]);
    let told = (0..2).find(|index| !cluster.beat(*index).is_empty()).unwrap();
    let counts = cluster.blocks.lookup().replica_counts(block.id);
    assert_eq!((counts.live, counts.excess), (1, 1));
    cluster.received(told, Block { stamp: GenerationStamp(1000), ..block });
    cluster.received(told, block);
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id), counts);
    assert!((0..2).all(|index| cluster.beat(index).is_empty()), "the last one is not deleted");
}

/// The report was in flight while a recovery gave the replica another stamp, under which it was ordered to be deleted. Its mark as
/// excess was lost with the old stamp, the replica counted again, and the last one was deleted for it.
#[test]
fn a_report_that_a_recovery_has_overtaken_takes_back_no_excess_mark() {
    let mut cluster = Cluster::new(&["/a", "/a"]);
    let old = cluster.written(1, 1, &[0, 1]);
    let new = Block { stamp: GenerationStamp(1002), ..old };
    cluster.blocks.reopen(old.id).unwrap();
    let both = [cluster.disk_of(0), cluster.disk_of(1)];
    cluster.blocks.end_recovery(new.id, new.stamp, new.len, &both).unwrap();
    assert!(cluster.blocks.commit(new).unwrap());
    cluster.settle();
    let excess = |cluster: &Cluster| cluster.blocks.stats().excess;
    assert_eq!(excess(&cluster), 1);
    let told = |cluster: &mut Cluster, node| {
        let is_deletion = |command: &Command| matches!(command, Command::Invalidate(_));
        cluster.beat(node).iter().any(is_deletion)
    };
    assert_eq!([0, 1].map(|node| told(&mut cluster, node)), [true, false]);
    cluster.full_report(0, vec![finalized(old)]);
    cluster.received(0, new);
    cluster.received(1, new);
    cluster.settle();
    assert_eq!(excess(&cluster), 1);
    assert!(!told(&mut cluster, 1), "it is the last replica");
}
