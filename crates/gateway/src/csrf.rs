//! The check against cross-site requests (`RestCsrfPreventionFilter`): a browser has to send a header that no form of another
//! site can.

use crate::call::Call;
use axum::http::{HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use regex::Regex;
use zerohop_conf::{Conf, ConfError, keys};

/// The rules of `dfs.webhdfs.rest-csrf.*`.
#[derive(Debug)]
pub(crate) struct Csrf {
    header: HeaderName,
    ignored: Vec<String>,
    browsers: Vec<Regex>,
}

impl Csrf {
    /// None where `dfs.webhdfs.rest-csrf.enabled` is false.
    ///
    /// # Errors
    /// If a key is malformed.
    pub(crate) fn from_conf(conf: &Conf) -> Result<Option<Self>, ConfError> {
        if !conf.get(&keys::DFS_WEBHDFS_REST_CSRF_ENABLED)? {
            return Ok(None);
        }
        let browsers = &keys::DFS_WEBHDFS_REST_CSRF_BROWSER_USERAGENTS_REGEX;
        let whole = |pattern: String| Regex::new(&format!("^(?:{pattern})$"));
        Ok(Some(Self {
            header: conf.get_as(
                &keys::DFS_WEBHDFS_REST_CSRF_CUSTOM_HEADER,
                "the name of a header",
                |name| name.parse().ok(),
            )?,
            ignored: conf.get(&keys::DFS_WEBHDFS_REST_CSRF_METHODS_TO_IGNORE)?,
            browsers: conf.get_as(browsers, "regular expressions", |patterns| {
                patterns.into_iter().map(whole).collect::<Result<_, _>>().ok()
            })?,
        }))
    }

    /// The refusal of a browser's request without the header; none for others.
    pub(crate) fn refusal(&self, call: &Call) -> Option<Response> {
        let agent = call.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
        let is_browser =
            agent.is_some_and(|agent| self.browsers.iter().any(|browser| browser.is_match(agent)));
        let is_refused = is_browser
            && !self.is_ignored(&call.method)
            && !call.headers.contains_key(&self.header);
        let message = "Missing Required Header for CSRF Vulnerability Protection";
        is_refused.then(|| (StatusCode::BAD_REQUEST, message).into_response())
    }

    fn is_ignored(&self, method: &Method) -> bool {
        self.ignored.iter().any(|ignored| ignored == method.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Exchange;
    use axum::http::HeaderMap;

    #[test]
    fn browsers_need_the_header_for_what_changes_something() {
        let mut conf = Conf::new();
        assert!(Csrf::from_conf(&conf).unwrap().is_none());
        conf.set("dfs.webhdfs.rest-csrf.enabled", "true");
        let csrf = Csrf::from_conf(&conf).unwrap().unwrap();
        let passes = |method: Method, agent: &'static str, header: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::USER_AGENT, agent.parse().unwrap());
            header.map(|name| headers.insert(name, "".parse().unwrap()));
            let (uri, exchange) = ("/webhdfs/v1/".parse().unwrap(), Exchange::default());
            let call = Call { method, uri, headers, exchange };
            csrf.refusal(&call).is_none()
        };
        assert!(!passes(Method::PUT, "Mozilla/5.0", None));
        assert!(!passes(Method::DELETE, "Opera", None));
        assert!(passes(Method::PUT, "Mozilla/5.0", Some("x-xsrf-header")));
        assert!(passes(Method::GET, "Mozilla/5.0", None));
        assert!(passes(Method::PUT, "curl/8 (Mozilla)", None));
        conf.set("dfs.webhdfs.rest-csrf.browser-useragents-regex", "(");
        assert!(Csrf::from_conf(&conf).is_err());
    }
}
