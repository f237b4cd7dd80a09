//! Calls that open and close a file for writing, given up or refused: no lease is left, and no failure is forgotten.

use super::*;
use crate::error::ErrorKind;
use crate::fixture::Cluster;
use crate::fs::FileSystem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::sync::watch;
use zerohop_proto::hdfs::*;
use zerohop_transport::rpc::Reply;
use zerohop_wire::JavaException;

/// A NameNode whose answers to create and append wait for a word.
struct World {
    cluster: Cluster,
    calls: Arc<Mutex<Vec<String>>>,
    may_answer: watch::Sender<bool>,
}

#[derive(Clone, Copy, Default)]
struct Answers {
    complete_fails: bool,
    is_erasure_coded: bool,
}

impl World {
    fn new(may_answer: bool, answers: Answers) -> Self {
        let (may_answer, waits) = watch::channel(may_answer);
        let calls: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = Arc::clone(&calls);
        let cluster = Cluster::answering(move |method, _| {
            if method != "renewLease" {
                heard.lock().push(method.to_owned());
            }
            let reply = answer(method, answers);
            let mut waits = waits.clone();
            match reply {
                Reply::Now(reply) if matches!(method, "create" | "append") => {
                    Reply::later(async move {
                        waits.wait_for(|may_answer| *may_answer).await.unwrap();
                        reply
                    })
                }
                other => other,
            }
        });
        Self { cluster, calls, may_answer }
    }

    fn fs(&self) -> FileSystem {
        FileSystem { client: Arc::clone(&self.cluster.client) }
    }

    fn calls(&self) -> Vec<String> {
        self.calls.lock().clone()
    }

    async fn until(&self, calls: &[&str]) {
        while self.calls() != calls {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

fn answer(method: &str, answers: Answers) -> Reply {
    let mut status = HdfsFileStatusProto {
        blocksize: Some(128 << 20),
        block_replication: Some(1),
        file_id: Some(7),
        ..Default::default()
    };
    if answers.is_erasure_coded {
        status.ec_policy = Some(ErasureCodingPolicyProto { id: 1, ..Default::default() });
    }
    match method {
        "create" => Reply::message(&CreateResponseProto { fs: Some(status) }),
        "append" => Reply::message(&AppendResponseProto { stat: Some(status), block: None }),
        "complete" if answers.complete_fails => Reply::exception(JavaException::Io.with("no")),
        "complete" => Reply::message(&CompleteResponseProto { result: true }),
        "renewLease" => Reply::message(&RenewLeaseResponseProto::default()),
        other => panic!("{other}"),
    }
}

async fn open(fs: FileSystem, method: &str) -> Result<FileWriter> {
    match method {
        "create" => fs.create("/f", CreateOptions::default()).await,
        _ => fs.append("/f", AppendOptions::default()).await,
    }
}

/// Records a wake-up.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

/// The NameNode had made or opened the file for a caller that was gone: its lease was nobody's, and was renewed with those of
/// the client's other files.
#[tokio::test]
async fn an_open_that_is_given_up_leaves_no_lease_and_the_next_one_waits_for_its_end() {
    for method in ["create", "append"] {
        let world = World::new(false, Answers::default());
        let mut first = Box::pin(open(world.fs(), method));
        assert!(futures_util::poll!(first.as_mut()).is_pending());
        world.until(&[method]).await;
        drop(first);
        let mut next = Box::pin(open(world.fs(), method));
        assert!(futures_util::poll!(next.as_mut()).is_pending());
        // A call that is dropped while it waits for its turn sends nothing.
        assert!(futures_util::poll!(Box::pin(open(world.fs(), method))).is_pending());
        world.may_answer.send(true).unwrap();
        let mut writer = next.await.unwrap();
        assert_eq!(world.calls(), [method, "complete", method]);
        writer.close().await.unwrap();
        assert_eq!(world.calls(), [method, "complete", method, "complete"]);
    }
}

/// The caller is gone before it takes the writer from the task that made it.
#[tokio::test]
async fn an_open_that_is_given_up_after_its_answer_leaves_no_lease() {
    for method in ["create", "append"] {
        let world = World::new(false, Answers::default());
        let (mut opening, woken) = (Box::pin(open(world.fs(), method)), Arc::<Woken>::default());
        let waker = Waker::from(Arc::clone(&woken));
        assert!(opening.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        world.may_answer.send(true).unwrap();
        while !woken.0.load(Ordering::Acquire) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(world.calls(), [method]);
        drop(opening);
        world.until(&[method, "complete"]).await;
    }
}

/// The NameNode had opened the file before it was refused here.
#[tokio::test]
async fn a_file_that_cannot_be_written_is_closed() {
    let answers = Answers { is_erasure_coded: true, ..Answers::default() };
    for method in ["create", "append"] {
        let world = World::new(true, answers);
        let refused = open(world.fs(), method).await.err().unwrap();
        assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused}");
        assert_eq!(world.calls(), [method, "complete"]);
    }
}

#[tokio::test]
async fn a_close_after_one_that_failed_fails_as_well() {
    let world = World::new(true, Answers { complete_fails: true, ..Answers::default() });
    let mut writer = open(world.fs(), "create").await.unwrap();
    let first = writer.close().await.unwrap_err().to_string();
    assert_eq!(writer.close().await.unwrap_err().to_string(), first);
    assert_eq!(AsyncWriteExt::shutdown(&mut writer).await.unwrap_err().to_string(), first);
    assert_eq!(world.calls(), ["create", "complete"]);
    let client = Arc::clone(&world.cluster.client);
    let blocking = move || {
        let writer = client
            .wait(Writer::create(&client, "/g".to_owned(), &CreateOptions::default()))
            .map(|inner| move || inner.close())
            .unwrap();
        [writer(), writer()].map(|closed| closed.unwrap_err().to_string())
    };
    let [one, two] = tokio::task::spawn_blocking(blocking).await.unwrap();
    assert_eq!((one.as_str(), two.as_str()), (first.as_str(), first.as_str()));
}

/// Ends after the caller has given up, as what was written before does.
#[tokio::test]
async fn a_close_that_is_given_up_completes_the_file_and_the_next_one_waits_for_it() {
    let world = World::new(true, Answers { complete_fails: true, ..Answers::default() });
    let mut writer = open(world.fs(), "create").await.unwrap();
    assert!(futures_util::poll!(Box::pin(writer.close())).is_pending());
    world.until(&["create", "complete"]).await;
    assert!(writer.close().await.is_err());
    assert_eq!(world.calls(), ["create", "complete"]);
}
