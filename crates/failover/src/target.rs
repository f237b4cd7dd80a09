//! A NameNode of a pair, as it is configured.

use crate::peer::Peer;
use crate::service::Service;
use std::fmt;
use std::net::ToSocketAddrs;
use std::sync::Arc;
use std::time::Duration;
use zerohop_conf::{Conf, ConfError, NameNodeId, keys};

/// The port of RPC addresses that name none.
const RPC_PORT: u16 = 8020;

/// A NameNode that can be made active or standby (`NNHAServiceTarget`).
#[derive(Clone, Debug)]
pub struct Target {
    id: NameNodeId,
    conf: Arc<Conf>,
    host: String,
    port: u16,
    lifeline: Option<String>,
}

/// Why a NameNode is not known.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The configuration.
    #[error(transparent)]
    Conf(#[from] ConfError),
    /// No name service is named, and there is not just one.
    #[error("Unable to determine the name service ID.{0}")]
    NameService(String),
    /// It has no address.
    #[error(
        "Unable to determine service address for namenode '{namenode}': set {key}.{nameservice}.{namenode} to its HOST:PORT",
        namenode = .0.namenode,
        nameservice = .0.nameservice,
        key = keys::DFS_NAMENODE_RPC_ADDRESS.name
    )]
    Address(NameNodeId),
}

impl Target {
    /// The NameNode `namenode` of `nameservice`, or of the only name service.
    ///
    /// # Errors
    /// If it is not configured.
    pub fn find(
        conf: &Conf,
        nameservice: Option<&str>,
        namenode: &str,
    ) -> Result<Self, TargetError> {
        let nameservice = match nameservice {
            Some(named) => named.to_owned(),
            None => only_service(conf)?,
        };
        Self::new(conf, NameNodeId { nameservice, namenode: namenode.to_owned() })
    }

    /// The NameNode with this id.
    ///
    /// # Errors
    /// If it has no address.
    pub fn new(conf: &Conf, id: NameNodeId) -> Result<Self, TargetError> {
        // Values of one NameNode count for that one only: what is not named for it must not be another one's.
        let special = id.specialize(conf);
        let suffixes = [id.nameservice.as_str(), id.namenode.as_str()];
        let mut address = None;
        for key in [&keys::DFS_NAMENODE_SERVICERPC_ADDRESS, &keys::DFS_NAMENODE_RPC_ADDRESS] {
            let found = conf.get_for(key, &suffixes)?.filter(|text| !text.is_empty());
            address = address.or(found);
        }
        let unknown = || TargetError::Address(id.clone());
        let address = address.ok_or_else(unknown)?;
        let (host, port) = match address.rsplit_once(':') {
            Some((host, port)) => (host.to_owned(), port.parse().map_err(|_| unknown())?),
            None => (address, RPC_PORT),
        };
        let lifeline = special.get(&keys::DFS_NAMENODE_LIFELINE_RPC_ADDRESS)?;
        let lifeline = lifeline.filter(|text| !text.is_empty());
        Ok(Self { id, conf: Arc::new(special), host, port, lifeline })
    }

    /// The other NameNodes of its name service.
    ///
    /// # Errors
    /// If one of them has no address.
    pub fn others(&self, conf: &Conf) -> Result<Vec<Self>, TargetError> {
        let pairs = NameNodeId::of_pairs(conf)?.into_iter();
        let others = pairs.filter(|id| id.nameservice == self.id.nameservice && *id != self.id);
        others.map(|id| Self::new(conf, id)).collect()
    }

    /// Its ids.
    pub fn id(&self) -> &NameNodeId {
        &self.id
    }

    /// The configuration as it reads it.
    pub fn conf(&self) -> &Conf {
        &self.conf
    }

    /// The host of its RPC address.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port of its RPC address.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `host:port` of its RPC address.
    pub fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Whether a host and a port are those of its RPC address, however the host is named.
    pub(crate) fn is_at(&self, host: &str, port: i32) -> bool {
        let resolve = |host: &str| {
            let found = (host, self.port).to_socket_addrs().ok().into_iter().flatten();
            found.collect::<Vec<_>>()
        };
        let ours = resolve(&self.host);
        i32::from(self.port) == port && resolve(host).iter().any(|address| ours.contains(address))
    }

    /// The address as Java prints it: `host/ip:port`.
    pub fn java_address(&self) -> String {
        java_address(&self.host, self.port)
    }

