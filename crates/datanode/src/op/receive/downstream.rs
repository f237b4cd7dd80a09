//! The connection to the downstream DataNode of a pipeline.

use crate::outliers::PeerLatencies;
use crate::transfer::conn::Conn;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use zerohop_daemon::metrics::Rate;

/// How long one send to the downstream DataNode waits.
const SEND_TIMEOUT_MAX: Duration = Duration::from_secs(1);
const SEND_TIMEOUT_MIN: Duration = Duration::from_millis(10);

/// The downstream DataNode.
pub(crate) struct Downstream {
    pub(crate) conn: Conn,
    /// `host:port`, for logs.
    pub(crate) name: String,
    /// Where the time that packets take to it is noted; only of the last node of a pipeline, since any
    /// other also waits for those downstream of it.
    latencies: Option<Arc<PeerLatencies>>,
    /// How long packets take to it and back, for metrics.
    round_trips: Option<Arc<Rate>>,
    /// How long it may owe an acknowledgement without a word.
    pub(super) patience: Duration,
}

impl Downstream {
    /// A downstream DataNode that was just connected to.
    pub(crate) fn new(conn: Conn, name: String, patience: Duration) -> Self {
        Self { conn, name, latencies: None, round_trips: None, patience }
    }

    /// Has the time that packets take to it noted.
    pub(crate) fn measured(mut self, latencies: &Arc<PeerLatencies>) -> Self {
        self.latencies = Some(Arc::clone(latencies));
        self
    }

    /// Has every packet's time to it and back counted.
    pub(crate) fn counted(mut self, round_trips: &Arc<Rate>) -> Self {
        self.round_trips = Some(Arc::clone(round_trips));
        self
    }

    /// A packet's acknowledgement came after so many nanoseconds.
    pub(super) fn note_round_trip(&self, nanos: u64) {
        if let Some(round_trips) = &self.round_trips {
            round_trips.add(nanos);
        }
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
        let timeout = (self.patience / 8).clamp(SEND_TIMEOUT_MIN, SEND_TIMEOUT_MAX);
        self.conn.set_write_timeout(timeout)
    }
}
