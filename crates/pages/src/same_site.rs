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
        let text =
            "This request came from another site's page, which may not change anything here.\n";
        Page::text(text).with_status(StatusCode::FORBIDDEN).into_response()
    }
}

/// Refuses a request that a page of another site made. Browsers say where a form comes from (`Sec-Fetch-Site`, `Origin`);
/// programs that say nothing are no browsers.
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
    let Some(from) = text(header::ORIGIN).or_else(|| text(header::REFERER)) else { return Ok(()) };
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
            &[("origin", "http://nn:9870")],
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
        ] {
            assert_eq!(check(other), Err(CrossSite), "{other:?}");
        }
    }
}
