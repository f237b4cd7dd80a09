//! How a writer stands with each JournalNode: what is on its way, what is acknowledged, what went wrong last.

use parking_lot::Mutex;
use std::time::{Duration, Instant};
use zerohop_system::clock;
use zerohop_wire::TxId;

/// One JournalNode, as its writer sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeStatus {
    /// `host:port`
    pub name: String,
    /// Whether it takes the edits of the current segment. One that missed some is left out until the next segment.
    pub is_written: bool,
    /// The last transaction that it has acknowledged in this process's time.
    pub acknowledged: Option<TxId>,
    /// Transactions that were given to this journal and that it has not acknowledged.
    pub lag: u64,
    /// How long after its last acknowledgement the last of those was given; 0 if there are none.
    pub lag_time: Duration,
    /// Bytes of edits that wait for it or are on their way.
    pub queued_bytes: usize,
    /// How long its last answer to edits took.
    pub took: Option<Duration>,
    /// Its last failure, and how long ago that was.
    pub failure: Option<(String, Duration)>,
}

/// What the thread of a JournalNode notes for others to look at.
#[derive(Debug, Default)]
pub(crate) struct NodeWatch(Mutex<Watched>);

#[derive(Debug, Default)]
struct Watched {
    is_written: bool,
    given: Option<(TxId, Instant)>,
    acknowledged: Option<(TxId, Instant)>,
    took: Option<Duration>,
    failure: Option<(String, Instant)>,
}

impl NodeWatch {
    /// Edits up to `last` are to go there.
    pub(crate) fn gave(&self, last: TxId) {
        self.0.lock().given = Some((last, clock::now()));
    }

    /// It takes part in a segment that begins behind this transaction.
    pub(crate) fn begins(&self, before: TxId) {
        let mut watched = self.0.lock();
        watched.is_written = true;
        watched.acknowledged = Some((before, clock::now()));
    }

    /// It takes no edits any more.
    pub(crate) fn ends(&self) {
        self.0.lock().is_written = false;
    }

    /// It has everything up to `last`.
    pub(crate) fn acknowledged(&self, last: TxId, took: Duration) {
        let mut watched = self.0.lock();
        watched.acknowledged = Some((last, clock::now()));
        watched.took = Some(took);
    }

    /// A call failed.
    pub(crate) fn failed(&self, reason: &str) {
        self.0.lock().failure = Some((reason.to_owned(), clock::now()));
    }

    /// Everything, for a JournalNode with this name and so much in its queue.
    pub(crate) fn status(&self, name: &str, queued_bytes: usize) -> NodeStatus {
        let watched = self.0.lock();
        let (lag, lag_time) = match (watched.given, watched.acknowledged) {
            (Some((given, at)), Some((acknowledged, since))) if given > acknowledged => {
                (given.0 - acknowledged.0, at.saturating_duration_since(since))
            }
            _ => (0, Duration::ZERO),
        };
        NodeStatus {
            name: name.to_owned(),
            is_written: watched.is_written,
            acknowledged: watched.acknowledged.map(|(txid, _)| txid),
            lag: u64::try_from(lag).unwrap_or(0),
            lag_time,
            queued_bytes,
            took: watched.took,
            failure: watched
                .failure
                .as_ref()
                .map(|(reason, at)| (reason.clone(), clock::since(*at))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_lags_by_what_it_has_not_acknowledged() {
        let watch = NodeWatch::default();
        let status = watch.status("jn1:8485", 0);
        assert_eq!((status.lag, status.is_written, status.acknowledged), (0, false, None));
        watch.begins(TxId(100));
        watch.gave(TxId(130));
        assert_eq!(watch.status("jn1:8485", 7).lag, 30);
        watch.acknowledged(TxId(120), Duration::from_millis(3));
        watch.failed("it is too far behind");
        watch.ends();
        let status = watch.status("jn1:8485", 7);
        assert_eq!((status.lag, status.queued_bytes, status.is_written), (10, 7, false));
        assert_eq!(status.took, Some(Duration::from_millis(3)));
        assert_eq!(status.failure.unwrap().0, "it is too far behind");
    }
}
