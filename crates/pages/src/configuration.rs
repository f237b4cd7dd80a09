//! `/configuration`: the configuration in force, with the origin of each value. `/conf` is the same for programs.

use crate::HtmlPage;
use crate::content::{Body, Cell, Content, Section, Table};
use crate::figures::url_value;
use crate::layout::Site;
use crate::paging::Paging;
use askama::Template;
use zerohop_conf::Conf;
use zerohop_conf::dump::{Property, properties};
use zerohop_daemon::http::QueryValues;

pub(crate) const ADDRESS: &str = "/configuration";
const ROWS: usize = 200;

#[derive(Template)]
#[template(path = "configuration_filter.html")]
struct Filter<'a> {
    text: &'a str,
    only_set: bool,
    user: Option<&'a str>,
}

pub(crate) fn page(site: &Site, conf: &Conf, query: &QueryValues) -> HtmlPage {
    let text = query.get("q").unwrap_or_default();
    let only_set = query.get("set").is_some_and(|value| value == "1");
    let all = properties(conf, None);
    let total = all.len();
    let wanted = text.to_ascii_lowercase();
    let is_wanted = |property: &Property| {
        let is_default = property.source.is_empty() || property.source.contains("default");
        let value = property.value.as_deref().unwrap_or_default();
        (!only_set || !is_default)
            && (property.name.to_ascii_lowercase().contains(&wanted)
                || value.to_ascii_lowercase().contains(&wanted))
    };
    let found: Vec<Property> = all.into_iter().filter(is_wanted).collect();
    let user = query.get("user.name");
    let number = query.get("page").and_then(|page| page.parse().ok()).unwrap_or(1);
    let address = |page: usize| {
        let set = if only_set { "&set=1" } else { "" };
        let user = user.map(|user| format!("&user.name={}", url_value(user))).unwrap_or_default();
        format!("{ADDRESS}?q={}{set}{user}&page={page}", url_value(text))
    };
    let (rows, paging) = Paging::numbered(number, found.len(), ROWS, address);
    let mut table = Table::new(&["Key", "Value", "Origin", "Final"], "No key matches.");
    for property in found.get(rows).unwrap_or_default() {
        let value = property.value.as_deref().unwrap_or("(kept off pages)");
        table.row(vec![
            Cell::code(&property.name),
            Cell::code(value),
            if property.source.is_empty() { "default" } else { &property.source }.into(),
            if property.is_final { "final" } else { "" }.into(),
        ]);
    }
    let table = Table { paging, ..table };
    let form = Filter { text, only_set, user }.render().unwrap_or_default();
    let note = format!("{} of {total} keys.", found.len());
    let content = Content::new()
        .with(Section::new("filter", Body::Html(form)).still())
        .with(Section::new("keys", Body::Table(table)).titled("Keys").noted(note).still());
    site.page("Configuration", ADDRESS, &content)
}
