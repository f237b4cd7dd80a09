//! Given, event, expected: the block manager without a cluster.

use super::*;
use std::sync::Arc;
use zerohop_wire::{Block, BlockId, GenerationStamp, InodeId};

const FILE: InodeId = InodeId(16386);
const GB: u64 = 1 << 30;

struct Cluster {
    blocks: BlockManager,
    now: Now,
}

impl Cluster {
    /// `racks[i]` is the rack of DataNode `i`, which has one disk.
    fn new(racks: &[&str]) -> Self {
        Self::with(racks, BlockParams { safemode_extension_ms: 0, ..BlockParams::default() })
    }

    fn with(racks: &[&str], params: BlockParams) -> Self {
        let mut cluster = Self {
            blocks: BlockManager::new(params),
            now: Now { wall_ms: 1_000_000, mono_ms: 1_000 },
        };
        cluster.blocks.start(cluster.now);
        for (index, rack) in racks.iter().enumerate() {
            cluster.join(index, rack);
        }
        cluster.blocks.tick(cluster.now);
        cluster
    }

    fn join(&mut self, index: usize, rack: &str) {
        let id = DatanodeId {
            ip: format!("10.0.0.{index}"),
            host: format!("dn{index}"),
            uuid: format!("uuid-{index}"),
            xfer_port: 9866,
            ..DatanodeId::default()
        };
        self.blocks.register(id, rack, "3.4.3", self.now);
        self.beat(index);
    }

    fn beat(&mut self, index: usize) -> Vec<Command> {
        let report = StorageReport {
            id: storage(index),
            kind: StorageType::Disk,
            read_only: false,
            failed: false,
            capacity: 100 * GB,
            dfs_used: 0,
            non_dfs_used: 0,
            remaining: 50 * GB,
            block_pool_used: 0,
            mount: None,
        };
        self.blocks
            .heartbeat(&format!("uuid-{index}"), Heartbeat::default(), &[report], self.now)
            .commands
    }

    fn pass(&mut self, ms: u64) {
        self.now = Now { wall_ms: self.now.wall_ms + ms, mono_ms: self.now.mono_ms + ms };
        self.blocks.tick(self.now);
    }

    fn received(&mut self, index: usize, block: Block) {
        self.event(index, ReplicaEvent::Received(block));
    }

    fn event(&mut self, index: usize, event: ReplicaEvent) {
        let uuid = format!("uuid-{index}");
        self.blocks
            .incremental_report(&uuid, (&storage(index), StorageType::Disk), [event])
            .unwrap();
    }

    fn full_report(&mut self, index: usize, replicas: Vec<ReportedReplica>) {
        let uuid = format!("uuid-{index}");
        self.blocks.full_report(&uuid, (&storage(index), StorageType::Disk), replicas).unwrap();
    }

    /// A written, complete block on these DataNodes.
    fn written(&mut self, id: i64, replication: u16, on: &[usize]) -> Block {
        let block = block(id, 100);
        self.blocks.put_complete(block, FILE, replication);
        on.iter().for_each(|index| self.received(*index, block));
        block
    }

    fn choose(&self, request: PlacementRequest<'_>) -> Vec<String> {
        let found = self.blocks.choose_targets(&request).unwrap();
        self.blocks.describe(&found).iter().map(|location| location.node.id.host.clone()).collect()
    }
}

fn storage(index: usize) -> Arc<str> {
    format!("DS-{index}").into()
}

fn block(id: i64, len: u64) -> Block {
    Block { id: BlockId(id), stamp: GenerationStamp(1001), len }
}

fn finalized(block: Block) -> ReportedReplica {
    ReportedReplica { block, state: ReplicaState::Finalized }
}

fn request(client_host: &str, replicas: usize) -> PlacementRequest<'_> {
    PlacementRequest {
        replicas,
        client_host,
        block_size: 128 << 20,
        path: "/f",
        ..PlacementRequest::default()
    }
}

#[test]
fn the_writers_node_comes_first_and_two_racks_are_used() {
    let cluster = Cluster::new(&["/a", "/a", "/b", "/b", "/c"]);
    for _ in 0..50 {
        let chosen = cluster.choose(request("10.0.0.1", 3));
        assert_eq!(chosen.len(), 3);
        assert_eq!(chosen[0], "dn1");
        let rack = |host: &str| match host {
            "dn0" | "dn1" => "a",
            "dn2" | "dn3" => "b",
            _ => "c",
        };
        assert!(chosen.iter().any(|host| rack(host) != "a"), "{chosen:?}");
        let mut distinct = chosen.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), 3);
    }
}

