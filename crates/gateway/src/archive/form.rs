//! PUTARCHIVE with a form, as browsers and `curl -F` send files.

use super::names::begin;
use super::outcomes::Outcomes;
use crate::failure::Failure;
use crate::form::Form;
use crate::request::Request;
use crate::upload::CreateDefaults;
use axum::body::Body;
use axum::response::Response;
use zerohop_client::FileSystem;

/// Makes the files of a form, each by its filename, or by its field's name if it has none.
pub(super) async fn unpack(
    fs: &FileSystem,
    request: &Request,
    defaults: CreateDefaults,
    boundary: &str,
    body: Body,
) -> Response {
    let mut form = Form::begin(body, boundary);
    let mut outcomes = Outcomes::default();
    let broken = read(&mut form, fs, request, defaults, &mut outcomes).await.err();
    outcomes.response(broken)
}

/// Creates a file for each part of the form.
///
/// # Errors
/// Fails if the rest of the form cannot be read.
async fn read(
    form: &mut Form,
    fs: &FileSystem,
    request: &Request,
    defaults: CreateDefaults,
    outcomes: &mut Outcomes,
) -> Result<(), Failure> {
    while let Some(mut part) = form.next().await? {
        let name = part.file_name().or(part.name()).unwrap_or_default().to_owned();
        let done = match begin(fs, request, defaults, &name).await {
            Ok(file) => file.take_part(&mut part).await,
            Err(failure) => Err(failure),
        };
        outcomes.add(&name, done)?;
        part.pass_over().await?;
    }
    Ok(())
}
