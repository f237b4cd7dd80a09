//! Replicas that the namespace does not know: what an older image makes of everything written since.

use super::*;

fn newer(id: i64, len: u64) -> Block {
    Block { stamp: GenerationStamp(LAST_STAMP.0 + 5), ..block(id, len) }
}

fn deleted(commands: &[Command]) -> Vec<Block> {
    let blocks = commands.iter().filter_map(|command| match command {
        Command::Invalidate(blocks) => Some(blocks.clone()),
        _ => None,
    });
    blocks.flatten().collect()
}

/// Reproduced: an older copy of the name directory was put back, and all data written since was deleted within seconds.
#[test]
fn the_first_report_of_a_storage_deletes_nothing_after_safe_mode_either() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let known = cluster.written(1, 1, &[0]);
    assert!(!cluster.blocks.safe_mode().is_on());
    let unknown = [block(7, 10), newer(8, 20)];
    let report = vec![finalized(known), finalized(unknown[0]), finalized(unknown[1])];
    cluster.full_report(0, report.clone());
    cluster.received(0, block(9, 30));
    assert!(cluster.beat(0).is_empty());
    let totals = UnknownTotals { replicas: 3, bytes: 60, newer: 1 };
    assert_eq!(cluster.blocks.datanodes().unknown_totals(), totals);
    assert_eq!(cluster.blocks.stats().unknown, totals);
    let listed = cluster.blocks.datanodes().unknown_replicas(None, 2);
    assert_eq!((listed.len(), &*listed[0].storage_id, &*listed[0].uuid), (1, "DS-0", "uuid-0"));
    assert_eq!((&listed[0].ids[..], listed[0].next), (&[BlockId(7), BlockId(8)][..], Some(9)));
    let rest = cluster.blocks.datanodes().unknown_replicas(Some(("DS-0", 9)), 2);
    assert_eq!((&rest[0].ids[..], rest[0].next), (&[BlockId(9)][..], None));
    assert!(cluster.blocks.datanodes().unknown_replicas(Some(("DS-1", 0)), 2).is_empty());
    cluster.event(0, ReplicaEvent::Deleted(block(9, 0)));
    assert_eq!(cluster.blocks.datanodes().unknown_totals().replicas, 2);

    cluster.full_report(0, report);
    assert_eq!(deleted(&cluster.beat(0)), unknown);
    assert_eq!(cluster.blocks.datanodes().unknown_totals(), UnknownTotals::default());
    cluster.received(0, block(10, 5));
    assert_eq!(deleted(&cluster.beat(0)), [block(10, 5)], "from then on at once");
}

#[test]
fn a_datanode_that_registers_anew_begins_with_a_first_report() {
    let mut cluster = Cluster::new(&["/a"; 1]);
    (0..2).for_each(|_| cluster.full_report(0, vec![]));
    cluster.join(0, "/a");
    cluster.received(0, block(7, 10));
    cluster.full_report(0, vec![finalized(block(7, 10))]);
    assert!(cluster.beat(0).is_empty());
    cluster.full_report(0, vec![finalized(block(7, 10))]);
    assert_eq!(deleted(&cluster.beat(0)), [block(7, 10)]);
}

/// The file was appended to since the image: what the image takes for good is what the pipeline left behind.
#[test]
fn a_replica_newer_than_its_block_stays_as_long_as_one_of_no_file() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let old = cluster.written(1, 1, &[0]);
    cluster.full_report(1, vec![finalized(newer(1, 150))]);
    cluster.pass(3_000);
    assert!(cluster.beat(1).is_empty());
    assert_eq!(cluster.blocks.datanodes().unknown_totals().newer, 1);
    cluster.full_report(1, vec![finalized(newer(1, 150))]);
    assert_eq!(deleted(&cluster.beat(1)), [newer(1, 150)]);
    assert_eq!(cluster.blocks.lookup().replica_counts(old.id).live, 1);
}

#[test]
fn a_replica_of_a_block_removed_while_it_was_written_goes_at_once() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let abandoned = block(5, 0);
    cluster.blocks.put_under_construction(abandoned, FILE, 1);
    let target = cluster.blocks.datanodes().resolve_storages([("uuid-0", "DS-0")]).unwrap();
    cluster.blocks.under_construction().set_targets(abandoned.id, &target);
    cluster.blocks.remove(abandoned.id);
    let written = block(5, 77);
    cluster.received(0, written);
    assert_eq!(deleted(&cluster.beat(0)), [written]);
    cluster.received(1, written);
    assert!(cluster.beat(1).is_empty(), "nobody sent it there");
}

#[test]
fn reports_during_the_safe_mode_of_the_start_delete_nothing() {
    let params = BlockParams { safemode_extension_ms: 1_000, ..BlockParams::default() };
    let mut cluster = Cluster {
        blocks: BlockManager::new(params),
        now: Now { wall_ms: 1, mono_ms: 1 },
        policy: 0,
    };
    let known = block(1, 100);
    cluster.blocks.put_complete(known, FILE, 1);
    cluster.blocks.start(cluster.now, LAST_STAMP);
    cluster.join(0, "/a");
    let report = vec![finalized(block(7, 10)), finalized(known)];
    (0..3).for_each(|_| cluster.full_report(0, report.clone()));
    cluster.pass(1_000);
    assert!(!cluster.blocks.safe_mode().is_on());
    cluster.received(0, block(8, 10));
    assert!(cluster.beat(0).is_empty());
    cluster.full_report(0, report);
    assert_eq!(deleted(&cluster.beat(0)), [block(7, 10)]);
}

/// dfs.namenode.startup.delay.block.deletion.sec.
#[test]
fn deletions_wait_for_the_delay_after_the_start() {
    let params = BlockParams {
        safemode_extension_ms: 0,
        deletion_delay_ms: 60_000,
        ..BlockParams::default()
    };
    let mut cluster = Cluster::with(&["/a"], params);
    let block = cluster.written(1, 1, &[0]);
    cluster.blocks.remove(block.id);
    cluster.pass(59_000);
    assert!(cluster.beat(0).is_empty());
    cluster.pass(1_000);
    assert_eq!(deleted(&cluster.beat(0)), [block]);
}

/// The first storage of a DataNode had all blocks of the older image: safe mode ended before the second one told of newer ones.
#[test]
fn safe_mode_waits_for_all_storages_of_a_report() {
    let mut cluster = Cluster {
        blocks: BlockManager::new(BlockParams {
            safemode_extension_ms: 0,
            ..BlockParams::default()
        }),
        now: Now { wall_ms: 1, mono_ms: 1 },
        policy: 0,
    };
    let known = [block(1, 100), block(2, 100)];
    known.iter().for_each(|block| cluster.blocks.put_complete(*block, FILE, 1));
    cluster.blocks.start(cluster.now, LAST_STAMP);
    cluster.join(0, "/a");
    let second: std::sync::Arc<str> = "DS-0b".into();
    let first = known.map(finalized).to_vec();
    cluster.blocks.full_report("uuid-0", (&storage(0), StorageType::Disk), first).unwrap();
    let report = vec![finalized(newer(7, 30))];
    cluster.blocks.full_report("uuid-0", (&second, StorageType::Disk), report).unwrap();
    cluster.blocks.block_reports().end_report("uuid-0");
    assert!(cluster.blocks.safe_mode().is_starting());
    assert_eq!(cluster.blocks.safe_mode().bytes_in_future(), 30);
}
