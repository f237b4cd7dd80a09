//! What became of the files of an archive.

use crate::failure::{Failure, Statuses};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::fmt::Write;

/// Bytes of an answer. An archive with more files than it can name is taken in several requests.
const TEXT_MAX: usize = 8 << 20;

/// The results for the files of an archive, as JSON.
#[derive(Default)]
pub(super) struct Outcomes {
    files: String,
    has_failures: bool,
}

impl Outcomes {
    /// What became of one.
    ///
    /// # Errors
    /// Fails if the answer cannot name more files.
    pub(super) fn add(&mut self, name: &str, done: Result<u64, Failure>) -> Result<(), Failure> {
        let outcome = match done {
            Ok(len) => json!({ "name": name, "length": len }),
            Err(failure) => {
                self.has_failures = true;
                json!({ "name": name, "RemoteException": failure.exception(Statuses::HttpFs) })
            }
        };
        self.push(&outcome);
        match self.files.len() < TEXT_MAX {
            true => Ok(()),
            false => Err(Failure::illegal(format!(
                "the answer names files in {TEXT_MAX} bytes at most; send the files after {name:?} in another request"
            ))),
        }
    }

    fn push(&mut self, outcome: &Value) {
        if !self.files.is_empty() {
            self.files.push(',');
        }
        // A string takes all that is written to it.
        _ = write!(self.files, "{outcome}");
    }

    /// The answer; `broken` is why the archive could not be read to its end.
    pub(super) fn response(self, broken: Option<Failure>) -> Response {
        let mut text = format!("{{\"Files\":[{}]", self.files);
        let status = match broken {
            Some(failure) => {
                _ = write!(text, ",\"RemoteException\":{}", failure.exception(Statuses::HttpFs));
                StatusCode::BAD_REQUEST
            }
            None if self.has_failures => StatusCode::MULTI_STATUS,
            None => StatusCode::OK,
        };
        text.push('}');
        (status, [(header::CONTENT_TYPE, "application/json")], text).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;

    #[tokio::test]
    async fn an_answer_names_what_became_of_each_file() {
        let mut outcomes = Outcomes::default();
        outcomes.add("a\"b", Ok(3)).unwrap();
        outcomes.add("c", Err(Failure::io("full"))).unwrap();
        let response = outcomes.response(Some(Failure::illegal("cut")));
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        let body = to_bytes(response.into_body(), 10_000).await.unwrap();
        let value: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(value["Files"][0], json!({ "name": "a\"b", "length": 3 }));
        assert_eq!(value["Files"][1]["RemoteException"]["message"], "full");
        assert_eq!(value["RemoteException"]["message"], "cut");
    }

    #[test]
    fn the_names_of_a_million_files_were_kept_until_the_answer() {
        let mut outcomes = Outcomes::default();
        let name = "x".repeat(4000);
        let taken = (0..1_000_000).take_while(|_| outcomes.add(&name, Ok(0)).is_ok()).count();
        assert!(taken * name.len() < TEXT_MAX, "{taken} names");
    }
}
