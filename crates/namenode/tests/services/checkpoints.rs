//! Images that are saved at the start and while the NameNode serves, and what a nearly full disk means.

use crate::harness::*;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use zerohop_namenode::NameNode;
use zerohop_proto::hdfs::*;

impl Harness {
    fn name_file(&self, name: &str) -> PathBuf {
        self.directory.path().join("name/current").join(name)
    }

    fn has_image(&self, txid: u64) -> bool {
        self.name_file(&format!("fsimage_{txid:019}")).exists()
    }

    /// As if the image of a formatted NameNode had been written two hours ago.
    fn age_first_image(&self) {
        let path = self.name_file("fsimage_0000000000000000000");
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(7200)).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_image_is_replaced_at_the_start() {
    let mut harness = Harness::start().await;
    harness.restart().await;
    assert!(!harness.has_image(2), "the first one is new");
    harness.age_first_image();
    harness.restart().await;
    assert!(harness.has_image(4));
    harness.restart().await;
    assert!(!harness.has_image(6), "the second one is new");
    harness.node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_edits_make_an_image_old() {
    let mut harness = Harness::with(&[("dfs.namenode.checkpoint.txns", "3")]).await;
    harness.restart().await;
    assert!(!harness.has_image(2));
    harness.restart().await;
    assert!(harness.has_image(4));
    harness.node.stop().await;
}

/// What was there was enough to start with, so an image that cannot be written is no reason not to.
#[tokio::test(flavor = "multi_thread")]
async fn an_image_that_cannot_be_replaced_stays() {
    let mut harness = Harness::start().await;
    harness.node.stop().await;
    harness.age_first_image();
    let unfinished = harness.name_file("fsimage.ckpt_0000000000000000002");
    fs::create_dir(&unfinished).unwrap();
    harness.node = NameNode::start(harness.conf.clone()).await.unwrap();
    assert!(!harness.has_image(2) && harness.has_image(0));
    fs::remove_dir(&unfinished).unwrap();
    harness.restart().await;
    assert!(harness.has_image(4));
    harness.node.stop().await;
}

/// Edits come, and images follow without anybody's asking; what they make superfluous goes, and a restart finds everything.
#[tokio::test(flavor = "multi_thread")]
async fn images_are_saved_while_it_serves_and_edits_do_not_grow_without_bound() {
    let mut harness = Harness::with(&[
        ("dfs.namenode.checkpoint.txns", "20"),
        ("dfs.namenode.checkpoint.check.period", "1"),
        ("dfs.namenode.num.extra.edits.retained", "0"),
    ])
    .await;
    let client = harness.superuser();
    let count = |prefix: &str| {
        let entries = fs::read_dir(harness.name_file("")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(prefix) && !name.ends_with(".md5")).count()
    };
    let newest = || harness.name_file("fsimage_0000000000000000000").exists();
    let mut made = 0;
    // The first image goes when two later ones are there.
    until("the first image to go", async || {
        for _ in 0..25 {
            let q = mkdirs(&format!("/d{made}"));
            assert!(call::<MkdirsResponseProto>(&client, "mkdirs", q).await.result);
            made += 1;
        }
        !newest()
    })
    .await;
    assert_eq!(count("fsimage_"), 2);
    until("purged segments", async || count("edits_") <= 3).await;
    let jmx = harness.page("/jmx?qry=Hadoop:service=NameNode,name=FSNamesystem").await;
    assert!(!jmx.contains("\"LastCheckpointTime\":0"), "{jmx}");
    harness.restart().await;
    let client = harness.superuser();
    for n in 0..made {
        assert!(status(&client, &format!("/d{n}")).await.is_some(), "/d{n}");
    }
    harness.node.stop().await;
}

/// By the number of edits alone, with no image due.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_segment_ends_by_itself() {
    let harness = Harness::with(&[
        ("dfs.namenode.checkpoint.txns", "1000000"),
        ("dfs.namenode.edit.log.autoroll.multiplier.threshold", "0.00001"),
        ("dfs.namenode.edit.log.autoroll.check.interval.ms", "20"),
    ])
    .await;
    let client = harness.superuser();
    for n in 0..12 {
        let q = mkdirs(&format!("/d{n}"));
        assert!(call::<MkdirsResponseProto>(&client, "mkdirs", q).await.result);
    }
    let first = harness.name_file("edits_inprogress_0000000000000000001");
    until("the end of the segment", async || !first.exists()).await;
    assert!(harness.has_image(0) && !harness.has_image(14));
    harness.node.stop().await;
}

/// The edits on disk are gone, the namespace is whole: an image of it is what the operator wants.
#[tokio::test(flavor = "multi_thread")]
async fn an_image_is_saved_from_memory_when_the_disk_has_lost_edits() {
    let mut harness = Harness::start().await;
    let client = harness.superuser();
    let _: MkdirsResponseProto = call(&client, "mkdirs", mkdirs("/kept")).await;
    let rolled: RollEditsResponseProto = call(&client, "rollEdits", RollEditsRequestProto {}).await;
    let segment = format!("edits_{:019}-{:019}", 1, rolled.new_segment_tx_id - 1);
    fs::remove_file(harness.name_file(&segment)).unwrap();
    let enter = SetSafeModeRequestProto {
        action: SafeModeActionProto::SafemodeEnter.into(),
        ..Default::default()
    };
    let _: SetSafeModeResponseProto = call(&client, "setSafeMode", enter).await;
    let q = SaveNamespaceRequestProto::default();
    assert!(call::<SaveNamespaceResponseProto>(&client, "saveNamespace", q).await.saved());
    harness.restart().await;
    assert!(status(&harness.superuser(), "/kept").await.is_some());
    harness.node.stop().await;
}

/// Too little room for edits is no reason to end.
#[tokio::test(flavor = "multi_thread")]
async fn a_nearly_full_edits_disk_means_safe_mode() {
    let harness = Harness::with(&[
        ("dfs.namenode.resource.du.reserved", "1000000000000000000"),
        ("dfs.namenode.resource.check.interval", "20"),
    ])
    .await;
    let client = harness.superuser();
    until("safe mode", async || harness.node.is_in_safe_mode()).await;
    let refused = client.call::<_, MkdirsResponseProto>("mkdirs", &mkdirs("/d")).await.unwrap_err();
    let text = format!("{refused:?}");
    assert!(text.contains("Resources are low on NN."), "{text}");
    assert!(status(&client, "/").await.is_some());
    harness.node.stop().await;
}
