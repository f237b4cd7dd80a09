//! PUTARCHIVE with a form, as browsers and `curl -F` send files.

use super::names::begin;
use super::outcomes::Outcomes;
use crate::failure::Failure;
use crate::request::Request;
use crate::upload::CreateDefaults;
use axum::body::Body;
use axum::response::Response;
use multer::Multipart;
use zerohop_client::FileSystem;

/// Makes the files of a form, each by its filename, or by its field's name if it has none.
pub(super) async fn unpack(
    fs: &FileSystem,
    request: &Request,
    defaults: CreateDefaults,
    boundary: &str,
    body: Body,
) -> Response {
    let mut form = Multipart::new(body.into_data_stream(), boundary);
    let mut outcomes = Outcomes::default();
    let broken = loop {
        match form.next_field().await {
            Ok(None) => break None,
            Err(error) => break Some(Failure::illegal(format!("the form: {error}"))),
            Ok(Some(field)) => {
                let name = field.file_name().or(field.name()).unwrap_or_default().to_owned();
                let done = match begin(fs, request, defaults, &name).await {
                    Ok(file) => file.take_field(field).await,
                    Err(failure) => Err(failure),
                };
                outcomes.add(&name, done);
            }
        }
    };
    outcomes.response(broken)
}
