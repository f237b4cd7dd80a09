//! Streams of listings, from a NameNode that the test plays: two names a page.

use super::*;
use crate::fixture::Cluster;
use futures_util::{StreamExt, TryStreamExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use zerohop_proto::hdfs::hdfs_file_status_proto::FileType;
use zerohop_proto::hdfs::*;
use zerohop_transport::rpc::Reply;
use zerohop_wire::JavaException;

/// The directories and what they hold; a name that ends with a slash is a directory's.
const TREE: [(&str, &[&str]); 4] = [
    ("/", &["a/", "b", "c/", "d", "gone/"]),
    ("/a", &["x", "y/", "z"]),
    ("/a/y", &[]),
    ("/c", &["denied/"]),
];

fn status(name: &str) -> HdfsFileStatusProto {
    let kind = if name.ends_with('/') { FileType::IsDir } else { FileType::IsFile };
    HdfsFileStatusProto {
        file_type: kind.into(),
        path: name.trim_end_matches('/').as_bytes().to_vec().into(),
        ..HdfsFileStatusProto::default()
    }
}

fn answer(asked: &GetListingRequestProto) -> Reply {
    if asked.src.ends_with("denied") {
        return Reply::exception(JavaException::AccessControl.with("Permission denied"));
    }
    let after = String::from_utf8(asked.start_after.to_vec()).unwrap();
    let Some((_, names)) = TREE.iter().find(|(path, _)| *path == asked.src) else {
        return Reply::message(&GetListingResponseProto { dir_list: None });
    };
    let left: Vec<&str> =
        names.iter().copied().filter(|name| name.trim_end_matches('/') > after.as_str()).collect();
    let page = DirectoryListingProto {
        partial_listing: left.iter().take(2).map(|name| status(name)).collect(),
        remaining_entries: left.len().saturating_sub(2) as u32,
    };
    Reply::message(&GetListingResponseProto { dir_list: Some(page) })
}

/// A file system, and how many pages were asked for.
fn start() -> (Cluster, FileSystem, Arc<AtomicUsize>) {
    let pages = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&pages);
    let cluster = Cluster::answering(move |method, param| {
        assert_eq!(method, "getListing");
        asked.fetch_add(1, Ordering::SeqCst);
        answer(&zerohop_proto::decode(param).unwrap())
    });
    let fs = FileSystem { client: Arc::clone(&cluster.client) };
    (cluster, fs, pages)
}

#[tokio::test]
async fn pages_are_fetched_as_the_stream_goes_on() {
    let (_cluster, fs, pages) = start();
    let mut entries = fs.entries("/");
    assert_eq!(pages.load(Ordering::SeqCst), 0);
    let mut seen = Vec::new();
    for (path, asked) in [("/a", 1), ("/b", 1), ("/c", 2), ("/d", 2), ("/gone", 3)] {
        seen.push(entries.try_next().await.unwrap().unwrap().path);
        assert_eq!((seen.last().unwrap().as_str(), pages.load(Ordering::SeqCst)), (path, asked));
    }
    assert!(entries.next().await.is_none() && entries.next().await.is_none());
    let listed: Vec<String> = fs.list("/").await.unwrap().into_iter().map(|e| e.path).collect();
    assert_eq!(listed, seen);
    for (path, kind) in [("/none", ErrorKind::NotFound), ("x", ErrorKind::Invalid)] {
        let mut entries = fs.entries(path);
        assert_eq!(entries.next().await.unwrap().unwrap_err().kind(), kind);
        assert!(entries.next().await.is_none(), "ended");
    }
}

#[tokio::test]
async fn a_walk_goes_into_directories_until_an_error() {
    let (_cluster, fs, _) = start();
    let below_a: Vec<FileStatus> = fs.walk("/a").try_collect().await.unwrap();
    let paths: Vec<&str> = below_a.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(paths, ["/a/x", "/a/y", "/a/z"]);
    let all: Vec<Result<FileStatus>> = fs.walk("/").collect().await;
    let (last, good) = all.split_last().unwrap();
    let paths: Vec<&str> = good.iter().map(|entry| entry.as_ref().unwrap().path.as_str()).collect();
    assert_eq!(paths, ["/a", "/a/x", "/a/y", "/a/z", "/b", "/c", "/c/denied"]);
    assert_eq!(last.as_ref().unwrap_err().kind(), ErrorKind::Denied);
}

