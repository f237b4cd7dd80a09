//! The records of a NameNode: what `/prom` and the beans of metrics show.

use super::figures::Figures;
use crate::core::Core;
use crate::start_progress::StartPhase;
use std::time::Duration;
use zerohop_daemon::metrics::{LabelText, RateFigures, Record, Series};
use zerohop_quorum::NodeStatus;

/// What Hadoop calls a NameNode's RPC server.
const RPC_SERVER: &str = "ClientNamenodeProtocol";

/// All records.
pub(super) fn all(core: &Core) -> Vec<Record> {
    let figures = Figures::take(core);
    let mut records = vec![
        super::system::record(core, &figures),
        activity(core, &figures),
        retry_cache(core),
        start_up(core),
        core.events.record().metrics(),
    ];
    for (port, calls) in core.rpc_activity() {
        records.extend(calls.records(*port, RPC_SERVER));
    }
    records.extend(top_users(core));
    if core.ha.is_active() {
        records.extend(core.storage.journal_nodes().iter().map(journal_node));
    }
    records
}

fn activity(core: &Core, figures: &Figures) -> Record {
    let mut record =
        Record::new("NameNodeActivity", "namenode", "dfs").tag("ProcessName", "NameNode");
    core.activity.add_to(&mut record);
    let log = core.storage.log_metrics();
    let transactions = RateFigures { count: log.transactions.get(), ..RateFigures::default() };
    record.rate("Transactions", "transactions; 0: they are made in memory", &transactions);
    record.rate("Syncs", "syncs of the edit log, ms", &log.syncs.figures());
    let batched = "Transactions that shared another one's sync";
    record.counter("TransactionsBatchedInSync", batched, &log.batched);
    let each = log.batched_each.figures();
    record.quantiles(
        "NumTransactionsBatchedInSync",
        "transactions that shared a sync",
        &each,
        "Count",
    );
    record.gauge(
        "PendingEditsCount",
        "Transactions that wait for their sync",
        core.log().stats().pending,
    );
    let blocks = &figures.blocks;
    record.counter(
        "SuccessfulReReplications",
        "Blocks whose ordered replicas arrived",
        blocks.copies_arrived,
    );
    record.counter(
        "NumTimesReReplicationNotScheduled",
        "Copies that found no source or target",
        blocks.copies_not_ordered,
    );
    record.counter(
        "TimeoutReReplications",
        "Blocks whose replicas did not arrive in time",
        blocks.copies_late,
    );
    record.gauge(
        "PendingDeleteBlocksCount",
        "Replicas that are to be deleted",
        blocks.pending_deletion,
    );
    let image_ms = phase(core, StartPhase::Image).0;
    record.gauge("FsImageLoadTime", "Loading the image at the start, ms", image_ms);
    record
}

/// How the edits get to a JournalNode (`IPCLoggerChannelMetrics`).
fn journal_node(node: &NodeStatus) -> Record {
    // Colons are not allowed in the name of a bean.
    let name = match node.name.rsplit_once(':') {
        Some((host, port)) => format!("IPCLoggerChannel-{}-{port}", host.replace(':', ".")),
        None => format!("IPCLoggerChannel-{}", node.name),
    };
    let is_left_out = node.acknowledged.is_some() && !node.is_written;
    let mut record = Record::new(name, "NameNode", "dfs")
        .tag("JournalNode", node.name.as_str())
        .tag_of_bean("IsOutOfSync", if is_left_out { "true" } else { "false" });
    record.gauge("CurrentLagTxns", "Transactions that it has not acknowledged", node.lag);
    let lag_ms = u64::try_from(node.lag_time.as_millis()).unwrap_or(u64::MAX);
    record.gauge("LagTimeMillis", "Time from its last acknowledgement to them, ms", lag_ms);
    record.gauge("QueuedEditsSize", "Bytes of edits that wait for it", node.queued_bytes as u64);
    record
}

