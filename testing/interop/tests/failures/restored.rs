//! An older copy of the name directory is put back under DataNodes that hold newer blocks.

use std::process::Command;

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{
    Explain, SETTLE, blocks, check, client, over, put, replicas_of, shape, zerohop,
};
use zerohop_interop::{Kind, Outcome, site, wait};

const LEN: u64 = 300_000;

fn wait_replicas(cluster: &Cluster, block: i64, count: usize) -> Outcome {
    wait::until(&format!("{count} replicas of block {block} on disk"), SETTLE, || {
        let found = replicas_of(cluster, block);
        if found.len() == count { Ok(true) } else { Err(format!("{found:?}")) }
    })
}

fn copy(from: &std::path::Path, to: &std::path::Path) -> Outcome {
    let _ = std::fs::remove_dir_all(to);
    let done = Command::new("cp").arg("-a").arg(from).arg(to).status().at("cp")?;
    if done.success() { Ok(()) } else { Err(format!("cp of {}: {done}", from.display())) }
}

fn dfsadmin(cluster: &Cluster, words: &[&str], expected: &str) -> Outcome<String> {
    match zerohop(&cluster.conf(), &[&["dfsadmin"], words].concat())? {
        (0, said) if said.contains(expected) => Ok(said),
        said => Err(format!("{words:?}: {said:?} without {expected}")),
    }
}

/// Reproduced: all that was written since the copy was deleted within seconds. Apache's DataNodes, which run all the time,
/// report to the NameNode as it starts; what they have too much goes with their second full report.
#[test]
fn newer_blocks_outlive_first_reports_to_an_older_name_directory() {
    let settings = site::settings(&[("dfs.namenode.safemode.threshold-pct", "1")]);
    let (namenode, datanodes) = (Kind::Ours, Kind::Apache);
    let spec = Spec { name: "restored", namenode, datanodes, count: 2, settings };
    over(Cluster::start(&spec), |cluster| {
        let fs = client(&cluster.conf(), &[])?;
        let id = |path: &str| -> Outcome<i64> {
            Ok(blocks(&fs, path)?.first().ok_or("no block")?.block.block.id.0)
        };
        put(&fs, "/old", 1, LEN, shape(2, 1 << 20))?;
        let old = id("/old")?;
        wait_replicas(cluster, old, 2)?;
        let (name, older) = (cluster.directory().join("nn"), cluster.directory().join("older"));
        cluster.stop_namenode()?;
        copy(&name, &older)?;
        cluster.start_namenode()?;
        cluster.wait_serving()?;
        put(&fs, "/new", 2, LEN, shape(2, 1 << 20))?;
        let new = id("/new")?;
        wait_replicas(cluster, new, 2)?;

        cluster.stop_namenode()?;
        copy(&older, &name)?;
        cluster.start_namenode()?;
        wait::until("both DataNodes have reported", SETTLE, || {
            let (code, said) = zerohop(&cluster.conf(), &["dfsadmin", "-listPendingDeletions"])?;
            let listed = said.matches(&format!("blk_{new}\n")).count();
            if code == 0 && listed == 2 { Ok(true) } else { Err(said) }
        })?;
        // Blocks with generation stamps in the future: safe mode takes force.
        dfsadmin(cluster, &["-safemode", "leave"], "Safe mode is ON")?;
        dfsadmin(cluster, &["-safemode", "forceExit"], "Safe mode is OFF")?;
        check(&fs, "/old", 1, LEN)?;
        // When these are deleted, heartbeats have been answered with deletions.
        fs.delete("/old", false).at("delete")?;
        wait_replicas(cluster, old, 0)?;
        wait_replicas(cluster, new, 2)?;

        for port in &cluster.site.ipc_ports {
            let address = format!("127.0.0.1:{port}");
            dfsadmin(cluster, &["-triggerBlockReport", &address], "")?;
        }
        wait_replicas(cluster, new, 0)?;
        dfsadmin(cluster, &["-listPendingDeletions", "--json"], "\"storages\":[]").map(drop)
    });
}
