//! Whether the caller of a request still waits for its answer.
//!
//! A client that leaves closes its socket, which looks as if it had only finished sending: HTTP answers such clients, and so the
//! server does not end their requests. A handler for which that would be a waste asks here.

use parking_lot::Mutex;
use std::ffi::c_int;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::Arc;

/// States of TCP in which the peer sends nothing any more, as the kernel counts them: TCP_CLOSE, TCP_CLOSE_WAIT, TCP_LAST_ACK.
const ENDED: [u8; 3] = [7, 8, 9];

/// The socket of a request's connection; in the request's extensions.
#[derive(Clone, Debug)]
pub(super) struct CallerSocket(Arc<Mutex<Option<RawFd>>>);

/// Says that the socket is closed, when it is dropped: to be dropped before the socket.
#[derive(Debug)]
pub(super) struct ClosesSocket(CallerSocket);

impl CallerSocket {
    /// Of a socket that lives at least as long as the second value.
    pub(super) fn new(socket: impl AsFd) -> (Self, ClosesSocket) {
        let socket = Self(Arc::new(Mutex::new(Some(socket.as_fd().as_raw_fd()))));
        (socket.clone(), ClosesSocket(socket))
    }

    /// Whether the client has closed its socket, or at least its sending side, or the connection is over.
    pub(super) fn has_ended(&self) -> bool {
        // Nobody closes the socket meanwhile.
        let socket = self.0.lock();
        let Some(socket) = *socket else { return true };
        // SAFETY: the descriptor is open as long as it is here.
        state(unsafe { BorrowedFd::borrow_raw(socket) }).is_none_or(|state| ENDED.contains(&state))
    }
}

impl Drop for ClosesSocket {
    fn drop(&mut self) {
        *self.0.0.lock() = None;
    }
}

/// The state of a TCP connection: the first byte of the kernel's `tcp_info`.
fn state(socket: BorrowedFd<'_>) -> Option<u8> {
    let mut state = 0_u8;
    let mut len: libc::socklen_t = 1;
    // SAFETY: the call writes at most `len` bytes to `state`.
    let asked: c_int = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut state).cast(),
            &raw mut len,
        )
    };
    (asked == 0 && len == 1).then_some(state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::{Shutdown, TcpListener, TcpStream};

    #[test]
    fn a_client_has_left_when_it_has_closed_its_side_or_the_server_the_socket() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let (socket, closes) = CallerSocket::new(&server);
        assert!(!socket.has_ended());
        client.shutdown(Shutdown::Write).unwrap();
        assert_eq!(server.read(&mut [0]).unwrap(), 0, "it has arrived");
        assert!(socket.has_ended());

        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        let (socket, other) = CallerSocket::new(&server);
        assert!(!socket.has_ended());
        drop(other);
        assert!(socket.has_ended(), "its number may be another's now");
        drop((closes, client));
    }
}