fn retry_cache(core: &Core) -> Record {
    let counters = core.served.retry_counters();
    let name = "RetryCache.NameNodeRetryCache";
    let mut record = Record::new(name, name, "rpc");
    record.counter("CacheHit", "Calls that were answered from the cache", &counters.hits);
    record.counter("CacheUpdated", "Answers kept", &counters.updates);
    record.counter("CacheCleared", "0: the cache is not emptied while the process lives", 0_u64);
    record
}

/// `StartupProgress`, with Hadoop's names of phases.
fn start_up(core: &Core) -> Record {
    let mut record = Record::new("StartupProgress", "StartupProgress", "default");
    let mut total_ms = 0;
    let mut shares = Vec::new();
    for (name, kind) in [
        ("LoadingFsImage", StartPhase::Image),
        ("LoadingEdits", StartPhase::Edits),
        ("SavingCheckpoint", StartPhase::Checkpoint),
    ] {
        // A start that is over has all it needed.
        let (took_ms, share) = (phase(core, kind).0, 1.0);
        let count = if kind == StartPhase::Edits { core.start_progress.edits() } else { 0 };
        phase_metrics(&mut record, name, (count, count), took_ms, share);
        total_ms += took_ms;
        shares.push(share);
    }
    let figures = core.read(|namespace| namespace.blocks().safe_mode().figures());
    let ended_ms = u64::try_from(core.activity.safe_mode_ms.get()).unwrap_or(0);
    let until_ms = if figures.is_starting { core.clock.now().mono_ms } else { ended_ms };
    let safe_ms = until_ms.saturating_sub(total_ms);
    let share = match figures.is_starting {
        true if figures.total > 0 => figures.safe as f64 / figures.total as f64,
        true => 0.0,
        false => 1.0,
    };
    let safe = if figures.is_starting { figures.safe } else { figures.total };
    phase_metrics(&mut record, "SafeMode", (safe, figures.total), safe_ms, share);
    shares.push(share);
    let overall = shares.iter().sum::<f64>() / shares.len() as f64;
    record.counter("ElapsedTime", "The start, ms", total_ms + safe_ms);
    record.gauge("PercentComplete", "How much of the start is done, 0 to 1", overall);
    record
}

fn phase_metrics(
    record: &mut Record,
    name: &str,
    (count, total): (u64, u64),
    took_ms: u64,
    share: f64,
) {
    record.counter(format!("{name}Count"), "What is done", count);
    record.counter(format!("{name}ElapsedTime"), "Time, ms", took_ms);
    record.counter(format!("{name}Total"), "What there is to do", total);
    record.gauge(format!("{name}PercentComplete"), "How much is done, 0 to 1", share);
}

/// Milliseconds that a phase took, and whether it is over.
fn phase(core: &Core, kind: StartPhase) -> (u64, bool) {
    let phases = core.start_progress.phases();
    let state = phases.iter().find(|state| state.phase == kind);
    let took = state.and_then(|state| state.took).unwrap_or(Duration::ZERO);
    let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    (took_ms, state.is_some_and(|state| state.is_done))
}

/// A record for each window (`TopMetrics`).
fn top_users(core: &Core) -> Vec<Record> {
    let windows = core.top_users.report(core.clock.now().mono_ms);
    let records = windows.into_iter().map(|window| {
        let name = format!("NNTopUserOpCounts.windowMs={}", window.length_ms);
        let mut record = Record::new("NNTopUserOpCounts", name, "dfs");
        for operation in window.operations {
            let op = Some(("op", LabelText::Fixed(operation.kind)));
            let series = |name, user| Series { name, labels: [op.clone(), user] };
            record.gauge_of_series("TotalCount", operation.total, series("total_count", None));
            for (user, count) in operation.users {
                let user = Some(("user", LabelText::Shared(user)));
                record.gauge_of_series("count", count, series("count", user));
            }
        }
        record
    });
    records.collect()
}
