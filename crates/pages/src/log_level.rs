//! `/logLevel`: the level of a logger, shown and changed (`LogLevel.Servlet`, which `hadoop daemonlog` asks).

use crate::HtmlPage;
use crate::content::{Body, Content, Section};
use crate::layout::Site;
use crate::same_site::check_same_site;
use askama::Template;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use zerohop_daemon::http::QueryValues;
use zerohop_daemon::process_log::{LogLevel, ProcessLog};

pub(crate) const ADDRESS: &str = "/logLevel";

/// `hadoop daemonlog` prints the lines of the answer that begin with `<!-- OUTPUT -->`, without their tags.
#[derive(Template)]
#[template(path = "log_level.html")]
struct Form<'a> {
    logger: &'a str,
    outcome: Option<Outcome>,
    levels: Vec<(&'static str, bool)>,
    directives: String,
}

struct Outcome {
    changed_to: Option<&'static str>,
    refusal: Option<String>,
    effective: &'static str,
}

/// Shows the level of `log`, and with `level` changes it first.
pub(crate) fn answer(
    site: &Site,
    log: &ProcessLog,
    headers: &HeaderMap,
    query: &QueryValues,
) -> Response {
    let logger = query.get("log").unwrap_or_default().trim();
    let wanted = query.get("level").map(str::trim).filter(|level| !level.is_empty());
    let mut outcome = None;
    if !logger.is_empty() {
        let (mut changed_to, mut refusal) = (None, None);
        if let Some(wanted) = wanted {
            if let Err(refused) = check_same_site(headers) {
                return refused.into_response();
            }
            let set = match LogLevel::parse(wanted) {
                Some(level) => log.set_level(logger, level).map(|()| level),
                None => Err(format!("Bad Level : {wanted}")),
            };
            match set {
                Ok(level) => {
                    tracing::warn!("the log level of {logger} is {} now", level.name());
                    changed_to = Some(level.name());
                }
                Err(why) => refusal = Some(why),
            }
        }
        outcome = Some(Outcome { changed_to, refusal, effective: log.level(logger).name() });
    }
    let effective = outcome.as_ref().map_or(LogLevel::Info.name(), |outcome| outcome.effective);
    let is_refused = outcome.as_ref().is_some_and(|outcome| outcome.refusal.is_some());
    let levels = LogLevel::ALL.iter().map(|level| (level.name(), level.name() == effective));
    let form = Form { logger, outcome, levels: levels.collect(), directives: log.directives() };
    let html = match form.render() {
        Ok(html) => html,
        Err(error) => return HtmlPage::failed(&error).into_response(),
    };
    let content = Content::new().with(Section::new("change", Body::Html(html)).still());
    let page = site.page("Log level", "/logs", &content);
    page.with_status(if is_refused { StatusCode::BAD_REQUEST } else { StatusCode::OK })
        .into_response()
}
