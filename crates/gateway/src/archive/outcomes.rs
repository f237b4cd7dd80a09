//! What became of the files of an archive.

use crate::call::in_json;
use crate::failure::Failure;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

/// What became of the files of an archive.
#[derive(Default)]
pub(super) struct Outcomes {
    files: Vec<Value>,
    has_failures: bool,
}

impl Outcomes {
    /// What became of one.
    pub(super) fn add(&mut self, name: &str, done: Result<u64, Failure>) {
        self.files.push(match done {
            Ok(len) => json!({ "name": name, "length": len }),
            Err(failure) => {
                self.has_failures = true;
                json!({ "name": name, "RemoteException": failure.exception() })
            }
        });
    }

    /// The answer; `broken` is why the archive could not be read to its end.
    pub(super) fn response(self, broken: Option<Failure>) -> Response {
        let mut value = json!({ "Files": self.files });
        let status = match broken {
            Some(failure) => {
                value["RemoteException"] = failure.exception();
                StatusCode::BAD_REQUEST
            }
            None if self.has_failures => StatusCode::MULTI_STATUS,
            None => StatusCode::OK,
        };
        let mut response = in_json(&value);
        *response.status_mut() = status;
        response
    }
}
