//! What a DataNode does, counted (`DataNodeMetrics`). Operations are counted and timed by
//! [`RunningOperations`](crate::transfer::running::RunningOperations), the disks' calls by
//! [`DiskHistory`](crate::outliers::DiskHistory).

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use zerohop_daemon::metrics::{Counter, Gauge, Intervals, Rate, Record};

/// Counts of bytes, blocks and messages.
#[derive(Debug, Default)]
pub(crate) struct DataNodeActivity {
    pub(crate) read: Traffic,
    pub(crate) written: Traffic,
    pub(crate) blocks_written: Counter,
    pub(crate) blocks_replicated: Counter,
    pub(crate) blocks_removed: Counter,
    pub(crate) blocks_cached: Counter,
    pub(crate) blocks_uncached: Counter,
    pub(crate) packets_received: Counter,
    /// Connections that ended with an error within an operation.
    pub(crate) network_errors: Counter,
    /// Replicas on their way to disk for a pipeline.
    pub(crate) receiving: Gauge,
    pub(crate) recoveries: Gauge,
    /// Packets to the next DataNode of a pipeline and back, in nanoseconds.
    pub(crate) ack_round_trips: Arc<Rate>,
    pub(crate) heartbeats: Rate,
    pub(crate) heartbeats_with_commands: Rate,
    pub(crate) lifelines: Rate,
    pub(crate) full_reports: Rate,
    pub(crate) incremental_reports: Rate,
    pub(crate) cache_reports: Rate,
    pub(crate) commands: Rate,
    pub(crate) finalized: Rate,
    pub(crate) created: Rate,
    /// Calls to NameNodes, by the name of the call and the NameNode.
    calls: Mutex<BTreeMap<String, Rate>>,
}

/// Bytes of replicas that clients or other DataNodes read or wrote.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    bytes: Counter,
    remote_bytes: Counter,
    local: Counter,
    remote: Counter,
    /// Microseconds.
    time_us: Counter,
}

impl Traffic {
    /// An operation begins; `is_local` if its caller is on this machine.
    pub(crate) fn begin(&self, is_local: bool) {
        if is_local { &self.local } else { &self.remote }.increment();
    }

    /// Bytes were moved in this time.
    pub(crate) fn moved(&self, bytes: u64, is_local: bool, took: Duration) {
        self.bytes.add(bytes);
        if !is_local {
            self.remote_bytes.add(bytes);
        }
        self.time_us.add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }
}

/// A message to a NameNode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Heartbeat,
    /// With the time that it takes to carry out what the answer asks for.
    HeartbeatWithCommands,
    Lifeline,
    FullReport,
    IncrementalReport,
}

impl DataNodeActivity {
    /// With percentiles over intervals.
    pub(crate) fn new(intervals: &Intervals) -> Self {
        Self { ack_round_trips: Arc::new(Rate::new(intervals)), ..Self::default() }
    }

    /// A message to the NameNode at `host` and `port` was answered.
    pub(crate) fn answered(&self, message: Message, name_node: &str, took: Duration) {
        let (rate, name) = match message {
            Message::Heartbeat => (&self.heartbeats, "HeartbeatsFor"),
            Message::HeartbeatWithCommands => {
                (&self.heartbeats_with_commands, "HeartbeatsTotalFor")
            }
            Message::Lifeline => (&self.lifelines, "LifelinesFor"),
            Message::FullReport => (&self.full_reports, "BlockReportsFor"),
            Message::IncrementalReport => (&self.incremental_reports, "IncrementalBlockReportsFor"),
        };
        rate.add_ms(took);
        let mut calls = self.calls.lock();
        calls.entry(format!("{name}{name_node}")).or_default().add_ms(took);
    }

