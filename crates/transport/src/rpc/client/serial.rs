//! A connection with one call at a time: nothing is handed between tasks.

use super::connection::{answer_of, exception_of, put_context, put_request};
use super::shared::Shared;
use crate::rpc::error::RpcError;
use crate::rpc::frame;
use bytes::{Bytes, BytesMut};
use prost::Message;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use zerohop_proto::common::RpcResponseHeaderProto;
use zerohop_proto::common::rpc_response_header_proto::RpcStatusProto;
use zerohop_proto::{Checked, decode_delimited};

/// Room for a read; an answer that is larger gets more.
const READ_ROOM: usize = 4 << 10;

/// A connection of its own that carries one call at a time, at about two thirds of what a call of
/// [`RpcClient`](super::RpcClient) costs its caller: for load generators. It has no time-outs,
/// sends no signs of life, and is not opened again when it breaks.
pub struct SerialClient {
    shared: Arc<Shared>,
    stream: TcpStream,
    input: BytesMut,
    output: BytesMut,
    body: Vec<u8>,
}

impl SerialClient {
    /// The connection's context leaves with the first call.
    pub(super) fn open(shared: Arc<Shared>, stream: TcpStream) -> Self {
        let mut output = BytesMut::new();
        let id = shared.identity.id().clone();
        put_context(&mut output, shared.protocol, &shared.user, id);
        Self { shared, stream, input: BytesMut::new(), output, body: Vec::new() }
    }

    /// The server, as it was named.
    pub fn addr(&self) -> &str {
        &self.shared.addr
    }

    /// Calls `method` once. Dropped, it leaves the rest of its request to be sent by the next call, and an answer that the
    /// next call passes over.
    pub async fn call<Q: Message, R: Checked>(
        &mut self,
        method: &'static str,
        request: &Q,
    ) -> Result<R, RpcError> {
        let Shared { identity, protocol, version, .. } = &*self.shared;
        let id = identity.next_call();
        self.body.clear();
        request.encode_raw(&mut self.body);
        put_request(&mut self.output, &id, identity, method, protocol, *version, &self.body);
        // Takes off what was sent: the next call sends the rest of one that was dropped.
        let sent = self.stream.write_all_buf(&mut self.output).await;
        sent.map_err(|source| self.broken(source))?;
        let body = self.answer(id.call_id).await?;
        zerohop_proto::decode(body).map_err(|problem| self.unreadable(problem.to_string()))
    }

    async fn answer(&mut self, call_id: i32) -> Result<Bytes, RpcError> {
        let length_max = self.shared.options.response_len_max;
        loop {
            let taken = frame::take(&mut self.input, length_max);
            if let Some(mut frame) = taken.map_err(|bad| self.unreadable(bad.to_string()))? {
                let header: RpcResponseHeaderProto = decode_delimited(&mut frame)
                    .map_err(|problem| self.unreadable(problem.to_string()))?;
                if header.status() == RpcStatusProto::Fatal {
                    return Err(RpcError::Remote(exception_of(header)));
                }
                if header.call_id as i32 == call_id {
                    return answer_of(self.addr(), header, frame);
                }
                continue;
            }
            self.input.reserve(READ_ROOM);
            let read = self.stream.read_buf(&mut self.input).await;
            if read.map_err(|source| self.broken(source))? == 0 {
                return Err(self.broken(io::ErrorKind::UnexpectedEof.into()));
            }
        }
    }

    fn broken(&self, source: io::Error) -> RpcError {
        RpcError::Io { addr: self.shared.addr.clone(), source }
    }

    fn unreadable(&self, reason: String) -> RpcError {
        RpcError::Protocol { addr: self.shared.addr.clone(), reason }
    }
}
