//! Keys that promise protection or exclusivity and are not implemented, or only for some values. A
//! role that Apache holds to such a promise does not start: running without it is worse than not
//! running. Everything else that is not implemented is warned of.

use crate::Role::{self, Client, DataNode, FailoverController, Gateway, JournalNode, NameNode};

/// One promise that is not kept, or only for some values.
#[derive(Debug, Clone, Copy)]
pub struct Protection {
    /// The key's name. Names of one name service or NameNode (`name.ns1.nn1`) are looked at, too.
    pub name: &'static str,
    /// Who refuses.
    pub roles: &'static [Role],
    /// Values that promise nothing, or nothing that is not kept.
    pub accepts: Accepts,
    /// What is not there, as a sentence.
    pub lacks: &'static str,
}

/// Values that are accepted.
#[derive(Debug, Clone, Copy)]
pub enum Accepts {
    /// A list of these, whatever their case.
    Words(&'static [&'static str]),
    /// None: the key must not be set.
    Nothing,
}

impl Accepts {
    /// Returns the words of a value that are not accepted.
    pub(crate) fn refused<'v>(&self, value: &'v str) -> Vec<&'v str> {
        let words = value.split([',', '\n']).map(str::trim).filter(|word| !word.is_empty());
        let is_known = |word: &str| match self {
            Accepts::Words(known) => known.iter().any(|known| known.eq_ignore_ascii_case(word)),
            Accepts::Nothing => false,
        };
        words.filter(|word| !is_known(word)).collect()
    }
}

const ALL: &[Role] = &[NameNode, DataNode, JournalNode, FailoverController, Gateway, Client];
const SERVERS: &[Role] = &[NameNode, DataNode, JournalNode];
const RPC_SERVERS: &[Role] = &[NameNode, DataNode, JournalNode, FailoverController];
const GROUP_READERS: &[Role] = &[NameNode, DataNode, JournalNode, FailoverController, Gateway];
const DATA: &[Role] = &[DataNode, Client];
const PAGES: &[Role] = &[NameNode, DataNode, JournalNode, Gateway];
const GATEWAY: &[Role] = &[Gateway];
const NAMENODE: &[Role] = &[NameNode];
const DATANODE: &[Role] = &[DataNode];
const FAILOVER: &[Role] = &[FailoverController];

const OFF: Accepts = Accepts::Words(&["false"]);
const ON: Accepts = Accepts::Words(&["true"]);
const UNIX_GROUPS: Accepts = Accepts::Words(&[
    "org.apache.hadoop.security.JniBasedUnixGroupsMappingWithFallback",
    "org.apache.hadoop.security.JniBasedUnixGroupsMapping",
    "org.apache.hadoop.security.ShellBasedUnixGroupsMapping",
]);

const fn row(
    name: &'static str,
    roles: &'static [Role],
    accepts: Accepts,
    lacks: &'static str,
) -> Protection {
    Protection { name, roles, accepts, lacks }
}

