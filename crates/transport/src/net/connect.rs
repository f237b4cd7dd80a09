//! Opening a data connection over TCP.

#[cfg(target_os = "linux")]
use super::local::unpace_before_connect;
use socket2::{Domain, Protocol, Socket, TcpKeepalive, Type};
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::time::Duration;

/// How a data connection is set up.
#[derive(Clone, Copy, Debug)]
pub struct ConnectOptions {
    /// How long connecting may take; zero means as long as the system allows.
    pub connect_timeout: Duration,
    /// How long one read may wait; zero means for ever.
    pub read_timeout: Duration,
    /// How long one write may wait; zero means for ever.
    pub write_timeout: Duration,
    /// Whether small messages leave at once.
    pub tcp_nodelay: bool,
    /// Size of the kernel's send buffer; 0 lets the system tune it.
    pub send_buffer_len: usize,
}

/// Connects to `addr`.
pub(super) fn connect(addr: SocketAddr, options: &ConnectOptions) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
    #[cfg(target_os = "linux")]
    unpace_before_connect((&socket).into(), &addr);
    if options.connect_timeout.is_zero() {
        socket.connect(&addr.into())?;
    } else {
        socket.connect_timeout(&addr.into(), options.connect_timeout)?;
    }
    socket.set_tcp_nodelay(options.tcp_nodelay)?;
    socket.set_read_timeout(limit(options.read_timeout))?;
    socket.set_write_timeout(limit(options.write_timeout))?;
    socket.set_tcp_keepalive(&TcpKeepalive::new())?;
    if options.send_buffer_len > 0 {
        socket.set_send_buffer_size(options.send_buffer_len)?;
    }
    Ok(socket)
}

/// Zero stands for no limit.
pub(super) fn limit(duration: Duration) -> Option<Duration> {
    (!duration.is_zero()).then_some(duration)
}

/// The first address of `host:port`.
pub fn resolve(host: &str, port: u16) -> io::Result<SocketAddr> {
    (host, port)
        .to_socket_addrs()?
        .next()
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("{host} has no address")))
}

/// Returns `true` if an address is one of this machine's: only those can be bound.
pub fn is_own_address(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}
