//! What DataNodes report, and what it costs to know it.

use super::*;
use zerohop_wire::JavaException;

#[test]
fn a_full_report_tells_what_is_gone_and_what_is_nobodys() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let kept = cluster.written(1, 2, &[0, 1]);
    let lost = cluster.written(2, 2, &[0, 1]);
    let unknown = block(99, 5);
    cluster.full_report(0, vec![finalized(kept), finalized(unknown)]);
    cluster.full_report(0, vec![finalized(kept), finalized(unknown)]);
    assert_eq!(cluster.blocks.replica_counts(kept.id).live, 2);
    assert_eq!(cluster.blocks.replica_counts(lost.id).live, 1);
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
    assert_eq!(cluster.blocks.replica_counts(new.id).live, 1);
}

/// The DataNode deleted what it had before an append, and says so late.
#[test]
fn the_end_of_an_older_replica_is_not_that_of_a_newer_one() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let new = Block { stamp: GenerationStamp(1005), ..block(1, 100) };
    cluster.blocks.put_complete(new, FILE, 1);
    cluster.received(0, new);
    cluster.event(0, ReplicaEvent::Deleted(block(1, 100)));
    assert_eq!(cluster.blocks.replica_counts(new.id).live, 1);
    cluster.event(0, ReplicaEvent::Deleted(new));
    assert_eq!(cluster.blocks.replica_counts(new.id).live, 0);
}

#[test]
fn a_datanode_formatted_anew_takes_over_its_address() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let block = cluster.written(1, 1, &[0]);
    let id = DatanodeId {
        ip: "10.0.0.0".into(),
        host: "dn0".into(),
        uuid: "another".into(),
        xfer_port: 9866,
        ..DatanodeId::default()
    };
    cluster.blocks.register(id, "/a", "3.4.3", cluster.now);
    assert_eq!(cluster.blocks.replica_counts(block.id).live, 0);
    assert_eq!(cluster.blocks.node_reports(NodeFilter::All).len(), 2);
}

/// A directory was copied to another machine, and both DataNodes run: without a word each report of the one would undo
/// the other's.
#[test]
fn of_two_datanodes_with_one_uuid_the_one_registered_last_serves() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let block = cluster.written(1, 1, &[0]);
    let copy = DatanodeId { ip: "10.0.0.9".into(), host: "dn9".into(), ..identity(0) };
    assert_eq!(cluster.blocks.check_sender(&identity(0)), Ok(()));
    assert_eq!(
        cluster.blocks.check_sender(&copy).unwrap_err().kind(),
        Some(JavaException::UnregisteredNode)
    );
    cluster.blocks.register(copy.clone(), "/a", "3.4.3", cluster.now);
    assert_eq!(cluster.blocks.check_sender(&copy), Ok(()));
    let refused = cluster.blocks.check_sender(&identity(0)).unwrap_err();
    assert!(refused.message.contains("10.0.0.9:9866"), "{}", refused.message);
    assert_eq!(cluster.blocks.check_sender(&identity(7)), Ok(()), "it is told to register");
    cluster.full_report(0, vec![]);
    assert_eq!(cluster.blocks.replica_counts(block.id).live, 0);
}

/// What a million one-replica blocks cost: the budget of a file with its block is 130 bytes.
#[test]
fn a_block_takes_less_than_fifty_bytes() {
    let mut map = map::BlockMap::default();
    let mut storage = roaring::RoaringBitmap::new();
    for id in 0..100_000 {
        let stored = StoredBlock {
            block: block(id, 1),
            file: FILE,
            replication: 1,
            state: BlockState::Complete,
        };
        let slot = map.insert(stored);
        map.add_storage(slot, StorageIdx(0));
        storage.insert(slot);
    }
    let bytes = map.memory() + storage.serialized_size();
    assert!(bytes / 100_000 < 50, "{}", bytes / 100_000);
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
    assert!(!cluster.blocks.is_report_lent("uuid-0", first));
    assert!(cluster.blocks.is_report_lent("uuid-0", again));
    assert!(!cluster.blocks.is_report_lent("uuid-1", again), "it is not for others");
    assert!(cluster.blocks.is_report_lent("uuid-1", 0), "who was told to report needs none");
    assert_ne!(ask(&mut cluster, 1), 0);
    assert_eq!(ask(&mut cluster, 2), 0);
    cluster.blocks.end_report("uuid-1");
    let last = ask(&mut cluster, 2);
    assert_ne!(last, 0);
    cluster.pass(1_000);
    assert!(!cluster.blocks.is_report_lent("uuid-2", last), "it was too slow");
    assert_ne!(ask(&mut cluster, 1), 0);
}

