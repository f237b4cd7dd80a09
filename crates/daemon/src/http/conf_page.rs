//! `/conf` as scripts ask for it: XML, or JSON for who accepts it; `?name=KEY` for one property
//! (`ConfServlet`). Values of sensitive keys are left out.

use super::page::Page;
use super::query::QueryValues;
use axum::http::StatusCode;
use serde_json::{Value, json};
use zerohop_conf::Conf;
use zerohop_conf::dump::{Property, properties, xml};

/// The page for a request's query (without `?`) and its Accept header: status 404 for a property that is not there.
pub(super) fn page(conf: &Conf, raw_query: &str, accept: &str) -> Page {
    let query = QueryValues::parse(raw_query);
    let wanted = query.get("name").filter(|name| !name.is_empty());
    let found = properties(conf, wanted);
    if let Some(name) = wanted
        && found.is_empty()
    {
        let page = Page::text(format!("Property {name} not found\n"));
        return page.with_status(StatusCode::NOT_FOUND);
    }
    if !accept.contains("json") {
        return Page::new("text/xml; charset=utf-8", xml(&found));
    }
    let body = match (wanted, found.first()) {
        (Some(_), Some(only)) => json!({ "property": member(only) }),
        _ => json!({ "properties": found.iter().map(member).collect::<Vec<_>>() }),
    };
    Page::json(body.to_string())
}

fn member(property: &Property) -> Value {
    json!({
        "key": property.name,
        "value": property.value.as_deref().unwrap_or("<redacted>"),
        "isFinal": property.is_final,
        "resource": property.source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sensitive_values_were_shown() {
        let mut conf = Conf::new();
        conf.set("fs.azure.account.key.me", "s3cret");
        conf.set("my.plan", "s3cret");
        conf.set("hadoop.security.sensitive-config-keys", "plan$,^fs[.]azure[.]account[.]key");
        for (accept, hidden) in [("*/*", "******"), ("application/json", "<redacted>")] {
            let all = page(&conf, "", accept);
            assert!(all.status == StatusCode::OK && !all.body.contains("s3cret"), "{all:?}");
            assert!(all.body.contains("dfs.replication"));
            let one = page(&conf, "name=my.plan", accept);
            assert!(one.body.contains(hidden) && !one.body.contains("dfs.replication"), "{one:?}");
        }
        assert_eq!(page(&conf, "name=dfs.replicas", "").status, StatusCode::NOT_FOUND);
    }
}
