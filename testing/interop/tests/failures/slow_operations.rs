//! Operations that take long are in the logs of all who waited: with thresholds of a millisecond, and a DataNode that stands still.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{Explain, SETTLE, client, http, over, put, shape, zerohop};
use zerohop_interop::process::{Process, tail};
use zerohop_interop::{Kind, Outcome, site, tools, wait};

/// So many calls must have been answered before one of them is an exception.
const CALLS: usize = 1100;
/// A list of so many takes longer than a millisecond.
const NAMES: usize = 3000;
/// More than fits into the buffers of the sockets of a pipeline.
const LEN: usize = 64 << 20;
const PIECE: usize = 1 << 20;
/// Nobody has taken anything for so long.
const STILL: Duration = Duration::from_millis(500);
const DATANODES: usize = 3;

fn said(log: &Path) -> String {
    fs::read_to_string(log).unwrap_or_default()
}

fn wait_line(log: &Path, parts: &[&str]) -> Outcome {
    wait::until(&format!("{parts:?} in {}", log.display()), SETTLE, || {
        let is_line = |line: &str| parts.iter().all(|part| line.contains(part));
        if said(log).lines().any(is_line) { Ok(true) } else { Err(tail(log, 5)) }
    })
}

fn signal(id: u32, signal: i32) {
    // SAFETY: kill takes no pointers; the process is a child that is not waited for meanwhile.
    unsafe { libc::kill(id as i32, signal) };
}

/// A call that takes far longer than others, and the locks that it holds.
fn slow_calls(cluster: &Cluster) -> Outcome {
    let fs = client(&cluster.conf(), &[])?;
    for _ in 0..CALLS {
        fs.status("/").at("a short call")?;
    }
    let admin = |words: &[&str]| match zerohop(&cluster.conf(), &[&["dfsadmin"], words].concat())? {
        (0, _) => Ok(()),
        (code, text) => Err(format!("{words:?}: {code} {text}")),
    };
    admin(&["-safemode", "enter"])?;
    let log = cluster.site.log("nn");
    wait::until("a slow call is in the log", SETTLE, || {
        admin(&["-saveNamespace"])?;
        Ok(said(&log).contains("Slow RPC : saveNamespace of "))
    })?;
    admin(&["-safemode", "leave"])?;
    // Sets of many inodes hold the write lock for longest, a list of many names the read lock.
    wait::until("a write lock that was held for long", SETTLE, || {
        (0..100)
            .try_for_each(|n| fs.mkdirs(&format!("/d/{n}/{}", "x/".repeat(50))).map(drop))
            .at("directories")?;
        fs.delete("/d", true).at("directories")?;
        Ok(said(&log).contains("Longest write-lock held for "))
    })?;
    (0..NAMES).try_for_each(|n| fs.mkdirs(&format!("/names/{n}")).map(drop)).at("names")?;
    wait::until("a read lock that was held for long", SETTLE, || {
        fs.list("/names").at("a list")?;
        Ok(said(&log).contains("Longest read-lock held for "))
    })?;
    wait_line(&log, &["Longest read-lock held for ", "(threshold 1 ms) via"])
}

/// The last DataNode of the only pipeline.
fn last_of_pipeline(cluster: &Cluster) -> Outcome<usize> {
    let mut last = None;
    wait::until("a pipeline of three", SETTLE, || {
        let pages: Vec<String> = (0..DATANODES)
            .map(|i| http(cluster.site.info_ports[i], "/pipelines"))
            .collect::<Outcome<_>>()?;
        let is_writing = |page: &String| page.contains("<code>WRITE_BLOCK</code>");
        // A row names the DataNodes downstream; the last one has none.
        last = pages.iter().position(|page| is_writing(page) && page.contains(">none</td>"));
        Ok(last.is_some() && pages.iter().all(is_writing))
    })?;
    last.ok_or_else(|| "no last DataNode".to_owned())
}

