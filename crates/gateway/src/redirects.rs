//! Whether the NameNode sends a caller on to a DataNode, and by which address.

use std::collections::HashMap;
use std::net::IpAddr;
use zerohop_conf::{Conf, ConfError, keys};
use zerohop_transport::machines::MachineList;
use zerohop_wire::authority;

/// Who is sent to DataNodes, and how these are named.
#[derive(Debug)]
pub(crate) struct Redirects {
    /// Callers whose data goes through the NameNode.
    proxied: MachineList,
    /// `host` or `host:port` as DataNodes register, and what callers are told instead.
    addresses: HashMap<String, String>,
}

impl Redirects {
    /// By `zerohop.webhdfs.proxy.clients` and `zerohop.webhdfs.redirect.addresses`.
    ///
    /// # Errors
    /// If one is malformed.
    pub(crate) fn from_conf(conf: &Conf) -> Result<Self, ConfError> {
        let proxied = MachineList::parse(&conf.get(&keys::ZEROHOP_WEBHDFS_PROXY_CLIENTS)?);
        let key = &keys::ZEROHOP_WEBHDFS_REDIRECT_ADDRESSES;
        let addresses = conf.get_as(key, "HOST[:PORT]=HOST[:PORT], ...", |text| pairs(&text))?;
        Ok(Self { proxied, addresses })
    }

    /// Whether the data of a caller goes through the NameNode.
    pub(crate) fn proxies(&self, caller: IpAddr) -> bool {
        self.proxied.includes(caller)
    }

    /// The authority by which a caller reaches a DataNode.
    pub(crate) fn authority(&self, host: &str, port: u16) -> String {
        let full = authority(host, port);
        if let Some(known) = self.addresses.get(&full) {
            return known.clone();
        }
        match self.addresses.get(host) {
            Some(known) if has_port(known) => known.clone(),
            Some(known) => format!("{known}:{port}"),
            None => full,
        }
    }
}

fn has_port(authority: &str) -> bool {
    authority.rsplit_once(':').is_some_and(|(host, port)| {
        port.parse::<u16>().is_ok() && (!host.contains(':') || host.ends_with(']'))
    })
}

fn pairs(text: &str) -> Option<HashMap<String, String>> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let pair = |part: &str| {
        let (from, to) = part.split_once('=')?;
        let (from, to) = (from.trim(), to.trim());
        let is_good = !from.is_empty() && !to.is_empty() && !to.contains(['/', '?', '#', '@']);
        is_good.then(|| (from.to_owned(), to.to_owned()))
    };
    parts.map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_are_told_the_addresses_of_the_map() {
        let mut conf = Conf::new();
        let map = "dn1=gw.example, dn2:9864 = gw.example:19864,dn3=gw.example:7";
        conf.set("zerohop.webhdfs.redirect.addresses", map);
        conf.set("zerohop.webhdfs.proxy.clients", "10.0.0.0/8");
        let redirects = Redirects::from_conf(&conf).unwrap();
        for (host, port, expected) in [
            ("dn1", 9864, "gw.example:9864"),
            ("dn2", 9864, "gw.example:19864"),
            ("dn2", 9865, "dn2:9865"),
            ("dn3", 9864, "gw.example:7"),
            ("fd00::1", 1, "[fd00::1]:1"),
        ] {
            assert_eq!(redirects.authority(host, port), expected);
        }
        assert!(redirects.proxies([10, 1, 2, 3].into()));
        assert!(!redirects.proxies([11, 1, 2, 3].into()));
        for bad in ["dn1", "=x", "dn1=", "dn1=http://x"] {
            conf.set("zerohop.webhdfs.redirect.addresses", bad);
            assert!(Redirects::from_conf(&conf).is_err(), "{bad}");
        }
        assert!(!Redirects::from_conf(&Conf::new()).unwrap().proxies([127, 0, 0, 1].into()));
    }
}
