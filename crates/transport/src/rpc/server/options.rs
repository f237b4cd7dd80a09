//! A server's limits.

use super::ProxyUsers;
use super::fair::{FairOptions, backoff, fails_over};
use super::slow_calls::SlowCallSettings;
use std::sync::Arc;
use std::time::Duration;
use zerohop_conf::{Conf, ConfError, keys};
use zerohop_daemon::metrics::Intervals;

/// A server's limits, with Hadoop's defaults.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// What the log calls this server, usually its port.
    pub name: String,
    /// Largest frame (`ipc.maximum.data.length`).
    pub frame_len_max: usize,
    /// Bytes that the requests of all connections may take together, decoded or not
    /// (`zerohop.ipc.server.request.memory.max`). Small requests are not counted.
    pub request_memory_max: usize,
    /// Calls that may wait at once, over all connections; beyond, a connection that waits itself is
    /// not read, or is told to come back later.
    pub waiting_calls_max: usize,
    /// Whether calls beyond the limit are refused instead of left in the socket
    /// (`ipc.<port>.backoff.enable`).
    pub backoff: bool,
    /// Whether calls that are refused send their client to another server
    /// (`ipc.<port>.callqueue.overflow.trigger.failover`).
    pub fails_over: bool,
    /// How calls are scheduled (`ipc.<port>.callqueue.impl`); none: each connection's task answers its calls itself.
    pub fair: Option<FairOptions>,
    /// Threads that carry out scheduled calls.
    pub handlers: usize,
    /// Most connections (`ipc.server.max.connections`). Where that is 0, three quarters of the
    /// descriptors that the process may have: edit log and block files need the others.
    pub connections_max: usize,
    /// Idle connections are closed only where there are more than this (`ipc.client.idlethreshold`).
    pub idle_threshold: usize,
    /// A connection without calls is idle after this (twice `ipc.client.connection.maxidletime`).
    pub idle_after: Duration,
    /// Time between two looks for idle connections.
    pub idle_scan_interval: Duration,
    /// A connection must say who it is within this time, and finish a request it has begun
    /// (`zerohop.ipc.server.handshake.timeout.ms`); zero means no limit.
    pub handshake_timeout: Duration,
    /// A client must take its answers within this time (`ipc.server.purge.interval`).
    pub unread_timeout: Duration,
    /// Length of the queue of connections not yet accepted.
    pub backlog: i32,
    /// Whether small answers leave at once (`ipc.server.tcpnodelay`).
    pub tcp_nodelay: bool,
    /// An answer larger than this is logged (`ipc.server.max.response.size`).
    pub response_len_logged: usize,
    /// Threads that serve connections and nothing else; 0: the runtime that starts the server does.
    pub readers: usize,
    /// What counts as a slow call (`ipc.server.log.slow.rpc`).
    pub slow_calls: SlowCallSettings,
    /// Over which intervals percentiles of calls' times are kept (`rpc.metrics.percentiles.intervals`).
    pub quantiles: Intervals,
    /// Who may act for whom.
    pub proxy_users: Arc<ProxyUsers>,
}

impl ServerOptions {
    /// The limits of `conf`; `port` is the configured one and `handlers` the number of handler
    /// threads that Apache's server would have (its queue holds
    /// `ipc.server.handler.queue.size` calls for each).
    pub fn from_conf(conf: &Conf, port: u16, handlers: usize) -> Result<Self, ConfError> {
        let per_handler = usize::try_from(conf.get(&keys::IPC_SERVER_HANDLER_QUEUE_SIZE)?);
        let connections_max = positive(conf.get(&keys::IPC_SERVER_MAX_CONNECTIONS)?);
        let unread_timeout = conf.get(&keys::IPC_SERVER_PURGE_INTERVAL)?;
        let frame_len_max = positive(conf.get(&keys::IPC_MAXIMUM_DATA_LENGTH)?);
        Ok(Self {
            name: port.to_string(),
            frame_len_max,
            request_memory_max: request_memory_max(conf, frame_len_max)?,
            waiting_calls_max: handlers.max(1) * per_handler.unwrap_or(100).max(1),
            backoff: backoff(conf, port)?,
            fails_over: fails_over(conf, port)?,
            fair: FairOptions::from_conf(conf, port)?,
            handlers: handlers.max(1),
            connections_max: match connections_max {
                0 => connections_by_descriptors(),
                limit => limit,
            },
            idle_threshold: positive(conf.get(&keys::IPC_CLIENT_IDLETHRESHOLD)?),
            idle_after: conf.get(&keys::IPC_CLIENT_CONNECTION_MAXIDLETIME)?.saturating_mul(2),
            idle_scan_interval: conf.get(&keys::IPC_CLIENT_CONNECTION_IDLE_SCAN_INTERVAL_MS)?,
            handshake_timeout: conf.get(&keys::ZEROHOP_IPC_SERVER_HANDSHAKE_TIMEOUT_MS)?,
            unread_timeout: if unread_timeout.is_zero() { PURGE_INTERVAL } else { unread_timeout },
            backlog: conf.get(&keys::IPC_SERVER_LISTEN_QUEUE_SIZE)?,
            tcp_nodelay: conf.get(&keys::IPC_SERVER_TCPNODELAY)?,
            response_len_logged: positive(conf.get(&keys::IPC_SERVER_MAX_RESPONSE_SIZE)?),
            readers: 0,
            slow_calls: SlowCallSettings::from_conf(conf)?,
            quantiles: quantiles(conf)?,
            proxy_users: Arc::new(ProxyUsers::from_conf(conf)),
        })
    }
}

/// None unless `rpc.metrics.quantile.enable`.
fn quantiles(conf: &Conf) -> Result<Intervals, ConfError> {
    if !conf.get(&keys::RPC_METRICS_QUANTILE_ENABLE)? {
        return Ok(Intervals::default());
    }
    let key = &keys::RPC_METRICS_PERCENTILES_INTERVALS;
    conf.get_as(key, Intervals::EXPECTED, |list| Intervals::parse(&list))
}

impl ServerOptions {
    /// Time between two looks at whether a connection is idle or overdue.
    pub(super) fn scan_interval(&self) -> Duration {
        let overdue = self.handshake_timeout;
        let interval = match overdue.is_zero() {
            true => self.idle_scan_interval,
            false => self.idle_scan_interval.min(overdue),
        };
        interval.max(Duration::from_millis(1))
    }
}

/// Returns the memory for requests: four times the largest frame if the key is 0. Less than twice that frame is refused, because
/// a request needs room for its bytes and for what they decode to.
fn request_memory_max(conf: &Conf, frame_len_max: usize) -> Result<usize, ConfError> {
    let key = &keys::ZEROHOP_IPC_SERVER_REQUEST_MEMORY_MAX;
    conf.get_as(key, "0, or at least twice ipc.maximum.data.length", |bytes| match bytes {
        0 => Some(frame_len_max.saturating_mul(4)),
        bytes => Some(bytes).filter(|bytes| *bytes >= frame_len_max.saturating_mul(2)),
    })
}

/// What Apache takes where `ipc.server.purge.interval` is not above zero.
const PURGE_INTERVAL: Duration = Duration::from_secs(15 * 60);

/// How many connections leave a quarter of the process's descriptors for files.
fn connections_by_descriptors() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.map_or(usize::MAX, |limit| usize::try_from(limit / 4 * 3).unwrap_or(usize::MAX).max(1))
}

fn positive(number: i32) -> usize {
    usize::try_from(number).unwrap_or(0)
}
