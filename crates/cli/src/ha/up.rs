//! `up --ha`: two NameNodes, three JournalNodes and the DataNodes as processes of this machine.

use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use zerohop_client::blocking::FileSystem;
use zerohop_client::{DatanodeReportType, SafeModeAction, User};
use zerohop_conf::{Conf, NameNodeId, keys};
use zerohop_daemon::process::host_name;
use zerohop_failover::{RequestSource, ServiceState, Target};
use zerohop_system::{clock, ports};

use super::children::Children;
use super::pair::{NameNodeAt, Pair};
use super::site::write_site;
use crate::domain_socket;
use crate::failure::{Failure, Outcome};

/// How long a daemon may take until it serves.
const SERVES_WITHIN: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);
const JOURNAL_NODES: usize = 3;
const NAMENODES: [&str; 2] = ["nn1", "nn2"];

/// What such a cluster shall be like.
pub struct HaPlan {
    pub directory: PathBuf,
    pub datanodes: usize,
    /// RPC port of the first NameNode; the second has the next one. 0 takes any free ones.
    pub port: u16,
    pub http_port: u16,
    /// `host:port` of ZooKeeper servers; with none, failover is by hand.
    pub zookeeper: Vec<String>,
    /// Values of the command line; they count more than ours.
    pub values: Vec<(String, String)>,
}

/// A running cluster.
pub struct HaCluster {
    plan: HaPlan,
    children: Children,
    conf: Conf,
}

/// Ports that are free now, held until all are chosen: none is chosen twice.
struct Ports(Vec<TcpListener>);

impl Ports {
    /// A free port, or the one that is asked for.
    fn take(&mut self, wanted: u16) -> Outcome<u16> {
        let port = if wanted == 0 { ports::free()? } else { wanted };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
            Failure::io(format!(
                "port {port}: {error}; --port and --http-port take others, 0 any free ones"
            ))
        })?;
        self.0.push(listener);
        Ok(port)
    }
}

/// The second NameNode's port where the first one's is named.
fn next(port: u16) -> u16 {
    if port == 0 { 0 } else { port.saturating_add(1) }
}

impl HaCluster {
    /// Makes what is not there yet, starts all, and waits until one NameNode is active and serves.
    pub async fn start(plan: HaPlan) -> Outcome<Self> {
        let children = Children::new(&plan.directory)?;
        let mut ports = Ports(Vec::new());
        let local = |port: u16| format!("127.0.0.1:{port}");
        let mut namenodes = Vec::new();
        for (at, id) in NAMENODES.iter().enumerate() {
            let (rpc, http) = match at {
                0 => (plan.port, plan.http_port),
                _ => (next(plan.port), next(plan.http_port)),
            };
            namenodes.push(NameNodeAt {
                id: (*id).to_owned(),
                rpc: local(ports.take(rpc)?),
                http: local(ports.take(http)?),
                controller_port: Some(ports.take(0)?),
            });
        }
        let mut journal_nodes = Vec::new();
        for _ in 0..JOURNAL_NODES {
            journal_nodes.push(local(ports.take(0)?));
        }
        drop(ports);
        let pair = Pair {
            nameservice: "ha".to_owned(),
            namenodes,
            journal_nodes,
            zookeeper: plan.zookeeper.clone(),
            // Nothing is killed: the JournalNodes let no two write.
            fencing: "shell(/bin/true)".to_owned(),
        };
        let conf = write_confs(&plan, &pair)?;
        let mut cluster = Self { plan, children, conf };
        match cluster.bring_up(&pair).await {
            Ok(()) => Ok(cluster),
            Err(failure) => {
                cluster.stop().await;
                Err(failure)
            }
        }
    }

    async fn bring_up(&mut self, pair: &Pair) -> Outcome {
        for (at, address) in pair.journal_nodes.iter().enumerate() {
            let name = format!("jn{}", at + 1);
            self.children.start(&name, &name, "journalnode")?;
            self.until_listening(&name, address).await?;
        }
        let formatted = |id: &str| self.plan.directory.join(id).join("current/VERSION").exists();
        let (first, second) = (formatted("nn1"), formatted("nn2"));
        if !first {
            self.once("nn1", &["namenode", "-format", "-nonInteractive"]).await?;
        }
        if !self.plan.zookeeper.is_empty() {
            // What is there names the NameNode that was active when the cluster ended, with a port that may be another's now.
            self.once("nn1", &["zkfc", "-formatZK", "-force", "-nonInteractive"]).await?;
        }
        self.start_namenode("nn1", &pair.namenodes[0].rpc).await?;
        if !second {
            self.once("nn2", &["namenode", "-bootstrapStandby", "-nonInteractive"]).await?;
        }
        self.start_namenode("nn2", &pair.namenodes[1].rpc).await?;
        match self.plan.zookeeper.is_empty() {
            true => self.make_active("nn1").await?,
            false => {
                for id in NAMENODES {
                    self.children.start(&format!("zkfc-{id}"), id, "zkfc")?;
                }
            }
        }
        for at in 1..=self.plan.datanodes {
            let name = format!("dn{at}");
            self.children.start(&name, &name, "datanode")?;
        }
        self.until_served().await
    }