/// Another client deletes a directory that was listed already: the walk continues behind it.
#[tokio::test]
async fn a_directory_that_was_deleted_meanwhile_is_passed_over() {
    let (_cluster, fs, _) = start();
    let mut walk = fs.walk("/");
    walk.listings.push(Entries::new(&fs, "/gone"));
    assert_eq!(walk.next().await.unwrap().unwrap().path, "/a");
    let mut root = fs.walk("/gone");
    assert_eq!(root.next().await.unwrap().unwrap_err().kind(), ErrorKind::NotFound);
}

/// A directory that was deleted or renamed between two pages used to end there without an error, so that `distcp -delete`
/// removed files of the target. A file that replaces the directory lists itself.
#[tokio::test]
async fn a_directory_that_goes_between_two_pages_has_not_ended() {
    for taken_by_file in [false, true] {
        let pages = Arc::new(AtomicUsize::new(0));
        let asked = Arc::clone(&pages);
        let cluster = Cluster::answering(move |_, param| {
            let request: GetListingRequestProto = zerohop_proto::decode(param).unwrap();
            match (asked.fetch_add(1, Ordering::SeqCst) % 2, taken_by_file) {
                (0, _) => answer(&request),
                (_, false) => Reply::message(&GetListingResponseProto { dir_list: None }),
                (_, true) => Reply::message(&GetListingResponseProto {
                    dir_list: Some(DirectoryListingProto {
                        partial_listing: vec![status("")],
                        remaining_entries: 0,
                    }),
                }),
            }
        });
        let fs = FileSystem { client: Arc::clone(&cluster.client) };
        let is_gone = |error: Error| {
            let text = error.to_string();
            assert_eq!(error.kind(), ErrorKind::NotFound, "{text}");
            assert_eq!(text, "File / does not exist.");
        };
        is_gone(fs.list("/").await.unwrap_err());
        is_gone(fs.located_list("/").await.unwrap_err());
        let mut listed = fs.entries("/");
        assert!(listed.next().await.unwrap().is_ok() && listed.next().await.unwrap().is_ok());
        is_gone(listed.next().await.unwrap().unwrap_err());
        let mut walk = fs.walk("/");
        walk.listings.push(Entries::new(&fs, "/"));
        assert!(walk.next().await.unwrap().is_ok(), "/a");
        walk.listings.truncate(2);
        assert!(walk.next().await.unwrap().is_ok(), "/b");
        is_gone(walk.next().await.unwrap().unwrap_err());
        let mut pages = fs.list_pages("/").unwrap();
        assert!(pages.next().await.unwrap().is_some());
        is_gone(pages.next().await.unwrap_err());
        assert!(pages.has_more(), "asked again");
    }
}

/// A dropped or failed call used to end the list.
#[tokio::test]
async fn a_page_that_was_dropped_or_failed_is_asked_for_again() {
    let fails = Arc::new(AtomicUsize::new(0));
    let failing = Arc::clone(&fails);
    let cluster = Cluster::answering(move |_, param| {
        if failing.swap(0, Ordering::SeqCst) > 0 {
            return Reply::exception(JavaException::AccessControl.with("Permission denied"));
        }
        answer(&zerohop_proto::decode(param).unwrap())
    });
    let fs = FileSystem { client: Arc::clone(&cluster.client) };
    let mut pages = fs.list_pages("/").unwrap();
    let mut seen = Vec::new();
    while pages.has_more() {
        {
            let mut dropped = std::pin::pin!(pages.next());
            let polled = poll_fn(|cx| Poll::Ready(dropped.as_mut().poll(cx))).await;
            assert!(polled.is_pending());
        }
        fails.store(1, Ordering::SeqCst);
        // The dropped question may be the one that meets the failure.
        let page = match pages.next().await {
            Ok(page) => page,
            Err(_) => pages.next().await.unwrap(),
        };
        fails.store(0, Ordering::SeqCst);
        seen.extend(page.unwrap().into_iter().map(|entry| entry.path));
    }
    assert!(pages.next().await.unwrap().is_none());
    assert_eq!(seen, ["/a", "/b", "/c", "/d", "/gone"]);
}

#[tokio::test]
async fn a_page_says_how_many_names_come_after_it() {
    let (_cluster, fs, _) = start();
    let mut pages = fs.list_pages("/").unwrap();
    let mut remaining = Vec::new();
    while pages.next().await.unwrap().is_some() {
        remaining.push(pages.remaining());
    }
    assert_eq!(remaining, [3, 1, 0]);
}
