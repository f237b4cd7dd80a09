//! What a cluster of one process shall be like, and the configurations that follow from it.

use std::net::SocketAddr;
use std::path::PathBuf;

use zerohop_client::User;
use zerohop_conf::Conf;

use super::addresses::Addresses;

/// Keys of configuration files that name the machines, ports and directories of the cluster that the
/// files were written for. A dot at the end stands for all keys that begin so.
const PLACES: [&str; 26] = [
    "fs.defaultFS",
    "hadoop.tmp.dir",
    "dfs.hosts",
    "dfs.hosts.exclude",
    "dfs.domain.socket.path",
    "dfs.namenode.name.dir",
    "dfs.namenode.edits.dir",
    "dfs.namenode.edits.dir.required",
    "dfs.namenode.edits.dir.minimum",
    "dfs.namenode.shared.edits.dir",
    "dfs.namenode.checkpoint.dir",
    "dfs.namenode.checkpoint.edits.dir",
    "dfs.namenode.rpc-bind-host",
    "dfs.namenode.http-bind-host",
    "dfs.namenode.https-bind-host",
    "dfs.namenode.servicerpc-bind-host",
    "dfs.namenode.http-address",
    "dfs.namenode.https-address",
    "dfs.datanode.data.dir",
    "dfs.datanode.failed.volumes.tolerated",
    "dfs.datanode.address",
    "dfs.datanode.hostname",
    "dfs.datanode.ipc.address",
    "dfs.datanode.http.address",
    "dfs.datanode.https.address",
    "dfs.client.failover.",
];

/// Where the NameNode listens.
const FS: &str = "fs.defaultFS";
const RPC: &str = "dfs.namenode.rpc-address";
const SERVICE_RPC: &str = "dfs.namenode.servicerpc-address";

/// Name services: who has them registers with their NameNodes and not with ours.
const SERVICES: [&str; 4] =
    ["dfs.nameservices", "dfs.internal.nameservices", "dfs.nameservice.id", "dfs.ha.namenode.id"];

/// Whether a key of a file says where another cluster is, and so does not count for this one.
pub fn names_a_place(name: &str) -> bool {
    let is_one = |place: &&'static str| match place.ends_with('.') {
        true => name.starts_with(*place),
        false => name == *place,
    };
    SERVICES.contains(&name)
        || PLACES.iter().any(is_one)
        // Those of name services and their NameNodes, too.
        || [RPC, SERVICE_RPC, "dfs.ha.namenodes."].iter().any(|start| name.starts_with(start))
}

/// What the cluster shall be like.
#[derive(Debug, Clone)]
pub struct Plan {
    pub directory: PathBuf,
    pub addresses: Addresses,
    pub datanodes: usize,
    /// Values of the command line; they count more than ours.
    pub values: Vec<(String, String)>,
}

impl Plan {
    /// Settings that make a small cluster quick: one machine, no waiting for more DataNodes.
    pub(super) fn namenode_conf(&self) -> Conf {
        let mut conf = Conf::new();
        let text = |name: &str| self.directory.join(name).to_string_lossy().into_owned();
        conf.set(FS, format!("hdfs://{}", self.addresses.rpc()));
        conf.set("hadoop.tmp.dir", text("tmp"));
        conf.set(RPC, self.addresses.rpc());
        conf.set("dfs.namenode.http-address", self.addresses.http());
        conf.set("dfs.namenode.name.dir", text("name"));
        conf.set("dfs.replication", self.datanodes.min(3).to_string());
        conf.set("dfs.namenode.safemode.extension", "0");
        // All may report at once: who waits for its turn is late by a heartbeat.
        conf.set("dfs.namenode.max.full.block.report.leases", self.datanodes.max(6).to_string());
        if self.addresses.is_open() {
            // The cluster's own DataNodes need no name of their address in a resolver.
            conf.set("dfs.namenode.datanode.registration.ip-hostname-check", "false");
        }
        // The REST gateway acts for those who ask it. Who connects to the NameNode himself is believed, too.
        let login = User::of_process().name;
        conf.set(&format!("hadoop.proxyuser.{login}.hosts"), "*");
        conf.set(&format!("hadoop.proxyuser.{login}.users"), "*");
        self.apply(&mut conf);
        conf
    }

