//! Where a cluster of one process listens, and the address by which other machines reach it.
//!
//! The two differ where it listens at all addresses of the machine: 0.0.0.0 cannot be connected to
//! from elsewhere, and a DataNode that connects to its NameNode over it registers as 127.0.0.1.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;

use crate::failure::{Failure, Outcome};

/// Hadoop's default ports of a DataNode: block data, RPC, web.
const DATANODE_PORTS: [u16; 3] = [9866, 9867, 9864];
/// Added to them for each further DataNode; clear of the NameNode's 9870.
const PORT_STEP: u16 = 10;
/// An address that no host has (RFC 5737): looking up the route to it sends nothing.
const ELSEWHERE: (Ipv4Addr, u16) = (Ipv4Addr::new(192, 0, 2, 1), 9);

/// Where a cluster listens and how it is reached.
#[derive(Debug, Clone)]
pub struct Addresses {
    listen: IpAddr,
    /// An address or a name of this machine, for clients and DataNodes.
    reachable: String,
    port: u16,
    http_port: u16,
}

impl Addresses {
    /// For this machine only, at ports that are free.
    pub fn local_on_free_ports() -> Addresses {
        let listen = IpAddr::from(Ipv4Addr::LOCALHOST);
        Addresses { listen, reachable: listen.to_string(), port: 0, http_port: 0 }
    }

    /// Listens at `bind`. `advertised` is the address or name that other machines use; without it, an
    /// address of this machine is chosen where `bind` stands for all of them.
    pub fn new(
        bind: &str,
        advertised: Option<&str>,
        port: u16,
        http_port: u16,
    ) -> Outcome<Addresses> {
        let listen = resolve(bind, "--bind")?;
        let reachable = match advertised {
            Some(name) => {
                let address = resolve(name, "--advertise")?;
                if address.is_unspecified() {
                    return Err(Failure::io(format!(
                        "--advertise {name}: no client can connect to that; name one address of this machine"
                    )));
                }
                name.to_owned()
            }
            None if !listen.is_unspecified() => listen.to_string(),
            None => of_this_machine(listen.is_ipv6())
                .ok_or_else(|| {
                    Failure::io(format!(
                        "--bind {bind}: this machine has no address that others could reach; name one with --advertise"
                    ))
                })?
                .to_string(),
        };
        Ok(Addresses { listen, reachable, port, http_port })
    }

    /// Whether other machines can connect.
    pub fn is_open(&self) -> bool {
        !self.listen.is_loopback()
    }

    /// The address or name that other machines use.
    pub fn reachable(&self) -> &str {
        &self.reachable
    }

    /// The address that all servers listen at.
    pub fn listen(&self) -> IpAddr {
        self.listen
    }

    /// Where the NameNode listens for RPC.
    pub fn rpc(&self) -> String {
        SocketAddr::new(self.listen, self.port).to_string()
    }

    /// Where the NameNode listens for HTTP.
    pub fn http(&self) -> String {
        SocketAddr::new(self.listen, self.http_port).to_string()
    }

    /// Where DataNode `index` listens: block data, RPC, web. Other machines need ports that a firewall
    /// can name and that survive a restart; for this machine alone, or where the NameNode takes any
    /// free port, the DataNodes do too.
    pub fn datanode(&self, index: usize) -> [String; 3] {
        let step = u16::try_from(index).unwrap_or(u16::MAX).saturating_mul(PORT_STEP);
        let is_fixed = self.is_open() && self.port != 0;
        DATANODE_PORTS.map(|port| {
            let port = if is_fixed { port.saturating_add(step) } else { 0 };
            SocketAddr::new(self.listen, port).to_string()
        })
    }

    /// A listener's address as clients and DataNodes have to name it.
    pub fn reachable_at(&self, listener: SocketAddr) -> String {
        let is_ours = listener.ip().is_unspecified() || listener.ip() == self.listen;
        match self.reachable.parse::<IpAddr>() {
            _ if !is_ours => listener.to_string(),
            Ok(address) => SocketAddr::new(address, listener.port()).to_string(),
            Err(_) => format!("{}:{}", self.reachable, listener.port()),
        }
    }
}

