//! The pages: `/getJournal` gives segments to NameNodes and other JournalNodes; the others are those of every daemon.

use crate::error::{Error, Result};
use crate::jmx;
use crate::journals::{Journals, OpenJournal};
use crate::shown::Shown;
use crate::web;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::Value;
use std::fs::File;
use std::sync::Arc;
use tokio_util::io::ReaderStream;
use zerohop_conf::Conf;
use zerohop_daemon::http::{
    HandlerThreads, Health, Page, QueryValues, RemoteAddress, StandardPages, standard_pages,
};
use zerohop_daemon::metrics::Record;
use zerohop_journal::segment::{self, SegmentFile, SegmentKind};

/// The header that names the file (`ImageServlet`).
const FILE_NAME: HeaderName = HeaderName::from_static("x-image-edits-name");
/// Bytes read from a segment at once.
const PIECE_LEN: usize = 256 << 10;

#[derive(Clone)]
struct Pages {
    shown: Arc<Shown>,
    threads: HandlerThreads,
}

/// The routes; `threads` of their handlers run at once.
pub(crate) fn router(shown: Arc<Shown>, threads: usize) -> Router {
    let standard = standard_pages(Arc::clone(&shown), &HandlerThreads::new(threads));
    let threads = HandlerThreads::new(threads);
    let web = web::routes(Arc::clone(&shown), &threads);
    Router::new()
        .route("/getJournal", get(get_journal))
        .with_state(Pages { shown, threads })
        .merge(standard)
        .merge(web)
}

impl StandardPages for Shown {
    fn service(&self) -> &'static str {
        "JournalNode"
    }

    fn conf(&self) -> Arc<Conf> {
        Arc::clone(&self.conf)
    }

    fn records(&self) -> Vec<Record> {
        jmx::records(self)
    }

    fn beans(&self) -> Vec<Value> {
        jmx::beans(self)
    }

    fn health(&self) -> Health {
        jmx::health(self)
    }
}

/// A segment's file as it is, padding included (`GetJournalEditServlet`).
async fn get_journal(
    State(pages): State<Pages>,
    RemoteAddress(remote): RemoteAddress,
    query: QueryValues,
) -> Response {
    let Pages { shown, threads } = pages;
    if let Err(refusal) = shown.hosts.check(remote.ip()).await {
        let text =
            format!("Only Namenode and another JournalNode may access this servlet: {refusal}\n");
        return Page::text(text).with_status(StatusCode::FORBIDDEN).into_response();
    }
    let opened = threads.run(move || open_segment(&shown.journals, &query)).await;
    let (file, name, length) = match opened {
        Ok(Ok(opened)) => opened,
        Ok(Err(refusal)) => return refusal.into_response(),
        Err(unavailable) => return unavailable.into_response(),
    };
    // What a writer appends meanwhile is not promised.
    let file = tokio::io::AsyncReadExt::take(tokio::fs::File::from_std(file), length);
    let headers = [
        (header::CONTENT_TYPE, "text/plain;charset=utf-8".to_owned()),
        (header::CONTENT_LENGTH, length.to_string()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename={name}")),
        (FILE_NAME, name),
    ];
    (headers, Body::from_stream(ReaderStream::with_capacity(file, PIECE_LEN))).into_response()
}

fn open_segment(
    journals: &Journals,
    query: &QueryValues,
) -> std::result::Result<(File, String, u64), Page> {
    let failed = |error: Error| Page::failed(&format!("getedit failed. {error}"));
    let id = query.get("jid").unwrap_or_default();
    let journal = journals.get(id, None).map_err(failed)?;
    check_namespace(&journal, query.get("storageInfo"))?;
    let first = query.get("segmentTxId").unwrap_or_default();
    let Ok(first) = first.parse::<i64>() else {
        let reason = format!("segmentTxId is no transaction: {first:?}");
        return Err(failed(Error::BadRequest(reason)));
    };
    let in_progress_too =
        !query.get("inProgressOk").is_some_and(|value| value.eq_ignore_ascii_case("false"));
    match find(&journal, first, in_progress_too).map_err(failed)? {
        Some(found) => Ok(found),
        None => Err(Page::text(format!("No edit log found starting at txid {first}\n"))
            .with_status(StatusCode::NOT_FOUND)),
    }
}

/// Opens a segment. It may get its final name between the look and the call: then it is looked for again.
fn find(
    journal: &OpenJournal,
    first: i64,
    in_progress_too: bool,
) -> Result<Option<(File, String, u64)>> {
    let is_wanted = |file: &SegmentFile| {
        file.first.0 == first && (in_progress_too || file.kind != SegmentKind::InProgress)
    };
    for _ in 0..3 {
        let files = segment::list(&journal.current())?;
        let Some(found) = files.into_iter().find(is_wanted) else { return Ok(None) };
        let Ok(file) = File::open(&found.path) else { continue };
        let Ok(length) = file.metadata().map(|data| data.len()) else { continue };
        let name = found.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Ok(Some((file, name, length)));
    }
    Ok(None)
}

/// That a request is for the name space that the journal belongs to: `layout:namespace:time:cluster`.
fn check_namespace(journal: &OpenJournal, theirs: Option<&str>) -> std::result::Result<(), Page> {
    let (Some(theirs), Some(own)) = (theirs, journal.figures().info) else { return Ok(()) };
    let mut words = theirs.splitn(4, ':').skip(1);
    let (namespace, cluster) = (words.next().unwrap_or_default(), words.nth(1).unwrap_or_default());
    if namespace.parse() == Ok(own.namespace_id) && cluster == own.cluster_id {
        return Ok(());
    }
    let reason = format!(
        "This node has namespaceId '{}' and clusterId '{}' but the requesting node expected '{namespace}' and '{cluster}'\n",
        own.namespace_id, own.cluster_id
    );
    Err(Page::text(reason).with_status(StatusCode::FORBIDDEN))
}
