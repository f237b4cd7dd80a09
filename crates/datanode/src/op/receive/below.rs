//! The connection to the node below in a pipeline.

use crate::outliers::PeerLatencies;
use crate::store::replica::Replica;
use crate::transfer::conn::Conn;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fmt::Display;
use std::io;
use std::sync::Arc;
use std::time::Duration;

pub(super) const TIMED_OUT: &str = "no packet, no ack";
/// How long one send to the node below waits.
const TICK_MAX: Duration = Duration::from_secs(1);
const TICK_MIN: Duration = Duration::from_millis(10);

/// The node below.
pub(crate) struct Mirror {
    pub(crate) conn: Conn,
    /// `host:port`, for logs.
    pub(crate) name: String,
    /// Where the time that packets take to it is noted; only of the last node of a pipeline, since any
    /// other also waits for those below it.
    latencies: Option<Arc<PeerLatencies>>,
    /// How long it may owe an acknowledgement without a word.
    pub(super) patience: Duration,
}

impl Mirror {
    /// A node below that was just connected to.
    pub(crate) fn new(conn: Conn, name: String, patience: Duration) -> Self {
        Self { conn, name, latencies: None, patience }
    }

    /// Has the time that packets take to it noted.
    pub(crate) fn measured(mut self, latencies: &Arc<PeerLatencies>) -> Self {
        self.latencies = Some(Arc::clone(latencies));
        self
    }

    /// Packets took so long to it.
    pub(super) fn note_latency(&self, took: Duration) {
        if let Some(latencies) = &self.latencies {
            latencies.note(&self.name, took);
        }
    }

    /// From now on it owes acknowledgements: a send that it does not take returns from time to
    /// time, so that they can be looked for.
    pub(super) fn expect_acks(&mut self) -> io::Result<()> {
        self.conn.set_write_timeout((self.patience / 8).clamp(TICK_MIN, TICK_MAX))
    }

    pub(super) fn log_lost(&self, replica: &Replica, why: &dyn Display) {
        tracing::info!("blk_{}: the node below, {}, is lost: {why}", replica.id, self.name);
    }
}

/// What the node above can still do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UpstreamState {
    /// It sends packets or heartbeats.
    Sends,
    /// It shut its sending side down, and waits for acknowledgements.
    Listens,
}

/// Waits until the node below or the one above sent something: `(below, above)`; neither when the
/// time is over. Of a node above that only listens, what is waited for is that it leaves.
pub(super) fn wait_both(
    (above, can): (&Conn, UpstreamState),
    below: &Conn,
    timeout: Duration,
) -> io::Result<(bool, bool)> {
    let of_above = match can {
        UpstreamState::Sends => PollFlags::IN,
        // A connection that ended or failed is reported without being asked for.
        UpstreamState::Listens => PollFlags::empty(),
    };
    let mut fds =
        [PollFd::new(&**below.stream(), PollFlags::IN), PollFd::new(&**above.stream(), of_above)];
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
