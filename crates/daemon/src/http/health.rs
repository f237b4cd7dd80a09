//! `/health`, for load balancers, probes and people: whether a daemon can serve, and if not, why.

use super::page::Page;
use axum::http::StatusCode;
use serde_json::{Map, Value, json};

/// How a daemon is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Health {
    problems: Vec<String>,
    facts: Map<String, Value>,
}

impl Health {
    /// Well, as far as is known.
    pub fn new() -> Self {
        Self::default()
    }

    /// It cannot serve, for this reason.
    #[must_use]
    pub fn with_problem(mut self, reason: impl Into<String>) -> Self {
        self.problems.push(reason.into());
        self
    }

    /// Something to know that is no reason to send requests elsewhere.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.facts.insert(name.to_owned(), value.into());
        self
    }

    /// The page of a daemon of a kind (`NameNode`): status 200 if it can serve, 503 if not.
    pub fn page(self, service: &str) -> Page {
        let (status, word) = match self.problems.is_empty() {
            true => (StatusCode::OK, "healthy"),
            false => (StatusCode::SERVICE_UNAVAILABLE, "unhealthy"),
        };
        let mut shown = json!({ "service": service, "status": word, "reasons": self.problems });
        if let Some(shown) = shown.as_object_mut() {
            shown.extend(self.facts);
        }
        Page::json(format!("{shown:#}\n")).with_status(status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_a_status_and_a_reason() {
        let well = Health::new().with("safeMode", Value::Null).page("NameNode");
        assert_eq!(well.status, StatusCode::OK);
        let shown: Value = serde_json::from_str(&well.body).unwrap();
        let expected = json!({
            "service": "NameNode", "status": "healthy", "reasons": [], "safeMode": null,
        });
        assert_eq!(shown, expected);
        let ill = Health::new().with_problem("all volumes failed").page("DataNode");
        assert_eq!(ill.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(ill.body.contains("all volumes failed") && ill.body.contains("unhealthy"));
    }
}
