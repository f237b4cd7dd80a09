//! How long `getFileInfo` takes while a NameNode of many files does something large.
//!
//! `cargo run --profile fast -p zerohop-namenode --example latency DIR FILES [SECONDS]` starts a NameNode in this process
//! on DIR, with the image that the example `big_image` wrote for so many files. Four connections each ask for the status
//! of a random file, wait a millisecond, and ask again: idle, beside a client that sums up `/` (`du /`) without a pause,
//! and while a checkpoint is written. No DataNode reports: the scan for missing blocks after safe mode is a row too.
#![allow(clippy::disallowed_methods, reason = "this measures")]
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zerohop_conf::Conf;
use zerohop_namenode::NameNode;
use zerohop_proto::hdfs::{
    FsPermissionProto, GetContentSummaryRequestProto, GetContentSummaryResponseProto,
    GetFileInfoRequestProto, GetFileInfoResponseProto, GetFsStatsResponseProto,
    GetFsStatusRequestProto, MkdirsRequestProto, MkdirsResponseProto,
};
use zerohop_transport::login::User;
use zerohop_transport::rpc::{ClientOptions, RpcClient};

const CONNECTIONS: usize = 4;
const FILES_PER_DIRECTORY: u64 = 1000;
const PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";

fn connect(node: &NameNode, user: &str) -> RpcClient {
    let options = ClientOptions::default();
    RpcClient::new(node.rpc_addr(), PROTOCOL, 1, &User::new(user), options)
}

/// Runs a future on a thread of its own, away from the NameNode's.
fn on_thread<T: Send + 'static, F: Future<Output = T>>(
    work: impl FnOnce() -> F + Send + 'static,
) -> std::thread::JoinHandle<T> {
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(work())
    })
}

async fn ask_until(client: RpcClient, files: u64, stop: Arc<AtomicBool>) -> Vec<u64> {
    let mut took_us = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let n = fastrand::u64(..files);
        let src = format!("/d{:06}/part-{n:08}", n / FILES_PER_DIRECTORY);
        let begun = Instant::now();
        let answer: GetFileInfoResponseProto =
            client.call("getFileInfo", &GetFileInfoRequestProto { src }).await.expect("status");
        assert!(answer.fs.is_some(), "file {n} is there");
        took_us.push(begun.elapsed().as_micros() as u64);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    took_us
}

/// Measures until `load` is over, and prints a row.
async fn measure(node: &NameNode, files: u64, what: &str, load: impl Future<Output = String>) {
    let stop = Arc::new(AtomicBool::new(false));
    let threads: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let (client, stop) = (connect(node, "user"), stop.clone());
            on_thread(move || ask_until(client, files, stop))
        })
        .collect();
    let begun = Instant::now();
    let done = load.await;
    let seconds = begun.elapsed().as_secs_f64();
    stop.store(true, Ordering::Relaxed);
    let joined = threads.into_iter().flat_map(|thread| thread.join().expect("a client"));
    let mut all: Vec<u64> = joined.collect();
    all.sort_unstable();
    let at = |part: f64| all[((all.len() - 1) as f64 * part) as usize] as f64 / 1e3;
    println!(
        "{what:22} {:8} calls in {seconds:5.1} s: p50 {:7.3} ms, p99 {:7.3} ms, p99.9 {:7.3} ms, max {:7.3} ms{done}",
        all.len(),
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0),
    );
}

/// Sums up `/` again and again, as a user for whom every directory is checked.
async fn sum_up(node: &NameNode, time: Duration) -> String {
    let client = connect(node, "user");
    let sums = on_thread(move || async move {
        let (begun, mut sums) = (Instant::now(), 0);
        while begun.elapsed() < time {
            let q = GetContentSummaryRequestProto { path: "/".into() };
            let _: GetContentSummaryResponseProto =
                client.call("getContentSummary", &q).await.expect("summary");
            sums += 1;
        }
        sums
    });
    let sums = tokio::task::spawn_blocking(move || sums.join().expect("a client")).await;
    format!(", {} summaries", sums.expect("a client"))
}

/// Makes an edit, which makes a checkpoint due, and waits for its image.
async fn checkpoint(node: &NameNode, dir: &Path) -> String {
    let client = connect(node, &User::of_process().name);
    let images = || {
        let entries = std::fs::read_dir(dir.join("current")).expect("the name directory");
        let names = entries.flatten().map(|entry| entry.file_name().into_string());
        let is_image = |name: &String| name.starts_with("fsimage_") && !name.ends_with(".md5");
        names.flatten().filter(is_image).max()
    };
    let before = images();
    let q = MkdirsRequestProto {
        src: "/checkpoint".into(),
        masked: FsPermissionProto { perm: 0o755 },
        create_parent: true,
        unmasked: None,
    };
    let _: MkdirsResponseProto = client.call("mkdirs", &q).await.expect("mkdirs");
    while images() == before {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    String::new()
}

async fn missing_blocks(client: &RpcClient) -> u64 {
    let q = GetFsStatusRequestProto {};
    let stats: GetFsStatsResponseProto = client.call("getFsStats", &q).await.expect("stats");
    stats.missing_blocks
}

/// Until all blocks were found to be missing.
async fn scan(node: &NameNode, files: u64) -> String {
    let client = connect(node, "user");
    while missing_blocks(&client).await < files {
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    String::new()
}

fn resident_mb() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or(0) / 256
}

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let usage = "DIR FILES [SECONDS]";
    let dir = std::path::PathBuf::from(args.next().expect(usage));
    let files: u64 = args.next().and_then(|arg| arg.parse().ok()).expect(usage);
    let seconds = args.next().and_then(|arg| arg.parse().ok()).unwrap_or(10);
    let time = Duration::from_secs(seconds);
    let mut conf = Conf::new();
    conf.set("dfs.namenode.name.dir", dir.to_str().expect("a path in UTF-8"));
    conf.set("fs.defaultFS", "hdfs://127.0.0.1:0");
    conf.set("dfs.namenode.http-address", "127.0.0.1:0");
    // No DataNode is to be waited for, and each edit makes a checkpoint due.
    conf.set("dfs.namenode.safemode.threshold-pct", "0");
    conf.set("dfs.namenode.checkpoint.txns", "1");
    conf.set("dfs.namenode.checkpoint.check.period", "1");
    let begun = Instant::now();
    let node = NameNode::start(Arc::new(conf)).await.expect("start");
    scan(&node, 0).await;
    println!("serving after {} ms, {} MiB resident", begun.elapsed().as_millis(), resident_mb());
    measure(&node, files, "the scan after safe mode", scan(&node, files)).await;
    measure(&node, files, "idle", async {
        tokio::time::sleep(time).await;
        String::new()
    })
    .await;
    measure(&node, files, "du / in a loop", sum_up(&node, time)).await;
    measure(&node, files, "a checkpoint", checkpoint(&node, &dir)).await;
    println!("{} MiB resident", resident_mb());
    node.stop().await;
}
