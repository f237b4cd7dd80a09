//! What a JournalNode fetches from the others: two real JournalNodes, and the syncer of a third one. Segments hold three
//! transactions each.

use super::*;
use crate::fixture::{Caller, info, open};
use crate::node::JournalNode;
use crate::settings::Settings;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;
use zerohop_conf::Conf;

const LAYOUT: i32 = -67;

/// A journal with these finalized segments, and one in progress from transaction 31 on; all before it is committed.
fn make_journal(root: &Path, firsts: &[i64]) {
    let mut journal = open(root);
    journal.format(info(), false).unwrap();
    journal.new_epoch(&info(), 1).unwrap();
    let mut writer = Caller::new(1);
    for &first in firsts.iter().chain(&[31]) {
        journal.start_segment(writer.request(), TxId(first), LAYOUT).unwrap();
        journal.write(&[writer.write(first, first, first + 2)]).remove(0).unwrap();
        if first != 31 {
            journal.finalize(writer.request(), TxId(first), TxId(first + 2)).unwrap();
        }
    }
    let request = crate::calls::RequestInfo { committed: Some(30), ..writer.request() };
    journal.check(request).unwrap();
}

/// Directories of JournalNodes with the journals that are given to each.
struct Disks {
    directory: TempDir,
}

impl Disks {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn path(&self, node: &str) -> PathBuf {
        self.directory.path().join(node)
    }

    fn conf(&self, node: &str) -> Conf {
        let mut conf = Conf::new();
        conf.set("dfs.journalnode.edits.dir", self.path(node).display().to_string());
        conf.set("dfs.journalnode.rpc-address", "127.0.0.1:0");
        conf.set("dfs.journalnode.http-address", "127.0.0.1:0");
        conf.set("dfs.namenode.rpc-address", "127.0.0.1:8020");
        conf
    }

    fn with(&self, node: &str, journal: &str, firsts: &[i64]) -> &Self {
        make_journal(&self.path(node).join(journal), firsts);
        self
    }

    async fn start(&self, node: &str) -> JournalNode {
        JournalNode::start(Arc::new(self.conf(node))).await.unwrap()
    }

    /// The syncer of a JournalNode that listens on `own`.
    fn syncer(&self, node: &str, own: &str, shared: &[(&str, &str)]) -> Syncer {
        let mut conf = self.conf(node);
        let services: Vec<&str> = shared.iter().map(|(service, _)| *service).collect();
        conf.set("dfs.nameservices", services.join(","));
        for (service, uri) in shared {
            conf.set(&format!("dfs.namenode.shared.edits.dir.{service}"), *uri);
        }
        let journals = Arc::new(Journals::new(Settings::from_conf(&conf).unwrap()));
        journals.open_existing().unwrap();
        Syncer::new(journals, own.parse().unwrap(), ClientOptions::from_conf(&conf).unwrap())
    }
}

/// The first transactions of the finalized segments of a journal.
async fn firsts(syncer: &Syncer, journal: &str) -> Vec<i64> {
    let journal = syncer.journals.get(journal, None).unwrap();
    let manifest = journal.worker.run(|journal| journal.manifest(TxId(0), false)).await.unwrap();
    assert!(manifest.segments.iter().all(|state| state.last.0 == state.first.0 + 2));
    manifest.segments.iter().map(|state| state.first.0).collect()
}

async fn sync(syncer: &Syncer, journal: &str, other: &JournalNode) -> Result<usize> {
    let journal = syncer.journals.get(journal, None).unwrap();
    syncer.sync_with(&journal, &other.rpc_addr().to_string()).await
}

#[tokio::test]
async fn all_segments_that_were_missed_are_fetched_at_once_and_the_open_one_is_not() {
    let disks = Disks::new();
    disks.with("own", "ns", &[1]).with("other", "ns", &[1, 4, 7, 10, 13]);
    let other = disks.start("other").await;
    let syncer = disks.syncer("own", "127.0.0.1:1", &[]);
    assert_eq!(sync(&syncer, "ns", &other).await.unwrap(), 4);
    assert_eq!(firsts(&syncer, "ns").await, [1, 4, 7, 10, 13]);
    let current = |node: &str| disks.path(node).join("ns/current");
    for name in
        ["edits_0000000000000000004-0000000000000000006", "edits_inprogress_0000000000000000031"]
    {
        let read = |node: &str| std::fs::read(current(node).join(name)).unwrap();
        assert_eq!(read("own"), read("other"), "{name}");
    }
    assert_eq!(sync(&syncer, "ns", &other).await.unwrap(), 0, "nothing is fetched twice");
    let left = std::fs::read_dir(disks.path("own").join("ns").join(FETCHED)).unwrap().count();
    assert_eq!(left, 0);
}

