//! The first bytes of a connection.

use super::response::{self, Answered, Failure};
use crate::rpc::preamble::{self, Preamble};
use crate::rpc::special_call;
use bytes::BytesMut;
use std::io;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use zerohop_proto::common::rpc_response_header_proto::RpcErrorCodeProto;

/// Reads the preamble. Returns `None` if the connection was refused with an answer.
pub(super) async fn open(
    stream: &mut TcpStream,
    remote: SocketAddr,
) -> io::Result<Option<preamble::AuthProtocol>> {
    let mut bytes = [0; preamble::LEN];
    stream.read_exact(&mut bytes).await?;
    let mut answer = BytesMut::new();
    match preamble::parse(bytes) {
        Preamble::Rpc(auth) => return Ok(Some(auth)),
        Preamble::Http => answer.extend_from_slice(preamble::HTTP_ANSWER.as_bytes()),
        Preamble::WrongVersion(version) => {
            tracing::warn!(
                "Version mismatch from {remote}. Expected version: {}. Actual version: {version}",
                preamble::VERSION
            );
            response::put_version_mismatch(&mut answer, version);
        }
        Preamble::UnknownAuth(auth) => {
            tracing::warn!("Unknown auth protocol:{auth} from {remote}");
            let message = format!("Unknown auth protocol:{}", auth as i8);
            let failure = Failure::fatal(RpcErrorCodeProto::FatalUnauthorized, message);
            let call = Answered { call_id: special_call::SASL, ..Answered::unknown() };
            response::put_failure(&mut answer, call, &failure);
        }
    }
    // What is left unread would turn the close into a reset, which can overtake the answer.
    let mut rest = [0; 4096];
    let _ = stream.try_read(&mut rest);
    stream.write_all(&answer).await?;
    stream.shutdown().await?;
    Ok(None)
}
