//! `/heatmap` and `/slow`: how long the disks take, and which of them stand out.

use crate::node::Node;
use crate::outliers::OutlierLimits;
use crate::store::volume::DataVolume;
use serde_json::{Value, json};
use std::sync::Arc;
use zerohop_profile::heat::{HeatMap, Summary};
use zerohop_proto::hdfs::datanode::{SlowDiskReportProto, SlowPeerReportProto};

/// `/slow` looks at the last five minutes.
const SECONDS: u64 = 300;
/// Fewer calls say nothing about a disk.
const CALLS_MIN: u64 = 5;
/// Volumes are compared where there are so many with calls of a kind; one must take longer than the low threshold.
const COMPARED: OutlierLimits = OutlierLimits { resources_min: 3, low_threshold_ms: 20.0 };
/// What no disk that is well takes, in the middle of all calls and for one of a hundred: calls, and forcing to the disk.
const CALL_MAX_MS: (f64, f64) = (100.0, 1_000.0);
const SYNC_MAX_MS: (f64, f64) = (500.0, 5_000.0);

/// The maps of all volumes, one a kind.
pub(crate) fn heat_maps(volumes: &[Arc<DataVolume>], seconds: u64) -> Vec<HeatMap> {
    let maps = volumes.iter().filter_map(|volume| {
        let place = volume.root().display().to_string();
        Some(volume.times.history()?.maps(&place, seconds))
    });
    maps.flatten().collect()
}

/// What `/slow` shows.
pub(crate) fn slow(node: &Node) -> Value {
    let maps = heat_maps(&node.store.volumes().all(), SECONDS);
    let (failed, summary) = node.store.failures().summary();
    json!({
        "seconds": SECONDS,
        "isMeasured": node.settings.disk_stats.keeps_history,
        "slowVolumes": slow_volumes(&maps),
        "failedVolumes": failed,
        "failedDirectories": summary.map(|summary| summary.failed_storage_locations).unwrap_or_default(),
        // As the NameNode is told, by Apache's rules and keys (dfs.datanode.fileio.profiling.sampling.percentage,
        // dfs.datanode.peer.stats.enabled).
        "reportedSlowDisks": node.slow_disks().iter().map(disk).collect::<Vec<_>>(),
        "reportedSlowPeers": node.peer_latencies.slow().iter().map(peer).collect::<Vec<_>>(),
    })
}

/// Those that take long, or much longer than the others.
fn slow_volumes(maps: &[HeatMap]) -> Vec<Value> {
    let measured: Vec<(&HeatMap, Summary)> = maps
        .iter()
        .filter_map(|map| Some((map, map.summary()?)))
        .filter(|(_, summary)| summary.count >= CALLS_MIN)
        .collect();
    let found = measured.iter().filter_map(|(map, summary)| {
        let why = takes_long(map.kind, summary).or_else(|| {
            let alike = measured.iter().filter(|(other, _)| other.kind == map.kind);
            let means: Vec<(&str, f64)> =
                alike.map(|(other, summary)| (other.place.as_str(), summary.mean_ms)).collect();
            let outliers = COMPARED.outliers(&means);
            let (_, outlier) = outliers.iter().find(|(place, _)| *place == map.place)?;
            Some(format!(
                "{:.1} ms on average, half of the volumes take below {:.1} ms",
                outlier.mean_ms, outlier.median_ms
            ))
        })?;
        Some(json!({
            "volume": map.place,
            "kind": map.kind,
            "calls": summary.count,
            "meanMs": summary.mean_ms,
            "medianMs": summary.median_ms,
            "p99Ms": summary.p99_ms,
            "maxMs": summary.max_ms,
            "why": why,
        }))
    });
    found.collect()
}

fn takes_long(kind: &str, summary: &Summary) -> Option<String> {
    let (median_max, p99_max) = if kind == "fsync" { SYNC_MAX_MS } else { CALL_MAX_MS };
    if summary.median_ms >= median_max {
        return Some(format!("half of the calls take {:.0} ms or more", summary.median_ms));
    }
    let is_long = summary.p99_ms >= p99_max;
    is_long.then(|| format!("one call of a hundred takes {:.0} ms or more", summary.p99_ms))
}

