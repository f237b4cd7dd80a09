//! `/conf`: the configuration in force, as XML or JSON.

use super::page::{query, text};
use crate::core::Core;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use std::sync::Arc;
use zerohop_conf::dump::{Property, properties, xml};

pub(super) async fn page(
    State(core): State<Arc<Core>>,
    raw: RawQuery,
    headers: HeaderMap,
) -> Response {
    let wanted = query(raw).remove("name");
    let accepts =
        headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let properties = properties(&core.conf, wanted.as_deref());
    if accepts.contains("application/json") {
        text("application/json;charset=utf-8", json(&properties))
    } else {
        text("text/xml;charset=utf-8", xml(&properties))
    }
}

fn json(properties: &[Property]) -> String {
    let list: Vec<_> = properties
        .iter()
        .map(|p| serde_json::json!({"key": p.name, "value": p.value, "isFinal": p.is_final, "resource": p.source}))
        .collect();
    serde_json::json!({ "properties": list }).to_string()
}
