//! A pair on machines of its own, whose networks fail: the active NameNode is cut off from JournalNodes, from ZooKeeper, from
//! DataNodes and from all, both ways or one way. A client on another machine keeps working: this test is a program of its own, because
//! the client's connections are those of one thread of the process, which stays on the machine that it began on.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use zerohop_client::blocking::FileSystem;
use zerohop_interop::harm::{Explain, check, client, shape, write, zerohop};
use zerohop_interop::machines::Machines;
use zerohop_interop::pair::{LIMIT, other};
use zerohop_interop::process::{Process, tail};
use zerohop_interop::tools::{self, Java};
use zerohop_interop::{Outcome, wait};

const NAMENODES: [&str; 2] = ["nn1", "nn2"];
const JOURNAL_NODES: [&str; 3] = ["jn1", "jn2", "jn3"];
const DATANODES: [&str; 2] = ["dn1", "dn2"];
const OTHERS: [&str; 2] = ["zk", "client"];

/// What fails is given up within seconds.
const SETTINGS: [&str; 20] = [
    "ha.zookeeper.session-timeout.ms=4000",
    "ha.health-monitor.rpc-timeout.ms=2000",
    "ha.failover-controller.graceful-fence.rpc-timeout.ms=1000",
    "dfs.ha.fencing.methods=shell(/bin/true)",
    "dfs.ha.tail-edits.in-progress=true",
    "dfs.ha.tail-edits.period=100ms",
    "dfs.qjournal.write-txns.timeout.ms=3000",
    "dfs.qjournal.start-segment.timeout.ms=3000",
    "dfs.qjournal.finalize-segment.timeout.ms=3000",
    "dfs.qjournal.get-journal-state.timeout.ms=3000",
    "dfs.qjournal.new-epoch.timeout.ms=3000",
    "dfs.qjournal.prepare-recovery.timeout.ms=3000",
    "dfs.qjournal.accept-recovery.timeout.ms=3000",
    "dfs.qjournal.select-input-streams.timeout.ms=3000",
    "ipc.client.connect.timeout=2000",
    "ipc.client.connect.max.retries.on.timeouts=3",
    "dfs.namenode.safemode.extension=0",
    "dfs.namenode.datanode.registration.ip-hostname-check=false",
    "dfs.heartbeat.interval=1",
    "dfs.client.failover.max.attempts=100",
];

/// The pair, and the machines of its daemons.
struct Site {
    directory: PathBuf,
    machines: Machines,
    running: Vec<(String, Process)>,
}

impl Site {
    fn start(directory: PathBuf, machines: Machines) -> Outcome<Self> {
        let mut site = Self { directory, machines, running: Vec::new() };
        site.configure()?;
        site.start_zookeeper()?;
        for name in JOURNAL_NODES {
            site.run(name, name, "journalnode")?;
        }
        site.once("nn1", &["namenode", "-format", "-nonInteractive"])?;
        site.once("nn1", &["zkfc", "-formatZK", "-nonInteractive"])?;
        site.run("nn1", "nn1", "namenode")?;
        site.once("nn2", &["namenode", "-bootstrapStandby", "-nonInteractive"])?;
        site.run("nn2", "nn2", "namenode")?;
        for name in NAMENODES {
            site.run(&format!("zkfc-{name}"), name, "zkfc")?;
        }
        for name in DATANODES {
            site.run(name, name, "datanode")?;
        }
        Ok(site)
    }

    /// A configuration for each machine, by `init-ha`; all below the directory of its own.
    fn configure(&self) -> Outcome {
        let hosts = |names: &[&str]| -> Outcome<String> {
            let found = names.iter().map(|name| self.machines.address(name));
            Ok(found.collect::<Outcome<Vec<_>>>()?.join(","))
        };
        let mut command = Command::new(tools::zerohop()?);
        SETTINGS.iter().for_each(|setting| {
            command.args(["-D", setting]);
        });
        command.arg("init-ha").arg("--output").arg(self.directory.join("conf"));
        command.arg("--data").arg(self.directory.join("MACHINE"));
        command.args(["--namenodes", &hosts(&NAMENODES)?, "--zookeeper", &hosts(&["zk"])?]);
        command.args([
            "--journalnodes",
            &hosts(&JOURNAL_NODES)?,
            "--datanodes",
            &hosts(&DATANODES)?,
        ]);
        let output = command.output().at("init-ha")?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        for name in [&NAMENODES[..], &JOURNAL_NODES, &DATANODES].concat() {
            let site = self.conf(name)?.join("hdfs-site.xml");
            let text = std::fs::read_to_string(&site).at(name)?;
            std::fs::write(&site, text.replace("MACHINE", name)).at(name)?;
            // Apache's and ours make what is below, not this.
            std::fs::create_dir_all(self.directory.join(name)).at(name)?;
        }
        Ok(())
    }

