//! Spans: what a request did where, connected across processes.
//!
//! This crate and those above it make spans with `tracing`, all of them of the target [`TARGET`], and send the context
//! of the current one with RPC calls and data transfer requests. Which ids spans have, and where they are recorded, is
//! the matter of the process's [`Propagator`]. Without one there are no spans, nothing is sent, and each place that
//! would make a span costs one load of an atomic.
//!
//! A client's operation begins a trace. RPC calls and requests of block data become part of the trace that they are
//! made in; outside of one (heartbeats, block reports, lease renewals) they make no span.

use std::fmt;
use std::sync::OnceLock;
pub use tracing::Span;
use zerohop_proto::common::RpcTraceInfoProto;
use zerohop_proto::hdfs::DataTransferTraceInfoProto;
use zerohop_wire::TraceContext;

/// The target of all spans, for filters.
pub const TARGET: &str = "zerohop::spans";

/// Connects spans of this process with those of others.
pub trait Propagator: Send + Sync {
    /// The span that this thread is in; `None` outside of spans.
    fn current(&self) -> Option<TraceContext>;

    /// Makes a new span a child of one in another process.
    fn set_parent(&self, span: &Span, parent: TraceContext);

    /// Sends what has been recorded; the process is about to end.
    fn finish(&self);
}

static PROPAGATOR: OnceLock<Box<dyn Propagator>> = OnceLock::new();

/// Spans are made from now on. False if this process has a propagator already, which it keeps.
pub fn install(propagator: Box<dyn Propagator>) -> bool {
    PROPAGATOR.set(propagator).is_ok()
}

/// Whether spans are made.
pub fn is_on() -> bool {
    PROPAGATOR.get().is_some()
}

/// Has the propagator send what it has recorded.
pub fn finish() {
    if let Some(propagator) = PROPAGATOR.get() {
        propagator.finish();
    }
}

/// The span that this thread is in, as other processes are told.
pub fn current() -> Option<TraceContext> {
    PROPAGATOR.get()?.current()
}

/// The span that this thread is in, for work that another thread or task does; none without a propagator.
pub fn current_span() -> Span {
    if is_on() { Span::current() } else { Span::none() }
}

/// The span of an operation, which begins a trace unless it is within one.
pub fn operation(span: impl FnOnce() -> Span) -> Span {
    if is_on() { span() } else { Span::none() }
}

/// The span of a step of an operation; none outside of a trace.
pub fn step(span: impl FnOnce() -> Span) -> Span {
    if current().is_some() { span() } else { Span::none() }
}

/// The span of a request whose sender was in the span `parent`; none if the sender was in none.
pub fn request(parent: Option<TraceContext>, span: impl FnOnce() -> Span) -> Span {
    let (Some(propagator), Some(parent)) = (PROPAGATOR.get(), parent) else { return Span::none() };
    let span = span();
    propagator.set_parent(&span, parent);
    span
}

/// Records that what the span is about has failed. The span needs the fields `otel.status_code` and
/// `otel.status_description`.
pub fn record_failure(span: &Span, failure: &dyn fmt::Display) {
    if !span.is_none() {
        span.record("otel.status_code", "ERROR");
        span.record("otel.status_description", tracing::field::display(failure));
    }
}

/// What the header of an RPC call says of the current span.
pub fn rpc_info() -> Option<RpcTraceInfoProto> {
    current().map(Into::into)
}

/// What a data transfer request says of the current span.
pub fn transfer_info() -> Option<DataTransferTraceInfoProto> {
    current().map(Into::into)
}
