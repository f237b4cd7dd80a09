//! DataNodes and disks that DataNodes report as slower than the others (`SlowPeerTracker`,
//! `SlowDiskTracker`).

use super::nodes::Nodes;
use super::types::NodeIdx;
use hashbrown::HashMap;

/// Disks that one DataNode can report.
const DISKS_MAX: usize = 256;

/// How a DataNode stands out among those that another one sends packets to; all in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PeerLatency {
    /// The mean time that a packet took.
    pub mean_ms: f64,
    /// The median of these means over all its peers.
    pub median_ms: f64,
    /// Their median absolute deviation.
    pub mad_ms: f64,
    /// What a peer may take before it counts as slow.
    pub limit_ms: f64,
}

/// Mean times of operations of a disk, where these stand out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiskLatency {
    /// Opening, renaming, deleting.
    pub metadata_ms: Option<f64>,
    /// Reads.
    pub read_ms: Option<f64>,
    /// Writes.
    pub write_ms: Option<f64>,
}

impl DiskLatency {
    fn most(&self) -> f64 {
        [self.metadata_ms, self.read_ms, self.write_ms].into_iter().flatten().fold(0.0, f64::max)
    }
}

/// How much of the reports counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowLimits {
    /// How long a report counts: three times `dfs.datanode.outliers.report.interval`.
    pub valid_ms: u64,
    /// `dfs.namenode.max.slowpeer.collect.nodes`: DataNodes that count as slow at a time.
    pub nodes_max: usize,
}

impl Default for SlowLimits {
    fn default() -> Self {
        Self { valid_ms: 3 * 1_800_000, nodes_max: 5 }
    }
}

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

struct Report<T> {
    latency: T,
    at_ms: u64,
}

/// The reports of all DataNodes.
#[derive(Default)]
pub(super) struct SlowReports {
    limits: SlowLimits,
    /// By the slow DataNode and who reports it.
    peers: HashMap<NodeIdx, HashMap<NodeIdx, Report<PeerLatency>>>,
    /// By the DataNode, and the directory of its volume.
    disks: HashMap<NodeIdx, HashMap<String, Report<DiskLatency>>>,
    /// The DataNodes that most others call slow.
    slow: Vec<NodeIdx>,
}

