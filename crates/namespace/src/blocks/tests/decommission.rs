//! DataNodes that are taken out of service.

use super::walks::SLICE;
use super::*;

fn exclude(out: &'static str) -> impl Fn(&DatanodeId) -> Admission {
    move |id| if id.host == out { Admission::Excluded } else { Admission::Allowed }
}

fn state(cluster: &Cluster, index: usize) -> AdminState {
    let host = format!("dn{index}");
    let reports = cluster.blocks.datanodes().reports(NodeFilter::All);
    let report = reports.iter().find(|report| report.info.id.host == host).unwrap();
    report.info.stats.admin
}

#[test]
fn an_excluded_datanode_is_done_with_when_its_replicas_are_copied() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    let block = cluster.written(1, 2, &[0, 1]);
    cluster.pass(3_000);
    cluster.full_report(0, vec![finalized(block)]);
    cluster.blocks.datanode_admin().apply_hosts(exclude("dn0"));
    assert!(cluster.left_service().is_empty());
    cluster.pass(3_000);
    let commands: Vec<Command> = (0..3).flat_map(|index| cluster.beat(index)).collect();
    let [Command::Transfer(transfers)] = commands.as_slice() else { panic!("{commands:?}") };
    assert_eq!(transfers[0].targets[0].node.id.host, "dn2");
    cluster.received(2, block);
    assert_eq!(cluster.left_service(), ["10.0.0.0:9866"]);
    assert_eq!(cluster.blocks.lookup().replica_counts(block.id).decommissioned, 1);
    cluster.blocks.datanode_admin().apply_hosts(exclude("nobody"));
    cluster.pass(3_000);
    let commands: Vec<Command> = (0..3).flat_map(|index| cluster.beat(index)).collect();
    assert!(matches!(commands.as_slice(), [Command::Invalidate(_)]), "{commands:?}");
}

/// A NameNode that just started knows of no replica on it: that is no reason to let it go.
#[test]
fn a_datanode_that_has_not_reported_is_not_done_with() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let block = cluster.written(1, 1, &[]);
    cluster.blocks.datanode_admin().apply_hosts(exclude("dn0"));
    assert!(cluster.left_service().is_empty());
    cluster.full_report(0, vec![finalized(block)]);
    assert!(cluster.left_service().is_empty(), "it has the only replica");
    cluster.received(1, block);
    assert_eq!(cluster.left_service(), ["10.0.0.0:9866"]);
}

#[test]
fn a_dead_datanode_is_done_with_when_no_block_lacks_replicas() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    let block = cluster.written(1, 2, &[0, 1]);
    cluster.full_report(0, vec![finalized(block)]);
    cluster.blocks.datanode_admin().apply_hosts(exclude("dn0"));
    cluster.blocks.datanode_manager().remove("uuid-0");
    assert!(cluster.left_service().is_empty(), "its block has one replica now");
    cluster.received(2, block);
    assert_eq!(cluster.left_service(), ["10.0.0.0:9866"]);
}

#[test]
fn a_dead_datanode_that_is_excluded_is_done_with_at_once() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    cluster.blocks.datanode_manager().remove("uuid-0");
    cluster.blocks.datanode_admin().apply_hosts(exclude("dn0"));
    assert_eq!(state(&cluster, 0), AdminState::Decommissioned);
}

#[test]
fn a_datanode_that_comes_back_with_what_others_lack_has_to_wait_again() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    let block = cluster.written(1, 1, &[0]);
    cluster.blocks.datanode_manager().remove("uuid-0");
    cluster.blocks.datanode_admin().apply_hosts(exclude("dn0"));
    cluster.join(0, "/a");
    cluster.full_report(0, vec![finalized(block)]);
    assert_eq!(state(&cluster, 0), AdminState::DecommissionInProgress);
    cluster.pass(3_000);
    assert!(matches!(cluster.beat(0).as_slice(), [Command::Transfer(_)]));
}

/// All blocks of each DataNode that leaves were counted twice a second under the namespace's lock.
#[test]
fn blocks_of_a_leaving_datanode_are_looked_at_in_slices() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    let blocks: Vec<Block> = (0..4500).map(|id| cluster.written(id, 2, &[0, 1])).collect();
    cluster.full_report(0, blocks.iter().copied().map(finalized).collect());
    cluster.blocks.datanode_admin().apply_hosts(exclude("dn0"));
    blocks.iter().for_each(|block| cluster.received(2, *block));
    while cluster.blocks.continue_walks() {}
    let mut slices = 1;
    let counts = cluster.counts_of(|cluster| cluster.blocks.datanode_admin().check_leaving());
    assert!(counts <= SLICE, "{counts}");
    loop {
        let mut has_more = false;
        let counts = cluster.counts_of(|cluster| has_more = cluster.blocks.continue_walks());
        // Once it has left, its blocks are queued anew where they need it.
        assert!(counts <= 4 * SLICE, "{counts}");
        slices += 1;
        if !cluster.blocks.take_admin_changes().is_empty() {
            break;
        }
        assert!(has_more);
    }
    assert_eq!(slices, 5);
    assert_eq!(state(&cluster, 0), AdminState::Decommissioned);
}

#[test]
fn a_scan_waits_at_the_first_block_that_needs_the_datanode() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    let blocks: Vec<Block> = (0..3000).map(|id| cluster.written(id, 1, &[0])).collect();
    cluster.full_report(0, blocks.iter().copied().map(finalized).collect());
    cluster.blocks.datanode_admin().apply_hosts(exclude("dn0"));
    while cluster.blocks.continue_walks() {}
    for _ in 0..3 {
        let counts = cluster.counts_of(|cluster| cluster.blocks.datanode_admin().check_leaving());
        assert_eq!(counts, 1, "one block is enough to know that it has to wait");
    }
    blocks.iter().for_each(|block| cluster.received(1, *block));
    assert_eq!(cluster.left_service(), ["10.0.0.0:9866"]);
}

/// A pipeline whose only DataNode is on its way out is as good as any: the file must not wait for a copy.
#[test]
fn replicas_on_a_leaving_datanode_complete_a_block() {
    let mut cluster = Cluster::new(&["/a"; 2]);
    for (id, report_first) in [(1, true), (2, false)] {
        let written = block(id, 10);
        cluster.blocks.put_under_construction(block(id, 0), FILE, 1);
        cluster.blocks.datanode_admin().apply_hosts(exclude("dn0"));
        if report_first {
            cluster.received(0, written);
        }
        assert_eq!(cluster.blocks.commit(written).unwrap(), report_first);
        cluster.received(0, written);
        assert!(cluster.blocks.is_complete(written.id));
        assert!(
            !cluster.blocks.lookup().has_min_replication(written.id),
            "it does not count as live"
        );
    }
    cluster.pass(3_000);
    let commands = cluster.beat(0);
    assert!(matches!(&commands[..], [Command::Transfer(copies)] if copies.len() == 2));
}
