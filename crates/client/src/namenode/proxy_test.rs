//! Calls while the active state moves from one NameNode to another.

use super::proxy::{CLIENT_PROTOCOL, NameNode, connect};
use super::target::Target;
use bytes::Bytes;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_conf::Conf;
use zerohop_proto::common::HaServiceStateProto;
use zerohop_proto::hdfs::{
    GetFileInfoRequestProto, GetFileInfoResponseProto, HaServiceStateResponseProto,
    MkdirsRequestProto, MkdirsResponseProto, MsyncResponseProto,
};
use zerohop_transport::login::User;
use zerohop_transport::rpc::server::no_such_method;
use zerohop_transport::rpc::{CallContext, Reply, RpcServer, RpcService, ServerOptions};
use zerohop_wire::JavaException;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Is {
    Active,
    Standby,
    Observer,
    /// Reads requests and answers none.
    Frozen,
}

struct State {
    is: Is,
    /// Each call with its id and how often it was sent.
    calls: Vec<(String, i32, i32)>,
}

#[derive(Clone)]
struct Answers(Arc<Mutex<State>>);

struct FakeNameNode {
    server: RpcServer,
    answers: Answers,
}

impl FakeNameNode {
    async fn start(is: Is) -> Self {
        let options = ServerOptions::from_conf(&Conf::new(), 0, 1).unwrap();
        let server = RpcServer::bind("127.0.0.1:0".parse().unwrap(), options).unwrap();
        let answers = Answers(Arc::new(Mutex::new(State { is, calls: Vec::new() })));
        server.register(Arc::new(answers.clone()));
        server.start().unwrap();
        Self { server, answers }
    }

    fn become_(&self, is: Is) {
        self.answers.0.lock().is = is;
    }

    /// The methods that were called, states left out.
    fn called(&self) -> Vec<String> {
        self.answers.0.lock().calls.iter().map(|(method, ..)| method.clone()).collect()
    }
}

impl RpcService for Answers {
    fn protocol(&self) -> &'static str {
        CLIENT_PROTOCOL
    }

    fn version(&self) -> u64 {
        1
    }

    fn call(self: Arc<Self>, context: CallContext, method: &str, _: Bytes) -> Reply {
        let mut state = self.0.lock();
        if state.is == Is::Frozen {
            return Reply::later(std::future::pending());
        }
        if method == "getHAServiceState" {
            let said = match state.is {
                Is::Active => HaServiceStateProto::Active,
                Is::Observer => HaServiceStateProto::Observer,
                Is::Standby | Is::Frozen => HaServiceStateProto::Standby,
            };
            return Reply::message(&HaServiceStateResponseProto { state: said.into() });
        }
        state.calls.push((method.to_owned(), context.ids.call_id, context.retry_count));
        let is_answered =
            state.is == Is::Active || (state.is == Is::Observer && method == "getFileInfo");
        if !is_answered {
            return Reply::exception(JavaException::Standby.with("not here"));
        }
        match method {
            "mkdirs" => Reply::message(&MkdirsResponseProto { result: true }),
            "getFileInfo" => Reply::message(&GetFileInfoResponseProto { fs: None }),
            "msync" => Reply::message(&MsyncResponseProto {}),
            _ => Reply::exception(no_such_method(CLIENT_PROTOCOL, method)),
        }
    }
}

/// A client of the two in this order.
fn client(first: &FakeNameNode, second: &FakeNameNode, settings: &[(&str, &str)]) -> NameNode {
    client_of(&[first, second], settings)
}

fn client_of(namenodes: &[&FakeNameNode], settings: &[(&str, &str)]) -> NameNode {
    let mut conf = Conf::new();
    conf.set("dfs.nameservices", "ns");
    let ids = ["a", "b", "c", "d"];
    conf.set("dfs.ha.namenodes.ns", ids[..namenodes.len()].join(","));
    for (id, namenode) in ids.iter().zip(namenodes) {
        let address = namenode.server.local_addr().to_string();
        conf.set(&format!("dfs.namenode.rpc-address.ns.{id}"), address);
    }
    conf.set("dfs.client.failover.random.order", "false");
    // Whoever waits for the usual times out does not end in time.
    conf.set("dfs.client.failover.sleep.base.millis", "600000");
    conf.set("dfs.client.failover.sleep.max.millis", "600000");
    for (name, value) in settings {
        conf.set(name, *value);
    }
    let target = Target::find(&conf, Some("hdfs://ns")).unwrap();
    let runtime = tokio::runtime::Handle::current();
    connect(CLIENT_PROTOCOL, &conf, &target, &User::new("u"), &runtime).unwrap()
}

async fn mkdirs(client: &NameNode) -> bool {
    let request = MkdirsRequestProto { create_parent: true, ..MkdirsRequestProto::default() };
    let made = client.call::<_, MkdirsResponseProto>("mkdirs", &request);
    tokio::time::timeout(Duration::from_secs(60), made).await.unwrap().unwrap().result
}