/// The promises, a line each. A key that is implemented leaves the table, or gets the values that are.
#[rustfmt::skip]
pub const PROTECTIONS: &[Protection] = &[
    // Who somebody is, and what he may do.
    row("hadoop.security.authentication", ALL, Accepts::Words(&["simple"]), "Kerberos is not implemented: users would be believed whatever name they send"),
    row("hadoop.security.authorization", RPC_SERVERS, OFF, "service-level authorization (hadoop-policy.xml) is not implemented"),
    row("hadoop.security.group.mapping", GROUP_READERS, UNIX_GROUPS, "groups are only looked up in the operating system"),
    row("httpfs.groups.hadoop.security.group.mapping", GATEWAY, UNIX_GROUPS, "groups are only looked up in the operating system"),
    row("hadoop.security.impersonation.provider.class", GROUP_READERS, Accepts::Words(&["org.apache.hadoop.security.authorize.DefaultImpersonationProvider"]), "only the default rules of hadoop.proxyuser.* are implemented"),
    row("hadoop.security.key.provider.path", NAMENODE, Accepts::Nothing, "encryption zones are not implemented: files would be kept as plain text"),
    row("dfs.namenode.inode.attributes.provider.class", NAMENODE, Accepts::Nothing, "external authorizers (INodeAttributeProvider) are not implemented"),
    // What others on the network can read or change.
    row("hadoop.rpc.protection", ALL, Accepts::Words(&["authentication"]), "RPC is neither signed nor encrypted"),
    row("hadoop.security.saslproperties.resolver.class", ALL, Accepts::Nothing, "RPC is neither signed nor encrypted"),
    row("dfs.namenode.send.qop.enabled", NAMENODE, OFF, "RPC is neither signed nor encrypted"),
    row("dfs.encrypt.data.transfer", ALL, OFF, "block data is not encrypted on the wire"),
    row("dfs.data.transfer.protection", ALL, Accepts::Nothing, "data connections are neither authenticated nor protected"),
    row("dfs.data.transfer.saslproperties.resolver.class", DATA, Accepts::Nothing, "data connections are neither authenticated nor protected"),
    row("dfs.encrypt.data.overwrite.downstream.new.qop", DATANODE, Accepts::Nothing, "block data is not encrypted on the wire"),
    row("dfs.encrypt.data.overwrite.downstream.derived.qop", DATANODE, OFF, "block data is not encrypted on the wire"),
    row("dfs.block.access.token.enable", SERVERS, OFF, "block tokens are not implemented: whoever reaches a DataNode may read and write its blocks"),
    // Web pages.
    row("dfs.http.policy", SERVERS, Accepts::Words(&["HTTP_ONLY", "HTTP_AND_HTTPS"]), "the web pages are served by HTTP only"),
    row("hadoop.http.authentication.type", PAGES, Accepts::Words(&["simple"]), "users of the web pages are not authenticated"),
    row("hadoop.http.authentication.simple.anonymous.allowed", SERVERS, ON, "the web pages can be read without a user name"),
    row("hadoop.http.filter.initializers", PAGES, Accepts::Words(&["org.apache.hadoop.http.lib.StaticUserWebFilter", "org.apache.hadoop.security.HttpCrossOriginFilterInitializer"]), "no other filter in front of the web pages is implemented"),
    row("dfs.datanode.httpserver.filter.handlers", DATANODE, Accepts::Words(&["org.apache.hadoop.hdfs.server.datanode.web.RestCsrfPreventionFilterHandler"]), "no other filter in front of the DataNode's WebHDFS is implemented"),
    row("hadoop.security.instrumentation.requires.admin", PAGES, OFF, "/jmx is not only for administrators"),
    row("hadoop.ssl.require.client.cert", GATEWAY, OFF, "HTTPS does not ask callers for certificates"),
    row("httpfs.hadoop.authentication.type", GATEWAY, Accepts::Words(&["simple"]), "Kerberos is not implemented: the gateway does not prove its user to the cluster"),
    row("httpfs.authentication.type", GATEWAY, Accepts::Words(&["simple"]), "callers are not authenticated: they are believed whatever name they send"),
    // What the failover controller asks ZooKeeper for.
    row("dfs.ha.zkfc.client.ssl.enabled", FAILOVER, OFF, "ZooKeeper is asked without TLS"),
    row("hadoop.zk.ssl.enabled", FAILOVER, OFF, "ZooKeeper is asked without TLS"),
    // Which DataNodes may join, and where replicas go.
    row("dfs.namenode.hosts.provider.classname", NAMENODE, Accepts::Words(&["org.apache.hadoop.hdfs.server.blockmanagement.HostFileManager", "org.apache.hadoop.hdfs.server.blockmanagement.CombinedHostFileManager"]), "host files of other classes are not read"),
    row("dfs.namenode.reject-unresolved-dn-topology-mapping", NAMENODE, OFF, "DataNodes whose rack is not known are not refused"),
    row("dfs.block.replicator.classname", NAMENODE, Accepts::Words(&["org.apache.hadoop.hdfs.server.blockmanagement.BlockPlacementPolicyDefault"]), "only the default placement of replicas is implemented"),
    row("net.topology.impl", NAMENODE, Accepts::Words(&["org.apache.hadoop.net.NetworkTopology"]), "only the topology of racks is implemented"),
    row("net.topology.node.switch.mapping.impl", NAMENODE, Accepts::Words(&["org.apache.hadoop.net.ScriptBasedMapping", "org.apache.hadoop.net.TableMapping"]), "racks are found by a script or a table only"),
];

/// The row of a name.
pub fn find(name: &str) -> Option<&'static Protection> {
    PROTECTIONS.iter().find(|row| row.name == name)
}
