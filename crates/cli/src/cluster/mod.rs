//! A whole HDFS in this process: a NameNode and some DataNodes on free or given ports, data in one directory.

mod addresses;
mod plan;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use zerohop_system::clock;

use tokio::task::JoinSet;
use zerohop_conf::{Conf, keys, site_xml};
use zerohop_datanode::DataNode;
use zerohop_namenode::storage::StorageConfig;
use zerohop_namenode::{FormatOptions, NameNode};

use crate::domain_socket;
use crate::failure::{Failure, Outcome};
use crate::file_copier;
use crate::rest::Rest;
use crate::units::human;
use crate::webhdfs;
pub use addresses::Addresses;
pub use plan::{Plan, names_a_place};

/// Longest wait for the end of safe mode once all DataNodes have reported.
const SAFE_MODE_WAIT: Duration = Duration::from_secs(5);
const SAFE_MODE_POLL: Duration = Duration::from_millis(2);

const SHORT_CIRCUIT: &str = "dfs.client.read.shortcircuit";
const SOCKET_PATH: &str = "dfs.domain.socket.path";

/// A running cluster.
pub struct Cluster {
    namenode: NameNode,
    datanodes: Vec<DataNode>,
    conf: Conf,
    plan: Plan,
}

/// The options of `up` that take other ports, behind the keys that the error names.
const PORT_ADVICE: &str = "; --port and --http-port take others, 0 any free ones";

fn failed(what: &str, error: impl std::fmt::Display) -> Failure {
    Failure::io(format!("{what}: {error}"))
}

/// Whether a name directory is to be formatted: it is not there, or empty. One that lost its VERSION
/// holds a namespace all the same.
fn is_new(directory: &Path) -> Outcome<bool> {
    let cannot = |error: std::io::Error| {
        let advice = "; start it as the user who owns the directory";
        failed(
            "the NameNode does not start",
            format!("cannot read {}: {error}{advice}", directory.display()),
        )
    };
    if directory.join("current/VERSION").try_exists().map_err(cannot)? {
        return Ok(false);
    }
    match std::fs::read_dir(directory).map(|mut entries| entries.next().is_none()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(cannot(error)),
        Ok(true) => Ok(true),
        Ok(false) => Err(Failure::io(format!(
            "the NameNode does not start: {0} holds files, but no current/VERSION; put that file \
             back, or move {0} away to begin with an empty file system",
            directory.display()
        ))),
    }
}

