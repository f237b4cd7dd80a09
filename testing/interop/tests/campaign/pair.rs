//! Two NameNodes with failover controllers, three JournalNodes, DataNodes and a ZooKeeper as processes. Each NameNode reaches the
//! JournalNodes and its controller ZooKeeper over links that can be cut; the DataNodes reach the NameNodes over others.

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use zerohop_client::blocking::FileSystem;
use zerohop_interop::driver::Driver;
use zerohop_interop::harm::{client, zerohop};
use zerohop_interop::process::{Process, tail};
use zerohop_interop::site::{Setting, settings, write_conf};
use zerohop_interop::stepped_clock::SteppedClock;
use zerohop_interop::tools::{self, Java};
use zerohop_interop::{Kind, Outcome, ports, wait};

use crate::faults::signal;
use crate::link::Link;

/// How long something may take on a busy machine.
pub const LIMIT: Duration = Duration::from_secs(180);
pub const JOURNAL_NODES: usize = 3;
pub const DATANODES: usize = 3;

/// The links of one NameNode and its controller.
pub struct Links {
    pub journal_nodes: Vec<Link>,
    pub zookeeper: Link,
    /// From each DataNode.
    pub datanodes: Vec<Link>,
}

/// Ports that are fixed before anything starts.
struct Ports {
    zookeeper: u16,
    rpc: [u16; 2],
    http: [u16; 2],
    controllers: [u16; 2],
    journal_rpc: [u16; JOURNAL_NODES],
    journal_http: [u16; JOURNAL_NODES],
}

impl Ports {
    fn take() -> Self {
        let port = |_| ports::free();
        Self {
            zookeeper: ports::free(),
            rpc: [0; 2].map(port),
            http: [0; 2].map(port),
            controllers: [0; 2].map(port),
            journal_rpc: [0; JOURNAL_NODES].map(port),
            journal_http: [0; JOURNAL_NODES].map(port),
        }
    }
}

/// The addresses of links: other ones of this machine.
fn journal_host(namenode: usize, journal_node: usize) -> String {
    format!("127.0.3.{}", 10 * (namenode + 1) + journal_node)
}

fn zookeeper_host(namenode: usize) -> String {
    format!("127.0.4.{}", namenode + 1)
}

fn namenode_host(namenode: usize, datanode: usize) -> String {
    format!("127.0.5.{}", 10 * (namenode + 1) + datanode)
}

/// The cluster; everything is killed when it is dropped.
pub struct Pair {
    directory: PathBuf,
    ports: Ports,
    pub links: [Links; 2],
    processes: Vec<(String, Process)>,
    judge: Option<Driver>,
    /// By machine; none where clocks cannot be stepped here.
    clocks: BTreeMap<String, SteppedClock>,
}

impl Pair {
    pub fn start(name: &str) -> Outcome<Self> {
        let directory = tools::clusters().join(name);
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
        let ports = Ports::take();
        let links = [lay_links(&ports, 0)?, lay_links(&ports, 1)?];
        let clocks = clocks(&directory)?;
        let mut pair = Self { directory, ports, links, processes: Vec::new(), judge: None, clocks };
        pair.write_confs()?;
        pair.start_zookeeper()?;
        for at in 0..JOURNAL_NODES {
            pair.start_journal_node(at)?;
        }
        pair.once("nn0", &["namenode", "-format", "-nonInteractive"])?;
        pair.once("nn0", &["zkfc", "-formatZK", "-nonInteractive"])?;
        pair.start_namenode(0)?;
        pair.once("nn1", &["namenode", "-bootstrapStandby", "-nonInteractive"])?;
        pair.start_namenode(1)?;
        for at in 0..2 {
            pair.start_controller(at)?;
        }
        for at in 0..DATANODES {
            let name = format!("dn{at}");
            pair.run(&name, &name, &["datanode"])?;
        }
        pair.until_well()?;
        Ok(pair)
    }

