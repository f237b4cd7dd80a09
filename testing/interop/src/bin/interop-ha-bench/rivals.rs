//! Two NameNodes on three JournalNodes without failover controllers, all of one kind: what Apache's NNThroughputBenchmark is
//! run on, one kind beside the other.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use zerohop_interop::Kind::{self, Apache, Ours};
use zerohop_interop::harm::{Explain, http};
use zerohop_interop::pair::LIMIT;
use zerohop_interop::process::{Process, tail};
use zerohop_interop::site::{Setting, settings, write_conf};
use zerohop_interop::tools::{self, Java, OPENS};
use zerohop_interop::{Outcome, ports, wait};

const BENCHMARK: &str = "org.apache.hadoop.hdfs.server.namenode.NNThroughputBenchmark";

/// Running daemons, `nn1` being active.
pub struct Rival {
    kind: Kind,
    directory: PathBuf,
    rpc_port: u16,
    daemons: Vec<Process>,
}

/// A virtual machine as it is by default, with both compilers: speed is compared.
fn java(conf: &str) -> Outcome<Command> {
    let mut command = Command::new("java");
    let class_path = format!("{conf}:{}", Java::get()?.class_path);
    command.args(OPENS).args(["-Xmx1g", "-Djava.net.preferIPv4Stack=true", "-cp", &class_path]);
    Ok(command)
}

impl Rival {
    pub fn start(kind: Kind) -> Outcome<Self> {
        let name = format!("ha-bench-rival-{kind:?}").to_lowercase();
        let directory = tools::clusters().join(name);
        let _ = std::fs::remove_dir_all(&directory);
        let (rpc, http_ports) = ([0; 2].map(|_| ports::free()), [0; 2].map(|_| ports::free()));
        let journals = [0; 3].map(|_| ports::free());
        let journal_pages = [0; 3].map(|_| ports::free());
        let mut rival = Self { kind, directory, rpc_port: rpc[0], daemons: Vec::new() };
        rival.write_conf(rpc, http_ports, journals, journal_pages)?;
        for i in 1..=3 {
            rival.daemon("journalnode", &format!("jn{i}"))?;
        }
        for port in journal_pages {
            rival.until_served(port)?;
        }
        rival.once("nn1", "-format")?;
        rival.daemon("namenode", "nn1")?;
        rival.until_served(http_ports[0])?;
        rival.once("nn2", "-bootstrapStandby")?;
        rival.daemon("namenode", "nn2")?;
        rival.until_served(http_ports[1])?;
        // Apache's pages are there before its calls are answered.
        let made = || rival.zerohop(&["haadmin", "-transitionToActive", "nn1"]).map(|_| true);
        wait::until("nn1 is active", LIMIT, made)?;
        Ok(rival)
    }

    fn write_conf(
        &self,
        rpc: [u16; 2],
        http_ports: [u16; 2],
        journals: [u16; 3],
        journal_pages: [u16; 3],
    ) -> Outcome {
        let at = |name: &str| self.directory.join(name).display().to_string();
        let core = settings(&[("fs.defaultFS", "hdfs://ns"), ("hadoop.tmp.dir", &at("tmp"))]);
        let hosts = journals.map(|port| format!("127.0.0.1:{port}")).join(";");
        let mut shared = settings(&[
            ("dfs.nameservices", "ns"),
            ("dfs.ha.namenodes.ns", "nn1,nn2"),
            ("dfs.namenode.shared.edits.dir", &format!("qjournal://{hosts}/ns")),
            ("dfs.ha.tail-edits.in-progress", "true"),
            ("dfs.ha.tail-edits.period", "100ms"),
            ("dfs.ha.fencing.methods", "shell(/bin/true)"),
            ("dfs.namenode.fs-limits.max-blocks-per-file", "1000000"),
            ("dfs.namenode.fs-limits.min-block-size", "16"),
        ]);
        for (i, (rpc, page)) in rpc.into_iter().zip(http_ports).enumerate() {
            let id = i + 1;
            for (key, port) in [("rpc-address", rpc), ("http-address", page)] {
                shared.push((format!("dfs.namenode.{key}.ns.nn{id}"), format!("127.0.0.1:{port}")));
            }
            let names = format!("file://{}", at(&format!("nn{id}")));
            shared.push((format!("dfs.namenode.name.dir.ns.nn{id}"), names));
        }
        let write = |name: &str, own: &[Setting]| {
            write_conf(&self.directory.join("conf").join(name), &core, &[&shared, own])
        };
        for id in ["nn1", "nn2"] {
            write(id, &settings(&[("dfs.ha.namenode.id", id)]))?;
        }
        for (i, (rpc, page)) in journals.into_iter().zip(journal_pages).enumerate() {
            let name = format!("jn{}", i + 1);
            // Apache's wants its directory to be there.
            std::fs::create_dir_all(self.directory.join(&name)).at(&name)?;
            let own = settings(&[
                ("dfs.journalnode.edits.dir", &at(&name)),
                ("dfs.journalnode.rpc-address", &format!("127.0.0.1:{rpc}")),
                ("dfs.journalnode.http-address", &format!("127.0.0.1:{page}")),
            ]);
            write(&name, &own)?;
        }
        write("client", &[])
    }

