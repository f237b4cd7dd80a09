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
