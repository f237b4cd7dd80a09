//! The spans that a client makes: of files, and of its requests to DataNodes.

use std::fmt::Display;
use tracing::Span;
use tracing::field::Empty;
use zerohop_transport::trace::{self, TARGET};
use zerohop_wire::ExtendedBlock;
use zerohop_wire::transfer::op::OpCode;

/// The span of a file that is open, as long as it is.
pub(crate) fn of_file(operation: &'static str, path: &str) -> Span {
    trace::operation(|| {
        tracing::info_span!(
            target: TARGET,
            "file",
            otel.name = operation,
            hdfs.path = path,
            otel.status_code = Empty,
            otel.status_description = Empty,
        )
    })
}

/// The span of a request to a DataNode.
pub(crate) fn of_request(code: OpCode, block: &ExtendedBlock, datanode: &dyn Display) -> Span {
    trace::step(|| {
        tracing::info_span!(
            target: TARGET,
            "transfer client",
            otel.name = code.name(),
            otel.kind = "client",
            hdfs.block = display(block),
            server.address = display(datanode),
            otel.status_code = Empty,
            otel.status_description = Empty,
        )
    })
}
