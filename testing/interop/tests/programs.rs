//! Apache's own programs over our cluster. The same over Apache's cluster shows that a failure on
//! ours is ours.

use zerohop_interop::cluster::Cluster;
use zerohop_interop::{Kind, Outcome, programs};

fn on(kind: Kind, name: &str, test: impl FnOnce(&mut Cluster) -> Outcome) {
    let outcome = programs::cluster(kind, name).and_then(|mut cluster| {
        cluster.keep_logs = true;
        test(&mut cluster)?;
        cluster.keep_logs = false;
        Ok(())
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
}

fn dfsio(cluster: &mut Cluster) -> Outcome {
    for mode in [&["-write"][..], &["-read"], &["-read", "-random"], &["-append"]] {
        programs::dfsio(cluster, mode)?;
    }
    programs::run(cluster, "org.apache.hadoop.fs.TestDFSIO", &["-clean"]).map(|_| ())
}

fn namenode_throughput(cluster: &mut Cluster) -> Outcome {
    let load = ["-threads", "4", "-files", "200"];
    let dirs = ["-threads", "4", "-dirs", "200"];
    for op in ["create", "open", "fileStatus", "delete", "rename"] {
        programs::namenode_throughput(cluster, &[&[op], &load[..]].concat())?;
    }
    programs::namenode_throughput(cluster, &[&["mkdirs"], &dirs[..]].concat())?;
    let report = ["blockReport", "-datanodes", "3", "-reports", "5", "-blocksPerReport", "20"];
    programs::namenode_throughput(cluster, &[&report[..], &["-blocksPerFile", "5"]].concat())?;
    programs::namenode_throughput(cluster, &["all"]).map(|_| ())
}

#[test]
fn dfsio_on_apache() {
    on(Kind::Apache, "dfsio", dfsio);
}

#[test]
fn dfsio_on_ours() {
    on(Kind::Ours, "dfsio", dfsio);
}

#[test]
fn namenode_throughput_on_ours() {
    on(Kind::Ours, "nnthroughput", namenode_throughput);
}
