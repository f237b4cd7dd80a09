//! Spans that leave by OTLP over HTTP (the feature `opentelemetry`); without the feature there are none.

#[cfg(feature = "opentelemetry")]
mod export;
#[cfg(feature = "opentelemetry")]
mod http_client;
#[cfg(feature = "opentelemetry")]
mod settings;

use std::env;

use tracing::field::Empty;

use zerohop_transport::trace::{self, TARGET};
use zerohop_wire::TraceContext;

#[cfg(feature = "opentelemetry")]
pub use export::layer;

/// Whether the environment asks for spans.
#[cfg(feature = "opentelemetry")]
pub fn are_wanted() -> bool {
    settings::are_wanted(|name| env::var(name).ok())
}

/// Whether the environment asks for spans, and this binary can make them.
#[cfg(not(feature = "opentelemetry"))]
pub fn are_wanted() -> bool {
    false
}

/// Runs a command within a span; its exit code. The span is part of the trace that the environment names (`TRACEPARENT`), or
/// begins one.
pub fn within_command(name: &str, run: impl FnOnce() -> i32) -> i32 {
    if !trace::is_on() {
        return run();
    }
    let span = || {
        tracing::info_span!(
            target: TARGET,
            "command",
            otel.name = format_args!("zerohop {name}"),
            otel.status_code = Empty,
            otel.status_description = Empty,
        )
    };
    let parent = env::var("TRACEPARENT").ok();
    let span = match parent.and_then(|parent| TraceContext::parse(parent.as_bytes())) {
        Some(parent) => trace::request(Some(parent), span),
        None => trace::operation(span),
    };
    let code = span.in_scope(run);
    if code != 0 {
        trace::record_failure(&span, &format_args!("exit code {code}"));
    }
    code
}
