//! Every state in which Apache's DataNode leaves a block pool when it is killed during an upgrade, a rollback or a
//! finalization. Ours starts on it, then Apache's again, and both have all replicas.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{Explain, SETTLE, check, client, http, over, put, shape};
use zerohop_interop::{Kind, Outcome, programs, site, tools, wait};

/// A file is one block.
const FILES: u64 = 8;
const LEN: u64 = 30_000;
const DFSADMIN: &str = "org.apache.hadoop.hdfs.tools.DFSAdmin";

/// Where Apache's DataNode is killed, and what is there then.
struct Phase {
    /// Start options of the DataNode that is killed, and of ours after it.
    options: &'static [&'static str],
    /// It is killed before the call behind `after` ones that change a path of the first volume's block pool with this text.
    at: &'static str,
    after: u32,
    /// The directories of that block pool then.
    left: &'static [&'static str],
    /// Those in the end.
    settled: &'static [&'static str],
}

const UPGRADE: [Phase; 6] = [
    // `current` is renamed, and no other one is made.
    Phase {
        options: &[],
        at: "/current/finalized",
        after: 0,
        left: &["previous.tmp"],
        settled: &["current", "previous"],
    },
    // Some links are made.
    Phase {
        options: &[],
        at: ".meta",
        after: 2,
        left: &["current", "previous.tmp"],
        settled: &["current", "previous"],
    },
    // All finalized replicas are linked, those being written are not.
    Phase {
        options: &[],
        at: "/current/rbw",
        after: 0,
        left: &["current", "previous.tmp"],
        settled: &["current", "previous"],
    },
    // After it has opened the old VERSION, the new one does not exist yet, and then it is empty.
    Phase {
        options: &[],
        at: "/current/VERSION",
        after: 1,
        left: &["current", "previous.tmp"],
        settled: &["current", "previous"],
    },
    Phase {
        options: &[],
        at: "/current/VERSION",
        after: 2,
        left: &["current", "previous.tmp"],
        settled: &["current", "previous"],
    },
    // All is done but the last name.
    Phase {
        options: &[],
        at: "/previous.tmp",
        after: 0,
        left: &["current", "previous.tmp"],
        settled: &["current", "previous"],
    },
];

const ROLLBACK: [Phase; 2] = [
    Phase {
        options: &["-rollback"],
        // It opens the VERSION there first.
        at: "/previous",
        after: 1,
        left: &["previous", "removed.tmp"],
        settled: &["current"],
    },
    Phase {
        options: &["-rollback"],
        at: "/removed.tmp/",
        after: 1,
        left: &["current", "removed.tmp"],
        settled: &["current"],
    },
];

const FINALIZE: Phase = Phase {
    options: &[],
    at: "/finalized.tmp/",
    after: 1,
    left: &["current", "finalized.tmp"],
    settled: &["current"],
};

fn first_volume(cluster: &Cluster) -> PathBuf {
    cluster.directory().join("dn0/disk0")
}

/// The block pool's directory on the first volume.
fn pool(cluster: &Cluster) -> Outcome<PathBuf> {
    let current = first_volume(cluster).join("current");
    let entries = fs::read_dir(&current).at(&current.display().to_string())?;
    let mut paths = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    paths.next().ok_or_else(|| format!("no block pool in {}", current.display()))
}

/// The directories of the block pool on the first volume, except for `tmp`.
fn directories(cluster: &Cluster) -> Outcome<BTreeSet<String>> {
    let pool = pool(cluster)?;
    let entries = fs::read_dir(&pool).at(&pool.display().to_string())?.flatten();
    let directories = entries.filter(|entry| entry.path().is_dir());
    let names = directories.map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(names.filter(|name| name != "tmp").collect())
}

fn wait_directories(cluster: &Cluster, wanted: &[&str]) -> Outcome {
    let wanted: BTreeSet<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
    wait::until("the directories", SETTLE, || {
        let found = directories(cluster)?;
        if found == wanted { Ok(true) } else { Err(format!("{found:?}, not {wanted:?}")) }
    })
}

/// Replaces a directory by a copy of another one.
fn copy(from: &Path, to: &Path) -> Outcome {
    if to.exists() {
        fs::remove_dir_all(to).at(&to.display().to_string())?;
    }
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status().at("cp")?;
    if copied.success() { Ok(()) } else { Err(format!("cp {} failed", from.display())) }
}

fn save(cluster: &Cluster, what: &str, name: &str) -> Outcome {
    copy(&cluster.directory().join(what), &cluster.directory().join(name))
}

/// Replicas that the running DataNode has, as it says itself.
fn replicas(cluster: &Cluster) -> Outcome<u64> {
    let page = "/jmx?qry=Hadoop:service=DataNode,name=DataNodeInfo";
    let beans: serde_json::Value =
        serde_json::from_str(&http(cluster.site.info_ports[0], page)?).at(page)?;
    let volumes = beans["beans"][0]["VolumeInfo"].as_str().ok_or("no VolumeInfo")?;
    let volumes: serde_json::Value = serde_json::from_str(volumes).at(volumes)?;
    let volumes = volumes.as_object().ok_or("no volumes")?;
    Ok(volumes.values().filter_map(|volume| volume["numBlocks"].as_u64()).sum())
}

