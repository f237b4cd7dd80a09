//! The file browser: a directory a page at a time, a file with its blocks, and forms that change them.
//!
//! It works without JavaScript. Forms are posted to the page itself, are refused when another site's page sent them, and are
//! answered with a redirect to what they changed.

mod address;
mod changes;
mod directory;
mod file;
mod forms;
mod host;
mod upload;

pub(crate) use host::{ADDRESS, ExplorerHost};

use crate::failure::{Failure, Statuses};
use crate::operation::Operation;
use crate::params::Params;
use address::Address;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Request, header};
use axum::response::{IntoResponse, Redirect, Response};
use std::net::SocketAddr;
use std::sync::Arc;
use zerohop_daemon::http::RemoteAddress;
use zerohop_pages::{
    Body as SectionBody, Content, HtmlPage, Level, Notice, Section, check_same_site,
};

/// A form without files is not longer.
const FORM_LEN_MAX: usize = 64 << 10;

/// The routes.
pub(crate) fn router<H: ExplorerHost>(host: Arc<H>) -> Router {
    Router::new().fallback(answer::<H>).with_state(host)
}

async fn answer<H: ExplorerHost>(
    State(host): State<Arc<H>>,
    RemoteAddress(from): RemoteAddress,
    request: Request<Body>,
) -> Response {
    let params = Params::parse(request.uri().query().unwrap_or_default());
    let address = Address::of(&params);
    if *request.method() != Method::POST {
        return show(&*host, &params, &address, request.headers(), from).await;
    }
    if let Err(refused) = check_same_site(request.headers()) {
        return refused.into_response();
    }
    let (parts, body) = request.into_parts();
    // A change that has begun is finished, even if the browser is closed.
    let (task_host, task_address) = (Arc::clone(&host), address.clone());
    let changing = tokio::spawn(async move {
        let fs = task_host.file_system(&params, &parts.headers, from).await?;
        let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        match kind.and_then(|kind| multer::parse_boundary(kind).ok()) {
            Some(boundary) => {
                task_host.check(Operation::Create)?;
                upload::run(&*task_host, &fs, &task_address.path, &boundary, body).await
            }
            None => {
                let form = axum::body::to_bytes(body, FORM_LEN_MAX).await;
                let form =
                    form.map_err(|_| Failure::illegal("the form is too long, or broke off"))?;
                let form = Params::parse(&String::from_utf8_lossy(&form));
                changes::run(&*task_host, &fs, &task_address.path, &form).await
            }
        }
    });
    let done = changing.await.unwrap_or_else(|error| Err(Failure::io(error.to_string())));
    match done {
        Ok(changed) => {
            let next = Address { path: changed.path, done: Some(changed.what), ..address.reset() };
            Redirect::to(&next.to_string()).into_response()
        }
        Err(failure) => refusal(&*host, &address, &failure),
    }
}

async fn show<H: ExplorerHost>(
    host: &H,
    params: &Params,
    address: &Address,
    headers: &HeaderMap,
    from: SocketAddr,
) -> Response {
    match content(host, params, address, headers, from).await {
        Ok(content) => host.site().page(&address.path, ADDRESS, &content).into_response(),
        Err(failure) => refusal(host, address, &failure),
    }
}

async fn content<H: ExplorerHost>(
    host: &H,
    params: &Params,
    address: &Address,
    headers: &HeaderMap,
    from: SocketAddr,
) -> Result<Content, Failure> {
    let fs = host.file_system(params, headers, from).await?;
    host.check(Operation::GetFileStatus)?;
    let status = fs.status(&address.path).await?;
    let notices = address.done.and_then(notice_of).into_iter().collect();
    let content = Content::new()
        .with(Section::new("path", SectionBody::Html(forms::breadcrumb(address))).still())
        .with(Section::new("notices", SectionBody::Notices(notices)).still());
    match status.is_dir() {
        true => directory::content(host, &fs, &status, address, content).await,
        false => file::content(host, &fs, &status, address, content).await,
    }
}

/// The page in place of one that was refused; with the form by which another user is named.
fn refusal<H: ExplorerHost>(host: &H, address: &Address, failure: &Failure) -> Response {
    let notice = Notice::new(Level::Bad, failure.to_string());
    let content = Content::new()
        .with(Section::new("path", SectionBody::Html(forms::breadcrumb(address))).still())
        .with(Section::new("notices", SectionBody::Notices(vec![notice])).still())
        .with(Section::new("user", SectionBody::Html(forms::user(address))).still());
    let status = failure.status(Statuses::WebHdfs);
    let page: HtmlPage = host.site().page("Refused", ADDRESS, &content);
    page.with_status(status).into_response()
}

/// Only these are shown: the word comes with the address.
fn notice_of(done: &str) -> Option<Notice> {
    let text = match done {
        "created" => "The directory was made.",
        "uploaded" => "The files were uploaded.",
        "deleted" => "It was deleted.",
        "renamed" => "It was renamed.",
        "permission" => "The permission was changed.",
        "owner" => "Owner and group were changed.",
        "replication" => "The replication was changed; replicas are made or deleted in time.",
        _ => return None,
    };
    Some(Notice::new(Level::Good, text))
}
