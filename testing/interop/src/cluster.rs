//! A NameNode and DataNodes of either kind on loopback.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::driver::Driver;
use crate::process::{Process, tail};
use crate::site::{Setting, Site};
use crate::tools::Java;
use crate::{Kind, Outcome, tools, wait};

/// How long a daemon may take to serve on a busy machine.
const START_LIMIT: Duration = Duration::from_secs(180);
/// How long a daemon may take to end after SIGTERM.
const STOP_LIMIT: Duration = Duration::from_secs(60);

/// What to start.
pub struct Spec<'a> {
    /// Names the directory with the logs when a test fails.
    pub name: &'a str,
    /// Whose NameNode.
    pub namenode: Kind,
    /// Whose DataNodes.
    pub datanodes: Kind,
    /// How many DataNodes.
    pub count: usize,
    /// Settings that go over the harness's own.
    pub settings: Vec<Setting>,
}

/// A running cluster; everything is killed when it is dropped, and its directory is removed unless the
/// test failed.
pub struct Cluster {
    /// Directories, ports and configuration.
    pub site: Site,
    namenode_kind: Kind,
    datanode_kind: Kind,
    namenode: Option<Process>,
    datanodes: Vec<Option<Process>>,
    /// When each DataNode was last started, in ms since 1970.
    started_ms: Vec<u64>,
    judge: Option<Driver>,
    directory: PathBuf,
    drivers: usize,
    /// Set when something went wrong, to keep the logs of a failure that did not panic.
    pub keep_logs: bool,
}

impl Cluster {
    /// Formats, starts, and waits until all DataNodes are live and safe mode is over.
    pub fn start(spec: &Spec) -> Outcome<Self> {
        let directory = tools::clusters().join(spec.name);
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
        let site = Site::new(&directory, spec.count);
        site.write(&spec.settings)?;
        let mut cluster = Self {
            site,
            namenode_kind: spec.namenode,
            datanode_kind: spec.datanodes,
            namenode: None,
            datanodes: (0..spec.count).map(|_| None).collect(),
            started_ms: vec![0; spec.count],
            judge: None,
            directory,
            drivers: 0,
            keep_logs: true,
        };
        cluster.format()?;
        cluster.start_namenode()?;
        for i in 0..spec.count {
            cluster.start_datanode(i)?;
        }
        cluster.wait_serving()?;
        cluster.keep_logs = false;
        Ok(cluster)
    }

    /// The directory of all that the cluster keeps.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The configuration directory for clients.
    pub fn conf(&self) -> PathBuf {
        self.site.conf()
    }

    /// The file system's address.
    pub fn uri(&self) -> String {
        format!("hdfs://127.0.0.1:{}", self.site.rpc_port)
    }

    /// The transfer address of a DataNode, as block locations name it.
    pub fn datanode_address(&self, i: usize) -> String {
        format!("127.0.0.1:{}", self.site.data_ports[i])
    }

    /// The DataNode behind a transfer address.
    pub fn datanode_at(&self, address: &str) -> Outcome<usize> {
        (0..self.datanodes.len())
            .find(|&i| self.datanode_address(i) == address)
            .ok_or_else(|| format!("no DataNode has the address {address}"))
    }

    /// The process ids of the NameNode and the DataNodes that run.
    pub fn process_ids(&self) -> (Option<u32>, Vec<u32>) {
        let datanodes = self.datanodes.iter().flatten().map(Process::id).collect();
        (self.namenode.as_ref().map(Process::id), datanodes)
    }

    /// The process id of a DataNode that runs.
    pub fn datanode_process(&self, i: usize) -> Option<u32> {
        self.datanodes.get(i)?.as_ref().map(Process::id)
    }

    /// A new client.
    pub fn client(&mut self, kind: Kind) -> Outcome<Driver> {
        self.client_with(kind, &[])
    }

    /// A new client with settings (`key=value`) of its own.
    pub fn client_with(&mut self, kind: Kind, settings: &[&str]) -> Outcome<Driver> {
        self.drivers += 1;
        let log = self.site.log(&format!("driver{}", self.drivers));
        Driver::start(kind, &self.site.conf(), &log, settings)
    }

    /// Apache's client that the harness itself asks with.
    pub fn judge(&mut self) -> Outcome<&mut Driver> {
        if self.judge.is_none() {
            self.judge = Some(self.client(Kind::Apache)?);
        }
        self.judge.as_mut().ok_or_else(|| "no judge".to_owned())
    }

