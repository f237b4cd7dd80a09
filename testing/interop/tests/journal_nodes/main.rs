//! Two NameNodes that share their edits through JournalNodes; each of them is Apache's or ours. The DataNodes are one of each.

mod beans;
mod controllers;
mod data;
mod haadmin;
mod lost_disk;
mod matrix;
mod observer;
mod recover;
mod reformat;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command};
use std::time::Duration;

use zerohop_interop::Kind::{self, Apache, Ours};
use zerohop_interop::process::{Process, tail};
use zerohop_interop::site::{Setting, settings, write_conf};
use zerohop_interop::tools::{self, Java};
use zerohop_interop::{Outcome, ports, wait};

use data::Files;

/// How long a daemon may take on a busy machine.
const LIMIT: Duration = Duration::from_secs(180);

/// Whose the DataNodes are.
const DATANODES: [Kind; 4] = [Ours, Apache, Ours, Ours];

/// Whose each process is.
#[derive(Clone, Copy)]
struct Kinds {
    namenodes: [Kind; 2],
    journal_nodes: [Kind; 3],
    /// Of failover controllers; none where failover is by hand.
    controllers: Option<[Kind; 2]>,
}

/// A name service `ns` with the NameNodes `nn0` and `nn1` and the JournalNodes `jn0`, `jn1` and `jn2`.
struct Pair {
    directory: PathBuf,
    kinds: Kinds,
    rpc_ports: [u16; 2],
    journal_ports: [u16; 3],
    journal_http: [u16; 3],
    data_ports: [u16; DATANODES.len()],
    /// The NameNode that was made active last.
    active: usize,
    namenodes: [Option<Process>; 2],
    journal_nodes: [Option<Process>; 3],
    datanodes: Vec<Process>,
    controller_ports: controllers::Ports,
    /// Failover controllers, and their ZooKeeper.
    controllers: Vec<Process>,
    client: Option<(Process, ChildStdin, BufReader<ChildStdout>)>,
    made: usize,
}

impl Pair {
    fn start(name: &str, kinds: Kinds) -> Outcome<Self> {
        let mut pair = Self::formatted(name, kinds)?;
        pair.start_namenode(0)?;
        pair.once("bootstrapStandby", 1)?;
        pair.start_namenode(1)?;
        if let Some(kinds) = kinds.controllers {
            pair.controllers = controllers::start(&pair, kinds)?;
        }
        for i in 0..DATANODES.len() {
            let process = pair.datanode(i)?;
            pair.datanodes.push(process);
        }
        Ok(pair)
    }

    /// JournalNodes that run, and the directory of `nn0`.
    fn formatted(name: &str, kinds: Kinds) -> Outcome<Self> {
        let directory = tools::clusters().join(name);
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
        let port = |_| ports::free();
        let mut pair = Self {
            directory,
            kinds,
            rpc_ports: [0; 2].map(port),
            journal_ports: [0; 3].map(port),
            journal_http: [0; 3].map(port),
            data_ports: [0; DATANODES.len()].map(port),
            active: 0,
            namenodes: [None, None],
            journal_nodes: [None, None, None],
            datanodes: Vec::new(),
            controller_ports: controllers::Ports::take(),
            controllers: Vec::new(),
            client: None,
            made: 0,
        };
        pair.write_conf()?;
        for i in 0..3 {
            pair.start_journal_node(i)?;
        }
        pair.once("format", 0)?;
        Ok(pair)
    }

    fn conf(&self, name: &str) -> PathBuf {
        self.directory.join(name).join("conf")
    }

