//! What an administrator asks of one DataNode.

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{SETTLE, over, zerohop};
use zerohop_interop::{Kind, Outcome, java};

const TOOL: &str = "org.apache.hadoop.hdfs.tools.DFSAdmin";

/// Without what differs from moment to moment, and without log lines.
fn plain(text: &str) -> String {
    let moment = regex::Regex::new("Uptime: [0-9]+|(Used|Left): [0-9]+\\([^)]*\\)").expect("valid");
    let lines = text.lines().filter(|line| !line.contains("WARN") && !line.trim().is_empty());
    lines.map(|line| moment.replace_all(line, "").trim_end().to_owned() + "\n").collect()
}

/// Both tools, the same words.
fn same(cluster: &Cluster, words: &[&str]) -> Outcome<String> {
    let apache = java::run(TOOL, words, &cluster.conf(), SETTLE)?;
    let (code, ours) = zerohop(&cluster.conf(), &[&["dfsadmin"], words].concat())?;
    let (apache, ours) = ((apache.code, plain(&apache.output)), (code, plain(&ours)));
    match apache == ours {
        true => Ok(format!("{code} {}", ours.1)),
        false => Err(format!("{words:?}: {apache:?}, but ours says {ours:?}")),
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
