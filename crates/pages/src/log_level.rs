//! `/logLevel`: the level of a logger, shown and changed (`LogLevel.Servlet`, which `hadoop daemonlog` asks).

use crate::HtmlPage;
use crate::content::{Body, Content, Section};
use crate::layout::Site;
use crate::same_site::check_same_site;
use askama::Template;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;
use zerohop_daemon::http::{Page, QueryValues};
use zerohop_daemon::process_log::{LogLevel, ProcessLog};

pub(crate) const ADDRESS: &str = "/logLevel";
/// Target of the lines that say who changed a level.
const AUDIT: &str = "audit";
/// Number of characters that are logged of a text from a request.
const SHOWN_MAX: usize = 200;

/// `hadoop daemonlog` prints the lines of the answer that begin with `<!-- OUTPUT -->`, without their tags.
#[derive(Template)]
#[template(path = "log_level.html")]
struct Form<'a> {
    logger: &'a str,
    outcome: Option<Outcome>,
    levels: Vec<(&'static str, bool)>,
    directives: String,
    user: Option<&'a str>,
}

struct Outcome {
    changed_to: Option<&'static str>,
    refusal: Option<String>,
    effective: &'static str,
}

/// A request: a logger, the level that it gets, the user, the address and the headers.
pub(crate) struct Asked<'a> {
    logger: &'a str,
    level: Option<&'a str>,
    user: Option<&'a str>,
    remote: IpAddr,
    headers: &'a HeaderMap,
}

impl<'a> Asked<'a> {
    /// Reads a request.
    pub(crate) fn new(query: &'a QueryValues, remote: IpAddr, headers: &'a HeaderMap) -> Self {
        let text = |name: &str| query.get(name).map(str::trim).filter(|text| !text.is_empty());
        let (level, user) = (text("level"), text("user.name"));
        Self { logger: text("log").unwrap_or_default(), level, user, remote, headers }
    }

    /// Returns the line of an attempt to change a level, in the format of the NameNode's audit log.
    fn audit_line(&self, is_allowed: bool, level: &str) -> String {
        let user =
            self.user.map_or_else(|| "null".to_owned(), |user| shown(user) + " (auth:SIMPLE)");
        let (remote, logger, level) =
            (self.remote.to_canonical(), shown(self.logger), shown(level));
        format!(
            "allowed={is_allowed}\tugi={user}\tip=/{remote}\tcmd=setLogLevel\tsrc={logger}\tdst={level}\tperm=null\tproto=http"
        )
    }

    /// Logs an attempt to change a level. The line is written before the change, which can turn it off.
    fn audit(&self, is_allowed: bool, level: &str) {
        tracing::warn!(target: AUDIT, "{}", self.audit_line(is_allowed, level));
    }
}

/// Returns the beginning of a text from a request, escaped: it can end no line and no field of the log.
fn shown(text: &str) -> String {
    text.chars().take(SHOWN_MAX).flat_map(char::escape_debug).collect()
}

/// Shows the level of a logger to an administrator. With a level, changes it first.
pub(crate) fn answer(
    site: &Site,
    log: &ProcessLog,
    asked: &Asked<'_>,
    refusal: Option<Page>,
) -> Response {
    let change = asked.level.filter(|_| !asked.logger.is_empty());
    let refusal = match (refusal, change) {
        (Some(page), _) => Some(page.into_response()),
        (None, Some(_)) => check_same_site(asked.headers).err().map(IntoResponse::into_response),
        (None, None) => None,
    };
    if let Some(level) = change {
        asked.audit(refusal.is_none(), level);
    }
    match refusal {
        Some(refusal) => refusal,
        None => page(site, log, asked, change),
    }
}

fn page(site: &Site, log: &ProcessLog, asked: &Asked<'_>, change: Option<&str>) -> Response {
    let logger = asked.logger;
    let mut outcome = None;
    if !logger.is_empty() {
        let (mut changed_to, mut refusal) = (None, None);
        if let Some(wanted) = change {
            let set = match LogLevel::parse(wanted) {
                Some(level) => log.set_level(logger, level).map(|()| level),
                None => Err(format!("Bad Level : {wanted}")),
            };
            match set {
                Ok(level) => changed_to = Some(level.name()),
                Err(why) => refusal = Some(why),
            }
        }
        outcome = Some(Outcome { changed_to, refusal, effective: log.level(logger).name() });
    }
    let effective = outcome.as_ref().map_or(LogLevel::Info.name(), |outcome| outcome.effective);
    let is_refused = outcome.as_ref().is_some_and(|outcome| outcome.refusal.is_some());
    let levels = LogLevel::ALL.iter().map(|level| (level.name(), level.name() == effective));
    let form = Form {
        logger,
        outcome,
        levels: levels.collect(),
        directives: log.directives(),
        user: asked.user,
    };
    let html = match form.render() {
        Ok(html) => html,
        Err(error) => return HtmlPage::failed(&error).into_response(),
    };
    let content = Content::new().with(Section::new("change", Body::Html(html)).still());
    let page = site.page("Log level", "/logs", &content);
    page.with_status(if is_refused { StatusCode::BAD_REQUEST } else { StatusCode::OK })
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(query: &str, is_allowed: bool) -> String {
        let (query, headers) = (QueryValues::parse(query), HeaderMap::new());
        let asked = Asked::new(&query, [10, 0, 0, 1].into(), &headers);
        asked.audit_line(is_allowed, asked.level.unwrap())
    }

    /// A level could be changed without a line that named the user.
    #[test]
    fn a_change_of_a_level_left_no_audit_line() {
        assert_eq!(
            line("log=a.b&level=DEBUG&user.name=alice", true),
            "allowed=true\tugi=alice (auth:SIMPLE)\tip=/10.0.0.1\tcmd=setLogLevel\tsrc=a.b\tdst=DEBUG\tperm=null\tproto=http"
        );
        let forged = line("log=a%0ab%09c&level=x%09y&user.name=a%0ab", false);
        assert_eq!(
            forged,
            "allowed=false\tugi=a\\nb (auth:SIMPLE)\tip=/10.0.0.1\tcmd=setLogLevel\tsrc=a\\nb\\tc\tdst=x\\ty\tperm=null\tproto=http"
        );
        assert!(line("log=a&level=INFO", true).contains("\tugi=null\t"));
    }
}
