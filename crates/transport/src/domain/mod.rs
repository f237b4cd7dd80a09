//! Unix domain sockets between a client and the DataNode of its machine: streams, descriptors that
//! travel over them, who is at the other end, and whether a path is safe.
//!
//! Streams are [`socket2::Socket`]s, as TCP streams are; a `net::DataStream` is made of either.

mod descriptors;
mod listener;
mod path;
mod peer;

pub use descriptors::{DESCRIPTORS_MAX, recv_with_fds, send_with_fds};
pub use listener::Listener;
pub use path::{PATH_LEN_MAX, Problem, UnsafePath, effective_path, validate, validate_component};
pub use peer::{Peer, peer};

use socket2::{Domain, SockAddr, Socket, Type};
use std::io;
use std::path::Path;
use std::time::Duration;

/// Connects to the socket file `path`; a listener whose queue is full is waited for, at most
/// `timeout` (zero: for ever).
pub fn connect(path: &Path, timeout: Duration) -> io::Result<Socket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    // Connecting a Unix socket waits as long as its send timeout says.
    socket.set_write_timeout((!timeout.is_zero()).then_some(timeout))?;
    socket.connect(&SockAddr::unix(path)?)?;
    socket.set_write_timeout(None)?;
    Ok(socket)
}

/// Two connected streams.
pub fn pair() -> io::Result<(Socket, Socket)> {
    Socket::pair(Domain::UNIX, Type::STREAM, None)
}