impl Cluster {
    /// Starts everything and waits until all DataNodes have registered and reported.
    pub async fn start(plan: Plan) -> Outcome<Cluster> {
        let conf = plan.namenode_conf();
        let mut all_new = true;
        let directories = StorageConfig::from_conf(&conf);
        let directories =
            directories.map_err(|error| failed("the NameNode does not start", error))?;
        for directory in directories.image_dirs {
            all_new &= is_new(&directory)?;
        }
        if all_new {
            NameNode::format(&conf, FormatOptions::default())
                .map_err(|error| failed("cannot format the NameNode", error))?;
        }
        let namenode = NameNode::start(Arc::new(conf.clone())).await;
        let namenode = namenode.map_err(|error| {
            let is_taken = matches!(&error, zerohop_namenode::Error::Bind { source, .. }
                if source.kind() == std::io::ErrorKind::AddrInUse);
            let advice = if is_taken { PORT_ADVICE } else { "" };
            failed("the NameNode does not start", format!("{error}{advice}"))
        })?;
        file_copier::offer(&namenode, &conf);
        let mut cluster = Cluster { namenode, datanodes: Vec::new(), conf, plan };
        let (rpc, service) = (cluster.namenode.rpc_addr(), cluster.namenode.service_rpc_addr());
        cluster.plan.set_addresses(&mut cluster.conf, rpc, service);
        cluster.turn_local_reads_on();
        webhdfs::serve_namenode(&cluster.namenode, &cluster.conf)?;
        match cluster.bring_up().await {
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
        let wanted =
            || self.conf.get_raw(SHORT_CIRCUIT).is_some_and(|value| value.trim() == "true");
        if given(SOCKET_PATH) || (given(SHORT_CIRCUIT) && !wanted()) {
            return;
        }
        match domain_socket::choose(&self.plan.directory) {
            Ok(path) => {
                self.conf.set(SOCKET_PATH, path);
                self.conf.set(SHORT_CIRCUIT, "true");
            }
            Err(reasons) => noteln!(
                "no local reads: no directory for a domain socket is safe (-D {SOCKET_PATH}=PATH \
                 sets one)\n{reasons}"
            ),
        }
    }

    async fn bring_up(&mut self) -> Outcome {
        self.start_datanodes().await?;
        let of_each: Vec<_> = self.datanodes.iter().map(DataNode::heat_maps).collect();
        let all = move |seconds| of_each.iter().flat_map(|maps| maps(seconds)).collect();
        self.namenode.serve_heatmap(Arc::new(all));
        tokio::select! {
            biased;
            failure = self.failure() => Err(failure),
            () = self.ready() => Ok(()),
        }
    }

    /// Starts all of them, also when one fails: those that run can then be stopped in order.
    async fn start_datanodes(&mut self) -> Outcome {
        let mut starting = JoinSet::new();
        for index in 0..self.plan.datanodes {
            let conf = self.plan.datanode_conf(&self.conf, index);
            starting.spawn(async move {
                let conf = Arc::new(conf);
                let node = DataNode::start(conf.clone()).await.map_err(|e| e.to_string())?;
                webhdfs::serve_datanode(&node, &conf).map_err(|e| e.to_string())?;
                Ok::<_, String>(node)
            });
        }
        let mut result = Ok(());
        while let Some(started) = starting.join_next().await {
            let started = started.map_err(|error| failed("a DataNode does not start", error));
            match started
                .and_then(|node| node.map_err(|error| failed("a DataNode does not start", error)))
            {
                Ok(node) => self.datanodes.push(node),
                Err(failure) => result = result.and(Err(failure)),
            }
        }
        result
    }

    /// Waits until all DataNodes have reported, and for the end of safe mode.
    async fn ready(&self) {
        for node in &self.datanodes {
            node.ready().await;
        }
        self.leave_safe_mode().await;
    }

    /// Waits for the end of safe mode, unless replicas or disk space lack: then the cluster serves reads at least.
    async fn leave_safe_mode(&self) {
        let limit = clock::now() + SAFE_MODE_WAIT;
        while let Some(tip) = self.namenode.safe_mode_tip() {
            if self.namenode.is_low_on_space() {
                noteln!("{}", self.low_space());
                return;
            }
            if clock::now() > limit {
                let tip = tip.replace('\n', " ");
                noteln!("Safe mode is still on: {tip} (zerohop fsck / lists what is missing)");
                return;
            }
            clock::sleep(SAFE_MODE_POLL).await;
        }
    }

    /// Returns the advice for a disk that is too small for the edit log.
    fn low_space(&self) -> String {
        let key = &keys::DFS_NAMENODE_RESOURCE_DU_RESERVED;
        let reserved = self.conf.get(key).unwrap_or_default();
        let reserved = human(i64::try_from(reserved).unwrap_or(i64::MAX), "B", 1);
        format!(
            "Safe mode is on: less than {reserved} ({}) is free on the disk of {}, so that nothing can be written. Free \
             some space; safe mode ends by itself then",
            key.name,
            self.plan.directory.display()
        )
    }

    fn reachable_at(&self, listener: SocketAddr) -> String {
        self.plan.addresses.reachable_at(listener)
    }

    /// `host:port` of the NameNode's RPC server, for clients.
    fn rpc_address(&self) -> String {
        self.reachable_at(self.namenode.rpc_addr())
    }

    /// `host:port` of the NameNode's web server, for clients.
    pub fn http_address(&self) -> String {
        self.reachable_at(self.namenode.http_addr())
    }

    /// Serves the cluster by REST; at `port`, if one is named.
    pub fn start_rest(&self, port: Option<u16>) -> Outcome<Rest> {
        Rest::start(self.client_conf(), self.plan.addresses.listen(), port)
    }

    /// `host:port` of a gateway, for callers.
    pub fn rest_url(&self, rest: &Rest) -> String {
        format!("{}://{}", rest.scheme(), self.reachable_at(rest.address()))
    }

    /// Whether other machines can connect.
    pub fn is_open(&self) -> bool {
        self.plan.addresses.is_open()
    }

    pub fn datanode_count(&self) -> usize {
        self.datanodes.len()
    }

    pub fn uri(&self) -> String {
        format!("hdfs://{}", self.rpc_address())
    }

    /// The configuration of a client of this cluster.
    pub fn client_conf(&self) -> Conf {
        let replication = self.conf.get_raw("dfs.replication").unwrap_or_default();
        let mut own = vec![
            ("fs.defaultFS", self.uri()),
            ("dfs.namenode.rpc-address", self.rpc_address()),
            ("dfs.namenode.http-address", self.http_address()),
            ("dfs.replication", replication),
        ];
        let service = self.namenode.service_rpc_addr();
        own.extend(
            service.map(|addr| ("dfs.namenode.servicerpc-address", self.reachable_at(addr))),
        );
        for name in [SHORT_CIRCUIT, SOCKET_PATH] {
            own.extend(self.conf.get_raw(name).map(|value| (name, value)));
        }
        self.plan.client_conf(own)
    }

    /// Writes core-site.xml and hdfs-site.xml that our programs and Apache's can use.
    pub fn write_client_conf(&self, directory: &Path) -> Outcome {
        let conf = self.client_conf();
        let is_core = |name: &str| !name.starts_with("dfs.");
        let site =
            |core: bool| site_xml(conf.iter().filter(move |(name, _)| is_core(name) == core));
        let write = |name: &str, text: String| {
            let path = directory.join(name);
            let unfinished = directory.join(format!(".{name}"));
            // A reader never sees half of it.
            zerohop_system::files::write(&unfinished, text)
                .and_then(|()| std::fs::rename(&unfinished, &path))
                .map_err(|error| failed(&format!("cannot write {}", path.display()), error))
        };
        std::fs::create_dir_all(directory)
            .map_err(|error| failed(&format!("cannot make {}", directory.display()), error))?;
        write("core-site.xml", site(true))?;
        write("hdfs-site.xml", site(false))
    }

    /// Waits until the NameNode or a DataNode cannot go on.
    pub async fn failure(&self) -> Failure {
        // Borrowed, and not tasks of their own: nothing may hold a DataNode when it is to be stopped.
        let mut watched: Vec<_> =
            self.datanodes.iter().map(|node| Box::pin(node.failed())).collect();
        let one = std::future::poll_fn(|context| {
            let mut polled = watched.iter_mut().map(|node| node.as_mut().poll(context));
            polled.find(Poll::is_ready).unwrap_or(Poll::Pending)
        });
        tokio::select! {
            biased;
            problem = self.namenode.failed() => failed("the NameNode failed", problem),
            problem = one => failed("a DataNode failed", problem),
        }
    }

    /// Whether the NameNode has lost edits that it serves: nothing may see them any more.
    pub async fn is_lost(&self) -> bool {
        tokio::select! {
            biased;
            _ = self.namenode.failed() => true,
            () = std::future::ready(()) => false,
        }
    }

    /// Stops the DataNodes, then the NameNode; one that has lost edits is gone before anything else.
    pub async fn stop(self) {
        let in_order = !self.is_lost().await;
        let namenode = in_order.then_some(self.namenode);
        let mut stopping = JoinSet::new();
        for node in self.datanodes {
            stopping.spawn(node.stop());
        }
        while stopping.join_next().await.is_some() {}
        if let Some(namenode) = namenode {
            namenode.stop().await;
        }
    }
}
