//! NameNodes that share their edits through JournalNodes.
#![allow(clippy::disallowed_methods, reason = "tests measure and wait")]

mod bootstrap;
mod cluster;
#[path = "../services/datanode.rs"]
mod datanode;
mod failover;
mod observer;
mod rolling_upgrade;
mod several;
mod shared_directory;

use cluster::{CLIENT, Cluster, LIMIT, NAMENODE, blocking};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_namenode::{FormatOptions, NameNode};
use zerohop_proto::common::HaServiceStateProto::{Active, Standby};
use zerohop_proto::hdfs::namenode::{RollEditLogRequestProto, RollEditLogResponseProto};
use zerohop_proto::hdfs::{
    SafeModeActionProto, SaveNamespaceRequestProto, SaveNamespaceResponseProto,
    SetSafeModeRequestProto, SetSafeModeResponseProto,
};

async fn wait_until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let until = Instant::now() + LIMIT;
    while !is_so().await {
        assert!(Instant::now() < until, "waited for: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Back and forth, with one JournalNode away in each term: what was acknowledged is there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_namenode_goes_on_where_the_other_one_stopped() {
    let mut cluster = Cluster::start(&[]).await;
    assert_eq!((cluster.state(0).await, cluster.state(1).await), (Standby, Standby));
    let refused = cluster.mkdirs(0, "/x").await.unwrap_err().to_string();
    assert!(refused.contains("not supported in state standby"), "{refused}");
    let mut active = 0;
    for term in 0..4 {
        let standby = 1 - active;
        cluster.activate(active).await.unwrap();
        assert_eq!(cluster.state(active).await, Active);
        cluster.mkdirs(active, &format!("/{term}/a")).await.unwrap();
        let away = term % 3;
        cluster.stop_journal_node(away).await;
        cluster.mkdirs(active, &format!("/{term}/b")).await.unwrap();
        if term % 2 == 0 {
            cluster.to_standby(active).await;
        } else {
            cluster.kill_namenode(active);
        }
        cluster.activate(standby).await.unwrap();
        for before in 0..=term {
            for name in ["a", "b"] {
                assert!(
                    cluster.exists(standby, &format!("/{before}/{name}")).await,
                    "{before} {term}"
                );
            }
        }
        cluster.start_journal_node(away).await;
        if cluster.namenodes[active].is_none() {
            cluster.start_namenode(active).await;
        }
        cluster.to_standby(standby).await;
        cluster.wait_for_same().await;
        active = standby;
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_namenode_ends_when_a_majority_of_the_journal_nodes_is_lost() {
    let mut cluster = Cluster::start(&[]).await;
    cluster.activate(0).await.unwrap();
    cluster.mkdirs(0, "/a").await.unwrap();
    cluster.stop_journal_node(0).await;
    cluster.mkdirs(0, "/b").await.unwrap();
    cluster.stop_journal_node(1).await;
    cluster.mkdirs(0, "/c").await.unwrap_err();
    let reason = tokio::time::timeout(LIMIT, cluster.namenode(0).failed()).await.unwrap();
    assert!(reason.contains("flush failed for required journal (qjournal://"), "{reason}");
    assert!(reason.contains("2 of 3 JournalNodes are needed"), "{reason}");
    let refused = cluster.activate(1).await.unwrap_err().to_string();
    assert!(
        refused.contains("recoverUnfinalizedSegments failed for required journal"),
        "{refused}"
    );
    // It goes on following, and takes over when they are back.
    assert_eq!(cluster.state(1).await, Standby);
    cluster.start_journal_node(0).await;
    cluster.activate(1).await.unwrap();
    assert!(cluster.exists(1, "/a").await && cluster.exists(1, "/b").await);
    cluster.kill_namenode(0);
    cluster.stop().await;
}

/// It was frozen, say, and does not know that it was replaced.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_namenode_that_was_replaced_ends_with_its_next_edit_which_does_not_count() {
    let cluster = Cluster::start(&[]).await;
    cluster.activate(0).await.unwrap();
    cluster.mkdirs(0, "/a").await.unwrap();
    cluster.activate(1).await.unwrap();
    cluster.mkdirs(1, "/b").await.unwrap();
    cluster.mkdirs(0, "/late").await.unwrap_err();
    let reason = tokio::time::timeout(LIMIT, cluster.namenode(0).failed()).await.unwrap();
    assert!(reason.contains("less than the last promised epoch 2"), "{reason}");
    assert!(cluster.exists(1, "/a").await && cluster.exists(1, "/b").await);
    assert!(!cluster.exists(1, "/late").await);
    cluster.stop().await;
}

/// A start hung on one JournalNode that was dead (HDFS-17030, HDFS-17223).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_starts_and_follows_without_one_journal_node() {
    let mut cluster = Cluster::start(&[]).await;
    cluster.activate(0).await.unwrap();
    cluster.mkdirs(0, "/a").await.unwrap();
    cluster.stop_namenode(1).await;
    cluster.stop_journal_node(1).await;
    cluster.start_namenode(1).await;
    cluster.mkdirs(0, "/b").await.unwrap();
    cluster.to_standby(0).await;
    cluster.wait_for_same().await;
    // Nor does it need any of them to start.
    cluster.stop_journal_node(0).await;
    cluster.stop_journal_node(2).await;
    cluster.stop_namenode(1).await;
    cluster.start_namenode(1).await;
    assert_eq!(cluster.state(1).await, Standby);
    for i in 0..3 {
        cluster.start_journal_node(i).await;
    }
    cluster.wait_for_same().await;
    cluster.activate(1).await.unwrap();
    assert!(cluster.exists(1, "/b").await);
    cluster.stop().await;
}

/// A standby that follows segments in progress had applied edits that the recovery did not keep, or met a JournalNode whose
/// answer was not like the others', and crashed (HDFS-16689).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_follows_segments_in_progress_beside_a_journal_node_that_missed_edits() {
    let mut cluster = Cluster::start(&[("dfs.ha.tail-edits.in-progress", "true")]).await;
    cluster.activate(0).await.unwrap();
    cluster.mkdirs(0, "/a").await.unwrap();
    cluster.wait_for_same().await;
    // Its memory is empty when it is back, and its segment has a gap.
    cluster.stop_journal_node(2).await;
    cluster.mkdirs(0, "/b").await.unwrap();
    cluster.start_journal_node(2).await;
    cluster.mkdirs(0, "/c").await.unwrap();
    cluster.wait_for_same().await;
    cluster.kill_namenode(0);
    cluster.stop_journal_node(0).await;
    cluster.activate(1).await.unwrap();
    for path in ["/a", "/b", "/c"] {
        assert!(cluster.exists(1, path).await, "{path}");
    }
    cluster.mkdirs(1, "/d").await.unwrap();
    cluster.start_namenode(0).await;
    cluster.wait_for_same().await;
    cluster.stop().await;
}

