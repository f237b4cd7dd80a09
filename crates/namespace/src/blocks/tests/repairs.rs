//! Log events of corrupt replicas.

use super::*;

fn lines(cluster: &mut Cluster) -> Vec<String> {
    let (events, untold) = cluster.blocks.take_repairs();
    assert_eq!(untold, 0);
    events
        .into_iter()
        .map(|event| format!("{} {} {}", event.block, event.file, event.step))
        .collect()
}

/// A corrupt replica was found and repaired without one log line.
#[test]
fn a_corrupt_replica_is_logged_when_it_is_found_copied_and_repaired() {
    let mut cluster = Cluster::new(&["/a", "/a", "/a"]);
    let block = cluster.written(1, 2, &[0, 1]);
    assert!(lines(&mut cluster).is_empty());
    for _ in 0..2 {
        cluster.block_is_bad(0, block);
    }
    assert_eq!(
        lines(&mut cluster),
        [
            "blk_1_1001 16386 the replica on 10.0.0.0:9866 (storage DS-0) is corrupt (CORRUPTION_REPORTED); good replicas left: 1"
        ]
    );
    cluster.pass(10_000);
    assert_eq!(
        lines(&mut cluster),
        [
            "blk_1_1001 16386 10.0.0.1:9866 is to copy its good replica to 10.0.0.2:9866 (storage DS-2)"
        ]
    );
    cluster.received(2, block);
    cluster.pass(10_000);
    assert_eq!(
        lines(&mut cluster),
        [
            "blk_1_1001 16386 repaired; good replicas: 2; the one on 10.0.0.0:9866 (storage DS-0) was corrupt"
        ]
    );
}