fn disk(report: &SlowDiskReportProto) -> Value {
    json!({
        "volume": report.base_path(),
        "meanMetadataMs": report.mean_metadata_op_latency,
        "meanReadMs": report.mean_read_io_latency,
        "meanWriteMs": report.mean_write_io_latency,
    })
}

fn peer(report: &SlowPeerReportProto) -> Value {
    json!({
        "peer": report.data_node_id(),
        "meanMs": report.aggregate_latency,
        "medianMs": report.median,
        "limitMs": report.upper_limit_latency,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_node::TestNode;
    use std::time::Duration;
    use zerohop_profile::heat::heat_picture;
    use zerohop_replica::IoCall;

    const MS: Duration = Duration::from_millis(1);

    /// The volumes' calls take what the function says; the delay is made where the DataNode times its calls.
    fn node_with(took: fn(&str, IoCall) -> Duration) -> TestNode {
        let names = ["d0", "d1", "d2", "d3", "d4"];
        let node = TestNode::start(&names, &[]);
        for volume in node.node.store.volumes().all().iter() {
            let name = volume.root().file_name().unwrap().to_string_lossy().into_owned();
            for call in [IoCall::Read, IoCall::Write, IoCall::Sync] {
                (0..20).for_each(|_| volume.times.io_timer().delayed(call, took(&name, call)));
            }
        }
        node
    }

    #[test]
    fn a_slow_disk_is_named_and_seen() {
        let node = node_with(|name, call| match (name, call) {
            ("d3", IoCall::Write) => 150 * MS,
            _ => MS,
        });
        let slow = slow(&node.node);
        let named = slow["slowVolumes"].as_array().unwrap();
        let [volume] = &named[..] else { panic!("{slow}") };
        assert!(volume["volume"].as_str().unwrap().ends_with("/d3"), "{slow}");
        assert_eq!((&volume["kind"], &volume["calls"]), (&json!("write"), &json!(20)));
        let maps = heat_maps(&node.node.store.volumes().all(), 60);
        let map =
            maps.iter().find(|map| map.place.ends_with("/d3") && map.kind == "write").unwrap();
        let picture = heat_picture("t", "n", std::slice::from_ref(map));
        assert!(picture.contains("20 calls of 131 ms"), "{picture}");
        assert!(map.summary().unwrap().median_ms > 100.0);
    }

    #[test]
    fn a_disk_that_is_slower_than_the_others_is_named() {
        let node = node_with(|name, call| match (name, call) {
            ("d1", IoCall::Sync) => 60 * MS,
            (_, IoCall::Sync) => 4 * MS,
            _ => MS,
        });
        let slow = slow(&node.node);
        assert_eq!(slow["slowVolumes"].as_array().unwrap().len(), 1, "{slow}");
        assert_eq!(slow["slowVolumes"][0]["kind"], "fsync");
        assert!(
            slow["slowVolumes"][0]["why"].as_str().unwrap().contains("half of the volumes"),
            "{slow}"
        );
    }

    #[test]
    fn writing_and_reading_a_replica_is_in_the_maps() {
        let node = TestNode::start(&["d0"], &[]);
        let block = node.finalized(7, 300_000);
        let reads = node.node.store.reads();
        drop(reads.open_files(&block));
        let maps = heat_maps(&node.node.store.volumes().all(), 60);
        for kind in ["write", "metadata", "read"] {
            let map = maps.iter().find(|map| map.kind == kind).unwrap();
            assert!(map.summary().is_some(), "{kind}");
        }
        let off = TestNode::start(&["d0"], &[("zerohop.datanode.heatmap.enabled", "false")]);
        off.finalized(7, 300_000);
        assert_eq!(heat_maps(&off.node.store.volumes().all(), 60), []);
    }
}
