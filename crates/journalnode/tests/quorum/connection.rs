//! Connections whose calls fail where a plan says so: before or after they were carried out.

use crate::stalled::{FETCHING, from_stalling};
use bytes::Bytes;
use prost::Message;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use zerohop_proto::hdfs::qjournal::AcceptRecoveryRequestProto;
use zerohop_quorum::{Connection, RpcConnection};

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It does not arrive.
    Lost,
    /// It is carried out, and its answer does not arrive.
    AnswerLost,
    /// It fails, and is carried out when another writer has taken over.
    Late,
    /// The JournalNode is started anew before it arrives: what it had in memory is gone.
    Restart,
    /// The call is carried out; if it has the JournalNode fetch a segment, that fails.
    NoFetch,
    /// The call is carried out; if it has the JournalNode fetch a segment, the transfer stalls in mid-body.
    Stalled,
    /// The call hangs until another writer has taken over, and with it all later ones of the same writer. Then it is carried out.
    Hang,
    /// This call and all later ones of the same writer do not arrive.
    Away,
    /// This call, all later ones of the same writer and those of the next two do not arrive.
    Down,
}

impl Fault {
    /// Those that hit one call, whatever it is.
    pub const SINGLE: [Self; 4] = [Self::Lost, Self::AnswerLost, Self::Late, Self::Restart];
    pub const ALL: [Self; 9] = [
        Self::Lost,
        Self::AnswerLost,
        Self::Late,
        Self::Restart,
        Self::NoFetch,
        Self::Stalled,
        Self::Hang,
        Self::Away,
        Self::Down,
    ];
}

/// A fault of one call: the `call`-th to the JournalNode `node`, of all writers together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    pub node: usize,
    pub call: usize,
    pub fault: Fault,
}

/// A call that is carried out later.
struct Late {
    node: usize,
    method: &'static str,
    request: Vec<u8>,
}

/// What all connections of a history share.
pub struct Plan {
    planned: Vec<Planned>,
    state: Mutex<State>,
    taken_over: Condvar,
}

/// A call hangs no longer: the history waits for its end in places.
const HANG_MAX: Duration = Duration::from_millis(200);

struct State {
    /// Calls to each JournalNode so far, by their methods.
    calls: Vec<Vec<&'static str>>,
    /// The writers whose calls do not arrive at each JournalNode any more.
    away: Vec<Range<usize>>,
    /// Number of successful takeovers. A call that hangs ends with the next one.
    takeovers: usize,
    late: Vec<Late>,
    /// Faults that happened, for messages.
    happened: Vec<String>,
}

impl Plan {
    pub fn new(planned: &[Planned], nodes: usize) -> Arc<Self> {
        let state = State {
            calls: vec![Vec::new(); nodes],
            away: vec![0..0; nodes],
            takeovers: 0,
            late: Vec::new(),
            happened: Vec::new(),
        };
        let (planned, state) = (planned.to_vec(), Mutex::new(state));
        Arc::new(Self { planned, state, taken_over: Condvar::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The calls that each JournalNode got, by their methods.
    pub fn calls(&self) -> Vec<Vec<&'static str>> {
        self.state().calls.clone()
    }

    /// The faults that happened.
    pub fn happened(&self) -> Vec<String> {
        self.state().happened.clone()
    }

    /// What happens to the next call of a writer to a JournalNode.
    fn next(&self, writer: usize, node: usize, method: &'static str) -> Option<Fault> {
        let mut state = self.state();
        let call = state.calls[node].len();
        state.calls[node].push(method);
        let planned = self.planned.iter().find(|one| (one.node, one.call) == (node, call));
        let fault = planned.map(|one| one.fault);
        if let Some(fault) = fault {
            state.happened.push(format!("{fault:?}: {method} of writer {writer} to {node}"));
        }
        match fault {
            Some(Fault::Away) => state.away[node] = writer..writer + 1,
            Some(Fault::Down) => state.away[node] = writer..writer + 3,
            _ => {}
        }
        if state.away[node].contains(&writer) { Some(Fault::Lost) } else { fault }
    }

    /// Returns after the next takeover, or when that is too long.
    fn hang(&self) {
        let state = self.state();
        let takeovers = state.takeovers;
        let waits = |state: &mut State| state.takeovers == takeovers;
        drop(self.taken_over.wait_timeout_while(state, HANG_MAX, waits));
    }

    /// Carries out the calls that are late, and ends those that hang, because another writer has taken over.
    pub fn deliver(&self, links: &[Link]) {
        self.state().takeovers += 1;
        self.taken_over.notify_all();
        let late = std::mem::take(&mut self.state().late);
        for Late { node, method, request } in late {
            // Nobody waits for the answer.
            let _ = links[node].rpc.call(method, &request);
        }
    }
}

/// A JournalNode as all writers of a history reach it.
#[derive(Clone)]
pub struct Link {
    pub rpc: Arc<RpcConnection>,
    /// Starts the JournalNode anew.
    pub restart: Arc<dyn Fn() + Send + Sync>,
}

/// A writer's connection to one JournalNode.
pub struct Faulty {
    pub plan: Arc<Plan>,
    pub link: Link,
    pub writer: usize,
    pub node: usize,
}

impl Connection for Faulty {
    fn address(&self) -> &str {
        self.link.rpc.address()
    }

    fn call(&self, method: &'static str, request: &[u8]) -> Result<Bytes, String> {
        // With this one the history waits for all queues: see `History::settle`.
        if method == "isFormatted" {
            return self.link.rpc.call(method, request);
        }
        let fault = self.plan.next(self.writer, self.node, method);
        let failed = |why: &str| Err(format!("{why} ({method})"));
        match fault {
            None => self.link.rpc.call(method, request),
            Some(Fault::Lost | Fault::Away | Fault::Down) => failed("it was not sent"),
            Some(Fault::NoFetch) => self.link.rpc.call(method, &without_source(method, request)),
            Some(Fault::Stalled) => self.link.rpc.call(method, &from_stalling(method, request)),
            Some(Fault::Hang) => {
                self.plan.hang();
                self.link.rpc.call(method, request)
            }
            Some(Fault::AnswerLost) => {
                let _ = self.link.rpc.call(method, request);
                failed("there is no answer")
            }
            Some(Fault::Late) => {
                let late = Late { node: self.node, method, request: request.to_vec() };
                self.plan.state().late.push(late);
                failed("it is late")
            }
            Some(Fault::Restart) => {
                self.link.rpc.disconnect();
                (self.link.restart)();
                self.link.rpc.call(method, request)
            }
        }
    }
}

/// The request, with nobody at the place where a segment is to be fetched.
fn without_source(method: &str, request: &[u8]) -> Vec<u8> {
    if method != FETCHING {
        return request.to_vec();
    }
    let mut request = AcceptRecoveryRequestProto::decode(request).unwrap();
    request.from_url = "http://127.0.0.1:1/".to_owned();
    request.encode_to_vec()
}

/// A reader's connection: to a JournalNode that is left out nothing arrives.
pub struct Reader {
    pub link: Link,
    pub is_left_out: bool,
}

impl Connection for Reader {
    fn address(&self) -> &str {
        self.link.rpc.address()
    }

    fn call(&self, method: &'static str, request: &[u8]) -> Result<Bytes, String> {
        match self.is_left_out {
            true => Err("it is left out".to_owned()),
            false => self.link.rpc.call(method, request),
        }
    }
}