    /// Waits until every running DataNode has spoken with the NameNode since its start, and the
    /// NameNode is out of safe mode.
    pub fn wait_serving(&mut self) -> Outcome {
        self.wait_port()?;
        wait::until("all DataNodes live, out of safe mode", START_LIMIT, || {
            self.check_alive()?;
            let contacts = self.judge()?.ok(&["contacts"])?;
            let safe = self.judge()?.ok(&["safemode", "get"])?;
            match self.all_spoke(&contacts) && safe[0] == "false" {
                true => Ok(true),
                false => Err(format!("live {contacts:?}, safe mode {safe:?}")),
            }
        })
        .map_err(|e| format!("{e}\n{}", self.logs()))
    }

    fn all_spoke(&self, contacts: &[String]) -> bool {
        let running = (0..self.datanodes.len()).filter(|&i| self.datanodes[i].is_some());
        have_spoken(contacts, running.map(|i| (self.datanode_address(i), self.started_ms[i])))
    }

    fn wait_port(&mut self) -> Outcome {
        let port = self.site.rpc_port;
        wait::until("the NameNode's RPC port", START_LIMIT, || {
            self.check_alive()?;
            Ok(TcpStream::connect(("127.0.0.1", port)).is_ok())
        })
        .map_err(|e| format!("{e}\n{}", tail(&self.site.log("nn"), 25)))
    }

    /// An error if a process has ended by itself.
    pub fn check_alive(&mut self) -> Outcome {
        let mut processes = self.namenode.iter_mut().chain(self.datanodes.iter_mut().flatten());
        processes.try_for_each(Process::alive)
    }

    fn format(&mut self) -> Outcome {
        let conf = self.site.conf();
        let command = match self.namenode_kind {
            Kind::Apache => apache("format", &conf)?,
            Kind::Ours => ours(&["namenode", "--format"], &conf)?,
        };
        let log = self.site.log("format");
        let status = Process::daemon("format", command, &log)?.finish(START_LIMIT)?;
        match status.success() {
            true => Ok(()),
            false => Err(format!("formatting failed\n{}", tail(&log, 25))),
        }
    }

    /// Starts the NameNode without waiting for it.
    pub fn start_namenode(&mut self) -> Outcome {
        self.start_namenode_as(Ok)
    }

    /// The same with another command, made of the usual one.
    pub fn start_namenode_as(&mut self, wrap: impl FnOnce(Command) -> Outcome<Command>) -> Outcome {
        let conf = self.site.conf();
        let command = match self.namenode_kind {
            Kind::Apache => apache("namenode", &conf)?,
            Kind::Ours => ours(&["namenode"], &conf)?,
        };
        let command = wrap(command)?;
        self.namenode = Some(Process::daemon("NameNode", command, &self.site.log("nn"))?);
        Ok(())
    }

    /// Starts a DataNode without waiting for it.
    pub fn start_datanode(&mut self, i: usize) -> Outcome {
        self.start_datanode_as(i, Ok)
    }

    /// The same with another command, made of the usual one.
    pub fn start_datanode_as(
        &mut self,
        i: usize,
        wrap: impl FnOnce(Command) -> Outcome<Command>,
    ) -> Outcome {
        let conf = self.site.datanode_conf(i);
        let command = match self.datanode_kind {
            Kind::Apache => apache("datanode", &conf)?,
            Kind::Ours => ours(&["datanode"], &conf)?,
        };
        let log = self.site.log(&format!("dn{i}"));
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        self.started_ms[i] = now.map_or(0, |d| d.as_millis() as u64);
        let command = wrap(command)?;
        self.datanodes[i] = Some(Process::daemon(&format!("DataNode {i}"), command, &log)?);
        Ok(())
    }

    /// Takes a DataNode away with SIGKILL.
    pub fn kill_datanode(&mut self, i: usize) {
        self.datanodes[i] = None;
    }

    /// Waits until a DataNode that was told to shut down has done so, and takes its process away.
    pub fn wait_datanode_down(&mut self, i: usize) -> Outcome {
        let log = self.site.log(&format!("dn{i}"));
        let apache = self.datanode_kind == Kind::Apache;
        wait::until(&format!("DataNode {i} is down"), STOP_LIMIT, || {
            // The harness's process around Apache's DataNode stays.
            let said = || std::fs::read_to_string(&log).unwrap_or_default();
            let is_down = match self.datanodes[i].as_mut() {
                Some(_) if apache => said().contains("Shutdown complete"),
                Some(process) => process.ended().is_some(),
                None => true,
            };
            if is_down { Ok(true) } else { Err(tail(&log, 3)) }
        })?;
        self.datanodes[i] = None;
        Ok(())
    }

