//! Reads by observers: NameNodes that follow the active one and answer what they have caught up with
//! (`ObserverReadProxyProvider`).

use super::servers::{STATE_WITHIN, Servers, state, until_silent};
use bytes::Bytes;
use parking_lot::Mutex;
use std::time::Duration;
use tokio::time::Instant;
use zerohop_conf::{Conf, ConfError, Unit, Value, keys};
use zerohop_proto::common::HaServiceStateProto;
use zerohop_system::clock;
use zerohop_transport::rpc::{CallId, RpcError};
use zerohop_wire::{JavaException, read_freshness};

/// Whether an observer may answer a method.
pub(super) fn is_read(method: &str) -> bool {
    read_freshness(method).is_some()
}

/// Which observers there are, and how far they must be.
pub(super) struct Observers {
    /// Age after which it is asked again how far they must be; zero asks before each read.
    sync_period: Option<Duration>,
    probe_period: Duration,
    /// How long a NameNode may take to say what it is.
    state_within: Duration,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// The observer that answered last.
    current: Option<usize>,
    /// When none was found.
    none_at: Option<Instant>,
    /// When the active one last said how far it is.
    synced_at: Option<Instant>,
}

/// What came of an attempt to read from an observer.
pub(super) enum Read {
    /// An observer answered, if only with an exception.
    Answered(Result<Bytes, RpcError>),
    /// The active one is to be asked.
    NotHere,
}

impl Observers {
    pub(super) fn from_conf(conf: &Conf, nameservice: &str) -> Result<Self, ConfError> {
        let key = &keys::DFS_CLIENT_FAILOVER_OBSERVER_AUTO_MSYNC_PERIOD;
        let period = conf.get_for(key, &[nameservice])?;
        let within = conf.get_as(
            &keys::DFS_CLIENT_FAILOVER_NAMENODE_HA_STATE_PROBE_TIMEOUT,
            "a time, or zero or less for two seconds",
            |text| match text.trim().starts_with('-') {
                true => Some(Duration::ZERO),
                false => Duration::parse(text.trim(), Unit::Millis),
            },
        )?;
        Ok(Self {
            sync_period: u64::try_from(period).ok().map(Duration::from_millis),
            probe_period: conf.get(&keys::DFS_CLIENT_FAILOVER_OBSERVER_PROBE_RETRY_PERIOD)?,
            state_within: if within.is_zero() { STATE_WITHIN } else { within },
            known: Mutex::default(),
        })
    }

    /// Whether the active NameNode must say how far it is before a read: what was written before it must be seen.
    pub(super) fn must_sync(&self) -> bool {
        let known = self.known.lock();
        match (known.synced_at, self.sync_period) {
            (None, _) => true,
            (Some(at), Some(period)) => clock::runtime_now() - at >= period,
            (Some(_), None) => false,
        }
    }

    /// The active NameNode has answered a call.
    pub(super) fn synced(&self) {
        self.known.lock().synced_at = Some(clock::runtime_now());
    }

    /// Whether it makes sense to look for one.
    pub(super) fn may_exist(&self) -> bool {
        let none_at = self.known.lock().none_at;
        none_at.is_none_or(|at| clock::runtime_now() - at >= self.probe_period)
    }

    /// Asks one observer after the other.
    pub(super) async fn read(
        &self,
        servers: &Servers,
        id: &CallId,
        method: &'static str,
        request: &[u8],
    ) -> Read {
        let first = self.known.lock().current.unwrap_or(0);
        let mut has_failed = false;
        for step in 0..servers.len() {
            let at = (first + step) % servers.len();
            let Some(server) = servers.get(at) else { continue };
            let is_known = self.known.lock().current == Some(at);
            if !is_known
                && state(server, self.state_within).await != Some(HaServiceStateProto::Observer)
            {
                continue;
            }
            self.known.lock().current = Some(at);
            let answer = tokio::select! {
                biased;
                answer = server.call_raw(id, method, request) => answer,
                // It may be frozen, and is asked again as late as one that was never found.
                () = until_silent(server, self.state_within) => {
                    tracing::warn!("{method}: observer {} does not answer", server.addr());
                    self.known.lock().current = None;
                    continue;
                }
            };
            match answer {
                Err(RpcError::Remote(exception)) => match exception.kind() {
                    Some(JavaException::ObserverRetryOnActive) => return Read::NotHere,
                    // It is none any more, or too far behind.
                    Some(JavaException::Standby | JavaException::Retriable) => {}
                    _ => return Read::Answered(Err(RpcError::Remote(exception))),
                },
                Ok(answer) => return Read::Answered(Ok(answer)),
                Err(error) => tracing::warn!("{method}: observer: {error}"),
            }
            has_failed = true;
            self.known.lock().current = None;
        }
        // Observers that failed are tried again with the next read.
        self.known.lock().none_at = (!has_failed).then(clock::runtime_now);
        Read::NotHere
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_those_that_apaches_interface_marks() {
        assert!(is_read("getFileInfo") && is_read("getListing"));
        // Only the active one answers these.
        for method in ["getQuotaUsage", "msync", "create", "getHAServiceState", "renewLease"] {
            assert!(!is_read(method), "{method}");
        }
    }
}
