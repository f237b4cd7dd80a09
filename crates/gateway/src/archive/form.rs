//! PUTARCHIVE with a form, as browsers and `curl -F` send files.

use super::names::begin;
use super::outcomes::Outcomes;
use crate::failure::Failure;
use crate::request::Request;
use crate::upload::CreateDefaults;
use axum::body::Body;
use axum::response::Response;
use multer::{Field, Multipart};
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
                let done = write(fs, request, defaults, &name, field).await;
                outcomes.add(&name, done);
            }
        }
    };
    outcomes.response(broken)
}

async fn write(
    fs: &FileSystem,
    request: &Request,
    defaults: CreateDefaults,
    name: &str,
    mut field: Field<'_>,
) -> Result<u64, Failure> {
    let mut file = begin(fs, request, defaults, name).await?;
    let written = loop {
        match field.chunk().await {
            Ok(None) => break Ok(()),
            Err(error) => break Err(Failure::io(format!("the form broke off: {error}"))),
            Ok(Some(data)) => {
                if let Err(failure) = file.write(data).await {
                    break Err(failure);
                }
            }
        }
    };
    file.end(written).await
}
