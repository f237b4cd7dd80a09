//! SQL over `hdfs://` URLs on a cluster of ours, beside the same on local files.

use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use zerohop_datafusion::zerohop::FileSystem;
use zerohop_datafusion::{HdfsRegistry, session_context_with};

/// `zerohop up`, which stops when its command does.
struct Cluster {
    process: Child,
    conf_directory: String,
    uri: String,
}

impl Cluster {
    fn start() -> Self {
        let program = std::env::var_os("ZEROHOP")
            .expect("ZEROHOP names the program zerohop; `make star` builds it and sets this");
        let mut command = Command::new(program);
        command.args(["up", "--port", "0", "--http-port", "0", "--rest-port", "0", "--exec"]);
        command.arg("echo \"$HADOOP_CONF_DIR\"; echo \"$ZEROHOP_URI\"; exec cat");
        command.env_remove("HADOOP_CONF_DIR").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let conf_directory = lines.next().unwrap().unwrap();
        let uri = lines.next().unwrap().unwrap();
        Self { process, conf_directory, uri }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

async fn ask(session: &SessionContext, sql: &str) -> String {
    let answer = session.sql(sql).await.unwrap().collect().await.unwrap();
    pretty_format_batches(&answer).unwrap().to_string()
}

/// The same statements on tables below `base`: written by COPY and INSERT, read by LOCATION.
async fn write_and_read(session: &SessionContext, base: &str) -> Vec<String> {
    let rows = "SELECT value AS id, value % 7 AS part, value * value AS amount FROM generate_series(1, 50000)";
    let copied = format!("COPY ({rows}) TO '{base}/copied/one.parquet' STORED AS PARQUET");
    let mut answers = vec![ask(session, &copied).await];
    for (name, columns) in [("copied", ""), ("inserted", "(id BIGINT, part BIGINT, amount BIGINT)")]
    {
        let create = format!(
            "CREATE EXTERNAL TABLE {name} {columns} STORED AS PARQUET LOCATION '{base}/{name}/'"
        );
        ask(session, &create).await;
    }
    for sql in [
        "INSERT INTO inserted SELECT * FROM copied WHERE part < 3",
        "INSERT INTO inserted SELECT * FROM copied WHERE part = 3",
        "SELECT part, count(*), sum(amount) FROM inserted GROUP BY part ORDER BY part",
        "SELECT count(*), min(a.id), max(b.amount) FROM copied a JOIN inserted b ON a.id = b.id",
        "SELECT * FROM copied ORDER BY amount DESC LIMIT 5",
    ] {
        answers.push(ask(session, sql).await);
    }
    answers
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_in_hdfs_are_written_and_read_as_local_ones_are() {
    let cluster = Cluster::start();
    let builder = FileSystem::builder().config_dir(&cluster.conf_directory);
    let registry = Arc::new(HdfsRegistry::with_builder(builder));
    let session = session_context_with(SessionConfig::new(), registry.clone()).unwrap();
    let in_hdfs = write_and_read(&session, &format!("{}/warehouse", cluster.uri)).await;

    let directory = tempfile::tempdir().unwrap();
    let session = SessionContext::new();
    let on_disk = write_and_read(&session, &format!("file://{}", directory.path().display())).await;
    assert_eq!(in_hdfs, on_disk);
    assert!(in_hdfs[0].contains("50000"), "{}", in_hdfs[0]);

    // The files are there by their names, whole, and were read from the replicas' files.
    let fs = registry.file_system(&cluster.uri.parse().unwrap()).unwrap();
    assert!(fs.status("/warehouse/copied/one.parquet").await.unwrap().len > 100_000);
    assert!(fs.list("/warehouse/inserted").await.unwrap().len() >= 2);
    let statistics = fs.read_statistics();
    assert!(statistics.local_bytes() > 0, "{statistics:?}");
    assert_eq!(statistics.local_bytes(), statistics.total(), "{statistics:?}");

    // Without an authority, fs.defaultFS is meant.
    let builder = FileSystem::builder().config_dir(&cluster.conf_directory);
    let registry = Arc::new(HdfsRegistry::with_builder(builder));
    let session = session_context_with(SessionConfig::new(), registry).unwrap();
    ask(
        &session,
        "CREATE EXTERNAL TABLE copied STORED AS PARQUET LOCATION 'hdfs:///warehouse/copied/'",
    )
    .await;
    let count = ask(&session, "SELECT count(*) FROM copied").await;
    assert!(count.contains("50000"), "{count}");

    let missing = format!(
        "CREATE EXTERNAL TABLE missing STORED AS PARQUET LOCATION '{}/missing/x.parquet'",
        cluster.uri
    );
    let refused = session.sql(&missing).await.err().map(|error| error.to_string());
    assert!(refused.is_some_and(|text| text.contains("missing")), "a table without files");
}
