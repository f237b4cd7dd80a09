//! The pages over HTTP.

use crate::harness::*;
use std::ops::Range;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use zerohop_namenode::{Salvage, SalvageError};
use zerohop_proto::hdfs::*;

#[tokio::test(flavor = "multi_thread")]
async fn pages_answer() {
    let harness = Harness::start().await;
    let jmx = harness.page("/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState").await;
    assert!(jmx.contains("\"FSState\": \"Operational\""), "{jmx}");
    assert!(!jmx.contains("NameNodeInfo"));
    let member = |page: &str, name: &str| -> serde_json::Value {
        let body = page.split_once('{').map_or(String::new(), |(_, rest)| format!("{{{rest}"));
        let page: serde_json::Value = serde_json::from_str(&body).unwrap();
        page["beans"][0][name].clone()
    };
    let info = harness.page("/jmx?qry=Hadoop:service=NameNode,name=NameNodeInfo").await;
    assert!(member(&info, "Threads").as_u64() > Some(1), "{info}");
    let sizes = member(&info, "NameDirSize").as_str().unwrap_or_default().to_owned();
    let sizes: serde_json::Value = serde_json::from_str(&sizes).unwrap();
    assert!(sizes.as_object().unwrap().values().all(|size| size.as_u64() > Some(1000)), "{sizes}");
    let status = harness.page("/jmx?qry=Hadoop:service=NameNode,name=NameNodeStatus").await;
    assert!(!member(&status, "HostAndPort").as_str().unwrap().ends_with(":0"), "{status}");
    assert!(harness.page("/").await.contains("Live DataNodes"));
    assert!(harness.page("/conf").await.contains("<name>dfs.replication</name><value>1</value>"));
    assert!(harness.page("/webhdfs/v1/?op=LISTSTATUS").await.starts_with("HTTP/1.0 501"));
    assert!(harness.page("/fsck?path=/none").await.ends_with("Path '/none' does not exist"));
}

/// Longer than the begin of a page takes, and shorter than the wait for its end would be.
const LIMIT: Duration = Duration::from_secs(5);

/// Says that a copy was begun, and goes on when it is told to.
struct SlowCopy {
    begun: mpsc::Sender<String>,
    go_on: Mutex<mpsc::Receiver<()>>,
}

impl Salvage for SlowCopy {
    fn copy(&self, _: &str, _: &str, to: &str, _: &[Range<u64>]) -> Result<(), SalvageError> {
        self.begun.send(to.to_owned()).unwrap();
        self.go_on.lock().unwrap().recv().unwrap();
        Ok(())
    }
}

/// A tool that waits for the end of a long check has read its begin: it knows that the NameNode is at it.
#[tokio::test(flavor = "multi_thread")]
async fn a_check_is_sent_while_it_is_made() {
    let harness = Harness::start().await;
    let (begun, copies) = mpsc::channel();
    let (go_on, told) = mpsc::channel();
    harness.node.salvage_with(Arc::new(SlowCopy { begun, go_on: Mutex::new(told) }));
    let client = harness.superuser();
    let datanode = FakeDatanode::join(&harness).await;
    let first = finished_file(&client, &datanode, "/f").await;
    let q = AppendRequestProto { src: "/f".into(), client_name: "test".into(), flag: Some(0x20) };
    let _: AppendResponseProto = call(&client, "append", q).await;
    let q = AddBlockRequestProto {
        src: "/f".into(),
        client_name: "test".into(),
        previous: Some(first),
        ..AddBlockRequestProto::default()
    };
    let second = call::<AddBlockResponseProto>(&client, "addBlock", q).await.block.b;
    let second = ExtendedBlockProto { num_bytes: Some(10), ..second };
    datanode.received(&second, 10).await;
    let done: CompleteResponseProto = call(&client, "complete", complete("/f", &second)).await;
    assert!(done.result);
    datanode.deleted(&second).await;

    let user = zerohop_transport::login::User::of_process().name;
    let mut stream = tokio::net::TcpStream::connect(harness.node.http_addr()).await.unwrap();
    let request = format!("GET /fsck?ugi={user}&path=%2F&move=1 HTTP/1.0\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut page = Vec::new();
    while !String::from_utf8_lossy(&page).contains("\nFSCK started by") {
        let read = tokio::time::timeout(LIMIT, stream.read_buf(&mut page)).await;
        assert_ne!(read.expect("nothing comes before the end").unwrap(), 0, "{page:?}");
    }
    let copy = tokio::task::spawn_blocking(move || copies.recv().unwrap()).await.unwrap();
    assert_eq!(copy, "/lost+found/f/0");
    go_on.send(()).unwrap();
    stream.read_to_end(&mut page).await.unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(page.ends_with("The filesystem under path '/' is CORRUPT"), "{page}");
}
