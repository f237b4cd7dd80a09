//! Hedged reads of a DataNode that answers when a test says so.

use super::*;
use crate::fixture::{Cluster, DataNode, bytes_of, located, replica};
use crate::read::HedgedReads;
use crate::types::OpenOptions;
use std::time::Duration;
use zerohop_system::clock;

/// Two blocks, and two DataNodes that have both or, if `has` names none, neither. A second one is asked at once.
struct Fixture {
    cluster: Cluster,
    file: Arc<File>,
    second: Arc<DataNode>,
}

impl Fixture {
    fn new(pool_size: &str, has: &[i64]) -> Self {
        let settings = [
            ("dfs.client.hedged.read.threadpool.size", pool_size),
            ("dfs.client.hedged.read.threshold.millis", "1"),
        ];
        let blocks = vec![located(1, 0, 100), located(2, 100, 100)];
        let cluster = Cluster::with_file(&settings, blocks, has);
        let second = DataNode::start(has);
        for block in cluster.blocks.lock().iter_mut() {
            block.replicas.push(second.replica());
        }
        let opening = File::open(&cluster.client, "/f".to_owned(), OpenOptions::default());
        let file = Arc::new(cluster.client.wait(opening).unwrap());
        Self { cluster, file, second }
    }

    fn read(&self, offset: u64, len: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        let read = self.file.read_at(offset, &mut bytes)?;
        bytes.truncate(read);
        Ok(bytes)
    }

    fn counts(&self) -> (u64, u64, u64) {
        let HedgedReads { ops, wins, ops_in_current_thread } = self.hedge().snapshot();
        (ops, wins, ops_in_current_thread)
    }

    fn hedge(&self) -> &Hedge {
        self.cluster.client.hedge.as_ref().unwrap()
    }

    /// Until no attempt has a thread any more.
    fn wait_all_free(&self, count: usize) {
        let begun = clock::now();
        while self.hedge().free() < count {
            assert!(clock::since(begun) < Duration::from_secs(30), "an attempt still waits");
            std::thread::yield_now();
        }
    }
}

/// Runs `work` when a DataNode has a request.
fn when_asked(node: &Arc<DataNode>, work: impl FnOnce() + Send + 'static) {
    let node = Arc::clone(node);
    std::thread::spawn(move || {
        while node.asked() == 0 {
            std::thread::yield_now();
        }
        work();
    });
}

/// Has a DataNode answer only when another one has a request, so that this one is not overtaken before it was asked.
fn answer_when_asked(fast: &Arc<DataNode>, slow: &Arc<DataNode>) {
    fast.close();
    let fast = Arc::clone(fast);
    when_asked(slow, move || fast.open());
}

/// What the first DataNode does not answer the second one does. The first one is not at fault, and is not waited
/// for: its connection is shut down, else the thread would sit there until the socket's timeout.
#[test]
fn a_read_is_as_fast_as_the_faster_of_two_datanodes() {
    let fixture = Fixture::new("2", &[1, 2]);
    let first = &fixture.cluster.datanode;
    first.close();
    answer_when_asked(&fixture.second, first);
    assert_eq!(fixture.read(10, 50).unwrap(), bytes_of(1, 10..60));
    assert_eq!(fixture.counts(), (1, 1, 0));
    fixture.wait_all_free(2);
    assert_eq!((first.asked(), fixture.second.asked()), (1, 1));
    assert!(!fixture.file.dead.contains(&first.replica().node));
    assert_eq!(fixture.file.statistics().failovers, 0);
    // It is asked first again, and answers.
    first.open();
    assert_eq!(fixture.read(60, 40).unwrap(), bytes_of(1, 60..100));
    assert_eq!(first.asked(), 2);
}

/// Each block has a race of its own; where the file ends, the read does.
#[test]
fn a_read_of_several_blocks_is_hedged_in_each() {
    let fixture = Fixture::new("8", &[1, 2]);
    fixture.cluster.datanode.close();
    let all = [bytes_of(1, 30..100), bytes_of(2, 0..100)].concat();
    assert_eq!(fixture.read(30, 500).unwrap(), all);
    assert_eq!(fixture.counts(), (2, 2, 0));
    assert!(fixture.read(200, 1).unwrap().is_empty());
}

