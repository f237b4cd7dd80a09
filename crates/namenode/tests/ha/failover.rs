//! What clients and failover controllers meet when the active state moves.

use crate::cluster::{CLIENT, Cluster, HA};
use prost::Message;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_proto::common::{MonitorHealthRequestProto, MonitorHealthResponseProto};
use zerohop_proto::hdfs::*;
use zerohop_transport::rpc::ClientIdentity;
use zerohop_wire::JavaException;

/// The first NameNode carried it out and died before its client had the answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_sent_again_to_the_other_namenode_is_answered_from_its_retry_cache() {
    let mut cluster = Cluster::start(&[]).await;
    cluster.activate(0).await.unwrap();
    cluster.mkdirs(0, "/a").await.unwrap();
    let identity = Arc::new(ClientIdentity::random());
    let request = RenameRequestProto { src: "/a".to_owned(), dst: "/b".to_owned() };
    let request = request.encode_to_vec();
    let first = cluster.client(0, &identity);
    let id = first.next_call();
    let renamed = async |client: zerohop_transport::rpc::RpcClient, id| {
        let answer = client.call_raw(&id, "rename", &request).await.unwrap();
        zerohop_proto::decode::<RenameResponseProto>(answer).unwrap().result
    };
    assert!(renamed(first.clone(), id.clone()).await);
    cluster.kill_namenode(0);
    cluster.activate(1).await.unwrap();
    let second = cluster.client(1, &identity);
    assert!(renamed(second.clone(), id.again()).await, "the answer of the first NameNode");
    // Another call finds nothing to rename.
    let other = second.next_call();
    assert!(!renamed(second, other).await);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_namenode_in_safe_mode_is_unhealthy_and_not_made_active_where_that_is_configured() {
    let cluster = Cluster::start(&[("dfs.ha.nn.not-become-active-in-safemode", "true")]).await;
    let safe_mode = async |action: SafeModeActionProto| {
        let request = SetSafeModeRequestProto { action: action.into(), checked: None };
        let _: SetSafeModeResponseProto =
            cluster.call(0, CLIENT, "setSafeMode", request).await.unwrap();
    };
    let health = async || {
        let answer = cluster.call(0, HA, "monitorHealth", MonitorHealthRequestProto {}).await;
        answer.map(|_: MonitorHealthResponseProto| ())
    };
    safe_mode(SafeModeActionProto::SafemodeEnter).await;
    let refused = cluster.activate(0).await.unwrap_err();
    assert_eq!(refused.remote_kind(), Some(JavaException::ServiceFailed), "{refused}");
    assert!(refused.to_string().contains("NameNode still not leave safemode"), "{refused}");
    let unhealthy = health().await.unwrap_err();
    assert_eq!(unhealthy.remote_kind(), Some(JavaException::HealthCheckFailed), "{unhealthy}");
    safe_mode(SafeModeActionProto::SafemodeLeave).await;
    health().await.unwrap();
    cluster.activate(0).await.unwrap();
    cluster.stop().await;
}

/// HDFS-17223: a JournalNode that takes connections and answers nothing held a NameNode's start. Connections are tried as often
/// as they are by default.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hdfs_17223_a_silent_journal_node_held_the_start_and_the_takeover() {
    let mut cluster = Cluster::formatted(&[("ipc.client.connect.max.retries", "10")]).await;
    cluster.copy_directory();
    cluster.stop_journal_node(2).await;
    let _silent = TcpListener::bind(cluster.journal_address(2)).unwrap();
    let begun = Instant::now();
    for i in 0..2 {
        cluster.start_namenode(i).await;
    }
    cluster.activate(0).await.unwrap();
    cluster.mkdirs(0, "/a").await.unwrap();
    cluster.kill_namenode(0);
    cluster.activate(1).await.unwrap();
    assert!(cluster.exists(1, "/a").await);
    // Half of what one call to a JournalNode may take.
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    cluster.stop().await;
}
