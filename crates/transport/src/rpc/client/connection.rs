//! One connection: callers write, one task reads and keeps it alive.

use super::options::ClientOptions;
use crate::login::User;
use crate::rpc::error::RpcError;
use crate::rpc::ids::{CallId, ClientIdentity};
use crate::rpc::{frame, preamble, special_call};
use crate::trace;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use parking_lot::Mutex;
use prost::encoding::{encode_varint, encoded_len_varint};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::{Notify, oneshot};
use zerohop_proto::common::rpc_request_header_proto::OperationProto;
use zerohop_proto::common::rpc_response_header_proto::RpcStatusProto;
use zerohop_proto::common::{
    IpcConnectionContextProto, RequestHeaderProto, RpcCallerContextProto, RpcKindProto,
    RpcRequestHeaderProto, RpcResponseHeaderProto, UserInformationProto,
};
use zerohop_proto::decode_delimited;
use zerohop_system::clock;
use zerohop_wire::RemoteException;

/// Room for a read; an answer that is larger gets more.
const READ_ROOM: usize = 16 << 10;
/// Time between two looks at whether the connection is idle or silent.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

type Answer = Result<Bytes, RpcError>;

pub(super) struct Connection {
    addr: String,
    stream: TcpStream,
    state: Mutex<State>,
    /// Who calls; answers add to what it has seen.
    identity: Arc<ClientIdentity>,
    opened: Instant,
    /// Milliseconds from `opened` until the last bytes came.
    heard_ms: AtomicU64,
    /// Wakes the task: there is something to send, or the connection was closed.
    wake: Notify,
}

#[derive(Default)]
struct State {
    /// Bytes that did not fit into the socket.
    unsent: BytesMut,
    calls: HashMap<i32, oneshot::Sender<Answer>>,
    end: Option<CloseReason>,
}

/// Why there will be no more answers.
#[derive(Clone, Debug)]
enum CloseReason {
    Closed,
    Broken(Arc<io::Error>),
    /// The server's last word.
    Fatal(RemoteException),
}

impl Connection {
    /// Says who `user` is and starts the task that reads, on the runtime of the caller.
    pub(super) fn open(
        stream: TcpStream,
        addr: &str,
        protocol: &str,
        user: &User,
        identity: &Arc<ClientIdentity>,
        options: &ClientOptions,
    ) -> Arc<Self> {
        let mut unsent = BytesMut::new();
        put_context(&mut unsent, protocol, user, identity.id().clone());
        let state = Mutex::new(State { unsent, ..State::default() });
        let connection = Arc::new(Self {
            addr: addr.to_owned(),
            stream,
            state,
            identity: Arc::clone(identity),
            opened: clock::now(),
            heard_ms: AtomicU64::new(0),
            wake: Notify::new(),
        });
        tokio::spawn(drive(Arc::clone(&connection), options.clone()));
        connection
    }

    pub(super) fn is_open(&self) -> bool {
        self.state.lock().end.is_none()
    }

    pub(super) fn close(&self) {
        self.finish(CloseReason::Closed);
        self.wake.notify_one();
    }

    /// Ends the connection if nothing has come for `limit`: the other end may be gone without a word,
    /// and later calls would wait as long. Bytes for another call show that it is not.
    pub(super) fn end_if_silent(&self, limit: Duration) {
        let heard = Duration::from_millis(self.heard_ms.load(Ordering::Relaxed));
        if clock::since(self.opened).saturating_sub(heard) < limit {
            return;
        }
        let text = format!("nothing was heard for {} ms", limit.as_millis());
        tracing::info!("{}: {text}; connecting again", self.addr);
        self.finish(CloseReason::Broken(Arc::new(io::Error::new(io::ErrorKind::TimedOut, text))));
        self.wake.notify_one();
    }

