//! Fair scheduling of calls, from client to client.

use super::*;
use crate::login::User;
use bytes::Bytes;
use parking_lot::Mutex;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use zerohop_conf::Conf;
use zerohop_proto::common::UserInformationProto;
use zerohop_wire::JavaException;

const PROTOCOL: &str = "test.Recorder";

/// Notes who called, in order; `hold` keeps its handler until it is let go.
struct Recorder {
    callers: Mutex<Vec<String>>,
    is_held: AtomicBool,
    gate: Mutex<mpsc::Receiver<()>>,
}

impl RpcService for Recorder {
    fn protocol(&self) -> &'static str {
        PROTOCOL
    }

    fn version(&self) -> u64 {
        1
    }

    fn call(self: Arc<Self>, context: CallContext, method: &str, param: Bytes) -> Reply {
        match method {
            "hold" => {
                self.is_held.store(true, Ordering::Release);
                _ = self.gate.lock().recv();
            }
            "panic" => panic!("as a bug would"),
            _ => self.callers.lock().push(context.identity.user().to_string()),
        }
        Reply::Now(Ok(param))
    }
}

fn server(settings: &[(&str, &str)]) -> (RpcServer, Arc<Recorder>, mpsc::Sender<()>) {
    let mut conf = Conf::new();
    conf.set("ipc.callqueue.impl", "org.apache.hadoop.ipc.FairCallQueue");
    // Nothing decays however slow the machine is.
    conf.set("ipc.decay-scheduler.period-ms", "36000000");
    settings.iter().for_each(|(key, value)| conf.set(key, *value));
    let options = ServerOptions::from_conf(&conf, 0, 1).unwrap();
    let server = RpcServer::bind(SocketAddr::from(([127, 0, 0, 1], 0)), options).unwrap();
    let (open, gate) = mpsc::channel();
    let recorder = Arc::new(Recorder {
        callers: Mutex::default(),
        is_held: AtomicBool::new(false),
        gate: Mutex::new(gate),
    });
    server.register(recorder.clone());
    server.start().unwrap();
    (server, recorder, open)
}

fn client(server: &RpcServer, user: &str) -> Arc<RpcClient> {
    let options = ClientOptions { connect_retries: 0, ..ClientOptions::default() };
    Arc::new(RpcClient::new(server.local_addr(), PROTOCOL, 1, &User::new(user), options))
}

type Answer = Result<UserInformationProto, RpcError>;

fn call(client: &Arc<RpcClient>, method: &'static str) -> tokio::task::JoinHandle<Answer> {
    let client = Arc::clone(client);
    tokio::spawn(async move { client.call(method, &UserInformationProto::default()).await })
}

/// Waits for the condition, and fails if it does not come true.
async fn until(what: &str, is_true: impl Fn() -> bool) {
    let waiting = async {
        while !is_true() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(120), waiting).await.expect(what);
}

async fn until_waiting(server: &RpcServer, count: usize) {
    until("calls wait", || server.waiting_calls() >= count).await;
}

/// Occupies the server's handler. The call has left the queue then, where it would take another one's place.
async fn hold(client: &Arc<RpcClient>, recorder: &Recorder) -> tokio::task::JoinHandle<Answer> {
    let held = call(client, "hold");
    until("the handler holds the call", || recorder.is_held.load(Ordering::Acquire)).await;
    held
}

#[tokio::test]
async fn a_flood_of_calls_of_one_user_does_not_starve_another() {
    let (server, recorder, open) = server(&[]);
    let (flood, light) = (client(&server, "flood"), client(&server, "light"));
    for _ in 0..20 {
        call(&flood, "note").await.unwrap().unwrap();
    }
    recorder.callers.lock().clear();
    let held = hold(&flood, &recorder).await;
    let mut calls: Vec<_> = (0..20).map(|_| call(&flood, "note")).collect();
    until_waiting(&server, 21).await;
    calls.push(call(&light, "note"));
    until_waiting(&server, 22).await;
    open.send(()).unwrap();
    held.await.unwrap().unwrap();
    for answer in calls {
        answer.await.unwrap().unwrap();
    }
    let callers = recorder.callers.lock();
    let place = callers.iter().position(|caller| caller == "light").unwrap();
    assert!(callers.len() == 21 && place <= 4, "{place} calls of the flood came first");
}

/// Only the last priority's users are cut off, as by Apache's server.
#[tokio::test]
async fn with_backoff_a_full_queue_refuses_who_calls_most() {
    let (server, recorder, open) = server(&[
        ("ipc.backoff.enable", "true"),
        ("ipc.server.handler.queue.size", "8"),
        ("ipc.scheduler.priority.levels", "2"),
    ]);
    let flood = client(&server, "flood");
    for _ in 0..5 {
        call(&flood, "note").await.unwrap().unwrap();
    }
    let held = hold(&flood, &recorder).await;
    let light = client(&server, "light");
    let queued = call(&light, "note");
    until_waiting(&server, 2).await;
    let calls: Vec<_> = (0..4).map(|_| call(&flood, "note")).collect();
    until_waiting(&server, 6).await;
    let refused = call(&flood, "note").await.unwrap().unwrap_err();
    assert!(refused.to_string().contains("Server too busy - disconnecting"), "{refused}");
    let also_light = call(&light, "note");
    open.send(()).unwrap();
    queued.await.unwrap().unwrap();
    also_light.await.unwrap().unwrap();
    // The connection of the refused one was closed, with all that it waited for.
    assert!(held.await.unwrap().is_err());
    for answer in calls {
        assert!(answer.await.unwrap().is_err());
    }
}

#[tokio::test]
async fn a_scheduled_call_that_panics_costs_only_itself() {
    let (server, ..) = server(&[]);
    let client = client(&server, "ann");
    let Err(RpcError::Remote(failed)) = call(&client, "panic").await.unwrap() else {
        panic!("no exception")
    };
    assert_eq!(failed.kind(), Some(JavaException::Io));
    call(&client, "note").await.unwrap().unwrap();
    server.stop().await;
}
