//! DataNodes that are killed under readers, and that stand still under readers and writers: our client on servers of both kinds.

use std::sync::atomic::{AtomicBool, Ordering};

use zerohop_client::blocking::FileSystem;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{
    Explain, Frozen, check, client, nodes, over, put, shape, wait_nodes, wait_same, write,
};
use zerohop_interop::{Kind, Outcome, site};

const BLOCK: u64 = 1 << 20;
const LEN: u64 = 3_500_000;
const READERS: usize = 4;

fn cluster(name: &str, servers: Kind, count: usize) -> Outcome<Cluster> {
    let name = format!("{name}-{servers:?}").to_lowercase();
    // A DataNode that says nothing for so long has failed, for clients and for the DataNode before it.
    let settings = site::settings(&[("dfs.client.socket-timeout", "4000")]);
    Cluster::start(&Spec { name: &name, namenode: servers, datanodes: servers, count, settings })
}

/// Every read gives the bytes, whichever DataNode goes and comes in the meantime.
fn killed_under_readers(cluster: &mut Cluster) -> Outcome {
    let fs = client(&cluster.conf(), &[])?;
    put(&fs, "/read", 790, LEN, shape(2, BLOCK))?;
    let (over, conf) = (AtomicBool::new(false), cluster.conf());
    let read = || -> Outcome<u32> {
        let fs = client(&conf, &[])?;
        let mut rounds = 0;
        while !over.load(Ordering::Relaxed) {
            check(&fs, "/read", 790, LEN)?;
            rounds += 1;
            std::thread::yield_now();
        }
        Ok(rounds)
    };
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS).map(|_| scope.spawn(read)).collect();
        let killed = (0..4).try_for_each(|round| {
            cluster.kill_datanode(round % 2);
            cluster.start_datanode(round % 2)?;
            cluster.wait_serving()
        });
        over.store(true, Ordering::Relaxed);
        let rounds = readers
            .into_iter()
            .map(|reader| reader.join().map_err(|_| "a reader died".to_owned())?);
        let rounds = rounds.collect::<Outcome<Vec<u32>>>()?;
        killed?;
        match rounds.iter().all(|count| *count > 0) {
            true => Ok(()),
            false => Err("a reader read nothing".to_owned()),
        }
    })
}

fn killed(servers: Kind) {
    over(cluster("killed-under-readers", servers, 2), killed_under_readers);
}

#[test]
fn reads_outlive_kills_of_our_datanodes() {
    killed(Kind::Ours);
}

#[test]
fn reads_outlive_kills_of_apache_s_datanodes() {
    killed(Kind::Apache);
}

/// The DataNode at `place` of a pipeline stands still: it keeps its connections, and acknowledges and answers nothing.
fn stands_still(cluster: &mut Cluster, fs: &FileSystem, place: usize) -> Outcome {
    let (path, seed) = (format!("/still{place}"), 791 + place as u64);
    let mut writer = fs.create(&path, shape(3, 8 * BLOCK)).at(&path)?;
    write(&mut writer, seed, LEN).and_then(|()| writer.hflush()).at("before")?;
    let victim = nodes(cluster, fs, &path)?[place];
    let process = cluster.datanode_process(victim).ok_or("no such DataNode")?;
    let frozen = Frozen::new(process)?;
    write(&mut writer, seed, LEN)
        .and_then(|()| writer.hflush())
        .at("on a DataNode that is still")?;
    let now = nodes(cluster, fs, &path)?;
    if now.contains(&victim) || now.len() != 3 {
        return Err(format!("{path}: pipeline {now:?} with the DataNode {victim} that is still"));
    }
    writer.close().at("close")?;
    check(fs, &path, seed, 2 * LEN)?;
    drop(frozen);
    cluster.wait_serving()?;
    wait_nodes(cluster, fs, &path, 3)?;
    wait_same(cluster, fs, &path, 3)
}

fn frozen(servers: Kind) {
    over(cluster("frozen", servers, 4), |cluster| {
        let fs = client(&cluster.conf(), &[])?;
        [0, 2].into_iter().try_for_each(|place| stands_still(cluster, &fs, place))
    });
}

#[test]
fn our_datanodes_that_stand_still_are_replaced() {
    frozen(Kind::Ours);
}

#[test]
fn apache_s_datanodes_that_stand_still_are_replaced() {
    frozen(Kind::Apache);
}
