//! A client's patience and limits.

use std::time::Duration;
use tokio::runtime::Handle;
use zerohop_conf::{Conf, ConfError, Role, check_protections, keys};

/// A client's patience and limits.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// How long one connect may take (`ipc.client.connect.timeout`); zero means as long
    /// as the system allows.
    pub connect_timeout: Duration,
    /// Connects tried again after a refusal (`ipc.client.connect.max.retries`).
    pub connect_retries: u32,
    /// Connects tried again after a time-out (`ipc.client.connect.max.retries.on.timeouts`).
    pub connect_retries_on_timeouts: u32,
    /// Wait between two connects (`ipc.client.connect.retry.interval`).
    pub connect_retry_interval: Duration,
    /// How long a call may take (`ipc.client.rpc-timeout.ms`); zero means for ever.
    pub rpc_timeout: Duration,
    /// Silence after which a sign of life is sent (`ipc.ping.interval`); zero sends none.
    pub ping_interval: Duration,
    /// A connection without calls is closed after this (`ipc.client.connection.maxidletime`).
    pub idle_after: Duration,
    /// Whether small requests leave at once (`ipc.client.tcpnodelay`).
    pub tcp_nodelay: bool,
    /// Largest answer (`ipc.maximum.response.length`).
    pub response_len_max: usize,
    /// The runtime that connections and time limits belong to, wherever calls are awaited. `None` means the runtime within
    /// which the client is constructed or, without one, the runtime that awaits a call.
    pub runtime: Option<Handle>,
}

impl ClientOptions {
    /// As the keys of `conf` say.
    ///
    /// # Errors
    /// If a value does not fit its key, or promises a protection that clients do not implement:
    /// every client is made with options, so none talks without it.
    pub fn from_conf(conf: &Conf) -> Result<Self, ConfError> {
        check_protections(conf, Role::Client)?;
        let pings = conf.get(&keys::IPC_CLIENT_PING)?;
        let interval = conf.get(&keys::IPC_PING_INTERVAL)?;
        Ok(Self {
            connect_timeout: conf.get(&keys::IPC_CLIENT_CONNECT_TIMEOUT)?,
            connect_retries: count(conf.get(&keys::IPC_CLIENT_CONNECT_MAX_RETRIES)?),
            connect_retries_on_timeouts: count(
                conf.get(&keys::IPC_CLIENT_CONNECT_MAX_RETRIES_ON_TIMEOUTS)?,
            ),
            connect_retry_interval: conf.get(&keys::IPC_CLIENT_CONNECT_RETRY_INTERVAL)?,
            rpc_timeout: conf.get(&keys::IPC_CLIENT_RPC_TIMEOUT_MS)?,
            ping_interval: if pings { interval } else { Duration::ZERO },
            idle_after: conf.get(&keys::IPC_CLIENT_CONNECTION_MAXIDLETIME)?,
            tcp_nodelay: conf.get(&keys::IPC_CLIENT_TCPNODELAY)?,
            response_len_max: count(conf.get(&keys::IPC_MAXIMUM_RESPONSE_LENGTH)?) as usize,
            runtime: None,
        })
    }
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(20),
            connect_retries: 10,
            connect_retries_on_timeouts: 45,
            connect_retry_interval: Duration::from_secs(1),
            rpc_timeout: Duration::from_secs(120),
            ping_interval: Duration::from_secs(60),
            idle_after: Duration::from_secs(10),
            tcp_nodelay: true,
            response_len_max: 128 << 20,
            runtime: None,
        }
    }
}

fn count(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}