/// Whoever waits for a DataNode that stands still says so: the DataNode before it, and the client.
fn slow_pipeline(cluster: &Cluster) -> Outcome<usize> {
    let mut command = Command::new(tools::zerohop()?);
    command.arg("--config").arg(cluster.conf()).args(["fs", "-D"]);
    command.args(["dfs.client.slow.io.warning.threshold.ms=1", "-D", "dfs.blocksize=268435456"]);
    command.args(["-put", "-", "/slow"]).env("ZEROHOP_LOG", "warn");
    let log = cluster.site.log("writer");
    let mut writer = Process::talker("the writer", command, &log)?;
    let (mut input, _output) = writer.pipes().ok_or("the writer reads nothing")?;
    // The file stays open until somebody has looked at its pipeline.
    input.write_all(&vec![1; PIECE]).at("the beginning")?;
    let last = last_of_pipeline(cluster)?;
    let stopped = cluster.process_ids().1[last];
    signal(stopped, libc::SIGSTOP);
    let taken = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&taken);
    let rest = std::thread::spawn(move || {
        let piece = vec![1; PIECE];
        for number in 1..=LEN / PIECE {
            input.write_all(&piece)?;
            counted.store(number, Ordering::Relaxed);
        }
        Ok::<(), std::io::Error>(())
    });
    let (mut before, mut since) = (0, Instant::now());
    let stalled = wait::until("the pipeline stands still", SETTLE, || {
        let now = taken.load(Ordering::Relaxed);
        if now != before {
            (before, since) = (now, Instant::now());
        }
        Ok(now > 0 && since.elapsed() > STILL)
    });
    signal(stopped, libc::SIGCONT);
    stalled?;
    rest.join().map_err(|_| "the writer's input")?.at("the rest")?;
    let status = writer.finish(SETTLE)?;
    if !status.success() || before == LEN / PIECE {
        return Err(format!("{status} after {before} pieces: {}", tail(&log, 10)));
    }
    let client = ["Slow ReadProcessor read fields for block", "(threshold=1ms)", "file: /slow"];
    wait_line(&log, &client)?;
    let mirror = "Slow BlockReceiver write packet to mirror took";
    let logs = (0..DATANODES).filter(|i| *i != last).map(|i| cluster.site.log(&format!("dn{i}")));
    let logs: Vec<PathBuf> = logs.collect();
    wait::until("a DataNode tells of the one downstream", SETTLE, || {
        Ok(logs.iter().any(|log| said(log).contains(mirror)))
    })?;
    Ok(last)
}

/// Acknowledgements are a few bytes: only a threshold of nothing makes them slow.
fn slow_acks(cluster: &mut Cluster, i: usize) -> Outcome {
    cluster.stop_datanode(i)?;
    let setting = ["-D", "dfs.datanode.slow.io.warning.threshold.ms=0"];
    cluster.start_datanode_as(i, |mut command| {
        command.args(setting);
        Ok(command)
    })?;
    cluster.wait_serving()?;
    let fs = client(&cluster.conf(), &[])?;
    put(&fs, "/acked", 1, 1000, shape(DATANODES as u16, 1 << 20))?;
    let log = cluster.site.log(&format!("dn{i}"));
    wait_line(&log, &["Slow PacketResponder send ack to upstream took", "upstream="])
}

#[test]
fn every_slow_operation_is_in_the_log_of_who_waited() {
    let settings = site::settings(&[
        ("ipc.server.log.slow.rpc", "true"),
        ("ipc.server.log.slow.rpc.threshold.ms", "1"),
        ("dfs.namenode.read-lock-reporting-threshold-ms", "1"),
        ("dfs.namenode.write-lock-reporting-threshold-ms", "1"),
        ("dfs.ls.limit", "100000"),
        ("dfs.lock.suppress.warning.interval", "0"),
        ("dfs.datanode.slow.io.warning.threshold.ms", "1"),
    ]);
    let (name, ours) = ("slow-operations", Kind::Ours);
    let spec = Spec { name, namenode: ours, datanodes: ours, count: DATANODES, settings };
    over(Cluster::start(&spec), |cluster| {
        slow_calls(cluster)?;
        let last = slow_pipeline(cluster)?;
        slow_acks(cluster, last)
    });
}
