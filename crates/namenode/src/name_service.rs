//! The name service that this NameNode belongs to, and the other NameNodes of it.

use crate::Error;
use zerohop_conf::{Conf, NameNodeId, keys};

/// A NameNode that shares its edits with this one.
#[derive(Clone, Debug)]
pub(crate) struct OtherNameNode {
    /// Its id in `dfs.ha.namenodes`.
    pub(crate) id: String,
    /// Where it answers NameNodes, `host:port`.
    pub(crate) rpc: String,
    /// Where its pages and images are, `host:port`.
    pub(crate) http: String,
}

/// Who this NameNode is among those of its name service.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameService {
    /// The name service; empty where there are none.
    pub(crate) id: String,
    /// This NameNode's id; empty where it is the only one.
    pub(crate) namenode: String,
    /// None where it is the only one.
    pub(crate) others: Vec<OtherNameNode>,
}

impl NameService {
    /// Finds out who this NameNode is (`DFSUtil.getNamenodeNameServiceId`, `HAUtil.getNameNodeId`).
    ///
    /// # Errors
    /// If the configuration does not tell, or names NameNodes without their addresses.
    pub(crate) fn of(conf: &Conf) -> Result<Self, Error> {
        let Some(NameNodeId { nameservice: id, namenode }) = NameNodeId::of_this_machine(conf)?
        else {
            return Self::alone(conf);
        };
        let ids = conf.get_for(&keys::DFS_HA_NAMENODES, &[&id])?;
        let others = ids.iter().filter(|other| **other != namenode);
        let others = others.map(|other| OtherNameNode::from_conf(conf, &id, other));
        let others = others.collect::<Result<_, _>>()?;
        Ok(Self { id, namenode, others })
    }

    /// The only NameNode of its name service, or of all.
    fn alone(conf: &Conf) -> Result<Self, Error> {
        let named = conf.get(&keys::DFS_NAMESERVICE_ID)?.filter(|id| !id.is_empty());
        let services = conf.get(&keys::DFS_NAMESERVICES)?;
        let id = match (named, &services[..]) {
            (Some(id), _) => id,
            (None, [one]) => one.clone(),
            (None, []) => return Ok(Self::default()),
            (None, _) => match NameNodeId::service_of_this_machine(conf)? {
                Some(id) => id,
                None => return Ok(Self::default()),
            },
        };
        let ids = match conf.is_set(&format!("{}.{id}", keys::DFS_HA_NAMENODES.name)) {
            true => conf.get_for(&keys::DFS_HA_NAMENODES, &[&id])?,
            false => Vec::new(),
        };
        let namenode = ids.into_iter().next().unwrap_or_default();
        Ok(Self { id, namenode, others: Vec::new() })
    }

    /// Whether there are other NameNodes.
    pub(crate) fn is_ha_enabled(&self) -> bool {
        !self.others.is_empty()
    }

    /// Where this NameNode answers, `host:port`; `conf` is that of this NameNode.
    ///
    /// # Errors
    /// If the configuration does not tell.
    pub(crate) fn own_rpc(&self, conf: &Conf) -> Result<String, Error> {
        let address = conf.get(&keys::DFS_NAMENODE_RPC_ADDRESS)?;
        let (id, namenode) = (&self.id, &self.namenode);
        let key = format!("{}.{id}.{namenode}", keys::DFS_NAMENODE_RPC_ADDRESS.name);
        host_and_port(address, &key, id, namenode)
    }

    /// Returns the configuration as it is for this NameNode.
    ///
    /// # Errors
    /// Fails if other name services have name directories and this NameNode would take the default in `/tmp`.
    pub(crate) fn specialized(&self, conf: &Conf) -> Result<Conf, Error> {
        let part = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let own = conf.specialize(part(&self.id).as_deref(), part(&self.namenode).as_deref());
        let key = keys::DFS_NAMENODE_NAME_DIR.name;
        let others = name_directories(conf)?;
        if own.is_set(key) || others.is_empty() {
            return Ok(own);
        }
        let who = match self.id.as_str() {
            "" => {
                "which name service this NameNode belongs to is not known: set dfs.nameservice.id"
                    .to_owned()
            }
            id => format!("this NameNode belongs to the name service {id}: set {key}.{id}"),
        };
        Err(Error::Invalid(format!(
            "{key} is not set for this NameNode, whose default is in /tmp; set are {}; {who}",
            others.join(", ")
        )))
    }