fn resolve(host: &str, option: &str) -> Outcome<IpAddr> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let mut found = (bare, 0)
        .to_socket_addrs()
        .map_err(|error| Failure::io(format!("{option} {host}: {error}")))?;
    let first = found.next().map(|address| address.ip());
    first.ok_or_else(|| Failure::io(format!("{option} {host}: the name has no address")))
}

/// The address that this machine connects to others from, or any that is not for itself alone.
fn of_this_machine(may_be_v6: bool) -> Option<IpAddr> {
    by_route().or_else(|| by_interface(may_be_v6))
}

fn by_route() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect(ELSEWHERE).ok()?;
    socket.local_addr().ok().map(|address| address.ip()).filter(is_for_others)
}

fn by_interface(may_be_v6: bool) -> Option<IpAddr> {
    let up = getifaddrs().ok()?.filter(|found| found.flags.contains(InterfaceFlags::IFF_UP));
    let addresses: Vec<IpAddr> = up
        .filter_map(|found| {
            let address = found.address?;
            let v4 = address.as_sockaddr_in().map(|v4| IpAddr::from(v4.ip()));
            v4.or_else(|| address.as_sockaddr_in6().map(|v6| IpAddr::from(v6.ip())))
        })
        .filter(is_for_others)
        .collect();
    let v4 = addresses.iter().find(|address| address.is_ipv4());
    let any = addresses.first().filter(|_| may_be_v6);
    v4.or(any).copied()
}

fn is_for_others(address: &IpAddr) -> bool {
    let is_link_local = match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local() || *v6 == Ipv6Addr::LOCALHOST,
    };
    !address.is_loopback() && !address.is_unspecified() && !is_link_local
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bind: &str, advertised: Option<&str>, port: u16) -> Addresses {
        Addresses::new(bind, advertised, port, 9870).unwrap()
    }

    /// With 0.0.0.0 the client configuration said hdfs://0.0.0.0.
    #[test]
    fn an_address_that_stands_for_all_is_never_given_to_clients() {
        let all = of("0.0.0.0", Some("192.0.2.7"), 8020);
        assert_eq!(all.rpc(), "0.0.0.0:8020");
        assert_eq!(all.reachable_at("0.0.0.0:8020".parse().unwrap()), "192.0.2.7:8020");
        let v6 = of("::", Some("2001:db8::1"), 8020);
        assert_eq!(v6.rpc(), "[::]:8020");
        assert_eq!(v6.reachable_at("[::]:8020".parse().unwrap()), "[2001:db8::1]:8020");
        let named = of("0.0.0.0", Some("localhost"), 8020);
        assert_eq!(named.reachable_at("0.0.0.0:1".parse().unwrap()), "localhost:1");
        // What -D put elsewhere stays there.
        assert_eq!(all.reachable_at("127.0.0.1:5".parse().unwrap()), "127.0.0.1:5");
        assert!(Addresses::new("0.0.0.0", Some("0.0.0.0"), 0, 0).is_err());
    }

    #[test]
    fn datanodes_that_others_reach_have_fixed_ports() {
        let open = of("192.0.2.7", None, 8020);
        assert!(open.is_open());
        assert_eq!(open.datanode(0), ["192.0.2.7:9866", "192.0.2.7:9867", "192.0.2.7:9864"]);
        assert_eq!(open.datanode(2)[0], "192.0.2.7:9886");
        let local = of("127.0.0.1", None, 8020);
        assert!(!local.is_open());
        assert_eq!(local.datanode(1)[0], "127.0.0.1:0");
        assert_eq!(of("192.0.2.7", None, 0).datanode(0)[0], "192.0.2.7:0");
    }
}
