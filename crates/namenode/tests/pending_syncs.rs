//! Syncs of the edit log as futures: on runtimes of one thread they are woken through one task.

use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use zerohop_journal::image::{ImageWriter, SectionName};
use zerohop_journal::op::{AllowSnapshot, EditOp};
use zerohop_journal::types::RpcIds;
use zerohop_namenode::storage::*;
use zerohop_proto::hdfs::fsimage::NameSystemSection;

/// Longer than any sync takes: a sync that is never woken must not hang the test.
const LIMIT: Duration = Duration::from_secs(30);

fn log() -> (TempDir, EditLog) {
    let root = tempfile::tempdir().unwrap();
    let config = StorageConfig::new(vec![root.path().join("name")]);
    let write = |_: &StorageInfo, image: &mut ImageWriter<'_>| {
        image.message(&NameSystemSection { transaction_id: Some(0), ..Default::default() })?;
        image.end(SectionName::NsInfo)?;
        Ok(())
    };
    NameStorage::format(config.clone(), FormatOptions::default(), write).unwrap();
    let storage = NameStorage::open(config).map(Arc::new).unwrap();
    (root, EditLog::start(storage, 1, |_| {}).unwrap())
}

fn edit(log: &EditLog, path: &str) -> PendingSync {
    let op: EditOp = AllowSnapshot { root: path.to_owned() }.into();
    log.log([(&op, &RpcIds::NONE)])
}

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

async fn synced(sync: PendingSync) -> Result<(), JournalFailed> {
    tokio::time::timeout(LIMIT, sync.synced()).await.expect("it was never woken")
}

/// Many tasks, each with one edit after the other, and an end for all.
async fn many_tasks(log: Arc<EditLog>) {
    let mut tasks = JoinSet::new();
    for task in 0..16 {
        let log = Arc::clone(&log);
        tasks.spawn(async move {
            for n in 0..50 {
                synced(edit(&log, &format!("/{task}/{n}"))).await.unwrap();
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
}

#[test]
fn pending_syncs_wake_their_tasks_on_every_kind_of_runtime() {
    let (_root, log) = log();
    let log = Arc::new(log);
    one_thread().block_on(many_tasks(Arc::clone(&log)));
    let several = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    several.block_on(many_tasks(Arc::clone(&log)));
    assert_eq!(log.stats().synced_txid, log.stats().last_txid);
    assert!(log.stats().syncs < log.stats().transactions, "{:?}", log.stats());
}

/// The second runtime finds what the first one left on the thread.
#[test]
fn a_thread_may_have_one_runtime_after_the_other() {
    let (_root, log) = log();
    for path in ["/first", "/second"] {
        one_thread().block_on(async { synced(edit(&log, path)).await.unwrap() });
        edit(&log, "/blocking").wait().unwrap();
    }
}

/// A thread may wait although a task of its own would have to run first.
#[test]
fn a_wait_that_blocks_the_runtime_ends() {
    let (_root, log) = log();
    one_thread().block_on(async {
        synced(edit(&log, "/relayed")).await.unwrap();
        edit(&log, "/blocking").wait().unwrap();
    });
}

/// What a thread does next (a long block report) must not hold up what others have logged.
#[test]
fn a_busy_thread_holds_up_no_others_edits() {
    let (_root, log) = log();
    let log = Arc::new(log);
    one_thread().block_on(async { synced(edit(&log, "/idle")).await.unwrap() });
    one_thread().block_on(async {
        let mine = edit(&log, "/mine");
        let other = std::thread::spawn({
            let log = Arc::clone(&log);
            move || one_thread().block_on(async { synced(edit(&log, "/others")).await })
        });
        // This thread runs no task meanwhile.
        other.join().unwrap().unwrap();
        synced(mine).await.unwrap();
    });
}

#[test]
fn a_failure_reaches_the_tasks_that_wait() {
    let (root, log) = log();
    one_thread().block_on(async {
        synced(edit(&log, "/a")).await.unwrap();
        std::fs::remove_dir_all(root.path().join("name/current")).unwrap();
        // The next segment has no directory.
        let (_, rolled) = log.roll();
        let late = edit(&log, "/b");
        assert!(synced(rolled).await.is_err());
        assert!(synced(late).await.is_err());
        assert!(synced(edit(&log, "/c")).await.is_err());
    });
}
