//! What an administrator asks of one DataNode.

use std::fs;
use std::path::PathBuf;

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{Explain, SETTLE, blocks, client, over, put, shape, zerohop};
use zerohop_interop::{Kind, Outcome, java, wait};

const TOOL: &str = "org.apache.hadoop.hdfs.tools.DFSAdmin";

/// Without what differs from moment to moment, and without log lines.
fn plain(text: &str) -> String {
    let moment = regex::Regex::new("Uptime: [0-9]+|(Used|Left): [0-9]+\\([^)]*\\)").expect("valid");
    let lines = text.lines().filter(|line| !line.contains("WARN") && !line.trim().is_empty());
    lines.map(|line| moment.replace_all(line, "").trim_end().to_owned() + "\n").collect()
}

/// The changed properties of `-reconfig ... status` in order: Apache's client keeps them by their identity hash codes.
fn in_order(text: &str) -> String {
    let marked = text.replace("\nSUCCESS: ", "\n\0SUCCESS: ").replace("\nFAILED: ", "\n\0FAILED: ");
    let mut parts = marked.split('\0');
    let head = parts.next().unwrap_or_default();
    let mut changes: Vec<_> = parts.collect();
    changes.sort_unstable();
    head.to_owned() + &changes.concat()
}

/// Both tools, the same words.
fn same(cluster: &Cluster, words: &[&str]) -> Outcome<String> {
    let apache = java::run(TOOL, words, &cluster.conf(), SETTLE)?;
    let (code, ours) = zerohop(&cluster.conf(), &[&["dfsadmin"], words].concat())?;
    let shown = |text: &str| in_order(&plain(text));
    let (apache, ours) = ((apache.code, shown(&apache.output)), (code, shown(&ours)));
    match apache == ours {
        true => Ok(format!("{code} {}", ours.1)),
        false => Err(format!("{words:?}: {apache:?}, but ours says {ours:?}")),
    }
}

/// A directory of a block pool that nobody serves, as another NameNode may have left it.
fn leave_pool(cluster: &Cluster, id: &str, replica: bool) -> Outcome<PathBuf> {
    let pool = cluster.directory().join("dn0/disk0/current").join(id);
    let finalized = pool.join("current/finalized/subdir0/subdir0");
    for directory in [&finalized, &pool.join("current/rbw"), &pool.join("tmp")] {
        fs::create_dir_all(directory).at("a pool's directory")?;
    }
    if replica {
        fs::write(finalized.join("blk_1073741825"), "x").at("a replica")?;
    }
    Ok(pool)
}

/// Pools that are served stay, those with replicas too unless forced; what is gone is gone.
fn delete_pools(cluster: &Cluster, node: &str) -> Outcome {
    let own = pool_id(cluster)?;
    for words in
        [vec!["-deleteBlockPool", node, &own], vec!["-deleteBlockPool", node, &own, "force"]]
    {
        let said = same(cluster, &words)?;
        if !said.contains("The block pool is still running") {
            return Err(format!("{words:?}: {said}"));
        }
    }
    // Both tools, one after the other: each has a pool of its own to delete.
    let apache = |words: &[&str]| -> Outcome<i32> {
        Ok(java::run(TOOL, words, &cluster.conf(), SETTLE)?.code)
    };
    let ours = |words: &[&str]| -> Outcome<i32> {
        Ok(zerohop(&cluster.conf(), &[&["dfsadmin"], words].concat())?.0)
    };
    for by_apache in [true, false] {
        let tool = |words: &[&str]| if by_apache { apache(words) } else { ours(words) };
        let empty = leave_pool(cluster, "BP-8-127.0.0.1-8", false)?;
        let code = tool(&["-deleteBlockPool", node, "BP-8-127.0.0.1-8"])?;
        if code != 0 || empty.exists() {
            return Err(format!("an empty pool: {code}, {}", empty.exists()));
        }
        let full = leave_pool(cluster, "BP-9-127.0.0.1-9", true)?;
        let words = ["-deleteBlockPool", node, "BP-9-127.0.0.1-9"];
        let said = same(cluster, &words)?;
        if !said.contains("it contains some block files") || !full.exists() {
            return Err(format!("{words:?}: {said}"));
        }
        let code = tool(&[&words[..], &["force"]].concat())?;
        if code != 0 || full.exists() {
            return Err(format!("a pool with replicas: {code}, {}", full.exists()));
        }
    }
    // No such pool.
    match same(cluster, &["-deleteBlockPool", node, "BP-7-127.0.0.1-7"])? {
        said if said.trim_end() == "0" => Ok(()),
        said => Err(format!("a pool that is not there: {said}")),
    }
}

fn pool_id(cluster: &Cluster) -> Outcome<String> {
    let fs = client(&cluster.conf(), &[])?;
    put(&fs, "/pool", 1, 10, shape(1, 1 << 20))?;
    let block = blocks(&fs, "/pool")?.pop().ok_or("no block")?;
    Ok(block.block.pool.to_string())
}