impl SlowReports {
    pub(super) fn new(limits: SlowLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Other limits, from the next time on that slow DataNodes are found.
    pub(super) fn set_limits(&mut self, limits: SlowLimits) {
        self.limits = limits;
    }

    /// `reporter` says that `node` is slow. What a DataNode reports of itself does not count.
    pub(super) fn add_peer(
        &mut self,
        reporter: NodeIdx,
        node: NodeIdx,
        latency: PeerLatency,
        at_ms: u64,
    ) {
        if reporter != node {
            self.peers.entry(node).or_default().insert(reporter, Report { latency, at_ms });
        }
    }

    /// A DataNode says that one of its disks is slow.
    pub(super) fn add_disk(
        &mut self,
        node: NodeIdx,
        directory: String,
        latency: DiskLatency,
        at_ms: u64,
    ) {
        let disks = self.disks.entry(node).or_default();
        if disks.len() < DISKS_MAX || disks.contains_key(&directory) {
            disks.insert(directory, Report { latency, at_ms });
        }
    }

    /// Forgets what is too old, and finds the DataNodes that count as slow now.
    pub(super) fn refresh(&mut self, now_ms: u64) {
        let valid_ms = self.limits.valid_ms;
        let is_valid = |at_ms: u64| now_ms.saturating_sub(at_ms) < valid_ms;
        self.peers.retain(|_, reports| {
            reports.retain(|_, report| is_valid(report.at_ms));
            !reports.is_empty()
        });
        self.disks.retain(|_, disks| {
            disks.retain(|_, report| is_valid(report.at_ms));
            !disks.is_empty()
        });
        self.slow = self.by_reporters();
        self.slow.truncate(self.limits.nodes_max);
    }

    /// Most reporters first.
    fn by_reporters(&self) -> Vec<NodeIdx> {
        let mut nodes: Vec<_> = self.peers.iter().map(|(node, by)| (by.len(), *node)).collect();
        nodes.sort_unstable_by_key(|(count, node)| (std::cmp::Reverse(*count), *node));
        nodes.into_iter().map(|(_, node)| node).collect()
    }

    /// Whether a DataNode counts as slow.
    pub(super) fn is_slow(&self, node: NodeIdx) -> bool {
        self.slow.contains(&node)
    }

    /// Whether any other DataNode calls it slow.
    pub(super) fn is_reported(&self, node: NodeIdx) -> bool {
        self.peers.contains_key(&node)
    }

    /// Up to `max` slow DataNodes with those that report them, the worst latency first.
    pub(super) fn peers(&self, max: usize) -> Vec<(NodeIdx, Vec<(NodeIdx, PeerLatency)>)> {
        let reports = |node: &NodeIdx| {
            let by = self.peers.get(node).into_iter().flatten();
            let mut by: Vec<_> = by.map(|(reporter, report)| (*reporter, report.latency)).collect();
            by.sort_by(|one, other| other.1.mean_ms.total_cmp(&one.1.mean_ms));
            by
        };
        self.by_reporters().iter().take(max).map(|node| (*node, reports(node))).collect()
    }

    /// Up to `max` slow disks, the slowest first.
    pub(super) fn disks(&self, max: usize) -> Vec<(NodeIdx, &str, DiskLatency)> {
        let mut all: Vec<_> = self
            .disks
            .iter()
            .flat_map(|(node, disks)| {
                disks.iter().map(|(directory, report)| (*node, directory.as_str(), report.latency))
            })
            .collect();
        all.sort_by(|one, other| other.2.most().total_cmp(&one.2.most()));
        all.truncate(max);
        all
    }
    /// Takes in what a DataNode says of others and of its disks; names of DataNodes that are not known
    /// are left out.
    pub(super) fn report(
        &mut self,
        nodes: &Nodes,
        reporter: &str,
        peers: &[(String, PeerLatency)],
        disks: Vec<(String, DiskLatency)>,
        now_ms: u64,
    ) {
        let Some(reporter) = nodes.by_uuid(reporter) else { return };
        for (name, latency) in peers {
            if let Some(node) = nodes.by_transfer_address(name) {
                self.add_peer(reporter, node, *latency, now_ms);
            }
        }
        for (directory, latency) in disks {
            self.add_disk(reporter, directory, latency, now_ms);
        }
        self.refresh(now_ms);
    }

    /// As [`SlowReports::peers`], by name.
    pub(super) fn named_peers(&self, nodes: &Nodes, max: usize) -> Vec<SlowPeer> {
        let named = |(reporter, latency)| (rpc_name(nodes, reporter), latency);
        let peers = self.peers(max).into_iter();
        peers
            .map(|(node, reports)| SlowPeer {
                node: transfer_name(nodes, node),
                reports: reports.into_iter().map(named).collect(),
            })
            .collect()
    }

    /// As [`SlowReports::disks`], by name.
    pub(super) fn named_disks(&self, nodes: &Nodes, max: usize) -> Vec<SlowDisk> {
        let disks = self.disks(max).into_iter();
        disks
            .map(|(node, directory, latency)| SlowDisk {
                disk: format!("{}:{directory}", rpc_name(nodes, node)),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn node(index: u32) -> NodeIdx {
        NodeIdx(index)
    }

    fn reports(nodes_max: usize) -> SlowReports {
        SlowReports::new(SlowLimits { valid_ms: 100, nodes_max })
    }

    fn latency(mean_ms: f64) -> PeerLatency {
        PeerLatency { mean_ms, ..PeerLatency::default() }
    }

    #[test]
    fn those_whom_most_report_count_as_slow_until_the_reports_are_old() {
        let mut reports = reports(1);
        reports.add_peer(node(1), node(9), latency(50.0), 0);
        reports.add_peer(node(1), node(8), latency(70.0), 0);
        reports.add_peer(node(2), node(8), latency(90.0), 60);
        reports.add_peer(node(7), node(7), latency(500.0), 60);
        reports.refresh(60);
        assert!(reports.is_slow(node(8)) && !reports.is_slow(node(9)) && !reports.is_slow(node(7)));
        let listed = reports.peers(5);
        let worst = vec![(node(2), latency(90.0)), (node(1), latency(70.0))];
        assert_eq!(listed, [(node(8), worst), (node(9), vec![(node(1), latency(50.0))])]);
        reports.refresh(110);
        assert_eq!(reports.peers(5), [(node(8), vec![(node(2), latency(90.0))])]);
        reports.refresh(160);
        assert!(reports.peers(5).is_empty() && !reports.is_slow(node(8)));
    }

    #[test]
    fn the_slowest_disks_come_first_and_a_datanode_cannot_report_any_number() {
        let mut reports = reports(5);
        let disk = |write_ms| DiskLatency { write_ms: Some(write_ms), ..DiskLatency::default() };
        for index in 0..2 * DISKS_MAX {
            reports.add_disk(node(1), format!("/d{index}"), disk(index as f64), 0);
        }
        reports.add_disk(node(2), "/slow".to_owned(), disk(1e9), 0);
        let found = reports.disks(2);
        let (first, last) = (found[0], DISKS_MAX - 1);
        assert_eq!(first, (node(2), "/slow", disk(1e9)));
        assert_eq!(found[1].1, format!("/d{last}"));
        reports.refresh(100);
        assert!(reports.disks(2).is_empty());
    }
}
