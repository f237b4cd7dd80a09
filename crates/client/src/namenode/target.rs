//! From a URI and the configuration to the addresses of NameNodes.

use crate::error::{Error, Result};
use zerohop_conf::{Conf, keys};

/// The port of a NameNode where none is named.
const PORT: u16 = 8020;

/// The error of a program that names no cluster. It may have meant a `zerohop up`.
const UNNAMED: &str = "no cluster is named: fs.defaultFS is not set; start `zerohop up', set HADOOP_CONF_DIR, or give an \
     hdfs:// URI";

/// Which NameNodes serve a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// `hdfs://host:port` or `hdfs://nameservice`.
    pub(crate) uri: String,
    /// `host:port` of each; several where there is fail-over.
    pub(crate) addrs: Vec<String>,
    /// The URI names a name service, not a host.
    pub(crate) is_logical: bool,
}

impl Target {
    /// From `uri`, or from fs.defaultFS.
    pub(crate) fn find(conf: &Conf, uri: Option<&str>) -> Result<Self> {
        let text = match uri {
            Some(uri) => uri.to_owned(),
            None => conf.default_fs()?,
        };
        let Some(rest) = text.strip_prefix("hdfs://") else {
            if uri.is_none() && !conf.is_set(keys::FS_DEFAULTFS.name) {
                return Err(Error::invalid(UNNAMED));
            }
            return Err(Error::invalid(format!("`{text}' is not an hdfs:// URI")));
        };
        let authority = rest.split('/').next().unwrap_or_default();
        if authority.is_empty() {
            return Self::of_default(conf, &text);
        }
        Self::of_authority(conf, authority)
    }

    /// `hdfs:///path` means the default file system.
    fn of_default(conf: &Conf, text: &str) -> Result<Self> {
        let default = conf.default_fs()?;
        let authority = default.strip_prefix("hdfs://").and_then(|rest| rest.split('/').next());
        match authority.filter(|authority| !authority.is_empty()) {
            Some(authority) => Self::of_authority(conf, authority),
            None => Err(Error::invalid(format!("Incomplete HDFS URI, no host: {text}"))),
        }
    }

    fn of_authority(conf: &Conf, authority: &str) -> Result<Self> {
        let uri = format!("hdfs://{authority}");
        let ids = conf.get_for(&keys::DFS_HA_NAMENODES, &[authority])?;
        let is_service = conf.get(&keys::DFS_NAMESERVICES)?.iter().any(|name| name == authority);
        if is_service && !ids.is_empty() {
            let addrs = ids.iter().map(|id| address_of(conf, authority, id)).collect::<Result<_>>();
            return Ok(Self { uri, addrs: addrs?, is_logical: true });
        }
        if is_service && let Some(addr) = conf.get_raw(&key_of(&[authority])) {
            return Ok(Self { uri, addrs: vec![with_port(addr.trim())], is_logical: true });
        }
        Ok(Self { addrs: vec![with_port(authority)], uri, is_logical: false })
    }
}

fn key_of(suffixes: &[&str]) -> String {
    let mut key = keys::DFS_NAMENODE_RPC_ADDRESS.name.to_owned();
    for suffix in suffixes {
        key.push('.');
        key.push_str(suffix);
    }
    key
}

fn address_of(conf: &Conf, service: &str, id: &str) -> Result<String> {
    let key = key_of(&[service, id]);
    match conf.get_raw(&key) {
        Some(addr) => Ok(with_port(addr.trim())),
        None => Err(Error::invalid(format!(
            "{key} is not set; it must name the host and port of NameNode {id} of {service}"
        ))),
    }
}

fn with_port(authority: &str) -> String {
    let has_port = authority.rsplit_once(':').is_some_and(|(host, port)| {
        port.parse::<u16>().is_ok() && (!host.contains(':') || host.ends_with(']'))
    });
    if has_port { authority.to_owned() } else { format!("{authority}:{PORT}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_name_services() {
        let mut conf = Conf::new();
        conf.set("fs.defaultFS", "hdfs://one");
        conf.set("dfs.nameservices", "one,two");
        conf.set("dfs.ha.namenodes.one", "a,b");
        conf.set("dfs.namenode.rpc-address.one.a", "h1:9000");
        conf.set("dfs.namenode.rpc-address.one.b", "h2");
        let one = Target::find(&conf, None).unwrap();
        assert_eq!(one.addrs, ["h1:9000", "h2:8020"]);
        assert!(one.is_logical);
        assert_eq!(Target::find(&conf, Some("hdfs:///x")).unwrap(), one);
        let host = Target::find(&conf, Some("hdfs://h3:1/a/b")).unwrap();
        assert_eq!(
            (host.uri.as_str(), host.addrs.as_slice()),
            ("hdfs://h3:1", &["h3:1".to_owned()][..])
        );
        assert!(!host.is_logical);
        assert!(Target::find(&conf, Some("file:///")).is_err());
        conf.set("fs.defaultFS", "h4:9");
        assert_eq!(Target::find(&conf, None).unwrap().uri, "hdfs://h4:9");
        assert_eq!(Target::find(&conf, Some("hdfs:///x")).unwrap().addrs, ["h4:9"]);
        assert_eq!(with_port("[::1]"), "[::1]:8020");
        assert_eq!(with_port("[::1]:9"), "[::1]:9");
    }
}
