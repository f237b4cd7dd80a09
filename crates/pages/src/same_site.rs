//! The check against cross-site requests: a form of another site must not change anything here.

use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use zerohop_daemon::http::Page;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// A browser sent a form of another site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrossSite;

impl IntoResponse for CrossSite {
    fn into_response(self) -> Response {
        let text = "This request did not come from a page of this server, and only those may change anything here. \
            Open the page and use its form.\n";
        Page::text(text).with_status(StatusCode::FORBIDDEN).into_response()
    }
}

/// Refuses a request that a page of another site made. Browsers say where a form of this site comes from (`Sec-Fetch-Site`,
/// `Origin`, `Referer`); programs say nothing.
///
/// # Errors
/// If the page was another site's.
pub fn check_same_site(headers: &HeaderMap) -> Result<(), CrossSite> {
    if let Some(site) = headers.get(FETCH_SITE) {
        // `none`: the user typed the address.
        let is_own = site == "same-origin" || site == "none";
        return if is_own { Ok(()) } else { Err(CrossSite) };
    }
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("null"));
    let Some(from) = text(header::ORIGIN).or_else(|| text(header::REFERER)) else {
        // Another site's page can have a browser leave both out, and on plain connections to other machines there is no
        // Sec-Fetch-Site.
        let is_browser =
            text(header::USER_AGENT).is_some_and(|agent| agent.starts_with("Mozilla/"));
        return if is_browser { Err(CrossSite) } else { Ok(()) };
    };
    let authority = from.split_once("://").map(|(_, rest)| rest.split('/').next());
    match (authority.flatten(), text(header::HOST)) {
        (Some(from), Some(host)) if from.eq_ignore_ascii_case(host) => Ok(()),
        _ => Err(CrossSite),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(named: &[(&'static str, &'static str)]) -> Result<(), CrossSite> {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "nn:9870".parse().unwrap());
        for (name, value) in named {
            headers.insert(*name, value.parse().unwrap());
        }
        check_same_site(&headers)
    }

    #[test]
    fn only_own_forms_and_programs_change_something() {
        for own in [
            &[][..],
            &[("sec-fetch-site", "same-origin")],
            &[("sec-fetch-site", "none")],
            &[("user-agent", "curl/8.0")],
            &[("origin", "http://nn:9870"), ("user-agent", "Mozilla/5.0")],
            &[("referer", "http://NN:9870/explorer?path=/")],
        ] {
            assert_eq!(check(own), Ok(()), "{own:?}");
        }
        for other in [
            &[("sec-fetch-site", "cross-site"), ("origin", "http://nn:9870")][..],
            &[("sec-fetch-site", "same-site")],
            &[("origin", "http://nn:9864")],
            &[("origin", "null")],
            &[("origin", "http://nn:9870.evil.example")],
            &[("referer", "http://evil.example/nn:9870/")],
            &[("user-agent", "Mozilla/5.0 (X11; Linux x86_64)")],
        ] {
            assert_eq!(check(other), Err(CrossSite), "{other:?}");
        }
    }
}
