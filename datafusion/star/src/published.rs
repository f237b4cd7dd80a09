//! What was published: a fact table of 8 billion rows, about 25 dimensions, four DataNodes of 12 cores, 10 Gbit Ethernet.

use crate::experiment::Network;
use crate::source::Source;

/// Seconds of an aggregate over the whole fact table joined to two dimensions; nothing for local files, which were not
/// measured.
pub fn seconds(network: Network, is_second: bool, source: Source) -> Option<f64> {
    let (local_reads, tcp) = match (network, is_second) {
        (Network::Idle, false) => (29.8, 29.8),
        (Network::Idle, true) => (3.9, 3.9),
        (Network::Busy, false) => (35.1, 38.3),
        (Network::Busy, true) => (4.6, 5.1),
    };
    match source {
        Source::LocalReads => Some(local_reads),
        Source::Tcp => Some(tcp),
        Source::Files => None,
    }
}
