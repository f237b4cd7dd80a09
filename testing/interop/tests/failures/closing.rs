//! What `close()` does about DataNodes that are gone and about quotas that are used up: clients of both kinds on servers of
//! both kinds.

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{SETTLE, blocks, check, client, nodes, on_disk, over};
use zerohop_interop::{Kind, Outcome, wait};

const BLOCK: &str = "1048576";
const MIB: u64 = 1 << 20;

fn cluster(name: &str, servers: Kind, count: usize) -> Outcome<Cluster> {
    let name = format!("{name}-{servers:?}").to_lowercase();
    let settings = Vec::new();
    Cluster::start(&Spec { name: &name, namenode: servers, datanodes: servers, count, settings })
}

/// Everything is acknowledged when two of three DataNodes die. The file was closed with the replica that was left, and was
/// gone if its DataNode died before the NameNode had it copied.
fn loses_two(cluster: &mut Cluster, kind: Kind) -> Outcome {
    let (path, seed) = (format!("/two-{kind:?}").to_lowercase(), 780);
    let fs = client(&cluster.conf(), &[])?;
    let mut writer = cluster.client(kind)?;
    writer.ok(&["create", "w", &path, "3", "8388608", "true"])?;
    writer.ok(&["write", "w", "300000", &seed.to_string()])?;
    writer.ok(&["hflush", "w"])?;
    let victims = nodes(cluster, &fs, &path)?[..2].to_vec();
    for victim in &victims {
        cluster.kill_datanode(*victim);
    }
    writer.ok(&["close", "w"])?;
    // On disk at once; DataNodes of Apache's report them a little later.
    let replicas = on_disk(cluster, &fs, &path)?;
    let closed = replicas.iter().filter(|replica| replica.is_in("finalized"));
    let after: Vec<usize> = closed.map(|replica| replica.datanode).collect();
    if after.len() != 3 || victims.iter().any(|victim| after.contains(victim)) {
        return Err(format!("{path}: closed on {after:?} after the loss of {victims:?}"));
    }
    check(&fs, &path, seed, 300_000)?;
    for victim in victims {
        cluster.start_datanode(victim)?;
    }
    cluster.wait_serving()
}

/// The flush was in a block before: it counts for the file, as Apache's client sees it.
fn loses_one_in_a_later_block(cluster: &mut Cluster, kind: Kind) -> Outcome {
    let (path, seed) = (format!("/later-{kind:?}").to_lowercase(), 781);
    let fs = client(&cluster.conf(), &[])?;
    let mut writer = cluster.client(kind)?;
    writer.ok(&["create", "w", &path, "3", &(4 * MIB).to_string(), "true"])?;
    writer.ok(&["write", "w", "1000", &seed.to_string()])?;
    writer.ok(&["hflush", "w"])?;
    // More than the packets that are being filled, so that some are sent.
    writer.ok(&["write", "w", &(6 * MIB).to_string(), &seed.to_string()])?;
    let last = || {
        let blocks = blocks(&fs, &path)?;
        let second = blocks.get(1).into_iter().flat_map(|block| block.nodes());
        Ok::<_, String>(second.map(|node| node.transfer_addr(false)).collect::<Vec<_>>())
    };
    // Hadoop's client sends in the background.
    let mut before = Vec::new();
    wait::until(&format!("{path} has a second block"), SETTLE, || {
        before = last()?;
        Ok(before.len() == 3)
    })?;
    let victim = before.swap_remove(1);
    let number = cluster.datanode_at(&victim)?;
    cluster.kill_datanode(number);
    writer.ok(&["write", "w", "100", &seed.to_string()])?;
    writer.ok(&["hflush", "w"])?;
    let now = last()?;
    if now.len() != 3 || now.contains(&victim) {
        return Err(format!("{path}: pipeline {now:?} after the loss of {victim}"));
    }
    writer.ok(&["close", "w"])?;
    check(&fs, &path, seed, 6 * MIB + 1100)?;
    cluster.start_datanode(number)?;
    cluster.wait_serving()
}

fn lost_datanodes(servers: Kind) {
    over(cluster("closing", servers, 5), |cluster| {
        for kind in [Kind::Apache, Kind::Ours] {
            loses_two(cluster, kind)?;
            loses_one_in_a_later_block(cluster, kind)?;
        }
        Ok(())
    });
}

#[test]
fn close_replaces_our_datanodes_that_were_lost() {
    lost_datanodes(Kind::Ours);
}

#[test]
fn close_replaces_apache_s_datanodes_that_were_lost() {
    lost_datanodes(Kind::Apache);
}

/// The third block is refused for lack of space quota. `close()` says so, and completes the file with what it has: it was
/// left open, and its lease kept alive by the client's other files.
fn beyond_quota(cluster: &mut Cluster, kind: Kind) -> Outcome {
    let directory = format!("/quota-{kind:?}").to_lowercase();
    let path = format!("{directory}/f");
    cluster.judge()?.ok(&["mkdir", &directory])?;
    cluster.judge()?.ok(&["setquota", &directory, "-1", &(5 * MIB / 2).to_string()])?;
    let mut writer = cluster.client(kind)?;
    writer.ok(&["create", "w", &path, "1", BLOCK, "true"])?;
    let refused = "DSQuotaExceededException";
    let written = writer.ask("", &["write", "w", &(4 * MIB).to_string(), "782"])?;
    let flushed = writer.ask("", &["hflush", "w"])?;
    match (written, flushed) {
        (Err(fault), _) | (Ok(_), Err(fault)) if fault.class == refused => {}
        other => return Err(format!("{kind:?}: beyond the quota: {other:?}")),
    }
    writer.fails("", &["close", "w"], refused)?;
    cluster.judge()?.gives(&["isclosed", &path], &["true"])?;
    let fs = client(&cluster.conf(), &[])?;
    check(&fs, &path, 782, 2 * MIB)
}

fn quota(servers: Kind) {
    over(cluster("closing-quota", servers, 1), |cluster| {
        beyond_quota(cluster, Kind::Apache)?;
        beyond_quota(cluster, Kind::Ours)
    });
}

#[test]
fn close_completes_a_file_beyond_the_quota_of_our_namenode() {
    quota(Kind::Ours);
}

#[test]
fn close_completes_a_file_beyond_the_quota_of_apache_s_namenode() {
    quota(Kind::Apache);
}
