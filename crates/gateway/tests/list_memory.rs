//! The memory of an answer with a long list, counted by the allocator.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use futures_util::StreamExt;
use prost::Message;
use std::alloc::{GlobalAlloc, Layout, System};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tower_service::Service;
use zerohop_client::{LocalAnswer, LocalNameNode, User};
use zerohop_conf::Conf;
use zerohop_gateway::{ChosenDatanode, Datanodes, HostNameNode, rest_of_namenode};
use zerohop_pages::Site;
use zerohop_proto::hdfs::hdfs_file_status_proto::FileType;
use zerohop_proto::hdfs::*;
use zerohop_wire::RemoteException;

/// Counts the bytes that are allocated now, and the most there were.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn allocated(len: usize) {
    let now = NOW.fetch_add(len, Ordering::Relaxed) + len;
    PEAK.fetch_max(now, Ordering::Relaxed);
}

// SAFETY: all work is the system allocator's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        allocated(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const ENTRIES: usize = 60_000;
const PAGE: usize = 1_000;
/// Pages that the NameNode gives of `/broken`.
const PAGES_OF_BROKEN: usize = 3;

/// A NameNode with directories of `ENTRIES` files.
struct NameNode;

fn name(number: usize) -> String {
    format!("a-file-with-a-name-of-some-length-{number:06}")
}

fn entry(number: usize) -> HdfsFileStatusProto {
    HdfsFileStatusProto {
        file_type: FileType::IsFile.into(),
        path: name(number).into_bytes().into(),
        owner: "somebody".to_owned(),
        group: "supergroup".to_owned(),
        ..HdfsFileStatusProto::default()
    }
}

fn page(request: &GetListingRequestProto) -> Result<DirectoryListingProto, RemoteException> {
    let after = String::from_utf8_lossy(&request.start_after);
    let first = match after.rsplit_once('-') {
        Some((_, number)) => number.parse::<usize>().unwrap() + 1,
        None => 0,
    };
    if request.src == "/broken" && first >= PAGES_OF_BROKEN * PAGE {
        return Err(RemoteException {
            class: "java.io.IOException".to_owned().into(),
            message: "the list cannot be read on".to_owned(),
        });
    }
    let end = (first + PAGE).min(ENTRIES);
    Ok(DirectoryListingProto {
        partial_listing: (first..end).map(entry).collect(),
        remaining_entries: (ENTRIES - end) as u32,
    })
}

impl LocalNameNode for NameNode {
    fn call(&self, method: &'static str, request: Bytes) -> LocalAnswer {
        assert_eq!(method, "getListing");
        let request: GetListingRequestProto = zerohop_proto::decode(request).unwrap();
        let answer = page(&request)
            .map(|list| GetListingResponseProto { dir_list: Some(list) }.encode_to_vec().into());
        Box::pin(std::future::ready(answer))
    }
}

struct Host;

impl HostNameNode for Host {
    fn calls_of(&self, _: &User, _: IpAddr) -> Arc<dyn LocalNameNode> {
        Arc::new(NameNode)
    }

    fn datanode_for_block(&self, _: IpAddr, _: u64, _: Vec<String>) -> ChosenDatanode {
        Box::pin(std::future::ready(None))
    }

    fn datanodes_in_service(&self, _: Vec<String>) -> Datanodes {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

async fn ask(path_and_query: &str) -> Response {
    let site = || Site { kind: "NameNode", name: String::new(), state: None, nav: Vec::new() };
    let rest = rest_of_namenode(Conf::new(), "127.0.0.1:1".to_owned(), Arc::new(Host), site);
    let uri = format!("/webhdfs/v1{path_and_query}&user.name=u");
    let request = Request::builder().uri(uri).body(Body::empty()).unwrap();
    let mut router = rest.unwrap().unwrap().webhdfs;
    router.call(request).await.unwrap()
}

/// One test: it counts what the whole process allocates.
#[tokio::test]
async fn a_list_of_60000_names_cost_350_mb_and_an_error_in_it_came_too_late() {
    // The first request also allocates what the process keeps.
    drop(ask("/big?op=LISTSTATUS_BATCH").await);
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let response = ask("/big?op=LISTSTATUS").await;
    assert_eq!(response.status(), StatusCode::OK);
    let mut pieces = response.into_body().into_data_stream();
    let (mut names, mut len, mut last) = (0, 0, Bytes::new());
    while let Some(piece) = pieces.next().await {
        let piece = piece.unwrap();
        names += piece.windows(PATH_SUFFIX.len()).filter(|text| *text == PATH_SUFFIX).count();
        len += piece.len();
        last = piece;
    }
    // A name may lie across two pieces.
    assert!(names > ENTRIES - ENTRIES / 10 && names <= ENTRIES, "{names} names");
    assert!(last.ends_with(b"}]}}"), "{}", String::from_utf8_lossy(&last));
    let cost = PEAK.load(Ordering::Relaxed) - before;
    assert!(cost < 4 << 20, "a list of {len} bytes cost {cost} bytes");

    let batch = ask("/big?op=LISTSTATUS_BATCH&startAfter=").await;
    let batch = axum::body::to_bytes(batch.into_body(), usize::MAX).await.unwrap();
    let batch: serde_json::Value = serde_json::from_slice(&batch).unwrap();
    let listing = &batch["DirectoryListing"];
    assert_eq!(listing["remainingEntries"], ENTRIES - PAGE, "it was 1");
    let listed = listing["partialListing"]["FileStatuses"]["FileStatus"].as_array().unwrap();
    assert_eq!(listed.len(), PAGE);
    let after = format!("/big?op=LISTSTATUS_BATCH&startAfter={}", name(ENTRIES - 11));
    let last = axum::body::to_bytes(ask(&after).await.into_body(), usize::MAX).await.unwrap();
    let last: serde_json::Value = serde_json::from_slice(&last).unwrap();
    assert_eq!(last["DirectoryListing"]["remainingEntries"], 0);

    let filtered = ask("/big?op=LISTSTATUS&filter=*-05999?").await;
    let filtered = axum::body::to_bytes(filtered.into_body(), usize::MAX).await.unwrap();
    let filtered: serde_json::Value = serde_json::from_slice(&filtered).unwrap();
    assert_eq!(filtered["FileStatuses"]["FileStatus"].as_array().unwrap().len(), 10);

    let broken = ask("/broken?op=LISTSTATUS").await;
    assert_eq!(broken.status(), StatusCode::OK, "its beginning was sent");
    let broken = axum::body::to_bytes(broken.into_body(), usize::MAX).await.unwrap_err();
    assert!(broken.to_string().contains("cannot be read on"), "{broken}");
}

const PATH_SUFFIX: &[u8] = b"\"pathSuffix\"";
