//! `/logs`: the newest lines of this process's log, and its levels.

use crate::HtmlPage;
use crate::content::{Body, Content, Section};
use crate::layout::Site;
use askama::Template;
use zerohop_daemon::http::QueryValues;
use zerohop_daemon::process_log::{LogLevel, ProcessLog};

pub(crate) const ADDRESS: &str = "/logs";
const LINES: usize = 300;
const LINES_MAX: usize = 2000;

#[derive(Template)]
#[template(path = "logs_filter.html")]
struct Filter<'a> {
    levels: Vec<(&'static str, bool)>,
    text: &'a str,
    lines: usize,
    user: Option<&'a str>,
}

pub(crate) fn page(site: &Site, log: &ProcessLog, query: &QueryValues) -> HtmlPage {
    let level = query.get("level").and_then(LogLevel::parse).unwrap_or(LogLevel::Trace);
    let text = query.get("q").unwrap_or_default();
    let wanted = query.get("lines").and_then(|lines| lines.parse().ok()).unwrap_or(LINES);
    let lines = log.newest(wanted.clamp(1, LINES_MAX), level, text);
    let shown = match lines.is_empty() {
        true => "No line matches.".to_owned(),
        false => lines.join("\n"),
    };
    let levels = LogLevel::ALL.iter().map(|known| (known.name(), *known == level)).collect();
    let user = query.get("user.name");
    let form = Filter { levels, text, lines: wanted.clamp(1, LINES_MAX), user };
    let form = form.render().unwrap_or_default();
    let note = format!("The newest first. Levels now: {}", log.directives());
    let content = Content::new()
        .with(Section::new("filter", Body::Html(form)).still())
        .with(Section::new("lines", Body::Lines(shown)).titled("Lines").noted(note));
    site.page("Log", ADDRESS, &content)
}