    /// Adds what was counted to a record.
    pub(crate) fn add_to(&self, record: &mut Record) {
        for (name, help, counter) in [
            ("BytesWritten", "Bytes written", &self.written.bytes),
            ("BytesRead", "Bytes read", &self.read.bytes),
            ("RemoteBytesRead", "Bytes read from other machines", &self.read.remote_bytes),
            ("RemoteBytesWritten", "Bytes written from there", &self.written.remote_bytes),
            ("ReadsFromLocalClient", "Reads from this machine", &self.read.local),
            ("ReadsFromRemoteClient", "Reads from other machines", &self.read.remote),
            ("WritesFromLocalClient", "Writes from this machine", &self.written.local),
            ("WritesFromRemoteClient", "Writes from other machines", &self.written.remote),
            ("BlocksWritten", "Replicas written", &self.blocks_written),
            ("BlocksReplicated", "Replicas copied to other DataNodes", &self.blocks_replicated),
            ("BlocksRemoved", "Replicas deleted", &self.blocks_removed),
            ("BlocksCached", "Replicas locked in memory", &self.blocks_cached),
            ("BlocksUncached", "Replicas let go from memory", &self.blocks_uncached),
            ("PacketsReceived", "Packets received", &self.packets_received),
            ("DatanodeNetworkErrors", "Operations that a connection ended", &self.network_errors),
        ] {
            record.counter(name, help, counter);
        }
        let reads = self.read.local.get() + self.read.remote.get();
        record.counter("BlocksRead", "Reads of a replica", reads);
        for (name, help, traffic) in [
            ("TotalWriteTime", "Time spent writing, ms", &self.written),
            ("TotalReadTime", "Time spent reading and sending, ms", &self.read),
        ] {
            record.counter(name, help, traffic.time_us.get() / 1000);
        }
        let receiving = "Replicas that pipelines write";
        record.gauge("DataNodePacketResponderCount", receiving, &self.receiving);
        let recoveries = "Block recoveries under way";
        record.gauge("DataNodeBlockRecoveryWorkerCount", recoveries, &self.recoveries);
        self.rates(record);
    }

    fn rates(&self, record: &mut Record) {
        for (name, help, rate) in [
            ("Heartbeats", "heartbeats, ms", &self.heartbeats),
            (
                "HeartbeatsTotal",
                "heartbeats and their commands, ms",
                &self.heartbeats_with_commands,
            ),
            ("Lifelines", "lifelines, ms", &self.lifelines),
            ("BlockReports", "full block reports, ms", &self.full_reports),
            ("IncrementalBlockReports", "incremental block reports, ms", &self.incremental_reports),
            ("CacheReports", "cache reports, ms", &self.cache_reports),
            ("ProcessedCommandsOp", "commands of NameNodes, ms", &self.commands),
            (
                "PacketAckRoundTripTimeNanos",
                "packets to the next DataNode and back, ns",
                &*self.ack_round_trips,
            ),
            ("CreateRbwOp", "replicas created, ms", &self.created),
            ("FinalizeBlockOp", "replicas finalized, ms", &self.finalized),
        ] {
            record.rate(name, help, &rate.figures());
        }
        record.counter("NumProcessedCommands", "Commands of NameNodes", self.commands.count());
        for (name, rate) in &*self.calls.lock() {
            record.rate(&format!("NnRpcLatency{name}"), "calls to a NameNode, ms", &rate.figures());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_daemon::metrics::Number;

    #[test]
    fn bytes_are_counted_by_where_they_come_from() {
        let activity = DataNodeActivity::default();
        for (bytes, is_local) in [(100, true), (20, false)] {
            activity.read.begin(is_local);
            activity.read.moved(bytes, is_local, Duration::from_millis(5));
        }
        activity.answered(Message::Heartbeat, "nn-8020", Duration::from_millis(2));
        let mut record = Record::new("DataNodeActivity-h-9866", "datanode", "dfs");
        activity.add_to(&mut record);
        for (name, expected) in [
            ("BytesRead", 120),
            ("RemoteBytesRead", 20),
            ("ReadsFromLocalClient", 1),
            ("ReadsFromRemoteClient", 1),
            ("BlocksRead", 2),
            ("TotalReadTime", 10),
            ("HeartbeatsNumOps", 1),
            ("NnRpcLatencyHeartbeatsFornn-8020NumOps", 1),
        ] {
            assert_eq!(record.get(name), Some(Number::Whole(expected)), "{name}");
        }
    }
}