/// Neither JournalNode has all: what lies before, between and behind is taken from each.
#[tokio::test]
async fn gaps_are_filled_from_one_journal_node_after_the_other() {
    let disks = Disks::new();
    disks.with("own", "ns", &[4, 13]).with("one", "ns", &[7, 10]).with("two", "ns", &[1, 4, 10]);
    let (one, two) = (disks.start("one").await, disks.start("two").await);
    let syncer = disks.syncer("own", "127.0.0.1:1", &[]);
    assert_eq!(sync(&syncer, "ns", &one).await.unwrap(), 2);
    assert_eq!(firsts(&syncer, "ns").await, [4, 7, 10, 13]);
    assert_eq!(sync(&syncer, "ns", &two).await.unwrap(), 1);
    assert_eq!(firsts(&syncer, "ns").await, [1, 4, 7, 10, 13]);
}

#[tokio::test]
async fn a_journal_node_that_is_down_or_has_another_cluster_changes_nothing() {
    let disks = Disks::new();
    disks.with("own", "ns", &[1]).with("other", "elsewhere", &[1, 4]);
    let other = disks.start("other").await;
    let syncer = disks.syncer("own", "127.0.0.1:1", &[]);
    assert!(sync(&syncer, "ns", &other).await.is_err(), "it has no journal of that name");
    other.stop().await;
    let journal = syncer.journals.get("ns", None).unwrap();
    assert!(syncer.sync_with(&journal, "127.0.0.1:1").await.is_err());
    assert_eq!(firsts(&syncer, "ns").await, [1]);
}

/// The journals of two name services have the same JournalNodes, with a third one that is down.
#[tokio::test]
async fn each_journal_is_compared_in_turn_with_all_the_others() {
    let disks = Disks::new();
    disks.with("own", "a", &[1]).with("own", "b", &[4]);
    disks.with("one", "a", &[1, 4]).with("one", "b", &[1, 4]);
    disks.with("two", "a", &[7]).with("two", "b", &[7, 10]);
    let (one, two) = (disks.start("one").await, disks.start("two").await);
    // Itself is among them, and nobody answers there.
    let nodes = format!("127.0.0.1:1;{};127.0.0.1:2;{}", one.rpc_addr(), two.rpc_addr());
    let uri = |journal: &str| format!("qjournal://{nodes}/{journal}");
    let syncer = disks.syncer("own", "127.0.0.1:1", &[("a", &uri("a")), ("b", &uri("b"))]);
    let journals = Arc::clone(&syncer.journals);
    let runs = tokio::spawn(async move { match syncer.run(Duration::from_millis(5)).await {} });
    let have_all = async |journal: &str, wanted: &[i64]| loop {
        let open = journals.get(journal, None).unwrap();
        let manifest = open.worker.run(|journal| journal.manifest(TxId(0), false)).await.unwrap();
        let firsts: Vec<i64> = manifest.segments.iter().map(|state| state.first.0).collect();
        if firsts == wanted {
            return;
        }
        tokio::task::yield_now().await;
    };
    let both = async {
        have_all("a", &[1, 4, 7]).await;
        have_all("b", &[1, 4, 7, 10]).await;
    };
    tokio::time::timeout(Duration::from_secs(60), both).await.expect("all is fetched");
    runs.abort();
}

#[test]
fn a_journal_node_does_not_ask_itself() {
    let disks = Disks::new();
    let nodes = "qjournal://127.0.0.1:8485;127.0.0.1:8486;127.0.0.2:8485/ns";
    let others = |own: &str| disks.syncer("own", own, &[("ns", nodes)]).others("ns");
    assert_eq!(others("127.0.0.1:8485"), ["127.0.0.1:8486", "127.0.0.2:8485"]);
    // All addresses of this machine are its own where it listens on all.
    assert_eq!(others("0.0.0.0:8485"), ["127.0.0.1:8486"]);
    assert_eq!(others("127.0.0.1:1").len(), 3);
    assert!(disks.syncer("own", "127.0.0.1:1", &[("ns", nodes)]).others("unknown").is_empty());
}
