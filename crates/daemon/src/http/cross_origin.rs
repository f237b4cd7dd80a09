//! The cross-origin filter (`CrossOriginFilter`): the pages of other origins that may read answers, and what they may send.
//!
//! Browsers hide an answer from a page of another origin unless the answer names that origin. Before a request that a form
//! could not send they ask by OPTIONS whether it is allowed (a preflight request).

use axum::Router;
use axum::body::Body;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ALLOW, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use axum::response::Response;
use regex::Regex;
use std::sync::Arc;
use tower_service::Service;
use zerohop_conf::{CROSS_ORIGIN_FILTER, Conf, ConfError, Key, keys};

/// The mark in a request's extensions that a page of an allowed origin sent it, with a method that the filter allows.
#[derive(Clone, Copy, Debug)]
pub struct FromAllowedOrigin;

const REGEX_PREFIX: &str = "regex:";

/// The rules of `hadoop.http.cross-origin.*`.
#[derive(Debug)]
pub struct CrossOrigin {
    /// `None` allows every origin.
    origins: Option<Vec<AllowedOrigin>>,
    methods: Vec<String>,
    headers: Vec<String>,
    /// Headers of an answer that a page of an allowed origin may read, besides the one that names the origin.
    granted: HeaderMap,
}

#[derive(Debug)]
enum AllowedOrigin {
    Exactly(String),
    Matching(Regex),
}

impl CrossOrigin {
    /// Returns the rules, or `None` if the filter is not named or not enabled.
    ///
    /// # Errors
    /// Fails if a key is malformed. Patterns that only Java's regular expressions have are malformed, too.
    pub fn from_conf(conf: &Conf) -> Result<Option<Arc<Self>>, ConfError> {
        let filters = conf.get(&keys::HADOOP_HTTP_FILTER_INITIALIZERS)?;
        let is_named = filters.iter().any(|class| class == CROSS_ORIGIN_FILTER);
        if !is_named || !conf.get(&keys::HADOOP_HTTP_CROSS_ORIGIN_ENABLED)? {
            return Ok(None);
        }
        let methods = &keys::HADOOP_HTTP_CROSS_ORIGIN_ALLOWED_METHODS;
        let headers = &keys::HADOOP_HTTP_CROSS_ORIGIN_ALLOWED_HEADERS;
        let granted = HeaderMap::from_iter([
            (ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true")),
            (ACCESS_CONTROL_ALLOW_METHODS, joined(conf, methods)?),
            (ACCESS_CONTROL_ALLOW_HEADERS, joined(conf, headers)?),
            (ACCESS_CONTROL_MAX_AGE, conf.get(&keys::HADOOP_HTTP_CROSS_ORIGIN_MAX_AGE)?.into()),
        ]);
        let (methods, headers) = (conf.get(methods)?, conf.get(headers)?);
        Ok(Some(Arc::new(Self { origins: allowed_origins(conf)?, methods, headers, granted })))
    }

    /// Returns the headers for the answer to a request with `request` as its headers, or `None` if no page of another origin
    /// sent it, or one that may not.
    fn grant(&self, request: &HeaderMap) -> Option<HeaderMap> {
        let text = |name: HeaderName| request.get(name).map(|value| value.to_str().ok());
        let origins = text(ORIGIN)??.trim();
        let is_allowed = self.allows_one_of(origins)
            && text(ACCESS_CONTROL_REQUEST_METHOD)
                .is_none_or(|method| method.is_some_and(|method| self.allows_method(method)))
            && text(ACCESS_CONTROL_REQUEST_HEADERS)
                .is_none_or(|names| names.is_some_and(|names| self.allows_headers(names)));
        let origins = HeaderValue::from_str(origins).ok().filter(|_| is_allowed)?;
        let mut granted = self.granted.clone();
        granted.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origins);
        Some(granted)
    }

    fn allows_one_of(&self, origins: &str) -> bool {
        let Some(allowed) = &self.origins else { return true };
        origins.split_ascii_whitespace().any(|origin| {
            allowed.iter().any(|allowed| match allowed {
                AllowedOrigin::Exactly(known) => known == origin,
                AllowedOrigin::Matching(pattern) => pattern.is_match(origin),
            })
        })
    }

    fn allows_method(&self, method: &str) -> bool {
        self.methods.iter().any(|known| known == method)
    }

    /// Compares names without regard to case, because browsers send them in small letters. Apache Hadoop's filter does not.
    fn allows_headers(&self, names: &str) -> bool {
        let is_known =
            |name: &str| self.headers.iter().any(|known| known.eq_ignore_ascii_case(name));
        names.split(',').map(str::trim).all(is_known)
    }
}

/// Returns the list of a key as Hadoop's filter sends it.
fn joined(conf: &Conf, key: &Key<Vec<String>>) -> Result<HeaderValue, ConfError> {
    conf.get_as(key, "a list with commas", |list| HeaderValue::try_from(list.join(",")).ok())
}