    /// Refuses NameNodes of a pair that share nothing, and shared edits of one that is alone.
    ///
    /// # Errors
    /// The key and what to do about it.
    pub(crate) fn check_shared_edits(&self, conf: &Conf) -> Result<(), Error> {
        let key = keys::DFS_NAMENODE_SHARED_EDITS_DIR.name;
        let shared = conf.get(&keys::DFS_NAMENODE_SHARED_EDITS_DIR)?;
        let is_shared = shared.is_some_and(|uri| !uri.trim().is_empty());
        let (id, namenode) = (&self.id, &self.namenode);
        match (self.is_ha_enabled(), is_shared) {
            (true, false) => Err(Error::Invalid(format!(
                "dfs.ha.namenodes.{id} names other NameNodes beside {namenode}, but {key} is not set: set it to the JournalNodes, \
                 as qjournal://HOST1:8485;HOST2:8485;HOST3:8485/{id}"
            ))),
            (false, true) => Err(Error::Invalid(format!(
                "Invalid configuration: a shared edits dir must not be specified if HA is not enabled: {key} is set, but \
                 dfs.ha.namenodes.NAMESERVICE names no second NameNode; name both there, or remove {key}"
            ))),
            _ => Ok(()),
        }
    }
}

impl OtherNameNode {
    fn from_conf(conf: &Conf, service: &str, id: &str) -> Result<Self, Error> {
        let own = conf.specialize(Some(service), Some(id));
        let rpc = rpc_address(conf, service, id)?;
        let http = own.get(&keys::DFS_NAMENODE_HTTP_ADDRESS)?;
        let host = rpc.rsplit_once(':').map_or(&*rpc, |(host, _)| host);
        let http = match http.strip_prefix("0.0.0.0:") {
            Some(port) => format!("{host}:{port}"),
            None => http,
        };
        let service_rpc = own.get(&keys::DFS_NAMENODE_SERVICERPC_ADDRESS)?;
        let rpc = service_rpc.filter(|address| !address.is_empty()).unwrap_or(rpc);
        Ok(Self { id: id.to_owned(), rpc, http })
    }
}

/// Returns the keys that set name directories for one name service or for a NameNode of one.
fn name_directories(conf: &Conf) -> Result<Vec<String>, Error> {
    let services = conf.get(&keys::DFS_NAMESERVICES)?;
    let key = keys::DFS_NAMENODE_NAME_DIR.name;
    let is_of_service = |name: &str| {
        let suffix = name.strip_prefix(key).and_then(|rest| rest.strip_prefix('.'));
        let service = suffix.map(|suffix| suffix.split('.').next().unwrap_or_default());
        service.is_some_and(|service| services.iter().any(|known| known == service))
    };
    let names = conf.iter().map(|(name, _)| name);
    Ok(names.filter(|name| is_of_service(name)).map(str::to_owned).collect())
}

fn rpc_address(conf: &Conf, service: &str, id: &str) -> Result<String, Error> {
    let suffixes: Vec<&str> = [service, id].into_iter().filter(|part| !part.is_empty()).collect();
    let key = format!("{}.{}", keys::DFS_NAMENODE_RPC_ADDRESS.name, suffixes.join("."));
    let address = conf.is_set(&key).then(|| conf.get_raw(&key)).flatten();
    host_and_port(address, &key, service, id)
}

