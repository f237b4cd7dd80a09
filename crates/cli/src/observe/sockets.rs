//! The TCP ports that a process of this machine listens on, as the kernel tells it.

use std::collections::HashSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The kernel's number of the state of a socket that listens.
const LISTENS: &str = "0A";

/// Where a process listens, as a client on this machine reaches it. It sees the ports of its own network namespace.
pub fn listening(pid: u32) -> std::io::Result<Vec<SocketAddr>> {
    let own: HashSet<String> = fs::read_dir(format!("/proc/{pid}/fd"))?
        .flatten()
        .filter_map(|entry| socket_inode(&fs::read_link(entry.path()).ok()?.to_string_lossy()))
        .collect();
    let mut found = Vec::new();
    for table in ["tcp", "tcp6"] {
        let text = fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        found.extend(
            text.lines()
                .skip(1)
                .filter_map(listener)
                .filter_map(|(address, inode)| own.contains(inode).then_some(reachable(address))),
        );
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// `socket:[12345]`.
fn socket_inode(link: &str) -> Option<String> {
    Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
}

/// The address and inode of a line of `/proc/net/tcp`, if it is a socket that listens.
fn listener(line: &str) -> Option<(SocketAddr, &str)> {
    let mut words = line.split_whitespace().skip(1);
    let (ip, port) = words.next()?.split_once(':')?;
    let state = words.nth(1)?;
    let inode = words.nth(5)?;
    let address = SocketAddr::new(ip_of(ip)?, u16::from_str_radix(port, 16).ok()?);
    (state == LISTENS).then_some((address, inode))
}

/// Words of 32 bits in the machine's order, as hexadecimal digits.
fn ip_of(digits: &str) -> Option<IpAddr> {
    let word = |part: &[u8]| {
        u32::from_str_radix(std::str::from_utf8(part).ok()?, 16).ok().map(u32::to_ne_bytes)
    };
    let bytes: Vec<u8> =
        digits.as_bytes().chunks(8).map(word).collect::<Option<Vec<_>>>()?.concat();
    match bytes.len() {
        4 => Some(IpAddr::from(<[u8; 4]>::try_from(bytes).ok()?)),
        16 => Some(IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?)),
        _ => None,
    }
}

fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn the_ports_of_this_process_are_found() {
        let sockets =
            [TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("0.0.0.0:0").unwrap()];
        let found = listening(std::process::id()).unwrap();
        let [named, any] = sockets.map(|socket| socket.local_addr().unwrap());
        assert!(found.contains(&named), "{found:?}");
        assert!(
            found.contains(&SocketAddr::new(Ipv4Addr::LOCALHOST.into(), any.port())),
            "{found:?}"
        );
        assert!(listening(u32::MAX).is_err());
    }

    #[test]
    fn lines_that_are_none_are_left_out() {
        for line in ["", "0:", "0: x:y 0 0A", "0: 0100007F:0050 00000000:0000 01 a b c d e 7"] {
            assert_eq!(listener(line), None, "{line}");
        }
        let (address, inode) = listener("0: 0100007F:0050 00000000:0000 0A a b c d e 7").unwrap();
        assert_eq!((address.port(), inode), (80, "7"));
    }
}
