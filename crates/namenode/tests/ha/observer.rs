//! Observers answer reads, and none that is older than what its client has seen.

use crate::cluster::{Cluster, HA, LIMIT};
use crate::datanode::FakeDatanode;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use zerohop_proto::common::HaServiceStateProto::{Active, Observer, Standby};
use zerohop_proto::common::*;
use zerohop_proto::hdfs::*;
use zerohop_transport::rpc::{ClientIdentity, RpcClient, RpcError};
use zerohop_wire::JavaException;

const STATE_IDS: (&str, &str) = ("dfs.namenode.state.context.enabled", "true");

async fn mkdirs(client: &RpcClient, path: &str) -> Result<MkdirsResponseProto, RpcError> {
    let masked = FsPermissionProto { perm: 0o755 };
    let src = path.to_owned();
    let request = MkdirsRequestProto { src, masked, create_parent: true, unmasked: None };
    client.call("mkdirs", &request).await
}

async fn exists(client: &RpcClient, path: &str) -> Result<bool, RpcError> {
    let request = GetFileInfoRequestProto { src: path.to_owned() };
    let found: GetFileInfoResponseProto = client.call("getFileInfo", &request).await?;
    Ok(found.fs.is_some())
}

fn kind<T: std::fmt::Debug>(answer: Result<T, RpcError>) -> (JavaException, String) {
    let error = answer.unwrap_err();
    (error.remote_kind().unwrap(), error.to_string())
}

/// Where `nn0` is active and `nn1` an observer.
async fn observed(settings: &[(&str, &str)]) -> Cluster {
    let cluster = Cluster::start(settings).await;
    cluster.activate(0).await.unwrap();
    cluster.to_observer(1).await.unwrap();
    cluster
}

/// 6400 reads: half of them by who wrote, half of them by another client that asked the active NameNode how far it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_observer_shows_what_its_client_wrote_and_after_msync_what_others_wrote() {
    const CLIENTS: usize = 16;
    const WRITES: usize = 200;
    let settings = [
        ("dfs.ha.tail-edits.in-progress", "true"),
        ("dfs.ha.tail-edits.period", "1ms"),
        // A wait that is too long for this machine would be an error.
        ("ipc.client.connection.maxidletime", "120000"),
        STATE_IDS,
    ];
    let cluster = Arc::new(observed(&settings).await);
    let mut clients = JoinSet::new();
    for n in 0..CLIENTS {
        let cluster = cluster.clone();
        clients.spawn(async move {
            let (writer, other) =
                (Arc::new(ClientIdentity::aligned()), Arc::new(ClientIdentity::aligned()));
            let [write, read] = [0, 1].map(|i| cluster.client(i, &writer));
            let [sync, look] = [0, 1].map(|i| cluster.client(i, &other));
            for i in 0..WRITES {
                let path = format!("/{n}/{i}");
                mkdirs(&write, &path).await.unwrap();
                assert!(exists(&read, &path).await.unwrap(), "{path}: the writer's own");
                let _: MsyncResponseProto =
                    sync.call("msync", &MsyncRequestProto {}).await.unwrap();
                assert!(exists(&look, &path).await.unwrap(), "{path}: after msync");
            }
        });
    }
    while let Some(ended) = clients.join_next().await {
        ended.unwrap();
    }
    Arc::into_inner(cluster).unwrap().stop().await;
}

