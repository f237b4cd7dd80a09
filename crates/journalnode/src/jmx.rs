//! `/jmx`: the beans that people's scripts read, under Hadoop's names (`JournalNodeMXBean`, `JournalMetrics`).

use crate::journals::OpenJournal;
use crate::shown::Shown;
use serde_json::{Map, Value, json};
use zerohop_daemon::http::bean;

pub(crate) fn beans(shown: &Shown) -> Vec<Value> {
    let journals = shown.journals.all();
    let mut beans = vec![info(shown, &journals)];
    beans.extend(journals.iter().map(|journal| metrics(journal)));
    beans
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

fn metrics(journal: &OpenJournal) -> Value {
    let figures = journal.figures();
    let values = json!({
        "tag.JournalId": journal.id,
        "BatchesWritten": figures.batches,
        "TxnsWritten": figures.transactions,
        "BytesWritten": figures.bytes,
        "BatchesWrittenWhileLagging": figures.batches_behind,
        "LastWriterEpoch": figures.writer_epoch,
        "LastPromisedEpoch": figures.promised_epoch,
        "CurrentLagTxns": figures.lag(),
        "LastWrittenTxId": figures.highest,
        "LastJournalTimestamp": figures.last_batch_ms,
        "NumEditLogsSynced": figures.segments_fetched,
    });
    let name = format!("Hadoop:service=JournalNode,name=Journal-{}", journal.id);
    bean(&name, &format!("Journal-{}", journal.id), values)
}
