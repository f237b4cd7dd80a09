//! The style and the script, built into the program.

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

const STYLE: &str = include_str!("../assets/zerohop.css");
const SCRIPT: &str = include_str!("../assets/zerohop.js");
const ICON: &str = include_str!("../assets/icon.svg");

/// The addresses have the release in them, so that browsers may keep what they got.
const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn style_address() -> String {
    format!("/static/zerohop.css?{VERSION}-{}", STYLE.len())
}

pub(crate) fn script_address() -> String {
    format!("/static/zerohop.js?{VERSION}-{}", SCRIPT.len())
}

/// The routes of what all pages ask for.
pub fn assets() -> Router {
    Router::new()
        .route("/static/zerohop.css", get(async || asset("text/css; charset=utf-8", STYLE)))
        .route("/static/zerohop.js", get(async || asset("text/javascript; charset=utf-8", SCRIPT)))
        .route("/static/icon.svg", get(async || asset("image/svg+xml", ICON)))
        .route("/favicon.ico", get(async || asset("image/svg+xml", ICON)))
}

fn asset(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static("max-age=86400")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    (headers, text).into_response()
}
