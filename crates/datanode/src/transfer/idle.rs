//! Connections that hold no thread: those between operations, those whose next request is not all
//! there, and those that keep something for as long as the other end lives.

use super::conn::{Conn, SMALL_BUFFER};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use zerohop_system::clock;

/// Bytes of requests that are not whole may take this much beyond each connection's small buffer,
/// over all connections. A request of the usual kind takes a few hundred bytes.
const LARGE_MAX: usize = 16 << 20;
/// Keys below are the listeners'.
const FIRST_KEY: usize = 2;

/// A connection without a thread. Dropped, it closes; what it held goes after that.
pub(crate) struct IdleConn {
    pub(crate) conn: Conn,
    pub(crate) first: bool,
    /// When the request began that is not whole yet.
    pub(crate) begun: Option<Instant>,
    /// `None`: as long as the other end likes.
    pub(crate) deadline: Option<Instant>,
    pub(crate) held: Option<Box<dyn Send>>,
}

/// All of them.
///
/// Invariant: `large` is the sum of what the buffers of `conns` have beyond the small size.
#[derive(Default)]
pub(crate) struct IdleConns {
    last_key: usize,
    conns: HashMap<usize, IdleConn>,
    large: usize,
}

impl IdleConns {
    /// A key that no connection has had.
    pub(crate) fn new_key(&mut self) -> usize {
        self.last_key = (self.last_key + 1).max(FIRST_KEY);
        self.last_key
    }

    /// Keeps a connection, or gives it back where the bytes of requests that are not whole take too
    /// much already.
    pub(crate) fn insert(&mut self, key: usize, idle: IdleConn) -> Option<IdleConn> {
        let large = large(&idle);
        if large > 0 && self.large + large > LARGE_MAX {
            return Some(idle);
        }
        self.large += large;
        self.conns.insert(key, idle);
        None
    }

    /// Takes a connection out.
    pub(crate) fn remove(&mut self, key: usize) -> Option<IdleConn> {
        let idle = self.conns.remove(&key)?;
        self.large -= large(&idle);
        Some(idle)
    }

    /// Takes all out whose time is over.
    pub(crate) fn overdue(&mut self, now: Instant) -> Vec<IdleConn> {
        let is_overdue = |idle: &IdleConn| idle.deadline.is_some_and(|deadline| deadline <= now);
        let overdue = self.conns.iter().filter(|(_, idle)| is_overdue(idle));
        let keys: Vec<usize> = overdue.map(|(key, _)| *key).collect();
        keys.into_iter().filter_map(|key| self.remove(key)).collect()
    }

    /// Takes all out.
    pub(crate) fn drain(&mut self) -> Vec<IdleConn> {
        self.large = 0;
        self.conns.drain().map(|(_, idle)| idle).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.conns.is_empty()
    }
}

fn large(idle: &IdleConn) -> usize {
    idle.conn.buffer_len().saturating_sub(SMALL_BUFFER)
}

/// Waiting times of connections without a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdleLimits {
    /// For the first operation, and for the rest of a request that has begun
    /// (`dfs.client.socket-timeout`, Hadoop's read timeout).
    pub(crate) first: Duration,
    /// Between operations (`dfs.datanode.socket.reuse.keepalive`); zero closes after each.
    pub(crate) keep_alive: Duration,
}

impl IdleLimits {
    /// Until when a connection may wait. Further bytes of a request give no more time.
    pub(crate) fn deadline(self, first: bool, begun: Option<Instant>) -> Instant {
        match (begun, first) {
            (Some(begun), _) => begun + self.first,
            (None, true) => clock::now() + self.first,
            (None, false) => clock::now() + self.keep_alive,
        }
    }
}
