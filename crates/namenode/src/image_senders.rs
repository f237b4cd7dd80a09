//! The machines whose images this NameNode takes.
//!
//! An image replaces the namespace at the next start. Without Kerberos, the address of the connection is all that identifies its
//! sender.

use crate::name_service::NameService;
use std::net::{IpAddr, ToSocketAddrs, UdpSocket};
use zerohop_conf::{Conf, ConfError, keys};
use zerohop_daemon::machines::MachineList;

/// The machines that may send images: the other NameNodes of the name service, or the secondary NameNode of a NameNode that is
/// alone, and those that the operator names.
#[derive(Debug, Default)]
pub(crate) struct ImageSenders {
    /// Hosts, each looked up when an image comes: its address may change.
    hosts: Vec<String>,
    named: MachineList,
}

impl ImageSenders {
    /// Reads the machines from `conf`, specialized for this NameNode. Resolves names, which blocks.
    ///
    /// # Errors
    /// Fails if a key is malformed.
    pub(crate) fn from_conf(conf: &Conf, service: &NameService) -> Result<Self, ConfError> {
        let others = service.others.iter();
        let mut hosts: Vec<String> =
            others.flat_map(|other| [host(&other.http), host(&other.rpc)]).collect();
        if !service.is_ha_enabled() {
            hosts.push(host(&conf.get(&keys::DFS_NAMENODE_SECONDARY_HTTP_ADDRESS)?));
        }
        hosts.sort_unstable();
        hosts.dedup();
        let named = MachineList::parse(&conf.get(&keys::ZEROHOP_NAMENODE_IMAGE_SENDERS)?);
        Ok(Self { hosts, named })
    }

    /// Returns `true` if images are taken from `address`. Looks names up, which blocks.
    pub(crate) fn include(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.named.includes(address) || self.hosts.iter().any(|host| is_host(host, address))
    }
}

/// Returns the host of `host:port`, without the brackets of an IPv6 address.
fn host(address: &str) -> String {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    host.trim_start_matches('[').trim_end_matches(']').to_owned()
}

/// Returns `true` if a connection from `address` can come from `host`. A process on this machine may use any of its addresses.
fn is_host(host: &str, address: IpAddr) -> bool {
    let found = (host, 0).to_socket_addrs();
    let found = found.inspect_err(|error| tracing::warn!("cannot look up {host}: {error}"));
    let mut found = found.into_iter().flatten().map(|found| found.ip().to_canonical());
    found.any(|ip| ip == address || is_here(ip) && is_here(address))
}

/// Returns `true` for addresses of this machine, and for the one that means all of them.
fn is_here(ip: IpAddr) -> bool {
    ip.is_unspecified() || ip.is_loopback() || UdpSocket::bind((ip, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name_service::OtherNameNode;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 7));

    fn alone(settings: &[(&str, &str)]) -> ImageSenders {
        let mut conf = Conf::new();
        settings.iter().for_each(|(name, value)| conf.set(name, *value));
        ImageSenders::from_conf(&conf, &NameService::default()).unwrap()
    }

    #[test]
    fn a_namenode_that_is_alone_has_a_secondary_namenode_on_its_machine_or_where_it_is_configured()
    {
        let by_default = alone(&[]);
        assert!(by_default.include(HERE) && !by_default.include(THERE));
        let elsewhere = alone(&[("dfs.namenode.secondary.http-address", "192.0.2.7:9868")]);
        assert!(elsewhere.include(THERE) && !elsewhere.include(HERE));
        let more = alone(&[("zerohop.namenode.image.senders", "192.0.2.0/24")]);
        assert!(more.include(HERE) && more.include("::ffff:192.0.2.7".parse().unwrap()));
        assert!(alone(&[("zerohop.namenode.image.senders", "*")]).include(THERE));
    }

    #[test]
    fn a_namenode_of_several_takes_images_of_the_others_alone() {
        let (id, http) = ("b".to_owned(), "[2001:db8::1]:9870".to_owned());
        let other = OtherNameNode { id, rpc: "192.0.2.7:8020".to_owned(), http };
        let service = NameService { others: vec![other], ..NameService::default() };
        let senders = ImageSenders::from_conf(&Conf::new(), &service).unwrap();
        assert!(senders.include(THERE) && senders.include("2001:db8::1".parse().unwrap()));
        assert!(!senders.include(HERE) && !senders.include([192, 0, 2, 8].into()));
    }
}
