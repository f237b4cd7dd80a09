//! Calls that wait for a report which is on its way.

use crate::harness::*;
use zerohop_proto::hdfs::*;

/// A NameNode that holds calls for longer than any test may take: who gets an answer was woken.
async fn patient() -> Harness {
    Harness::with(&[("zerohop.namenode.report.wait.max.ms", "600000")]).await
}

fn add_block(path: &str, previous: &ExtendedBlockProto) -> AddBlockRequestProto {
    AddBlockRequestProto {
        src: path.into(),
        client_name: "test".into(),
        previous: Some(previous.clone()),
        ..AddBlockRequestProto::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn complete_is_held_until_the_report_that_is_on_its_way() {
    let harness = patient().await;
    let client = harness.superuser();
    let datanode = join(&harness).await;
    let block = written_block(&client, "/f").await;
    let waiting = tokio::spawn({
        let (client, q) = (client.clone(), complete("/f", &block));
        async move { call::<CompleteResponseProto>(&client, "complete", q).await }
    });
    // Another call of the same client goes through meanwhile: the held one blocks nobody.
    assert!(status(&client, "/f").await.is_some());
    datanode.received(&block, 10).await;
    assert!(waiting.await.unwrap().result);
    assert_eq!(status(&client, "/f").await.unwrap().length, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn complete_without_a_report_says_no_in_the_end() {
    let harness = Harness::start().await;
    let client = harness.superuser();
    let _datanode = join(&harness).await;
    let block = written_block(&client, "/f").await;
    let answer: CompleteResponseProto = call(&client, "complete", complete("/f", &block)).await;
    assert!(!answer.result);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_block_waits_for_the_report_of_the_one_before() {
    let harness = patient().await;
    let client = harness.superuser();
    let datanode = join(&harness).await;
    let block = written_block(&client, "/f").await;
    let q = add_block("/f", &block);
    let (next, ()) = tokio::join!(
        call::<AddBlockResponseProto>(&client, "addBlock", q),
        datanode.received(&block, 10)
    );
    assert_ne!(next.block.b.block_id, block.block_id);
}

/// A file with two blocks, of which no report has come.
async fn two_blocks(
    client: &zerohop_transport::rpc::RpcClient,
    path: &str,
) -> [ExtendedBlockProto; 2] {
    let first = written_block(client, path).await;
    let next = call::<AddBlockResponseProto>(client, "addBlock", add_block(path, &first)).await;
    [first, ExtendedBlockProto { num_bytes: Some(10), ..next.block.b }]
}

/// A third block needs the first one's report, which is not the block that the call names.
#[tokio::test(flavor = "multi_thread")]
async fn the_block_that_lacks_replicas_is_waited_for() {
    let harness = patient().await;
    let client = harness.superuser();
    let datanode = join(&harness).await;
    let [first, second] = two_blocks(&client, "/f").await;
    let waiting = tokio::spawn({
        let (client, q) = (client.clone(), add_block("/f", &second));
        async move { call::<AddBlockResponseProto>(&client, "addBlock", q).await }
    });
    assert!(status(&client, "/f").await.is_some());
    datanode.received(&first, 10).await;
    assert_ne!(waiting.await.unwrap().block.b.block_id, second.block_id);
}

#[tokio::test(flavor = "multi_thread")]
async fn complete_waits_for_one_block_after_the_other() {
    let harness = patient().await;
    let client = harness.superuser();
    let datanode = join(&harness).await;
    let [first, second] = two_blocks(&client, "/f").await;
    let waiting = tokio::spawn({
        let (client, q) = (client.clone(), complete("/f", &second));
        async move { call::<CompleteResponseProto>(&client, "complete", q).await }
    });
    assert!(status(&client, "/f").await.is_some());
    datanode.received(&first, 10).await;
    datanode.received(&second, 10).await;
    assert!(waiting.await.unwrap().result);
}
