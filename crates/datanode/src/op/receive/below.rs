//! The node below in a pipeline, and the packets that wait for its acknowledgement.

use crate::transfer::conn::Conn;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::time::{Duration, Instant};

pub(super) const TIMED_OUT: &str = "no packet, no ack";

/// The node below.
pub(crate) struct Mirror {
    pub(crate) conn: Conn,
    /// `host:port`, for logs.
    pub(crate) name: String,
}

/// A packet that is not acknowledged yet.
pub(super) struct Pending {
    pub(super) seqno: i64,
    pub(super) last: bool,
    pub(super) end: u64,
    pub(super) since: Instant,
}

/// Waits until the node below or the one above sent something: `(below, above)`; neither when the
/// time is over.
pub(super) fn wait_both(above: &Conn, below: &Conn, timeout: Duration) -> io::Result<(bool, bool)> {
    let mut fds = [
        PollFd::new(&**below.socket(), PollFlags::IN),
        PollFd::new(&**above.socket(), PollFlags::IN),
    ];
    let limit = Timespec::try_from(timeout).unwrap_or(Timespec { tv_sec: 60, tv_nsec: 0 });
    loop {
        match poll(&mut fds, Some(&limit)) {
            Ok(_) => {
                let [below, above] = &fds;
                return Ok((!below.revents().is_empty(), !above.revents().is_empty()));
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
