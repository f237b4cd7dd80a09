//! Starting, refusing to start, and strangers on the ports; no NameNode is there.

use proptest::prelude::*;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use zerohop_conf::Conf;
use zerohop_datanode::{DataNode, Error};

fn conf(data_dirs: &str) -> Conf {
    let mut conf = Conf::new();
    // Nothing listens on port 1.
    conf.set("fs.defaultFS", "hdfs://127.0.0.1:1");
    conf.set("dfs.datanode.data.dir", data_dirs);
    for key in ["dfs.datanode.address", "dfs.datanode.ipc.address", "dfs.datanode.http.address"] {
        conf.set(key, "127.0.0.1:0");
    }
    conf
}

async fn start(conf: Conf) -> Result<DataNode, Error> {
    DataNode::start(Arc::new(conf)).await
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

async fn refusal(conf: Conf) -> String {
    match start(conf).await {
        Ok(_) => panic!("it started"),
        Err(error) => error.to_string(),
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_live_in_one_process_and_lock_their_directories() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = start(conf(&text(one.path()))).await.unwrap();
    let second = start(conf(&text(two.path()))).await.unwrap();
    assert_ne!(first.data_addr(), second.data_addr());
    let locked = refusal(conf(&text(one.path()))).await;
    assert!(locked.contains(&text(one.path())), "{locked}");
    first.stop().await;
    second.stop().await;
    start(conf(&text(one.path()))).await.unwrap().stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let mut conf = conf(&text(directory.path()));
    conf.set("dfs.datanode.address", taken.local_addr().unwrap().to_string());
    let error = refusal(conf).await;
    assert!(error.contains("dfs.datanode.address"), "{error}");
    assert!(error.contains(&taken.local_addr().unwrap().to_string()), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_volume_that_cannot_be_used_is_named_or_tolerated() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "no directory").unwrap();
    let good = directory.path().join("good");
    let both = format!("{},[SSD]file://{}", text(&file), text(&good));
    let error = refusal(conf(&both)).await;
    assert!(error.contains(&text(&file)) && error.contains("1 of 2"), "{error}");
    let mut tolerant = conf(&both);
    tolerant.set("dfs.datanode.failed.volumes.tolerated", "1");
    start(tolerant).await.unwrap().stop().await;
}

#[test]
fn settings_that_make_no_sense_are_named() {
    let runtime = runtime();
    for (key, value) in [
        ("dfs.datanode.data.dir", "[TAPE]/d"),
        ("dfs.datanode.address", "nowhere"),
        ("dfs.datanode.max.transfer.threads", "0"),
        ("dfs.datanode.fsdataset.volume.choosing.policy", "x.Best"),
    ] {
        let mut conf = conf("/nowhere");
        conf.set(key, value);
        let error = runtime.block_on(refusal(conf));
        assert!(error.contains(key), "{key}: {error}");
    }
}

/// Sends bytes and waits until the node closes the connection.
fn send_and_drain(addr: SocketAddr, bytes: &[u8]) {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // The node may close before all is sent.
    let _sent = stream.write_all(bytes);
    let _ended = stream.shutdown(std::net::Shutdown::Write);
    let mut answer = Vec::new();
    let _drained = stream.take(1 << 20).read_to_end(&mut answer);
}

/// A request that is right, but for a block pool that is not there: a clean exception or a close.
fn still_answers(addr: SocketAddr) {
    // REQUEST_SHORT_CIRCUIT_SHM with a client name: answered without any block.
    let request = [0, 28, 89, 3, 10, 1, b'c'];
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(&request).unwrap();
    let mut len = [0];
    stream.read_exact(&mut len).unwrap();
    assert!(len[0] > 2, "a response");
}

#[test]
fn strangers_on_the_ports_harm_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let runtime = runtime();
    let mut conf = conf(&text(directory.path()));
    conf.set("dfs.datanode.bp-ready.timeout", "0");
    let node = runtime.block_on(start(conf)).unwrap();
    let data = node.data_addr();
    for bytes in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[0, 28],
        &[0, 27, 81, 0],
        &[0, 28, 1, 0],
        &[0, 28, 81, 0],
        &[0, 28, 80, 0xff, 0xff, 0xff, 0x7f],
        &[0, 28, 80, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        &[0xde, 0xad, 0xbe, 0xef],
    ] {
        send_and_drain(data, bytes);
        send_and_drain(node.ipc_addr(), bytes);
        send_and_drain(node.http_addr(), bytes);
        still_answers(data);
    }
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(60));
    let strategy = (78u8..92, proptest::collection::vec(any::<u8>(), 0..200));
    runner
        .run(&strategy, |(code, bytes)| {
            let mut request = vec![0, 28, code, (bytes.len() & 0x7f) as u8];
            request.extend_from_slice(&bytes);
            send_and_drain(data, &request);
            Ok(())
        })
        .unwrap();
    still_answers(data);
    runtime.block_on(node.stop());
}

#[tokio::test(flavor = "multi_thread")]
async fn beans_and_attributes_are_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let node = start(conf(&text(directory.path()))).await.unwrap();
    let address = node.http_addr();
    let page = move |query: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET /jmx{query} HTTP/1.0\r\n\r\n").unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        page
    };
    tokio::task::spawn_blocking(move || {
        let all = page("");
        assert!(all.contains("FSDatasetState") && all.contains("DataNodeInfo"), "{all}");
        let one = page("?qry=Hadoop%3Aservice%3DDataNode,name%3DFSDatasetState");
        assert!(one.contains("\"Capacity\"") && !one.contains("DataNodeInfo"), "{one}");
        let one = page("?get=Hadoop:service=DataNode,name=FSDatasetState::NumBlocks");
        assert!(one.contains("\"NumBlocks\": 0") && !one.contains("Capacity"), "{one}");
        assert!(page("?get=Hadoop:*").starts_with("HTTP/1.0 400 Bad Request\r\n"));
        assert!(page("?get=Hadoop:*::None").starts_with("HTTP/1.0 404 Not Found\r\n"));
    })
    .await
    .unwrap();
    node.stop().await;
}
