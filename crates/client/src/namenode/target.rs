//! From a URI and the configuration to the addresses of NameNodes.

use crate::error::{Error, Result};
use std::borrow::Cow;
use zerohop_conf::{Authority, Conf, Location, keys};

/// The error of a program that names no cluster. It may have meant a `zerohop up`.
const UNNAMED: &str = "no cluster is named: fs.defaultFS is not set; start `zerohop up', set HADOOP_CONF_DIR, or give an \
     hdfs:// URI";

/// The NameNodes that serve a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// `hdfs://host:port` or `hdfs://nameservice`, without a user.
    pub(crate) uri: String,
    /// The host or name service.
    pub(crate) authority: Authority,
    /// The authority of fs.defaultFS, which URIs without one mean; `None` if that is no HDFS.
    default: Option<Authority>,
    /// `host:port` of each NameNode; several with failover.
    pub(crate) addrs: Vec<String>,
    /// True if the URI names a name service, not a host.
    pub(crate) is_logical: bool,
}

impl Target {
    /// Finds the NameNodes of `uri`, or of fs.defaultFS.
    pub(crate) fn find(conf: &Conf, uri: Option<&str>) -> Result<Self> {
        let text = match uri {
            Some(uri) => uri.to_owned(),
            None => conf.default_fs()?,
        };
        let location = Location::parse(&text);
        if !location.has_scheme("hdfs") {
            if uri.is_none() && !conf.is_set(keys::FS_DEFAULTFS.name) {
                return Err(Error::invalid(UNNAMED));
            }
            return Err(Error::invalid(format!("`{text}' is not an hdfs:// URI")));
        }
        let place = location.place();
        // A value of fs.defaultFS that is no URI harms only those who mean it.
        let default = match place {
            Some(_) => conf.default_hdfs().unwrap_or_default(),
            None => conf.default_hdfs()?,
        };
        match place.or_else(|| default.clone()) {
            Some(authority) => Self::of_authority(conf, authority, default),
            None => Err(Error::invalid(format!("Incomplete HDFS URI, no host: {text}"))),
        }
    }

    fn of_authority(conf: &Conf, authority: Authority, default: Option<Authority>) -> Result<Self> {
        let (uri, name) = (format!("hdfs://{authority}"), authority.host().to_owned());
        let ids = conf.get_for(&keys::DFS_HA_NAMENODES, &[name.as_str()])?;
        let is_service = conf.get(&keys::DFS_NAMESERVICES)?.contains(&name);
        let alone = conf.get_raw(&key_of(&[&name])).filter(|_| is_service);
        let addrs = match alone {
            _ if is_service && !ids.is_empty() => {
                ids.iter().map(|id| address_of(conf, &name, id)).collect::<Result<_>>()?
            }
            Some(addr) => vec![with_port(addr.trim())],
            None => {
                let addrs = vec![authority.address()];
                return Ok(Self { uri, authority, default, addrs, is_logical: false });
            }
        };
        if !authority.has_default_port() {
            return Err(Error::invalid(format!(
                "{uri} has a port, but {name} is a name service, whose NameNodes have ports of their own; \
                 leave the port out"
            )));
        }
        Ok(Self { uri, authority, default, addrs, is_logical: true })
    }

    /// Returns the path of a text that is a path, or a URI of this file system (`FileSystem.checkPath`).
    pub(crate) fn path_of<'a>(&self, text: &'a str) -> Result<Cow<'a, str>> {
        let location = Location::parse(text);
        if location.scheme.is_none() {
            return Ok(Cow::Borrowed(text));
        }
        let is_own = location.has_scheme("hdfs")
            && match location.place().as_ref().or(self.default.as_ref()) {
                Some(place) => place.leads_to(&self.authority),
                None => true,
            };
        match is_own {
            true if location.path.is_empty() => Ok(Cow::Borrowed("/")),
            true => Ok(Cow::Owned(location.path)),
            false => Err(Error::invalid(format!("Wrong FS: {text}, expected: {}", self.uri))),
        }
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

fn with_port(address: &str) -> String {
    Authority::parse(address).address()
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

    /// A user used to be part of the host's name, and a name service with the default port to be a host.
    #[test]
    fn users_ports_and_schemes_in_a_uri() {
        let mut conf = Conf::new();
        conf.set("fs.defaultFS", "HDFS://alice@h:9/");
        let of = |conf: &Conf, uri: &str| Target::find(conf, Some(uri)).unwrap();
        let found = Target::find(&conf, None).unwrap();
        assert_eq!((found.uri.as_str(), found.addrs.concat().as_str()), ("hdfs://h:9", "h:9"));
        assert_eq!(of(&conf, "hdfs:/x"), found);
        assert_eq!(of(&conf, "hdfs://bob@g").addrs, ["g:8020"]);
        conf.set("dfs.nameservices", "one");
        conf.set("dfs.ha.namenodes.one", "a,b");
        conf.set("dfs.namenode.rpc-address.one.a", "h1:9000");
        conf.set("dfs.namenode.rpc-address.one.b", "h2");
        for uri in ["hdfs://one", "hdfs://alice@one:8020/p"] {
            let found = of(&conf, uri);
            assert_eq!((found.is_logical, found.addrs.len()), (true, 2), "{uri}");
        }
        let error = Target::find(&conf, Some("hdfs://one:9")).unwrap_err().to_string();
        assert!(error.contains("one is a name service"), "{error}");
    }

    #[test]
    fn a_file_system_knows_its_names() {
        let mut conf = Conf::new();
        let own = Target::find(&conf, Some("hdfs://Host")).unwrap();
        for name in ["hdfs://host/p", "hdfs://HOST:8020/p", "hdfs://bob@host/p", "hdfs:/p"] {
            assert_eq!(own.path_of(name).unwrap(), "/p", "{name}");
        }
        for (text, path) in [("hdfs://host", "/"), ("a/b://c", "a/b://c"), ("/p", "/p"), ("", "")] {
            assert_eq!(own.path_of(text).unwrap(), path);
        }
        for other in ["hdfs://host:1/p", "hdfs://hos/p", "file:/p", "hdfs://host.example/p"] {
            assert!(own.path_of(other).is_err(), "{other}");
        }
        conf.set("fs.defaultFS", "hdfs://other");
        let own = Target::find(&conf, Some("hdfs://host")).unwrap();
        assert!(own.path_of("hdfs:///p").is_err());
        assert_eq!(Target::find(&conf, None).unwrap().path_of("hdfs:///p").unwrap(), "/p");
    }
}