    fn hear(&self, now: Instant) {
        let since = now.saturating_duration_since(self.opened).as_millis();
        self.heard_ms.store(u64::try_from(since).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Sends a request and waits for its answer. Dropped, it forgets the call; the server may still
    /// do it.
    pub(super) async fn call(
        &self,
        id: &CallId,
        method: &str,
        protocol: &str,
        version: u64,
        request: &[u8],
    ) -> Answer {
        let (sender, receiver) = oneshot::channel();
        {
            let mut state = self.state.lock();
            if let Some(end) = &state.end {
                return Err(self.error(end));
            }
            state.calls.insert(id.call_id, sender);
            put_request(&mut state.unsent, id, &self.identity, method, protocol, version, request);
            self.send(&mut state);
        }
        let _guard = RemoveCallOnDrop { connection: self, call_id: id.call_id };
        match receiver.await {
            Ok(answer) => answer,
            Err(_) => Err(self.error(&CloseReason::Closed)),
        }
    }

    /// Sends what fits into the socket; the task sends the rest.
    fn send(&self, state: &mut State) {
        while !state.unsent.is_empty() {
            match self.stream.try_write(&state.unsent) {
                Ok(sent) => state.unsent.advance(sent),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.wake.notify_one();
                    return;
                }
                Err(error) => {
                    // A broken connection shows in the task's read, behind answers that came before.
                    // It stays writable: who tried again would do so for ever, and never get to read.
                    tracing::debug!("{}: {error}", self.addr);
                    break;
                }
            }
        }
        state.unsent.clear();
    }

    /// Ends the connection: every call in flight fails for the reason given.
    fn finish(&self, end: CloseReason) {
        let calls = {
            let mut state = self.state.lock();
            if state.end.is_some() {
                return;
            }
            state.end = Some(end.clone());
            std::mem::take(&mut state.calls)
        };
        for (_, caller) in calls {
            let _ = caller.send(Err(self.error(&end)));
        }
    }

    fn error(&self, end: &CloseReason) -> RpcError {
        let addr = self.addr.clone();
        let io = |kind, text: String| RpcError::Io { addr, source: io::Error::new(kind, text) };
        match end {
            CloseReason::Fatal(exception) => RpcError::Remote(exception.clone()),
            CloseReason::Broken(error) => io(error.kind(), error.to_string()),
            CloseReason::Closed => io(io::ErrorKind::NotConnected, "connection closed".to_owned()),
        }
    }

    /// Hands the answers in `input` to their callers.
    fn take_answers(
        &self,
        input: &mut BytesMut,
        length_max: usize,
    ) -> io::Result<Option<CloseReason>> {
        loop {
            let frame = frame::take(input, length_max)
                .map_err(|bad| io::Error::new(io::ErrorKind::InvalidData, bad))?;
            let Some(mut frame) = frame else { return Ok(None) };
            let header: RpcResponseHeaderProto = decode_delimited(&mut frame)
                .map_err(|bad| io::Error::new(io::ErrorKind::InvalidData, bad))?;
            if header.status() == RpcStatusProto::Fatal {
                return Ok(Some(CloseReason::Fatal(exception_of(header))));
            }
            if let Some(seen) = self.identity.seen()
                && let Some(last) = header.state_id
            {
                seen.saw(last);
            }
            let Some(caller) = self.state.lock().calls.remove(&(header.call_id as i32)) else {
                continue;
            };
            let _ = caller.send(answer_of(&self.addr, header, frame));
        }
    }

    fn ping(&self) {
        let header = request_header(special_call::PING, Bytes::new(), -1);
        let mut state = self.state.lock();
        frame::put(&mut state.unsent, &header, None);
        self.send(&mut state);
    }
}

/// Removes a call that is not waited for any more.
struct RemoveCallOnDrop<'a> {
    connection: &'a Connection,
    call_id: i32,
}

impl Drop for RemoveCallOnDrop<'_> {
    fn drop(&mut self) {
        self.connection.state.lock().calls.remove(&self.call_id);
    }
}

/// Ends the connection when its task is dropped with its runtime: no answer is read after that.
struct EndOnDrop(Arc<Connection>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        let text = "the runtime of the connection has ended";
        let error = io::Error::new(io::ErrorKind::NotConnected, text);
        self.0.finish(CloseReason::Broken(Arc::new(error)));
    }
}

/// The connection's task, until the connection ends.
fn drive(
    connection: Arc<Connection>,
    options: ClientOptions,
) -> impl Future<Output = ()> + Send + 'static {
    // Made before the first poll, to which an ending runtime may not come.
    let driven = EndOnDrop(connection);
    async move {
        let end = match read_all(&driven.0, &options).await {
            Ok(end) => end,
            Err(error) => CloseReason::Broken(Arc::new(error)),
        };
        driven.0.finish(end);
    }
}

