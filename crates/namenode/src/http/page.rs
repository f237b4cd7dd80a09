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
    let mut values = HashMap::new();
    for pair in raw.as_deref().unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        values.entry(decoded(name)).or_insert_with(|| decoded(value));
    }
    values
}

/// `+` and `%xx` undone; what does not fit stays.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match (first, hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or(&[]);
                continue;
            }
            (b'+', _) => bytes.push(b' '),
            _ => bytes.push(*first),
        }
        rest = tail;
    }
    String::from_utf8_lossy(&bytes).into_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_decoded() {
        let values = query(RawQuery(Some("path=%2Fa+b%2f%C3%A9&files=1&files=2&x".into())));
        assert_eq!(values.get("path").map(String::as_str), Some("/a b/é"));
        assert_eq!(values.get("files").map(String::as_str), Some("1"));
        assert_eq!(values.get("x").map(String::as_str), Some(""));
        assert_eq!(decoded("100%"), "100%");
        assert_eq!(decoded("%zz%4"), "%zz%4");
    }
}
