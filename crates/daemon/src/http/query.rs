//! The query of a request's URL.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::collections::HashMap;
use std::convert::Infallible;

/// Names and values of a query, decoded; the first value of a name counts.
#[derive(Clone, Debug, Default)]
pub struct QueryValues(HashMap<String, String>);

impl QueryValues {
    /// Reads a query, without `?`.
    pub fn parse(query: &str) -> Self {
        let mut values = HashMap::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            values.entry(name.into_owned()).or_insert_with(|| value.into_owned());
        }
        Self(values)
    }

    /// The value of a name; empty if it is there without one.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Whether a name is there, with a value or without.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

impl<S: Sync> FromRequestParts<S> for QueryValues {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::parse(parts.uri.query().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_decoded() {
        let values = QueryValues::parse("path=%2Fa+b%2f%C3%A9&files=1&files=2&x&y=100%&z=%zz%4");
        assert_eq!(values.get("path"), Some("/a b/é"));
        assert_eq!(values.get("files"), Some("1"));
        assert_eq!(values.get("x"), Some(""));
        assert_eq!((values.get("y"), values.get("z")), (Some("100%"), Some("%zz%4")));
        assert!(values.has("x") && !values.has("X"));
    }
}