/// A replica that was reported too short, and then whole, counts from then on: for completion, and for copies.
#[test]
fn a_good_report_after_a_bad_one_has_its_consequences() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    cluster.blocks.put_under_construction(block(1, 0), FILE, 1);
    assert!(!cluster.blocks.commit(block(1, 10)).unwrap());
    cluster.received(0, block(1, 5));
    assert_eq!(cluster.blocks.replica_counts(BlockId(1)).corrupt, 1);
    cluster.received(0, block(1, 10));
    assert!(cluster.blocks.is_complete(BlockId(1)));

    let whole = cluster.written(2, 1, &[]);
    cluster.received(0, block(2, 50));
    assert_eq!(cluster.blocks.stats().missing, 1);
    cluster.received(0, whole);
    assert_eq!(cluster.blocks.stats().missing, 0);
}

#[test]
fn names_of_storages_nobody_has_make_no_storages() {
    let cluster = Cluster::new(&["/a"; 1]);
    let names = [("uuid-0", "DS-none"), ("uuid-0", "DS-0"), ("uuid-0", "")];
    let found = cluster.blocks.resolve_storages(names).unwrap();
    assert_eq!(found[..], [StorageIdx(0), StorageIdx(0)]);
    assert_eq!(cluster.blocks.node_reports(NodeFilter::All)[0].storages.len(), 1);
    assert!(cluster.blocks.resolve_storages([("uuid-9", "DS-0")]).is_err());
}

/// The end of a recovery overtook the DataNode's own news of the try before.
#[test]
fn late_news_of_an_older_stamp_do_not_count() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let block = cluster.written(1, 1, &[0, 1]);
    let told = (0..2).find(|index| !cluster.beat(*index).is_empty()).unwrap();
    let counts = cluster.blocks.replica_counts(block.id);
    assert_eq!((counts.live, counts.excess), (1, 1));
    cluster.received(told, Block { stamp: GenerationStamp(1000), ..block });
    cluster.received(told, block);
    assert_eq!(cluster.blocks.replica_counts(block.id), counts);
    assert!((0..2).all(|index| cluster.beat(index).is_empty()), "the last one is not deleted");
}

/// Where heartbeats do not get through, a busy NameNode took its DataNodes for dead.
#[test]
fn lifelines_keep_a_datanode_alive_and_bring_no_dead_one_back() {
    let mut cluster = Cluster::new(&["/r", "/r"]);
    let lifeline = |cluster: &mut Cluster, index: usize| {
        let (uuid, now) = (format!("uuid-{index}"), cluster.now);
        cluster.blocks.lifeline(&uuid, Heartbeat::default(), &[disk(index)], now)
    };
    for _ in 0..4 {
        cluster.pass(5 * 60 * 1000);
        assert!(lifeline(&mut cluster, 0));
    }
    assert_eq!(cluster.blocks.stats().live_nodes, 1);
    assert!(!lifeline(&mut cluster, 1));
    cluster.pass(0);
    assert_eq!(cluster.blocks.stats().live_nodes, 1);
    assert!(matches!(cluster.beat(1)[..], [Command::Register]));
}

/// A volume that was removed stayed listed for as long as the NameNode ran.
#[test]
fn a_storage_that_is_reported_no_more_is_forgotten_once_it_is_empty() {
    let mut cluster = Cluster::new(&["/r"]);
    let second = StorageReport { id: "DS-second".into(), ..disk(0) };
    let beat = |cluster: &mut Cluster, reports: &[StorageReport]| {
        let now = cluster.now;
        cluster.blocks.heartbeat("uuid-0", Heartbeat::default(), reports, now, &|_| 0);
        cluster.blocks.nodes.nodes[0].storages.len()
    };
    assert_eq!(beat(&mut cluster, &[disk(0), second.clone()]), 2);
    let block = cluster.written(1, 1, &[0]);
    assert_eq!(beat(&mut cluster, std::slice::from_ref(&second)), 2, "its replica is not gone yet");
    cluster.event(0, ReplicaEvent::Deleted(block));
    assert_eq!(beat(&mut cluster, &[]), 2, "a heartbeat that reports no storage");
    assert_eq!(beat(&mut cluster, std::slice::from_ref(&second)), 1);
    assert_eq!(beat(&mut cluster, &[disk(0), second]), 2, "it is back");
    cluster.received(0, block);
    assert_eq!(cluster.blocks.replica_counts(block.id).live, 1);
}
