//! The NameNodes that a configuration names.

use zerohop_conf::{Conf, keys};

use crate::failure::{Failure, Outcome};
use crate::fs::Location;

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

fn address_of(conf: &Conf, service: &str, id: &str) -> Outcome<Option<String>> {
    let suffixes = [service, id];
    if let Some(address) = conf.get_for(&keys::DFS_NAMENODE_SERVICERPC_ADDRESS, &suffixes)? {
        return Ok(Some(address));
    }
    if let Some(address) = conf.get_for(&keys::DFS_NAMENODE_RPC_ADDRESS, &suffixes)? {
        return Ok(Some(address));
    }
    let default = Location::parse(&conf.get(&keys::FS_DEFAULTFS)?);
    let usable = service.is_empty() && default.scheme.as_deref() == Some("hdfs");
    Ok(default.authority.filter(|_| usable))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let hosts: Vec<String> = configured(&conf).unwrap().into_iter().map(|n| n.host).collect();
        assert_eq!(hosts, ["x", "y", "z"]);
    }
}
