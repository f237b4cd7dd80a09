//! What DataNodes look after by themselves: corrupt replicas that nobody reads, volumes that come and go,
//! and NameNodes that hear no heartbeats.

use std::fs;
use std::time::{Duration, Instant};

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{
    Explain, SETTLE, check, client, flip, http, on_disk, over, put, shape, wait_nodes, wait_same,
    zerohop,
};
use zerohop_interop::site::settings;
use zerohop_interop::{Kind, Outcome, java, ports, wait};

const TOOL: &str = "org.apache.hadoop.hdfs.tools.DFSAdmin";
const LEN: u64 = 900_000;

/// Puts a file on two of three DataNodes and turns one bit of one replica around, which nobody reads. The
/// DataNode's cursor says that all is verified: without it the scanner begins again.
fn corrupt_replica(cluster: &mut Cluster) -> Outcome {
    let fs = client(&cluster.conf(), &[])?;
    put(&fs, "/quiet", 7, LEN, shape(2, 1 << 20))?;
    wait_same(cluster, &fs, "/quiet", 2)?;
    wait_nodes(cluster, &fs, "/quiet", 2)?;
    let victim = on_disk(cluster, &fs, "/quiet")?.pop().ok_or("no replica")?;
    cluster.stop_datanode(victim.datanode)?;
    flip(&victim.data, LEN / 2)?;
    for disk in ["disk0", "disk1"] {
        let current = cluster.directory().join(format!("dn{}/{disk}/current", victim.datanode));
        for entry in fs::read_dir(&current).at("a volume")? {
            let cursor = entry.at("a volume")?.path().join("scanner.cursor");
            if cursor.exists() {
                fs::remove_file(&cursor).at("a cursor")?;
            }
        }
    }
    cluster.start_datanode(victim.datanode)?;
    let page = format!("127.0.0.1:{}", cluster.site.info_ports[victim.datanode]);
    wait::until("the corrupt replica is found", SETTLE, || {
        let words = ["dfsadmin", "-blockScannerReport", &page];
        let (code, said) = zerohop(&cluster.conf(), &words)?;
        let errors = said.lines().filter(|line| line.starts_with("Block scan errors"));
        let found = errors.filter(|line| line.trim_end().ends_with(" 1")).count();
        if (code, found) == (0, 1) { Ok(true) } else { Err(said) }
    })?;
    wait_same(cluster, &fs, "/quiet", 2)?;
    check(&fs, "/quiet", 7, LEN)?;
    let jmx = http(cluster.site.info_ports[victim.datanode], "/jmx")?;
    match jmx.contains("\"blockVerificationFailures\": 1")
        || jmx.contains("\"blockVerificationFailures\":1")
    {
        true => Ok(()),
        false => Err(format!("/jmx does not count the failure: {jmx}")),
    }
}

/// Changes a DataNode's configuration file.
fn reconfigure(cluster: &Cluster, datanode: usize, from: &str, to: &str) -> Outcome {
    let path = cluster.site.datanode_conf(datanode).join("hdfs-site.xml");
    let text = fs::read_to_string(&path).at("hdfs-site.xml")?;
    if !text.contains(from) {
        return Err(format!("{} has no {from}", path.display()));
    }
    fs::write(&path, text.replace(from, to)).at("hdfs-site.xml")
}

/// Apache's tool, and ours beside it, which says the same.
fn reconfig(cluster: &Cluster, node: &str, operation: &str) -> Outcome<String> {
    let words = ["-reconfig", "datanode", node, operation];
    let apache = java::run(TOOL, &words, &cluster.conf(), SETTLE)?.ok("dfsadmin -reconfig")?;
    let lines = |text: &str| -> Vec<String> {
        let said = text.lines().filter(|line| !line.contains("WARN") && !line.is_empty());
        said.map(str::to_owned).collect()
    };
    if operation != "start" {
        let (code, ours) = zerohop(&cluster.conf(), &[&["dfsadmin"], &words[..]].concat())?;
        if code != 0 || lines(&ours) != lines(&apache) {
            return Err(format!("Apache's tool: {apache}, ours: {code} {ours}"));
        }
    }
    Ok(apache)
}