fn start(cluster: &mut Cluster, kind: Kind, options: &[&str]) -> Outcome {
    cluster.use_kinds(Kind::Apache, kind);
    cluster.start_datanode_as(0, |mut command| {
        command.args(options);
        Ok(command)
    })?;
    cluster.wait_serving()
}

/// The running DataNode has all replicas, and clients read all files from it.
fn check_all(cluster: &Cluster) -> Outcome {
    wait::until("all replicas", SETTLE, || {
        let found = replicas(cluster)?;
        if found == FILES { Ok(true) } else { Err(format!("{found} replicas")) }
    })?;
    let fs = client(&cluster.conf(), &[])?;
    (0..FILES).try_for_each(|n| check(&fs, &format!("/f{n}"), n, LEN))
}

/// Has Apache's DataNode killed in a phase, on the directories saved as `from`.
fn leave(cluster: &mut Cluster, from: &str, phase: &Phase) -> Outcome {
    save(cluster, from, "dn0")?;
    let below = pool(cluster)?;
    cluster.use_kinds(Kind::Apache, Kind::Apache);
    cluster.start_datanode_as(0, |command| {
        let mut wrapped = Command::new(tools::failing_disk().ok_or("failing-disk is not built")?);
        wrapped.arg("--below").arg(below).args(["--kill", "--containing", phase.at]);
        wrapped.args(["--after", &phase.after.to_string()]);
        wrapped.arg("--").arg(command.get_program()).args(command.get_args());
        wrapped.args(phase.options);
        Ok(wrapped)
    })?;
    wait::until("Apache's DataNode is killed", SETTLE, || Ok(cluster.check_alive().is_err()))?;
    let address = cluster.datanode_address(0);
    cluster.kill_datanode(0);
    // It was killed together with its wrapper, and keeps its ports until it is gone.
    wait::until("the ports of Apache's DataNode are free", SETTLE, || {
        Ok(TcpListener::bind(&address).is_ok())
    })?;
    wait_directories(cluster, phase.left)
}

fn there_and_back(cluster: &mut Cluster, from: &str, phase: &Phase) -> Outcome {
    leave(cluster, from, phase)?;
    for (kind, options) in [(Kind::Ours, phase.options), (Kind::Apache, &[][..])] {
        let judged = start(cluster, kind, options)
            .and_then(|()| check_all(cluster))
            .and_then(|()| wait_directories(cluster, phase.settled));
        judged.map_err(|e| format!("{kind:?}: {e}"))?;
        cluster.stop_datanode(0)?;
    }
    Ok(())
}

fn all_there_and_back(cluster: &mut Cluster, from: &str, phases: &[Phase]) -> Outcome {
    phases.iter().try_for_each(|phase| {
        let said = there_and_back(cluster, from, phase);
        said.map_err(|e| format!("killed before {} ({}): {e}", phase.at, phase.after))
    })
}

/// Of an upgrade that Apache's DataNode had begun, ours found an empty `current`, reported no replicas, and Apache's
/// DataNode deleted them later. What it had not finished to delete stayed, and so did what a finalized upgrade kept.
#[test]
fn every_state_of_apaches_datanode_is_taken_over_and_given_back() {
    let settings = site::settings(&[("dfs.replication", "1")]);
    let (namenode, datanodes) = (Kind::Apache, Kind::Apache);
    let spec = Spec { name: "datanode-states", namenode, datanodes, count: 1, settings };
    over(Cluster::start(&spec), |cluster| {
        let fs = client(&cluster.conf(), &[])?;
        for n in 0..FILES {
            put(&fs, &format!("/f{n}"), n, LEN, shape(1, 1 << 20))?;
        }
        cluster.stop_all()?;
        save(cluster, "dn0", "before")?;
        save(cluster, "nn", "nn-before")?;

        cluster.start_namenode_as(|mut command| {
            command.arg("-upgrade");
            Ok(command)
        })?;
        all_there_and_back(cluster, "before", &UPGRADE)?;
        // Ours upgrades what no upgrade has touched, and Apache's goes on.
        save(cluster, "before", "dn0")?;
        for kind in [Kind::Ours, Kind::Apache] {
            start(cluster, kind, &[])?;
            check_all(cluster)?;
            wait_directories(cluster, &["current", "previous"])?;
            cluster.stop_datanode(0)?;
        }
        save(cluster, "dn0", "upgraded")?;
        cluster.stop_namenode()?;
        save(cluster, "nn", "nn-upgraded")?;

        // A NameNode that is rolled back.
        save(cluster, "nn-before", "nn")?;
        cluster.use_kinds(Kind::Apache, Kind::Apache);
        cluster.start_namenode()?;
        all_there_and_back(cluster, "upgraded", &ROLLBACK)?;
        cluster.stop_namenode()?;

        save(cluster, "nn-upgraded", "nn")?;
        cluster.start_namenode()?;
        save(cluster, "upgraded", "dn0")?;
        start(cluster, Kind::Ours, &[])?;
        let said = programs::run(cluster, DFSADMIN, &["-finalizeUpgrade"])?;
        cluster.stop_datanode(0)?;
        // The answer to the first report finalizes.
        start(cluster, Kind::Ours, &[])?;
        wait_directories(cluster, &["current"]).at(&said)?;
        check_all(cluster)?;
        cluster.stop_datanode(0)?;
        all_there_and_back(cluster, "upgraded", &[FINALIZE])
    });
}
