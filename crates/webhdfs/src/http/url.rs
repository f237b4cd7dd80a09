//! The URLs of requests and redirects.

use std::fmt;

/// An `http` or `https` URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) is_tls: bool,
    /// `host:port`, with brackets around an IPv6 address.
    pub(crate) authority: String,
    /// Path and query, escaped.
    pub(crate) target: String,
}

impl Url {
    /// Parses the URL of a redirect; returns `None` if it is not an absolute URL of HTTP.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (is_tls, rest) = match text.split_once("://")? {
            (scheme, rest) if scheme.eq_ignore_ascii_case("http") => (false, rest),
            (scheme, rest) if scheme.eq_ignore_ascii_case("https") => (true, rest),
            _ => return None,
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        // A user in a redirect is nobody's; the request names the caller itself.
        let authority = authority.rsplit('@').next().unwrap_or_default();
        if authority.is_empty() || text.chars().any(|c| c.is_ascii_control() || c == ' ') {
            return None;
        }
        let has_port = authority.rsplit_once(':').is_some_and(|(host, port)| {
            port.parse::<u16>().is_ok() && (!host.contains(':') || host.ends_with(']'))
        });
        let authority = match has_port {
            true => authority.to_owned(),
            false => format!("{authority}:{}", if is_tls { 443 } else { 80 }),
        };
        let target = target.split('#').next().unwrap_or_default();
        let target = if target.starts_with('/') { target.to_owned() } else { format!("/{target}") };
        Some(Self { is_tls, authority, target })
    }

    /// Returns the host without port and brackets, as certificates have it.
    pub(crate) fn host(&self) -> &str {
        let host = self.authority.rsplit_once(':').map_or(&*self.authority, |(host, _)| host);
        host.trim_start_matches('[').trim_end_matches(']')
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_tls { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority, self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_are_absolute_urls() {
        let parts =
            |text: &str| Url::parse(text).map(|url| (url.is_tls, url.authority, url.target));
        let url = |is_tls, authority: &str, target: &str| {
            Some((is_tls, authority.to_owned(), target.to_owned()))
        };
        assert_eq!(
            parts("http://dn:9864/webhdfs/v1/a?op=OPEN"),
            url(false, "dn:9864", "/webhdfs/v1/a?op=OPEN")
        );
        assert_eq!(parts("https://dn"), url(true, "dn:443", "/"));
        assert_eq!(parts("HTTP://u@[::1]:80?x#y"), url(false, "[::1]:80", "/?x"));
        for text in
            ["/webhdfs/v1/a", "ftp://dn/a", "http:///a", "http://dn/a b", "http://dn/\r\nX: y"]
        {
            assert_eq!(parts(text), None, "{text}");
        }
        assert_eq!(Url::parse("http://[::1]:80/").unwrap().host(), "::1");
    }
}
