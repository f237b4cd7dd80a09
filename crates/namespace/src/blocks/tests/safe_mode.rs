//! When safe mode ends.

use super::*;

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
        policy: 0,
    };
    (1..=1000).for_each(|id| cluster.blocks.put_complete(block(id, 100), FILE, 1));
    cluster.blocks.start(cluster.now, LAST_STAMP);
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

fn with_block_from_the_future() -> (Cluster, Block) {
    let mut cluster = Cluster {
        blocks: BlockManager::new(BlockParams { safemode_extension_ms: 0, ..Default::default() }),
        now: Now { wall_ms: 1, mono_ms: 1 },
        policy: 0,
    };
    (1..=2).for_each(|id| cluster.blocks.put_complete(block(id, 100), FILE, 1));
    cluster.blocks.start(cluster.now, LAST_STAMP);
    cluster.join(0, "/a");
    let newer = Block { stamp: GenerationStamp(2001), ..block(5000, 77) };
    let old = block(5001, 9);
    let all = [block(1, 100), newer, old].map(finalized);
    // The block of the future comes last: what came before would have ended safe mode.
    cluster.full_report(0, vec![all[0], all[2], all[1]]);
    (cluster, newer)
}

/// An old image was put back: what was written since is unknown to it and would be deleted.
#[test]
fn blocks_of_the_future_keep_safe_mode_on() {
    let (mut cluster, _) = with_block_from_the_future();
    cluster.pass(100_000);
    assert!(cluster.blocks.safe_mode().is_on());
    assert_eq!(cluster.blocks.stats().bytes_in_future, 77);
    let tip = cluster.blocks.safe_mode().tip();
    assert!(tip.contains(
        " is not required. Name node detected blocks with generation stamps in future. This means"
    ));
    assert!(tip.contains("Exiting safe mode will cause loss of 77 byte(s). Please restart"));
    assert!(!cluster.blocks.safe_mode_mut().leave(false));
    assert!(cluster.blocks.safe_mode().is_on());
    cluster.join(0, "/a");
    let newer = Block { stamp: GenerationStamp(2001), ..block(5000, 77) };
    cluster.full_report(0, vec![finalized(newer), finalized(block(1, 100))]);
    assert_eq!(cluster.blocks.stats().bytes_in_future, 77, "told twice, counted once");
}

#[test]
fn safe_mode_can_be_left_by_force() {
    let (mut cluster, newer) = with_block_from_the_future();
    assert!(cluster.blocks.safe_mode_mut().leave(true));
    assert!(!cluster.blocks.safe_mode().is_on());
    assert_eq!(cluster.blocks.stats().bytes_in_future, 0);
    cluster.full_report(0, vec![finalized(newer), finalized(block(1, 100))]);
    let commands = cluster.beat(0);
    assert!(matches!(&commands[..], [Command::Invalidate(gone)] if gone[..] == [newer]));
}

#[test]
fn safe_mode_ends_when_the_block_of_the_future_is_gone() {
    let (mut cluster, _) = with_block_from_the_future();
    cluster.join(0, "/a");
    cluster.full_report(0, vec![finalized(block(1, 100))]);
    cluster.pass(1);
    assert!(!cluster.blocks.safe_mode().is_on());
}

fn starting_with(blocks: i64) -> Cluster {
    let params =
        BlockParams { safemode_extension_ms: 0, safemode_threshold: 1.0, ..BlockParams::default() };
    let now = Now { wall_ms: 1, mono_ms: 1 };
    let mut cluster = Cluster { blocks: BlockManager::new(params), now, policy: 0 };
    (1..=blocks).for_each(|id| cluster.blocks.put_complete(block(id, 100), FILE, 1));
    cluster.blocks.start(cluster.now, LAST_STAMP);
    cluster
}

fn exclude_dn0(id: &DatanodeId) -> Admission {
    if id.host == "dn0" { Admission::Excluded } else { Admission::Allowed }
}

/// Replicas on an excluded DataNode were not counted: with the last ones there, safe mode never ended.
#[test]
fn replicas_on_an_excluded_datanode_are_safe() {
    let mut cluster = starting_with(2);
    cluster.join(0, "/a");
    cluster.blocks.datanode_admin().apply_hosts(exclude_dn0);
    cluster.full_report(0, vec![finalized(block(1, 100)), finalized(block(2, 100))]);
    cluster.pass(1);
    assert!(!cluster.blocks.safe_mode().is_on());
}

/// A replica was counted when it was reported, and not taken off when it was lost: its DataNode was excluded in between.
#[test]
fn excluding_a_datanode_does_not_end_safe_mode_early() {
    let mut cluster = starting_with(2);
    (0..2).for_each(|index| cluster.join(index, "/a"));
    cluster.full_report(0, vec![finalized(block(1, 100))]);
    cluster.blocks.datanode_admin().apply_hosts(exclude_dn0);
    cluster.blocks.datanode_manager().remove("uuid-0");
    cluster.full_report(1, vec![finalized(block(2, 100))]);
    cluster.pass(1);
    assert!(cluster.blocks.safe_mode().is_on(), "block 1 is on no DataNode");
    let tip = cluster.blocks.safe_mode().tip();
    assert!(tip.starts_with("The reported blocks 1 needs additional 1 blocks"), "{tip}");
}

#[test]
fn a_corrupt_replica_is_not_safe_and_counts_again_when_it_is_good() {
    let mut cluster = starting_with(2);
    (0..2).for_each(|index| cluster.join(index, "/a"));
    cluster.full_report(0, vec![finalized(block(1, 100))]);
    cluster.blocks.block_reports().bad_replica(block(1, 100), "uuid-0", "DS-0");
    cluster.full_report(1, vec![finalized(block(2, 100))]);
    assert!(cluster.blocks.safe_mode().is_on());
    cluster.full_report(1, vec![finalized(block(2, 100)), finalized(block(1, 100))]);
    cluster.pass(1);
    assert!(!cluster.blocks.safe_mode().is_on());
}