async fn read_all(connection: &Connection, options: &ClientOptions) -> io::Result<CloseReason> {
    let mut input = BytesMut::new();
    let mut look = tokio::time::interval(LOOK_INTERVAL);
    let mut heard = clock::now();
    let mut pinged = heard;
    loop {
        let has_unsent = {
            let state = connection.state.lock();
            if let Some(end) = &state.end {
                return Ok(end.clone());
            }
            !state.unsent.is_empty()
        };
        input.reserve(READ_ROOM);
        tokio::select! {
            readable = connection.stream.readable() => {
                readable?;
                match connection.stream.try_read_buf(&mut input) {
                    Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    Ok(_) => {
                        heard = clock::now();
                        connection.hear(heard);
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                    Err(error) => return Err(error),
                }
                if let Some(end) = connection.take_answers(&mut input, options.response_len_max)? {
                    return Ok(end);
                }
            }
            writable = connection.stream.writable(), if has_unsent => {
                writable?;
                connection.send(&mut connection.state.lock());
            }
            () = connection.wake.notified() => {}
            _ = look.tick() => {
                let idle = connection.state.lock().calls.is_empty();
                let silent = clock::since(heard.max(pinged));
                if idle && clock::since(heard) > options.idle_after && close_if_idle(connection) {
                    return Ok(CloseReason::Closed);
                }
                if !idle && !options.ping_interval.is_zero() && silent > options.ping_interval {
                    connection.ping();
                    pinged = clock::now();
                }
            }
        }
    }
}

/// Ends the connection unless a call came in between.
fn close_if_idle(connection: &Connection) -> bool {
    let mut state = connection.state.lock();
    if state.calls.is_empty() {
        state.end = Some(CloseReason::Closed);
    }
    state.end.is_some()
}

/// What an answer that is no fatal one says to its caller.
pub(super) fn answer_of(addr: &str, header: RpcResponseHeaderProto, mut frame: Bytes) -> Answer {
    if header.status() != RpcStatusProto::Success {
        return Err(RpcError::Remote(exception_of(header)));
    }
    if frame.is_empty() {
        return Ok(frame);
    }
    frame::take_delimited(&mut frame)
        .ok_or_else(|| RpcError::Protocol { addr: addr.to_owned(), reason: "truncated".to_owned() })
}

pub(super) fn exception_of(header: RpcResponseHeaderProto) -> RemoteException {
    let class = header.exception_class_name.unwrap_or_else(|| "java.io.IOException".to_owned());
    RemoteException { class: class.into(), message: header.error_msg.unwrap_or_default() }
}

fn request_header(call_id: i32, client_id: Bytes, retry_count: i32) -> RpcRequestHeaderProto {
    RpcRequestHeaderProto {
        rpc_kind: Some(RpcKindProto::RpcProtocolBuffer.into()),
        rpc_op: Some(OperationProto::RpcFinalPacket.into()),
        call_id,
        client_id,
        retry_count: Some(retry_count),
        ..Default::default()
    }
}

/// What a connection begins with: the preamble, and who calls.
pub(super) fn put_context(out: &mut BytesMut, protocol: &str, user: &User, client_id: Bytes) {
    out.extend_from_slice(&preamble::SIMPLE);
    let header = request_header(special_call::CONNECTION_CONTEXT, client_id, -1);
    let context = IpcConnectionContextProto {
        user_info: Some(UserInformationProto {
            effective_user: Some(user.name.clone()),
            real_user: user.real.clone(),
        }),
        protocol: Some(protocol.to_owned()),
    };
    frame::put(out, &header, Some(&prost::Message::encode_to_vec(&context)));
}

/// One call, encoded. Its header names the span that this thread is in.
pub(super) fn put_request(
    out: &mut BytesMut,
    id: &CallId,
    identity: &ClientIdentity,
    method: &str,
    protocol: &str,
    version: u64,
    request: &[u8],
) {
    let mut header = request_header(id.call_id, id.client_id.clone(), id.retry_count);
    header.trace_info = trace::rpc_info();
    header.state_id = identity.seen().map(|seen| seen.last());
    header.caller_context = identity.caller_context().map(|caller| RpcCallerContextProto {
        context: caller.context.to_string(),
        signature: caller.signature,
    });
    let method = RequestHeaderProto {
        method_name: method.to_owned(),
        declaring_class_protocol_name: protocol.to_owned(),
        client_protocol_version: version,
    };
    let request_len = encoded_len_varint(request.len() as u64) + request.len();
    let length = frame::delimited_len(&header) + frame::delimited_len(&method) + request_len;
    out.reserve(frame::PREFIX + length);
    out.put_u32(length as u32);
    frame::put_delimited(out, &header);
    frame::put_delimited(out, &method);
    encode_varint(request.len() as u64, out);
    out.put_slice(request);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_call_on_a_connection_that_was_reset_fails() {
        let (done, outcome) = mpsc::channel();
        // One thread for all tasks: one that never waits keeps the others, and the network, from it.
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            done.send(runtime.unwrap().block_on(call_after_a_reset()))
        });
        let answer = outcome.recv_timeout(Duration::from_secs(30)).expect("the call never ended");
        assert!(matches!(answer, Err(RpcError::Io { .. })), "{answer:?}");
    }

    async fn call_after_a_reset() -> Answer {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let stream = TcpStream::connect(addr).await.unwrap();
        let peer = socket2::Socket::from(listener.accept().unwrap().0);
        let options = ClientOptions::default();
        let user = User::new("somebody");
        let identity = ClientIdentity::random();
        let id = identity.next_call();
        let open = Connection::open(stream, "", "p", &user, &Arc::new(identity), &options);
        // The task waits for input now; what it hears of next is the reset, if it looks.
        tokio::task::yield_now().await;
        open.stream.writable().await.unwrap();
        peer.set_linger(Some(Duration::ZERO)).unwrap();
        drop(peer);
        open.call(&id, "m", "p", 1, &[]).await
    }
}
