//! Peers and disks that are slower than the others: measured here, reported to the NameNode
//! (`DataNodePeerMetrics`, `DataNodeDiskMetrics`).

mod detector;
mod disks;
mod history;
mod means;
mod slow_calls;

pub(crate) use detector::OutlierLimits;
pub(crate) use disks::{DiskCall, DiskSettings, DiskTimes, SlowestDisks, slow_disks};
pub(crate) use history::DiskRates;
pub(crate) use slow_calls::{SlowCall, SlowCalls};

use means::RollingMeans;
use parking_lot::Mutex;
use std::time::{Duration, Instant};
use zerohop_proto::hdfs::datanode::SlowPeerReportProto;
use zerohop_system::clock;

/// How peers are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PeerSettings {
    /// Fewer samples than this say nothing about a peer.
    pub(crate) samples_min: u64,
    pub(crate) limits: OutlierLimits,
}

/// How long packets take to the last DataNode of a pipeline, by DataNode.
pub(crate) struct PeerLatencies {
    /// `None`: `dfs.datanode.peer.stats.enabled` is off.
    settings: Option<PeerSettings>,
    started: Instant,
    means: Mutex<RollingMeans>,
}

impl PeerLatencies {
    pub(crate) fn new(settings: Option<PeerSettings>) -> Self {
        Self { settings, started: clock::now(), means: Mutex::default() }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(clock::since(self.started).as_millis()).unwrap_or(u64::MAX)
    }

    /// Sending to a peer took so long. Its name is `ip:port`.
    pub(crate) fn note(&self, peer: &str, took: Duration) {
        if self.settings.is_some() {
            self.means.lock().add(peer, took.as_secs_f64() * 1000.0, self.now_ms());
        }
    }

    /// The peers that stand out now.
    pub(crate) fn slow(&self) -> Vec<SlowPeerReportProto> {
        let Some(settings) = self.settings else { return Vec::new() };
        let means = self.means.lock().means(settings.samples_min, self.now_ms());
        let slow = settings.limits.outliers(&means).into_iter();
        slow.map(|(peer, outlier)| SlowPeerReportProto {
            data_node_id: Some(peer),
            aggregate_latency: Some(outlier.mean_ms),
            median: Some(outlier.median_ms),
            mad: Some(outlier.mad_ms),
            upper_limit_latency: Some(outlier.limit_ms),
        })
        .collect()
    }
}

/// When slow peers and disks were last reported to a NameNode.
#[derive(Default)]
pub(crate) struct ReportTimer(Mutex<Option<Instant>>);

impl ReportTimer {
    /// Whether so much time has passed since this was last true, or since the first call.
    pub(crate) fn is_due(&self, interval: Duration) -> bool {
        let (mut last, now) = (self.0.lock(), clock::now());
        let since = now.duration_since(*last.get_or_insert(now));
        let is_due = since >= interval;
        if is_due {
            *last = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_of_many_peers_is_reported() {
        let limits = OutlierLimits { resources_min: 4, low_threshold_ms: 5.0 };
        let settings = PeerSettings { samples_min: 2, limits };
        for (enabled, expected) in [(Some(settings), 1), (None, 0)] {
            let latencies = PeerLatencies::new(enabled);
            for sample in 0..2 {
                for peer in 1..=4 {
                    let took = Duration::from_millis(if peer == 3 { 90 } else { 6 + sample });
                    latencies.note(&format!("10.0.0.{peer}:9866"), took);
                }
                latencies.note("10.0.0.9:9866", Duration::from_secs(u64::from(sample == 0)));
            }
            let slow = latencies.slow();
            assert_eq!(slow.len(), expected + usize::from(enabled.is_some()));
            let peers: Vec<_> = slow.iter().filter_map(|slow| slow.data_node_id.clone()).collect();
            assert_eq!(peers.contains(&"10.0.0.3:9866".to_owned()), enabled.is_some());
        }
    }
}
