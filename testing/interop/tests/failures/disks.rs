//! DataNodes whose disks are full, whose directories are taken or foreign, and which die with replicas
//! open.

use std::fs as disk;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{
    Explain, SETTLE, SmallDisks, check, client, nodes, on_disk, over, put, shape, wait_same, write,
    zerohop,
};
use zerohop_interop::process::{Process, tail};
use zerohop_interop::{Kind, Outcome, site, tools, wait};

const BLOCK: u64 = 8 << 20;

fn cluster(name: &str, count: usize) -> Outcome<Cluster> {
    cluster_of(name, Kind::Ours, count)
}

fn cluster_of(name: &str, servers: Kind, count: usize) -> Outcome<Cluster> {
    // Apache's DataNodes want a GiB more than a block.
    let additional = "dfs.datanode.round-robin-volume-choosing-policy.additional-available-space";
    let settings = site::settings(&[(additional, "0")]);
    Cluster::start(&Spec { name, namenode: servers, datanodes: servers, count, settings })
}

fn volumes(cluster: &Cluster, i: usize) -> Vec<PathBuf> {
    let directory = cluster.directory().canonicalize().unwrap_or_default().join(format!("dn{i}"));
    vec![directory.join("disk0"), directory.join("disk1")]
}

/// Fills both volumes to the last byte; gives the files that do it.
fn fill(disks: &SmallDisks, volumes: &[PathBuf]) -> Outcome<Vec<PathBuf>> {
    let fillers: Vec<PathBuf> = volumes.iter().map(|v| v.join("filler")).collect();
    for filler in &fillers {
        disks.shell("dd if=/dev/zero of=\"$0\" bs=4k 2>/dev/null || true", filler)?;
    }
    Ok(fillers)
}

/// A DataNode whose disks become full in the middle of a block drops out of the pipeline; alone it
/// fails the writer with a clear error. It lives on, and takes blocks again when there is room.
fn full_disk(servers: Kind) {
    let name = format!("full-disk-{servers:?}").to_lowercase();
    over(cluster_of(&name, servers, 3), |cluster| {
        let volumes = volumes(cluster, 1);
        cluster.stop_datanode(1)?;
        let sized: Vec<_> = volumes.iter().map(|v| (v.as_path(), "20m")).collect();
        let Some(disks) = SmallDisks::mount(&sized, &cluster.site.log("disks"))? else {
            return Ok(());
        };
        cluster.start_datanode_as(1, |command| Ok(disks.inside(&command)))?;
        let fs = client(&cluster.conf(), &[])?;
        wait::until("three DataNodes", SETTLE, || {
            put(&fs, "/three", 1, 1000, shape(3, BLOCK))?;
            Ok(nodes(cluster, &fs, "/three")?.len() == 3)
        })?;
        let mut writer = fs.create("/full", shape(3, BLOCK)).at("create")?;
        // Not flushed: with three DataNodes in all, the policy would ask for a fourth.
        write(&mut writer, 2, 1 << 20).at("before")?;
        let fillers = fill(&disks, &volumes)?;
        write(&mut writer, 2, 6 << 20).and_then(|()| writer.close()).at("on a full disk")?;
        check(&fs, "/full", 2, 7 << 20)?;
        cluster.check_alive()?;
        for filler in &fillers {
            disk::remove_file(disks.path(filler)).at("making room")?;
        }
        for i in [0, 2] {
            cluster.stop_datanode(i)?;
        }
        wait::until("the NameNode knows of the room", SETTLE, || {
            Ok(put(&fs, "/room", 4, 1000, shape(1, BLOCK)).is_ok())
        })?;
        // A new file may go to a node that is gone already, until the NameNode knows.
        let mut writer = fs.create("/alone", shape(1, BLOCK)).at("create")?;
        write(&mut writer, 3, 1 << 20).and_then(|()| writer.hflush()).at("alone")?;
        fill(&disks, &volumes)?;
        match write(&mut writer, 3, 6 << 20).and_then(|()| writer.close()) {
            Ok(()) => return Err("it was written to a full disk".to_owned()),
            Err(e) if e.to_string().contains("are bad. Aborting") => {}
            Err(e) => return Err(format!("not a clear error: {e}")),
        }
        let log = cluster.site.log("dn1");
        if !disk::read_to_string(&log).unwrap_or_default().contains("No space left") {
            return Err(format!("the log does not say why\n{}", tail(&log, 20)));
        }
        cluster.check_alive()?;
        for filler in &fillers {
            disk::remove_file(disks.path(filler)).at("making room")?;
        }
        // What was flushed before is there, and so is its last block's end when the lease is recovered.
        wait::until("/alone is recovered", SETTLE, || {
            fs.recover_lease("/alone").map_err(|e| e.to_string())
        })?;
        let len = fs.status("/alone").at("the length")?.len;
        if len < 1 << 20 {
            return Err(format!("{len} bytes are left of 1 MiB that was flushed"));
        }
        check(&fs, "/alone", 3, len)?;
        let mut last = String::new();
        wait::until("it takes blocks again", SETTLE, || {
            let put = put(&fs, "/again", 4, 1 << 20, shape(1, BLOCK));
            last = put.clone().err().unwrap_or_default();
            Ok(put.is_ok())
        })
        .map_err(|e| format!("{e}: {last}"))?;
        check(&fs, "/again", 4, 1 << 20)
    });
}

