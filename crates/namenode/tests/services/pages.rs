//! The pages over HTTP.

use crate::harness::*;
use std::ops::Range;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use zerohop_namenode::{CopyError, FileCopier};
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
    let query = harness.page("/jmx?get=Hadoop:service=NameNode,name=NameNodeInfo").await;
    assert!(query.starts_with("HTTP/1.0 400"), "{query}");
    assert!(harness.page("/").await.contains("Live DataNodes"));
    assert!(harness.page("/conf").await.contains("<name>dfs.replication</name><value>1</value>"));
    let unknown = harness.page("/conf?name=dfs.replicas").await;
    assert!(unknown.starts_with("HTTP/1.0 404"), "{unknown}");
    assert!(harness.page("/webhdfs/v1/?op=LISTSTATUS").await.starts_with("HTTP/1.0 404"));
    assert!(harness.page("/fsck?path=/none").await.ends_with("Path '/none' does not exist"));
}

/// Longer than the begin of a page takes, and shorter than the wait for its end would be.
const LIMIT: Duration = Duration::from_secs(5);

/// Says that a copy was begun, and goes on when it is told to.
struct SlowCopy {
    begun: mpsc::Sender<String>,
    go_on: Mutex<mpsc::Receiver<()>>,
}

impl FileCopier for SlowCopy {
    fn copy(&self, _: &str, _: &str, to: &str, _: &[Range<u64>]) -> Result<(), CopyError> {
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
    harness.node.copy_files_with(Arc::new(SlowCopy { begun, go_on: Mutex::new(told) }));
    let client = harness.superuser();
    let datanode = join(&harness).await;
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
    let query = "/jmx?get=Hadoop:service=NameNode,name=NameNodeStatus::State";
    let state = tokio::time::timeout(LIMIT, harness.page(query)).await;
    assert!(state.expect("the check holds up the other pages").contains("\"active\""));
    go_on.send(()).unwrap();
    stream.read_to_end(&mut page).await.unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(page.ends_with("The filesystem under path '/' is CORRUPT"), "{page}");
}

/// Anybody can nest directories deeper than any stack: a rename is held to the length of its paths only.
#[tokio::test(flavor = "multi_thread")]
async fn a_check_survives_directories_nested_without_end() {
    const NESTED: usize = 900;
    const CHAINS: usize = 4;
    let harness = Harness::start().await;
    let client = harness.superuser();
    let chain = |n: usize| format!("/n{n}{}", "/d".repeat(NESTED));
    let _: MkdirsResponseProto = call(&client, "mkdirs", mkdirs(&chain(0))).await;
    for n in 1..CHAINS {
        let _: MkdirsResponseProto = call(&client, "mkdirs", mkdirs(&chain(n))).await;
        let q = RenameRequestProto { src: format!("/n{}", n - 1), dst: format!("{}/n", chain(n)) };
        assert!(call::<RenameResponseProto>(&client, "rename", q).await.result);
    }
    let page = harness.page("/fsck?path=%2F").await;
    let dirs = CHAINS * (NESTED + 1) + 1;
    assert!(page.contains(&format!(" Total dirs:\t\t\t{dirs}\n")), "{page}");
    assert!(page.ends_with("The filesystem under path '/' is HEALTHY"), "{page}");
}

/// The button ran as `dr.who`, and the check failed at the first directory that is closed to others.
#[tokio::test(flavor = "multi_thread")]
async fn the_button_for_a_check_of_all_files_failed_at_a_private_directory() {
    let harness = Harness::start().await;
    let masked = FsPermissionProto { perm: 0o700 };
    let closed = MkdirsRequestProto { masked, ..mkdirs("/private/inner") };
    assert!(call::<MkdirsResponseProto>(&harness.superuser(), "mkdirs", closed).await.result);
    let page = harness.page("/").await;
    let (before, _) = page.split_once("\">Check all files<").unwrap();
    let (_, address) = before.rsplit_once("href=\"").unwrap();
    let report = harness.page(&address.replace("&amp;", "&")).await;
    assert!(report.contains(" Total dirs:\t\t\t3\n"), "{report}");
    assert!(report.ends_with("The filesystem under path '/' is HEALTHY"), "{report}");
}

/// A restart is no checkpoint: who asks for an image unless there is a young one gets it.
#[tokio::test(flavor = "multi_thread")]
async fn an_image_keeps_its_age_over_a_restart() {
    const AGE: Duration = Duration::from_secs(1800);
    let mut harness = Harness::start().await;
    let written = SystemTime::now() - AGE;
    for entry in std::fs::read_dir(harness.directory.path().join("name/current")).unwrap() {
        let path = entry.unwrap().path();
        if path.display().to_string().contains("fsimage_") {
            std::fs::File::options()
                .append(true)
                .open(path)
                .unwrap()
                .set_modified(written)
                .unwrap();
        }
    }
    harness.restart().await;
    let query = "get=Hadoop:service=NameNode,name=FSNamesystem::LastCheckpointTime";
    let page = harness.page(&format!("/jmx?{query}")).await;
    let written_ms = written.duration_since(UNIX_EPOCH).unwrap().as_millis();
    assert!(page.contains(&format!("\"LastCheckpointTime\": {written_ms}")), "{page}");

    let client = harness.superuser();
    let action = SafeModeActionProto::SafemodeEnter.into();
    let enter = SetSafeModeRequestProto { action, checked: None };
    let _: SetSafeModeResponseProto = call(&client, "setSafeMode", enter).await;
    for is_due in [true, false] {
        let q = SaveNamespaceRequestProto {
            time_window: Some(AGE.as_secs() / 2),
            tx_gap: Some(1 << 40),
        };
        let answer: SaveNamespaceResponseProto = call(&client, "saveNamespace", q).await;
        assert_eq!(answer.saved, Some(is_due));
    }
}

/// Links named the address of a DataNode, which its users may not reach, and not its `dfs.datanode.hostname`.
#[tokio::test(flavor = "multi_thread")]
async fn links_to_datanodes_ignored_their_host_names() {
    let harness = Harness::start().await;
    let _datanode = join(&harness).await;
    for (page, link) in [
        ("/datanodes", "href=\"http://localhost:9864/\""),
        ("/slow-nodes", "href=\"http://localhost:9864/heatmap\""),
    ] {
        let page = harness.page(page).await;
        assert!(page.contains(link), "{page}");
    }
    let info = harness.page("/jmx?qry=Hadoop:service=NameNode,name=NameNodeInfo").await;
    // As Apache Hadoop has it: the name is the key, and the address is the DataNode's.
    assert!(info.contains(r#"\"localhost:9866\":{"#), "{info}");
    assert!(info.contains(r#"\"infoAddr\":\"127.0.0.1:9864\""#), "{info}");
}