#[test]
fn excluded_nodes_are_left_out_and_favored_ones_preferred() {
    let cluster = Cluster::new(&["/a"; 4]);
    let excluded = ["uuid-0".to_owned(), "uuid-1".to_owned()];
    let mut chosen =
        cluster.choose(PlacementRequest { excluded: &excluded, ..request("10.0.0.0", 3) });
    chosen.sort();
    assert_eq!(chosen, ["dn2", "dn3"]);
    let favored = ["10.0.0.3:9866".to_owned()];
    assert_eq!(
        cluster.choose(PlacementRequest { favored: &favored, ..request("elsewhere", 1) }),
        ["dn3"]
    );
}

#[test]
fn without_datanodes_the_error_is_hadoops() {
    let cluster = Cluster::new(&[]);
    let error = cluster.blocks.choose_targets(&request("x", 3)).unwrap_err();
    assert_eq!(
        error.message,
        "File /f could only be written to 0 of the 1 minReplication nodes. There are 0 datanode(s) running and no node(s) \
         are excluded in this operation."
    );
}

#[test]
fn a_block_is_complete_when_committed_and_reported_in_either_order() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    for (id, report_first) in [(1, true), (2, false)] {
        cluster.blocks.put_under_construction(block(id, 0), FILE, 1);
        let targets = cluster.blocks.choose_targets(&request("10.0.0.0", 1)).unwrap();
        cluster.blocks.set_targets(BlockId(id), &targets);
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
        let found = cluster.blocks.locations(BlockId(id), "").unwrap();
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
            .message
            .starts_with("Commit block with mismatching GS.")
    );
}

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
    assert_eq!(cluster.blocks.replica_counts(block.id).live, 3);
}

#[test]
fn an_excluded_datanode_is_done_with_when_its_replicas_are_copied() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    let block = cluster.written(1, 2, &[0, 1]);
    cluster.pass(3_000);
    let judge = |out: &'static str| {
        move |id: &DatanodeId| if id.host == out { Admission::Excluded } else { Admission::Allowed }
    };
    cluster.blocks.apply_hosts(judge("dn0"));
    assert!(cluster.blocks.finish_decommissions().is_empty());
    cluster.pass(3_000);
    let commands: Vec<Command> = (0..3).flat_map(|index| cluster.beat(index)).collect();
    let [Command::Transfer(transfers)] = commands.as_slice() else { panic!("{commands:?}") };
    assert_eq!(transfers[0].targets[0].node.id.host, "dn2");
    cluster.received(2, block);
    assert_eq!(cluster.blocks.finish_decommissions(), ["10.0.0.0:9866"]);
    assert_eq!(cluster.blocks.replica_counts(block.id).decommissioned, 1);
    cluster.blocks.apply_hosts(judge("nobody"));
    cluster.pass(3_000);
    let commands: Vec<Command> = (0..3).flat_map(|index| cluster.beat(index)).collect();
    assert!(matches!(commands.as_slice(), [Command::Invalidate(_)]), "{commands:?}");
}

#[test]
fn a_silent_datanode_is_dead_and_its_replicas_do_not_count() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    let block = cluster.written(1, 2, &[0, 1]);
    cluster.pass(400_000);
    (1..3).for_each(|index| _ = cluster.beat(index));
    cluster.pass(400_000);
    assert_eq!(cluster.blocks.stats().dead_nodes, 1);
    assert_eq!(cluster.blocks.replica_counts(block.id).live, 1);
    assert!(matches!(cluster.beat(0).as_slice(), [Command::Register]));
    cluster.join(0, "/a");
    cluster.full_report(0, vec![finalized(block)]);
    assert_eq!(cluster.blocks.replica_counts(block.id).live, 2);
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
        cluster.blocks.replica_counts(block.id),
        ReplicaCounts { live: 2, ..ReplicaCounts::default() }
    );
    assert_eq!(cluster.blocks.stats().excess, 0);
}

#[test]
fn a_full_report_tells_what_is_gone_and_what_is_nobodys() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let kept = cluster.written(1, 2, &[0, 1]);
    let lost = cluster.written(2, 2, &[0, 1]);
    let unknown = block(99, 5);
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
fn a_corrupt_replica_is_replaced_before_it_is_deleted() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    let block = cluster.written(1, 2, &[0, 1]);
    cluster.blocks.bad_replica(block, "uuid-0", "DS-0");
    assert_eq!(cluster.blocks.replica_counts(block.id).corrupt, 1);
    let locations = cluster.blocks.locations(block.id, "").unwrap();
    assert_eq!(locations.replicas.len(), 1);
    assert!(!locations.corrupt);
    cluster.pass(3_000);
    assert!(matches!(cluster.beat(1).as_slice(), [Command::Transfer(_)]));
    assert!(cluster.beat(0).is_empty());
    cluster.received(2, block);
    assert!(matches!(cluster.beat(0).as_slice(), [Command::Invalidate(_)]));
    assert_eq!(
        cluster.blocks.replica_counts(block.id),
        ReplicaCounts { live: 2, ..ReplicaCounts::default() }
    );
}