#[test]
fn a_full_disk_in_the_middle_of_a_block() {
    full_disk(Kind::Ours);
}

#[test]
fn a_full_disk_in_the_middle_of_a_block_on_apache_s_servers() {
    full_disk(Kind::Apache);
}

/// A user whose file finds no room is told so: Hadoop's sentence, then how much there is and a block
/// size that fits, which works. The NameNode's log names the DataNode and its reason.
#[test]
fn put_says_how_much_room_there_is() {
    over(cluster("no-room", 1), |cluster| {
        let volumes = volumes(cluster, 0);
        cluster.stop_datanode(0)?;
        let sized: Vec<_> = volumes.iter().map(|v| (v.as_path(), "20m")).collect();
        let Some(disks) = SmallDisks::mount(&sized, &cluster.site.log("disks"))? else {
            return Ok(());
        };
        let command = disks.zerohop(&cluster.site.datanode_conf(0), &["datanode"])?;
        let mut small = Process::daemon("DataNode 0", command, &cluster.site.log("dn0"))?;
        let fs = client(&cluster.conf(), &[])?;
        wait::until("small volumes", SETTLE, || {
            let stats = fs.fs_stats().at("the sizes")?;
            Ok(stats.capacity == 40 << 20 && stats.remaining > 32 << 20)
        })?;
        let local = cluster.directory().join("local");
        disk::write(&local, vec![7; 1 << 20]).at("a local file")?;
        let local = local.display().to_string();
        let put = |size: &str| {
            let size = format!("dfs.blocksize={size}");
            let words = ["fs", "-D", &size, "-D", "dfs.replication=1", "-put", "-f", &local, "/f"];
            zerohop(&cluster.conf(), &words)
        };
        let (code, text) = put("134217728")?;
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("put: ")).collect();
        let [first, second] = lines[..] else { return Err(format!("{code}: {text}")) };
        let apache = "could only be written to 0 of the 1 minReplication nodes. There are 1 datanode(s) running and no \
                      node(s) are excluded in this operation.";
        if code != 1 || !first.ends_with(apache) {
            return Err(format!("{code}: {text}"));
        }
        let hint =
            second.split_once("-D dfs.blocksize=").and_then(|(_, rest)| rest.split(')').next());
        let said = second.starts_with("put: no DataNode has room for a block of 128 MB")
            && second.contains(" on 1 DataNode(s)");
        if !said || hint != Some("16777216") {
            return Err(format!("no word of room: {text}"));
        }
        let log = disk::read_to_string(cluster.site.log("nn")).unwrap_or_default();
        let reason = format!("{} (not enough storage space: ", cluster.datanode_address(0));
        if !log.contains(&reason) {
            return Err(format!("the NameNode's log has no `{reason}'"));
        }
        small.alive()?;
        match put("16777216")? {
            (0, _) => Ok(()),
            (code, text) => Err(format!("the hint does not work: {code}: {text}")),
        }
    });
}