    fn conf(&self, name: &str) -> String {
        self.directory.join("conf").join(name).display().to_string()
    }

    fn log(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.log"))
    }

    fn command(&self, role: &str, name: &str) -> Outcome<Command> {
        let mut command = match self.kind {
            Ours => Command::new(tools::zerohop()?),
            Apache => java(&self.conf(name))?,
        };
        match (self.kind, role) {
            (Ours, _) => command.args(["--config", &self.conf(name), role]),
            (Apache, "journalnode") => {
                command.arg("org.apache.hadoop.hdfs.qjournal.server.JournalNode")
            }
            (Apache, _) => command.arg("org.apache.hadoop.hdfs.server.namenode.NameNode"),
        };
        Ok(command)
    }

    fn daemon(&mut self, role: &str, name: &str) -> Outcome {
        let process = Process::daemon(name, self.command(role, name)?, &self.log(name))?;
        self.daemons.push(process);
        Ok(())
    }

    fn once(&self, name: &str, option: &str) -> Outcome {
        let mut command = self.command("namenode", name)?;
        command.args([option, "-nonInteractive"]);
        let log = self.log(&format!("{name}{option}"));
        match Process::daemon(option, command, &log)?.finish(LIMIT)?.success() {
            true => Ok(()),
            false => Err(tail(&log, 25)),
        }
    }

    fn until_served(&self, port: u16) -> Outcome {
        wait::until("a daemon's page", LIMIT, || http(port, "/jmx").map(|_| true))
    }

    /// What a command of ours prints; it must succeed.
    pub fn zerohop(&self, words: &[&str]) -> Outcome<String> {
        let mut command = Command::new(tools::zerohop()?);
        let output = command.args(["--config", &self.conf("client")]).args(words).output();
        let output = output.at("zerohop")?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(format!("{words:?}: {}", String::from_utf8_lossy(&output.stderr))),
        }
    }

    /// Operations a second of Apache's NNThroughputBenchmark with 16 threads.
    pub fn throughput(&self, operation: &str, counted: &str, count: usize) -> Outcome<f64> {
        let mut command = java(&self.conf("client"))?;
        let uri = format!("hdfs://127.0.0.1:{}", self.rpc_port);
        command.args([BENCHMARK, "-fs", &uri, "-op", operation, "-threads", "16"]);
        command.args([counted, &count.to_string()]);
        let output = command.stdin(Stdio::null()).output().at("java")?;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        let _ = write!(text, "{}", String::from_utf8_lossy(&output.stderr));
        let rate = text.lines().rev().find_map(|line| line.rsplit_once("Ops per sec: "));
        let rate = rate.and_then(|(_, rate)| rate.trim().parse().ok());
        rate.ok_or_else(|| format!("NNThroughputBenchmark {operation} on {:?}:\n{text}", self.kind))
    }
}