    fn write_conf(&self) -> Outcome {
        let at = |name: &str| format!("{}/{name}", self.directory.display());
        let core = settings(&[
            ("fs.defaultFS", "hdfs://ns"),
            ("hadoop.tmp.dir", &at("tmp")),
            ("ipc.client.connect.retry.interval", "100"),
            ("ipc.client.connect.max.retries", "100"),
            ("hadoop.user.group.static.mapping.overrides", "alice=staff;bob=staff;carol=guests"),
        ]);
        let hosts = self.journal_ports.map(|port| format!("127.0.0.1:{port}")).join(";");
        let mut hdfs = settings(&[
            ("dfs.nameservices", "ns"),
            ("dfs.ha.namenodes.ns", "nn0,nn1"),
            ("dfs.namenode.shared.edits.dir", &format!("qjournal://{hosts}/ns")),
            ("dfs.ha.fencing.methods", "shell(/bin/true)"),
            ("dfs.ha.tail-edits.in-progress", "true"),
            ("dfs.ha.tail-edits.period", "100ms"),
            ("dfs.namenode.state.context.enabled", "true"),
            ("dfs.ha.log-roll.period", "2"),
            ("dfs.namenode.checkpoint.check.period", "1"),
            ("dfs.namenode.checkpoint.txns", "30"),
            ("dfs.journalnode.sync.interval", "1000"),
            ("dfs.namenode.safemode.extension", "0"),
            ("dfs.namenode.datanode.registration.ip-hostname-check", "false"),
            ("dfs.namenode.redundancy.considerLoad", "false"),
            // As the script of the matrix has it for one NameNode.
            ("dfs.heartbeat.interval", "1"),
            ("dfs.namenode.heartbeat.recheck-interval", "500"),
            ("dfs.namenode.redundancy.interval.seconds", "1"),
            ("dfs.namenode.reconstruction.pending.timeout-sec", "5"),
            ("dfs.namenode.fs-limits.min-block-size", "16"),
            ("dfs.blocksize", "1048576"),
            // After a failover replicas too many stay until the DataNode has reported all that it has.
            ("dfs.blockreport.intervalMsec", "3000"),
            ("dfs.client.block.write.locateFollowingBlock.initial.delay.ms", "20"),
            ("dfs.client.block.write.locateFollowingBlock.retries", "9"),
            ("dfs.client.failover.sleep.base.millis", "50"),
            ("dfs.client.failover.sleep.max.millis", "500"),
            ("dfs.client.failover.max.attempts", "200"),
            (
                "dfs.client.failover.proxy.provider.ns",
                "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider",
            ),
        ]);
        if self.kinds.controllers.is_some() {
            hdfs.extend(self.controller_ports.settings());
        }
        for (i, port) in self.rpc_ports.iter().enumerate() {
            let named = |key: &str, value: String| (format!("dfs.namenode.{key}.ns.nn{i}"), value);
            hdfs.push(named("rpc-address", format!("127.0.0.1:{port}")));
            hdfs.push(named("http-address", format!("127.0.0.1:{}", ports::free())));
            hdfs.push(named("name.dir", format!("file://{}", at(&format!("nn{i}/data")))));
        }
        let write =
            |name: &str, own: &[Setting]| write_conf(&self.conf(name), &core, &[&hdfs, own]);
        for i in 0..2 {
            write(&format!("nn{i}"), &settings(&[("dfs.ha.namenode.id", &format!("nn{i}"))]))?;
        }
        for i in 0..3 {
            let own = settings(&[
                ("dfs.journalnode.edits.dir", &at(&format!("jn{i}/data"))),
                ("dfs.journalnode.rpc-address", &format!("127.0.0.1:{}", self.journal_ports[i])),
                ("dfs.journalnode.http-address", &format!("127.0.0.1:{}", self.journal_http[i])),
            ]);
            write(&format!("jn{i}"), &own)?;
        }
        for i in 0..DATANODES.len() {
            let own = settings(&[
                ("dfs.datanode.data.dir", &format!("file://{}", at(&format!("dn{i}/data")))),
                ("dfs.datanode.address", &format!("127.0.0.1:{}", self.data_ports[i])),
                ("dfs.datanode.ipc.address", "127.0.0.1:0"),
                ("dfs.datanode.http.address", "127.0.0.1:0"),
                ("dfs.datanode.hostname", "127.0.0.1"),
            ]);
            write(&format!("dn{i}"), &own)?;
        }
        write("client", &[])
    }

    fn apache(&self, role: &str, name: &str) -> Outcome<Command> {
        let mut command = Java::get()?.command(256);
        command.arg(format!("-Dhadoop.log.dir={}", self.directory.join(name).display()));
        command.arg("zerohop.Daemon").arg(role).arg(self.conf(name));
        Ok(command)
    }

