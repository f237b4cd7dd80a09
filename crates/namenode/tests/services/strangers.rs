//! Large messages of unknown senders, and many connections from one address.

use crate::harness::*;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use zerohop_proto::hdfs::MkdirsResponseProto;
use zerohop_proto::hdfs::datanode as dn;
use zerohop_proto::hdfs::datanode::datanode_command_proto::Type;
use zerohop_wire::JavaException;

/// Longer than anything takes on a loaded machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Returns a message whose second field has the wrong type, so that decoding all of it fails.
fn undecodable(registration: &dn::DatanodeRegistrationProto) -> dn::BlockReportRequestProto {
    dn::BlockReportRequestProto {
        registration: registration.clone(),
        block_pool_id: "\u{7f}".repeat(10_000),
        ..dn::BlockReportRequestProto::default()
    }
}

/// The NameNode used to decode 60 MB of empty messages for any sender.
#[tokio::test(flavor = "multi_thread")]
async fn a_large_message_of_a_datanode_that_is_not_registered_was_decoded() {
    let harness = Harness::start().await;
    let datanode = join(&harness).await;
    let mut stranger = datanode.registration.clone();
    stranger.datanode_id.datanode_uuid = "uuid-2".into();
    let message = undecodable(&stranger);
    let client = &datanode.client;
    let answer: dn::HeartbeatResponseProto = call(client, "sendHeartbeat", message.clone()).await;
    let kinds: Vec<Type> = answer.cmds.iter().map(|command| command.cmd_type()).collect();
    assert_eq!(kinds, [Type::RegisterCommand]);
    for method in ["blockReceivedAndDeleted", "cacheReport", "errorReport"] {
        // The answers are empty.
        let refused = client.call::<_, dn::CacheReportResponseProto>(method, &message).await;
        let error = refused.unwrap_err();
        assert!(error.to_string().contains("must register first"), "{method}: {error}");
    }
    // A known DataNode's is decoded, and cannot be.
    let known = undecodable(&datanode.registration);
    let refused = client.call::<_, dn::HeartbeatResponseProto>("sendHeartbeat", &known).await;
    assert_eq!(kind(refused.unwrap_err()), Some(JavaException::RpcServer));
    harness.node.stop().await;
}

/// A DataNode ignored the next active NameNode, whose transactions were fewer than the lost ones.
#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_was_told_of_transactions_that_were_not_on_disk() {
    let harness = Harness::start().await;
    let datanode = join(&harness).await;
    harness.lose_the_log().await;
    let synced = datanode.beat().await.ha_status.txid;
    let made = harness.superuser().call::<_, MkdirsResponseProto>("mkdirs", &mkdirs("/a")).await;
    assert!(made.is_err());
    let mut stranger = datanode.registration.clone();
    stranger.datanode_id.datanode_uuid = "uuid-2".into();
    let answer: dn::HeartbeatResponseProto =
        call(&datanode.client, "sendHeartbeat", undecodable(&stranger)).await;
    assert_eq!(answer.ha_status.txid, synced);
}

/// As Apache's NameNode answers: else its block report would wait for the next heartbeat.
#[tokio::test(flavor = "multi_thread")]
async fn a_datanode_that_reports_before_it_has_registered_is_told_to_register() {
    let harness = Harness::start().await;
    let datanode = join(&harness).await;
    let report = |uuid: &str, blocks: u64| {
        let mut registration = datanode.registration.clone();
        registration.datanode_id.datanode_uuid = uuid.to_owned();
        // Finalized replicas as Hadoop 2.6 reports them: id, length, generation stamp.
        let replicas = (0..blocks).flat_map(|id| [id + 1, 10, 1000]);
        let none = u64::MAX;
        let longs = [blocks, 0].into_iter().chain(replicas).chain([none, none, none]);
        let storage = dn::StorageBlockReportProto {
            storage: zerohop_proto::hdfs::DatanodeStorageProto {
                storage_uuid: "DS-1".into(),
                ..Default::default()
            },
            blocks: longs.collect(),
            ..Default::default()
        };
        dn::BlockReportRequestProto {
            registration,
            block_pool_id: datanode.pool.clone(),
            reports: vec![storage],
            context: None,
        }
    };
    for blocks in [1, 10_000] {
        let answer: dn::BlockReportResponseProto =
            call(&datanode.client, "blockReport", report("uuid-2", blocks)).await;
        assert_eq!(answer.cmd.map(|command| command.cmd_type()), Some(Type::RegisterCommand));
        let answer: dn::BlockReportResponseProto =
            call(&datanode.client, "blockReport", report("uuid-1", blocks)).await;
        assert_ne!(answer.cmd.map(|command| command.cmd_type()), Some(Type::RegisterCommand));
    }
    harness.node.stop().await;
}

async fn connect_from(from: [u8; 4], to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from((from, 0))).unwrap();
    socket.connect(to).await.unwrap()
}

/// 2,060 half requests from one address stopped `/health`.
#[tokio::test(flavor = "multi_thread")]
async fn half_requests_from_one_address_took_all_connections() {
    let max = ("zerohop.http.connections.per.address.max", "20");
    // None is closed for its silence while this test runs.
    let silence = ("hadoop.http.idle_timeout.ms", "3600000");
    let harness = Harness::with(&[max, silence, ("zerohop.http.proxies", "127.0.0.3")]).await;
    let address = harness.node.http_addr();
    let half = async |from| {
        let mut stream = connect_from(from, address).await;
        // The server closes connections beyond the limit at once.
        _ = stream.write_all(b"GET /health HTTP/1.1\r\n").await;
        stream
    };
    let mut all = Vec::new();
    for _ in 0..40 {
        all.push(half([127, 0, 0, 1]).await);
    }
    until("twenty that are closed", async || {
        let mut open = Vec::new();
        for mut stream in std::mem::take(&mut all) {
            let mut byte = [0];
            let read = tokio::time::timeout(Duration::from_millis(1), stream.read(&mut byte));
            if read.await.is_err() {
                open.push(stream);
            }
        }
        all = open;
        all.len() <= 20
    })
    .await;
    assert_eq!(all.len(), 20);
    for from in [[127, 0, 0, 2], [127, 0, 0, 3]] {
        let mut stream = connect_from(from, address).await;
        stream.write_all(b"GET /health HTTP/1.0\r\n\r\n").await.unwrap();
        let mut page = String::new();
        let read = tokio::time::timeout(LIMIT, stream.read_to_string(&mut page)).await;
        read.expect("others are answered").unwrap();
        assert!(page.starts_with("HTTP/1.0 200"), "{page}");
    }
    let mut of_proxy = Vec::new();
    for _ in 0..40 {
        of_proxy.push(half([127, 0, 0, 3]).await);
    }
    let mut last = of_proxy.pop().unwrap();
    last.write_all(b"Host: x\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut page = String::new();
    let read = tokio::time::timeout(LIMIT, last.read_to_string(&mut page)).await;
    read.expect("a proxy has no such limit").unwrap();
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    harness.node.stop().await;
}
