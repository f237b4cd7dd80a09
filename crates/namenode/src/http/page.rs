//! What every page is asked with and answers with.

use axum::body::Body;
use axum::extract::RawQuery;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_core::Stream;
use std::collections::HashMap;
use std::io;

/// The query as names and values; the first of a name counts.
pub(super) fn query(RawQuery(raw): RawQuery) -> HashMap<String, String> {
    zerohop_transport::query::values(raw.as_deref().unwrap_or_default())
}

/// An answer of this kind, not to be kept by the browser.
pub(super) fn text(kind: &'static str, body: String) -> Response {
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")], body).into_response()
}

/// An answer of this kind that is still being made.
pub(super) fn streamed(
    kind: &'static str,
    body: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
) -> Response {
    let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")];
    (headers, Body::from_stream(body)).into_response()
}

/// Text inside XML or HTML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
