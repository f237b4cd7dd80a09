//! Lists from a NameNode that the test plays.

use super::*;
use axum::http::{Method, StatusCode};
use bytes::Bytes;
use prost::Message;
use std::sync::Arc;
use zerohop_client::{LocalAnswer, LocalNameNode};
use zerohop_proto::hdfs::*;

/// A directory that is deleted after the first page of its list.
struct NameNode;

impl LocalNameNode for NameNode {
    fn call(&self, method: &'static str, request: Bytes) -> LocalAnswer {
        assert_eq!(method, "getListing");
        let asked: GetListingRequestProto = zerohop_proto::decode(request).unwrap();
        let entry =
            HdfsFileStatusProto { path: b"a".to_vec().into(), ..HdfsFileStatusProto::default() };
        let page = DirectoryListingProto { partial_listing: vec![entry], remaining_entries: 5 };
        let dir_list = asked.start_after.is_empty().then_some(page);
        let answer = GetListingResponseProto { dir_list };
        Box::pin(std::future::ready(Ok(answer.encode_to_vec().into())))
    }
}

fn fs() -> FileSystem {
    let builder = FileSystem::builder().conf(zerohop_conf::Conf::new()).user("ann");
    builder.name_node("hdfs://127.0.0.1:1").build_within(Arc::new(NameNode)).unwrap()
}

#[tokio::test]
async fn a_list_that_is_streamed_fails_where_its_directory_is_gone() {
    let mut pages = fs().list_pages("/d").unwrap();
    let first = pages.next().await.unwrap().unwrap();
    let all: Vec<_> = Box::pin(entries(first, pages)).collect().await;
    assert!(matches!(&all[..], [Ok(entry), Err(_)] if entry.path == "/d/a"), "{all:?}");
}

#[tokio::test]
async fn the_next_batch_of_a_directory_that_is_gone_is_not_empty() {
    for (after, is_there) in [("", true), ("&startAfter=a", false)] {
        let uri = format!("/webhdfs/v1/d?op=LISTSTATUS_BATCH{after}").parse().unwrap();
        let request = Request::of_httpfs(&Method::GET, &uri).unwrap();
        match answer(&fs(), &request).await {
            Ok(answer) => assert!(is_there && answer.unwrap().status() == StatusCode::OK),
            Err(failure) => {
                assert!(!is_there && failure.to_string().contains("does not exist"));
            }
        }
    }
}
