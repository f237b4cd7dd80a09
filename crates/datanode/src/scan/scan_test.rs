//! Corrupt replicas are found, and memory follows the disks.

use super::compare_disks::scan_now;
use super::verify_volume;
use crate::test_node::{TestNode, block, flip, wait_until};
use std::fs;
use std::sync::Arc;
use zerohop_replica::block_directory;
use zerohop_wire::{BlockId, GenerationStamp};

const FAST: [(&str, &str); 1] = [("dfs.block.scanner.volume.bytes.per.second", "1000000000")];

fn figures(test: &TestNode) -> (u64, u64) {
    let statistics = test.node.block_scanner.statistics();
    (statistics[0].1.verified(), statistics[0].1.failures())
}

fn start_scanner(test: &TestNode) {
    let volume = Arc::clone(&test.node.store.volumes().all()[0]);
    verify_volume(&test.node, &volume);
}

/// Nothing verified a replica but its readers.
#[test]
fn corruption_in_a_replica_that_nobody_reads_is_found() {
    let test = TestNode::start(&["disk"], &FAST);
    let good = test.finalized(1, 300_000);
    let bad = test.finalized(2, 300_000);
    flip(&test.paths(&bad)[0]);
    start_scanner(&test);
    wait_until("both are verified", || figures(&test) == (1, 1));
    let page = test.node.block_scanner.report();
    assert!(
        page.starts_with("Block Scanner Statistics\n\nBlock scanner information for volume DS-")
    );
    assert!(page.contains(&format!("Block scan errors since restart   : {:>57}\n", 1)), "{page}");
    assert!(
        page.contains(&format!("Last block scanned                : {:>57}\n", bad.to_string())),
        "{page}"
    );
    // All are verified: the next scan is three weeks away, but what a reader complains of comes first.
    wait_until("the end", || {
        test.node.block_scanner.report().contains("More blocks to scan in period     :                                                     false")
    });
    flip(&test.paths(&good)[1]);
    test.node.suspect_replica(&good);
    wait_until("the suspect is verified", || figures(&test) == (1, 2));
    test.node.block_scanner.stop();
    let pool = test.directory("disk/current").join(crate::test_node::POOL);
    let cursor = fs::read_to_string(pool.join("scanner.cursor")).unwrap();
    assert!(cursor.contains("\"atEnd\": true"), "{cursor}");
}

/// A corrupt replica was found, reported and deleted without a line that an operator would look for.
#[test]
fn a_corrupt_replica_is_one_event_until_it_is_deleted() {
    let test = TestNode::start(&["disk"], &FAST);
    let bad = test.finalized(2, 300_000);
    let file = test.paths(&bad)[0].clone();
    flip(&file);
    start_scanner(&test);
    wait_until("it is found", || figures(&test) == (0, 1));
    let record = test.node.store.events().record();
    let [found] = record.newest().try_into().unwrap();
    let value = |name| found.event.value(name).to_owned();
    assert_eq!(found.event.kind().name, "corrupt replica");
    assert_eq!((value("block"), value("file")), (bad.to_string(), file.display().to_string()));
    assert_eq!(value("disk"), test.directory("disk").display().to_string());
    assert_eq!(value("DataNode"), test.node.settings.host_name);
    assert!(found.event.cause().starts_with("found by the block scanner: "), "{found:?}");
    // Every reader and every scan finds it again.
    test.node.suspect_replica(&bad);
    wait_until("it is found again", || figures(&test) == (0, 2));
    let [again] = record.newest().try_into().unwrap();
    assert_eq!((again.times, record.count(again.event.kind())), (2, 1));
    test.node.block_scanner.stop();
    // A good replica was copied elsewhere, and the NameNode has this one deleted.
    let pool = test.node.store.pools().get(&bad.pool).unwrap();
    for (block, events) in [(test.finalized(3, 1000).block, 1), (bad.block, 2)] {
        let (deleted, volume) = test.node.store.removal().delete(&pool, block).unwrap();
        test.node.store.events().deleted(&pool.id, deleted, &volume);
        assert_eq!(record.newest().len(), events);
    }
    assert_eq!(record.newest()[0].event.kind().name, "corrupt replica deleted");
}

