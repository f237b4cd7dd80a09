//! Data that goes through this process: OPEN, CREATE and APPEND by a client of the cluster.

use crate::append_answers::Appended;
use crate::appends::{Appends, Terms};
use crate::call::{Call, in_json, to_location};
use crate::failure::Failure;
use crate::operation::Operation;
use crate::request::Request;
use crate::upload::{self, CreateDefaults};
use crate::{archive, change, lists, lookup, open, recursive};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::future::Future;
use std::time::Duration;
use zerohop_client::FileSystem;

/// How a server takes uploads.
#[derive(Clone)]
pub(crate) struct Uploads {
    /// Where appends queue.
    pub(crate) appends: Appends,
    /// What a CREATE means that does not say it.
    pub(crate) create: CreateDefaults,
    /// Bodies have to say that they are octet streams.
    pub(crate) checks_content_type: bool,
}

impl Uploads {
    /// As WebHDFS has it.
    pub(crate) fn of_webhdfs() -> Self {
        Self {
            appends: Appends::new(Duration::ZERO),
            create: CreateDefaults { overwrite: false },
            checks_content_type: false,
        }
    }
}

/// Answers an operation of any kind.
pub(crate) async fn answer(
    call: &Call,
    fs: FileSystem,
    request: Request,
    body: Body,
    uploads: &Uploads,
) -> Result<Response, Failure> {
    let in_body = request.params.flag("noredirect", false)?;
    match request.operation {
        Operation::Open if in_body => Ok(to_location(call.second_step_here(""), true)),
        // Boxed, as all of them: the future of a request would have room for the largest, and it is moved and allocated with each.
        Operation::Open => Box::pin(open::open(&fs, &request, call)).await,
        Operation::Create | Operation::Append => {
            // Hoop's clients send data at once.
            if in_body || !(request.is_hoop || request.params.flag("data", false)?) {
                return Ok(to_location(call.second_step_here("data=true"), in_body));
            }
            Box::pin(take_data(call, fs, request, body, uploads)).await
        }
        Operation::ListStatusRecursive => Box::pin(recursive::list(&fs, &request)).await,
        Operation::GetArchive => Box::pin(archive::get(&fs, &request)).await,
        Operation::PutArchive => {
            let (headers, defaults) = (call.headers.clone(), uploads.create);
            Box::pin(to_its_end(archive::put(fs, request, headers, defaults, body))).await
        }
        _ => Box::pin(metadata(&fs, &request)).await,
    }
}

/// Answers a CREATE or an APPEND whose data is in the request.
async fn take_data(
    call: &Call,
    fs: FileSystem,
    request: Request,
    body: Body,
    uploads: &Uploads,
) -> Result<Response, Failure> {
    if uploads.checks_content_type {
        upload::check_content_type(&call.headers)?;
    }
    if [header::IF_MATCH, header::IF_NONE_MATCH].iter().any(|name| call.headers.contains_key(name))
    {
        // The tag of a file says its length.
        uploads.appends.close_below(&request.path).await;
    }
    open::check_preconditions(&fs, &request.path, &call.headers).await?;
    match request.operation {
        Operation::Append => {
            let done = append(fs, request, &call.headers, body, uploads).await?;
            let kind = (header::CONTENT_TYPE, "application/octet-stream".to_owned());
            Ok((StatusCode::OK, [kind], shown(done)).into_response())
        }
        _ => {
            create(fs, request, body, uploads).await?;
            Ok(created(call.url()))
        }
    }
}

/// Answers an operation without data.
pub(crate) async fn metadata(fs: &FileSystem, request: &Request) -> Result<Response, Failure> {
    if let Some(list) = Box::pin(lists::answer(fs, request)).await? {
        return Ok(list);
    }
    let answer = match request.operation.method() == Method::GET {
        true => lookup::answer(fs, request).await?,
        false => change::answer(fs, request).await?,
    };
    Ok(answer.map_or_else(done, |value| in_json(&value)))
}

/// The answer of an operation that answers nothing.
fn done() -> Response {
    (StatusCode::OK, [(header::CONTENT_TYPE, "application/octet-stream")]).into_response()
}

/// Does a CREATE.
pub(crate) async fn create(
    fs: FileSystem,
    request: Request,
    body: Body,
    uploads: &Uploads,
) -> Result<(), Failure> {
    let defaults = uploads.create;
    to_its_end(async move { upload::create(&fs, &request, defaults, body).await }).await
}

/// Does an APPEND.
pub(crate) async fn append(
    fs: FileSystem,
    request: Request,
    headers: &HeaderMap,
    body: Body,
    uploads: &Uploads,
) -> Result<Appended, Failure> {
    let (appends, terms) = (uploads.appends.clone(), Terms::read(&request, headers)?);
    to_its_end(async move { appends.append(&fs, &request, terms, body).await }).await
}

/// Does work in a task of its own: when the caller disappears this one is dropped, and what was begun has to be put in order.
async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::spawn(work).await;
    done.map_err(|error| Failure::io(format!("the upload failed: {error}")))?
}

/// Where the bytes of an append lie, as the answer's head tells it.
pub(crate) fn shown(done: Appended) -> [(HeaderName, String); 2] {
    [
        (HeaderName::from_static("zerohop-append-offset"), done.start.to_string()),
        (HeaderName::from_static("zerohop-append-end"), done.end.to_string()),
    ]
}

fn created(location: String) -> Response {
    let body = json!({ "Location": location }).to_string();
    let kind = (header::CONTENT_TYPE, "application/json".to_owned());
    (StatusCode::CREATED, [(header::LOCATION, location), kind], body).into_response()
}