    /// A process's directory.
    pub fn at(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The configuration of clients.
    pub fn conf(&self) -> PathBuf {
        self.at("client").join("conf")
    }

    fn write_confs(&self) -> Outcome {
        let Ports { zookeeper, rpc, http, controllers, journal_rpc, journal_http } = &self.ports;
        let core = settings(&[
            ("fs.defaultFS", "hdfs://ns"),
            ("hadoop.tmp.dir", &self.at("tmp").display().to_string()),
            ("ipc.client.connect.retry.interval", "100"),
            ("ipc.client.connect.max.retries", "20"),
            ("ha.zookeeper.session-timeout.ms", "4000"),
            ("ha.health-monitor.rpc-timeout.ms", "2000"),
            ("ha.failover-controller.graceful-fence.rpc-timeout.ms", "1000"),
        ]);
        let shared = shared_settings();
        let write = |name: &str, own: &[Setting]| {
            write_conf(&self.at(name).join("conf"), &core, &[&shared, own])
        };
        // Where a program finds the NameNodes.
        let namenodes = |host: &dyn Fn(usize) -> String| {
            let mut found = Vec::new();
            for at in 0..2 {
                let mut set =
                    |key: &str, value: String| found.push((format!("{key}.ns.nn{at}"), value));
                set("dfs.namenode.rpc-address", format!("{}:{}", host(at), rpc[at]));
                set("dfs.namenode.http-address", format!("127.0.0.1:{}", http[at]));
                set("dfs.ha.zkfc.port", controllers[at].to_string());
            }
            found
        };
        let direct = namenodes(&|_| "127.0.0.1".to_owned());
        write("client", &direct)?;
        for at in 0..2 {
            let hosts =
                (0..JOURNAL_NODES).map(|j| format!("{}:{}", journal_host(at, j), journal_rpc[j]));
            let hosts = hosts.collect::<Vec<_>>().join(";");
            let mut own = settings(&[
                ("dfs.ha.namenode.id", &format!("nn{at}")),
                (
                    "dfs.namenode.name.dir",
                    &format!("file://{}", self.at(&format!("nn{at}/data")).display()),
                ),
                ("dfs.namenode.shared.edits.dir", &format!("qjournal://{hosts}/ns")),
                ("ha.zookeeper.quorum", &format!("{}:{zookeeper}", zookeeper_host(at))),
            ]);
            own.extend(direct.clone());
            write(&format!("nn{at}"), &own)?;
        }
        let hosts = journal_rpc.map(|port| format!("127.0.0.1:{port}")).join(";");
        for at in 0..JOURNAL_NODES {
            let own = settings(&[
                (
                    "dfs.journalnode.edits.dir",
                    &self.at(&format!("jn{at}/data")).display().to_string(),
                ),
                ("dfs.journalnode.rpc-address", &format!("127.0.0.1:{}", journal_rpc[at])),
                ("dfs.journalnode.http-address", &format!("127.0.0.1:{}", journal_http[at])),
                ("dfs.journalnode.sync.interval", "1000"),
                ("dfs.namenode.shared.edits.dir", &format!("qjournal://{hosts}/ns")),
            ]);
            write(&format!("jn{at}"), &own)?;
        }
        for at in 0..DATANODES {
            let mut own = settings(&[
                (
                    "dfs.datanode.data.dir",
                    &format!("file://{}", self.at(&format!("dn{at}/data")).display()),
                ),
                ("dfs.datanode.address", "127.0.0.1:0"),
                ("dfs.datanode.ipc.address", "127.0.0.1:0"),
                ("dfs.datanode.http.address", "127.0.0.1:0"),
                ("dfs.datanode.hostname", "127.0.0.1"),
            ]);
            own.extend(namenodes(&|namenode| namenode_host(namenode, at)));
            write(&format!("dn{at}"), &own)?;
        }
        Ok(())
    }

    fn start_zookeeper(&mut self) -> Outcome {
        let mut command = Java::get()?.command(128);
        command.arg("-Dzookeeper.admin.enableServer=false");
        command.arg("org.apache.zookeeper.server.ZooKeeperServerMain");
        // Sessions end after two to twenty ticks. It must leave the port of the links' addresses alone.
        let text = format!(
            "tickTime=500\ndataDir={}\nclientPort={}\nclientPortAddress=127.0.0.1\nmaxClientCnxns=0\n",
            self.at("zookeeper").display(),
            self.ports.zookeeper
        );
        let file = self.directory.join("zoo.cfg");
        std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
        command.arg(&file);
        let process = Process::daemon("ZooKeeper", command, &self.log("zookeeper"))?;
        self.processes.push(("zookeeper".to_owned(), process));
        self.until_listening("zookeeper", self.ports.zookeeper)
    }

    fn log(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.log"))
    }

    /// Starts a program of ours under a name.
    pub fn run(&mut self, name: &str, conf: &str, words: &[&str]) -> Outcome {
        let mut command = Command::new(tools::zerohop()?);
        command.args(words).arg("--config").arg(self.at(conf).join("conf"));
        self.run_command(name, command)
    }

    /// Starts a command in the place of a process.
    pub fn run_command(&mut self, name: &str, mut command: Command) -> Outcome {
        // A controller runs beside its NameNode.
        if let Some(clock) = self.clocks.get(&name.replace("zkfc", "nn")) {
            clock.give_to(&mut command);
        }
        let process = Process::daemon(name, command, &self.log(name))?;
        self.processes.retain(|(known, _)| known != name);
        self.processes.push((name.to_owned(), process));
        Ok(())
    }

    fn once(&mut self, conf: &str, words: &[&str]) -> Outcome {
        let (code, said) = zerohop(&self.at(conf).join("conf"), words)?;
        if code == 0 { Ok(()) } else { Err(format!("{words:?}: {code} {said}")) }
    }

    fn until_listening(&self, name: &str, port: u16) -> Outcome {
        let reached = || Ok(TcpStream::connect(("127.0.0.1", port)).is_ok());
        wait::until(&format!("{name} listens"), LIMIT, reached)
            .map_err(|e| format!("{e}\n{}", tail(&self.log(name), 20)))
    }

    pub fn start_journal_node(&mut self, at: usize) -> Outcome {
        let name = format!("jn{at}");
        let ports = [self.ports.journal_rpc[at], self.ports.journal_http[at]];
        // One that ran under another program was killed with it, and may end a moment later.
        let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
        wait::until(&format!("{name} is gone"), LIMIT, || Ok(ports.iter().all(is_free)))?;
        self.run(&name, &name, &["journalnode"])?;
        self.until_listening(&name, ports[0])
    }

    pub fn start_namenode(&mut self, at: usize) -> Outcome {
        let name = format!("nn{at}");
        self.run(&name, &name, &["namenode"])?;
        self.until_listening(&name, self.ports.rpc[at])
    }

    pub fn start_controller(&mut self, at: usize) -> Outcome {
        self.run(&format!("zkfc{at}"), &format!("nn{at}"), &["zkfc"])
    }

    fn process(&mut self, name: &str) -> Outcome<&mut Process> {
        let found = self.processes.iter_mut().find(|(known, _)| known == name);
        found.map(|(_, process)| process).ok_or_else(|| format!("no process {name}"))
    }

    pub fn kill(&mut self, name: &str) -> Outcome {
        self.process(name)?.kill();
        Ok(())
    }

    /// Freezes a process.
    pub fn freeze(&mut self, name: &str) -> Outcome {
        signal(self.process(name)?.id(), libc::SIGSTOP)
    }

    /// Wakes a process that was frozen.
    pub fn wake(&mut self, name: &str) -> Outcome {
        signal(self.process(name)?.id(), libc::SIGCONT)
    }

    /// The machines whose clocks can be stepped.
    pub fn machines(&self) -> Vec<String> {
        self.clocks.keys().cloned().collect()
    }

    /// Steps the wall clock of a machine, which is off by so many seconds then.
    pub fn step_clock(&self, machine: &str, offset_s: i64) -> Outcome {
        self.clocks.get(machine).map_or(Ok(()), |clock| clock.set(offset_s))
    }

    /// Runs haadmin; what it prints.
    pub fn admin(&self, words: &[&str]) -> Outcome<String> {
        let mut all = vec!["haadmin"];
        all.extend(words);
        let (code, said) = zerohop(&self.conf(), &all)?;
        if code == 0 { Ok(said) } else { Err(format!("{words:?}: {code} {said}")) }
    }

    pub fn state(&self, at: usize) -> Outcome<String> {
        Ok(self.admin(&["-getServiceState", &format!("nn{at}")])?.trim().to_owned())
    }

    /// How often a text is in the logs of both controllers.
    fn count_in_logs(&self, text: &str) -> [usize; 2] {
        [0, 1].map(|at| {
            let log = std::fs::read_to_string(self.log(&format!("zkfc{at}"))).unwrap_or_default();
            log.matches(text).count()
        })
    }

    /// How often each controller has connected to ZooKeeper, with a new session or the one before.
    pub fn sessions(&self) -> [usize; 2] {
        self.count_in_logs("succeeds to establish session")
    }

    /// How often each controller has made its NameNode active.
    pub fn transitions(&self) -> [usize; 2] {
        self.count_in_logs(" is active")
    }

    /// The NameNode that says it is active.
    pub fn active(&self) -> Outcome<usize> {
        let mut active = (0..2).filter(|at| self.state(*at).is_ok_and(|state| state == "active"));
        active.next().ok_or_else(|| "no NameNode is active".to_owned())
    }

    pub fn until_active(&self, at: usize) -> Outcome {
        wait::until(&format!("nn{at} is active"), LIMIT, || Ok(self.state(at)? == "active"))
    }

    /// Begins another segment.
    pub fn roll_edits(&self) -> Outcome {
        let (code, said) = zerohop(&self.conf(), &["dfsadmin", "-rollEdits"])?;
        if code == 0 { Ok(()) } else { Err(said) }
    }

    /// A client of ours.
    pub fn client(&self) -> Outcome<FileSystem> {
        client(&self.conf(), &[])
    }

    /// Apache's client.
    pub fn judge(&mut self) -> Outcome<&mut Driver> {
        if self.judge.is_none() {
            let log = self.log("judge");
            self.judge = Some(Driver::start(Kind::Apache, &self.conf(), &log, &[])?);
        }
        self.judge.as_mut().ok_or_else(|| "no judge".to_owned())
    }

    /// Starts what has ended, also a moment later, and waits until one NameNode is active and the other one standby, and all
    /// DataNodes are live.
    pub fn until_well(&mut self) -> Outcome {
        wait::until("an active and a standby", LIMIT, || {
            for at in 0..2 {
                if self.process(&format!("nn{at}"))?.ended().is_some() {
                    self.start_namenode(at)?;
                }
                if self.process(&format!("zkfc{at}"))?.ended().is_some() {
                    self.start_controller(at)?;
                }
            }
            let states = [self.state(0)?, self.state(1)?];
            let mut sorted = [states[0].as_str(), states[1].as_str()];
            sorted.sort_unstable();
            if sorted == ["active", "standby"] { Ok(true) } else { Err(format!("{states:?}")) }
        })?;
        let live = format!("Live datanodes ({DATANODES})");
        wait::until("all DataNodes are live", LIMIT, || {
            let (_, said) = zerohop(&self.conf(), &["dfsadmin", "-report", "-live"])?;
            if said.contains(&live) { Ok(true) } else { Err(said) }
        })
    }

    /// An error if the active NameNode takes a DataNode for dead.
    pub fn none_is_dead(&self) -> Outcome {
        let (_, said) = zerohop(&self.conf(), &["dfsadmin", "-report"])?;
        let live = format!("Live datanodes ({DATANODES})");
        match said.contains(&live) && !said.contains("Dead datanodes") {
            true => Ok(()),
            false => Err(said),
        }
    }

    pub fn logs(&self) -> String {
        let names = ["nn0", "nn1", "zkfc0", "zkfc1", "jn0", "jn1", "jn2"];
        names.map(|name| tail(&self.log(name), 12)).join("\n")
    }
}

/// A clock for each machine.
fn clocks(directory: &Path) -> Outcome<BTreeMap<String, SteppedClock>> {
    let mut clocks = BTreeMap::new();
    let counts = [("nn", 2), ("jn", JOURNAL_NODES), ("dn", DATANODES)];
    for name in
        counts.iter().flat_map(|(kind, count)| (0..*count).map(move |i| format!("{kind}{i}")))
    {
        let Some(clock) = SteppedClock::new(directory.join(format!("{name}.clock")))? else {
            break;
        };
        clocks.insert(name, clock);
    }
    Ok(clocks)
}

fn lay_links(ports: &Ports, namenode: usize) -> Outcome<Links> {
    let journal_node = |at: usize| {
        Link::lay(&journal_host(namenode, at), &[ports.journal_rpc[at], ports.journal_http[at]])
    };
    let datanode = |at| Link::lay(&namenode_host(namenode, at), &[ports.rpc[namenode]]);
    Ok(Links {
        journal_nodes: (0..JOURNAL_NODES).map(journal_node).collect::<Outcome<_>>()?,
        zookeeper: Link::lay(&zookeeper_host(namenode), &[ports.zookeeper])?,
        datanodes: (0..DATANODES).map(datanode).collect::<Outcome<_>>()?,
    })
}

fn shared_settings() -> Vec<Setting> {
    settings(&[
        ("dfs.nameservices", "ns"),
        ("dfs.ha.namenodes.ns", "nn0,nn1"),
        (
            "dfs.client.failover.proxy.provider.ns",
            "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider",
        ),
        ("dfs.ha.automatic-failover.enabled", "true"),
        ("dfs.ha.fencing.methods", "shell(/bin/true)"),
        ("dfs.ha.tail-edits.in-progress", "true"),
        ("dfs.ha.tail-edits.period", "100ms"),
        ("dfs.ha.log-roll.period", "5s"),
        ("dfs.namenode.checkpoint.check.period", "2"),
        ("dfs.namenode.checkpoint.txns", "300"),
        // A JournalNode that is silent is given up soon; so is a majority.
        ("dfs.qjournal.write-txns.timeout.ms", "4000"),
        ("dfs.qjournal.start-segment.timeout.ms", "4000"),
        ("dfs.qjournal.finalize-segment.timeout.ms", "4000"),
        ("dfs.qjournal.get-journal-state.timeout.ms", "4000"),
        ("dfs.qjournal.new-epoch.timeout.ms", "4000"),
        ("dfs.qjournal.prepare-recovery.timeout.ms", "4000"),
        ("dfs.qjournal.accept-recovery.timeout.ms", "4000"),
        ("dfs.qjournal.select-input-streams.timeout.ms", "4000"),
        ("dfs.namenode.safemode.extension", "0"),
        ("dfs.namenode.fs-limits.min-block-size", "16"),
        ("dfs.namenode.datanode.registration.ip-hostname-check", "false"),
        ("dfs.heartbeat.interval", "1"),
        ("dfs.namenode.heartbeat.recheck-interval", "2000"),
        ("dfs.namenode.redundancy.interval.seconds", "1"),
        ("dfs.namenode.reconstruction.pending.timeout-sec", "5"),
        ("dfs.namenode.redundancy.considerLoad", "false"),
        ("dfs.client.block.write.locateFollowingBlock.initial.delay.ms", "20"),
        ("dfs.client.block.write.locateFollowingBlock.retries", "9"),
        ("dfs.client.failover.sleep.base.millis", "50"),
        ("dfs.client.failover.sleep.max.millis", "500"),
        ("dfs.client.failover.max.attempts", "200"),
    ])
}

/// Copies what a JournalNode keeps beside its segments in progress.
pub fn copy_journal(from: &Path, to: &Path) -> Outcome {
    let named = |path: &Path, e: std::io::Error| format!("{}: {e}", path.display());
    let to = to.join("ns/current");
    std::fs::create_dir_all(to.join("paxos")).map_err(|e| named(&to, e))?;
    let from = from.join("ns/current");
    for entry in std::fs::read_dir(&from).map_err(|e| named(&from, e))?.flatten() {
        let name = entry.file_name();
        let is_in_progress = name.to_string_lossy().starts_with("edits_inprogress");
        if entry.path().is_file() && !is_in_progress {
            // A segment may be renamed meanwhile; the JournalNodes compare their segments anyway.
            let _ = std::fs::copy(entry.path(), to.join(&name));
        }
    }
    Ok(())
}