    /// The port of its failover controller.
    ///
    /// # Errors
    /// If the value is no port.
    pub fn controller_port(&self) -> Result<u16, ConfError> {
        self.conf.get(&keys::DFS_HA_ZKFC_PORT)
    }

    /// Whether failover controllers decide which NameNode is active.
    ///
    /// # Errors
    /// If the value is neither true nor false.
    pub fn is_automatic(&self) -> Result<bool, ConfError> {
        self.conf.get(&keys::DFS_HA_AUTOMATIC_FAILOVER_ENABLED)
    }

    /// A client of its HAServiceProtocol.
    ///
    /// # Errors
    /// If the configuration asks for a protection that clients do not have.
    pub fn service(&self, timeout: Duration) -> Result<Service, ConfError> {
        Service::new(&self.conf, &self.address(), timeout, 1)
    }

    /// The address that is asked for its health.
    pub(crate) fn health_address(&self) -> String {
        self.lifeline.clone().unwrap_or_else(|| self.address())
    }

    /// A client of its failover controller.
    ///
    /// # Errors
    /// If the configuration asks for a protection that clients do not have.
    pub fn controller(&self, timeout: Duration) -> Result<Peer, ConfError> {
        let address = format!("{}:{}", self.host, self.controller_port()?);
        Peer::new(&self.conf, &address, timeout)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.lifeline {
            Some(address) => match address.rsplit_once(':') {
                Some((host, port)) => {
                    let port = port.parse().unwrap_or_default();
                    write!(f, "NameNode at {}", java_address(host, port))
                }
                None => write!(f, "NameNode at {address}"),
            },
            None => write!(f, "NameNode at {}", self.java_address()),
        }
    }
}

/// As Java prints a socket address: without the host where an address of digits was configured.
fn java_address(host: &str, port: u16) -> String {
    let found = (host, port).to_socket_addrs().ok().and_then(|mut found| found.next());
    match found.map(|address| address.ip().to_string()) {
        Some(ip) if ip == host => format!("/{ip}:{port}"),
        Some(ip) => format!("{host}/{ip}:{port}"),
        None => format!("{host}/<unresolved>:{port}"),
    }
}

/// The name service, if there is only one.
fn only_service(conf: &Conf) -> Result<String, TargetError> {
    let mut services = conf.get(&keys::DFS_NAMESERVICES)?;
    if services.len() > 1 {
        return Err(TargetError::NameService(format!(
            " This is an HA configuration with multiple name services configured. dfs.nameservices is set to [{}]. Please re-run with the -ns option.",
            services.join(", ")
        )));
    }
    services.pop().ok_or_else(|| TargetError::NameService(String::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> Conf {
        let mut conf = Conf::new();
        conf.set("dfs.nameservices", "ns");
        conf.set("dfs.ha.namenodes.ns", "nn1,nn2");
        conf.set("dfs.namenode.rpc-address.ns.nn1", "127.0.0.1:1");
        conf.set("dfs.namenode.rpc-address.ns.nn2", "localhost:2");
        conf.set("dfs.ha.zkfc.port.ns.nn2", "3");
        conf
    }

    #[test]
    fn addresses_and_ports_are_those_of_the_namenode() {
        let one = Target::find(&pair(), None, "nn1").unwrap();
        assert_eq!(one.to_string(), "NameNode at /127.0.0.1:1");
        assert_eq!(one.controller_port().unwrap(), 8019);
        let others = one.others(&pair()).unwrap();
        assert_eq!(others.len(), 1);
        assert_eq!(others[0].address(), "localhost:2");
        assert_eq!(others[0].controller_port().unwrap(), 3);
    }

    #[test]
    fn a_namenode_that_is_not_configured_is_named() {
        let error = Target::find(&pair(), None, "nn3").unwrap_err().to_string();
        assert_eq!(
            error,
            "Unable to determine service address for namenode 'nn3': set dfs.namenode.rpc-address.ns.nn3 to its HOST:PORT"
        );
        let mut two = pair();
        two.set("dfs.nameservices", "ns,other");
        let error = Target::find(&two, None, "nn1").unwrap_err().to_string();
        assert!(error.ends_with("Please re-run with the -ns option."), "{error}");
        assert!(Target::find(&two, Some("ns"), "nn1").is_ok());
    }
}
