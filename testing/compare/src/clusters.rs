//! A cluster of either kind: a NameNode and three DataNodes, each a process of its own, with the
//! settings that Hadoop comes with.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use zerohop_bench::WatchedProcess;
use zerohop_client::blocking::FileSystem;
use zerohop_client::{DatanodeReportType, SafeModeAction, User};
use zerohop_conf::Conf;
use zerohop_interop::process::{Process, tail};
use zerohop_interop::site::{Site, settings};
use zerohop_interop::tools::{self, Java, OPENS};
use zerohop_interop::{Kind, Outcome, wait};

const DATANODES: usize = 3;
const LIMIT: Duration = Duration::from_secs(60);

/// A running cluster; killed and its directory removed when dropped.
pub struct Cluster {
    pub kind: Kind,
    pub site: Site,
    pub fs: FileSystem,
    /// `dfs.domain.socket.path`, if there is a safe directory for it.
    sockets: Option<String>,
    directory: PathBuf,
    namenode: Process,
    datanodes: Vec<Process>,
}

impl Cluster {
    /// Formats, starts, and waits until it serves.
    pub fn start(kind: Kind, directory: &Path) -> Outcome<Self> {
        let directory = directory.join(format!("{kind:?}").to_lowercase());
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
        let site = Site::new(&directory, DATANODES);
        let mut own = settings(&SETTINGS);
        // HttpFS acts for its callers.
        let user = User::of_process().name;
        own.extend(
            ["hosts", "groups"]
                .map(|what| (format!("hadoop.proxyuser.{user}.{what}"), "*".to_owned())),
        );
        site.write(&own)?;
        let log = site.log("format");
        let status = Process::daemon("format", daemon(kind, "format", &site.conf())?, &log)?
            .finish(LIMIT)?;
        if !status.success() {
            return Err(format!("formatting failed\n{}", tail(&log, 25)));
        }
        let namenode =
            Process::daemon("NameNode", daemon(kind, "namenode", &site.conf())?, &site.log("nn"))?;
        let sockets = sockets(kind);
        let start_one = |i: usize| {
            let mut command = daemon(kind, "datanode", &site.datanode_conf(i))?;
            // The clients' configuration does not say so: only the local part reads locally.
            let listens = "dfs.client.read.shortcircuit=true".to_owned();
            for setting in
                sockets.iter().map(|path| format!("{SOCKET_KEY}={path}")).chain([listens])
            {
                if sockets.is_some() {
                    command.args(["-D", &setting]);
                }
            }
            Process::daemon("DataNode", command, &site.log(&format!("dn{i}")))
        };
        let datanodes = (0..DATANODES).map(start_one).collect::<Outcome<Vec<_>>>()?;
        let conf = Conf::load(site.conf()).map_err(|e| e.to_string())?;
        let fs = FileSystem::connect(&conf, None).map_err(|e| e.to_string())?;
        let mut cluster = Self { kind, site, fs, sockets, directory, namenode, datanodes };
        cluster.wait()?;
        Ok(cluster)
    }

    fn wait(&mut self) -> Outcome {
        wait::until("all DataNodes live, out of safe mode", LIMIT, || {
            self.namenode.alive()?;
            self.datanodes.iter_mut().try_for_each(Process::alive)?;
            let live = self.fs.datanode_report(DatanodeReportType::Live);
            let safe = self.fs.safe_mode(SafeModeAction::SafemodeGet);
            match (live, safe) {
                (Ok(live), Ok(false)) => Ok(live.len() == DATANODES),
                (live, safe) => Err(format!("{live:?}, safe mode {safe:?}")),
            }
        })
    }

    /// `host:port` of the NameNode.
    pub fn namenode_address(&self) -> String {
        format!("127.0.0.1:{}", self.site.rpc_port)
    }

    /// The NameNode's process.
    pub fn namenode(&self) -> WatchedProcess {
        WatchedProcess::new("NameNode", self.namenode.id())
    }

