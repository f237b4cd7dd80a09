//! DataNodes that are away for a while.

use super::*;

const HOUR_MS: u64 = 3_600_000;

fn away(until_ms: u64) -> impl Fn(&DatanodeId) -> Admission {
    move |id| if id.host == "dn0" { Admission::Maintenance(until_ms) } else { Admission::Allowed }
}

fn state(cluster: &Cluster) -> AdminState {
    cluster.blocks.datanodes().reports(NodeFilter::All)[0].info.stats.admin
}

fn beat_all(cluster: &mut Cluster, from: usize) -> Vec<Command> {
    (from..3).flat_map(|index| cluster.beat(index)).collect()
}

#[test]
fn replicas_of_a_datanode_in_maintenance_count_while_it_is_dead() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    let block = cluster.written(1, 2, &[0, 1]);
    cluster.full_report(0, vec![finalized(block)]);
    cluster.blocks.datanode_admin().apply_hosts(away(NO_EXPIRY_MS));
    assert_eq!(state(&cluster), AdminState::EnteringMaintenance);
    let done = cluster.admin_changes();
    assert_eq!(done, [("10.0.0.0:9866".to_owned(), AdminState::InMaintenance)]);
    for _ in 0..20 {
        cluster.pass(100_000);
        assert!(beat_all(&mut cluster, 1).is_empty(), "one live replica is enough meanwhile");
    }
    assert_eq!(cluster.blocks.stats().dead_nodes, 1);
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).maintenance, 1);
    assert_eq!(cluster.blocks.lookup().locations(block.id, "").unwrap().replicas.len(), 1);

    cluster.blocks.datanode_admin().apply_hosts(|_| Admission::Allowed);
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).maintenance, 0);
    cluster.pass(3_000);
    let commands = beat_all(&mut cluster, 1);
    assert!(matches!(commands.as_slice(), [Command::Transfer(_)]), "{commands:?}");
}

/// dfs.namenode.maintenance.replication.min is 1.
#[test]
fn the_only_replica_is_copied_before_its_datanode_goes() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    let block = cluster.written(1, 1, &[0]);
    cluster.full_report(0, vec![finalized(block)]);
    cluster.blocks.datanode_admin().apply_hosts(away(NO_EXPIRY_MS));
    assert!(cluster.admin_changes().is_empty());
    cluster.pass(3_000);
    let commands = cluster.beat(0);
    assert!(matches!(commands.as_slice(), [Command::Transfer(_)]), "{commands:?}");
    cluster.received(1, block);
    assert_eq!(cluster.admin_changes().len(), 1);
    assert_eq!(state(&cluster), AdminState::InMaintenance);
    // Back in service there is one replica too many.
    cluster.blocks.datanode_admin().apply_hosts(|_| Admission::Allowed);
    let commands = beat_all(&mut cluster, 0);
    assert!(matches!(commands.as_slice(), [Command::Invalidate(_)]), "{commands:?}");
}

#[test]
fn maintenance_ends_at_its_time() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    let until_ms = cluster.now.wall_ms + HOUR_MS;
    cluster.blocks.datanode_admin().apply_hosts(away(until_ms));
    assert!(cluster.admin_changes().is_empty(), "it has reported nothing yet");
    cluster.full_report(0, vec![]);
    assert_eq!(cluster.admin_changes().len(), 1);
    cluster.pass(HOUR_MS - 1);
    assert!(cluster.admin_changes().is_empty());
    cluster.pass(1);
    let done = cluster.admin_changes();
    assert_eq!(done, [("10.0.0.0:9866".to_owned(), AdminState::Normal)]);
    cluster.blocks.datanode_admin().apply_hosts(away(until_ms));
    assert_eq!(state(&cluster), AdminState::Normal, "the file still names a time that is over");
}

#[test]
fn a_datanode_in_maintenance_that_is_decommissioned_serves_no_more() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    let block = cluster.written(1, 1, &[0]);
    cluster.full_report(0, vec![finalized(block)]);
    cluster.blocks.datanode_admin().apply_hosts(away(NO_EXPIRY_MS));
    cluster
        .blocks
        .datanode_admin()
        .apply_hosts(|id| if id.host == "dn0" { Admission::Excluded } else { Admission::Allowed });
    assert_eq!(state(&cluster), AdminState::DecommissionInProgress);
    cluster.blocks.datanode_admin().apply_hosts(away(NO_EXPIRY_MS));
    assert_eq!(state(&cluster), AdminState::EnteringMaintenance);
}
