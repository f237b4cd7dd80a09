//! The limits of an HTTP server.

use super::cross_origin::CrossOrigin;
use super::slow_peer::MinimumRate;
use crate::machines::MachineList;
use std::sync::Arc;
use std::time::Duration;
use zerohop_conf::{Conf, ConfError, keys};

/// Bytes of a request's head that hyper can be held to at the least.
const HEAD_MIN: usize = 8 << 10;
const HANDLER_THREADS_DEFAULT: usize = 32;
/// tokio has 512 threads for everything that blocks in a process.
const HANDLER_THREADS_MAX: usize = 256;

/// What one server may use.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Connections at once; more wait in the socket.
    pub connections_max: usize,
    /// Connections at once from one address; more are closed at once. 0 means that there is no limit.
    pub connections_per_address_max: usize,
    /// Reverse proxies, each of which may have any number of connections.
    pub proxies: Arc<MachineList>,
    /// A connection whose peer sends a request's body, or takes an answer, more slowly is closed.
    pub rate_min: MinimumRate,
    /// Bytes of a request line and its headers; larger ones are answered with status 431.
    pub head_max: usize,
    /// A connection on which nothing moves for so long is closed, and so is one that takes longer to send a request's
    /// head. A request that is being handled may take longer.
    pub idle_max: Duration,
    /// Handlers at once that may wait for locks and disks.
    pub handler_threads: usize,
    /// The rules for pages of other origins; `None` if no such page may read an answer.
    pub cross_origin: Option<Arc<CrossOrigin>>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            connections_max: 2048,
            connections_per_address_max: 0,
            proxies: Arc::default(),
            rate_min: MinimumRate::NONE,
            head_max: 64 << 10,
            idle_max: Duration::from_secs(60),
            handler_threads: HANDLER_THREADS_DEFAULT,
            cross_origin: None,
        }
    }
}

impl HttpOptions {
    /// Reads the keys `hadoop.http.idle_timeout.ms`, `hadoop.http.max.request.header.size`, `hadoop.http.max.threads`,
    /// `hadoop.http.cross-origin.*` and those of `zerohop.http`. Resolves the names of proxies, which blocks.
    ///
    /// # Errors
    /// If one of them is malformed.
    pub fn from_conf(conf: &Conf) -> Result<Self, ConfError> {
        let head_max = conf.get(&keys::HADOOP_HTTP_MAX_REQUEST_HEADER_SIZE)?;
        let threads = conf.get(&keys::HADOOP_HTTP_MAX_THREADS)?;
        Ok(Self {
            connections_per_address_max: conf
                .get(&keys::ZEROHOP_HTTP_CONNECTIONS_PER_ADDRESS_MAX)?,
            proxies: Arc::new(MachineList::parse(&conf.get(&keys::ZEROHOP_HTTP_PROXIES)?)),
            rate_min: MinimumRate {
                bytes_per_s: conf.get(&keys::ZEROHOP_HTTP_RATE_MIN)?,
                grace: conf.get(&keys::ZEROHOP_HTTP_RATE_GRACE_MS)?,
            },
            head_max: usize::try_from(head_max).unwrap_or_default().max(HEAD_MIN),
            idle_max: conf.get(&keys::HADOOP_HTTP_IDLE_TIMEOUT_MS)?,
            handler_threads: match usize::try_from(threads) {
                Ok(threads) if threads > 0 => threads.min(HANDLER_THREADS_MAX),
                _ => HANDLER_THREADS_DEFAULT,
            },
            cross_origin: CrossOrigin::from_conf(conf)?,
            ..Self::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The gateway's port had the limits, and the ports of NameNode, DataNode and JournalNode had none.
    #[test]
    fn the_ports_of_daemons_had_no_limit_for_one_address() {
        let mut conf = Conf::new();
        let default = HttpOptions::from_conf(&conf).unwrap();
        let of_address = default.connections_per_address_max;
        assert!(of_address > 0 && of_address < default.connections_max, "{of_address}");
        assert!(default.rate_min.bytes_per_s > 0 && default.rate_min.grace > Duration::ZERO);
        conf.set("zerohop.http.connections.per.address.max", "0");
        conf.set("zerohop.http.proxies", "10.1.0.0/16");
        let options = HttpOptions::from_conf(&conf).unwrap();
        assert_eq!(options.connections_per_address_max, 0);
        assert!(options.proxies.includes([10, 1, 2, 3].into()));
    }
}