    /// The configuration of one DataNode of the cluster that listens as `cluster` says.
    pub(super) fn datanode_conf(&self, cluster: &Conf, index: usize) -> Conf {
        let mut conf = cluster.clone();
        let keys =
            ["dfs.datanode.address", "dfs.datanode.ipc.address", "dfs.datanode.http.address"];
        for (key, address) in keys.into_iter().zip(self.addresses.datanode(index)) {
            conf.set(key, address);
        }
        // WebHDFS sends its callers there.
        conf.set("dfs.datanode.hostname", self.addresses.reachable());
        let directory = self.directory.join(format!("data{}", index + 1));
        conf.set("dfs.datanode.data.dir", directory.to_string_lossy());
        self.apply(&mut conf);
        // The command line may have asked for any free port; these are the ones that were found.
        for key in [FS, RPC, SERVICE_RPC] {
            match cluster.get_raw(key) {
                Some(address) => conf.set(key, address),
                None => conf.unset(key),
            }
        }
        conf
    }

    /// Notes where the NameNode is reached.
    pub(super) fn set_addresses(
        &self,
        conf: &mut Conf,
        rpc: SocketAddr,
        service: Option<SocketAddr>,
    ) {
        let rpc = self.addresses.reachable_at(rpc);
        conf.set(FS, format!("hdfs://{rpc}"));
        conf.set(RPC, rpc);
        match service {
            Some(service) => conf.set(SERVICE_RPC, self.addresses.reachable_at(service)),
            None => conf.unset(SERVICE_RPC),
        }
    }

    fn apply(&self, conf: &mut Conf) {
        for (name, value) in &self.values {
            conf.set_option(name, value);
        }
        for name in SERVICES {
            conf.unset(name);
        }
    }

    /// The configuration of a client: the command line's, and `own`.
    pub(super) fn client_conf(&self, own: Vec<(&str, String)>) -> Conf {
        let mut conf = Conf::new();
        self.apply(&mut conf);
        for (name, value) in own {
            conf.set(name, value);
        }
        conf
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(values: &[(&str, &str)]) -> Plan {
        let values = values.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let addresses = Addresses::local_on_free_ports();
        Plan { directory: "/c".into(), addresses, datanodes: 1, values }
    }

    /// Port 0 of the command line came back for the DataNodes, which then waited for ever.
    #[test]
    fn datanodes_get_the_addresses_that_were_found() {
        let plan = plan(&[
            ("fs.default.name", "hdfs://127.0.0.1:0"),
            (RPC, "127.0.0.1:0"),
            (SERVICE_RPC, "127.0.0.1:0"),
            ("dfs.nameservices", "other"),
            ("dfs.datanode.data.dir", "/d"),
        ]);
        let mut conf = plan.namenode_conf();
        let (rpc, service) = ("127.0.0.1:7", "127.0.0.1:8");
        plan.set_addresses(&mut conf, rpc.parse().unwrap(), Some(service.parse().unwrap()));
        let conf = plan.datanode_conf(&conf, 0);
        let value = |name| conf.get_raw(name);
        assert_eq!(value(FS).as_deref(), Some("hdfs://127.0.0.1:7"));
        assert_eq!(value(RPC).as_deref(), Some(rpc));
        assert_eq!(value(SERVICE_RPC).as_deref(), Some(service));
        assert_eq!(value("dfs.nameservices"), None);
        assert_eq!(value("dfs.datanode.data.dir").as_deref(), Some("/d"));
    }

    #[test]
    fn clients_get_the_clusters_address_whatever_name_was_used_for_it() {
        let plan = plan(&[("fs.default.name", "hdfs://127.0.0.1:0"), ("dfs.blocksize", "1m")]);
        let conf = plan.client_conf(vec![(FS, "hdfs://127.0.0.1:7".to_owned())]);
        assert_eq!(conf.get_raw(FS).as_deref(), Some("hdfs://127.0.0.1:7"));
        assert_eq!(conf.get_raw("dfs.blocksize").as_deref(), Some("1m"));
    }

    #[test]
    fn another_clusters_places_do_not_count_and_its_other_settings_do() {
        for name in [
            "dfs.nameservices",
            "dfs.ha.namenodes.c",
            "dfs.namenode.rpc-address",
            "dfs.namenode.rpc-address.c.a",
            "dfs.client.failover.proxy.provider.c",
            "dfs.datanode.data.dir",
            "dfs.datanode.failed.volumes.tolerated",
            "dfs.hosts",
        ] {
            assert!(names_a_place(name), "{name}");
        }
        for name in ["dfs.blocksize", "dfs.datanode.data.dir.perm", "dfs.namenode.name.dir.restore"]
        {
            assert!(!names_a_place(name), "{name}");
        }
    }
}
