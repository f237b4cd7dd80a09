//! A request's head, and the URLs that answers send its caller to.

use crate::exchange::Exchange;
use crate::paths::merged;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use percent_encoding::{CONTROLS, utf8_percent_encode};
use serde_json::{Value, json};

/// How WebHDFS's URLs begin.
pub(crate) const PREFIX: &str = "/webhdfs/v1";

/// Parameters that count for one step of two only.
const OF_FIRST_STEP: [&str; 3] = ["noredirect", "data", "excludedatanodes"];

/// A request's head.
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) exchange: Exchange,
}

impl Call {
    /// The URL of what is asked for, without parameters, as the caller reached this server.
    pub(crate) fn url(&self) -> String {
        ascii(&(self.base() + self.uri.path()))
    }

    /// The path behind WebHDFS's prefix, encoded.
    pub(crate) fn path_below_prefix(&self) -> String {
        let path = self.uri.path();
        ascii(path.strip_prefix(PREFIX).unwrap_or(path))
    }

    /// Where the second step goes at this server.
    pub(crate) fn second_step_here(&self, added: &str) -> String {
        self.second_step(&self.base(), self.uri.path(), added)
    }

    /// Returns the URL of the second step at another server, `host:port`. Apache Hadoop's DataNodes refuse doubled slashes.
    pub(crate) fn second_step_at(&self, authority: &str, added: &str) -> String {
        self.second_step(&format!("http://{authority}"), &merged(self.uri.path()), added)
    }

    /// Scheme and authority by which the caller reached this server.
    fn base(&self) -> String {
        let host = self.headers.get(header::HOST).and_then(|host| host.to_str().ok());
        // HTTP/2 has it in the URL.
        let host = host.or(self.uri.authority().map(Authority::as_str));
        format!("{}://{}", self.exchange.scheme(), host.unwrap_or("localhost"))
    }

    /// Apache's DataNodes know parameters by their names in small letters only.
    fn second_step(&self, base: &str, path: &str, added: &str) -> String {
        let query = self.uri.query().unwrap_or_default();
        let parts = query.split('&').filter_map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let name = name.to_ascii_lowercase();
            let is_kept = !name.is_empty() && !OF_FIRST_STEP.contains(&name.as_str());
            is_kept.then(|| format!("{name}={value}"))
        });
        let added = Some(added.to_owned()).filter(|added| !added.is_empty());
        let query: Vec<String> = parts.chain(added).collect();
        ascii(&format!("{base}{path}?{}", query.join("&")))
    }
}

/// Sends the caller to a URL: by a redirect, or in the answer's body.
pub(crate) fn to_location(location: String, in_body: bool) -> Response {
    if in_body {
        return in_json(&json!({ "Location": location }));
    }
    let kind = (header::CONTENT_TYPE, "application/octet-stream".to_owned());
    (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, location), kind]).into_response()
}

/// An answer in JSON.
pub(crate) fn in_json(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

/// Java's client sends names as they are, and takes what is not ASCII in an answer's head for Latin-1.
fn ascii(url: &str) -> String {
    utf8_percent_encode(url, CONTROLS).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> Call {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "gw.example:14000".parse().unwrap());
        let uri =
            "/webhdfs/v1/a%20b\u{e9}?OP=CREATE&noRedirect=true&data=false&&user.name=u%2B&doAs=v";
        let (method, exchange) = (Method::PUT, Exchange::default());
        Call { method, uri: uri.parse().unwrap(), headers, exchange }
    }

    #[test]
    fn a_caller_is_sent_to_the_host_that_it_named() {
        assert_eq!(
            call().second_step_here("data=true"),
            "http://gw.example:14000/webhdfs/v1/a%20b%C3%A9?op=CREATE&user.name=u%2B&doas=v&data=true"
        );
        assert_eq!(call().url(), "http://gw.example:14000/webhdfs/v1/a%20b%C3%A9");
    }

    #[test]
    fn apaches_datanodes_were_sent_doubled_slashes_that_they_refuse() {
        let call = Call { uri: "/webhdfs/v1//a%20b//c/?op=OPEN".parse().unwrap(), ..call() };
        let there = call.second_step_at("dn1:9864", "");
        assert_eq!(there, "http://dn1:9864/webhdfs/v1/a%20b/c?op=OPEN");
    }

    #[test]
    fn a_datanode_gets_the_parameters_by_the_names_that_apaches_knows() {
        assert_eq!(
            call().second_step_at("dn1:9864", "namenoderpcaddress=nn:8020"),
            "http://dn1:9864/webhdfs/v1/a%20b%C3%A9?op=CREATE&user.name=u%2B&doas=v&namenoderpcaddress=nn:8020"
        );
    }
}
