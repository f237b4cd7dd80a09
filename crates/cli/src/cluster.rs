//! A whole HDFS in this process: a NameNode and some DataNodes on free or given ports, data in one folder.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use zerohop_conf::{Conf, site_xml};
use zerohop_datanode::DataNode;
use zerohop_namenode::{FormatOptions, NameNode};

use crate::domain_socket;
use crate::failure::{Failure, Outcome};
use crate::salvage;

/// Longest wait for the end of safe mode once all DataNodes have reported.
const SAFE_MODE_WAIT: Duration = Duration::from_secs(5);
const SAFE_MODE_POLL: Duration = Duration::from_millis(2);

const SHORT_CIRCUIT: &str = "dfs.client.read.shortcircuit";
const SOCKET_PATH: &str = "dfs.domain.socket.path";

/// What the cluster shall be like.
#[derive(Debug, Clone)]
pub struct Plan {
    pub folder: PathBuf,
    pub bind: String,
    pub port: u16,
    pub http_port: u16,
    pub datanodes: usize,
    /// Values of the command line; they count more than ours.
    pub values: Vec<(String, String)>,
}

/// A running cluster.
pub struct Cluster {
    namenode: NameNode,
    datanodes: Vec<Arc<DataNode>>,
    conf: Conf,
    plan: Plan,
}

fn failed(what: &str, error: impl std::fmt::Display) -> Failure {
    Failure::io(format!("{what}: {error}"))
}

/// Whether a name folder is to be formatted: it is not there, or empty. One that lost its VERSION
/// holds a namespace all the same.
fn is_new(folder: &Path) -> Outcome<bool> {
    let cannot = |error: std::io::Error| {
        let advice = "; start it as the user who owns the folder";
        failed(
            "the NameNode does not start",
            format!("cannot read {}: {error}{advice}", folder.display()),
        )
    };
    if folder.join("current/VERSION").try_exists().map_err(cannot)? {
        return Ok(false);
    }
    match std::fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(cannot(error)),
        Ok(true) => Ok(true),
        Ok(false) => Err(Failure::io(format!(
            "the NameNode does not start: {0} holds files, but no current/VERSION; put that file \
             back, or move {0} away to begin with an empty file system",
            folder.display()
        ))),
    }
}

impl Cluster {
    /// Starts everything and waits until all DataNodes have registered and reported.
    pub async fn start(plan: Plan) -> Outcome<Cluster> {
        let conf = namenode_conf(&plan);
        let name_folder = plan.folder.join("name");
        if is_new(&name_folder)? {
            NameNode::format(&conf, FormatOptions::default())
                .map_err(|error| failed("cannot format the NameNode", error))?;
        }
        let namenode = NameNode::start(Arc::new(conf.clone())).await;
        let namenode = namenode.map_err(|error| failed("the NameNode does not start", error))?;
        salvage::offer(&namenode, &conf);
        let mut cluster = Cluster { namenode, datanodes: Vec::new(), conf, plan };
        cluster.conf.set("fs.defaultFS", cluster.uri());
        cluster.conf.set("dfs.namenode.rpc-address", cluster.rpc_addr().to_string());
        cluster.turn_local_reads_on();
        match cluster.start_datanodes().await {
            Ok(()) => Ok(cluster),
            Err(failure) => {
                cluster.stop().await;
                Err(failure)
            }
        }
    }

    /// Chooses a path for the domain sockets, unless the user did or wants none.
    fn turn_local_reads_on(&mut self) {
        let given = |name| self.plan.values.iter().any(|(given, _)| given == name);
        if given(SHORT_CIRCUIT) || given(SOCKET_PATH) {
            return;
        }
        match domain_socket::choose(&self.plan.folder) {
            Ok(path) => {
                self.conf.set(SOCKET_PATH, path);
                self.conf.set(SHORT_CIRCUIT, "true");
            }
            Err(reasons) => eprintln!(
                "no local reads: no folder for a domain socket is safe (-D {SOCKET_PATH}=PATH \
                 sets one)\n{reasons}"
            ),
        }
    }

    async fn start_datanodes(&mut self) -> Outcome {
        let mut starting = JoinSet::new();
        for index in 0..self.plan.datanodes {
            let conf = self.datanode_conf(index);
            starting.spawn(async move { DataNode::start(Arc::new(conf)).await });
        }
        while let Some(started) = starting.join_next().await {
            let started = started.map_err(|error| failed("a DataNode does not start", error))?;
            let node = started.map_err(|error| failed("a DataNode does not start", error))?;
            self.datanodes.push(Arc::new(node));
        }
        let mut ready = JoinSet::new();
        for node in &self.datanodes {
            let node = node.clone();
            ready.spawn(async move {
                tokio::select! {
                    () = node.ready() => Ok(()),
                    error = node.failed() => Err(failed("a DataNode failed", error)),
                }
            });
        }
        while let Some(one) = ready.join_next().await {
            one.map_err(|error| failed("a DataNode failed", error))??;
        }
        self.leave_safe_mode().await;
        Ok(())
    }

    /// Waits for the end of safe mode, unless replicas lack: then the cluster serves reads at least.
    async fn leave_safe_mode(&self) {
        let limit = Instant::now() + SAFE_MODE_WAIT;
        while self.namenode.is_in_safe_mode() {
            if Instant::now() > limit {
                eprintln!(
                    "Safe mode is still on: not all blocks have been reported (zerohop fsck / lists what is missing)"
                );
                return;
            }
            tokio::time::sleep(SAFE_MODE_POLL).await;
        }
    }

