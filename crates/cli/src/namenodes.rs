//! The NameNodes that a configuration names.

use std::net::ToSocketAddrs;

use zerohop_client::blocking::FileSystem;
use zerohop_conf::{Authority, Conf, keys};

use crate::failure::{Failure, Outcome};
use crate::fs::{Location, client_failure, open_client};

/// Port of fs.defaultFS where it names none.
pub const RPC_PORT: u16 = 8020;

/// One NameNode of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameNode {
    /// `nameservice`, empty without name services.
    pub nameservice: String,
    /// Id within the name service, empty where there is one only.
    pub id: String,
    pub host: String,
    pub port: u16,
}

impl NameNode {
    fn parse(nameservice: &str, id: &str, address: &str) -> Outcome<NameNode> {
        let (host, port) = match address.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().ok()),
            None => (address, Some(RPC_PORT)),
        };
        let port = port.ok_or_else(|| {
            Failure::io(format!("`{address}' is not an address; write it as HOST:PORT"))
        })?;
        let host = host.to_owned();
        Ok(NameNode { nameservice: nameservice.to_owned(), id: id.to_owned(), host, port })
    }

    /// As Java prints a socket address: `host/ip:port`, without the host where an ip was configured.
    pub fn address(&self) -> String {
        let found = (self.host.as_str(), self.port).to_socket_addrs();
        let ip = found.ok().and_then(|mut found| found.next()).map(|addr| addr.ip().to_string());
        let ip = ip.unwrap_or_else(|| "<unresolved>".to_owned());
        let host = if self.host == ip { "" } else { &self.host };
        format!("{host}/{ip}:{}", self.port)
    }

    /// A client of this NameNode alone. One that is down is found out as quickly as by a client that
    /// fails over.
    pub fn client(&self, conf: &Conf) -> Outcome<FileSystem> {
        let mut conf = conf.clone();
        for (key, like) in [
            (&keys::IPC_CLIENT_CONNECT_MAX_RETRIES, &keys::DFS_CLIENT_FAILOVER_CONNECTION_RETRIES),
            (
                &keys::IPC_CLIENT_CONNECT_MAX_RETRIES_ON_TIMEOUTS,
                &keys::DFS_CLIENT_FAILOVER_CONNECTION_RETRIES_ON_TIMEOUTS,
            ),
        ] {
            let value = conf.get(like)?;
            conf.set(key.name, value.to_string());
        }
        let uri = format!("hdfs://{}:{}", self.host, self.port);
        open_client(&conf, Some(&uri))
    }
}

/// Returns the name service of the default file system, or its host with the port that is written.
pub fn default_authority(conf: &Conf) -> Outcome<String> {
    name_of(conf, Location::default_of(conf)?.place())
}

/// Returns the name of a name service without the default port, or a host as it is written.
fn name_of(conf: &Conf, place: Option<Authority>) -> Outcome<String> {
    let Some(place) = place else { return Ok(String::new()) };
    let services = conf.get(&keys::DFS_NAMESERVICES)?;
    let is_service =
        place.has_default_port() && services.iter().any(|service| service == place.host());
    Ok(if is_service { place.host().to_owned() } else { place.to_string() })
}

/// The NameNodes of a name service that has several; none if `authority` is a host or names a
/// service with one NameNode.
pub fn of_service(conf: &Conf, authority: &str) -> Outcome<Vec<NameNode>> {
    if !conf.get(&keys::DFS_NAMESERVICES)?.iter().any(|service| service == authority)
        || !conf.is_set(&format!("{}.{authority}", keys::DFS_HA_NAMENODES.name))
    {
        return Ok(Vec::new());
    }
    let mut found = configured(conf)?;
    found.retain(|node| node.nameservice == authority && !node.id.is_empty());
    Ok(found)
}

