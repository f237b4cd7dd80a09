//! Rolling upgrades over one set of directories, which our servers and Apache's take from each other in the middle.

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{
    Explain, SETTLE, blocks, check, client, over, put, replicas_of, shape, zerohop,
};
use zerohop_interop::{Kind, Outcome, programs, site, wait};

const LEN: u64 = 300_000;
const DFSADMIN: &str = "org.apache.hadoop.hdfs.tools.DFSAdmin";
const ROLLBACK: (&[&str], &[&str]) = (&["-rollingUpgrade", "rollback"], &["-rollback"]);

/// Apache's dfsadmin.
fn dfsadmin(cluster: &Cluster, words: &[&str], expected: &str) -> Outcome {
    let said = programs::run(cluster, DFSADMIN, words)?;
    if said.contains(expected) {
        Ok(())
    } else {
        Err(format!("{words:?}: {said} without {expected}"))
    }
}

fn prepare(cluster: &Cluster) -> Outcome {
    dfsadmin(cluster, &["-safemode", "enter"], "Safe mode is ON")?;
    dfsadmin(cluster, &["-rollingUpgrade", "prepare"], "Proceed with rolling upgrade")?;
    dfsadmin(cluster, &["-safemode", "get"], "Safe mode is OFF")?;
    wait_marked(cluster, 4)
}

/// Each DataNode has two volumes.
fn wait_marked(cluster: &Cluster, count: usize) -> Outcome {
    wait::until(&format!("{count} marked volumes"), SETTLE, || {
        let mut marked = 0;
        for datanode in 0..2 {
            for disk in 0..2 {
                let current = cluster.directory().join(format!("dn{datanode}/disk{disk}/current"));
                let pools = std::fs::read_dir(current).into_iter().flatten().flatten();
                let marker =
                    |pool: &std::fs::DirEntry| pool.path().join("RollingUpgradeInProgress");
                marked += pools.filter(|pool| marker(pool).exists()).count();
            }
        }
        if marked == count { Ok(true) } else { Err(format!("{marked}")) }
    })
}

/// Deletes a file of two replicas and waits until both are in the trash.
fn delete_to_trash(cluster: &Cluster, path: &str) -> Outcome<i64> {
    let fs = client(&cluster.conf(), &[])?;
    let id = blocks(&fs, path)?.first().ok_or("no block")?.block.block.id.0;
    fs.delete(path, false).at("delete")?;
    wait::until(&format!("{path} in the trash"), SETTLE, || {
        let found = replicas_of(cluster, id);
        let is_kept = found.len() == 2 && found.iter().all(|replica| replica.is_in("trash"));
        if is_kept { Ok(true) } else { Err(format!("{found:?}")) }
    })?;
    Ok(id)
}

/// All files of before the upgrade are there again, and none of it.
fn check_rolled_back(cluster: &Cluster, gone: &str) -> Outcome {
    let fs = client(&cluster.conf(), &[])?;
    for (path, seed) in [("/a", 1), ("/b", 2)] {
        wait::until(path, SETTLE, || check(&fs, path, seed, LEN).map(|()| true))?;
    }
    if fs.exists(gone).at(gone)? {
        return Err(format!("{gone} is still there"));
    }
    let words = ["-rollingUpgrade", "query"];
    dfsadmin(cluster, &words, "There is no rolling upgrade in progress")
}

/// Deleted replicas were kept where they were, no image was there to roll back to, and a directory in the middle of
/// Apache's upgrade was refused.
#[test]
fn a_rolling_upgrade_is_rolled_back_or_finalized_by_either_side() {
    let settings = site::settings(&[("dfs.replication", "2")]);
    let (namenode, datanodes) = (Kind::Ours, Kind::Ours);
    let spec = Spec { name: "rolling-upgrade", namenode, datanodes, count: 2, settings };
    over(Cluster::start(&spec), |cluster| {
        let put_on = |cluster: &Cluster, path: &str, seed: u64| {
            put(&client(&cluster.conf(), &[])?, path, seed, LEN, shape(2, 1 << 20))
        };
        put_on(cluster, "/a", 1)?;
        put_on(cluster, "/b", 2)?;
        prepare(cluster)?;
        delete_to_trash(cluster, "/a")?;
        put_on(cluster, "/ours", 3)?;

        // Apache's servers go on in the middle.
        cluster.stop_all()?;
        cluster.start_all(Kind::Apache, Kind::Apache)?;
        dfsadmin(cluster, &["-rollingUpgrade", "query"], "Proceed with rolling upgrade")?;
        delete_to_trash(cluster, "/b")?;
        check(&client(&cluster.conf(), &[])?, "/ours", 3, LEN)?;
        cluster.stop_all()?;
        cluster.start_all_with(Kind::Ours, ROLLBACK.0, Kind::Ours, ROLLBACK.1)?;
        check_rolled_back(cluster, "/ours")?;

        // Apache's servers roll back what ours prepared.
        prepare(cluster)?;
        delete_to_trash(cluster, "/a")?;
        put_on(cluster, "/again", 4)?;
        cluster.stop_all()?;
        cluster.start_all_with(Kind::Apache, ROLLBACK.0, Kind::Apache, ROLLBACK.1)?;
        check_rolled_back(cluster, "/again")?;

        // Ours go on in the middle of what Apache's prepared, and finalize it.
        prepare(cluster)?;
        let kept = delete_to_trash(cluster, "/a")?;
        cluster.stop_all()?;
        cluster.start_all(Kind::Ours, Kind::Ours)?;
        let (code, said) = zerohop(&cluster.conf(), &["dfsadmin", "-rollingUpgrade", "finalize"])?;
        if code != 0 || !said.contains("Rolling upgrade is finalized.") {
            return Err(format!("{code}: {said}"));
        }
        wait_marked(cluster, 0)?;
        wait::until("an empty trash", SETTLE, || {
            let found = replicas_of(cluster, kept);
            if found.is_empty() { Ok(true) } else { Err(format!("{found:?}")) }
        })?;
        check(&client(&cluster.conf(), &[])?, "/b", 2, LEN)?;
        cluster.restart()?;
        check(&client(&cluster.conf(), &[])?, "/b", 2, LEN)
    });
}
