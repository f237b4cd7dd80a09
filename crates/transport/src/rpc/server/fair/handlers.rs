//! The call queue of a server, and the threads that take calls from it.

use super::options::FairOptions;
use super::queue::FairQueue;
use super::scheduler::Scheduler;
use crate::rpc::server::activity::RunningCall;
use crate::rpc::server::panic::caught;
use crate::rpc::server::service::{CallContext, LaterReply, Reply, RpcService};
use bytes::Bytes;
use parking_lot::{Condvar, Mutex};
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;
use tokio::sync::oneshot;
use zerohop_system::clock;
use zerohop_wire::JavaException;

/// A call on its way to a handler.
pub(in crate::rpc::server) struct QueuedCall {
    pub(in crate::rpc::server) service: Arc<dyn RpcService>,
    pub(in crate::rpc::server) context: CallContext,
    pub(in crate::rpc::server) method: String,
    pub(in crate::rpc::server) param: Bytes,
    pub(in crate::rpc::server) running: Arc<RunningCall>,
}

struct Waiting {
    call: QueuedCall,
    level: usize,
    since: Instant,
    reply: oneshot::Sender<Reply>,
}

struct State {
    scheduler: Scheduler,
    queue: FairQueue<Waiting>,
    is_closed: bool,
}

/// Calls that wait for a handler.
pub(in crate::rpc::server) struct CallQueue {
    state: Mutex<State>,
    arrived: Condvar,
}

/// Whether there is a place for one more call of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rpc::server) struct Place {
    /// There is.
    pub(in crate::rpc::server) has_room: bool,
    /// Calls of his priority take too long: with backoff they are refused.
    pub(in crate::rpc::server) is_too_slow: bool,
    /// He has the lowest priority.
    pub(in crate::rpc::server) is_last: bool,
}

impl CallQueue {
    pub(in crate::rpc::server) fn new(options: &FairOptions, capacity: usize) -> Self {
        let queue = FairQueue::new(capacity, &options.weights, &options.capacity_weights);
        let scheduler = Scheduler::new(options.clone(), clock::now());
        Self {
            state: Mutex::new(State { scheduler, queue, is_closed: false }),
            arrived: Condvar::new(),
        }
    }

    /// Calls that wait for a handler.
    pub(in crate::rpc::server) fn len(&self) -> usize {
        self.state.lock().queue.len()
    }

    /// What a call of this user would find.
    pub(in crate::rpc::server) fn place_for(&self, user: &str) -> Place {
        let mut state = self.state.lock();
        let level = state.scheduler.level(user, clock::now());
        Place {
            has_room: state.queue.has_room(level),
            is_too_slow: state.scheduler.is_too_slow(level),
            is_last: level > 0 && state.scheduler.is_lowest(level),
        }
    }

    /// Queues a call, beyond the capacity too; the answer comes when a handler has carried it out.
    pub(in crate::rpc::server) fn push(&self, call: QueuedCall) -> LaterReply {
        let (reply, answered) = oneshot::channel();
        let since = clock::now();
        let mut state = self.state.lock();
        let level = state.scheduler.level(call.context.identity.user(), since);
        state.queue.push(level, Waiting { call, level, since, reply });
        drop(state);
        self.arrived.notify_one();
        Box::pin(async move {
            match answered.await {
                Ok(reply) => reply.answer().await,
                Err(_) => Err(JavaException::Retriable.with("the server is stopping")),
            }
        })
    }

    /// The next call; none when the queue is closed.
    fn pop(&self) -> Option<Waiting> {
        let mut state = self.state.lock();
        loop {
            if state.is_closed {
                return None;
            }
            match state.queue.pop() {
                // The connection is closed: the answer is not wanted any more.
                Some(waiting) if waiting.reply.is_closed() => {}
                Some(waiting) => return Some(waiting),
                None => self.arrived.wait(&mut state),
            }
        }
    }

    fn serve(&self) {
        while let Some(Waiting { call, level, since, reply }) = self.pop() {
            let user = Arc::clone(call.context.identity.user());
            call.running.started();
            let span = call.running.span();
            let carry_out = || call.service.call(call.context, &call.method, call.param);
            let answer = span.in_scope(|| caught(carry_out));
            call.running.served();
            self.state.lock().scheduler.count(&user, level, clock::since(since));
            _ = reply.send(answer.unwrap_or_else(Reply::exception));
        }
    }

    fn close(&self) {
        self.state.lock().is_closed = true;
        self.arrived.notify_all();
    }
}

/// The threads; when this is dropped they end after the call that each is at.
pub(in crate::rpc::server) struct Handlers {
    queue: Arc<CallQueue>,
    threads: Vec<JoinHandle<()>>,
}

impl Handlers {
    /// Starts `count` threads. Runs inside a tokio runtime: services may use it.
    pub(in crate::rpc::server) fn start(
        name: &str,
        queue: &Arc<CallQueue>,
        count: usize,
    ) -> io::Result<Self> {
        let mut handlers = Self { queue: Arc::clone(queue), threads: Vec::with_capacity(count) };
        for _ in 0..count.max(1) {
            let (queue, runtime) = (Arc::clone(queue), tokio::runtime::Handle::current());
            let thread = std::thread::Builder::new().name(format!("RPC handler {name}"));
            handlers.threads.push(thread.spawn(move || {
                let _entered = runtime.enter();
                queue.serve();
            })?);
        }
        Ok(handlers)
    }

    /// Lets the threads end, and gives them to the caller to wait for.
    pub(in crate::rpc::server) fn close(mut self) -> Vec<JoinHandle<()>> {
        self.queue.close();
        std::mem::take(&mut self.threads)
    }
}

impl Drop for Handlers {
    fn drop(&mut self) {
        self.queue.close();
    }
}
