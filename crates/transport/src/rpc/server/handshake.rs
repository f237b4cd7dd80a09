//! What comes before calls: SASL, answered with SIMPLE, and the connection context.

use super::response::Failure;
use crate::rpc::preamble::AuthProtocol;
use crate::rpc::special_call;
use bytes::Bytes;
use std::sync::Arc;
use zerohop_proto::common::rpc_response_header_proto::RpcErrorCodeProto;
use zerohop_proto::common::rpc_sasl_proto::SaslState;
use zerohop_proto::common::{IpcConnectionContextProto, RpcSaslProto, UserInformationProto};
use zerohop_proto::{Checked, decode_delimited};
use zerohop_wire::{CallerIdentity, JavaException, RemoteException};

/// Longest name of a user, in bytes: names are kept in caches and on disk.
const USER_LEN_MAX: usize = 1024;

/// Who is at the other end, and the protocol that the connection was opened for.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    pub(super) identity: CallerIdentity,
    pub(super) protocol: Arc<str>,
}

/// How far the handshake has come. SASL mechanisms (Kerberos, tokens) belong here: their last step is to give the peer the
/// identity that they have proved, where [`CallerIdentity::simple`] gives the one that the connection context claims.
#[derive(Debug)]
pub(super) struct Handshake {
    auth: AuthProtocol,
    sent_negotiate: bool,
    peer: Option<Peer>,
    /// Sent by a proxy user that is not yet known to be one.
    unauthorized: Option<Peer>,
}

/// What to send back for a step of the handshake.
pub(super) enum Step {
    /// Nothing.
    Silent,
    /// A SASL message.
    Sasl(RpcSaslProto),
    /// Nothing, but nothing more is to be read before [`Handshake::authorized`].
    Authorize {
        /// Who asks.
        real: String,
        /// Whom it wants to act for.
        user: Arc<str>,
    },
}

impl Handshake {
    pub(super) fn new(auth: AuthProtocol) -> Self {
        Self { auth, sent_negotiate: false, peer: None, unauthorized: None }
    }

    /// Who is at the other end; known once the connection context has arrived.
    pub(super) fn peer(&self) -> Result<&Peer, Failure> {
        self.peer.as_ref().ok_or_else(|| invalid("Connection context not established"))
    }

    /// Takes a message with a call id below zero.
    pub(super) fn step(&mut self, call_id: i32, body: &mut Bytes) -> Result<Step, Failure> {
        match call_id {
            special_call::PING => Ok(Step::Silent),
            special_call::CONNECTION_CONTEXT if self.auth == AuthProtocol::Sasl => {
                Err(invalid("Connection header sent during SASL negotiation"))
            }
            special_call::CONNECTION_CONTEXT => self.context(body),
            special_call::SASL if self.auth == AuthProtocol::None && !self.sent_negotiate => {
                Err(invalid("SASL protocol not requested by client"))
            }
            special_call::SASL => self.sasl(&message(body)?),
            other => Err(invalid(format!("Unknown out of band call #{other}"))),
        }
    }

    /// Whether the rules allow what [`Step::Authorize`] asked.
    pub(super) fn authorized(
        &mut self,
        verdict: Result<(), RemoteException>,
    ) -> Result<(), Failure> {
        verdict.map_err(|exception| {
            Failure::fatal_because(RpcErrorCodeProto::FatalUnauthorized, exception)
        })?;
        self.peer = self.unauthorized.take();
        Ok(())
    }

    fn context(&mut self, body: &mut Bytes) -> Result<Step, Failure> {
        if self.peer.is_some() {
            return Err(invalid("Connection context already processed"));
        }
        let context: IpcConnectionContextProto = message(body)?;
        let UserInformationProto { effective_user, real_user } =
            context.user_info.unwrap_or_default();
        let user = effective_user
            .filter(|user| !user.is_empty())
            .ok_or_else(|| invalid("Connection context without a user"))?;
        if [Some(&user), real_user.as_ref()].into_iter().flatten().any(|u| u.len() > USER_LEN_MAX) {
            let text = format!("A user's name may have at most {USER_LEN_MAX} bytes");
            return Err(invalid(text));
        }
        let user: Arc<str> = user.into();
        let peer = Peer {
            identity: CallerIdentity::simple(
                Arc::clone(&user),
                real_user.as_deref().map(Into::into),
            ),
            protocol: context.protocol.unwrap_or_default().into(),
        };
        let Some(real) = real_user else {
            self.peer = Some(peer);
            return Ok(Step::Silent);
        };
        self.unauthorized = Some(peer);
        Ok(Step::Authorize { real, user })
    }

    fn sasl(&mut self, request: &RpcSaslProto) -> Result<Step, Failure> {
        match request.state() {
            SaslState::Negotiate if self.sent_negotiate => {
                Err(denied("Client already attempted negotiation"))
            }
            SaslState::Negotiate => Ok(self.switch_to_simple()),
            SaslState::Initiate => match request.auths.as_slice() {
                [auth] if auth.method == "SIMPLE" => {
                    self.switch_to_simple();
                    Ok(Step::Silent)
                }
                [_] if !self.sent_negotiate => Ok(self.switch_to_simple()),
                [auth] => Err(denied(format!(
                    "{} authentication is not enabled.  Available:[SIMPLE]",
                    auth.method
                ))),
                _ => Err(denied("Client mechanism is malformed")),
            },
            _ => Err(denied("SIMPLE authentication is the only one here")),
        }
    }

    /// A server that offers nothing else says success at once; the client goes on without SASL.
    fn switch_to_simple(&mut self) -> Step {
        self.auth = AuthProtocol::None;
        self.sent_negotiate = true;
        Step::Sasl(RpcSaslProto { state: SaslState::Success.into(), ..Default::default() })
    }
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::fatal(RpcErrorCodeProto::FatalInvalidRpcHeader, message)
}

fn denied(message: impl Into<String>) -> Failure {
    let exception = JavaException::AccessControl.with(message);
    Failure::fatal_because(RpcErrorCodeProto::FatalUnauthorized, exception)
}

fn message<M: Checked>(body: &mut Bytes) -> Result<M, Failure> {
    decode_delimited(body).map_err(|problem| {
        let message = format!("Error decoding {}: {problem}", M::shape().name);
        Failure::fatal(RpcErrorCodeProto::FatalDeserializingRequest, message)
    })
}