async fn status(client: &NameNode) {
    let request = GetFileInfoRequestProto { src: "/".into() };
    client.call::<_, GetFileInfoResponseProto>("getFileInfo", &request).await.unwrap();
}

/// A client waited for as long as it was told to, though the other NameNode had become active long before.
#[tokio::test]
async fn a_wait_ends_when_a_namenode_becomes_active() {
    let (one, two) =
        (FakeNameNode::start(Is::Standby).await, FakeNameNode::start(Is::Standby).await);
    let client = client(&one, &two, &[]);
    let waiting = tokio::spawn(async move { mkdirs(&client).await });
    while one.called().is_empty() || two.called().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    two.become_(Is::Active);
    assert!(waiting.await.unwrap());
    // The same call under the same id, each time.
    let ids: Vec<i32> = [&one, &two]
        .iter()
        .flat_map(|node| {
            node.answers.0.lock().calls.iter().map(|(_, id, _)| *id).collect::<Vec<_>>()
        })
        .collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

/// With more than two NameNodes a client slept between the second and the third that it asked (HDFS-16514).
#[tokio::test]
async fn a_client_of_four_namenodes_does_not_sleep_on_its_way_to_the_active_one() {
    let three = [Is::Standby, Is::Observer, Is::Observer].map(FakeNameNode::start);
    let three = futures_util::future::join_all(three).await;
    let active = FakeNameNode::start(Is::Active).await;
    let all: Vec<&FakeNameNode> = three.iter().chain([&active]).collect();
    let began = Instant::now();
    assert!(mkdirs(&client_of(&all, &[])).await);
    assert!(began.elapsed() < Duration::from_secs(60));
}

/// A call to a NameNode that was frozen waited for `ipc.client.rpc-timeout.ms`, two minutes.
#[tokio::test]
async fn a_frozen_namenode_that_was_replaced_holds_no_call() {
    let (one, two) = (FakeNameNode::start(Is::Frozen).await, FakeNameNode::start(Is::Active).await);
    let began = Instant::now();
    let client = client(&one, &two, &[("ipc.client.rpc-timeout.ms", "600000")]);
    assert!(mkdirs(&client).await);
    assert!(began.elapsed() < Duration::from_secs(60));
    assert!(mkdirs(&client).await);
    assert_eq!(two.called().len(), 2);
}

#[tokio::test]
async fn with_hedging_the_first_call_goes_to_the_active_one() {
    let (one, two) =
        (FakeNameNode::start(Is::Standby).await, FakeNameNode::start(Is::Active).await);
    let class = "org.apache.hadoop.hdfs.server.namenode.ha.RequestHedgingProxyProvider";
    let client = client(&one, &two, &[("dfs.client.failover.proxy.provider.ns", class)]);
    assert!(mkdirs(&client).await);
    assert_eq!((one.called().len(), two.called().len()), (0, 1));
}

#[tokio::test]
async fn reads_go_to_an_observer_and_writes_to_the_active_one() {
    let (one, two) =
        (FakeNameNode::start(Is::Active).await, FakeNameNode::start(Is::Observer).await);
    let class = "org.apache.hadoop.hdfs.server.namenode.ha.ObserverReadProxyProvider";
    let provider = ("dfs.client.failover.proxy.provider.ns", class);
    let client = client(&one, &two, &[provider]);
    status(&client).await;
    status(&client).await;
    assert!(mkdirs(&client).await);
    assert_eq!(one.called(), ["msync", "mkdirs"]);
    assert_eq!(two.called(), ["getFileInfo", "getFileInfo"]);
    // One that is none any more is not insisted on.
    two.become_(Is::Standby);
    status(&client).await;
    assert_eq!(one.called().last().unwrap(), "getFileInfo");
}

/// HDFS-17030: a read waited for a frozen observer until `ipc.client.rpc-timeout.ms` was over, and the next one again.
#[tokio::test]
async fn hdfs_17030_a_frozen_observer_held_reads() {
    let (one, two) =
        (FakeNameNode::start(Is::Active).await, FakeNameNode::start(Is::Observer).await);
    let class = "org.apache.hadoop.hdfs.server.namenode.ha.ObserverReadProxyProvider";
    let settings = [
        ("dfs.client.failover.proxy.provider.ns", class),
        ("dfs.client.failover.namenode.ha-state.probe.timeout", "200ms"),
        ("ipc.client.rpc-timeout.ms", "600000"),
    ];
    let client = client(&one, &two, &settings);
    status(&client).await;
    assert_eq!(two.called(), ["getFileInfo"]);
    two.become_(Is::Frozen);
    tokio::time::timeout(Duration::from_secs(60), status(&client)).await.unwrap();
    assert_eq!(one.called(), ["msync", "getFileInfo"]);
    // Nobody waits for it again, also when it is back, until observers are looked for again.
    two.become_(Is::Observer);
    status(&client).await;
    assert_eq!((one.called().len(), two.called().len()), (3, 1));
}
