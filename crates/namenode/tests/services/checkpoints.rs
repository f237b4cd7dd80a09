//! Images that are saved at the start because the last one is old.

use crate::harness::*;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use zerohop_namenode::NameNode;

impl Harness {
    fn name_file(&self, name: &str) -> PathBuf {
        self.folder.path().join("name/current").join(name)
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
