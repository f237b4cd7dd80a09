//! Paths and parameters as they stand in a URL.

use std::fmt::Display;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters with a meaning in a URL, and all that are not ASCII.
const IN_PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Parameters, each with `&` before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(String);

impl Query {
    /// Adds a parameter.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: impl Display) -> Self {
        let value = value.to_string();
        self.0.push('&');
        self.0.push_str(name);
        self.0.push('=');
        self.0.extend(form_urlencoded::byte_serialize(value.as_bytes()));
        self
    }

    /// Adds a parameter if it has a value.
    #[must_use]
    pub(crate) fn with_some(self, name: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns a path with escapes.
pub(crate) fn escaped(path: &str) -> impl Display + '_ {
    utf8_percent_encode(path, IN_PATH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_name_has_a_meaning_in_the_url() {
        assert_eq!(
            escaped("/a b/é?c&d#e%20;+").to_string(),
            "/a%20b/%C3%A9%3Fc%26d%23e%2520%3B%2B"
        );
        let query = Query::default().with("a", "x&y=z é").with_some("b", None::<&str>).with("c", 1);
        assert_eq!(query.as_str(), "&a=x%26y%3Dz+%C3%A9&c=1");
    }
}
