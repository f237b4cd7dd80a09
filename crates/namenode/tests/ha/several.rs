//! More than two NameNodes: candidates for the active state, and observers.

use crate::cluster::{Cluster, HA, LIMIT};
use crate::wait_until;
use std::sync::Arc;
use zerohop_proto::common::HaServiceStateProto::{Active, Observer, Standby};
use zerohop_proto::common::{GetServiceStatusRequestProto, GetServiceStatusResponseProto};
use zerohop_proto::hdfs::{
    GetFileInfoRequestProto, GetFileInfoResponseProto, MsyncRequestProto, MsyncResponseProto,
};
use zerohop_transport::rpc::{ClientIdentity, RpcClient};

/// Three NameNodes are made active at the same time: the edits of only one count.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_three_candidates_one_writes_and_no_acknowledged_edit_is_lost() {
    let mut cluster = Cluster::start_of(3, &[]).await;
    let mut made = Vec::new();
    for round in 0..4 {
        // Without fencing, each takes over from the others, also while they do the same.
        let (one, two, three) =
            tokio::join!(cluster.activate(0), cluster.activate(1), cluster.activate(2));
        let answers = [one.is_ok(), two.is_ok(), three.is_ok()];
        if !answers.contains(&true) {
            cluster.activate(round % 3).await.unwrap();
        }
        let mut writers = Vec::new();
        for i in 0..3 {
            let path = format!("/{round}-{i}");
            if cluster.mkdirs(i, &path).await.is_ok() {
                writers.push(i);
                made.push(path);
            }
        }
        assert_eq!(writers.len(), 1, "round {round}: {answers:?}, {writers:?} wrote");
        // Replaced NameNodes end. In every other round the writer dies, too.
        let writer = writers[0];
        for i in (0..3).filter(|i| *i != writer || round % 2 == 1) {
            cluster.kill_namenode(i);
            cluster.start_namenode(i).await;
        }
        let next = (writer + 1) % 3;
        if cluster.state(writer).await == Active {
            cluster.to_standby(writer).await;
        }
        cluster.activate(next).await.unwrap();
        for path in &made {
            assert!(cluster.exists(next, path).await, "round {round}: {path}");
        }
        cluster.to_standby(next).await;
        cluster.wait_for_same().await;
    }
    cluster.stop().await;
}

async fn exists(client: &RpcClient, path: &str) -> bool {
    let request = GetFileInfoRequestProto { src: path.to_owned() };
    let found: GetFileInfoResponseProto =
        tokio::time::timeout(LIMIT, client.call("getFileInfo", &request)).await.unwrap().unwrap();
    found.fs.is_some()
}

/// Two observers beside a pair: each shows what its client has seen, though the other is down, and both follow a failover.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_observers_answer_reads_and_follow_a_failover() {
    let settings = [
        ("dfs.ha.tail-edits.in-progress", "true"),
        ("dfs.ha.tail-edits.period", "5ms"),
        ("dfs.namenode.state.context.enabled", "true"),
        // A wait that is too long for this machine would be an error.
        ("ipc.client.connection.maxidletime", "120000"),
    ];
    let mut cluster = Cluster::start_of(4, &settings).await;
    cluster.activate(0).await.unwrap();
    for observer in [2, 3] {
        cluster.to_observer(observer).await.unwrap();
        assert_eq!(cluster.state(observer).await, Observer);
        let refused = cluster.activate(observer).await.unwrap_err().to_string();
        assert!(refused.contains("Cannot transition from 'observer' to 'active'"), "{refused}");
    }
    let identity = Arc::new(ClientIdentity::aligned());
    for round in 0..6 {
        let (active, standby) = (round % 2, 1 - round % 2);
        let paths = [format!("/{round}/a"), format!("/{round}/b")];
        cluster.mkdirs(active, &paths[0]).await.unwrap();
        let writer = cluster.client(active, &identity);
        let _: MsyncResponseProto = writer.call("msync", &MsyncRequestProto {}).await.unwrap();
        for observer in [2, 3] {
            assert!(
                exists(&cluster.client(observer, &identity), &paths[0]).await,
                "{round} {observer}"
            );
        }
        let (away, other) = (2 + round % 2, 3 - round % 2);
        cluster.kill_namenode(away);
        cluster.to_standby(active).await;
        cluster.activate(standby).await.unwrap();
        assert_eq!((cluster.state(standby).await, cluster.state(active).await), (Active, Standby));
        cluster.mkdirs(standby, &paths[1]).await.unwrap();
        let writer = cluster.client(standby, &identity);
        let _: MsyncResponseProto = writer.call("msync", &MsyncRequestProto {}).await.unwrap();
        assert!(exists(&cluster.client(other, &identity), &paths[1]).await, "{round} {other}");
        cluster.start_namenode(away).await;
        cluster.to_observer(away).await.unwrap();
        for path in &paths {
            assert!(exists(&cluster.client(away, &identity), path).await, "{round}: {path}");
        }
    }
    let ready = async || {
        let answer: GetServiceStatusResponseProto =
            cluster.call(3, HA, "getServiceStatus", GetServiceStatusRequestProto {}).await.unwrap();
        answer.not_ready_reason() == "State is observer"
    };
    wait_until("an observer is one", ready).await;
    cluster.stop().await;
}