/// A scanner that started anew with every restart would never come to the last replicas.
#[test]
fn a_restarted_scanner_does_not_begin_again() {
    let test = TestNode::start(&["disk"], &FAST);
    test.finalized(1, 1000);
    start_scanner(&test);
    wait_until("it is verified", || figures(&test) == (1, 0));
    wait_until("the end", || test.node.block_scanner.report().contains("Hours until next"));
    test.node.block_scanner.stop();
    start_scanner(&test);
    wait_until("it waits", || test.node.block_scanner.report().contains("Hours until next"));
    assert_eq!(figures(&test), (0, 0));
    test.node.block_scanner.stop();
}

#[test]
fn memory_follows_files_that_somebody_else_changed() {
    let test = TestNode::start(&["disk", "other"], &[]);
    let node = &test.node;
    let [kept, lost, cut, restamped] = [1, 2, 3, 4].map(|id| test.finalized(id, 1000));
    let used =
        || node.store.volumes().all().iter().map(|v| (v.used(), v.blocks())).collect::<Vec<_>>();
    let before = used();
    let [kept_data, kept_meta] = test.paths(&kept);
    // A second replica, on the other volume.
    let is_on = |name| kept_data.starts_with(test.directory(name));
    let other = if is_on("disk") { "other" } else { "disk" };
    let finalized = format!("{other}/current/{}/current/finalized", crate::test_node::POOL);
    let elsewhere = block_directory(&test.directory(&finalized), BlockId(1));
    fs::create_dir_all(&elsewhere).unwrap();
    for path in [&kept_data, &kept_meta] {
        fs::copy(path, elsewhere.join(path.file_name().unwrap())).unwrap();
    }
    // One that nobody knows, and checksums of nothing.
    fs::copy(&kept_data, elsewhere.join("blk_5")).unwrap();
    fs::copy(&kept_meta, elsewhere.join("blk_5_1001.meta")).unwrap();
    fs::copy(&kept_meta, elsewhere.join("blk_6_1001.meta")).unwrap();
    fs::remove_file(&test.paths(&lost)[0]).unwrap();
    fs::OpenOptions::new().write(true).open(&test.paths(&cut)[0]).unwrap().set_len(600).unwrap();
    let old_meta = &test.paths(&restamped)[1];
    fs::rename(old_meta, old_meta.with_file_name("blk_4_1007.meta")).unwrap();

    scan_now(node);
    let counts = node.directory_scanner.counts()[crate::test_node::POOL];
    assert_eq!((counts.missing_in_memory, counts.duplicates, counts.mismatched), (2, 1, 2));
    assert!(node.directory_scanner.finished_ms() > 0);
    assert!(test.knows(&kept) && kept_data.exists() && !elsewhere.join("blk_1").exists());
    assert!(test.knows(&block(5, 1000)) && !elsewhere.join("blk_6_1001.meta").exists());
    assert!(!test.knows(&lost));
    assert_eq!(node.store.pools().replica(&cut).unwrap().block().len, 600);
    let stamp = node.store.pools().replica(&restamped).unwrap().block().stamp;
    assert_eq!(stamp, GenerationStamp(1007));
    // One replica came and one went; 400 bytes were cut off.
    let sum = |figures: Vec<(u64, u64)>| {
        figures.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    };
    assert_eq!(sum(used()), (sum(before.clone()).0 - 400, sum(before).1));

    scan_now(node);
    let counts = node.directory_scanner.counts()[crate::test_node::POOL];
    assert_eq!((counts.total, counts.missing_in_memory, counts.duplicates), (4, 0, 0));
    assert_eq!((counts.mismatched, counts.missing_data), (0, 0));
}
