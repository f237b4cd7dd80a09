//! LISTSTATUS_RECURSIVE: all that lies below a path, a JSON object a line, in the memory of one page of a list.

use crate::failure::Failure;
use crate::request::Request;
use crate::shapes;
use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use serde_json::json;
use std::convert::Infallible;
use zerohop_client::{FileStatus, FileSystem, Walk};

/// Lines are sent when there are so many bytes of them.
const PIECE_LEN: usize = 64 << 10;

/// Sends the list. If it cannot be read on, its last line is the exception.
pub(crate) async fn list(fs: &FileSystem, request: &Request) -> Result<Response, Failure> {
    fs.status(&request.path).await?;
    let walk = Some(fs.walk(&request.path));
    let pieces = stream::unfold(walk, |walk| async move {
        let mut walk = walk?;
        let (piece, has_more) = piece(&mut walk).await;
        (!piece.is_empty()).then(|| (Ok::<_, Infallible>(piece), has_more.then_some(walk)))
    });
    let kind = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((kind, Body::from_stream(pieces)).into_response())
}

/// Some lines, and whether there may be more.
async fn piece(walk: &mut Walk) -> (Bytes, bool) {
    let mut lines = String::new();
    while lines.len() < PIECE_LEN {
        match walk.next().await {
            None => return (lines.into(), false),
            Some(Ok(status)) => lines += &line(&status),
            Some(Err(error)) => {
                let exception = Failure::from(error).exception();
                lines += &format!("{}\n", json!({ "RemoteException": exception }));
                return (lines.into(), false);
            }
        }
    }
    (lines.into(), true)
}

fn line(status: &FileStatus) -> String {
    let mut value = shapes::file_status(status, None);
    value["path"] = status.path.as_str().into();
    format!("{value}\n")
}
