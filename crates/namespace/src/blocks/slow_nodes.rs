//! Slow DataNodes and disks by the names that operators know.

use super::slow::{DiskLatency, PeerLatency};
use super::{BlockManager, NodeIdx};

/// A DataNode that others report as slow, by its transfer port; the others by their RPC ports, as Apache
/// names them.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowPeer {
    /// Its name.
    pub node: String,
    /// Who reports it, with what latency; the worst first.
    pub reports: Vec<(String, PeerLatency)>,
}

/// A slow disk.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowDisk {
    /// The DataNode's RPC port and the volume's directory, with a colon in between.
    pub disk: String,
    /// How slow it is.
    pub latency: DiskLatency,
}

impl BlockManager {
    /// Takes in what a DataNode says of others and of its disks; names of DataNodes that are not known
    /// are left out.
    pub fn report_slow(
        &mut self,
        reporter: &str,
        peers: &[(String, PeerLatency)],
        disks: Vec<(String, DiskLatency)>,
    ) {
        let Some(reporter) = self.nodes.by_uuid(reporter) else { return };
        let now_ms = self.now.mono_ms;
        for (name, latency) in peers {
            if let Some(node) = self.node_at(name) {
                self.slow.add_peer(reporter, node, *latency, now_ms);
            }
        }
        for (directory, latency) in disks {
            self.slow.add_disk(reporter, directory, latency, now_ms);
        }
        self.slow.refresh(now_ms);
    }

    /// The DataNode with this transfer address, `host:port`.
    fn node_at(&self, name: &str) -> Option<NodeIdx> {
        let (host, port) = name.rsplit_once(':')?;
        let port: u32 = port.parse().ok()?;
        let is_at =
            |node: &NodeIdx| self.nodes.node(*node).is_some_and(|known| known.id.xfer_port == port);
        self.nodes.by_host(host).iter().copied().find(is_at)
    }

    fn transfer_name(&self, node: NodeIdx) -> String {
        self.nodes.node(node).map(|known| known.id.xfer_addr()).unwrap_or_default()
    }

    fn rpc_name(&self, node: NodeIdx) -> String {
        let id = self.nodes.node(node).map(|known| &known.id);
        id.map(|id| format!("{}:{}", id.ip, id.ipc_port)).unwrap_or_default()
    }

    /// Whether a DataNode counts as slow.
    pub fn is_slow(&self, uuid: &str) -> bool {
        self.nodes.by_uuid(uuid).is_some_and(|node| self.slow.is_slow(node))
    }

    /// Up to `max` slow DataNodes, those first that most others report.
    pub fn slow_peers(&self, max: usize) -> Vec<SlowPeer> {
        let named = |(reporter, latency)| (self.rpc_name(reporter), latency);
        let peers = self.slow.peers(max).into_iter();
        peers
            .map(|(node, reports)| SlowPeer {
                node: self.transfer_name(node),
                reports: reports.into_iter().map(named).collect(),
            })
            .collect()
    }

    /// Up to `max` slow disks, the slowest first.
    pub fn slow_disks(&self, max: usize) -> Vec<SlowDisk> {
        let disks = self.slow.disks(max).into_iter();
        disks
            .map(|(node, directory, latency)| SlowDisk {
                disk: format!("{}:{directory}", self.rpc_name(node)),
                latency,
            })
            .collect()
    }
}
