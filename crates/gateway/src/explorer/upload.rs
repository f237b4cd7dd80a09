//! Files that a form brings.

use super::changes::below;
use super::host::{Changed, ExplorerHost};
use crate::failure::Failure;
use crate::form::Form;
use crate::request::Request;
use crate::upload::{CreateDefaults, NewFile};
use axum::body::Body;
use zerohop_client::FileSystem;

/// Makes the files of a form in a directory. What was made before an error stays.
pub(super) async fn run<H: ExplorerHost>(
    host: &H,
    fs: &FileSystem,
    directory: &str,
    boundary: &str,
    body: Body,
) -> Result<Changed, Failure> {
    let mut form = Form::begin(body, boundary);
    let mut defaults = CreateDefaults { overwrite: false };
    let mut count = 0;
    while let Some(mut part) = form.next().await? {
        match part.file_name().map(base_name) {
            // The box comes before the files.
            None => defaults.overwrite |= part.name() == Some("overwrite"),
            // No file was chosen.
            Some(name) if name.is_empty() => {}
            Some(name) => {
                let path = below(directory, &name)?;
                let request = Request::of_form(&path);
                host.close_streams(&path).await;
                let file = NewFile::begin(fs, &request, defaults, &path).await?;
                file.take_part(&mut part).await?;
                count += 1;
            }
        }
        part.pass_over().await?;
    }
    match count {
        0 => Err(Failure::illegal("No file was chosen.")),
        _ => Ok(Changed { path: directory.to_owned(), what: "uploaded" }),
    }
}

/// Some browsers send the path on the user's machine.
fn base_name(name: &str) -> String {
    name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
}