/// Both were killed together: neither segments nor epochs change until one of them becomes active.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn standbys_change_nothing_on_the_journal_nodes() {
    let mut cluster = Cluster::start(&[]).await;
    cluster.activate(0).await.unwrap();
    cluster.mkdirs(0, "/a").await.unwrap();
    cluster.kill_namenode(0);
    cluster.kill_namenode(1);
    let files = |cluster: &Cluster| {
        let entries = std::fs::read_dir(cluster.directory().join("jn0/ns/current")).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = files(&cluster);
    for i in 0..2 {
        cluster.start_namenode(i).await;
    }
    wait_until("looks for edits", async || cluster.last_txid(1).await == 0).await;
    assert_eq!(files(&cluster), before);
    cluster.activate(1).await.unwrap();
    assert!(cluster.exists(1, "/a").await);
    assert_ne!(files(&cluster), before);
    cluster.stop().await;
}

/// The active one has none of its own, and takes those of the standby.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_makes_the_images_of_both() {
    let settings = [
        ("dfs.namenode.checkpoint.period", "1"),
        ("dfs.namenode.checkpoint.check.period", "1"),
        ("dfs.namenode.checkpoint.txns", "2"),
    ];
    let cluster = Cluster::start(&settings).await;
    cluster.activate(0).await.unwrap();
    for round in 0..2 {
        cluster.mkdirs(0, &format!("/{round}")).await.unwrap();
        let images = cluster.images(0).len();
        let rolled: Result<RollEditLogResponseProto, _> =
            cluster.call(0, NAMENODE, "rollEditLog", RollEditLogRequestProto {}).await;
        rolled.unwrap();
        wait_until("an image of the standby", async || {
            cluster.images(0).len() > images || cluster.images(0).first() != Some(&0)
        })
        .await;
    }
    let newest = *cluster.images(0).last().unwrap();
    assert!(newest > 0 && cluster.images(1).contains(&newest));
    let file = |i: usize| {
        std::fs::read(cluster.directory().join(format!("nn{i}/current/fsimage_{newest:019}")))
            .unwrap()
    };
    assert_eq!(file(0), file(1));
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_edits_of_a_namenode_that_was_alone_go_to_the_journal_nodes() {
    let mut cluster = Cluster::unformatted(&[]).await;
    let conf = Arc::new(cluster.conf_alone());
    NameNode::format(&conf, FormatOptions::default()).unwrap();
    for path in ["/a", "/b"] {
        cluster.namenodes[0] = Some(NameNode::start(conf.clone()).await.unwrap());
        cluster.mkdirs(0, path).await.unwrap();
        cluster.stop_namenode(0).await;
    }
    let shared = cluster.conf(0);
    let last = blocking(move || {
        assert_eq!(NameNode::shared_edits_with_data(&shared).unwrap(), None);
        let last = NameNode::initialize_shared_edits(&shared).unwrap();
        assert!(NameNode::shared_edits_with_data(&shared).unwrap().is_some());
        last
    })
    .await;
    assert_eq!(last, 6, "two segments of three edits");
    cluster.start_namenode(0).await;
    assert_eq!(cluster.last_txid(0).await, 6);
    cluster.activate(0).await.unwrap();
    assert!(cluster.exists(0, "/a").await && cluster.exists(0, "/b").await);
    cluster.mkdirs(0, "/c").await.unwrap();
    cluster.stop().await;
}

/// It has no edit log of its own to end a segment of.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_saves_the_namespace_when_it_is_told_to() {
    let cluster = Cluster::start(&[]).await;
    cluster.activate(0).await.unwrap();
    cluster.mkdirs(0, "/a").await.unwrap();
    cluster.to_standby(0).await;
    cluster.wait_for_same().await;
    let action = SafeModeActionProto::SafemodeEnter.into();
    let request = SetSafeModeRequestProto { action, checked: Some(false) };
    let _: SetSafeModeResponseProto =
        cluster.call(1, CLIENT, "setSafeMode", request).await.unwrap();
    let request = SaveNamespaceRequestProto { time_window: Some(0), tx_gap: Some(0) };
    let saved: SaveNamespaceResponseProto =
        cluster.call(1, CLIENT, "saveNamespace", request).await.unwrap();
    assert_eq!(saved.saved, Some(true));
    assert_eq!(cluster.images(1), [0, 3]);
    cluster.stop().await;
}