/// The value of `key`, with the usual port where it names none.
fn host_and_port(
    address: Option<String>,
    key: &str,
    service: &str,
    id: &str,
) -> Result<String, Error> {
    match address.map(|address| address.trim().to_owned()).filter(|address| !address.is_empty()) {
        Some(address) if address.contains(':') => Ok(address),
        Some(address) => Ok(format!("{address}:8020")),
        None => Err(Error::Invalid(format!(
            "{key} is not set, but dfs.ha.namenodes.{service} names {id}: set it to that NameNode's HOST:PORT"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(more: &[(&str, &str)]) -> Conf {
        let mut conf = Conf::new();
        let settings = [
            ("dfs.nameservices", "ns"),
            ("dfs.ha.namenodes.ns", "a,b"),
            ("dfs.namenode.rpc-address.ns.a", "127.0.0.1:8020"),
            ("dfs.namenode.rpc-address.ns.b", "198.51.100.1:8021"),
        ];
        settings.iter().chain(more).for_each(|(name, value)| conf.set(name, *value));
        conf
    }

    fn refusal(conf: &Conf) -> String {
        let service = NameService::of(conf);
        service.and_then(|service| service.check_shared_edits(conf)).unwrap_err().to_string()
    }

    #[test]
    fn a_namenode_knows_itself_by_its_address_or_by_its_id() {
        let shared = ("dfs.namenode.shared.edits.dir", "qjournal://a:1/ns");
        let conf = pair(&[shared, ("dfs.namenode.http-address.ns.a", "0.0.0.0:50")]);
        let by_address = NameService::of(&conf).unwrap();
        assert_eq!((&*by_address.id, &*by_address.namenode), ("ns", "a"));
        by_address.check_shared_edits(&conf).unwrap();
        assert_eq!(by_address.others[0].rpc, "198.51.100.1:8021");
        assert_eq!(by_address.others[0].http, "198.51.100.1:9870");
        let by_id = NameService::of(&pair(&[("dfs.ha.namenode.id", "b")])).unwrap();
        assert_eq!(by_id.namenode, "b");
        let conf = by_id.specialized(&pair(&[])).unwrap();
        let own = conf.get(&keys::DFS_NAMENODE_RPC_ADDRESS).unwrap();
        assert_eq!(own.as_deref(), Some("198.51.100.1:8021"));
        let mut one = Conf::new();
        one.set("dfs.nameservices", "ns");
        one.set("dfs.ha.namenodes.ns", "only");
        let one = NameService::of(&one).unwrap();
        assert_eq!((&*one.id, &*one.namenode, one.is_ha_enabled()), ("ns", "only", false));
        let alone = NameService::of(&Conf::new()).unwrap();
        assert!(!alone.is_ha_enabled());
        alone.check_shared_edits(&Conf::new()).unwrap();
    }

    /// With several name services and directories for each of them, the default in `/tmp` was formatted.
    #[test]
    fn a_namenode_of_an_unknown_name_service_took_the_default_directory() {
        let federation = |more: &[(&str, &str)]| {
            let mut conf = Conf::new();
            let settings = [
                ("dfs.nameservices", "a,b"),
                ("dfs.namenode.rpc-address.a", "203.0.113.1:8020"),
                ("dfs.namenode.rpc-address.b", "203.0.113.2:8020"),
                ("dfs.namenode.name.dir.a", "/a"),
                ("dfs.namenode.name.dir.restore", "true"),
            ];
            settings.iter().chain(more).for_each(|(name, value)| conf.set(name, *value));
            let conf = NameService::of(&conf).and_then(|service| service.specialized(&conf));
            let dirs = conf.map(|conf| conf.get(&keys::DFS_NAMENODE_NAME_DIR).unwrap().join(","));
            dirs.map_err(|error| error.to_string())
        };
        let refusal = federation(&[]).unwrap_err();
        assert!(refusal.contains("set are dfs.namenode.name.dir.a; "), "{refusal}");
        assert!(refusal.ends_with("set dfs.nameservice.id"), "{refusal}");
        let refusal = federation(&[("dfs.nameservice.id", "b")]).unwrap_err();
        assert!(refusal.ends_with("set dfs.namenode.name.dir.b"), "{refusal}");
        assert_eq!(federation(&[("dfs.nameservice.id", "a")]).unwrap(), "/a");
        assert_eq!(federation(&[("dfs.namenode.rpc-address.a", "127.0.0.1:8020")]).unwrap(), "/a");
        assert_eq!(federation(&[("dfs.namenode.name.dir", "/c")]).unwrap(), "/c");
    }

    #[test]
    fn what_is_missing_is_named_with_its_key() {
        let text = refusal(&pair(&[("dfs.ha.namenodes.ns", "a,b,c")]));
        assert!(text.starts_with("dfs.namenode.rpc-address.ns.c is not set"), "{text}");
        let own = pair(&[("dfs.namenode.rpc-address.ns.a", ""), ("dfs.ha.namenode.id", "a")]);
        let service = NameService::of(&own).unwrap();
        let text = service.own_rpc(&service.specialized(&own).unwrap()).unwrap_err().to_string();
        assert!(text.starts_with("dfs.namenode.rpc-address.ns.a is not set"), "{text}");
        let text = refusal(&pair(&[]));
        assert!(text.contains("dfs.namenode.shared.edits.dir is not set"), "{text}");
        let text = refusal(&pair(&[("dfs.ha.namenode.id", "x")]));
        assert!(text.starts_with("dfs.ha.namenode.id: `x'"), "{text}");
        let mut alone = Conf::new();
        alone.set("dfs.namenode.shared.edits.dir", "qjournal://a:1/ns");
        assert!(refusal(&alone).contains("names no second NameNode"));
    }
}
