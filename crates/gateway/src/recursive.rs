//! LISTSTATUS_RECURSIVE: all that lies below a path, a JSON object a line, in the memory of one page of a list.

use crate::failure::{Failure, Statuses};
use crate::request::Request;
use crate::shapes;
use crate::streamed_list::PIECE_LEN;
use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use serde_json::json;
use std::io;
use zerohop_client::{FileStatus, FileSystem, Walk};

/// The progress of a list.
enum State {
    Walking(Walk),
    /// The exception was sent; the connection ends after it.
    Failed(String),
    Ended,
}

/// Sends the list. If it cannot be read on, its last line is the exception, and the connection ends after it.
pub(crate) async fn list(fs: &FileSystem, request: &Request) -> Result<Response, Failure> {
    fs.status(&request.path).await?;
    let begun = State::Walking(fs.walk(&request.path));
    let pieces = stream::try_unfold(begun, async |state| match state {
        State::Walking(walk) => {
            let (piece, state) = piece(walk).await;
            Ok((!piece.is_empty()).then_some((piece, state)))
        }
        State::Failed(why) => Err(io::Error::other(why)),
        State::Ended => Ok(None),
    });
    let kind = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((kind, Body::from_stream(pieces)).into_response())
}

/// Returns some lines, and the next state.
async fn piece(mut walk: Walk) -> (Bytes, State) {
    let mut lines = String::new();
    while lines.len() < PIECE_LEN {
        match walk.next().await {
            None => return (lines.into(), State::Ended),
            Some(Ok(status)) => lines += &line(&status),
            Some(Err(error)) => {
                let failure = Failure::from(error);
                let exception = failure.exception(Statuses::HttpFs);
                lines += &format!("{}\n", json!({ "RemoteException": exception }));
                return (lines.into(), State::Failed(failure.to_string()));
            }
        }
    }
    (lines.into(), State::Walking(walk))
}

fn line(status: &FileStatus) -> String {
    let mut value = shapes::file_status(status, None);
    value["path"] = status.path.as_str().into();
    format!("{value}\n")
}
