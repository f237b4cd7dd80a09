//! Who is at the other end of a domain stream.

use std::fmt;
use std::io;
use std::os::fd::AsFd;

/// The process that connected (or listens), as the kernel noted it when the connection was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer {
    /// Its process id, in this process's pid namespace; 0 when it lies outside of that.
    pub pid: i32,
    /// Its effective user id.
    pub uid: u32,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pid {} uid {}", self.pid, self.uid)
    }
}

/// Asks the kernel who is at the other end (`SO_PEERCRED`).
pub fn peer(socket: impl AsFd) -> io::Result<Peer> {
    // The C library's call: a pid of 0 (a process of another namespace) is no valid `Pid` of rustix.
    let mut credentials = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the descriptor is open; the kernel writes at most `len` bytes, all of `credentials`.
    let done = unsafe {
        libc::getsockopt(
            std::os::fd::AsRawFd::as_raw_fd(&socket.as_fd()),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            std::ptr::from_mut(&mut credentials).cast(),
            &mut len,
        )
    };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Peer { pid: credentials.pid, uid: credentials.uid })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_end_of_a_pair_is_this_process() {
        let (here, _there) = crate::domain::pair().unwrap();
        let peer = peer(&here).unwrap();
        assert_eq!(peer.pid, std::process::id() as i32);
        assert_eq!(peer.uid, rustix::process::geteuid().as_raw());
    }
}
