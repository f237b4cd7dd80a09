//! `/conf`: the configuration in force, as XML or JSON.

use crate::core::Core;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use zerohop_transport::conf_page;

pub(super) async fn page(
    State(core): State<Arc<Core>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let accept =
        headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let page =
        conf_page::page(&core.reconfiguration.conf(), query.as_deref().unwrap_or_default(), accept);
    let status = StatusCode::from_u16(page.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = [(header::CONTENT_TYPE, page.kind), (header::CACHE_CONTROL, "no-cache")];
    (status, headers, page.body).into_response()
}