fn allowed_origins(conf: &Conf) -> Result<Option<Vec<AllowedOrigin>>, ConfError> {
    let key = &keys::HADOOP_HTTP_CROSS_ORIGIN_ALLOWED_ORIGINS;
    let expected =
        "a list of origins, in which `*' is any text and `regex:' begins a regular expression";
    let read = |list: Vec<String>| -> Option<Vec<AllowedOrigin>> {
        list.iter().map(|text| allowed_origin(text)).collect()
    };
    conf.get_as(key, expected, |list| match list.iter().any(|one| one == "*") {
        true => Some(None),
        false => read(list).map(Some),
    })
}

/// Returns `None` if the text is malformed as a regular expression.
fn allowed_origin(text: &str) -> Option<AllowedOrigin> {
    let pattern = match text.strip_prefix(REGEX_PREFIX) {
        Some(pattern) => pattern.to_owned(),
        None if text.contains('*') => text.replace('.', "\\.").replace('*', ".*"),
        None => return Some(AllowedOrigin::Exactly(text.to_owned())),
    };
    Regex::new(&format!("^(?:{pattern})$")).ok().map(AllowedOrigin::Matching)
}

/// Answers a request by `router`, by the rules of `filter` for pages of other origins.
///
/// A preflight request that is granted ends here: a browser sends neither cookies nor a user's name with it. Any other request by
/// OPTIONS for a path that takes methods is answered with these methods.
pub(super) async fn answer(
    mut router: Router,
    mut request: Request<Body>,
    filter: Option<Arc<CrossOrigin>>,
) -> Response {
    let headers = request.headers();
    let granted = filter.as_ref().and_then(|filter| filter.grant(headers));
    if granted.is_some()
        && filter.as_ref().is_some_and(|filter| filter.allows_method(request.method().as_str()))
    {
        request.extensions_mut().insert(FromAllowedOrigin);
    }
    let headers = request.headers();
    let is_options = request.method() == Method::OPTIONS;
    let is_preflight = is_options && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = match granted.is_some() && is_preflight {
        true => Response::new(Body::empty()),
        false => match router.call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        },
    };
    if is_options && response.status() == StatusCode::METHOD_NOT_ALLOWED {
        response = allowed_methods(response.headers().get(ALLOW));
    }
    if filter.is_some() {
        response.headers_mut().append(VARY, HeaderValue::from_static("origin"));
    }
    if let Some(granted) = granted {
        response.headers_mut().extend(granted);
    }
    response
}