/// The NameNode of several that is active, as they say themselves.
pub fn active(conf: &Conf, nodes: Vec<NameNode>) -> Outcome<NameNode> {
    let mut problems = Vec::new();
    for node in nodes {
        match node.client(conf).and_then(|fs| fs.is_active().map_err(client_failure)) {
            Ok(true) => return Ok(node),
            Ok(false) => problems.push(format!("{} is standby", node.address())),
            Err(failure) => problems.push(failure.to_string()),
        }
    }
    Err(Failure::io(format!("no NameNode is active: {}", problems.join("; "))))
}

/// `host:port` of the active NameNode of the default file system.
pub fn rpc_address(conf: &Conf) -> Outcome<String> {
    let authority = default_authority(conf)?;
    let several = of_service(conf, &authority)?;
    if several.len() > 1 {
        let node = active(conf, several)?;
        return Ok(format!("{}:{}", node.host, node.port));
    }
    let is_service = conf.get(&keys::DFS_NAMESERVICES)?.contains(&authority);
    if is_service || authority.is_empty() {
        let nodes = configured(conf)?;
        let mut nodes = nodes.into_iter();
        let node = nodes.find(|node| !is_service || node.nameservice == authority);
        let node = node.ok_or_else(|| Failure::io("no NameNode is configured"))?;
        return Ok(format!("{}:{}", node.host, node.port));
    }
    Ok(Authority::parse(&authority).address())
}

/// The RPC addresses of all NameNodes, as DFSUtil.getNNServiceRpcAddressesForCluster finds them.
pub fn configured(conf: &Conf) -> Outcome<Vec<NameNode>> {
    let mut services = conf.get(&keys::DFS_INTERNAL_NAMESERVICES)?;
    if services.is_empty() {
        services = conf.get(&keys::DFS_NAMESERVICES)?;
    }
    if services.is_empty() {
        services.push(String::new());
    }
    let mut found = Vec::new();
    for service in &services {
        let mut ids: Vec<String> = Vec::new();
        if conf.is_set(&format!("dfs.ha.namenodes.{service}")) {
            ids = conf.get_for(&keys::DFS_HA_NAMENODES, &[service])?;
        }
        if ids.is_empty() {
            ids.push(String::new());
        }
        for id in &ids {
            if let Some(address) = address_of(conf, service, id)? {
                found.push(NameNode::parse(service, id, &address)?);
            }
        }
    }
    if found.is_empty() {
        return Err(Failure::io(
            "Incorrect configuration: namenode address dfs.namenode.servicerpc-address or dfs.namenode.rpc-address is not configured.",
        ));
    }
    Ok(found)
}

/// `host:port` of the web server of the NameNode that a location belongs to.
pub fn http_address(conf: &Conf, location: &Location) -> Outcome<String> {
    let default = Location::default_of(conf)?;
    let authority = name_of(conf, location.place().or_else(|| default.place()))?;
    let services = conf.get(&keys::DFS_NAMESERVICES)?;
    let several = of_service(conf, &authority)?;
    let node = match services.iter().find(|service| **service == authority) {
        Some(_) if several.len() > 1 => Some(active(conf, several)?),
        Some(service) => {
            let mut nodes = configured(conf)?.into_iter();
            nodes.find(|node| node.nameservice == *service)
        }
        None => None,
    };
    match &node {
        Some(node) => http_address_of(conf, &[&node.nameservice, &node.id], &node.host),
        None => http_address_of(conf, &[], Authority::parse(&authority).host()),
    }
}

/// Id and `host:port` of the web server of each NameNode that shares the namespace of the default file system.
pub fn http_addresses(conf: &Conf) -> Outcome<Vec<(String, String)>> {
    let several = of_service(conf, &default_authority(conf)?)?;
    if several.len() < 2 {
        return Ok(vec![(String::new(), http_address(conf, &Location::default_of(conf)?)?)]);
    }
    let address = |node: NameNode| {
        let address = http_address_of(conf, &[&node.nameservice, &node.id], &node.host)?;
        Ok((node.id, address))
    };
    several.into_iter().map(address).collect()
}

