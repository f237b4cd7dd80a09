//! A rolling upgrade of two NameNodes that share their edits.

use crate::cluster::{CLIENT, Cluster, LIMIT, blocking};
use std::time::{Duration, Instant};
use zerohop_namenode::{BootstrapStandby, StartOption};
use zerohop_proto::hdfs::{
    RollingUpgradeActionProto, RollingUpgradeInfoProto, RollingUpgradeRequestProto,
    RollingUpgradeResponseProto,
};

async fn ask(
    cluster: &Cluster,
    action: RollingUpgradeActionProto,
) -> Option<RollingUpgradeInfoProto> {
    let request = RollingUpgradeRequestProto { action: action.into() };
    let answer: RollingUpgradeResponseProto =
        cluster.call(0, CLIENT, "rollingUpgrade", request).await.unwrap();
    answer.rolling_upgrade_info
}

async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let end = Instant::now() + LIMIT;
    while !is_so().await {
        assert!(Instant::now() < end, "waited for: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn rollback_images(cluster: &Cluster, i: usize) -> usize {
    let current = cluster.directory().join(format!("nn{i}/current"));
    let names = std::fs::read_dir(current).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    names.filter(|name| name.starts_with("fsimage_rollback_") && !name.contains('.')).count()
}

/// `nn0` is active, the upgrade is prepared and can be rolled back, and `/during` was made since.
async fn upgrading() -> Cluster {
    let cluster = Cluster::start(&[("dfs.ha.tail-edits.in-progress", "true")]).await;
    cluster.activate(0).await.unwrap();
    cluster.mkdirs(0, "/before").await.unwrap();
    let begun = ask(&cluster, RollingUpgradeActionProto::Start).await.unwrap();
    assert!(begun.start_time > 0 && begun.finalize_time == 0);
    // The standby makes it at once, and the active one takes it.
    until("an image to roll back to", async || {
        ask(&cluster, RollingUpgradeActionProto::Query).await.unwrap().created_rollback_images
    })
    .await;
    assert_eq!([0, 1].map(|i| rollback_images(&cluster, i)), [1, 1]);
    cluster.mkdirs(0, "/during").await.unwrap();
    cluster
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rolling_upgrade_of_a_pair_is_finalized_on_both() {
    let cluster = upgrading().await;
    let ended = ask(&cluster, RollingUpgradeActionProto::Finalize).await.unwrap();
    assert!(ended.finalize_time > 0);
    assert_eq!(rollback_images(&cluster, 0), 0);
    until("the standby hears of it", async || rollback_images(&cluster, 1) == 0).await;
    assert_eq!(ask(&cluster, RollingUpgradeActionProto::Query).await, None);
    cluster.to_standby(0).await;
    cluster.activate(1).await.unwrap();
    assert!(cluster.exists(1, "/during").await);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rolling_upgrade_of_a_pair_is_rolled_back_and_the_other_namenode_begins_anew() {
    let mut cluster = upgrading().await;
    for i in 0..2 {
        cluster.stop_namenode(i).await;
    }
    cluster.start_namenode_with(0, StartOption::RollingUpgradeRollback).await;
    cluster.activate(0).await.unwrap();
    assert!(cluster.exists(0, "/before").await && !cluster.exists(0, "/during").await);
    assert_eq!(ask(&cluster, RollingUpgradeActionProto::Query).await, None);
    cluster.mkdirs(0, "/after").await.unwrap();
    let found = BootstrapStandby::find(&cluster.conf(1)).await.unwrap();
    blocking(move || found.run(true).unwrap()).await;
    cluster.start_namenode(1).await;
    cluster.wait_for_same().await;
    cluster.to_standby(0).await;
    cluster.activate(1).await.unwrap();
    for (path, is_there) in [("/before", true), ("/during", false), ("/after", true)] {
        assert_eq!(cluster.exists(1, path).await, is_there, "{path}");
    }
    cluster.stop().await;
}