/// All DataNodes and the writer die with replicas open; what was flushed is there after the lease was
/// recovered, on every DataNode.
fn killed_with_open_replicas(namenode: Kind, datanodes: Kind) {
    let name = format!("open-replicas-{namenode:?}-{datanodes:?}").to_lowercase();
    let spec = Spec { name: &name, namenode, datanodes, count: 3, settings: Vec::new() };
    over(Cluster::start(&spec), |cluster| {
        let mut writer = cluster.client(Kind::Ours)?;
        let block = BLOCK.to_string();
        writer.ok(&["create", "w", "/open", "3", &block, "true"])?;
        writer.ok(&["write", "w", "3000000", "5"])?;
        writer.ok(&["hflush", "w"])?;
        writer.kill();
        for i in 0..3 {
            cluster.kill_datanode(i);
        }
        for i in 0..3 {
            cluster.start_datanode(i)?;
        }
        cluster.wait_serving()?;
        let fs = client(&cluster.conf(), &[])?;
        wait::until("/open is recovered", SETTLE, || {
            fs.recover_lease("/open").map_err(|e| e.to_string())
        })?;
        check(&fs, "/open", 5, 3_000_000)?;
        wait_same(cluster, &fs, "/open", 3)?;
        let found = on_disk(cluster, &fs, "/open")?;
        match found.iter().all(|replica| replica.is_in("finalized")) {
            true => Ok(()),
            false => Err(format!("{found:?}")),
        }
    });
}

#[test]
fn our_datanodes_killed_with_open_replicas() {
    killed_with_open_replicas(Kind::Ours, Kind::Ours);
}

#[test]
fn apache_datanodes_killed_with_open_replicas() {
    killed_with_open_replicas(Kind::Ours, Kind::Apache);
}

#[test]
fn datanodes_of_apache_s_servers_killed_with_open_replicas() {
    killed_with_open_replicas(Kind::Apache, Kind::Apache);
}

/// A start that must fail with one line that has these words in it.
fn refused(cluster: &Cluster, i: usize, words: &[&str]) -> Outcome {
    let log = cluster.site.log("refused");
    let _ = disk::remove_file(&log);
    let mut command = Command::new(tools::zerohop()?);
    command.arg("--config").arg(cluster.site.datanode_conf(i)).arg("datanode");
    // The ports of the one that runs are no matter here.
    command.args(["-D", "dfs.datanode.address=127.0.0.1:0"]);
    command.args(["-D", "dfs.datanode.ipc.address=127.0.0.1:0"]);
    command.args(["-D", "dfs.datanode.http.address=127.0.0.1:0"]);
    let status = Process::daemon("DataNode", command, &log)?.finish(Duration::from_secs(30))?;
    let text = disk::read_to_string(&log).unwrap_or_default();
    let says = text.lines().any(|line| words.iter().all(|word| line.contains(word)));
    match says && !status.success() {
        true => Ok(()),
        false => Err(format!("{status}, no line with {words:?}:\n{text}")),
    }
}

#[test]
fn directories_that_are_taken_or_foreign() {
    over(cluster("foreign", 1), |cluster| {
        refused(cluster, 0, &["disk0", "lock"])?;
        cluster.stop_datanode(0)?;
        let version = volumes(cluster, 0)[0].join("current/VERSION");
        let text = disk::read_to_string(&version).at("VERSION")?;
        let foreign = text.replace("clusterID=CID-", "clusterID=CID-foreign-");
        disk::write(&version, &foreign).at("VERSION")?;
        refused(cluster, 0, &["disk0", "CID-foreign-"])?;
        disk::write(&version, &text).at("VERSION")?;
        cluster.start_datanode(0)?;
        cluster.wait_serving()
    });
}
