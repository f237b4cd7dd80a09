//! A new standby, and what keeps it from being made.

use crate::cluster::{Cluster, NAMENODE, blocking};
use bytes::Bytes;
use std::net::SocketAddr;
use std::sync::Arc;
use zerohop_conf::Conf;
use zerohop_namenode::BootstrapStandby;

use zerohop_proto::hdfs::namenode::{
    GetMostRecentCheckpointTxIdResponseProto, GetTransactionIdResponseProto,
    IsRollingUpgradeResponseProto, IsUpgradeFinalizedResponseProto,
};
use zerohop_proto::hdfs::{NamespaceInfoProto, StorageInfoProto, VersionResponseProto};
use zerohop_transport::rpc::server::{CallContext, Reply, RpcServer, RpcService, ServerOptions};

/// A NameNode of an older release, whose directories have layout -66.
struct Older;

impl RpcService for Older {
    fn protocol(&self) -> &'static str {
        NAMENODE
    }

    fn version(&self) -> u64 {
        1
    }

    fn call(self: Arc<Self>, _: CallContext, method: &str, _: Bytes) -> Reply {
        match method {
            "versionRequest" => Reply::message(&VersionResponseProto {
                info: NamespaceInfoProto {
                    block_pool_id: "BP-1".to_owned(),
                    storage_info: StorageInfoProto {
                        layout_version: -66_i32 as u32,
                        namespce_id: 1,
                        cluster_id: "CID-1".to_owned(),
                        c_time: 1,
                    },
                    ..NamespaceInfoProto::default()
                },
            }),
            "isUpgradeFinalized" => {
                Reply::message(&IsUpgradeFinalizedResponseProto { is_upgrade_finalized: true })
            }
            "isRollingUpgrade" => {
                Reply::message(&IsRollingUpgradeResponseProto { is_rolling_upgrade: false })
            }
            "getMostRecentCheckpointTxId" => {
                Reply::message(&GetMostRecentCheckpointTxIdResponseProto { tx_id: 1 })
            }
            "getTransactionId" => Reply::message(&GetTransactionIdResponseProto { tx_id: 1 }),
            other => panic!("{other}"),
        }
    }
}

/// The standby would read an image of one layout, and edits of another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_namenode_of_another_layout_gets_no_standby() {
    let options = ServerOptions::from_conf(&Conf::new(), 0, 1).unwrap();
    let server = RpcServer::bind(SocketAddr::from(([127, 0, 0, 1], 0)), options).unwrap();
    server.register(Arc::new(Older));
    server.start().unwrap();
    let older = server.local_addr().to_string();
    let cluster = Cluster::unformatted(&[("dfs.namenode.rpc-address.ns.nn0", &older)]).await;
    let conf = cluster.conf(1);
    let error = BootstrapStandby::find(&conf).await.unwrap_err();
    let expected = format!(
        "Layout version on remote node (-66) does not match this node's layout version (-67): run -bootstrapStandby with the \
         release of the NameNode at {older} (dfs.namenode.rpc-address.ns.nn0), or upgrade that one first"
    );
    assert_eq!((error.exit_code(), error.to_string()), (3, expected));
    assert!(!cluster.directory().join("nn1").exists(), "nothing was written");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_standby_begins_with_the_image_of_the_other_namenode() {
    let mut cluster = Cluster::formatted(&[]).await;
    cluster.start_namenode(0).await;
    cluster.activate(0).await.unwrap();
    cluster.mkdirs(0, "/a").await.unwrap();
    let found = BootstrapStandby::find(&cluster.conf(1)).await.unwrap();
    let shown = found.to_string();
    assert!(shown.contains("About to bootstrap Standby ID nn1 from:"), "{shown}");
    assert_eq!(found.data_before_format().unwrap(), Vec::<String>::new());
    let again = found.clone();
    blocking(move || again.run(true).unwrap()).await;
    let data = found.data_before_format().unwrap();
    assert!(data.len() == 1 && data[0].starts_with("Storage Directory /"), "{data:?}");
    cluster.start_namenode(1).await;
    cluster.to_standby(0).await;
    cluster.wait_for_same().await;
    cluster.activate(1).await.unwrap();
    assert!(cluster.exists(1, "/a").await);
    cluster.stop_namenode(0).await;
    let error = BootstrapStandby::find(&cluster.conf(1)).await.unwrap_err();
    assert_eq!(error.exit_code(), 2, "{error}");
    cluster.stop().await;
}
