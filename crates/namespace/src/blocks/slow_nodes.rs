//! Slow DataNodes and disks by the names that operators know.

use super::nodes::Nodes;
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
            if let Some(node) = self.nodes.by_transfer_address(name) {
                self.slow.add_peer(reporter, node, *latency, now_ms);
            }
        }
        for (directory, latency) in disks {
            self.slow.add_disk(reporter, directory, latency, now_ms);
        }
        self.slow.refresh(now_ms);
    }

    /// Whether a DataNode counts as slow.
    pub fn is_slow(&self, uuid: &str) -> bool {
        self.nodes.by_uuid(uuid).is_some_and(|node| self.slow.is_slow(node))
    }

    /// Up to `max` slow DataNodes, those first that most others report.
    pub fn slow_peers(&self, max: usize) -> Vec<SlowPeer> {
        let named = |(reporter, latency)| (rpc_name(&self.nodes, reporter), latency);
        let peers = self.slow.peers(max).into_iter();
        peers
            .map(|(node, reports)| SlowPeer {
                node: transfer_name(&self.nodes, node),
                reports: reports.into_iter().map(named).collect(),
            })
            .collect()
    }

    /// Up to `max` slow disks, the slowest first.
    pub fn slow_disks(&self, max: usize) -> Vec<SlowDisk> {
        let disks = self.slow.disks(max).into_iter();
        disks
            .map(|(node, directory, latency)| SlowDisk {
                disk: format!("{}:{directory}", rpc_name(&self.nodes, node)),
                latency,
            })
            .collect()
    }
}

/// As operators know a DataNode.
fn transfer_name(nodes: &Nodes, node: NodeIdx) -> String {
    nodes.node(node).map(|known| known.id.xfer_addr()).unwrap_or_default()
}

/// As Apache names a DataNode that reports another.
fn rpc_name(nodes: &Nodes, node: NodeIdx) -> String {
    let id = nodes.node(node).map(|known| &known.id);
    id.map(|id| format!("{}:{}", id.ip, id.ipc_port)).unwrap_or_default()
}
