//! `/conf`: the configuration in force, as XML or JSON.

use super::{query, text};
use crate::core::Core;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use std::sync::Arc;
use zerohop_conf::{Conf, keys};

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

struct Property {
    name: String,
    value: String,
    is_final: bool,
    source: String,
}

fn properties(conf: &Conf, wanted: Option<&str>) -> Vec<Property> {
    let mut names: Vec<String> = keys::all().map(|key| key.name.to_owned()).collect();
    names.extend(conf.iter().map(|(name, _)| name.to_owned()));
    names.sort_unstable();
    names.dedup();
    let shown = names.into_iter().filter(|name| wanted.is_none_or(|wanted| wanted == name));
    let property = |name: String| {
        let value = conf.get_raw(&name)?;
        let source = conf.source(&name).map(|source| source.to_string()).unwrap_or_default();
        let value = if is_secret(&name) { "<redacted>".to_owned() } else { value };
        Some(Property { is_final: conf.is_final(&name), name, value, source })
    };
    shown.filter_map(property).collect()
}

/// Names that Hadoop keeps off its pages too (hadoop.security.sensitive-config-keys).
fn is_secret(name: &str) -> bool {
    let secret = ["secret", "password", "ssl.keystore.pass", "credential", "oauth", "token"];
    secret.iter().any(|word| name.to_ascii_lowercase().contains(word))
}

fn xml(properties: &[Property]) -> String {
    let mut page = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n<configuration>\n",
    );
    for Property { name, value, is_final, source } in properties {
        page.push_str(&format!(
            "<property><name>{}</name><value>{}</value><final>{is_final}</final><source>{}</source></property>\n",
            escaped(name),
            escaped(value),
            escaped(source)
        ));
    }
    page.push_str("</configuration>\n");
    page
}

/// Text inside XML or HTML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn json(properties: &[Property]) -> String {
    let list: Vec<_> = properties
        .iter()
        .map(|p| serde_json::json!({"key": p.name, "value": p.value, "isFinal": p.is_final, "resource": p.source}))
        .collect();
    serde_json::json!({ "properties": list }).to_string()
}
