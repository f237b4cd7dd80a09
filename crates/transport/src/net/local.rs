//! Connections whose two ends are on one machine.
//!
//! Where the system's congestion control is a pacing one (BBR), it measures a network that is not
//! there: bytes wait for timers, and loopback moves a half or a third of what it could
//! (`docs/read-path.md`, Measured). Such connections get another one, and before they are
//! connected: a socket that was once paced stays so. Connections to other machines keep the
//! system's choice, as do all where the system allows no other.

use socket2::{Domain, SockAddr, SockRef, Socket, Type};
use std::io;
use std::net::{IpAddr, SocketAddr};

/// Congestion controls that send as fast as the other end takes; the first that the system allows.
/// Reno first: cubic takes the delays of a busy machine's scheduler for congestion (HyStart) and
/// keeps its window small, reno waits for a loss, which loopback does not have.
const UNPACED: [&[u8]; 2] = [b"reno", b"cubic"];

/// To be called before `socket` connects to `to`.
pub fn unpace_before_connect(socket: SockRef<'_>, to: &SocketAddr) {
    if is_this_machine(to) {
        unpace(&socket);
    }
}

/// What the sockets of a listener inherit, and what those from other machines get back.
#[derive(Debug)]
pub struct Unpaced {
    system: io::Result<Vec<u8>>,
}

impl Unpaced {
    /// Sets up a listener.
    pub fn listen(listener: SockRef<'_>) -> Self {
        let system = listener.tcp_congestion();
        if system.is_ok() {
            unpace(&listener);
        }
        Self { system }
    }

    /// Gives an accepted connection from another machine the system's congestion control.
    pub fn accepted(&self, socket: SockRef<'_>) {
        let ip = |addr: io::Result<SockAddr>| Some(addr.ok()?.as_socket()?.ip());
        let ends = (ip(socket.local_addr()), ip(socket.peer_addr()));
        if let (Some(here), Some(there)) = ends
            && !is_same_machine(here, there)
            && let Ok(system) = &self.system
            && let Err(error) = socket.set_tcp_congestion(name_of(system))
        {
            tracing::debug!("the system's congestion control cannot be set: {error}");
        }
    }
}

fn unpace(socket: &SockRef<'_>) {
    // Without it the connection works as well, only slower.
    let _ = UNPACED.iter().find(|name| socket.set_tcp_congestion(name).is_ok());
}

/// The kernel pads the name with zeros.
fn name_of(padded: &[u8]) -> &[u8] {
    padded.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// Whether connecting to this address stays within the machine: it would use the same address.
fn is_this_machine(to: &SocketAddr) -> bool {
    if to.ip().is_loopback() {
        return true;
    }
    // Connecting a datagram socket sends nothing.
    let from = Socket::new(Domain::for_address(*to), Type::DGRAM, None)
        .and_then(|probe| probe.connect(&(*to).into()).and_then(|()| probe.local_addr()));
    from.ok().and_then(|addr| addr.as_socket()).is_some_and(|from| from.ip() == to.ip())
}

fn is_same_machine(here: IpAddr, there: IpAddr) -> bool {
    here == there || (here.is_loopback() && there.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    fn congestion(socket: &TcpStream) -> String {
        let padded = SockRef::from(socket).tcp_congestion().unwrap();
        String::from_utf8_lossy(name_of(&padded)).into_owned()
    }

    #[test]
    fn both_ends_of_a_connection_within_the_machine_are_not_paced() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let unpaced = Unpaced::listen(SockRef::from(&listener));
        let addr = listener.local_addr().unwrap();
        let near = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        unpace_before_connect(SockRef::from(&near), &addr);
        near.connect(&addr.into()).unwrap();
        let mut near = TcpStream::from(near);
        let (mut far, _) = listener.accept().unwrap();
        unpaced.accepted(SockRef::from(&far));
        for socket in [&near, &far] {
            let name = congestion(socket);
            assert!(["cubic", "reno"].contains(&name.as_str()), "{name}");
        }
        near.write_all(b"x").unwrap();
        far.read_exact(&mut [0]).unwrap();
    }

    #[test]
    fn other_machines_are_told_from_this_one() {
        let same = |a: &str, b: &str| is_same_machine(a.parse().unwrap(), b.parse().unwrap());
        assert!(same("10.0.0.1", "10.0.0.1") && same("127.0.0.1", "127.0.1.1"));
        assert!(!same("10.0.0.1", "10.0.0.2"));
        assert!(is_this_machine(&"127.0.0.1:9".parse().unwrap()));
        // An address reserved for documentation belongs to no machine.
        assert!(!is_this_machine(&"192.0.2.1:9".parse().unwrap()));
    }
}
