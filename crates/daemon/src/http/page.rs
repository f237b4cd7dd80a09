//! What handlers answer with.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_core::Stream;
use std::io;

/// Figures change: browsers keep none of them. The others are Hadoop's (`HttpServer2`): nothing is guessed to be a script,
/// and no other site shows a page within its own.
const HEADERS: [(HeaderName, HeaderValue); 3] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN")),
];

/// A whole page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The HTTP status.
    pub status: StatusCode,
    /// The media type.
    pub kind: &'static str,
    /// The content.
    pub body: String,
}

impl Page {
    /// A page with status 200.
    pub fn new(kind: &'static str, body: String) -> Self {
        Self { status: StatusCode::OK, kind, body }
    }

    /// A page in JSON.
    pub fn json(body: String) -> Self {
        Self::new("application/json; charset=utf-8", body)
    }

    /// A page in HTML.
    pub fn html(body: String) -> Self {
        Self::new("text/html; charset=utf-8", body)
    }

    /// A page of plain text.
    pub fn text(body: impl Into<String>) -> Self {
        Self::new("text/plain; charset=utf-8", body.into())
    }

    /// The page in place of one that could not be made.
    pub fn failed(error: &dyn std::fmt::Display) -> Self {
        Self::text(format!("{error}\n")).with_status(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The same page with another status.
    pub fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }
}

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        (self.status, HEADERS, [(header::CONTENT_TYPE, self.kind)], self.body).into_response()
    }
}

/// A page that is sent while it is made.
pub fn streamed(
    kind: &'static str,
    body: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
) -> Response {
    (HEADERS, [(header::CONTENT_TYPE, kind)], Body::from_stream(body)).into_response()
}