    fn ours(&self, name: &str, words: &[&str]) -> Outcome<Command> {
        let mut command = Command::new(tools::zerohop()?);
        command.arg("--config").arg(self.conf(name)).args(words);
        Ok(command)
    }

    fn log(&self, name: &str) -> PathBuf {
        self.directory.join(name).join("log")
    }

    fn start_journal_node(&mut self, i: usize) -> Outcome {
        let name = format!("jn{i}");
        let command = match self.kinds.journal_nodes[i] {
            Apache => self.apache("journalnode", &name)?,
            Ours => self.ours(&name, &["journalnode"])?,
        };
        // Apache's wants the directory to be there.
        std::fs::create_dir_all(self.directory.join(&name).join("data"))
            .map_err(|e| e.to_string())?;
        self.journal_nodes[i] = Some(Process::daemon(&name, command, &self.log(&name))?);
        self.wait_port(self.journal_ports[i], &name)
    }

    fn start_namenode(&mut self, i: usize) -> Outcome {
        let name = format!("nn{i}");
        let command = match self.kinds.namenodes[i] {
            Apache => self.apache("namenode", &name)?,
            Ours => self.ours(&name, &["namenode"])?,
        };
        self.namenodes[i] = Some(Process::daemon(&name, command, &self.log(&name))?);
        self.wait_port(self.rpc_ports[i], &name)
    }

    /// Starts a DataNode.
    fn datanode(&self, i: usize) -> Outcome<Process> {
        let name = format!("dn{i}");
        let command = match DATANODES[i] {
            Apache => self.apache("datanode", &name)?,
            Ours => self.ours(&name, &["datanode"])?,
        };
        Process::daemon(&name, command, &self.log(&name))
    }

    fn wait_port(&self, port: u16, name: &str) -> Outcome {
        let reached = || Ok(TcpStream::connect(("127.0.0.1", port)).is_ok());
        wait::until(&format!("{name} listens"), LIMIT, reached)
            .map_err(|error| format!("{error}\n{}", tail(&self.log(name), 25)))
    }

    /// Runs a NameNode's start option to its end.
    fn once(&self, role: &str, i: usize) -> Outcome {
        let name = format!("nn{i}");
        let log = self.directory.join(&name).join(role);
        let command = match self.kinds.namenodes[i] {
            Apache => self.apache(role, &name)?,
            Ours => self.ours(&name, &["namenode", &format!("-{role}"), "-nonInteractive"])?,
        };
        let mut process = Process::daemon(role, command, &log)?;
        match process.finish(LIMIT)?.success() {
            true => Ok(()),
            false => Err(format!("{role} failed\n{}", tail(&log, 40))),
        }
    }

    /// What Apache's client or haadmin answers.
    fn answer(&mut self, line: &str) -> Outcome<String> {
        if self.client.is_none() {
            let mut command = Java::get()?.command(256);
            command.arg("zerohop.Pair").arg(self.conf("client"));
            let mut process = Process::talker("the client", command, &self.log("client"))?;
            let (input, output) = process.pipes().ok_or("a client without pipes")?;
            self.client = Some((process, input, BufReader::new(output)));
        }
        let (_, input, output) = self.client.as_mut().ok_or("no client")?;
        let mut answer = String::new();
        let talked = writeln!(input, "{line}").and_then(|()| output.read_line(&mut answer));
        talked.map_err(|error| format!("{line}: {error}"))?;
        Ok(answer.trim_end().to_owned())
    }

    /// The same where it succeeds.
    fn ask(&mut self, line: &str) -> Outcome<String> {
        let answer = self.answer(line)?;
        match answer.strip_prefix("ok") {
            Some(rest) => Ok(rest.trim().to_owned()),
            None => Err(format!("{line}: {answer}\n{}", tail(&self.log("client"), 12))),
        }
    }

    /// Runs haadmin until it succeeds: its connection may be one to a process that was killed.
    fn admin(&mut self, words: &str) -> Outcome {
        wait::until(&format!("haadmin {words}"), LIMIT, || {
            self.ask(&format!("admin {words}")).map(|_| true)
        })
    }

    /// Makes directories, which the NameNodes must not lose from here on.
    fn make(&mut self, count: usize) -> Outcome {
        self.ask(&format!("mkdirs /d{}- {count}", self.made))?;
        self.made += 1;
        Ok(())
    }