#[test]
fn tasks_hedge_their_reads() {
    let fixture = Fixture::new("2", &[1, 2]);
    fixture.cluster.datanode.close();
    let opening = File::open(&fixture.cluster.client, "/f".to_owned(), OpenOptions::default());
    let file = TaskFile::new(fixture.cluster.client.wait(opening).unwrap());
    let read = fixture.cluster.client.wait(file.read_at(110, 20)).unwrap();
    assert_eq!(read, bytes_of(2, 10..30));
    assert_eq!(fixture.counts(), (1, 1, 0));
}

#[test]
fn the_first_datanode_may_still_be_the_faster_one() {
    let fixture = Fixture::new("2", &[1, 2]);
    let first = Arc::clone(&fixture.cluster.datanode);
    first.close();
    fixture.second.close();
    when_asked(&fixture.second, move || first.open());
    assert_eq!(fixture.read(0, 100).unwrap(), bytes_of(1, 0..100));
    assert_eq!(fixture.counts(), (1, 0, 0));
}

#[test]
fn a_block_with_one_replica_is_not_hedged() {
    let fixture = Fixture::new("2", &[1, 2]);
    let first = Arc::clone(&fixture.cluster.datanode);
    fixture.file.dead.add(&fixture.second.replica().node);
    first.close();
    when_asked(&Arc::clone(&first), move || first.open());
    assert_eq!(fixture.read(0, 100).unwrap(), bytes_of(1, 0..100));
    assert_eq!((fixture.counts(), fixture.second.asked()), ((0, 0, 0), 0));
}

#[test]
fn reads_without_a_place_in_the_pool_wait_for_their_datanode() {
    let fixture = Fixture::new("1", &[1, 2]);
    let first = Arc::clone(&fixture.cluster.datanode);
    first.close();
    let taken = fixture.hedge().permit().unwrap();
    when_asked(&Arc::clone(&first), move || first.open());
    assert_eq!(fixture.read(0, 100).unwrap(), bytes_of(1, 0..100));
    assert_eq!((fixture.counts(), fixture.second.asked()), ((0, 0, 1), 0));
    // The first attempt takes the only place: the second one reads instead of the caller, who waits.
    drop(taken);
    fixture.cluster.datanode.close();
    assert_eq!(fixture.read(0, 100).unwrap(), bytes_of(1, 0..100));
    assert_eq!(fixture.counts(), (1, 1, 2));
    fixture.wait_all_free(1);
}

/// The NameNode is asked again as often as without hedged reads, and each DataNode is.
#[test]
fn where_both_datanodes_fail_the_read_goes_on_as_any_other() {
    let tried = |pool_size| {
        let fixture = Fixture::new(pool_size, &[]);
        let error = fixture.read(0, 100).unwrap_err().to_string();
        assert!(error.starts_with("Could not obtain block"), "{error}");
        (fixture.cluster.datanode.asked(), fixture.second.asked())
    };
    let unhedged = tried("0");
    assert_eq!((tried("2"), unhedged), (unhedged, (4, 4)));
}

/// One that cannot be reached fails at once; the second attempt is for those that are slow.
#[test]
fn a_hedged_read_leaves_out_what_the_first_attempt_has_tried() {
    let fixture = Fixture::new("2", &[1, 2]);
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let third = DataNode::start(&[1, 2]);
    let (slow, fast) = (&fixture.second, &third);
    slow.close();
    answer_when_asked(fast, slow);
    let replicas = vec![replica(u32::from(gone.port())), slow.replica(), fast.replica()];
    fixture.cluster.blocks.lock()[0].replicas = replicas;
    fixture.cluster.client.wait(fixture.file.relocate(0)).unwrap();
    assert_eq!(fixture.read(0, 100).unwrap(), bytes_of(1, 0..100));
    // On a busy machine the second attempt may take the slow one before the first has found that one is gone.
    assert_eq!(fixture.counts().0, 1);
    assert_eq!((slow.asked(), fast.asked()), (1, 1));
}

/// A task that is given up ends the attempts of its read.
#[test]
fn a_read_that_nobody_waits_for_has_no_threads() {
    let fixture = Fixture::new("2", &[1, 2]);
    fixture.cluster.datanode.close();
    fixture.second.close();
    let file = Arc::clone(&fixture.file);
    let client = Arc::clone(&fixture.cluster.client);
    let reading = client.runtime.spawn(async move {
        HedgedRead::begin(&file, true).unwrap().read_at(0, &mut [0; 100]).await
    });
    while fixture.second.asked() == 0 {
        std::thread::yield_now();
    }
    assert_eq!(fixture.hedge().free(), 0);
    reading.abort();
    fixture.wait_all_free(2);
}
