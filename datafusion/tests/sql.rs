//! SQL over `hdfs://` URLs on a cluster of ours, beside the same on local files.

use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use zerohop_datafusion::zerohop::{Conf, FileSystem};
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

    /// How many calls of a kind the NameNode has answered, by its metrics.
    fn calls(&self, metric: &str) -> u64 {
        let conf = Conf::load(&self.conf_directory).unwrap();
        let address = conf.get_raw("dfs.namenode.http-address").unwrap();
        let mut stream = TcpStream::connect(&address).unwrap();
        let bean = "Hadoop:service=NameNode,name=NameNodeActivity";
        write!(stream, "GET /jmx?qry={bean} HTTP/1.0\r\nHost: {address}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let member = format!("\"{metric}\"");
        let (_, value) = answer.split_once(&member).unwrap_or_else(|| panic!("{answer}"));
        let digits = value.trim_start_matches([' ', ':']);
        digits.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
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

/// Three files with several row groups each, whose reads are calls of their own to the store: each file is opened once for
/// its footer and two queries, and every time where files are not kept open.
#[tokio::test(flavor = "multi_thread")]
async fn a_query_asks_the_namenode_once_for_each_file() {
    let cluster = Cluster::start();
    let opened = async |open_for: Duration, table: &str| {
        let builder = FileSystem::builder().config_dir(&cluster.conf_directory);
        let registry = HdfsRegistry::with_builder(builder).with_files_open_for(open_for);
        let session = session_context_with(SessionConfig::new(), Arc::new(registry)).unwrap();
        let directory = format!("{}/{table}/", cluster.uri);
        for part in 0..3 {
            let rows = format!(
                "SELECT value AS id, value % {} AS part FROM generate_series(1, 20000)",
                part + 2
            );
            let options = "OPTIONS (max_row_group_size 4000)";
            let file = format!("{directory}{part}.parquet");
            ask(&session, &format!("COPY ({rows}) TO '{file}' STORED AS PARQUET {options}")).await;
        }
        let before = cluster.calls("GetBlockLocations");
        ask(&session, &format!("CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION '{directory}'"))
            .await;
        let query = "SELECT part, count(*), sum(id) FROM t GROUP BY part ORDER BY part";
        let first = ask(&session, query).await;
        assert_eq!(ask(&session, query).await, first);
        (cluster.calls("GetBlockLocations") - before, first)
    };
    // Longer than the test takes.
    let (once, answer) = opened(Duration::from_secs(3600), "kept").await;
    let (each_time, same_answer) = opened(Duration::ZERO, "opened").await;
    assert_eq!((once, answer), (3, same_answer));
    assert!(each_time >= 3 * 5 * 2, "{each_time}");
}
