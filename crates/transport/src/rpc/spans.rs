//! The spans of RPC calls, at both ends.

use crate::trace::{self, TARGET};
use std::net::SocketAddr;
use tracing::Span;
use tracing::field::Empty;
use zerohop_wire::TraceContext;

/// The span of a call at its client.
pub(super) fn of_client(protocol: &str, method: &str, server: &str) -> Span {
    trace::step(|| {
        tracing::info_span!(
            target: TARGET,
            "rpc client",
            otel.name = method,
            otel.kind = "client",
            rpc.system = "hadoop",
            rpc.service = protocol,
            rpc.method = method,
            server.address = server,
            otel.status_code = Empty,
            otel.status_description = Empty,
        )
    })
}

/// The span of a call at its server, from its arrival to its answer.
pub(super) fn of_server(
    parent: Option<TraceContext>,
    (protocol, method): (&str, &str),
    (user, remote): (&str, SocketAddr),
) -> Span {
    trace::request(parent, || {
        tracing::info_span!(
            target: TARGET,
            parent: None,
            "rpc server",
            otel.name = method,
            otel.kind = "server",
            rpc.system = "hadoop",
            rpc.service = protocol,
            rpc.method = method,
            client.address = display(remote),
            user.name = user,
            otel.status_code = Empty,
            otel.status_description = Empty,
        )
    })
}
