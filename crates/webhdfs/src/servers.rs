//! From a URI and the configuration to the servers' addresses.

use std::sync::atomic::{AtomicUsize, Ordering};

use zerohop_conf::{Conf, keys};

use crate::error::{Error, Result};

/// The servers of a file system. Calls go to the current one.
#[derive(Debug)]
pub(crate) struct Servers {
    pub(crate) is_tls: bool,
    /// `host:port` of each; several for a name service.
    addresses: Vec<String>,
    current: AtomicUsize,
}

impl Servers {
    /// Finds the servers of `webhdfs://authority` or `swebhdfs://authority`.
    ///
    /// # Errors
    /// Fails if the configuration lacks an address of a name service.
    pub(crate) fn find(conf: &Conf, is_tls: bool, authority: &str) -> Result<Self> {
        // A user in a URI means nothing to HDFS.
        let authority = authority.rsplit('@').next().unwrap_or_default();
        let ids = conf.get_for(&keys::DFS_HA_NAMENODES, &[authority])?;
        let services = conf.get(&keys::DFS_NAMESERVICES)?;
        let is_service = services.iter().any(|name| name == authority);
        let key = match is_tls {
            true => keys::DFS_NAMENODE_HTTPS_ADDRESS.name,
            false => keys::DFS_NAMENODE_HTTP_ADDRESS.name,
        };
        let port = if is_tls { 9871 } else { 9870 };
        let addresses = match is_service {
            true if ids.is_empty() => vec![address(conf, &format!("{key}.{authority}"), port)?],
            true => {
                let address = |id| address(conf, &format!("{key}.{authority}.{id}"), port);
                ids.iter().map(address).collect::<Result<_>>()?
            }
            false => vec![with_port(authority, port)],
        };
        Ok(Self { is_tls, addresses, current: AtomicUsize::new(0) })
    }

    pub(crate) fn count(&self) -> usize {
        self.addresses.len()
    }

    /// Returns the server to ask, with its number.
    pub(crate) fn current(&self) -> (usize, &str) {
        let number = self.current.load(Ordering::Relaxed) % self.addresses.len();
        (number, self.addresses.get(number).map(String::as_str).unwrap_or_default())
    }

    /// Makes the server after `failed` the one to ask, unless another thread has already done so.
    pub(crate) fn fail_over(&self, failed: usize) {
        let next = (failed + 1) % self.addresses.len();
        let _ = self.current.compare_exchange(failed, next, Ordering::Relaxed, Ordering::Relaxed);
    }
}

fn address(conf: &Conf, key: &str, port: u16) -> Result<String> {
    match conf.get_raw(key) {
        Some(address) => Ok(with_port(address.trim(), port)),
        None => Err(Error::Invalid(format!(
            "{key} is not set; it must name the host and port of that NameNode's web server"
        ))),
    }
}

fn with_port(authority: &str, port: u16) -> String {
    let has_port = authority.rsplit_once(':').is_some_and(|(host, port)| {
        port.parse::<u16>().is_ok() && (!host.contains(':') || host.ends_with(']'))
    });
    if has_port { authority.to_owned() } else { format!("{authority}:{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_name_services() {
        let mut conf = Conf::new();
        conf.set("dfs.nameservices", "ns,one");
        conf.set("dfs.ha.namenodes.ns", "a,b");
        conf.set("dfs.namenode.http-address.ns.a", "nn1:1");
        conf.set("dfs.namenode.http-address.ns.b", "nn2");
        conf.set("dfs.namenode.http-address.one", "nn3:3");
        let found =
            |tls, authority| Servers::find(&conf, tls, authority).map(|servers| servers.addresses);
        assert_eq!(found(false, "nn").unwrap(), ["nn:9870"]);
        assert_eq!(found(true, "alice@nn").unwrap(), ["nn:9871"]);
        assert_eq!(found(false, "[::1]").unwrap(), ["[::1]:9870"]);
        assert_eq!(found(false, "ns").unwrap(), ["nn1:1", "nn2:9870"]);
        assert_eq!(found(false, "one").unwrap(), ["nn3:3"]);
        let error = found(true, "ns").unwrap_err().to_string();
        assert!(error.starts_with("dfs.namenode.https-address.ns.a is not set"), "{error}");
    }

    #[test]
    fn two_threads_that_see_one_failure_fail_over_once() {
        let addresses = ["a", "b"].map(str::to_owned).to_vec();
        let servers = Servers { is_tls: false, addresses, current: AtomicUsize::new(0) };
        let (first, _) = servers.current();
        servers.fail_over(first);
        servers.fail_over(first);
        assert_eq!(servers.current(), (1, "b"));
        servers.fail_over(1);
        assert_eq!(servers.current(), (0, "a"));
    }
}