/// It looks for edits once, when it begins to follow them, and then no more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_of_an_observer_waits_for_edits_and_keeps_no_other_call() {
    let settings =
        [("dfs.ha.tail-edits.in-progress", "true"), ("dfs.ha.tail-edits.period", "1h"), STATE_IDS];
    let cluster = observed(&settings).await;
    assert_eq!((cluster.state(0).await, cluster.state(1).await), (Active, Observer));
    let identity = Arc::new(ClientIdentity::aligned());
    let [active, observer] = [0, 1].map(|i| cluster.client(i, &identity));
    // So that it has seen something.
    let unaware = cluster.client(1, &Arc::new(ClientIdentity::random()));
    let refused = kind(exists(&unaware, "/").await);
    assert_eq!(refused.0, JavaException::Standby, "{}", refused.1);
    assert!(refused.1.contains("without stateId"), "{}", refused.1);
    let refused = kind(mkdirs(&observer, "/x").await);
    assert_eq!(refused.0, JavaException::ObserverRetryOnActive, "{}", refused.1);
    assert_eq!(kind(cluster.activate(1).await).0, JavaException::ServiceFailed);
    assert_eq!(kind(cluster.to_observer(0).await).0, JavaException::ServiceFailed);
    let request = TransitionToStandbyRequestProto {
        req_info: HaStateChangeRequestInfoProto {
            req_source: HaRequestSource::RequestByZkfc.into(),
        },
    };
    let denied =
        cluster.call::<TransitionToStandbyResponseProto>(1, HA, "transitionToStandby", request);
    let denied = kind(denied.await).1;
    assert!(denied.contains("denied since the namenode is in Observer state"), "{denied}");

    mkdirs(&active, "/a").await.unwrap();
    let waiting = tokio::spawn({
        let observer = observer.clone();
        async move { exists(&observer, "/a").await }
    });
    // The same connection.
    for _ in 0..50 {
        let _: GetFsStatsResponseProto =
            observer.call("getFsStats", &GetFsStatusRequestProto {}).await.unwrap();
    }
    assert!(!waiting.is_finished());
    // It looks for edits when it changes its state, but answers no reads then.
    cluster.to_standby(1).await;
    assert_eq!(cluster.state(1).await, Standby);
    let refused = tokio::time::timeout(LIMIT, waiting).await.unwrap().unwrap();
    assert_eq!(kind(refused).0, JavaException::Standby);
    cluster.to_observer(1).await.unwrap();
    assert!(exists(&observer, "/a").await.unwrap());
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_observer_that_does_not_catch_up_sends_its_clients_elsewhere() {
    let settings = [
        ("dfs.ha.tail-edits.period", "1h"),
        ("ipc.client.connection.maxidletime", "300"),
        ("dfs.namenode.observer.enabled", "true"),
        STATE_IDS,
    ];
    let cluster = Cluster::start(&settings).await;
    assert_eq!((cluster.state(0).await, cluster.state(1).await), (Observer, Observer));
    cluster.to_standby(0).await;
    cluster.activate(0).await.unwrap();
    let identity = Arc::new(ClientIdentity::aligned());
    mkdirs(&cluster.client(0, &identity), "/a").await.unwrap();
    let late = tokio::time::timeout(LIMIT, async {
        kind(exists(&cluster.client(1, &identity), "/a").await)
    });
    let (kind, text) = late.await.unwrap();
    assert_eq!(kind, JavaException::Retriable, "{text}");
    assert!(text.contains("Observer Node is too far behind: serverStateId = "), "{text}");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_observer_that_knows_of_no_replica_yet_has_the_active_namenode_asked() {
    let settings = [
        ("dfs.ha.tail-edits.in-progress", "true"),
        ("dfs.replication", "1"),
        ("dfs.namenode.safemode.extension", "0"),
        ("dfs.namenode.accesstime.precision", "0"),
        STATE_IDS,
    ];
    let cluster = observed(&settings).await;
    let identity = Arc::new(ClientIdentity::aligned());
    let [active, observer] = [0, 1].map(|i| cluster.client(i, &identity));
    let there = FakeDatanode::join_at(cluster.namenode(0).rpc_addr(), 9866).await;
    let here = FakeDatanode::join_at(cluster.namenode(1).rpc_addr(), 9866).await;
    let request = CreateRequestProto {
        src: "/f".into(),
        masked: FsPermissionProto { perm: 0o644 },
        client_name: "test".into(),
        create_flag: 1,
        create_parent: true,
        replication: 1,
        block_size: 1 << 20,
        ..CreateRequestProto::default()
    };
    let _: CreateResponseProto = active.call("create", &request).await.unwrap();
    let request = AddBlockRequestProto {
        src: "/f".into(),
        client_name: "test".into(),
        ..AddBlockRequestProto::default()
    };
    let block: AddBlockResponseProto = active.call("addBlock", &request).await.unwrap();
    let block = ExtendedBlockProto { num_bytes: Some(10), ..block.block.b };
    there.received(&block, 10).await;
    let request = CompleteRequestProto {
        src: "/f".into(),
        client_name: "test".into(),
        last: Some(block.clone()),
        file_id: None,
    };
    let done: CompleteResponseProto = active.call("complete", &request).await.unwrap();
    assert!(done.result);

    let locations = async || {
        let request =
            GetBlockLocationsRequestProto { src: "/f".into(), offset: 0, length: u64::MAX >> 1 };
        observer.call::<_, GetBlockLocationsResponseProto>("getBlockLocations", &request).await
    };
    let listing = async |need_location| {
        let (src, start_after) = ("/".into(), Default::default());
        let request = GetListingRequestProto { src, start_after, need_location };
        observer.call::<_, GetListingResponseProto>("getListing", &request).await
    };
    let located = async || {
        let request = GetLocatedFileInfoRequestProto {
            src: Some("/f".into()),
            need_block_token: Some(false),
        };
        observer.call::<_, GetLocatedFileInfoResponseProto>("getLocatedFileInfo", &request).await
    };
    let expected = JavaException::ObserverRetryOnActive;
    for (refused, text) in
        [kind(locations().await), kind(listing(true).await), kind(located().await)]
    {
        assert_eq!(refused, expected, "{text}");
        assert!(text.contains("Zero blocklocations for "), "{text}");
    }
    listing(false).await.unwrap();
    here.received(&block, 10).await;
    let until = std::time::Instant::now() + LIMIT;
    while let Err(error) = locations().await {
        assert!(std::time::Instant::now() < until, "{error}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    listing(true).await.unwrap();
    located().await.unwrap();
    cluster.stop().await;
}
