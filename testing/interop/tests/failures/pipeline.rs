//! Pipelines that lose a DataNode.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use zerohop_client::blocking::FileSystem;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{
    Explain, SETTLE, blocks, check, client, nodes, over, put, shape, wait_nodes, wait_same, write,
};
use zerohop_interop::{Kind, Outcome, site, wait};

const BLOCK: u64 = 64 << 20;

fn cluster(name: &str, namenode: Kind, datanodes: Kind, count: usize) -> Outcome<Cluster> {
    let name = format!("{name}-{namenode:?}-{datanodes:?}").to_lowercase();
    let settings = Vec::new();
    Cluster::start(&Spec { name: &name, namenode, datanodes, count, settings })
}

/// The dead node comes back and must throw its stale replica away.
fn back_again(cluster: &mut Cluster, victim: usize) -> Outcome {
    cluster.start_datanode(victim)?;
    cluster.wait_serving()
}

/// After a flush the policy wants a full pipeline: a newcomer gets what was written before by
/// TRANSFER_BLOCK, and the file ends with three equal replicas on the DataNodes that lived.
fn replaced_after_flush(cluster: &mut Cluster, fs: &FileSystem, place: usize) -> Outcome {
    let (path, seed) = (format!("/flushed{place}"), 700 + place as u64);
    let mut writer = fs.create(&path, shape(3, BLOCK)).at(&path)?;
    write(&mut writer, seed, 3_000_000).at("before the kill")?;
    writer.hflush().at("the first flush")?;
    let before = nodes(cluster, fs, &path)?;
    let victim = before[place];
    cluster.kill_datanode(victim);
    write(&mut writer, seed, 2_000_000).at("after the kill")?;
    writer.hflush().at("the second flush")?;
    let now = nodes(cluster, fs, &path)?;
    if writer.current_replication() != 3 || now.len() != 3 || now.contains(&victim) {
        return Err(format!("{path}: pipeline {now:?} after the loss of {victim} of {before:?}"));
    }
    check(fs, &path, seed, 5_000_000)?;
    writer.close().at("close")?;
    let after = wait_nodes(cluster, fs, &path, 3)?;
    if after.contains(&victim) {
        return Err(format!("{path}: {after:?} has the dead node {victim}"));
    }
    check(fs, &path, seed, 5_000_000)?;
    back_again(cluster, victim)?;
    wait_same(cluster, fs, &path, 3)
}

/// Packets are under way when the node dies, and a second one follows: one of three is left, so that
/// the policy wants another even though nothing was flushed.
fn replaced_in_full_flow(cluster: &mut Cluster, fs: &FileSystem) -> Outcome {
    let (path, seed, len) = ("/flow", 710, 48 << 20);
    let mut writer = fs.create(path, shape(3, BLOCK)).at(path)?;
    write(&mut writer, seed, 1 << 20).at("the first bytes")?;
    let before = nodes(cluster, fs, path)?;
    let written = AtomicU64::new(writer.pos());
    let writing = || {
        while writer.pos() < len {
            write(&mut writer, seed, 1 << 18).at("in full flow")?;
            written.store(writer.pos(), Ordering::Release);
        }
        writer.close().at("close")
    };
    std::thread::scope(|scope| {
        let thread = scope.spawn(writing);
        for (victim, at) in [(before[1], 8 << 20), (before[0], 24 << 20)] {
            wait::until("the writer's progress", SETTLE, || {
                Ok(written.load(Ordering::Acquire) >= at || thread.is_finished())
            })?;
            cluster.kill_datanode(victim);
        }
        thread.join().map_err(|_| "the writer panicked".to_owned())?
    })?;
    check(fs, path, seed, len)?;
    for victim in &before[..2] {
        back_again(cluster, *victim)?;
    }
    wait_nodes(cluster, fs, path, 3)?;
    wait_same(cluster, fs, path, 3)?;
    check(fs, path, seed, len)
}

/// All is written and acknowledged but the end of the block: close itself meets the dead node.
fn close_recovered(cluster: &mut Cluster, fs: &FileSystem, place: usize) -> Outcome {
    let (path, seed) = (format!("/closing{place}"), 720 + place as u64);
    let mut writer = fs.create(&path, shape(3, BLOCK)).at(&path)?;
    write(&mut writer, seed, 300_000).at(&path)?;
    writer.hflush().at("flush")?;
    let victim = nodes(cluster, fs, &path)?[place];
    let stamp = blocks(fs, &path)?[0].block.block.stamp;
    cluster.kill_datanode(victim);
    writer.close().at("close")?;
    let after = blocks(fs, &path)?.swap_remove(0).block.block.stamp;
    if after == stamp {
        return Err(format!("{path}: closed without a recovery, stamp {stamp:?}"));
    }
    check(fs, &path, seed, 300_000)?;
    back_again(cluster, victim)?;
    wait_nodes(cluster, fs, &path, 3)?;
    wait_same(cluster, fs, &path, 3)
}