    /// Takes the NameNode away with SIGKILL.
    pub fn kill_namenode(&mut self) {
        self.namenode = None;
    }

    /// Stops a DataNode in order.
    pub fn stop_datanode(&mut self, i: usize) -> Outcome {
        self.datanodes[i].take().map_or(Ok(()), |mut p| p.stop(STOP_LIMIT).map(|_| ()))
    }

    /// Stops the NameNode in order.
    pub fn stop_namenode(&mut self) -> Outcome {
        self.namenode.take().map_or(Ok(()), |mut p| p.stop(STOP_LIMIT).map(|_| ()))
    }

    /// Stops everything in order, DataNodes first.
    pub fn stop_all(&mut self) -> Outcome {
        for i in 0..self.datanodes.len() {
            self.stop_datanode(i)?;
        }
        self.stop_namenode()
    }

    /// Starts everything again, as `namenode` and `datanodes` this time, and waits as
    /// [`Cluster::start`] does: the directories stay, so the other kind opens what this kind wrote.
    pub fn start_all(&mut self, namenode: Kind, datanodes: Kind) -> Outcome {
        self.start_all_with(namenode, &[], datanodes, &[])
    }

    /// As [`Cluster::start_all`], with start options of the NameNode and of the DataNodes.
    pub fn start_all_with(
        &mut self,
        namenode: Kind,
        namenode_options: &[&str],
        datanodes: Kind,
        datanode_options: &[&str],
    ) -> Outcome {
        self.use_kinds(namenode, datanodes);
        self.start_namenode_as(|command| with_options(command, namenode_options))?;
        for i in 0..self.datanodes.len() {
            self.start_datanode_as(i, |command| with_options(command, datanode_options))?;
        }
        self.wait_serving()
    }

    /// Whose NameNode and DataNodes are started from here on.
    pub fn use_kinds(&mut self, namenode: Kind, datanodes: Kind) {
        (self.namenode_kind, self.datanode_kind) = (namenode, datanodes);
        // The judge's connection to the NameNode before is broken.
        self.judge = None;
    }

    /// Stops and starts everything.
    pub fn restart(&mut self) -> Outcome {
        self.stop_all()?;
        self.start_all(self.namenode_kind, self.datanode_kind)
    }

    /// The ends of all logs.
    pub fn logs(&self) -> String {
        let names = (0..self.datanodes.len()).map(|i| format!("dn{i}"));
        let all = std::iter::once("nn".to_owned()).chain(names);
        all.map(|name| tail(&self.site.log(&name), 12)).collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.judge = None;
        self.datanodes.clear();
        self.namenode = None;
        if !self.keep_logs && !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.directory);
        }
    }
}

/// Whether DataNodes have spoken with the NameNode since they were started: their transfer addresses and when that was, in ms
/// since 1970. `contacts` is what a driver says to `contacts`. A NameNode counts a killed DataNode as live for a while, so that the time
/// of its last heartbeat tells, not its being in the list.
pub fn have_spoken(contacts: &[String], started: impl IntoIterator<Item = (String, u64)>) -> bool {
    let heard = |address: &str| {
        let (_, at) = contacts.iter().filter_map(|c| c.split_once(' ')).find(|c| c.0 == address)?;
        at.parse::<u64>().ok()
    };
    started.into_iter().all(|(address, since)| heard(&address).is_some_and(|at| at > since))
}

fn with_options(mut command: Command, options: &[&str]) -> Outcome<Command> {
    command.args(options);
    Ok(command)
}

fn apache(role: &str, conf: &Path) -> Outcome<Command> {
    let mut command = Java::get()?.command(512);
    command.arg(format!("-Dhadoop.log.dir={}", log_directory(conf).display()));
    command.arg("zerohop.Daemon").arg(role).arg(conf);
    Ok(command)
}

fn ours(verb: &[&str], conf: &Path) -> Outcome<Command> {
    let mut command = Command::new(tools::zerohop()?);
    command.arg("--config").arg(conf).args(verb).env("HADOOP_LOG_DIR", log_directory(conf));
    Ok(command)
}

/// Where the logs are.
fn log_directory(conf: &Path) -> &Path {
    conf.parent().unwrap_or(conf)
}
