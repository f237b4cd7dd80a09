//! The spans of operations: those of requests that name a span of their sender.

use tracing::Span;
use tracing::field::Empty;
use zerohop_transport::trace::{self, TARGET};
use zerohop_wire::transfer::op::Request;
use zerohop_wire::{ExtendedBlock, TraceContext};

/// The span of an operation; what is asked of other DataNodes within it belongs to the same trace.
pub(super) fn of_operation(request: &Request, peer: &str) -> Span {
    let parent = request.base_header().and_then(|header| header.trace_info.as_ref());
    let parent = parent.or(request.own_trace_info()).and_then(TraceContext::of_transfer);
    trace::request(parent, || {
        let block = request.base_header().map(|header| ExtendedBlock::from(&header.block));
        tracing::info_span!(
            target: TARGET,
            parent: None,
            "transfer server",
            otel.name = request.code().name(),
            otel.kind = "server",
            hdfs.block = block.map(display),
            client.address = peer,
            otel.status_code = Empty,
            otel.status_description = Empty,
        )
    })
}
