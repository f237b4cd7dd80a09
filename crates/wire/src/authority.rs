//! `host:port`, as URLs have it.

use std::fmt::Display;

/// Returns `host:port`. A URL needs brackets around an address of IPv6.
pub fn authority(host: &str, port: impl Display) -> String {
    match host.contains(':') && !host.starts_with('[') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_ipv6_have_brackets() {
        for (host, expected) in [
            ("dn1", "dn1:9864"),
            ("10.0.0.1", "10.0.0.1:9864"),
            ("fd00::1", "[fd00::1]:9864"),
            ("[fd00::1]", "[fd00::1]:9864"),
        ] {
            assert_eq!(authority(host, 9864), expected);
        }
    }
}
