//! The records of a DataNode: what `/prom` and the beans of metrics show.

use crate::node::Node;
use crate::outliers::{DiskRates, SlowCall};
use crate::store::volume::DataVolume;
use crate::transfer::running::RunningOperations;
use zerohop_daemon::metrics::{RateFigures, Record};
use zerohop_proto::hdfs::StorageReportProto;
use zerohop_wire::transfer::op::OpCode;

/// What Hadoop calls a DataNode's RPC server.
const RPC_SERVER: &str = "ClientDatanodeProtocolService";
/// The name of the record of FSDatasetState: that of Hadoop's class.
const DATASET: &str = "org.apache.hadoop.hdfs.server.datanode.fsdataset.impl.FsDatasetImpl";

/// All records.
pub(crate) fn records(node: &Node) -> Vec<Record> {
    let volumes = node.store.volumes().all();
    let mut records = vec![activity(node), dataset(node), node.store.events().record().metrics()];
    records.extend(volumes.iter().map(|volume| volume_record(volume)));
    if let Some((port, calls)) = node.rpc_activity.get() {
        records.extend(calls.records(*port, RPC_SERVER));
    }
    records
}

fn activity(node: &Node) -> Record {
    let port = node.addresses.get().map_or(0, |addresses| addresses.transfer.port());
    let source = format!("DataNodeActivity-{}-{port}", node.settings.host_name);
    let mut record = Record::new(source, "datanode", "dfs");
    node.activity.add_to(&mut record);
    operations(&node.operations, &mut record);
    let busy = "Threads at connections for block data";
    record.gauge("DataNodeActiveXceiversCount", busy, node.threads.busy());
    let scanned = node.block_scanner.statistics();
    let verified = scanned.iter().map(|(_, statistics)| statistics.verified()).sum::<u64>();
    let failures = scanned.iter().map(|(_, statistics)| statistics.failures()).sum::<u64>();
    record.counter("BlocksVerified", "Replicas verified by the block scanner", verified);
    record.counter("BlockVerificationFailures", "Replicas that could not be", failures);
    let failed = node.store.failures().summary().0;
    record.counter("VolumeFailures", "Volumes that failed", u64::from(failed));
    let sums = disk_sums(node);
    let syncs = RateFigures::of(&sums.sync);
    record.counter("FsyncCount", "Files forced to disk", syncs.count);
    let in_ns = RateFigures { mean: syncs.mean * 1e6, ..syncs };
    record.rate("FsyncNanos", "files forced to disk, ns", &in_ns);
    slow_calls(node, &mut record);
    pending(node, &mut record);
    record
}

/// Calls of writers that took longer than `dfs.datanode.slow.io.warning.threshold.ms`.
fn slow_calls(node: &Node, record: &mut Record) {
    let volumes = node.store.volumes().all();
    for (name, help, call) in [
        ("PacketsSlowWriteToDisk", "Slow writes into files", SlowCall::WriteToDisk),
        ("PacketsSlowWriteToMirror", "Slow sends to the next DataNode", SlowCall::WriteToMirror),
        ("SlowFlushOrSyncCount", "Slow syncs of files", SlowCall::FlushOrSync),
        ("SlowAckToUpstreamCount", "Slow acknowledgements", SlowCall::AckToUpstream),
    ] {
        let counts = volumes.iter().map(|volume| volume.times.slow_calls().count(call));
        record.counter(name, help, counts.sum::<u64>());
    }
}

/// Operations on blocks, which are counted where they run.
fn operations(operations: &RunningOperations, record: &mut Record) {
    let (ended, running) = (operations.ended(), operations.running());
    for (name, code) in [
        ("ReadBlockOp", OpCode::ReadBlock),
        ("WriteBlockOp", OpCode::WriteBlock),
        ("BlockChecksumOp", OpCode::BlockChecksum),
        ("CopyBlockOp", OpCode::CopyBlock),
        ("ReplaceBlockOp", OpCode::ReplaceBlock),
    ] {
        let times = ended.get(code.name()).copied().unwrap_or_default();
        record.rate(name, "operations, ms", &RateFigures::of(&times.lately));
    }
    for (name, help, code) in [
        ("DataNodeReadActiveXceiversCount", "Reads under way", OpCode::ReadBlock),
        ("DataNodeWriteActiveXceiversCount", "Writes under way", OpCode::WriteBlock),
    ] {
        let count = running.iter().filter(|operation| operation.code == code).count();
        record.gauge(name, help, count);
    }
}

