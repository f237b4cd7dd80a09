//! What is open and idle while the cluster changes under it: clients of both kinds on servers of both kinds.

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::driver::Driver;
use zerohop_interop::harm::{SETTLE, check, client, nodes, over, wait_nodes};
use zerohop_interop::{Kind, Outcome, content, wait};

const BLOCK: &str = "8388608";
const PART: u64 = 700_001;
/// The pipeline loses this many DataNodes, each of which is replaced by one that it has not had.
const LOSSES: usize = 3;

fn cluster(name: &str, servers: Kind, count: usize) -> Outcome<Cluster> {
    let name = format!("{name}-{servers:?}").to_lowercase();
    let settings = Vec::new();
    Cluster::start(&Spec { name: &name, namenode: servers, datanodes: servers, count, settings })
}

fn write(writer: &mut Driver, seed: u64) -> Outcome {
    writer.ok(&["write", "w", &PART.to_string(), &seed.to_string()])?;
    writer.ok(&["hflush", "w"]).map(drop)
}

/// After a flush every DataNode of the pipeline is killed and started again, one after the other, and the writer's
/// program does nothing. A pipeline that is repaired only at the next call has lost all of its replicas by then.
fn loses_its_pipeline(cluster: &mut Cluster, kind: Kind) -> Outcome {
    let (path, seed) = (format!("/idle-{kind:?}").to_lowercase(), 760);
    let fs = client(&cluster.conf(), &[])?;
    let mut writer = cluster.client(kind)?;
    writer.ok(&["create", "w", &path, "3", BLOCK, "true"])?;
    write(&mut writer, seed)?;
    for victim in nodes(cluster, &fs, &path)? {
        cluster.kill_datanode(victim);
        wait::until(&format!("{path}: {victim} is replaced in the pipeline"), SETTLE, || {
            let now = nodes(cluster, &fs, &path)?;
            if now.len() == 3 && !now.contains(&victim) {
                Ok(true)
            } else {
                Err(format!("{now:?}"))
            }
        })?;
        cluster.start_datanode(victim)?;
        cluster.wait_serving()?;
    }
    write(&mut writer, seed)?;
    writer.ok(&["close", "w"])?;
    check(&fs, &path, seed, 2 * PART)?;
    wait_nodes(cluster, &fs, &path, 3).map(drop)
}

fn writers(servers: Kind) {
    over(cluster("idle-writers", servers, 3 + LOSSES), |cluster| {
        loses_its_pipeline(cluster, Kind::Apache)?;
        loses_its_pipeline(cluster, Kind::Ours)
    });
}

#[test]
fn idle_writers_replace_our_datanodes_one_by_one() {
    writers(Kind::Ours);
}

#[test]
fn idle_writers_replace_apache_s_datanodes_one_by_one() {
    writers(Kind::Apache);
}

/// A reader, a client and a file open for append are left alone while the servers are started again.
fn outlives_restarts(cluster: &mut Cluster, kind: Kind) -> Outcome {
    let (path, other) = (format!("/read-{kind:?}"), format!("/append-{kind:?}"));
    let mut idle = cluster.client(kind)?;
    for (path, seed) in [(&path, "770"), (&other, "771")] {
        idle.ok(&["put", path, &(2 * PART).to_string(), seed, "2", BLOCK])?;
    }
    idle.ok(&["open", "r", &path])?;
    let (part, first) = (PART.to_string(), content::crc(770, 0, PART));
    idle.gives(&["next", "r", &part], &[&part, &first])?;
    // Nothing is written yet: there is no pipeline that could be lost.
    idle.ok(&["append", "w", &other])?;
    for i in 0..2 {
        cluster.kill_datanode(i);
        cluster.start_datanode(i)?;
        cluster.wait_serving()?;
    }
    // The next call of Apache's client fails with EOFException where its connection broke within the last ten seconds.
    if kind == Kind::Ours {
        cluster.kill_namenode();
        cluster.start_namenode()?;
        cluster.wait_serving()?;
    }
    let second = content::crc(770, PART, PART);
    idle.gives(&["next", "r", &part], &[&part, &second])?;
    write(&mut idle, 771)?;
    idle.ok(&["close", "w"])?;
    let fs = client(&cluster.conf(), &[])?;
    check(&fs, &other, 771, 3 * PART)
}

fn restarts(servers: Kind) {
    over(cluster("idle-restarts", servers, 2), |cluster| {
        outlives_restarts(cluster, Kind::Apache)?;
        outlives_restarts(cluster, Kind::Ours)
    });
}

#[test]
fn idle_readers_clients_and_appends_outlive_restarts_of_our_servers() {
    restarts(Kind::Ours);
}

#[test]
fn idle_readers_clients_and_appends_outlive_restarts_of_apache_s_servers() {
    restarts(Kind::Apache);
}