/// The first node to be tried is dead already: another one is allocated, none of its data is lost.
fn dead_at_setup(cluster: &mut Cluster, fs: &FileSystem) -> Outcome {
    cluster.kill_datanode(0);
    for round in 0..4 {
        let path = format!("/setup{round}");
        put(fs, &path, 730, 200_000, shape(3, BLOCK))?;
        check(fs, &path, 730, 200_000)?;
        if nodes(cluster, fs, &path)?.contains(&0) {
            return Err(format!("{path} on a dead node"));
        }
    }
    back_again(cluster, 0)
}

/// With data flushed and no DataNode left to replace the dead one, the policy fails the writer, and
/// the error names the policy; told to make do with fewer, it goes on.
fn none_left(cluster: &mut Cluster) -> Outcome {
    let best = "dfs.client.block.write.replace-datanode-on-failure.best-effort";
    cluster.kill_datanode(3);
    let mut victims = vec![0, 1];
    for (effort, fails) in [("false", true), ("true", false)] {
        let fs = client(&cluster.conf(), &[(best, effort)])?;
        let path = format!("/none-left-{effort}");
        let mut writer = fs.create(&path, shape(3, BLOCK)).at(&path)?;
        write(&mut writer, 750, 100_000).and_then(|()| writer.hflush()).at(&path)?;
        let victim = victims.pop().ok_or("no victim")?;
        cluster.kill_datanode(victim);
        let rest = write(&mut writer, 750, 100_000).and_then(|()| writer.hflush());
        match rest.and_then(|()| writer.close()) {
            Ok(()) if !fails => check(&fs, &path, 750, 200_000)?,
            Err(e) if fails && e.to_string().contains("Failed to replace a bad datanode") => {}
            other => return Err(format!("best effort {effort}: {other:?}")),
        }
        back_again(cluster, victim)?;
    }
    back_again(cluster, 3)
}

fn all(namenode: Kind, datanodes: Kind) {
    over(cluster("pipeline", namenode, datanodes, 4), |cluster| {
        let fs = client(&cluster.conf(), &[])?;
        for place in [0, 2] {
            replaced_after_flush(cluster, &fs, place)?;
        }
        replaced_in_full_flow(cluster, &fs)?;
        for place in [0, 1, 2] {
            close_recovered(cluster, &fs, place)?;
        }
        dead_at_setup(cluster, &fs)?;
        none_left(cluster)
    });
}

#[test]
fn our_datanodes_are_replaced() {
    all(Kind::Ours, Kind::Ours);
}

#[test]
fn apache_datanodes_are_replaced() {
    all(Kind::Ours, Kind::Apache);
}

#[test]
fn datanodes_are_replaced_on_apache_s_servers() {
    all(Kind::Apache, Kind::Apache);
}

/// A writer that is idle for several time-outs of the DataNodes goes on in the same pipeline: no new
/// generation stamp was needed.
fn idle(namenode: Kind, datanodes: Kind) {
    let settings = site::settings(&[("dfs.client.socket-timeout", "6000")]);
    let name = format!("idle-{namenode:?}-{datanodes:?}").to_lowercase();
    let spec = Spec { name: &name, namenode, datanodes, count: 2, settings };
    over(Cluster::start(&spec), |cluster| {
        let fs = client(&cluster.conf(), &[])?;
        let mut writer = fs.create("/idle", shape(2, BLOCK)).at("create")?;
        write(&mut writer, 740, 100_000).at("write")?;
        writer.hflush().at("flush")?;
        let stamp = blocks(&fs, "/idle")?[0].block.block.stamp;
        let until = Instant::now() + Duration::from_secs(24);
        wait::until("four time-outs", SETTLE, || Ok(Instant::now() > until))?;
        write(&mut writer, 740, 100_000).at("write after the pause")?;
        writer.close().at("close")?;
        check(&fs, "/idle", 740, 200_000)?;
        let after = blocks(&fs, "/idle")?[0].block.block.stamp;
        match after == stamp {
            true => Ok(()),
            false => Err(format!("a recovery was needed: {stamp:?}, then {after:?}")),
        }
    });
}

#[test]
fn an_idle_writer_keeps_our_pipeline() {
    idle(Kind::Ours, Kind::Ours);
}

#[test]
fn an_idle_writer_keeps_apache_pipeline() {
    idle(Kind::Ours, Kind::Apache);
}

#[test]
fn an_idle_writer_keeps_its_pipeline_on_apache_s_servers() {
    idle(Kind::Apache, Kind::Apache);
}
