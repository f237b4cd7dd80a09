//! Which of the NameNodes of a configuration is meant.

use crate::{Conf, ConfError, keys};
use std::net::{TcpListener, ToSocketAddrs};

/// A NameNode of a name service that has several.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NameNodeId {
    /// The name service, of `dfs.nameservices`.
    pub nameservice: String,
    /// The NameNode, of `dfs.ha.namenodes.NAMESERVICE`.
    pub namenode: String,
}

impl NameNodeId {
    /// The NameNode that runs with this configuration on this machine: the one that `dfs.nameservice.id` and
    /// `dfs.ha.namenode.id` name, else the only one whose RPC address is this machine's (`HAUtil.getNameNodeId`). None if no
    /// name service has several NameNodes.
    ///
    /// # Errors
    /// If none or several could be meant.
    pub fn of_this_machine(conf: &Conf) -> Result<Option<Self>, ConfError> {
        let pairs = Self::of_pairs(conf)?;
        if pairs.is_empty() {
            return Ok(None);
        }
        let service = conf.get(&keys::DFS_NAMESERVICE_ID)?.filter(|id| !id.is_empty());
        let id = conf.get(&keys::DFS_HA_NAMENODE_ID)?.filter(|id| !id.is_empty());
        let named = |pair: &Self| {
            service.as_ref().is_none_or(|service| *service == pair.nameservice)
                && id.as_ref().is_none_or(|id| *id == pair.namenode)
        };
        let mut found: Vec<Self> = pairs.into_iter().filter(named).collect();
        if id.is_none() {
            // Several may be this machine's; then it must be said which one is meant.
            let mut here = Vec::new();
            for pair in found {
                if pair.is_here(conf)? {
                    here.push(pair);
                }
            }
            found = here;
        }
        match (found.pop(), found.is_empty()) {
            (Some(one), true) => Ok(Some(one)),
            // A name service with one NameNode may stand beside pairs of others.
            (None, _) if id.is_none() && service.is_some_and(|s| !is_pair(conf, &s)) => Ok(None),
            _ => Err(conf.misfit(
                keys::DFS_HA_NAMENODE_ID.name,
                "the id of one NameNode of dfs.ha.namenodes.NAMESERVICE, as more than one or none has its dfs.namenode.rpc-address on this machine",
            )),
        }
    }

    /// All NameNodes of name services that have several.
    ///
    /// # Errors
    /// If a list cannot be read.
    pub fn of_pairs(conf: &Conf) -> Result<Vec<Self>, ConfError> {
        let mut found = Vec::new();
        for nameservice in conf.get(&keys::DFS_NAMESERVICES)? {
            let ids = conf.get_for(&keys::DFS_HA_NAMENODES, &[&nameservice])?;
            if ids.len() > 1 {
                found.extend(
                    ids.into_iter()
                        .map(|namenode| Self { nameservice: nameservice.clone(), namenode }),
                );
            }
        }
        Ok(found)
    }

    /// The configuration as this NameNode reads it.
    pub fn specialize(&self, conf: &Conf) -> Conf {
        conf.specialize(Some(&self.nameservice), Some(&self.namenode))
    }

    /// Returns the only name service whose NameNode has its RPC address on this machine, of those with one NameNode
    /// (`DFSUtil.getNamenodeNameServiceId`).
    ///
    /// # Errors
    /// Fails if several have, as in Apache Hadoop.
    pub fn service_of_this_machine(conf: &Conf) -> Result<Option<String>, ConfError> {
        let mut found = Vec::new();
        for nameservice in conf.get(&keys::DFS_NAMESERVICES)? {
            let ids = conf.get_for(&keys::DFS_HA_NAMENODES, &[&nameservice])?;
            let namenode = ids.into_iter().next().unwrap_or_default();
            let key = keys::DFS_NAMENODE_RPC_ADDRESS.name;
            let suffix = if namenode.is_empty() { String::new() } else { format!(".{namenode}") };
            // The plain address belongs to no name service.
            let is_named = conf.is_set(&format!("{key}.{nameservice}{suffix}"));
            let one = Self { nameservice, namenode };
            if is_named && one.is_here(conf)? {
                found.push(one.nameservice);
            }
        }
        match found.len() {
            0 | 1 => Ok(found.pop()),
            _ => Err(conf.misfit(
                keys::DFS_NAMESERVICE_ID.name,
                "one of dfs.nameservices, several of which have their dfs.namenode.rpc-address on this machine: set it to \
                 this NameNode's name service",
            )),
        }
    }

