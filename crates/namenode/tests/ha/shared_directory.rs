//! NameNodes that share their edits through a directory.

use crate::cluster::{Cluster, blocking};
use zerohop_namenode::{BootstrapStandby, FormatOptions, NameNode};
use zerohop_proto::common::HaServiceStateProto::Standby;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn namenodes_take_over_from_each_other_on_a_shared_directory() {
    let shared = tempfile::tempdir().unwrap();
    let uri = format!("file://{}/edits", shared.path().display());
    let settings =
        [("dfs.namenode.shared.edits.dir", &*uri), ("dfs.ha.tail-edits.in-progress", "true")];
    let mut cluster = Cluster::formatted(&settings).await;
    assert!(shared.path().join("edits/current/VERSION").exists());
    cluster.start_namenode(0).await;
    cluster.activate(0).await.unwrap();
    cluster.mkdirs(0, "/a").await.unwrap();
    let found = BootstrapStandby::find(&cluster.conf(1)).await.unwrap();
    blocking(move || found.run(true).unwrap()).await;
    cluster.start_namenode(1).await;
    // It follows the segment in progress.
    cluster.wait_for_same().await;
    cluster.mkdirs(0, "/b").await.unwrap();
    cluster.kill_namenode(0);
    cluster.activate(1).await.unwrap();
    assert!(cluster.exists(1, "/a").await && cluster.exists(1, "/b").await);
    cluster.mkdirs(1, "/c").await.unwrap();
    cluster.start_namenode(0).await;
    assert_eq!(cluster.state(0).await, Standby);
    cluster.to_standby(1).await;
    cluster.wait_for_same().await;
    cluster.activate(0).await.unwrap();
    assert!(cluster.exists(0, "/c").await);
    // One of another namespace is not taken for it.
    for i in 0..2 {
        cluster.stop_namenode(i).await;
    }
    let conf = cluster.conf(1);
    let format = FormatOptions { force: true, ..FormatOptions::default() };
    blocking(move || NameNode::format(&conf, format).unwrap()).await;
    cluster.start_namenode(0).await;
    let refused = cluster.activate(0).await.unwrap_err().to_string();
    assert!(refused.contains("namespaceID is incompatible"), "{refused}");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_edits_of_a_namenode_that_was_alone_go_to_a_shared_directory() {
    let shared = tempfile::tempdir().unwrap();
    let uri = format!("file://{}/edits", shared.path().display());
    let mut cluster = Cluster::unformatted(&[("dfs.namenode.shared.edits.dir", &uri)]).await;
    let alone = std::sync::Arc::new(cluster.conf_alone());
    NameNode::format(&alone, FormatOptions::default()).unwrap();
    cluster.namenodes[0] = Some(NameNode::start(alone).await.unwrap());
    cluster.mkdirs(0, "/a").await.unwrap();
    cluster.stop_namenode(0).await;
    let conf = cluster.conf(0);
    let last = blocking(move || NameNode::initialize_shared_edits(&conf).unwrap()).await;
    assert_eq!(last, 3);
    cluster.start_namenode(0).await;
    cluster.activate(0).await.unwrap();
    assert!(cluster.exists(0, "/a").await);
    cluster.stop().await;
}
