//! Replicas that rot.

use std::fs as disk;

use zerohop_client::ErrorKind;
use zerohop_client::blocking::FileSystem;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{
    Explain, SETTLE, check, client, flip, nodes, on_disk, over, put, shape, wait_nodes, wait_same,
    zerohop,
};
use zerohop_interop::{Kind, Outcome, java, wait};

const BLOCK: u64 = 4 << 20;
const LEN: u64 = 3_000_000;
/// How a replica is hurt.
const HARMS: [&str; 3] = ["data", "checksum", "no-meta"];

fn harm(cluster: &Cluster, fs: &FileSystem, path: &str, how: &str) -> Outcome<usize> {
    // One that readers are sent to: a copy that the NameNode is about to drop would prove nothing.
    let holders = nodes(cluster, fs, path)?;
    let found = on_disk(cluster, fs, path)?;
    let replica = found.into_iter().find(|replica| holders.contains(&replica.datanode));
    let replica = replica.ok_or("no replica to harm")?;
    match how {
        "data" => flip(&replica.data, LEN / 2)?,
        "short" => {
            let data = disk::File::options().write(true).open(&replica.data).at("a block file")?;
            data.set_len(LEN - 100_000).at("cutting a block file")?;
        }
        "checksum" => flip(&replica.meta, 7 + 4 * (LEN / 1024) + 1)?,
        _ => disk::remove_file(&replica.meta).at("removing a meta file")?,
    }
    Ok(replica.datanode)
}

fn fsck(cluster: &Cluster, path: &str) -> Outcome<String> {
    Ok(zerohop(&cluster.conf(), &["fsck", path, "-files", "-blocks", "-locations"])?.1)
}

/// Readers get the right bytes from elsewhere until the NameNode knows; it names two live replicas
/// while there is no DataNode for a third, and heals the file when there is one.
fn one_replica(cluster: &mut Cluster, fs: &FileSystem, how: &str, apache_reads: bool) -> Outcome {
    let path = format!("/rot-{how}-{apache_reads}");
    put(fs, &path, 800, LEN, shape(3, BLOCK))?;
    wait_same(cluster, fs, &path, 3)?;
    wait_nodes(cluster, fs, &path, 3)?;
    let holders = nodes(cluster, fs, &path)?;
    let spare = (0..4).find(|i| !holders.contains(i)).ok_or("no spare DataNode")?;
    cluster.stop_datanode(spare)?;
    let victim = harm(cluster, fs, &path, how)?;
    let expected = "Target Replicas is 3 but found 2 live replica(s)";
    wait::until(&format!("fsck of {path} names the loss"), SETTLE, || {
        match apache_reads {
            true => {
                let crc = zerohop_interop::content::crc(800, 0, LEN);
                let len = LEN.to_string();
                cluster.judge()?.gives(&["read", &path, "0", "-1"], &[&len, &crc])?;
            }
            false => check(fs, &path, 800, LEN)?,
        }
        let report = fsck(cluster, &path)?;
        if report.contains(expected) { Ok(true) } else { Err(report) }
    })?;
    let left = nodes(cluster, fs, &path)?;
    if left.len() != 2 || left.contains(&victim) {
        return Err(format!("{path}: readers are sent to {left:?}, {victim} is bad"));
    }
    cluster.start_datanode(spare)?;
    cluster.wait_serving()?;
    wait_nodes(cluster, fs, &path, 3)?;
    wait_same(cluster, fs, &path, 3)?;
    check(fs, &path, 800, LEN)?;
    let report = fsck(cluster, &path)?;
    match report.contains("is HEALTHY") {
        true => Ok(()),
        false => Err(format!("{path} is not healthy again:\n{report}")),
    }
}

/// Apache's DataNode serves a replica without its meta file as it is, unsummed, and tells nobody.
fn unnoticed(cluster: &Cluster, fs: &FileSystem) -> Outcome {
    put(fs, "/rot-no-meta", 803, LEN, shape(1, BLOCK))?;
    wait_same(cluster, fs, "/rot-no-meta", 1)?;
    harm(cluster, fs, "/rot-no-meta", "no-meta")?;
    check(fs, "/rot-no-meta", 803, LEN)
}

