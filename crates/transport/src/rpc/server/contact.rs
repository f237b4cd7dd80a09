//! When a connection was last heard of, and when the server has waited long enough.

use super::options::ServerOptions;
use std::time::{Duration, Instant};

/// When a connection was opened and when bytes last came.
#[derive(Debug)]
pub(super) struct Contact {
    opened: Instant,
    last: Instant,
}

/// What a connection has sent so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The peer has not said yet who it is.
    Unknown,
    /// A request whose end has not arrived.
    PartOfRequest,
    /// A part of a request for whose rest the server has no room.
    Starved,
    /// Whole requests.
    WholeRequests,
}

impl Contact {
    pub(super) fn new(now: Instant) -> Self {
        Self { opened: now, last: now }
    }

    pub(super) fn heard(&mut self, now: Instant) {
        self.last = now;
    }

    /// How long nothing came.
    pub(super) fn silence(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.last)
    }

    /// Why the connection is to be closed, if it is: it must say who it is within the limit, however
    /// many bytes it sends, and must not leave a request unfinished for so long.
    pub(super) fn overdue(
        &self,
        now: Instant,
        progress: Progress,
        options: &ServerOptions,
    ) -> Option<&'static str> {
        let limit = options.handshake_timeout;
        let is_past = |since| !limit.is_zero() && now.saturating_duration_since(since) > limit;
        match progress {
            Progress::Unknown => is_past(self.opened).then_some("it did not say who it is"),
            Progress::PartOfRequest => {
                is_past(self.last).then_some("the rest of a request did not come")
            }
            // Requests that keep each other from being finished would wait for ever.
            Progress::Starved => {
                is_past(self.last).then_some("there was no room for the rest of its request")
            }
            Progress::WholeRequests => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_conf::Conf;

    #[test]
    fn only_those_who_owe_something_are_overdue() {
        let mut options = ServerOptions::from_conf(&Conf::new(), 0, 1).unwrap();
        options.handshake_timeout = Duration::from_secs(10);
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut contact = Contact::new(start);
        contact.heard(at(8));
        let overdue =
            |seconds, progress| contact.overdue(at(seconds), progress, &options).is_some();
        assert!(!overdue(10, Progress::Unknown) && overdue(11, Progress::Unknown));
        assert!(!overdue(18, Progress::PartOfRequest) && overdue(19, Progress::PartOfRequest));
        assert!(!overdue(18, Progress::Starved) && overdue(19, Progress::Starved));
        assert!(!overdue(1000, Progress::WholeRequests));
        options.handshake_timeout = Duration::ZERO;
        assert_eq!(contact.overdue(at(1000), Progress::Unknown, &options), None);
    }
}
