//! One connection's task.

use super::alignment::Admission;
use super::budget::CallMemory;
use super::contact::{Contact, Progress};
use super::counters::UserConnection;
use super::dispatch::Services;
use super::fair::Place;
use super::handshake::{Handshake, Step};
use super::intake::{Arrival, Intake};
use super::opening::open;
use super::request;
use super::response::{self, Answered, Failure};
use super::service::{CallContext, Reply};
use super::shared::{Call, Shared};
use super::trace::trace_id;
use super::waiting::Waiting;
use crate::rpc::frame::{self, BadLength};
use crate::rpc::preamble;
use crate::rpc::{spans, special_call};
use bytes::{Bytes, BytesMut};
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::Interval;
use zerohop_proto::common::rpc_request_header_proto::OperationProto;
use zerohop_proto::common::rpc_response_header_proto::{RpcErrorCodeProto, RpcStatusProto};
use zerohop_proto::common::{RpcKindProto, RpcRequestHeaderProto, RpcResponseHeaderProto};
use zerohop_system::clock;
use zerohop_wire::{CallerContext, RemoteException, RpcIds, TraceContext};

/// Largest frame before the connection context: what proves an identity takes a few KB.
const HANDSHAKE_FRAME_LEN_MAX: usize = 64 << 10;
/// Answers are sent before more calls are taken once there are this many bytes of them.
const FLUSH_AT: usize = 1 << 20;

/// Serves a connection until one side closes it.
pub(super) async fn serve(mut stream: TcpStream, remote: SocketAddr, shared: &Arc<Shared>) {
    let contact = Contact::new(clock::now());
    let limit = shared.options.handshake_timeout;
    let auth = match within(limit, open(&mut stream, remote)).await {
        Some(Ok(Some(auth))) => auth,
        Some(Ok(None)) => return,
        Some(Err(error)) => return tracing::debug!("{remote}: {error}"),
        None => return log_closed(shared, remote, "it sent nothing, or took no answer"),
    };
    let services = Arc::clone(&shared.services.lock());
    let mut connection = Connection {
        shared: Arc::clone(shared),
        services,
        remote,
        host: remote.ip().to_canonical().to_string().into(),
        handshake: Handshake::new(auth),
        input: Intake::new(&shared.budget, remote.ip()),
        output: BytesMut::new(),
        waiting: Waiting::new(shared),
        authorizing: None,
        user: None,
        closing: false,
        contact,
    };
    match connection.run(&mut stream).await {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            tracing::warn!("IPC Server on {}: {error} RPC came from {remote}", shared.options.name);
        }
        Err(error) => tracing::debug!("{remote}: {error}"),
    }
}

/// The result of `work`; `None` if it is not there within the limit. Zero is none.
async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    if limit.is_zero() {
        return Some(work.await);
    }
    tokio::time::timeout(limit, work).await.ok()
}

/// Says why a connection was closed; at a limited rate, as every peer can make many.
fn log_closed(shared: &Shared, remote: SocketAddr, reason: &str) {
    shared.counters.dropped_connections.increment();
    if shared.closed.allow() {
        tracing::warn!(
            "IPC Server on {}: closed the connection from {remote}: {reason}",
            shared.options.name
        );
    }
}

/// What a connection's task goes on for.
enum Event {
    /// `output` has answers of calls that waited.
    Answers,
    /// More of a request, or the end.
    Arrived(Arrival),
    /// Time to look whether the connection is idle.
    Scan,
}

type Authorization = Pin<Box<dyn Future<Output = Result<(), RemoteException>> + Send>>;

struct Connection {
    shared: Arc<Shared>,
    services: Arc<Services>,
    remote: SocketAddr,
    host: Arc<str>,
    handshake: Handshake,
    input: Intake,
    output: BytesMut,
    waiting: Waiting,
    /// Says whether a proxy user may act for another; nothing is read meanwhile.
    authorizing: Option<Authorization>,
    /// Counted since it is known who is at the other end.
    user: Option<UserConnection>,
    /// A fatal answer is in `output`; nothing more is read.
    closing: bool,
    contact: Contact,
}