/// The last replica without its meta file: ours serves it as Apache's does, and reports it.
fn last_without_meta(cluster: &Cluster, fs: &FileSystem) -> Outcome {
    unnoticed(cluster, fs)?;
    wait::until("fsck names the file", SETTLE, || {
        let report = fsck(cluster, "/rot-no-meta")?;
        if report.contains("CORRUPT") { Ok(true) } else { Err(report) }
    })?;
    check(fs, "/rot-no-meta", 803, LEN)
}

/// With all replicas bad the reader gets an error that says so, fsck calls the file corrupt, and the
/// replicas are kept: they are all there is.
fn all_replicas(cluster: &mut Cluster, fs: &FileSystem) -> Outcome {
    let path = "/rot-all";
    put(fs, path, 801, LEN, shape(2, BLOCK))?;
    wait_same(cluster, fs, path, 2)?;
    for replica in on_disk(cluster, fs, path)? {
        flip(&replica.data, 100)?;
    }
    let Err(error) = check(fs, path, 801, LEN) else { return Err("bad bytes were read".into()) };
    if !error.contains("Could not obtain block") || !error.contains(path) {
        return Err(format!("not a clear error: {error}"));
    }
    let mut reader = fs.open(path).at(path)?;
    let kind = reader.read_some(&mut [0; 1000]).map_err(|e| e.kind());
    if kind != Err(ErrorKind::Corrupt) {
        return Err(format!("{kind:?}, not Corrupt"));
    }
    // Behind the bad chunk all is well, and a reader that does not verify gets the bytes as they are.
    cluster.judge()?.ok(&["open", "r", path])?;
    cluster.judge()?.fails("", &["next", "r", "-1"], "BlockMissingException|ChecksumException")?;
    let found = on_disk(cluster, fs, path)?;
    match found.len() {
        2 => Ok(()),
        _ => Err(format!("replicas went away: {found:?}")),
    }
}

fn all(namenode: Kind, datanodes: Kind) {
    let name = format!("rot-{namenode:?}-{datanodes:?}").to_lowercase();
    let spec = Spec { name: &name, namenode, datanodes, count: 4, settings: Vec::new() };
    over(Cluster::start(&spec), |cluster| {
        let fs = client(&cluster.conf(), &[("dfs.client.retry.window.base", "100")])?;
        for how in HARMS {
            match (how, datanodes) {
                ("no-meta", Kind::Apache) => unnoticed(cluster, &fs)?,
                _ => one_replica(cluster, &fs, how, false)?,
            }
        }
        one_replica(cluster, &fs, "data", true)?;
        if datanodes == Kind::Ours {
            // Readers do not know that the file was cut: the DataNode itself must report it.
            one_replica(cluster, &fs, "short", false)?;
            last_without_meta(cluster, &fs)?;
        }
        all_replicas(cluster, &fs)
    });
}

#[test]
fn rot_on_our_datanodes() {
    all(Kind::Ours, Kind::Ours);
}

#[test]
fn rot_on_apache_datanodes() {
    all(Kind::Ours, Kind::Apache);
}

#[test]
fn rot_on_apache_s_servers() {
    all(Kind::Apache, Kind::Apache);
}

/// Apache's fsck reads our NameNode's page.
#[test]
fn apache_fsck_sees_a_missing_block() {
    let spec = Spec {
        name: "rot-fsck",
        namenode: Kind::Ours,
        datanodes: Kind::Ours,
        count: 1,
        settings: Vec::new(),
    };
    over(Cluster::start(&spec), |cluster| {
        let fs = client(&cluster.conf(), &[("dfs.client.retry.window.base", "100")])?;
        put(&fs, "/gone", 802, LEN, shape(1, BLOCK))?;
        wait_same(cluster, &fs, "/gone", 1)?;
        cluster.kill_datanode(0);
        wait::until("a missing block", SETTLE, || {
            let class = "org.apache.hadoop.hdfs.tools.DFSck";
            let found = java::run(class, &["/"], &cluster.conf(), SETTLE)?;
            let says = found.output.contains("is CORRUPT") && found.output.contains("/gone");
            if says && found.code == 1 { Ok(true) } else { Err(found.output) }
        })?;
        let Err(error) = check(&fs, "/gone", 802, LEN) else { return Err("it was read".into()) };
        match error.contains("Could not obtain block") {
            true => Ok(()),
            false => Err(format!("not a clear error: {error}")),
        }
    });
}
