//! Archives of a tree that the test's NameNode plays.

use super::*;
use axum::body::to_bytes;
use axum::http::Method;
use futures_util::future::{Either, select};
use prost::Message;
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use zerohop_client::{LocalAnswer, LocalNameNode};
use zerohop_proto::hdfs::hdfs_file_status_proto::FileType;
use zerohop_proto::hdfs::*;
use zerohop_system::clock;

const LIMIT: Duration = Duration::from_secs(20);
const NAME_LEN: usize = 200;

/// A NameNode with the directory `/d`, which holds two others.
struct NameNode;

fn directory(name: &str) -> HdfsFileStatusProto {
    HdfsFileStatusProto {
        file_type: FileType::IsDir.into(),
        path: name.as_bytes().to_vec().into(),
        owner: "ann".to_owned(),
        group: "staff".to_owned(),
        ..HdfsFileStatusProto::default()
    }
}

fn names() -> [String; 2] {
    ["a".to_owned(), "b".repeat(NAME_LEN)]
}

impl LocalNameNode for NameNode {
    fn call(&self, method: &'static str, request: Bytes) -> LocalAnswer {
        let answer = match method {
            "getFileInfo" => GetFileInfoResponseProto { fs: Some(directory("")) }.encode_to_vec(),
            "getListing" => {
                let request: GetListingRequestProto = zerohop_proto::decode(request).unwrap();
                let all = names().map(|name| directory(&name)).into();
                let entries = if request.src == "/d" { all } else { Vec::new() };
                let list = DirectoryListingProto { partial_listing: entries, remaining_entries: 0 };
                GetListingResponseProto { dir_list: Some(list) }.encode_to_vec()
            }
            other => panic!("{other} was called"),
        };
        Box::pin(std::future::ready(Ok(answer.into())))
    }
}

/// A caller that stopped reading kept a thread of the pool that also serves `/health`.
#[test]
fn an_archive_held_a_blocking_thread_until_its_caller_had_read_it() {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.max_blocking_threads(1).enable_all().build().unwrap();
    let (go_on, gate) = mpsc::channel::<()>();
    let archive = runtime.block_on(async {
        // The only thread is taken.
        tokio::task::spawn_blocking(move || gate.recv());
        let builder = FileSystem::builder().conf(zerohop_conf::Conf::new()).user("ann");
        let fs = builder.name_node("hdfs://127.0.0.1:1").build_within(Arc::new(NameNode)).unwrap();
        let uri = "/webhdfs/v1/d?op=GETARCHIVE".parse().unwrap();
        let request = Request::of_httpfs(&Method::GET, &uri).unwrap();
        let body = async {
            let response = get(&fs, &request).await.unwrap();
            to_bytes(response.into_body(), usize::MAX).await.unwrap()
        };
        match select(pin!(body), pin!(clock::sleep(LIMIT))).await {
            Either::Left((archive, _)) => Some(archive),
            Either::Right(_) => None,
        }
    });
    drop(go_on);
    let archive = archive.expect("the archive waits for a thread");
    assert!(archive.len().is_multiple_of(BLOCK) && archive.ends_with(&[0; 2 * BLOCK]));
    let mut archive = tar::Archive::new(archive.as_ref());
    let entries = archive.entries().unwrap().map(|entry| {
        let entry = entry.unwrap();
        assert_eq!(entry.header().entry_type(), EntryType::Directory);
        entry.path().unwrap().display().to_string()
    });
    assert_eq!(entries.collect::<Vec<_>>(), names().map(|name| format!("{name}/")));
}
