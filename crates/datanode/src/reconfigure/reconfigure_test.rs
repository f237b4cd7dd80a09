//! Volumes that are added and removed while the DataNode runs.

use crate::test_node::{TestNode, wait_until};
use std::fs;
use zerohop_transport::reconfigure::{Change, reconfigure as start};

fn reconfigure(test: &TestNode) -> Vec<Change> {
    start(&test.node).unwrap();
    wait_until("the task ends", || test.node.reconfiguration.status().ended_ms > 0);
    test.node.reconfiguration.status().changes
}

fn volumes(test: &TestNode) -> Vec<String> {
    let name = |path: &std::path::Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    test.node.store.volumes().in_use().iter().map(|volume| name(volume.root())).collect()
}

/// A disk was added or replaced by a restart only.
#[test]
fn volumes_come_and_go_while_the_datanode_runs() {
    let test = TestNode::start(&["a"], &[]);
    let block = test.finalized(1, 1000);
    assert!(reconfigure(&test).is_empty());
    test.configure(&["a", "b"]);
    let changes = reconfigure(&test);
    assert_eq!((changes.len(), changes[0].error.as_deref()), (1, None));
    assert!(changes[0].new.as_deref().unwrap().ends_with("/b"));
    assert_eq!(volumes(&test), ["a", "b"]);
    assert!(test.directory("b/current/BP-1-127.0.0.1-1/current/finalized").is_dir());
    assert!(test.knows(&block));

    test.configure(&["b"]);
    assert_eq!(reconfigure(&test)[0].error, None);
    assert_eq!(volumes(&test), ["b"]);
    assert!(!test.knows(&block) && !test.directory("a/in_use.lock").exists());
    test.finalized(2, 1000);

    // Back with all that is on it.
    test.configure(&["b", "a"]);
    assert_eq!(reconfigure(&test)[0].error, None);
    assert!(test.knows(&block));
    let opened = test.node.open_replica(&block, 0).unwrap();
    opened.reader.verify().unwrap();
    test.node.store.failures().check().unwrap();
}

#[test]
fn a_volume_that_cannot_be_added_is_named_and_the_others_are_in_force() {
    let test = TestNode::start(&["a"], &[]);
    fs::write(test.directory("file"), "").unwrap();
    test.configure(&["a", "file", "b"]);
    let changes = reconfigure(&test);
    let error = changes[0].error.clone().unwrap();
    let start = format!("FAILED TO ADD: [DISK]file:{}: ", test.directory("file").display());
    assert!(error.starts_with(&start), "{error}");
    assert_eq!(volumes(&test), ["a", "b"]);
    let in_force = test.node.reconfiguration.conf().get_raw("dfs.datanode.data.dir").unwrap();
    assert!(in_force.ends_with("/b") && !in_force.contains("/file"), "{in_force}");
    // The last volume stays, whatever the file says.
    test.configure(&["file"]);
    let error = reconfigure(&test)[0].error.clone().unwrap();
    assert!(error.contains("Attempt to remove all volumes."), "{error}");
    assert_eq!(volumes(&test), ["a", "b"]);
}

/// A failed disk is replaced: the directory is tried again, and its failure is forgotten.
#[test]
fn a_failed_volume_is_tried_again() {
    let test = TestNode::start(&["a", "b"], &[("dfs.datanode.failed.volumes.tolerated", "1")]);
    fs::remove_dir_all(test.directory("a")).unwrap();
    let volume = test.node.store.volumes().all()[0].clone();
    test.node.store.volume_checks().check(&volume);
    assert_eq!(test.node.store.storage_reports(None).failed_volumes, 1);
    // The list is the same as before.
    assert_eq!(reconfigure(&test)[0].error, None);
    assert_eq!(volumes(&test), ["b", "a"]);
    assert_eq!(test.node.store.storage_reports(None).failed_volumes, 0);
}

/// The failure of a volume was an error in the log, and its return was nowhere.
#[test]
fn a_volume_that_fails_and_is_replaced_is_two_events() {
    let test = TestNode::start(&["a", "b"], &[("dfs.datanode.failed.volumes.tolerated", "1")]);
    fs::remove_dir_all(test.directory("a")).unwrap();
    let volume = test.node.store.volumes().all()[0].clone();
    test.node.store.volume_checks().check(&volume);
    assert_eq!(reconfigure(&test)[0].error, None);
    let events = test.node.store.events().record().newest();
    let shown: Vec<_> =
        events.iter().map(|e| (e.event.kind().name, e.event.value("disk"))).collect();
    let disk = test.directory("a").display().to_string();
    assert_eq!(shown, [("volume in use again", &*disk), ("volume failed", &*disk)]);
    assert!(events[1].event.cause().contains(&disk), "{events:?}");
}