    fn conf(&self, name: &str) -> Outcome<PathBuf> {
        let directory = match name {
            "client" => name.to_owned(),
            _ => self.machines.address(name)?,
        };
        Ok(self.directory.join("conf").join(directory))
    }

    fn log(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.log"))
    }

    fn ours(&self, machine: &str, words: &[&str]) -> Outcome<Command> {
        let mut command = Command::new(tools::zerohop()?);
        command.args(words).arg("--config").arg(self.conf(machine)?);
        self.machines.on(machine, &command)
    }

    fn start_zookeeper(&mut self) -> Outcome {
        let mut command = Java::get()?.command(128);
        command.arg("-Dzookeeper.admin.enableServer=false");
        command.arg("org.apache.zookeeper.server.ZooKeeperServerMain");
        let file = self.directory.join("zoo.cfg");
        let data = self.directory.join("zookeeper");
        let text = format!("tickTime=500\ndataDir={}\nclientPort=2181\n", data.display());
        std::fs::write(&file, text).at("zoo.cfg")?;
        command.arg(&file);
        let command = self.machines.on("zk", &command)?;
        let process = Process::daemon("ZooKeeper", command, &self.log("zk"))?;
        self.running.push(("zk".to_owned(), process));
        self.until_listening("zk", 2181)
    }

    fn run(&mut self, name: &str, machine: &str, verb: &str) -> Outcome {
        let process = Process::daemon(name, self.ours(machine, &[verb])?, &self.log(name))?;
        self.running.retain(|(known, _)| known != name);
        self.running.push((name.to_owned(), process));
        match verb {
            "journalnode" => self.until_listening(machine, 8485),
            "namenode" => self.until_listening(machine, 8020),
            _ => Ok(()),
        }
    }

    /// This thread is on the client's machine.
    fn until_listening(&self, machine: &str, port: u16) -> Outcome {
        let address = format!("{}:{port}", self.machines.address(machine)?);
        let reached = || Ok(std::net::TcpStream::connect(&address).is_ok());
        wait::until(&format!("{machine} listens"), LIMIT, reached)
            .map_err(|e| format!("{e}\n{}", tail(&self.log(machine), 20)))
    }

    fn once(&self, machine: &str, words: &[&str]) -> Outcome {
        let output = self.ours(machine, words)?.output().at("a command")?;
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("{words:?}: {}", String::from_utf8_lossy(&output.stderr))),
        }
    }

    fn state(&self, id: &str) -> Outcome<String> {
        let (_, said) = zerohop(&self.conf("client")?, &["haadmin", "-getServiceState", id])?;
        Ok(said.trim().to_owned())
    }

    fn until_active(&self, id: &str) -> Outcome {
        wait::until(&format!("{id} is active"), LIMIT, || Ok(self.state(id)? == "active"))
    }

    /// Starts what has ended, and waits until one is active and the other one standby; the active one.
    fn until_well(&mut self) -> Outcome<&'static str> {
        let mut active = None;
        wait::until("an active and a standby", LIMIT, || {
            for name in NAMENODES {
                if self.has_ended(name)? {
                    self.run(name, name, "namenode")?;
                }
            }
            let states = [self.state("nn1")?, self.state("nn2")?];
            active = NAMENODES.into_iter().zip(&states).find(|it| it.1 == "active").map(|it| it.0);
            let is_well = active.is_some() && states.iter().any(|state| state == "standby");
            if is_well { Ok(true) } else { Err(format!("{states:?}")) }
        })?;
        active.ok_or_else(|| "none is active".to_owned())
    }

    fn has_ended(&mut self, name: &str) -> Outcome<bool> {
        let found = self.running.iter_mut().find(|(known, _)| known == name);
        Ok(found.ok_or_else(|| format!("no process {name}"))?.1.ended().is_some())
    }

    fn logs(&self) -> String {
        let names = ["nn1", "nn2", "zkfc-nn1", "zkfc-nn2", "jn1"];
        names.map(|name| tail(&self.log(name), 12)).join("\n")
    }
}

/// Which packets between two machines are lost.
#[derive(Clone, Copy, Debug)]
enum Loss {
    /// All.
    Both,
    /// Those to the NameNode: what it says arrives, and it hears nothing.
    In,
    /// Those from the NameNode.
    Out,
}

impl Loss {
    fn each(self, namenode: &str, others: &[&str], act: impl Fn(&str, &str) -> Outcome) -> Outcome {
        for machine in others {
            if !matches!(self, Self::In) {
                act(namenode, machine)?;
            }
            if !matches!(self, Self::Out) {
                act(machine, namenode)?;
            }
        }
        Ok(())
    }
}