    /// The DataNodes' processes.
    pub fn datanodes(&self) -> Vec<WatchedProcess> {
        self.datanodes.iter().map(|node| WatchedProcess::new("DataNode", node.id())).collect()
    }

    /// What a client must have to read locally.
    pub fn local_settings(&self) -> Outcome<[(&'static str, String); 2]> {
        let path =
            self.sockets.clone().ok_or("COMPARE_SOCKETS names no directory for domain sockets")?;
        Ok([("dfs.client.read.shortcircuit", "true".to_owned()), (SOCKET_KEY, path)])
    }

    /// The directories of a DataNode's volumes.
    pub fn data_directories(&self) -> Vec<PathBuf> {
        let volume = |i: usize, disk: usize| self.directory.join(format!("dn{i}/disk{disk}"));
        (0..DATANODES).flat_map(|i| [volume(i, 0), volume(i, 1)]).collect()
    }

    /// What a client of the cluster has in its environment.
    pub fn conf(&self) -> PathBuf {
        self.site.conf()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.datanodes.iter_mut().for_each(Process::kill);
        self.namenode.kill();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

const SOCKET_KEY: &str = "dfs.domain.socket.path";

/// run.sh makes the directory, and removes it even when a signal ends this.
fn sockets(kind: Kind) -> Option<String> {
    let directory = PathBuf::from(std::env::var_os("COMPARE_SOCKETS")?);
    let name = format!("{kind:?}").to_lowercase();
    Some(directory.join(format!("{name}._PORT")).display().to_string())
}

/// Hadoop's defaults over what the tests set; one machine has three DataNodes on one disk.
const SETTINGS: [(&str, &str); 9] = [
    ("dfs.blocksize", "134217728"),
    ("dfs.replication", "1"),
    ("dfs.heartbeat.interval", "3"),
    ("dfs.namenode.heartbeat.recheck-interval", "300000"),
    ("dfs.namenode.redundancy.interval.seconds", "3"),
    ("dfs.namenode.reconstruction.pending.timeout-sec", "300"),
    ("dfs.client.block.write.locateFollowingBlock.initial.delay.ms", "400"),
    ("dfs.client.block.write.locateFollowingBlock.retries", "5"),
    // NNThroughputBenchmark makes files of many small blocks.
    ("dfs.namenode.fs-limits.max-blocks-per-file", "1000000"),
];

fn daemon(kind: Kind, role: &str, conf: &Path) -> Outcome<Command> {
    match kind {
        Kind::Ours => {
            let mut command = Command::new(tools::zerohop()?);
            command.arg("--config").arg(conf);
            match role {
                "format" => command.args(["namenode", "--format"]),
                role => command.arg(role),
            };
            Ok(command)
        }
        Kind::Apache => {
            let mut command = java(conf, &[])?;
            command.arg(match role {
                "datanode" => "org.apache.hadoop.hdfs.server.datanode.DataNode",
                _ => "org.apache.hadoop.hdfs.server.namenode.NameNode",
            });
            if role == "format" {
                command.args(["-format", "-nonInteractive"]);
            }
            Ok(command)
        }
    }
}

/// A JVM as Apache's scripts start it: no flags that change its speed, the configuration first on
/// the class path, then `jars`, then Apache's.
pub fn java(conf: &Path, jars: &[PathBuf]) -> Outcome<Command> {
    let mut class_path = conf.display().to_string();
    for jar in jars {
        class_path += &format!(":{}", jar.display());
    }
    class_path += &format!(":{}", Java::get()?.class_path);
    let mut command = Command::new("java");
    command
        .args(OPENS)
        .arg("-Djava.net.preferIPv4Stack=true")
        .arg(format!("-Djava.library.path={}", tools::out().join("native").display()))
        .args(["-cp", &class_path]);
    Ok(command)
}
