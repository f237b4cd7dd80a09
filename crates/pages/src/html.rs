//! A page as it leaves.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use zerohop_daemon::http::Page;

/// Only what this process serves: no script within the page, no style within it, nothing of another host.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'self'",
);
/// Paths of files are in addresses of pages; other hosts are not told of them.
const HEADERS: [(HeaderName, HeaderValue); 2] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
];

/// A page of HTML.
#[derive(Clone, Debug)]
pub struct HtmlPage(Page);

impl HtmlPage {
    /// The page with this text.
    pub fn new(html: String) -> Self {
        Self(Page::html(html))
    }

    /// The page in place of one that could not be made.
    pub fn failed(error: &dyn std::fmt::Display) -> Self {
        Self(Page::failed(error))
    }

    /// The same page with another status.
    pub fn with_status(self, status: StatusCode) -> Self {
        Self(self.0.with_status(status))
    }

    /// The HTML.
    pub fn text(&self) -> &str {
        &self.0.body
    }
}

impl IntoResponse for HtmlPage {
    fn into_response(self) -> Response {
        (HEADERS, self.0).into_response()
    }
}
