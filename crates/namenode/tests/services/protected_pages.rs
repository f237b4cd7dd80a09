//! Pages that change something, or are for administrators: access checks and the audit log's lines.

use crate::harness::*;
use std::io::{self, Write};
use std::sync::{Mutex, Once, PoisonError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt, registry};
use zerohop_transport::login::User;

const AUDIT: &str = "org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit";
/// Target of the lines about changes of log levels.
const LEVELS: &str = "audit";

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Sink;

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn keep_audit_log() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let targets = [AUDIT, LEVELS].map(|target| (target, LevelFilter::INFO));
        let lines = fmt::layer().with_ansi(false).with_writer(|| Sink);
        registry().with(lines.with_filter(Targets::new().with_targets(targets))).init();
    });
}

/// Returns the lines about a source, from `allowed=` on.
fn lines_about(source: &str) -> Vec<String> {
    let log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    let log = String::from_utf8_lossy(&log).into_owned();
    let fields = log.lines().filter_map(|line| Some(line.split_once("allowed=")?.1));
    let is_wanted = |line: &&str| line.split('\t').any(|field| field == format!("src={source}"));
    fields.filter(is_wanted).map(|line| format!("allowed={line}")).collect()
}

async fn ask(harness: &Harness, path: &str, headers: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(harness.node.http_addr()).await.unwrap();
    let request = format!("GET {path} HTTP/1.0\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).await.unwrap();
    page
}

/// Makes a file whose only replica is lost.
async fn lost_file(harness: &Harness, path: &str) {
    let (client, datanode) = (harness.superuser(), join(harness).await);
    let block = finished_file(&client, &datanode, path).await;
    datanode.deleted(&block).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_left_no_audit_line() {
    keep_audit_log();
    let harness = Harness::start().await;
    harness.page("/fsck?path=%2Faudited&ugi=alice").await;
    assert_eq!(
        lines_about("/audited"),
        [
            "allowed=true\tugi=alice (auth:SIMPLE)\tip=/127.0.0.1\tcmd=fsck\tsrc=/audited\tdst=null\tperm=null\tproto=null"
        ]
    );
    harness.page("/fsck?blockId=blk_77%20blk_78&ugi=bob").await;
    let refused = lines_about("blocksIds=[blk_77, blk_78]");
    assert!(refused.len() == 1 && refused[0].starts_with("allowed=false\tugi=bob"), "{refused:?}");

    lost_file(&harness, "/lost-and-audited").await;
    let user = User::of_process().name;
    harness.page(&format!("/fsck?path=%2Flost-and-audited&delete=1&ugi={user}")).await;
    let lines = lines_about("/lost-and-audited");
    for command in ["cmd=delete", "cmd=fsck"] {
        let is_there = |line: &String| {
            line.starts_with(&format!("allowed=true\tugi={user} (auth:SIMPLE)"))
                && line.split('\t').any(|field| field == command)
        };
        assert_eq!(lines.iter().filter(|line| is_there(line)).count(), 1, "{command}: {lines:?}");
    }
    assert!(status(&harness.superuser(), "/lost-and-audited").await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_another_site_had_files_deleted() {
    keep_audit_log();
    let harness = Harness::start().await;
    lost_file(&harness, "/wanted").await;
    let user = User::of_process().name;
    let check = format!("/fsck?path=%2Fwanted&ugi={user}");
    for remedy in ["delete=1", "move=1", "replicate=1"] {
        for other in ["Sec-Fetch-Site: cross-site\r\n", "Referer: http://evil.example/\r\n"] {
            let page = ask(&harness, &format!("{check}&{remedy}"), other).await;
            assert!(page.starts_with("HTTP/1.0 403 "), "{remedy} {other}: {page}");
        }
    }
    let lines = lines_about("/wanted");
    let refused =
        lines.iter().filter(|line| line.starts_with("allowed=false") && line.contains("cmd=fsck"));
    assert_eq!(refused.count(), 6, "{lines:?}");
    let read = ask(&harness, &check, "Sec-Fetch-Site: cross-site\r\n").await;
    assert!(read.ends_with("The filesystem under path '/wanted' is CORRUPT"), "{read}");
    assert!(status(&harness.superuser(), "/wanted").await.is_some());
}

/// Every user saw the log, its levels and the configuration, whatever `dfs.cluster.administrators` said.
#[tokio::test(flavor = "multi_thread")]
async fn administrators_alone_see_the_log_and_the_configuration() {
    keep_audit_log();
    let harness = Harness::with(&[("dfs.cluster.administrators", "alice")]).await;
    for path in ["/conf", "/configuration", "/logs", "/logs/", "/logLevel"] {
        for (query, expected) in
            [("", "403"), ("?user.name=bob", "403"), ("?user.name=alice", "200")]
        {
            let page = harness.page(&format!("{path}{query}")).await;
            assert!(page.starts_with(&format!("HTTP/1.0 {expected} ")), "{path}{query}: {page}");
        }
    }
    for path in ["/jmx", "/health", "/prom"] {
        assert!(harness.page(path).await.starts_with("HTTP/1.0 200 "), "{path}");
    }
    let form = harness.page("/logs?user.name=alice").await;
    assert!(form.contains("name=\"user.name\" value=\"alice\""), "{form}");
    for (user, allowed) in [("bob", false), ("alice", true)] {
        harness.page(&format!("/logLevel?log=by.{user}&level=DEBUG&user.name={user}")).await;
        assert_eq!(
            lines_about(&format!("by.{user}")),
            [format!(
                "allowed={allowed}\tugi={user} (auth:SIMPLE)\tip=/127.0.0.1\tcmd=setLogLevel\tsrc=by.{user}\tdst=DEBUG\tperm=null\tproto=http"
            )]
        );
    }
    let other = "Sec-Fetch-Site: cross-site\r\n";
    let page = ask(&harness, "/logLevel?log=by.other&level=OFF&user.name=alice", other).await;
    assert!(page.starts_with("HTTP/1.0 403 "), "{page}");
    assert!(lines_about("by.other")[0].starts_with("allowed=false\t"));
}