/// Changes that the NameNodes have not been told of.
fn pending(node: &Node, record: &mut Record) {
    let services = node.services();
    let links = services.iter().flat_map(|service| service.links());
    let counts = links.map(|link| link.pending_changes.counts());
    let sum = counts.fold((0, 0, 0), |all, one| (all.0 + one.0, all.1 + one.1, all.2 + one.2));
    let (receiving, received, deleted) = sum;
    for (name, count) in [
        ("BlocksInPendingIBR", receiving + received + deleted),
        ("BlocksReceivingInPendingIBR", receiving),
        ("BlocksReceivedInPendingIBR", received),
        ("BlocksDeletedInPendingIBR", deleted),
    ] {
        record.gauge(name, "Replicas of the next incremental report", count);
    }
}

/// FSDatasetState.
fn dataset(node: &Node) -> Record {
    let store = &node.store;
    let state = store.storage_reports(None);
    let sum = |field: fn(&StorageReportProto) -> Option<u64>| -> u64 {
        state.reports.iter().filter_map(field).sum()
    };
    let failures = state.failure_summary.unwrap_or_default();
    let pools = node.services().into_iter().filter_map(|service| service.pool_id());
    let cached: usize = pools.map(|pool| store.cache().blocks(&pool).len()).sum();
    let mut record = Record::new("FSDatasetState", DATASET, "FSDatasetState")
        .tag_of_bean("StorageInfo", storage_info(node));
    for (name, help, value) in [
        ("Capacity", "Bytes of the volumes", sum(|report| report.capacity)),
        ("DfsUsed", "Bytes of replicas", sum(|report| report.dfs_used)),
        ("Remaining", "Bytes that are free", sum(|report| report.remaining)),
        ("NumFailedVolumes", "Volumes that failed", u64::from(state.failed_volumes)),
        (
            "LastVolumeFailureDate",
            "When the last one did, ms since 1970",
            failures.last_volume_failure_date,
        ),
        (
            "EstimatedCapacityLostTotal",
            "Bytes that they had",
            failures.estimated_capacity_lost_total,
        ),
        ("CacheUsed", "Bytes of replicas locked in memory", store.cache().used()),
        ("CacheCapacity", "Bytes that may be", store.cache().capacity()),
        ("NumBlocksCached", "Replicas locked in memory", cached as u64),
        ("NumBlocks", "Replicas", store.volumes().all().iter().map(|volume| volume.blocks()).sum()),
        (
            "LastDirectoryScannerFinishTime",
            "The end of the last scan, ms since 1970",
            node.directory_scanner.finished_ms(),
        ),
    ] {
        record.gauge(name, help, value);
    }
    record
}

/// As Hadoop names the dataset.
pub(crate) fn storage_info(node: &Node) -> String {
    let volumes = node.store.volumes().all();
    let roots: Vec<String> =
        volumes.iter().map(|volume| volume.root().display().to_string()).collect();
    format!("FSDataset{{dirpath='[{}]'}}", roots.join(", "))
}

/// The calls to the disks of all volumes.
fn disk_sums(node: &Node) -> DiskRates {
    let volumes = node.store.volumes().all();
    let mut sum = DiskRates::default();
    for history in volumes.iter().filter_map(|volume| volume.times.history()) {
        sum.merge(&history.rates());
    }
    sum
}

/// The calls to the disk of one volume (`DataNodeVolumeMetrics`). All zero where they are not timed
/// (`zerohop.datanode.heatmap.enabled`).
fn volume_record(volume: &DataVolume) -> Record {
    let directory = volume.root().display().to_string();
    let mut record = Record::new(format!("DataNodeVolume-{directory}"), "FsVolume", "dfs")
        .tag("volume", directory);
    let rates = volume.times.history().map(|history| history.rates()).unwrap_or_default();
    let data = rates.data();
    let metadata = rates.metadata.count();
    record.counter("TotalMetadataOperations", "Files created, renamed, deleted", metadata);
    record.counter("TotalDataFileIos", "Reads, writes and syncs", data.count());
    for (name, help, rate) in [
        ("MetadataOperationRate", "metadata operations, ms", &rates.metadata),
        ("DataFileIoRate", "reads, writes and syncs, ms", &data),
        ("SyncIoRate", "syncs, ms", &rates.sync),
        ("ReadIoRate", "reads, ms; what sendfile moves is not timed", &rates.read),
        ("WriteIoRate", "writes, ms", &rates.write),
    ] {
        record.rate(name, help, &RateFigures::of(rate));
    }
    record
}