    fn datanode_conf(&self, index: usize) -> Conf {
        let mut conf = self.conf.clone();
        let any_port = format!("{}:0", self.plan.bind);
        for key in ["dfs.datanode.address", "dfs.datanode.ipc.address", "dfs.datanode.http.address"]
        {
            conf.set(key, any_port.clone());
        }
        let folder = self.plan.folder.join(format!("data{}", index + 1));
        conf.set("dfs.datanode.data.dir", folder.to_string_lossy());
        apply(&mut conf, &self.plan.values);
        conf
    }

    pub fn rpc_addr(&self) -> SocketAddr {
        self.namenode.rpc_addr()
    }

    pub fn http_addr(&self) -> SocketAddr {
        self.namenode.http_addr()
    }

    pub fn datanode_count(&self) -> usize {
        self.datanodes.len()
    }

    pub fn uri(&self) -> String {
        format!("hdfs://{}", self.rpc_addr())
    }

    /// The configuration of a client of this cluster.
    pub fn client_conf(&self) -> Conf {
        let mut conf = Conf::new();
        for (name, value) in self.client_values() {
            conf.set(&name, value);
        }
        conf
    }

    fn client_values(&self) -> Vec<(String, String)> {
        let replication = self.conf.get_raw("dfs.replication").unwrap_or_default();
        let mut values = vec![
            ("fs.defaultFS".to_owned(), self.uri()),
            ("dfs.namenode.rpc-address".to_owned(), self.rpc_addr().to_string()),
            ("dfs.namenode.http-address".to_owned(), self.http_addr().to_string()),
            ("dfs.replication".to_owned(), replication),
        ];
        for name in [SHORT_CIRCUIT, SOCKET_PATH] {
            values.extend(self.conf.get_raw(name).map(|value| (name.to_owned(), value)));
        }
        let own: Vec<String> = values.iter().map(|(name, _)| name.clone()).collect();
        values.extend(self.plan.values.iter().filter(|(name, _)| !own.contains(name)).cloned());
        values
    }

    /// Writes core-site.xml and hdfs-site.xml that our programs and Apache's can use.
    pub fn write_client_conf(&self, folder: &Path) -> Outcome {
        let values = self.client_values();
        let is_core = |name: &str| !name.starts_with("dfs.");
        let site = |core: bool| {
            let chosen = values.iter().filter(move |(name, _)| is_core(name) == core);
            site_xml(chosen.map(|(name, value)| (name.as_str(), value.as_str())))
        };
        let write = |name: &str, text: String| {
            let path = folder.join(name);
            let unfinished = folder.join(format!(".{name}"));
            // A reader never sees half of it.
            std::fs::write(&unfinished, text)
                .and_then(|()| std::fs::rename(&unfinished, &path))
                .map_err(|error| failed(&format!("cannot write {}", path.display()), error))
        };
        std::fs::create_dir_all(folder)
            .map_err(|error| failed(&format!("cannot make {}", folder.display()), error))?;
        write("core-site.xml", site(true))?;
        write("hdfs-site.xml", site(false))
    }

    /// Waits until a DataNode cannot go on.
    pub async fn failure(&self) -> Failure {
        let mut watch = JoinSet::new();
        for node in &self.datanodes {
            let node = node.clone();
            watch.spawn(async move { node.failed().await.to_string() });
        }
        tokio::select! {
            problem = self.namenode.failed() => failed("the NameNode failed", problem),
            one = watch.join_next(), if !self.datanodes.is_empty() => match one {
                Some(Ok(problem)) => failed("a DataNode failed", problem),
                Some(Err(problem)) => failed("a DataNode failed", problem),
                None => std::future::pending().await,
            }
        }
    }

    /// Stops the DataNodes, then the NameNode.
    pub async fn stop(self) {
        let mut stopping = JoinSet::new();
        for node in self.datanodes {
            // Watchers of a node hold it too; they end with their tasks before this is called.
            if let Ok(node) = Arc::try_unwrap(node) {
                stopping.spawn(node.stop());
            }
        }
        while stopping.join_next().await.is_some() {}
        self.namenode.stop().await;
    }
}

/// Settings that make a small cluster quick: one machine, no waiting for more DataNodes.
fn namenode_conf(plan: &Plan) -> Conf {
    let mut conf = Conf::new();
    let address = |port: u16| format!("{}:{port}", plan.bind);
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    conf.set("fs.defaultFS", format!("hdfs://{}", address(plan.port)));
    conf.set("hadoop.tmp.dir", text(plan.folder.join("tmp")));
    conf.set("dfs.namenode.rpc-address", address(plan.port));
    conf.set("dfs.namenode.http-address", address(plan.http_port));
    conf.set("dfs.namenode.name.dir", text(plan.folder.join("name")));
    conf.set("dfs.replication", plan.datanodes.min(3).to_string());
    conf.set("dfs.namenode.safemode.extension", "0");
    // All may report at once: who waits for its turn is late by a heartbeat.
    conf.set("dfs.namenode.max.full.block.report.leases", plan.datanodes.max(6).to_string());
    apply(&mut conf, &plan.values);
    conf
}

fn apply(conf: &mut Conf, values: &[(String, String)]) {
    for (name, value) in values {
        conf.set_option(name, value);
    }
}
