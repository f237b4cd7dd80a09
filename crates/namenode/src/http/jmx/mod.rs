//! `/jmx`: the beans that people's scripts read, under Hadoop's names.

mod figures;
mod info;
mod others;
mod system;

use super::page::{query, text};
use crate::core::Core;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use figures::Figures;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) async fn page(State(core): State<Arc<Core>>, raw: RawQuery) -> Response {
    let query = query(raw);
    let wanted = query.get("qry").map_or("*", String::as_str);
    // The sizes of the name folders are asked of the disk.
    let made = tokio::task::spawn_blocking(move || {
        let figures = Figures::take(&core);
        vec![
            info::bean_of(&core, &figures),
            system::system(&core, &figures),
            system::state(&core, &figures),
            system::replicated(&figures),
            others::status(&core),
            others::activity(&core),
            others::runtime(&core),
        ]
    });
    let mut beans = made.await.unwrap_or_default();
    let (pattern, attribute) = match query.get("get").and_then(|get| get.split_once("::")) {
        Some((bean, attribute)) => (bean, Some(attribute)),
        None => (wanted, None),
    };
    beans.retain(|bean| {
        bean.get("name").and_then(Value::as_str).is_some_and(|name| matches(pattern, name))
    });
    if let Some(attribute) = attribute {
        beans.iter_mut().for_each(|bean| keep_only(bean, attribute));
    }
    let page = json!({ "beans": beans });
    text("application/json; charset=utf8", serde_json::to_string_pretty(&page).unwrap_or_default())
}

fn keep_only(bean: &mut Value, attribute: &str) {
    if let Some(bean) = bean.as_object_mut() {
        bean.retain(|name, _| name == "name" || name == "modelerType" || name == attribute);
    }
}

/// An object name pattern: `domain:property,...` with `*` for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let pattern = if pattern == "*:*" { "*" } else { pattern };
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        last = Some(part);
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    match last {
        None => rest.is_empty(),
        Some("") => true,
        Some(part) => name.ends_with(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_patterns_of_names() {
        let name = "Hadoop:service=NameNode,name=FSNamesystem";
        for pattern in [
            "*",
            "*:*",
            name,
            "Hadoop:*",
            "Hadoop:service=NameNode,name=FSN*",
            "*name=FSNamesystem",
        ] {
            assert!(matches(pattern, name), "{pattern}");
        }
        for pattern in
            ["", "java.lang:*", "Hadoop:service=NameNode,name=FSNamesystemS*", "*name=NameNodeInfo"]
        {
            assert!(!matches(pattern, name), "{pattern}");
        }
    }
}