/// What is configured for a name service and an id, on a NameNode's own host.
fn http_address_of(conf: &Conf, suffixes: &[&str], host: &str) -> Outcome<String> {
    if host.is_empty() {
        return Err(Failure::io(
            "no NameNode is configured; set fs.defaultFS in core-site.xml or give -fs hdfs://HOST:PORT",
        ));
    }
    let address = conf.get_for(&keys::DFS_NAMENODE_HTTP_ADDRESS, suffixes)?;
    Ok(match address.strip_prefix("0.0.0.0:") {
        Some(port) => format!("{host}:{port}"),
        None => address,
    })
}

fn address_of(conf: &Conf, service: &str, id: &str) -> Outcome<Option<String>> {
    let suffixes = [service, id];
    if let Some(address) = conf.get_for(&keys::DFS_NAMENODE_SERVICERPC_ADDRESS, &suffixes)? {
        return Ok(Some(address));
    }
    if let Some(address) = conf.get_for(&keys::DFS_NAMENODE_RPC_ADDRESS, &suffixes)? {
        return Ok(Some(address));
    }
    let default = Location::default_of(conf)?;
    let usable = service.is_empty() && default.has_scheme("hdfs");
    Ok(default.place().filter(|_| usable).map(|place| place.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_as_java_prints_them() {
        let of = |host: &str| NameNode::parse("", "", &format!("{host}:1")).unwrap().address();
        assert_eq!(of("127.0.0.1"), "/127.0.0.1:1");
        assert_eq!(of("no.such.host.invalid"), "no.such.host.invalid/<unresolved>:1");
    }

    #[test]
    fn one_and_many() {
        let mut conf = Conf::new();
        assert!(configured(&conf).is_err());
        conf.set("fs.defaultFS", "hdfs://h");
        let one = NameNode { nameservice: "".into(), id: "".into(), host: "h".into(), port: 8020 };
        assert_eq!(configured(&conf).unwrap(), [one]);
        conf.set("dfs.nameservices", "a,b");
        conf.set("dfs.ha.namenodes.a", "n1,n2");
        conf.set("dfs.namenode.rpc-address.a.n1", "x:1");
        conf.set("dfs.namenode.rpc-address.a.n2", "y:2");
        conf.set("dfs.namenode.rpc-address.b", "z:3");
        let of = |authority: &str| of_service(&conf, authority).unwrap();
        let ids: Vec<String> = of("a").into_iter().map(|node| node.id).collect();
        assert_eq!(ids, ["n1", "n2"]);
        assert!(of("b").is_empty() && of("h").is_empty());
        let hosts: Vec<String> = configured(&conf).unwrap().into_iter().map(|n| n.host).collect();
        assert_eq!(hosts, ["x", "y", "z"]);
    }

    #[test]
    fn web_addresses_of_one_and_of_several() {
        let of = |conf: &Conf| http_addresses(conf).unwrap();
        let pair = |id: &str, address: &str| (id.to_owned(), address.to_owned());
        let mut conf = Conf::new();
        conf.set("fs.defaultFS", "hdfs://h:9");
        assert_eq!(of(&conf), [pair("", "h:9870")]);
        conf.set("dfs.namenode.http-address", "w:1");
        assert_eq!(of(&conf), [pair("", "w:1")]);
        conf.set("fs.defaultFS", "hdfs://a");
        conf.set("dfs.nameservices", "a");
        conf.set("dfs.ha.namenodes.a", "n1,n2");
        conf.set("dfs.namenode.rpc-address.a.n1", "x:1");
        conf.set("dfs.namenode.rpc-address.a.n2", "y:2");
        conf.set("dfs.namenode.http-address.a.n1", "0.0.0.0:5");
        conf.set("dfs.namenode.http-address.a.n2", "y:6");
        assert_eq!(of(&conf), [pair("n1", "x:5"), pair("n2", "y:6")]);
    }
}