    async fn start_namenode(&mut self, id: &str, address: &str) -> Outcome {
        self.children.start(id, id, "namenode")?;
        self.until_listening(id, address).await
    }

    /// Runs a verb that must succeed.
    async fn once(&self, name: &str, words: &[&str]) -> Outcome {
        match self.children.run(name, words).await? {
            0 => Ok(()),
            _ => Err(self.said(name, &words.join(" "))),
        }
    }

    fn said(&self, name: &str, what: &str) -> Failure {
        Failure::io(format!("{what} failed for {name}:\n{}", self.children.last_words(name)))
    }

    async fn until_listening(&mut self, name: &str, address: &str) -> Outcome {
        let limit = clock::now() + SERVES_WITHIN;
        while TcpStream::connect(address).is_err() {
            if clock::now() > limit || self.has_ended(name).await {
                return Err(self.said(name, "the start"));
            }
            clock::sleep(POLL).await;
        }
        Ok(())
    }

    async fn has_ended(&mut self, name: &str) -> bool {
        self.one_that_ended().await.is_some_and(|ended| ended == name)
    }

    /// Returns the name of a daemon that has ended, once for each.
    async fn one_that_ended(&mut self) -> Option<String> {
        tokio::select! {
            biased;
            (ended, _) = self.children.ended() => Some(ended),
            () = std::future::ready(()) => None,
        }
    }

    fn target(&self, id: &str) -> Outcome<Target> {
        let id = NameNodeId { nameservice: "ha".to_owned(), namenode: id.to_owned() };
        Target::new(&self.conf, id).map_err(Failure::of)
    }

    async fn make_active(&self, id: &str) -> Outcome {
        let timeout = self.conf.get(&keys::HA_NEW_ACTIVE_RPC_TIMEOUT)?;
        let service = self.target(id)?.service(timeout)?;
        service.to_active(RequestSource::User).await.map_err(Failure::of)
    }

    /// Waits until a NameNode is active, has left safe mode, and knows all DataNodes. Fails as soon as a daemon ends.
    async fn until_served(&mut self) -> Outcome {
        let limit = clock::now() + SERVES_WITHIN;
        loop {
            if let Some(name) = self.one_that_ended().await {
                return Err(self.said(&name, "the start"));
            }
            let (conf, wanted) = (self.conf.clone(), self.plan.datanodes);
            let serves = tokio::task::spawn_blocking(move || serves(&conf, wanted)).await;
            match serves {
                Ok(Ok(true)) => return Ok(()),
                Ok(Err(error)) if clock::now() > limit => {
                    return Err(Failure::io(format!("no NameNode serves: {error}")));
                }
                _ if clock::now() > limit => {
                    noteln!(
                        "Safe mode is still on, or DataNodes are missing: see {}",
                        self.children.log_of("nn1").display()
                    );
                    return Ok(());
                }
                _ => clock::sleep(POLL).await,
            }
        }
    }

    /// The id of the NameNode that says that it is active.
    pub async fn active(&self) -> Option<&'static str> {
        for id in NAMENODES {
            let Ok(target) = self.target(id) else { continue };
            let Ok(service) = target.service(Duration::from_secs(2)) else { continue };
            if service.status().await.is_ok_and(|status| status.state == ServiceState::Active) {
                return Some(id);
            }
        }
        None
    }

    /// The configuration of clients.
    pub fn client_conf(&self) -> Conf {
        self.conf.clone()
    }

    /// Its directory with core-site.xml and hdfs-site.xml.
    pub fn client_directory(&self) -> PathBuf {
        self.plan.directory.join("conf")
    }

    pub fn listen(&self) -> IpAddr {
        Ipv4Addr::LOCALHOST.into()
    }

    /// Lines for the terminal: addresses, processes, and what to try.
    pub async fn lines(&self) -> Vec<String> {
        let conf = self.client_directory();
        let mut lines = vec!["hdfs://ha".to_owned()];
        let active = self.active().await;
        for id in NAMENODES {
            let Ok(target) = self.target(id) else { continue };
            let http = target.conf().get(&keys::DFS_NAMENODE_HTTP_ADDRESS).unwrap_or_default();
            let state = if active == Some(id) { "active" } else { "standby" };
            lines.push(format!("{id}   {} ({state}), http://{http}/", target.address()));
        }
        for one in self.children.running() {
            lines.push(format!("pid   {:<8} {}", one.pid, one.name));
        }
        let admin = format!("zerohop haadmin --config {}", conf.display());
        lines.push(format!("state {admin} -getAllServiceState"));
        let (from, to) = match active {
            Some("nn2") => ("nn2", "nn1"),
            _ => ("nn1", "nn2"),
        };
        lines.push(format!("move  {admin} -failover {from} {to}"));
        if let Some(active) = self.children.running().iter().find(|one| one.name == from) {
            lines.push(match self.plan.zookeeper.is_empty() {
                false => format!("kill  kill -9 {}", active.pid),
                true => format!(
                    "kill  kill -9 {}; {admin} -transitionToActive --forceactive {to}",
                    active.pid
                ),
            });
        }
        lines.push(format!(
            "again {}   (a NameNode that was killed)",
            self.children.command_line(from, "namenode")
        ));
        lines
    }

    /// Ready when a daemon has ended: a line about it.
    pub async fn ended(&mut self) -> String {
        let (name, status) = self.children.ended().await;
        format!("{name} has ended: {status}")
    }

    /// Ends all, those that others need last.
    pub async fn stop(&mut self) {
        for start in ["dn", "zkfc", "nn", "jn"] {
            self.children.end(start).await;
        }
    }
}