/// Apache's tool has our NameNode read its configuration again. The heartbeat interval is taken over; a lock report's threshold
/// is not, and the NameNode says so.
fn reconfigure_namenode(cluster: &Cluster) -> Outcome {
    let node = format!("127.0.0.1:{}", cluster.site.rpc_port);
    let words = |operation| ["-reconfig", "namenode", &*node, operation].map(str::to_owned);
    let said_by_both = |operation| {
        let words = words(operation);
        same(cluster, &words.each_ref().map(String::as_str))
    };
    let properties = said_by_both("properties")?;
    if !properties.starts_with("0 ") || !properties.contains("\ndfs.heartbeat.interval\n") {
        return Err(format!("properties: {properties}"));
    }
    let status = said_by_both("status")?;
    if !status.contains("no task was found.") {
        return Err(format!("status: {status}"));
    }
    let path = cluster.conf().join("hdfs-site.xml");
    let text = fs::read_to_string(&path).at("hdfs-site.xml")?;
    let interval = "<name>dfs.heartbeat.interval</name><value>1</value>";
    let changed = "<name>dfs.heartbeat.interval</name><value>2</value></property>\n<property><name>\
                   dfs.namenode.read-lock-reporting-threshold-ms</name><value>77</value>";
    if !text.contains(interval) {
        return Err(format!("{} has no {interval}", path.display()));
    }
    fs::write(&path, text.replace(interval, changed)).at("hdfs-site.xml")?;
    let words = words("start");
    let words = words.each_ref().map(String::as_str);
    let started = java::run(TOOL, &words, &cluster.conf(), SETTLE)?.ok("-reconfig start")?;
    if !started.contains(&format!("Started reconfiguration task on node [{node}].")) {
        return Err(format!("start: {started}"));
    }
    wait::until("the task ends", SETTLE, || {
        let words = ["dfsadmin", "-reconfig", "namenode", &node, "status"];
        let (_, said) = zerohop(&cluster.conf(), &words)?;
        if said.contains(" and finished at ") { Ok(true) } else { Err(said) }
    })?;
    let status = said_by_both("status")?;
    let expected = [
        "SUCCESS: Changed property dfs.heartbeat.interval",
        "FAILED: Change property dfs.namenode.read-lock-reporting-threshold-ms",
    ];
    match expected.iter().all(|line| status.contains(line)) {
        true => Ok(()),
        false => Err(format!("status: {status}")),
    }
}

fn story(datanodes: Kind) {
    let name = format!("orders-{datanodes:?}").to_lowercase();
    let spec =
        Spec { name: &name, namenode: Kind::Ours, datanodes, count: 1, settings: Vec::new() };
    over(Cluster::start(&spec), |cluster| {
        let node = format!("127.0.0.1:{}", cluster.site.ipc_ports[0]);
        let lines: &[(&[&str], &str)] = &[
            (&["-getDatanodeInfo", &node], "0 , Software version: 3.4.3, Config version: core-"),
            (&["-getVolumeReport", &node], "0 Active Volumes : 2\nDirectory: "),
            (&["-triggerBlockReport", &node], "0 Triggering a full block report on 127."),
            (
                &["-triggerBlockReport", "-incremental", &node],
                "0 Triggering an incremental block report on 127.",
            ),
            (&["-evictWriters", &node], "0 Requested writer eviction to datanode 127."),
            (&["-getBalancerBandwidth", &node], "0 Balancer bandwidth is 104857600 bytes"),
            (&["-setBalancerBandwidth", "20m"], "0 Balancer bandwidth is set to 20971520"),
            (&["-setBalancerBandwidth", "-1"], "255 Bandwidth should be a non-negative integer"),
            (&["-restoreFailedStorage", "check"], "0 restoreFailedStorage is set to false"),
            (&["-restoreFailedStorage", "no"], "255 restoreFailedStorage valid args are"),
            (&["-refreshNamenodes", &node], "0 "),
        ];
        for (words, expected) in lines {
            let said = same(cluster, words)?;
            if !said.starts_with(expected) {
                return Err(format!("{words:?}: {said}"));
            }
        }
        delete_pools(cluster, &node)?;
        if datanodes == Kind::Ours {
            reconfigure_namenode(cluster)?;
        }
        let words = ["dfsadmin", "-shutdownDatanode", &node];
        let said = zerohop(&cluster.conf(), &words)?;
        let expected = format!("Submitted a shutdown request to datanode {node}\n");
        if said != (0, expected) {
            return Err(format!("{words:?}: {said:?}"));
        }
        cluster.wait_datanode_down(0)
    });
}

#[test]
fn our_datanode_obeys() {
    story(Kind::Ours);
}

#[test]
fn apache_s_datanode_obeys() {
    story(Kind::Apache);
}
