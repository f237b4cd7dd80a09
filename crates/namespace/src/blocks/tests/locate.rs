//! Where blocks are, as others ask for it.

use super::*;

/// A balancer that moved blocks between archives was given blocks on disks.
#[test]
fn the_balancer_gets_blocks_of_the_type_it_asks_for() {
    let mut cluster = Cluster::new(&["/a"]);
    let archive: Arc<str> = "DS-archive".into();
    let report = StorageReport { id: archive.clone(), kind: StorageType::Archive, ..disk(0) };
    let reports = [disk(0), report];
    cluster.blocks.heartbeat("uuid-0", Heartbeat::default(), &reports, cluster.now, &|_| 0);
    let on_disk = cluster.written(1, 1, &[0]);
    let archived = cluster.written(2, 1, &[]);
    let storage = (&archive, StorageType::Archive);
    cluster.blocks.full_report("uuid-0", storage, vec![finalized(archived)]).unwrap();

    let blocks = |kind| {
        let found = cluster.blocks.lookup().blocks_of("uuid-0", u64::MAX, 1, kind).unwrap();
        found.into_iter().map(|(block, _)| block).collect::<Vec<_>>()
    };
    assert_eq!(blocks(Some(StorageType::Disk)), [on_disk]);
    assert_eq!(blocks(Some(StorageType::Archive)), [archived]);
    assert_eq!(blocks(Some(StorageType::Ssd)), []);
    assert_eq!(blocks(None).len(), 2);
}