fn serves(conf: &Conf, datanodes: usize) -> Result<bool, zerohop_client::Error> {
    let fs = FileSystem::connect(conf, None)?;
    if fs.safe_mode(SafeModeAction::SafemodeGet)? {
        return Ok(false);
    }
    let live = fs.datanode_report(DatanodeReportType::Live)?;
    if live.len() < datanodes {
        return Ok(false);
    }
    fs.mkdirs(&fs.home())?;
    Ok(true)
}

/// Where the cluster's lock is in ZooKeeper: other clusters that use it have other directories, or run on other machines.
fn parent_znode(directory: &Path) -> Outcome<String> {
    let directory = directory.canonicalize()?;
    Ok(format!("/hadoop-ha/{}{}", host_name(), directory.display()))
}

/// Writes the configuration of each daemon and of clients; that of clients.
fn write_confs(plan: &HaPlan, pair: &Pair) -> Outcome<Conf> {
    let mut shared = pair.settings();
    let mut add = |name: &str, value: &str| shared.push((name.to_owned(), value.to_owned()));
    add("hadoop.tmp.dir", &plan.directory.join("tmp").to_string_lossy());
    add("dfs.replication", &plan.datanodes.min(3).to_string());
    add("dfs.namenode.safemode.extension", "0");
    if !plan.zookeeper.is_empty() {
        add("ha.zookeeper.parent-znode", &parent_znode(&plan.directory)?);
    }
    let login = User::of_process().name;
    add(&format!("hadoop.proxyuser.{login}.hosts"), "*");
    add(&format!("hadoop.proxyuser.{login}.users"), "*");
    match domain_socket::choose(&plan.directory) {
        Ok(path) => {
            add("dfs.domain.socket.path", &path);
            add("dfs.client.read.shortcircuit", "true");
        }
        Err(reasons) => {
            noteln!("no local reads: no directory for a domain socket is safe\n{reasons}")
        }
    }
    let path = |name: &str| plan.directory.join(name).to_string_lossy().into_owned();
    let conf = |own: &[(&str, String)]| {
        let mut conf = Conf::new();
        let own = own.iter().map(|(name, value)| (*name, value.as_str()));
        let all = shared.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        all.chain(own).for_each(|(name, value)| conf.set(name, value));
        plan.values.iter().for_each(|(name, value)| conf.set_option(name, value));
        conf
    };
    let at = plan.directory.join("conf");
    for id in NAMENODES {
        let own = [("dfs.ha.namenode.id", id.to_owned()), ("dfs.namenode.name.dir", path(id))];
        write_site(&at.join(id), conf(&own).iter())?;
    }
    for (number, address) in pair.journal_nodes.iter().enumerate() {
        let name = format!("jn{}", number + 1);
        let own = [
            ("dfs.journalnode.edits.dir", path(&name)),
            ("dfs.journalnode.rpc-address", address.clone()),
            ("dfs.journalnode.http-address", "127.0.0.1:0".to_owned()),
        ];
        write_site(&at.join(&name), conf(&own).iter())?;
    }
    for number in 1..=plan.datanodes {
        let own = [
            ("dfs.datanode.data.dir", path(&format!("data{number}"))),
            ("dfs.datanode.address", "127.0.0.1:0".to_owned()),
            ("dfs.datanode.ipc.address", "127.0.0.1:0".to_owned()),
            ("dfs.datanode.http.address", "127.0.0.1:0".to_owned()),
            ("dfs.datanode.hostname", "127.0.0.1".to_owned()),
        ];
        write_site(&at.join(format!("dn{number}")), conf(&own).iter())?;
    }
    let client = conf(&[]);
    write_site(&at, client.iter())?;
    Ok(client)
}
