//! Many files in one request: GETARCHIVE sends them as a tar archive, PUTARCHIVE takes a tar archive or a form.

mod form;
mod names;
mod outcomes;
mod pack;
mod tar_reader;
mod unpack;

pub(crate) use pack::get;

use crate::body::BodyReader;
use crate::failure::Failure;
use crate::request::Request;
use crate::upload::CreateDefaults;
use axum::body::Body;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use zerohop_client::FileSystem;

/// Makes the files of a body below the request's path, each of them whole or not at all.
pub(crate) async fn put(
    fs: FileSystem,
    request: Request,
    headers: HeaderMap,
    defaults: CreateDefaults,
    body: Body,
) -> Result<Response, Failure> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or_default();
    if let Ok(boundary) = multer::parse_boundary(kind) {
        // Boxed: the future of every request would have room for these.
        return Ok(Box::pin(form::unpack(&fs, &request, defaults, &boundary, body)).await);
    }
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !["application/x-tar", "application/tar"].iter().any(|tar| kind.eq_ignore_ascii_case(tar)) {
        return Err(Failure::illegal(
            "PUTARCHIVE needs the content type application/x-tar or multipart/form-data",
        ));
    }
    Ok(Box::pin(unpack::unpack(&fs, &request, defaults, BodyReader::of(body))).await)
}