/// The active NameNode is cut off from some machines until it was replaced.
fn replaced_without(site: &mut Site, others: &[&str], loss: Loss) -> Outcome {
    let active = site.until_well()?;
    loss.each(active, others, |from, to| site.machines.lose(from, to))?;
    let replaced = site.until_active(other(active));
    loss.each(active, others, |from, to| site.machines.deliver(from, to))?;
    replaced.map_err(|error| format!("{active} without {others:?}, {loss:?}: {error}"))
}

/// It is cut off from the DataNodes for a while, and stays active.
fn kept_without_datanodes(site: &mut Site, loss: Loss) -> Outcome {
    let active = site.until_well()?;
    loss.each(active, &DATANODES, |from, to| site.machines.lose(from, to))?;
    // How long it lasts is the fault.
    std::thread::sleep(Duration::from_secs(3));
    loss.each(active, &DATANODES, |from, to| site.machines.deliver(from, to))?;
    match site.until_well()? == active {
        true => Ok(()),
        false => Err(format!("{active} was replaced because DataNodes were silent, {loss:?}")),
    }
}

/// Its cable is pulled, and put back when it was replaced: it does not know that.
fn replaced_without_a_cable(site: &mut Site) -> Outcome {
    let active = site.until_well()?;
    site.machines.plug(active, false)?;
    let replaced = site.until_active(other(active));
    site.machines.plug(active, true)?;
    replaced
}

fn faults(site: &mut Site) -> Outcome {
    for loss in [Loss::Both, Loss::In, Loss::Out] {
        replaced_without(site, &JOURNAL_NODES, loss)?;
        replaced_without(site, &["zk"], loss)?;
        kept_without_datanodes(site, loss)?;
    }
    replaced_without_a_cable(site)
}

/// What a client has made.
#[derive(Default)]
struct Made {
    directories: usize,
    files: usize,
    longest: Duration,
}

const FILE: u64 = 30_000;

/// Makes directories and files until it is told to end; nothing may fail.
fn work(fs: &FileSystem, ends: &AtomicBool) -> Outcome<Made> {
    let mut made = Made::default();
    while !ends.load(Relaxed) {
        let begun = Instant::now();
        let directory = format!("/dir-{}", made.directories);
        fs.mkdirs(&directory).at(&directory)?;
        made.directories += 1;
        let path = format!("/file-{}", made.files);
        let mut writer = fs.create(&path, shape(1, 1 << 20)).at(&path)?;
        let written = write(&mut writer, made.files as u64, FILE).and_then(|()| writer.close());
        written.at(&path)?;
        made.files += 1;
        made.longest = made.longest.max(begun.elapsed());
    }
    Ok(made)
}

fn all_is_there(fs: &FileSystem, made: &Made) -> Outcome {
    for number in 0..made.directories {
        let path = format!("/dir-{number}");
        if !fs.exists(&path).at(&path)? {
            return Err(format!("{path} is lost"));
        }
    }
    (0..made.files)
        .try_for_each(|number| check(fs, &format!("/file-{number}"), number as u64, FILE))
}

fn history(site: &mut Site) -> Outcome {
    site.until_well()?;
    let fs = client(&site.conf("client")?, &[])?;
    let ends = AtomicBool::new(false);
    let (made, failed) = std::thread::scope(|scope| {
        let working = scope.spawn(|| work(&fs, &ends));
        let failed = faults(site);
        ends.store(true, Relaxed);
        (working.join().unwrap_or_else(|_| Err("the client panicked".to_owned())), failed)
    });
    failed?;
    let made = made?;
    println!("{} files; the longest wait was {:?}", made.files, made.longest);
    if made.files < 20 {
        return Err(format!("too little to show anything: {} files", made.files));
    }
    let active = site.until_well()?;
    all_is_there(&fs, &made)?;
    // The other one has followed.
    zerohop(&site.conf("client")?, &["haadmin", "-failover", active, other(active)])?;
    site.until_active(other(active))?;
    all_is_there(&fs, &made)
}

fn run(directory: &Path) -> Outcome {
    let names = [&NAMENODES[..], &JOURNAL_NODES, &DATANODES, &OTHERS].concat();
    let Some(machines) = Machines::start(&names, &directory.join("machines.log"))? else {
        return Ok(());
    };
    Java::get()?;
    machines.move_to("client")?;
    let mut site = Site::start(directory.to_owned(), machines)?;
    history(&mut site).map_err(|error| format!("{error}\n{}", site.logs()))
}

#[test]
fn no_operation_fails_while_the_active_namenode_is_cut_off_both_ways_and_one_way() {
    let directory = tools::clusters().join("failover-networks");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    run(&directory).unwrap_or_else(|error| panic!("{error}"));
}