/// Makes the answer to OPTIONS of what a path says that it takes.
fn allowed_methods(allow: Option<&HeaderValue>) -> Response {
    let mut response = Response::new(Body::empty());
    let others = allow.and_then(|allow| allow.to_str().ok()).filter(|allow| !allow.is_empty());
    let all = match others {
        Some(others) => format!("{others},OPTIONS"),
        None => "OPTIONS".to_owned(),
    };
    if let Ok(all) = HeaderValue::try_from(all) {
        response.headers_mut().insert(ALLOW, all);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;

    fn conf(settings: &[(&str, &str)]) -> Conf {
        let mut conf = Conf::new();
        conf.set(keys::HADOOP_HTTP_FILTER_INITIALIZERS.name, format!("x,{CROSS_ORIGIN_FILTER}"));
        conf.set(keys::HADOOP_HTTP_CROSS_ORIGIN_ENABLED.name, "true");
        settings.iter().for_each(|(name, value)| conf.set(name, *value));
        conf
    }

    fn filter(settings: &[(&str, &str)]) -> Arc<CrossOrigin> {
        CrossOrigin::from_conf(&conf(settings)).unwrap().unwrap()
    }

    fn request(method: Method, headers: &[(&'static str, &str)]) -> Request<Body> {
        let mut request = Request::builder().method(method).uri("/a");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Body::empty()).unwrap()
    }

    fn is_granted(filter: &CrossOrigin, headers: &[(&'static str, &str)]) -> bool {
        filter.grant(request(Method::GET, headers).headers()).is_some()
    }

    #[test]
    fn the_filter_is_off_unless_it_is_named_and_enabled() {
        assert!(CrossOrigin::from_conf(&Conf::new()).unwrap().is_none());
        for (key, value) in [
            ("hadoop.http.cross-origin.enabled", "false"),
            ("hadoop.http.filter.initializers", "org.apache.hadoop.http.lib.StaticUserWebFilter"),
        ] {
            assert!(CrossOrigin::from_conf(&conf(&[(key, value)])).unwrap().is_none(), "{key}");
        }
    }

    #[test]
    fn origins_are_names_patterns_or_regular_expressions() {
        let origins = |list: &str| filter(&[("hadoop.http.cross-origin.allowed-origins", list)]);
        for (list, allowed, refused) in [
            ("*", "http://a", None),
            ("http://a, https://b:1", "https://b:1", Some("http://c")),
            ("http://a", "http://b http://a", Some("http://ab")),
            ("http://*.x.org", "http://p.x.org", Some("http://pxx.org")),
            ("http://*.x.org", "http://p.q.x.org", Some("http://p.x.org.evil")),
            ("regex:https?://[ab]", "https://b", Some("https://bb")),
            ("null", "null", Some("http://null")),
        ] {
            let filter = origins(list);
            assert!(is_granted(&filter, &[("origin", allowed)]), "{list}: {allowed}");
            if let Some(refused) = refused {
                assert!(!is_granted(&filter, &[("origin", refused)]), "{list}: {refused}");
            }
            assert!(!is_granted(&filter, &[]), "{list}: no page of another origin");
        }
        for malformed in ["regex:(", "http://a,regex:(?!b)"] {
            let conf = conf(&[("hadoop.http.cross-origin.allowed-origins", malformed)]);
            assert!(CrossOrigin::from_conf(&conf).is_err(), "{malformed}");
        }
    }

    #[test]
    fn a_preflight_request_names_allowed_methods_and_headers_only() {
        let filter = filter(&[]);
        let granted = |method: &str, headers: &str| {
            let asked = [
                ("origin", "http://a"),
                ("access-control-request-method", method),
                ("access-control-request-headers", headers),
            ];
            is_granted(&filter, &asked)
        };
        assert!(granted("GET", "X-Requested-With , Accept"));
        assert!(granted("GET", "x-requested-with,content-type"), "as browsers send them");
        assert!(!granted("PUT", "Accept") && !granted("get", "Accept"));
        assert!(!granted("GET", "Accept,X-Other") && !granted("GET", ""));
    }

    /// A page of an origin that the operator had allowed could not read an answer, and OPTIONS was refused.
    #[tokio::test]
    async fn an_allowed_page_got_no_answer() {
        let router = Router::new().route("/a", get(async || (StatusCode::IM_A_TEAPOT, "b")));
        let ask =
            async |filter: Option<&Arc<CrossOrigin>>, method, headers: &[(&'static str, &str)]| {
                answer(router.clone(), request(method, headers), filter.cloned()).await
            };
        let filter = filter(&[("hadoop.http.cross-origin.allowed-origins", "http://a")]);
        let page = [("origin", "http://a")];
        let response = ask(Some(&filter), Method::GET, &page).await;
        let header = |response: &Response, name: &str| {
            response.headers().get(name).map(|value| value.to_str().unwrap().to_owned())
        };
        assert_eq!(response.status(), StatusCode::IM_A_TEAPOT);
        for (name, value) in [
            ("access-control-allow-origin", "http://a"),
            ("access-control-allow-credentials", "true"),
            ("access-control-allow-methods", "GET,POST,HEAD"),
            ("access-control-allow-headers", "X-Requested-With,Content-Type,Accept,Origin"),
            ("access-control-max-age", "1800"),
            ("vary", "origin"),
        ] {
            assert_eq!(header(&response, name).as_deref(), Some(value), "{name}");
        }
        let preflight = [page[0], ("access-control-request-method", "POST")];
        let response = ask(Some(&filter), Method::OPTIONS, &preflight).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(header(&response, "access-control-allow-origin").as_deref(), Some("http://a"));
        for (filter, headers) in [
            (Some(&filter), &[("origin", "http://b"), preflight[1]][..]),
            (Some(&filter), &[]),
            (None, &preflight),
        ] {
            let response = ask(filter, Method::OPTIONS, headers).await;
            assert_eq!(response.status(), StatusCode::OK);
            assert_eq!(header(&response, "allow").as_deref(), Some("GET,HEAD,OPTIONS"));
            assert_eq!(header(&response, "access-control-allow-origin"), None);
        }
        assert_eq!(header(&ask(None, Method::GET, &page).await, "vary"), None);
        let post = request(Method::POST, &page);
        let router = Router::new().fallback(async |request: Request<Body>| {
            request.extensions().get::<FromAllowedOrigin>().is_some().to_string()
        });
        for (request, is_allowed) in [
            (post, "true"),
            (request(Method::PUT, &page), "false"),
            (request(Method::POST, &[("origin", "http://b")]), "false"),
        ] {
            let response = answer(router.clone(), request, Some(Arc::clone(&filter))).await;
            let text = axum::body::to_bytes(response.into_body(), 9).await.unwrap();
            assert_eq!(text, is_allowed);
        }
        let put = ask(Some(&filter), Method::PUT, &page).await;
        assert_eq!(put.status(), StatusCode::METHOD_NOT_ALLOWED);
    }
}