    fn expected(&self, count: usize) -> Vec<String> {
        let mut names: Vec<String> =
            (0..self.made).flat_map(|n| (0..count).map(move |i| format!("d{n}-{i}"))).collect();
        names.sort();
        names
    }

    fn listed(&mut self) -> Outcome<Vec<String>> {
        let listed = self.ask("list /")?;
        let names = listed.split_whitespace().filter(|name| *name != "data");
        Ok(names.map(str::to_owned).collect())
    }

    /// Finalized segments of a JournalNode by name, without padding.
    fn segments(&self, i: usize) -> BTreeMap<String, Vec<u8>> {
        let current = self.directory.join(format!("jn{i}/data/ns/current"));
        let mut segments = BTreeMap::new();
        for entry in std::fs::read_dir(&current).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("edits_0") && !name.contains('.') {
                segments.insert(name, without_padding(&entry.path()));
            }
        }
        segments
    }

    fn logs(&self) -> String {
        ["jn0", "jn1", "jn2", "nn0", "nn1", "dn0", "dn1"]
            .map(|name| tail(&self.log(name), 15))
            .join("\n")
    }
}

fn without_padding(path: &Path) -> Vec<u8> {
    let mut bytes = std::fs::read(path).unwrap_or_default();
    while bytes.last() == Some(&0xff) {
        bytes.pop();
    }
    bytes
}

/// The history: the active NameNode gives up, or is killed, and JournalNodes come and go.
fn histories(pair: &mut Pair) -> Outcome {
    pair.admin("-transitionToActive nn0")?;
    pair.make(20)?;
    let mut files = Files::start(&pair.conf("client"))?;
    let mut active = 0;
    for round in 0..5 {
        let other = 1 - active;
        files.begin().map_err(|error| format!("round {round}: {error}"))?;
        // One JournalNode misses the end of a segment and the beginning of the next.
        let away = round % 3;
        pair.journal_nodes[away] = None;
        pair.make(20)?;
        if round % 2 == 0 {
            pair.namenodes[active] = None;
            // Nobody answers whether the other one is active still.
            pair.admin(&format!("-transitionToActive --forceactive nn{other}"))?;
            pair.make(20)?;
            pair.start_namenode(active)?;
        } else {
            pair.admin(&format!("-transitionToStandby nn{active}"))?;
            pair.admin(&format!("-transitionToActive nn{other}"))?;
            pair.make(20)?;
        }
        pair.start_journal_node(away)?;
        active = other;
        pair.active = active;
        files.read_flushed().map_err(|error| format!("round {round}, while written: {error}"))?;
        files.finish().map_err(|error| format!("round {round}: {error}"))?;
        let (expected, listed) = (pair.expected(20), pair.listed()?);
        if listed != expected {
            return Err(format!("round {round}: {listed:?} in place of {expected:?}"));
        }
    }
    // A NameNode that does not know of its successor: none of its edits counts, and it ends itself.
    pair.admin(&format!("-transitionToActive --forceactive nn{}", 1 - active))?;
    pair.active = 1 - active;
    let late = format!("mkdirs hdfs://127.0.0.1:{}/late- 1", pair.rpc_ports[active]);
    if let Ok(made) = pair.ask(&late) {
        return Err(format!("{late}: {made}"));
    }
    let ends = pair.namenodes[active].as_mut().ok_or("no NameNode")?;
    let status = ends.finish(LIMIT)?;
    if status.code() != Some(1) {
        return Err(format!("the fenced NameNode ended with {status}"));
    }
    pair.make(20)?;
    match pair.listed()? == pair.expected(20) {
        true => Ok(()),
        false => Err("the fenced NameNode's edit counts".to_owned()),
    }
}

