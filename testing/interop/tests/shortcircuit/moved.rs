//! Apache's mover moves replicas between directories of our DataNodes, and local readers read on: bytes
//! stay right, the slots of what moved are taken back, reads are local again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use zerohop_client::blocking::FileSystem;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{self, Explain, SETTLE, check, client, over};
use zerohop_interop::socket_directory::SocketDirectory;
use zerohop_interop::{Kind, Outcome, content, java, site, wait};

use crate::java::{COPIED, LEN, put, read_local, slots};

const FILE: &str = "/cold/f";
const SEED: u64 = 21;

fn run_mover(cluster: &Cluster) -> Outcome<String> {
    let class = "org.apache.hadoop.hdfs.server.mover.Mover";
    let limit = Duration::from_secs(300);
    java::run(class, &["-p", "/cold"], &cluster.conf(), limit)?.ok("the mover")
}

/// Whether every block of the file has exactly one replica, finalized, in this directory.
fn all_in(cluster: &Cluster, fs: &FileSystem, directory: &str) -> Outcome<bool> {
    let mut found = Vec::new();
    for block in harm::blocks(fs, FILE)? {
        let files = harm::replicas_of(cluster, block.block.block.id.0);
        found.push((
            files.len() == 1 && files[0].is_in(directory) && files[0].is_in("finalized"),
            files,
        ));
    }
    match !found.is_empty() && found.iter().all(|(is_there, _)| *is_there) {
        true => Ok(true),
        false => Err(format!("{found:?}")),
    }
}

/// Between two rounds: the mover needs the processors, too.
const REST: Duration = Duration::from_millis(20);

/// Reads again and again, by one reader and by new ones, until `over`.
fn read_on(fs: &FileSystem, over: &AtomicBool) -> Outcome<u64> {
    let reader = fs.open(FILE).at(FILE)?;
    let mut rounds = 0;
    while !over.load(Ordering::Relaxed) {
        let at = fastrand::u64(..LEN - 70_000);
        let (mut got, mut want) = (vec![0; 70_000], vec![0; 70_000]);
        reader.read_exact_at(at, &mut got).at(FILE)?;
        content::fill(SEED, at, &mut want);
        if got != want {
            return Err(format!("wrong bytes at {at} in round {rounds}"));
        }
        check(fs, FILE, SEED, LEN)?;
        rounds += 1;
        std::thread::sleep(REST);
    }
    Ok(rounds)
}

fn under_readers(cluster: &Cluster, policy_set: impl FnOnce() -> Outcome) -> Outcome {
    let fs = client(&cluster.conf(), &[])?;
    let over = AtomicBool::new(false);
    let (rounds, moved) = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..4).map(|_| scope.spawn(|| read_on(&fs, &over))).collect();
        let moved = policy_set().and_then(|()| run_mover(cluster));
        over.store(true, Ordering::Relaxed);
        let rounds: Outcome<Vec<u64>> = readers
            .into_iter()
            .map(|reader| reader.join().map_err(|_| "a reader died".to_owned())?)
            .collect();
        (rounds, moved)
    });
    let (rounds, statistics) = (rounds?, fs.read_statistics());
    moved?;
    println!("{rounds:?} rounds, {} requests for replicas", statistics.cache_misses);
    // Three blocks are asked for before the move, and again after it.
    match statistics.local_bytes() == statistics.total() && statistics.cache_misses >= 6 {
        true => Ok(()),
        false => Err(format!("{rounds:?} rounds: {statistics:?}")),
    }
}

#[test]
fn readers_read_on_under_apache_s_mover() {
    let directory = SocketDirectory::make("moved").unwrap();
    let settings = site::settings(&[
        ("dfs.client.read.shortcircuit", "true"),
        ("dfs.domain.socket.path", &directory.setting()),
        ("dfs.replication", "1"),
        ("dfs.datanode.data.dir", "[DISK]{datanode}/disk0,[ARCHIVE]{datanode}/disk1"),
    ]);
    let (name, namenode) = ("shortcircuit-moved", Kind::Apache);
    let spec = Spec { name, namenode, datanodes: Kind::Ours, count: 2, settings };
    over(Cluster::start(&spec), |cluster| {
        let mut held = cluster.client(Kind::Apache)?;
        cluster.judge()?.ok(&["mkdir", "/cold"])?;
        put(&mut held, FILE, SEED)?;
        read_local(&mut held, FILE, SEED, COPIED)?;
        held.ok(&["open", "held", FILE])?;
        held.ok(&["pread", "held", "1400000", "1000"])?;
        let fs = client(&cluster.conf(), &[])?;
        all_in(cluster, &fs, "disk0")?;

        let mut judge = cluster.client(Kind::Apache)?;
        under_readers(cluster, || judge.ok(&["setpolicy", "/cold", "COLD"]).map(drop))?;
        wait::until("all replicas in the archive", SETTLE, || all_in(cluster, &fs, "disk1"))?;
        let id = u64::from(held.id());
        if let Some(valid) = slots(cluster)?.iter().find(|slot| slot.0 == id && slot.2) {
            return Err(format!("a slot of a moved replica is valid: {valid:?}"));
        }
        // The reader that was open all the time, and a new one.
        let crc = content::crc(SEED, 1_400_000, 1000);
        held.gives(&["pread", "held", "1400000", "1000"], &["1000", &crc])?;
        held.ok(&["rclose", "held"])?;
        read_local(&mut held, FILE, SEED, COPIED)?;

        // Found there after a restart.
        cluster.restart()?;
        check(&client(&cluster.conf(), &[])?, FILE, SEED, LEN)?;
        all_in(cluster, &client(&cluster.conf(), &[])?, "disk1").map(drop)
    });
}