    /// Whether its RPC address is this machine's: one that can be listened on.
    fn is_here(&self, conf: &Conf) -> Result<bool, ConfError> {
        let address = self.specialize(conf).get(&keys::DFS_NAMENODE_RPC_ADDRESS)?;
        let Some(address) = address.filter(|address| !address.is_empty()) else { return Ok(false) };
        let host = address.rsplit_once(':').map_or(address.as_str(), |(host, _)| host);
        let found = (host, 0).to_socket_addrs();
        Ok(found.is_ok_and(|mut found| found.any(|address| TcpListener::bind(address).is_ok())))
    }
}

fn is_pair(conf: &Conf, nameservice: &str) -> bool {
    conf.get_for(&keys::DFS_HA_NAMENODES, &[nameservice]).is_ok_and(|ids| ids.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(first: &str, second: &str) -> Conf {
        let mut conf = Conf::new();
        conf.set("dfs.nameservices", "ns");
        conf.set("dfs.ha.namenodes.ns", "nn1,nn2");
        conf.set("dfs.namenode.rpc-address.ns.nn1", first);
        conf.set("dfs.namenode.rpc-address.ns.nn2", second);
        conf
    }

    fn here(conf: &Conf) -> Option<String> {
        NameNodeId::of_this_machine(conf).unwrap().map(|id| id.namenode)
    }

    #[test]
    fn it_is_the_one_whose_address_is_this_machines() {
        assert_eq!(here(&pair("192.0.2.1:8020", "127.0.0.1:8020")).as_deref(), Some("nn2"));
        assert_eq!(here(&Conf::new()), None);
    }

    #[test]
    fn with_two_on_one_machine_it_must_be_said() {
        let mut conf = pair("127.0.0.1:8020", "127.0.0.1:8021");
        let error = NameNodeId::of_this_machine(&conf).unwrap_err().to_string();
        assert!(error.contains("dfs.ha.namenode.id"), "{error}");
        conf.set("dfs.ha.namenode.id", "nn1");
        assert_eq!(here(&conf).as_deref(), Some("nn1"));
        conf.set("dfs.ha.namenode.id", "nn3");
        assert!(NameNodeId::of_this_machine(&conf).is_err());
    }

    #[test]
    fn a_name_service_with_one_namenode_is_known_by_its_address() {
        let federation = |first: &str, second: &str| {
            let mut conf = Conf::new();
            conf.set("dfs.nameservices", "a,b");
            conf.set("dfs.ha.namenodes.b", "only");
            conf.set("dfs.namenode.rpc-address.a", first);
            conf.set("dfs.namenode.rpc-address.b.only", second);
            NameNodeId::service_of_this_machine(&conf).map_err(|error| error.to_string())
        };
        let (here, away) = ("127.0.0.1:8020", "192.0.2.1:8020");
        assert_eq!(federation(here, away), Ok(Some("a".to_owned())));
        assert_eq!(federation(away, here), Ok(Some("b".to_owned())));
        assert_eq!(federation(away, away), Ok(None));
        let error = federation(here, here).unwrap_err();
        assert!(error.starts_with("dfs.nameservice.id: "), "{error}");
        assert!(error.ends_with("set it to this NameNode's name service"), "{error}");
        let mut plain = Conf::new();
        plain.set("dfs.nameservices", "a,b");
        plain.set("dfs.namenode.rpc-address", here);
        assert_eq!(NameNodeId::service_of_this_machine(&plain).unwrap(), None);
    }

    #[test]
    fn a_single_namenode_beside_another_pair_is_none_of_it() {
        let mut conf = pair("203.0.113.1:8020", "203.0.113.2:8020");
        conf.set("dfs.nameservices", "ns,mine");
        conf.set("dfs.nameservice.id", "mine");
        assert_eq!(here(&conf), None);
    }
}
