//! hdfs-native, a client of neither project, writes to our DataNodes. After the last packet of a block
//! it shuts its sending side down, and waits for the acknowledgement.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use zerohop_client::blocking::FileSystem;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{Explain, check, client, nodes, wait_nodes, wait_same};
use zerohop_interop::process::{Process, tail};
use zerohop_interop::{Kind, Outcome, content, tools};

/// How long hdfs-native may take for one command, the loss of a DataNode included.
const LIMIT: Duration = Duration::from_secs(180);
const SEED: u64 = 1400;
const BLOCK: u64 = 1 << 20;
/// Bytes of the file that all others are prefixes of.
const SOURCE_LEN: u64 = 3 << 20;

/// A Python process with one client.
struct Native {
    stdin: ChildStdin,
    answers: Receiver<String>,
    source: PathBuf,
    log: PathBuf,
    _process: Process,
}

impl Native {
    fn start(cluster: &Cluster) -> Outcome<Self> {
        let source = cluster.directory().join("source");
        let mut bytes = vec![0; SOURCE_LEN as usize];
        content::fill(SEED, 0, &mut bytes);
        std::fs::write(&source, bytes).at("the source")?;
        let python = tools::out().join("python/bin/python");
        let mut command = Command::new(&python);
        command.arg(tools::root().join("testing/interop/python/native.py")).arg(cluster.uri());
        let log = cluster.site.log("native");
        let started = Process::talker("hdfs-native", command, &log);
        let mut process = started.at("run testing/ensure-tools.sh")?;
        let (stdin, stdout) = process.pipes().ok_or("hdfs-native has no pipes")?;
        Ok(Self { stdin, answers: lines(stdout), source, log, _process: process })
    }

    fn ask(&mut self, command: &str) -> Outcome<String> {
        writeln!(self.stdin, "{command}").at(command)?;
        let answer = self.answers.recv_timeout(LIMIT);
        let answer = answer.map_err(|e| format!("{command}: {e}\n{}", tail(&self.log, 25)))?;
        match answer.strip_prefix("ok") {
            Some(rest) => Ok(rest.trim().to_owned()),
            None => Err(format!("{command}: {answer}\n{}", tail(&self.log, 25))),
        }
    }

    fn create(&mut self, path: &str, replication: u64) -> Outcome<String> {
        self.ask(&format!("create {path} {replication} {BLOCK}"))
    }

    fn write(&mut self, from: u64, to: u64) -> Outcome<String> {
        let source = self.source.display().to_string();
        self.ask(&format!("write {source} {from} {}", to - from))
    }

    fn close(&mut self) -> Outcome<String> {
        self.ask("close")
    }

    /// Both clients read the same.
    fn check(&mut self, fs: &FileSystem, path: &str, len: u64) -> Outcome {
        check(fs, path, SEED, len)?;
        let (got, want) = (self.ask(&format!("read {path}"))?, content::crc(SEED, 0, len));
        if got != format!("{len} {want}") {
            return Err(format!("{path}: hdfs-native read {got}, not {len} {want}"));
        }
        Ok(())
    }
}

fn lines(stdout: ChildStdout) -> Receiver<String> {
    let (sender, answers) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    answers
}

/// With a node below in the pipeline the files stayed open with length 0.
fn writes_and_appends(native: &mut Native, fs: &FileSystem, replication: u64) -> Outcome {
    for len in [1, 700, 70_000, BLOCK, SOURCE_LEN - 5000] {
        let path = format!("/native/r{replication}-{len}");
        native.create(&path, replication)?;
        native.write(0, len)?;
        native.close()?;
        native.check(fs, &path, len)?;
        native.ask(&format!("append {path}"))?;
        native.write(len, len + 5000)?;
        native.close()?;
        native.check(fs, &path, len + 5000)?;
    }
    Ok(())
}

/// The block goes on with the DataNodes that are left.
fn loses_a_datanode(
    cluster: &mut Cluster,
    native: &mut Native,
    fs: &FileSystem,
    (replication, place): (u64, usize),
) -> Outcome {
    let path = format!("/native/kill-r{replication}-{place}");
    let half = BLOCK / 2 + 1000;
    native.create(&path, replication)?;
    native.write(0, half)?;
    let victim = nodes(cluster, fs, &path)?[place];
    cluster.kill_datanode(victim);
    native.write(half, BLOCK - 100)?;
    native.close()?;
    native.check(fs, &path, BLOCK - 100)?;
    cluster.start_datanode(victim)?;
    cluster.wait_serving()?;
    wait_nodes(cluster, fs, &path, replication as usize)?;
    wait_same(cluster, fs, &path, replication as usize)
}

fn run(cluster: &mut Cluster) -> Outcome {
    let fs = client(&cluster.conf(), &[])?;
    let mut native = Native::start(cluster)?;
    for replication in 1..=3 {
        writes_and_appends(&mut native, &fs, replication)?;
    }
    for kill in [(2, 0), (2, 1), (3, 2)] {
        loses_a_datanode(cluster, &mut native, &fs, kill)?;
    }
    Ok(())
}

#[test]
fn hdfs_native_writes_with_replication_1_to_3_and_a_killed_datanode() {
    let spec = Spec {
        name: "hdfs-native",
        namenode: Kind::Ours,
        datanodes: Kind::Ours,
        // hdfs-native replaces a lost DataNode of three, and fails where there is none to be had.
        count: 4,
        settings: Vec::new(),
    };
    let mut cluster = Cluster::start(&spec).unwrap_or_else(|e| panic!("{e}"));
    let result = run(&mut cluster);
    result.unwrap_or_else(|e| panic!("{e}\n{}", cluster.logs()));
}
