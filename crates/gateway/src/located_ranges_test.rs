//! A file of many blocks, from a NameNode that the test plays.

use super::*;
use axum::http::Method;
use bytes::Bytes;
use futures_util::StreamExt;
use prost::Message;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use zerohop_client::{LocalAnswer, LocalNameNode};
use zerohop_proto::hdfs::*;

const BLOCK_LEN: u64 = 1 << 20;
const BLOCKS: u64 = 4096;
/// Number of blocks that one answer may have: more would be in memory at once.
const AT_ONCE_MAX: usize = 1025;

/// A NameNode with a file that is being written: its last block is empty so far.
#[derive(Default)]
struct NameNode {
    calls: AtomicUsize,
    /// Increment of the block ids, and number of blocks, after the first answer: another file has taken the path.
    other: Option<(u64, u64)>,
    most: AtomicUsize,
}

fn block(number: u64) -> LocatedBlockProto {
    LocatedBlockProto {
        b: ExtendedBlockProto {
            pool_id: "BP-1".to_owned(),
            block_id: 1000 + number,
            generation_stamp: 1,
            num_bytes: Some(if number < BLOCKS { BLOCK_LEN } else { 0 }),
        },
        offset: number * BLOCK_LEN,
        ..LocatedBlockProto::default()
    }
}

/// Returns the blocks of a range as `BlockManager.createLocatedBlocks` does.
fn blocks(offset: u64, len: u64) -> Vec<LocatedBlockProto> {
    let first = offset / BLOCK_LEN;
    if first >= BLOCKS {
        return Vec::new();
    }
    let end = offset.saturating_add(len);
    (first..=BLOCKS)
        .take_while(|number| *number == first || number * BLOCK_LEN < end)
        .map(block)
        .collect()
}

struct Calls(Arc<NameNode>);

impl LocalNameNode for Calls {
    fn call(&self, method: &'static str, request: Bytes) -> LocalAnswer {
        assert_eq!(method, "getBlockLocations");
        let asked: GetBlockLocationsRequestProto = zerohop_proto::decode(request).unwrap();
        let mut blocks = blocks(asked.offset, asked.length);
        let is_first = self.0.calls.fetch_add(1, Ordering::Relaxed) == 0;
        if let Some((higher, count)) = self.0.other.filter(|_| !is_first) {
            blocks.retain(|block| block.offset < count * BLOCK_LEN);
            blocks.iter_mut().for_each(|block| block.b.block_id += higher);
        }
        self.0.most.fetch_max(blocks.len(), Ordering::Relaxed);
        let located = LocatedBlocksProto {
            file_length: BLOCKS * BLOCK_LEN,
            blocks,
            under_construction: true,
            last_block: Some(block(BLOCKS)),
            is_last_block_complete: false,
            ..LocatedBlocksProto::default()
        };
        let answer = GetBlockLocationsResponseProto { locations: Some(located) };
        Box::pin(std::future::ready(Ok(answer.encode_to_vec().into())))
    }
}

/// Returns the numbers of the blocks in the answer to a query, and the NameNode with its counts.
async fn numbers(query: &str) -> (Vec<u64>, Arc<NameNode>) {
    let namenode = Arc::new(NameNode::default());
    let mut members = members(query, &namenode).await;
    let mut numbers = Vec::new();
    while let Some(member) = members.next().await {
        numbers.push(member.unwrap().as_u64().unwrap());
    }
    (numbers, namenode)
}

async fn members(query: &str, namenode: &Arc<NameNode>) -> Members {
    let builder = FileSystem::builder().conf(zerohop_conf::Conf::new()).user("ann");
    let builder = builder.name_node("hdfs://127.0.0.1:1");
    let fs = builder.build_within(Arc::new(Calls(Arc::clone(namenode)))).unwrap();
    let uri = format!("/webhdfs/v1/f?op=GET_BLOCK_LOCATIONS{query}").parse().unwrap();
    let request = Request::of_httpfs(&Method::GET, &uri).unwrap();
    let ranges = LocatedRanges::begin(&fs, &request).await.unwrap();
    assert_eq!(ranges.first().file_len, BLOCKS * BLOCK_LEN);
    ranges.members(|block| (block.block.block.id.0 - 1000).into())
}

/// A file that replaced the listed one used to continue the list, or to end it early.
#[tokio::test]
async fn blocks_of_two_files_are_not_listed_as_one() {
    for other in [(100_000, BLOCKS), (0, 1000)] {
        let namenode = Arc::new(NameNode { other: Some(other), ..NameNode::default() });
        let mut members = members("", &namenode).await;
        let mut count = 0;
        let failure = loop {
            match members.next().await.expect("not the end") {
                Ok(_) => count += 1,
                Err(failure) => break failure,
            }
        };
        assert_eq!(count, 1024, "the first range");
        assert!(failure.to_string().contains("changed while its blocks were listed"), "{failure}");
    }
}

#[tokio::test]
async fn all_blocks_of_a_file_were_in_memory_at_once() {
    let (all, namenode) = numbers("").await;
    assert_eq!(all, (0..=BLOCKS).collect::<Vec<_>>(), "each once, and the empty one");
    let most = namenode.most.load(Ordering::Relaxed);
    assert!(most <= AT_ONCE_MAX, "{most} blocks in an answer");
    assert!(namenode.calls.load(Ordering::Relaxed) <= 6, "{:?}", namenode.calls);
}

#[tokio::test]
async fn a_range_has_the_blocks_that_one_answer_would_have() {
    for (offset, len) in [
        (0, 1),
        (0, BLOCK_LEN),
        (BLOCK_LEN / 2, 1 << 30),
        (3 * BLOCK_LEN - 1, (1 << 31) + 1),
        (0, BLOCKS * BLOCK_LEN),
        (7, BLOCKS * BLOCK_LEN),
        (BLOCKS * BLOCK_LEN - 1, u64::MAX >> 1),
        (BLOCKS * BLOCK_LEN, 1),
        (BLOCKS * BLOCK_LEN + 5, 1 << 40),
    ] {
        let (found, _) = numbers(&format!("&offset={offset}&length={len}")).await;
        let expected: Vec<u64> =
            blocks(offset, len).iter().map(|block| block.offset / BLOCK_LEN).collect();
        assert_eq!(found, expected, "{offset}, {len}");
    }
}
