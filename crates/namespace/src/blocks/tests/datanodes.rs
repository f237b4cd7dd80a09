//! DataNodes register, send heartbeats and go.

use super::*;
use crate::Error;

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
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).live, 0);
    assert_eq!(cluster.blocks.datanodes().reports(NodeFilter::All).len(), 2);
}

/// A directory was copied to another machine, and both DataNodes run: without a word each report of the one would undo
/// the other's.
#[test]
fn of_two_datanodes_with_one_uuid_the_one_registered_last_serves() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let block = cluster.written(1, 1, &[0]);
    let copy = DatanodeId { ip: "10.0.0.9".into(), host: "dn9".into(), ..identity(0) };
    assert_eq!(cluster.blocks.datanodes().check_sender(&identity(0)), Ok(()));
    let unregistered = cluster.blocks.datanodes().check_sender(&copy).unwrap_err();
    assert!(matches!(unregistered, Error::Datanode(_)), "{unregistered}");
    cluster.blocks.register(copy.clone(), "/a", "3.4.3", cluster.now);
    assert_eq!(cluster.blocks.datanodes().check_sender(&copy), Ok(()));
    let refused = cluster.blocks.datanodes().check_sender(&identity(0)).unwrap_err();
    assert!(refused.to_string().contains("10.0.0.9:9866"), "{refused}");
    assert_eq!(
        cluster.blocks.datanodes().check_sender(&identity(7)),
        Ok(()),
        "it is told to register"
    );
    cluster.full_report(0, vec![]);
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).live, 0);
}

#[test]
fn ids_of_unknown_storages_make_no_storages() {
    let cluster = Cluster::new(&["/a"; 1]);
    let names = [("uuid-0", "DS-none"), ("uuid-0", "DS-0"), ("uuid-0", "")];
    let found = cluster.blocks.datanodes().resolve_storages(names).unwrap();
    assert_eq!(found[..], [StorageIdx(0), StorageIdx(0)]);
    assert_eq!(cluster.blocks.datanodes().reports(NodeFilter::All)[0].storages.len(), 1);
    assert!(cluster.blocks.datanodes().resolve_storages([("uuid-9", "DS-0")]).is_err());
}

/// Where heartbeats do not get through, a busy NameNode took its DataNodes for dead.
#[test]
fn lifelines_keep_a_datanode_alive_and_bring_no_dead_one_back() {
    let mut cluster = Cluster::new(&["/r", "/r"]);
    let lifeline = |cluster: &mut Cluster, index: usize| {
        let (uuid, now) = (format!("uuid-{index}"), cluster.now);
        cluster.blocks.datanode_manager().lifeline(&uuid, Heartbeat::default(), &[disk(index)], now)
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
        cluster.blocks.replicas().nodes.all()[0].storages.len()
    };
    assert_eq!(beat(&mut cluster, &[disk(0), second.clone()]), 2);
    let block = cluster.written(1, 1, &[0]);
    assert_eq!(beat(&mut cluster, std::slice::from_ref(&second)), 2, "its replica is not gone yet");
    cluster.event(0, ReplicaEvent::Deleted(block));
    assert_eq!(beat(&mut cluster, &[]), 2, "a heartbeat that reports no storage");
    assert_eq!(beat(&mut cluster, std::slice::from_ref(&second)), 1);
    assert_eq!(beat(&mut cluster, &[disk(0), second]), 2, "it is back");
    cluster.received(0, block);
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).live, 1);
}
