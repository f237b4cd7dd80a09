//! The connection to the client, or to the upstream DataNode of a pipeline.

use crate::store::writer::Writer;
use crate::transfer::conn::Conn;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use zerohop_system::clock;

/// How often a writer whose client only listens looks whether it is to stop.
const STOP_CHECK: Duration = Duration::from_millis(500);

/// The sender of the packets.
pub(super) struct Upstream<'a> {
    pub(super) conn: &'a mut Conn,
    state: UpstreamState,
    /// This thread, as others stop it.
    control: Arc<Writer>,
}

/// What the sender can still do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UpstreamState {
    /// It sends packets or heartbeats.
    Sends,
    /// It shut its sending side down, and waits for acknowledgements.
    Listens,
}

impl<'a> Upstream<'a> {
    pub(super) fn new(conn: &'a mut Conn, control: Arc<Writer>) -> Self {
        Self { conn, state: UpstreamState::Sends, control }
    }

    /// Whether this writer was told to stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.control.is_stopped()
    }

    /// Waits until the downstream DataNode or the sender sent something: `(downstream, upstream)`; neither
    /// when the time is over. Of a sender that only listens, what is waited for is that it leaves.
    pub(super) fn wait_with(
        &self,
        downstream: &Conn,
        timeout: Duration,
    ) -> io::Result<(bool, bool)> {
        let of_upstream = match self.state {
            UpstreamState::Sends => PollFlags::IN,
            // A connection that ended or failed is reported without being asked for.
            UpstreamState::Listens => PollFlags::empty(),
        };
        let mut fds = [
            PollFd::new(&**downstream.stream(), PollFlags::IN),
            PollFd::new(&**self.conn.stream(), of_upstream),
        ];
        let begun = clock::now();
        loop {
            // Signals, as those of a profile, must not make it longer.
            let left = timeout.saturating_sub(clock::since(begun));
            let left = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 60, tv_nsec: 0 });
            match poll(&mut fds, Some(&left)) {
                Ok(_) => {
                    let [downstream, upstream] = &fds;
                    let has_event = |fd: &PollFd<'_>| !fd.revents().is_empty();
                    return Ok((has_event(downstream), has_event(upstream)));
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// As [`wait_with`](Self::wait_with), after the last packet. There may be something to receive, too, where the client
    /// only listens: that it left, or that this writer is to stop.
    pub(super) fn wait_for_ack(
        &self,
        downstream: &Conn,
        timeout: Duration,
    ) -> io::Result<(bool, bool)> {
        match self.state {
            UpstreamState::Sends => self.wait_with(downstream, timeout),
            UpstreamState::Listens => {
                let (acks, _) = self.wait_with(downstream, timeout.min(STOP_CHECK))?;
                Ok((acks, true))
            }
        }
    }

    /// Receives what the client sends after the last packet. One that shut its sending side down is
    /// still there for the acknowledgements; it left only where the connection failed or is closed on
    /// both sides.
    pub(super) fn receive_late(&mut self) -> io::Result<()> {
        let left = |why: &str| {
            let text = format!("the client left before the last ack: {why}");
            Err(io::Error::new(io::ErrorKind::UnexpectedEof, text))
        };
        if self.is_stopped() {
            return left("its writer was stopped");
        }
        self.conn.reserve(4096);
        match self.conn.fill_ready() {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                self.state = UpstreamState::Listens;
                if self.conn.has_hung_up()? {
                    return left("it closed the connection");
                }
            }
            Err(error) => return left(&error.to_string()),
        }
        Ok(())
    }
}