/// The standby makes an image, and the active NameNode takes it.
fn image_arrives(pair: &mut Pair) -> Outcome {
    let newest = |pair: &Pair, i: usize| {
        let current = pair.directory.join(format!("nn{i}/data/current"));
        let names = std::fs::read_dir(&current).into_iter().flatten().flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let images = names.filter(|name| name.starts_with("fsimage_0") && !name.contains('.'));
        images.max().map(|name| (std::fs::read(current.join(&name)).unwrap_or_default(), name))
    };
    let before = [0, 1].map(|i| newest(pair, i)).into_iter().flatten().map(|(_, name)| name).max();
    pair.make(40)?;
    wait::until("an image of the standby on both", LIMIT, || {
        let both = [newest(pair, 0), newest(pair, 1)];
        let is_new = both.iter().flatten().all(|(_, name)| Some(name) > before.as_ref());
        match is_new && both[0] == both[1] {
            true => Ok(true),
            false => Err(format!("{:?}, before: {before:?}", both.map(|it| it.map(|it| it.1)))),
        }
    })
}

fn every_journal_node_has_the_same(pair: &Pair) -> Outcome {
    wait::until("each JournalNode has all segments", LIMIT, || {
        let all: Vec<_> = (0..3).map(|i| pair.segments(i)).collect();
        match all.iter().all(|segments| *segments == all[0]) && all[0].len() > 5 {
            true => Ok(true),
            false => Err(format!(
                "{:?}",
                all.iter().map(|s| s.keys().collect::<Vec<_>>()).collect::<Vec<_>>()
            )),
        }
    })
}

/// A row: `client` runs the script of the matrix, and the steps from `first` on, every fourth one, meet a failover.
fn run(name: &str, namenodes: [Kind; 2], journal_nodes: [Kind; 3], (client, first): (Kind, usize)) {
    let kinds = Kinds { namenodes, journal_nodes, controllers: None };
    let mut pair = Pair::start(name, kinds).unwrap();
    let outcome = histories(&mut pair)
        .and_then(|()| observer::answers(&mut pair))
        .and_then(|()| image_arrives(&mut pair))
        .and_then(|()| beans::name_each_journal_node(&pair))
        .and_then(|()| every_journal_node_has_the_same(&pair))
        // Last: behind these failovers Apache's standby once had no image directory left.
        .and_then(|()| haadmin::says_what_apaches_says(&mut pair));
    outcome.unwrap_or_else(|error| panic!("{error}\n{}", pair.logs()));
    // It takes minutes: `make faults` has a row of it, `make test` that of the controllers.
    if std::env::var_os("ZEROHOP_FAILOVER_SCRIPT").is_some() {
        matrix::run(pair, client, first).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn apaches_namenodes_fail_over_on_our_journal_nodes() {
    run("journal-nodes-ours", [Apache; 2], [Ours; 3], (Apache, 0));
}

#[test]
fn apaches_namenodes_fail_over_on_journal_nodes_of_both_kinds() {
    run("journal-nodes-mixed", [Apache; 2], [Ours, Apache, Ours], (Ours, 1));
}

#[test]
fn our_namenodes_fail_over_on_apaches_journal_nodes() {
    run("namenodes-ours", [Ours; 2], [Apache; 3], (Apache, 2));
}

#[test]
fn our_namenodes_fail_over_on_our_journal_nodes() {
    run("all-ours", [Ours; 2], [Ours; 3], (Ours, 3));
}

#[test]
fn our_namenodes_fail_over_on_journal_nodes_of_both_kinds() {
    run("namenodes-ours-mixed", [Ours; 2], [Apache, Ours, Apache], (Apache, 1));
}

#[test]
fn apaches_standby_of_our_namenode_takes_over_and_gives_back() {
    run("namenodes-ours-apache", [Ours, Apache], [Ours, Apache, Ours], (Ours, 0));
}

#[test]
fn our_standby_of_apaches_namenode_takes_over_and_gives_back() {
    run("namenodes-apache-ours", [Apache, Ours], [Apache, Ours, Apache], (Apache, 3));
}

/// Apache's controller has our NameNode, and ours has Apache's.
#[test]
fn controllers_of_both_kinds_fail_over_namenodes_of_both_kinds() {
    let kinds = Kinds {
        namenodes: [Ours, Apache],
        journal_nodes: [Ours; 3],
        controllers: Some([Apache, Ours]),
    };
    let mut pair = Pair::start("controllers-mixed", kinds).unwrap();
    let outcome = pair.find_active().and_then(|()| matrix::run(pair, Ours, 2));
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
