//! `/jmx`, `/prom` and `/health`: what people's scripts read, under Hadoop's names (`JournalNodeMXBean`, `JournalMetrics`).

use crate::journals::OpenJournal;
use crate::shown::Shown;
use serde_json::{Map, Value, json};
use zerohop_daemon::http::{Health, bean};
use zerohop_daemon::metrics::Record;

/// What Hadoop calls a JournalNode's RPC server.
const RPC_SERVER: &str = "QJournalProtocolService";

/// The beans that are no metrics.
pub(crate) fn beans(shown: &Shown) -> Vec<Value> {
    let journals = shown.journals.all();
    vec![info(shown, &journals)]
}

fn info(shown: &Shown, journals: &[std::sync::Arc<OpenJournal>]) -> Value {
    let mut status = Map::new();
    let mut clusters: Vec<String> = Vec::new();
    for journal in journals {
        let info = journal.figures().info;
        let formatted = if info.is_some() { "true" } else { "false" };
        status.insert(journal.id.clone(), json!({ "Formatted": formatted }));
        clusters.extend(info.map(|info| info.cluster_id));
    }
    clusters.sort();
    clusters.dedup();
    let values = json!({
        "JournalsStatus": Value::Object(status).to_string(),
        "HostAndPort": shown.rpc.to_string(),
        "ClusterIds": clusters,
        "Version": env!("CARGO_PKG_VERSION"),
        "JNStartedTimeInMillis": shown.started_ms,
    });
    let class = "org.apache.hadoop.hdfs.qjournal.server.JournalNode";
    bean("Hadoop:service=JournalNode,name=JournalNodeInfo", class, values)
}

/// All records.
pub(crate) fn records(shown: &Shown) -> Vec<Record> {
    let journals = shown.journals.all();
    let mut records: Vec<Record> = journals.iter().map(|journal| record(journal)).collect();
    records.extend(shown.calls.records(shown.rpc.port(), RPC_SERVER));
    records
}

fn record(journal: &OpenJournal) -> Record {
    let figures = journal.figures();
    let source = format!("Journal-{}", journal.id);
    let mut record =
        Record::new(source, "JournalNode", "dfs").tag("JournalId", journal.id.as_str());
    for (name, help, value) in [
        ("BatchesWritten", "Batches written", figures.batches),
        ("TxnsWritten", "Transactions written", figures.transactions),
        ("BytesWritten", "Bytes written", figures.bytes),
        ("BatchesWrittenWhileLagging", "Batches that a majority had", figures.batches_behind),
        ("NumEditLogsSynced", "Segments fetched from others", figures.segments_fetched),
    ] {
        record.counter(name, help, value);
    }
    for (name, help, value) in [
        ("LastWriterEpoch", "The writer's epoch", figures.writer_epoch),
        ("LastPromisedEpoch", "The promised epoch", figures.promised_epoch),
        ("CurrentLagTxns", "Committed transactions that lack here", figures.lag()),
        ("LastWrittenTxId", "The last transaction", figures.highest),
        ("LastJournalTimestamp", "When the last batch came, ms since 1970", figures.last_batch_ms),
    ] {
        record.gauge(name, help, value);
    }
    journal.worker.status().add_to(&mut record);
    record
}

/// A JournalNode that cannot write one of its journals cannot serve.
pub(crate) fn health(shown: &Shown) -> Health {
    let journals = shown.journals.all();
    let ids: Vec<&str> = journals.iter().map(|journal| journal.id.as_str()).collect();
    let problems = journals.iter().filter_map(|journal| {
        let problem = journal.worker.status().problem()?;
        Some(format!("journal {}: {problem}", journal.id))
    });
    problems.fold(Health::new().with("journals", ids), Health::with_problem)
}
