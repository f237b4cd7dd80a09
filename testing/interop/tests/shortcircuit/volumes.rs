//! Disks of a DataNode are taken away under local readers: their slots are taken back, the NameNode
//! hears of it and has the lost replicas made again, the DataNode goes on with what it has, and ends
//! when that is not enough.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use zerohop_client::blocking::FileSystem;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{
    self, Explain, SETTLE, SmallDisks, check, check_rest, client, over, shape,
};
use zerohop_interop::process::{Process, tail};
use zerohop_interop::socket_directory::SocketDirectory;
use zerohop_interop::{Kind, Outcome, site, wait};

use crate::java::{COPIED, LEN, read, read_local, slots};

/// Blocks on the DataNode at `address`, and on all.
fn located(fs: &FileSystem, address: &str) -> Outcome<(usize, usize)> {
    let mut count = (0, 0);
    for block in harm::blocks(fs, "/f")? {
        count.0 += block.nodes().filter(|node| node.transfer_addr(false) == address).count();
        count.1 += block.nodes().count();
    }
    Ok(count)
}

/// What the NameNode says of its DataNodes' failed volumes.
fn volume_failures(cluster: &Cluster) -> Outcome<Value> {
    let port = cluster.site.http_port;
    let query = "Hadoop:service=NameNode,name=FSNamesystemState";
    let page = harm::http(port, &format!("/jmx?qry={query}"))?;
    let page: Value = serde_json::from_str(&page).at("/jmx")?;
    Ok(page["beans"][0]["VolumeFailuresTotal"].clone())
}

fn taken_away(namenode: Kind) {
    let name = format!("scr-volumes-{namenode:?}").to_lowercase();
    let directory = SocketDirectory::make(&name).unwrap();
    let settings = site::settings(&[
        ("dfs.client.read.shortcircuit", "true"),
        ("dfs.domain.socket.path", &directory.setting()),
        ("dfs.replication", "1"),
        ("dfs.datanode.failed.volumes.tolerated", "1"),
    ]);
    let spec = Spec { name: &name, namenode, datanodes: Kind::Ours, count: 2, settings };
    over(Cluster::start(&spec), |cluster| {
        cluster.stop_datanode(0)?;
        cluster.stop_datanode(1)?;
        let base = cluster.directory().canonicalize().at("the directory")?.join("dn1");
        let disks = [base.join("disk0"), base.join("disk1")];
        let sized: Vec<_> = disks.iter().map(|disk| (disk.as_path(), "40m")).collect();
        let Some(small) = SmallDisks::mount(&sized, &cluster.site.log("disks"))? else {
            return Ok(());
        };
        let log = cluster.site.log("dn1");
        let command = small.zerohop(&cluster.site.datanode_conf(1), &["datanode"])?;
        let mut process = Process::daemon("DataNode 1", command, &log)?;
        run(cluster, &small, &disks, &mut process)?;
        let ended = process.finish(SETTLE)?;
        let said = fs::read_to_string(&log).unwrap_or_default();
        let why = "2 of 2 volumes in dfs.datanode.data.dir failed, \
                   dfs.datanode.failed.volumes.tolerated is 1";
        match !ended.success() && said.lines().last().is_some_and(|line| line.contains(why)) {
            true => Ok(()),
            false => Err(format!("{ended}, not {why:?}:\n{}", tail(&log, 10))),
        }
    });
}

fn run(
    cluster: &mut Cluster,
    small: &SmallDisks,
    disks: &[PathBuf; 2],
    process: &mut Process,
) -> Outcome {
    let address = cluster.datanode_address(1);
    let fs = client(&cluster.conf(), &[])?;
    // Until the NameNode knows the new directories, and has forgotten the other DataNode.
    wait::until("all blocks on the small disks", SETTLE, || {
        harm::put(&fs, "/f", 1, LEN, shape(1, 1 << 20))?;
        let found = located(&fs, &address)?;
        if found == (3, 3) { Ok(true) } else { Err(format!("{found:?}")) }
    })?;
    let mut java = cluster.client(Kind::Apache)?;
    read_local(&mut java, "/f", 1, COPIED)?;
    java.ok(&["open", "held", "/f"])?;
    java.ok(&["next", "held", "1000"])?;
    let mut ours = fs.open("/f").at("/f")?;
    ours.read_at(0, &mut [0; 1000]).at("/f")?;
    cluster.start_datanode(0)?;
    cluster.judge()?.ok(&["setrep", "/f", "2"])?;
    wait::until("two replicas of all blocks", SETTLE, || {
        let found = located(&fs, &address)?;
        if found == (3, 6) { Ok(true) } else { Err(format!("{found:?}")) }
    })?;
    let id = u64::from(java.id());
    let valid = |cluster: &Cluster| -> Outcome<usize> {
        Ok(slots(cluster)?.iter().filter(|slot| slot.0 == id && slot.2).count())
    };
    let before = valid(cluster)?;

    // As when a disk is pulled: what is open stays so, the directory is empty.
    small.shell("umount -l \"$0\"", &disks[0])?;
    wait::until("slots are taken back", SETTLE, || {
        let now = valid(cluster)?;
        if now < before && now > 0 { Ok(true) } else { Err(format!("{before}, then {now}")) }
    })?;
    check_rest(&mut ours, 1)?;
    check(&fs, "/f", 1, LEN)?;
    java.ok(&["rclose", "held"])?;
    read(&mut java, "/f", 1, COPIED)?;
    wait::until("the NameNode counts the failed volume", SETTLE, || {
        let count = volume_failures(cluster)?;
        if count == 1 { Ok(true) } else { Err(count.to_string()) }
    })?;
    // All are made again, on the disk that is left.
    wait::until("two replicas again", SETTLE, || {
        let found = located(&fs, &address)?;
        if found == (3, 6) { Ok(true) } else { Err(format!("{found:?}")) }
    })?;
    process.alive()?;
    read_local(&mut cluster.client(Kind::Apache)?, "/f", 1, COPIED)?;
    harm::put(&fs, "/g", 2, LEN, shape(2, 1 << 20))?;
    check(&fs, "/g", 2, LEN)?;

    small.shell("umount -l \"$0\"", &disks[1])?;
    wait::until("no slots are valid", SETTLE, || {
        let ended = process.ended().is_some();
        if ended { Ok(true) } else { Err("DataNode 1 runs".to_owned()) }
    })?;
    check(&fs, "/f", 1, LEN)?;
    check(&fs, "/g", 2, LEN)
}

#[test]
fn disks_are_taken_away_under_readers() {
    taken_away(Kind::Ours);
}

#[test]
fn disks_are_taken_away_under_readers_of_a_cluster_with_apache_s_namenode() {
    taken_away(Kind::Apache);
}