impl Connection {
    async fn run(&mut self, stream: &mut TcpStream) -> io::Result<()> {
        let mut scan = tokio::time::interval(self.shared.options.scan_interval());
        loop {
            let took_all = self.take_frames()?;
            if !self.output.is_empty() {
                // Not write_all_buf: a vectored write of one piece costs more.
                let limit = self.shared.options.unread_timeout;
                let Some(sent) = within(limit, stream.write_all(&self.output)).await else {
                    log_closed(&self.shared, self.remote, "it does not read its answers");
                    return Ok(());
                };
                sent?;
                self.output.clear();
            }
            if self.closing {
                return stream.shutdown().await;
            }
            if let Some(verdict) = self.authorizing.take() {
                let verdict = verdict.await;
                self.authorized(verdict);
                continue;
            }
            if !took_all && !self.must_wait() {
                continue;
            }
            match poll_fn(|context| self.poll_event(context, stream, took_all, &mut scan)).await? {
                Event::Answers => {}
                Event::Arrived(Arrival::End) => return Ok(()),
                Event::Arrived(Arrival::Bytes { is_progress: true }) => {
                    self.contact.heard(clock::now());
                }
                Event::Arrived(Arrival::Bytes { .. } | Arrival::Room) => {}
                Event::Scan if self.is_idle() => return Ok(()),
                Event::Scan => {
                    if let Some(reason) = self.overdue() {
                        log_closed(&self.shared, self.remote, reason);
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Answers first: all those that one wake-up brings leave in one write.
    fn poll_event(
        &mut self,
        context: &mut Context<'_>,
        stream: &mut TcpStream,
        may_read: bool,
        scan: &mut Interval,
    ) -> Poll<io::Result<Event>> {
        while self.output.len() < FLUSH_AT
            && let Poll::Ready((call, result)) = self.waiting.poll_next(context)
        {
            self.answer(call, result);
        }
        if !self.output.is_empty() {
            return Poll::Ready(Ok(Event::Answers));
        }
        if may_read && let Poll::Ready(arrival) = self.input.poll_read(context, stream) {
            return Poll::Ready(arrival.map(Event::Arrived));
        }
        scan.poll_tick(context).map(|_| Ok(Event::Scan))
    }

    /// Serves the calls that have arrived; `false` when some are left because too many wait or too
    /// many answers have piled up.
    fn take_frames(&mut self) -> io::Result<bool> {
        while !self.closing {
            if self.output.len() >= FLUSH_AT || self.must_wait() || self.authorizing.is_some() {
                return Ok(false);
            }
            match self.input.take_frame(self.frame_len_max()) {
                Ok(Some(frame)) => self.serve_frame(frame),
                Ok(None) => return Ok(true),
                Err(bad) => return Err(self.refusal(bad)),
            }
        }
        Ok(true)
    }

    /// Returns the largest frame that the peer may send: a small one until the server knows who it is.
    fn frame_len_max(&self) -> usize {
        let max = self.shared.options.frame_len_max;
        if self.handshake.peer().is_ok() { max } else { max.min(HANDSHAKE_FRAME_LEN_MAX) }
    }

    fn refusal(&self, bad: BadLength) -> io::Error {
        let is_early = bad.length > 0 && self.handshake.peer().is_err();
        let reason = match is_early {
            true => {
                format!("{bad}, which is {HANDSHAKE_FRAME_LEN_MAX} before the connection context.")
            }
            false => bad.to_string(),
        };
        io::Error::new(io::ErrorKind::InvalidData, reason)
    }

    /// Whether the server has too many waiting calls and this connection some of them. One that has
    /// none goes on, else it could wait for ever.
    fn must_wait(&self) -> bool {
        let options = &self.shared.options;
        if options.backoff || self.waiting.is_empty() {
            return false;
        }
        self.is_overloaded() || self.place().is_some_and(|place| !place.has_room)
    }

    /// What this connection's next call finds in the queue, where calls are scheduled.
    fn place(&self) -> Option<Place> {
        let queue = self.shared.queue.as_ref()?;
        Some(queue.place_for(self.handshake.peer().ok()?.identity.user()))
    }

    fn is_overloaded(&self) -> bool {
        // Each user's share of the queue is limited instead.
        self.shared.queue.is_none()
            && self.shared.counters.waiting.load(Ordering::Relaxed)
                >= self.shared.options.waiting_calls_max
    }

    fn is_idle(&self) -> bool {
        let options = &self.shared.options;
        self.waiting.is_empty()
            && self.shared.counters.connections.load(Ordering::Relaxed) > options.idle_threshold
            && self.contact.silence(clock::now()) > options.idle_after
    }

    /// Why this connection has kept the server waiting for too long, if it has.
    fn overdue(&self) -> Option<&'static str> {
        // What is charged is held from others, whatever else the connection waits for.
        let owes_rest = self.waiting.is_empty() || self.input.is_charged() && !self.must_wait();
        let progress = match (self.handshake.peer(), self.input.is_empty()) {
            (Err(_), _) => Progress::Unknown,
            (Ok(_), false) if self.input.is_starved() => Progress::Starved,
            (Ok(_), false) if owes_rest => Progress::PartOfRequest,
            (Ok(_), _) => Progress::WholeRequests,
        };
        self.contact.overdue(clock::now(), progress, &self.shared.options)
    }

    fn serve_frame(&mut self, mut frame: Bytes) {
        let mut call = Answered::unknown();
        if let Err(failure) = self.try_frame(&mut frame, &mut call) {
            self.fail(call, &failure);
        }
    }

    fn fail(&mut self, call: Answered, failure: &Failure) {
        self.count_failure(failure);
        if failure.fatal {
            tracing::warn!(
                "IPC Server on {}: {} from {}",
                self.shared.options.name,
                failure.exception,
                self.remote
            );
            self.closing = true;
        }
        let call = Answered { state_id: self.shared.last_seen(), ..call };
        response::put_failure(&mut self.output, call, failure);
    }

    fn count_failure(&self, failure: &Failure) {
        let counters = &self.shared.counters;
        match failure.detail {
            RpcErrorCodeProto::FatalUnauthorized => counters.authentication_failures.increment(),
            RpcErrorCodeProto::ErrorRpcServer => {
                counters.backoff.increment();
                counters.backoff_disconnected.add(u64::from(failure.fatal));
            }
            _ => {}
        }
    }

    /// Counts a connection when it is known who is at its other end.
    fn count_user(&mut self) {
        if self.user.is_none()
            && let Ok(peer) = self.handshake.peer()
        {
            let counters = &self.shared.counters;
            counters.authentication_successes.increment();
            counters.authorization_successes.increment();
            self.user = Some(counters.count_connection(peer.identity.user()));
        }
    }

    fn authorized(&mut self, verdict: Result<(), RemoteException>) {
        match self.handshake.authorized(verdict) {
            Ok(()) => self.count_user(),
            Err(failure) => {
                self.shared.counters.authorization_failures.increment();
                let call_id = special_call::CONNECTION_CONTEXT;
                self.fail(Answered { call_id, ..Answered::unknown() }, &failure);
            }
        }
    }

    fn try_frame(&mut self, frame: &mut Bytes, call: &mut Answered) -> Result<(), Failure> {
        let header = request::header(frame).map_err(|problem| {
            let message = format!("Error decoding RpcRequestHeaderProto: {problem}");
            Failure::fatal(RpcErrorCodeProto::FatalDeserializingRequest, message)
        })?;
        call.call_id = header.call_id;
        call.retry_count = header.retry_count();
        check_header(&header)?;
        if header.call_id < 0 {
            // Decoding them is not charged.
            if frame.len() > HANDSHAKE_FRAME_LEN_MAX {
                return Err(invalid(format!("{} bytes of handshake", frame.len())));
            }
            return self.serve_special(header.call_id, frame);
        }
        call.client_id = header.client_id.clone();
        self.serve_call(header, frame, call)
    }

    fn serve_special(&mut self, call_id: i32, body: &mut Bytes) -> Result<(), Failure> {
        match self.handshake.step(call_id, body)? {
            Step::Silent => self.count_user(),
            Step::Authorize { real, user } => {
                let (proxies, from) =
                    (Arc::clone(&self.shared.options.proxy_users), self.remote.ip());
                self.authorizing =
                    Some(Box::pin(async move { proxies.authorize(&real, &user, from).await }));
            }
            Step::Sasl(message) => {
                let header = RpcResponseHeaderProto {
                    call_id: special_call::SASL as u32,
                    status: RpcStatusProto::Success.into(),
                    server_ipc_version_num: Some(preamble::VERSION.into()),
                    retry_count: Some(-1),
                    ..Default::default()
                };
                let body = prost::Message::encode_to_vec(&message);
                frame::put(&mut self.output, &header, Some(&body));
            }
        }
        Ok(())
    }

    fn serve_call(
        &mut self,
        header: RpcRequestHeaderProto,
        frame: &mut Bytes,
        call: &Answered,
    ) -> Result<(), Failure> {
        let peer = self.handshake.peer()?;
        if header.rpc_kind != Some(RpcKindProto::RpcProtocolBuffer.into()) {
            let kind = header.rpc_kind.unwrap_or_default();
            return Err(invalid(format!("Unknown rpc kind in rpc header{kind}")));
        }
        let (method, param) = request::method_and_param(frame).map_err(|problem| {
            let message = format!("IPC server unable to read call parameters: {problem}");
            Failure::fatal(RpcErrorCodeProto::FatalDeserializingRequest, message)
        })?;
        if self.shared.options.backoff {
            self.check_backlog()?;
        }
        let trace_id = header.trace_info.as_ref().and_then(trace_id);
        let memory = CallMemory::of(param.len(), || self.input.new_charge());
        let context = CallContext {
            identity: peer.identity.clone(),
            ids: RpcIds::new(&header.client_id, header.call_id),
            retry_count: call.retry_count,
            remote: self.remote,
            host: Arc::clone(&self.host),
            caller_context: header
                .caller_context
                .map(|c| CallerContext { context: c.context.into(), signature: c.signature }),
            trace_id: trace_id.clone(),
            connection_protocol: Arc::clone(&peer.protocol),
            memory: memory.clone(),
        };
        let activity = &self.shared.activity;
        let parent = header.trace_info.as_ref().and_then(TraceContext::of_rpc);
        let named = (method.protocol(), method.method());
        let span = spans::of_server(parent, named, (peer.identity.user(), self.remote));
        let from = (self.remote, trace_id);
        let running = activity.begin(method.method(), &peer.identity, from, param.len(), span);
        let reply = match self.services.find(&method) {
            Ok(service) => {
                let (service, running) = (Arc::clone(service), Arc::clone(&running));
                let call = Call { service, context, param, running };
                match self.shared.admit(&method, header.state_id) {
                    Admission::Now => self.shared.carry_out(call, &method),
                    Admission::Refused(exception) => Reply::exception(exception),
                    Admission::Later(wait) => {
                        let shared = Arc::clone(&self.shared);
                        Reply::later(async move {
                            wait.await?;
                            shared.carry_out(call, &method).answer().await
                        })
                    }
                }
            }
            Err(exception) => Reply::Now(Err(exception)),
        };
        self.take_reply(Answered { running: Some(running), memory, ..call.clone() }, reply);
        Ok(())
    }

    /// Refuses a call that is too much (`ipc.<port>.backoff.enable`).
    fn check_backlog(&self) -> Result<(), Failure> {
        let place = self.place();
        let is_refused =
            place.map_or(self.is_overloaded(), |place| place.is_too_slow || !place.has_room);
        match place {
            _ if !is_refused => Ok(()),
            _ if self.shared.options.fails_over => Err(Failure::fails_over()),
            Some(Place { is_too_slow: false, is_last: true, .. }) => {
                Err(Failure::busy_and_closing())
            }
            _ => Err(Failure::busy()),
        }
    }

    fn take_reply(&mut self, call: Answered, reply: Reply) {
        match reply {
            Reply::Now(result) => self.answer(call, result),
            Reply::Gated(result, gate) => self.waiting.add_gated(call, result, gate),
            Reply::Later(future) => self.waiting.add_later(call, future),
        }
    }

    fn answer(&mut self, call: Answered, result: Result<Bytes, RemoteException>) {
        let call = Answered { state_id: self.shared.last_seen(), ..call };
        if let Some(running) = &call.running {
            running.answered(&result);
        }
        let before = self.output.len();
        response::put_result(&mut self.output, call, result);
        let length = self.output.len() - before;
        self.shared.activity.count_sent(length);
        if length > self.shared.options.response_len_logged {
            tracing::warn!("Large response size {length} for a call from {}", self.remote);
        }
    }
}

fn check_header(header: &RpcRequestHeaderProto) -> Result<(), Failure> {
    match header.rpc_op {
        None => return Err(invalid(" IPC Server: No rpc op in rpcRequestHeader")),
        Some(op) if op != OperationProto::RpcFinalPacket as i32 => {
            let name = OperationProto::try_from(op).map_or("", |op| op.as_str_name());
            let message = format!("IPC Server does not implement rpc header operation{name}");
            return Err(invalid(message));
        }
        Some(_) => {}
    }
    if header.rpc_kind.is_none() {
        return Err(invalid(" IPC Server: No rpc kind in rpcRequestHeader"));
    }
    Ok(())
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::fatal(RpcErrorCodeProto::FatalInvalidRpcHeader, message)
}