#[test]
fn with_only_corrupt_replicas_a_client_is_told_so() {
    let mut cluster = Cluster::new(&["/a"; 1]);
    let block = cluster.written(1, 1, &[0]);
    cluster.blocks.bad_replica(block, "uuid-0", "DS-0");
    let locations = cluster.blocks.locations(block.id, "").unwrap();
    assert!(locations.corrupt);
    assert_eq!(locations.replicas.len(), 1);
    assert_eq!(cluster.blocks.stats().missing, 1);
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
    assert_eq!(cluster.blocks.replica_counts(new.id).corrupt, 0);
    cluster.pass(3_000);
    let commands = cluster.beat(0);
    assert!(matches!(&commands[..], [Command::Transfer(copies)] if copies[0].targets.len() == 2));
}

#[test]
fn the_nearest_replica_comes_first() {
    let mut cluster = Cluster::new(&["/a", "/a", "/b", "/b"]);
    let block = cluster.written(1, 3, &[1, 2, 3]);
    for _ in 0..20 {
        let hosts = |client: &str| -> Vec<String> {
            let found = cluster.blocks.locations(block.id, client).unwrap();
            found.replicas.iter().map(|replica| replica.node.id.host.clone()).collect()
        };
        assert_eq!(hosts("10.0.0.3")[..2], ["dn3", "dn2"]);
        assert_eq!(hosts("10.0.0.0")[0], "dn1");
        assert_eq!(hosts("dn2")[0], "dn2");
    }
}

#[test]
fn recovery_asks_one_live_replica_and_then_another() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    cluster.blocks.put_under_construction(block(1, 0), FILE, 3);
    let targets = cluster.blocks.choose_targets(&request("10.0.0.0", 3)).unwrap();
    cluster.blocks.set_targets(BlockId(1), &targets);
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
    assert_eq!(cluster.blocks.replica_counts(BlockId(1)).live, 2);
}

#[test]
fn safe_mode_of_an_empty_namespace_ends_at_once() {
    let cluster = Cluster::with(&[], BlockParams::default());
    assert!(!cluster.blocks.safe_mode().is_on());
}

#[test]
fn safe_mode_ends_when_blocks_are_reported_and_the_extension_is_over() {
    let mut cluster = Cluster {
        blocks: BlockManager::new(BlockParams::default()),
        now: Now { wall_ms: 1, mono_ms: 1 },
    };
    (1..=1000).for_each(|id| cluster.blocks.put_complete(block(id, 100), FILE, 1));
    cluster.blocks.start(cluster.now);
    cluster.join(0, "/a");
    assert_eq!(
        cluster.blocks.safe_mode().tip(),
        "The reported blocks 0 needs additional 999 blocks to reach the threshold 0.9990 of total blocks 1000.\nThe minimum \
         number of live datanodes is not required. Safe mode will be turned off automatically once the thresholds have been \
         reached."
    );
    cluster.full_report(
        0,
        (1..=999).map(|id| finalized(block(id, 100))).chain([finalized(block(5000, 1))]).collect(),
    );
    assert_eq!(
        cluster.blocks.safe_mode().tip(),
        "The reported blocks 999 has reached the threshold 0.9990 of total blocks 1000. The minimum number of live datanodes \
         is not required. In safe mode extension. Safe mode will be turned off automatically in 30 seconds."
    );
    cluster.pass(29_000);
    assert!(cluster.blocks.safe_mode().is_on());
    cluster.pass(1_000);
    assert!(!cluster.blocks.safe_mode().is_on());
    assert_eq!(cluster.blocks.stats().missing, 1);
    assert!(
        cluster.beat(0).is_empty(),
        "what the first report had too much is not deleted at once"
    );
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

#[test]
fn a_failed_volume_loses_its_replicas_only() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let block = cluster.written(1, 1, &[0]);
    let beat = Heartbeat { failed_volumes: 1, ..Heartbeat::default() };
    cluster.blocks.heartbeat("uuid-0", beat, &[], cluster.now);
    assert_eq!(cluster.blocks.replica_counts(block.id).live, 0);
    assert_eq!(cluster.blocks.stats().live_nodes, 2);
}

/// What a million one-replica blocks cost: the file budget is 200 bytes.
#[test]
fn a_block_takes_less_than_seventy_bytes() {
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
    assert!(bytes / 100_000 < 70, "{}", bytes / 100_000);
}
