//! Paths with scheme and authority, and the one comparison of authorities.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, ToSocketAddrs};

/// The port of a NameNode whose address names none.
const PORT: u16 = 8020;

/// A path as a user writes it, with an optional scheme and authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The scheme, such as `hdfs`, as it is written.
    pub scheme: Option<String>,
    /// The text between `//` and the path, as it is written. Compare it as an [`Authority`].
    pub authority: Option<String>,
    /// The path, which may be relative or empty.
    pub path: String,
}

impl Location {
    /// Splits a text. A scheme stands before `:/`, an authority follows `//`.
    pub fn parse(text: &str) -> Self {
        let colon = text.find(':').filter(|at| text.find('/') == Some(at + 1));
        let (scheme, rest) = match colon.filter(|at| is_scheme(&text[..*at])) {
            Some(at) => (Some(text[..at].to_owned()), &text[at + 1..]),
            None => (None, text),
        };
        let (authority, path) = match rest.strip_prefix("//").filter(|rest| !rest.is_empty()) {
            Some(rest) => {
                let end = rest.find('/').unwrap_or(rest.len());
                let authority = Some(&rest[..end]).filter(|text| !text.is_empty());
                (authority.map(str::to_owned), &rest[end..])
            }
            None => (None, rest),
        };
        Self { scheme, authority, path: path.to_owned() }
    }

    /// Returns `true` if the text names this scheme, in capitals or not.
    pub fn has_scheme(&self, scheme: &str) -> bool {
        self.scheme.as_deref().is_some_and(|found| found.eq_ignore_ascii_case(scheme))
    }

    /// Returns the authority as something to compare and to connect to.
    pub fn place(&self) -> Option<Authority> {
        self.authority.as_deref().map(Authority::parse)
    }
}

/// Returns `true` for a letter, then letters, digits, `+`, `.` and `-`.
pub(crate) fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-'))
}

/// The authority of an `hdfs://` URI: a host with an optional port, or a name service.
///
/// Two authorities are equal if they name the same place: the host in capitals or not, the port 8020 or none. A user
/// before `@` names no other place, and nobody else: Hadoop ignores it.
#[derive(Clone, Debug)]
pub struct Authority {
    /// The host, an address of IPv6 with its brackets.
    host: String,
    port: Option<u16>,
}

impl Authority {
    /// Reads an authority.
    pub fn parse(text: &str) -> Self {
        let address = text.rsplit_once('@').map_or(text, |(_, address)| address);
        let split = address.rsplit_once(':').and_then(|(host, port)| {
            let is_whole = !host.contains(':') || host.ends_with(']');
            Some((host, port.parse().ok()?)).filter(|_| is_whole)
        });
        match split {
            Some((host, port)) => Self { host: host.to_owned(), port: Some(port) },
            None => Self { host: address.to_owned(), port: None },
        }
    }

    /// Returns the host or name service, an address of IPv6 with its brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port that is written.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// Returns the host and the port, 8020 if none is written.
    pub fn address(&self) -> String {
        format!("{}:{}", self.host, self.port_or_default())
    }

    /// Returns `true` if the port is 8020, or none is written. A name service has no other.
    pub fn has_default_port(&self) -> bool {
        self.port_or_default() == PORT
    }

    fn port_or_default(&self) -> u16 {
        self.port.unwrap_or(PORT)
    }

    /// Returns `true` if both are equal, or one is the address of the other's host.
    ///
    /// Asks the system's resolver if one is an address, and the other a name with the same port.
    pub fn leads_to(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        if self.port_or_default() != other.port_or_default() {
            return false;
        }
        match (self.ip(), other.ip()) {
            (Some(address), None) => other.resolves_to(address),
            (None, Some(address)) => self.resolves_to(address),
            _ => false,
        }
    }

    fn ip(&self) -> Option<IpAddr> {
        self.host.trim_start_matches('[').trim_end_matches(']').parse().ok()
    }

    fn resolves_to(&self, address: IpAddr) -> bool {
        let found = (self.host.as_str(), self.port_or_default()).to_socket_addrs();
        found.is_ok_and(|mut found| found.any(|found| found.ip() == address))
    }
}

impl PartialEq for Authority {
    fn eq(&self, other: &Self) -> bool {
        self.port_or_default() == other.port_or_default()
            && self.host.eq_ignore_ascii_case(&other.host)
    }
}

impl Eq for Authority {}

impl Hash for Authority {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.host.to_ascii_lowercase().hash(state);
        self.port_or_default().hash(state);
    }
}

/// Writes the host, and the port that was written.
impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.host),
            None => f.write_str(&self.host),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations() {
        let cases = [
            ("hdfs://h:8020/a/b", "hdfs", "h:8020", "/a/b"),
            ("hdfs:///a", "hdfs", "", "/a"),
            ("file:/a", "file", "", "/a"),
            ("hdfs://h", "hdfs", "h", ""),
            ("a:b/c", "", "", "a:b/c"),
            ("/a:b", "", "", "/a:b"),
            ("/a/b://c", "", "", "/a/b://c"),
            ("20:/a", "", "", "20:/a"),
            ("a b:/c", "", "", "a b:/c"),
            (":/a", "", "", ":/a"),
        ];
        for (text, scheme, authority, path) in cases {
            let found = Location::parse(text);
            let [found_scheme, found_authority] =
                [found.scheme, found.authority].map(Option::unwrap_or_default);
            assert_eq!(
                (found_scheme.as_str(), found_authority.as_str(), found.path.as_str()),
                (scheme, authority, path),
                "{text}"
            );
        }
    }

    /// Authorities used to be compared as texts, so that one place had several names that did not match.
    #[test]
    fn one_place_has_several_names() {
        let of = Authority::parse;
        for name in ["h", "H", "h:8020", "alice@h", "alice@h:8020", "a@b@H:8020"] {
            assert_eq!(of(name), of("h"), "{name}");
            assert_eq!(of(name).address().to_ascii_lowercase(), "h:8020", "{name}");
        }
        for name in ["h:8021", "g", "h:", "h:x"] {
            assert_ne!(of(name), of("h"), "{name}");
        }
        assert_eq!(of("[::1]:9").address(), "[::1]:9");
        assert_eq!(of("bob@[::1]").address(), "[::1]:8020");
        assert_eq!(of("bob@[::1]").to_string(), "[::1]");
        assert_eq!(of("::1").address(), "::1:8020");
        assert!(of("127.0.0.1:9").leads_to(&of("localhost:9")));
        assert!(of("localhost:9").leads_to(&of("127.0.0.1:9")));
        assert!(!of("localhost:9").leads_to(&of("127.0.0.1:8")));
        assert!(!of("127.0.0.2").leads_to(&of("127.0.0.1")));
    }
}