/// One volume goes and another one comes, without a restart; what was on the first is copied again.
fn swap_volumes(cluster: &mut Cluster) -> Outcome {
    let fs = client(&cluster.conf(), &[])?;
    let node = format!("127.0.0.1:{}", cluster.site.ipc_ports[0]);
    let listed = reconfig(cluster, &node, "properties")?;
    if !listed.contains("dfs.datanode.data.dir") {
        return Err(listed);
    }
    if !reconfig(cluster, &node, "status")?.contains("no task was found.") {
        return Err("a task was found".into());
    }
    for name in 0..4 {
        put(&fs, &format!("/swap{name}"), name, 10_000, shape(3, 1 << 20))?;
    }
    reconfigure(cluster, 0, "dn0/disk1", "dn0/disk2")?;
    reconfig(cluster, &node, "start")?;
    wait::until("the task ends", SETTLE, || {
        let words = ["-reconfig", "datanode", &node, "status"];
        let (_, said) = zerohop(&cluster.conf(), &[&["dfsadmin"], &words[..]].concat())?;
        if said.contains(" and finished at ") { Ok(true) } else { Err(said) }
    })?;
    let said = reconfig(cluster, &node, "status")?;
    if !said.contains("SUCCESS: Changed property dfs.datanode.data.dir") {
        return Err(said);
    }
    let (_, volumes) = zerohop(&cluster.conf(), &["dfsadmin", "-getVolumeReport", &node])?;
    if volumes.contains("disk1") || !volumes.contains("disk2") || !volumes.contains("disk0") {
        return Err(format!("the volumes are {volumes}"));
    }
    for name in 0..4 {
        let path = format!("/swap{name}");
        wait::until(&format!("{path} has three replicas again"), SETTLE, || {
            let found = on_disk(cluster, &fs, &path)?;
            let there =
                found.iter().filter(|one| !one.data.to_string_lossy().contains("dn0/disk1/"));
            if there.count() == 3 { Ok(true) } else { Err(format!("{found:?}")) }
        })?;
        check(&fs, &path, name, 10_000)?;
    }
    Ok(())
}

/// A DataNode whose heartbeats are an hour apart, where the NameNode gives up after eleven seconds.
fn lifelines(cluster: &mut Cluster, datanode: usize) -> Outcome {
    cluster.stop_datanode(datanode)?;
    let usual = "<name>dfs.heartbeat.interval</name><value>1</value>";
    reconfigure(cluster, datanode, usual, &usual.replace("<value>1<", "<value>3600<"))?;
    cluster.start_datanode(datanode)?;
    let live = |cluster: &Cluster| -> Outcome<bool> {
        let (_, said) = zerohop(&cluster.conf(), &["dfsadmin", "-report", "-live"])?;
        Ok(said.contains(&format!("127.0.0.1:{}", cluster.site.data_ports[datanode])))
    };
    wait::until("it is registered", SETTLE, || live(cluster))?;
    // Its time is over twice.
    let watched = Instant::now();
    while watched.elapsed() < Duration::from_secs(16) {
        if !live(cluster)? {
            return Err(format!("dead after {} s", watched.elapsed().as_secs()));
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    Ok(())
}

#[test]
fn our_datanodes_look_after_themselves() {
    let lifelines_at = format!("127.0.0.1:{}", ports::free());
    let settings = settings(&[
        ("dfs.namenode.lifeline.rpc-address", &*lifelines_at),
        ("dfs.datanode.lifeline.interval.seconds", "2"),
        ("dfs.block.scanner.volume.bytes.per.second", "100000000"),
    ]);
    let spec = Spec {
        name: "upkeep-ours",
        namenode: Kind::Apache,
        datanodes: Kind::Ours,
        count: 3,
        settings,
    };
    over(Cluster::start(&spec), |cluster| {
        corrupt_replica(cluster)?;
        swap_volumes(cluster)?;
        lifelines(cluster, 1)
    });
}
