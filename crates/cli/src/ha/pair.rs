//! The parts of a highly available cluster, and the configuration that all of them share.

/// A NameNode of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameNodeAt {
    /// Its id in the name service.
    pub id: String,
    /// `host:port` of its RPC server.
    pub rpc: String,
    /// `host:port` of its pages.
    pub http: String,
    /// The port of its failover controller, where that is not the usual one.
    pub controller_port: Option<u16>,
}

/// What a highly available cluster consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    pub nameservice: String,
    pub namenodes: Vec<NameNodeAt>,
    /// `host:port` of the RPC server of each JournalNode.
    pub journal_nodes: Vec<String>,
    /// `host:port` of each ZooKeeper server; with none, failover is by hand.
    pub zookeeper: Vec<String>,
    /// The methods of dfs.ha.fencing.methods, a line each.
    pub fencing: String,
}

/// Apache's clients need it; ours find the active NameNode without.
const PROVIDER: &str = "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider";

impl Pair {
    /// What every program of the cluster reads, clients included.
    pub fn settings(&self) -> Vec<(String, String)> {
        let service = &self.nameservice;
        let ids: Vec<&str> = self.namenodes.iter().map(|node| node.id.as_str()).collect();
        let mut settings = Vec::new();
        let mut set = |name: &str, value: &str| settings.push((name.to_owned(), value.to_owned()));
        set("fs.defaultFS", &format!("hdfs://{service}"));
        set("dfs.nameservices", service);
        set(&format!("dfs.ha.namenodes.{service}"), &ids.join(","));
        for node in &self.namenodes {
            let of_node = |key: &str| format!("{key}.{service}.{}", node.id);
            set(&of_node("dfs.namenode.rpc-address"), &node.rpc);
            set(&of_node("dfs.namenode.http-address"), &node.http);
            if let Some(port) = node.controller_port {
                set(&of_node("dfs.ha.zkfc.port"), &port.to_string());
            }
        }
        set(&format!("dfs.client.failover.proxy.provider.{service}"), PROVIDER);
        let nodes = self.journal_nodes.join(";");
        set("dfs.namenode.shared.edits.dir", &format!("qjournal://{nodes}/{service}"));
        // The standby follows at once, so that a failover has little to catch up with.
        set("dfs.ha.tail-edits.in-progress", "true");
        set("dfs.ha.tail-edits.period", "50ms");
        set("dfs.ha.fencing.methods", &self.fencing);
        if !self.zookeeper.is_empty() {
            set("dfs.ha.automatic-failover.enabled", "true");
            set("ha.zookeeper.quorum", &self.zookeeper.join(","));
        }
        settings
    }
}
