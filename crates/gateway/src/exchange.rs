//! One request with its answer, as the log tells it: how long it took, the bytes in both directions, and which way a file was read.

use crate::activity::RestActivity;
use crate::logged_url::logged_url;
use axum::body::{Body, HttpBody};
use axum::http::{Extensions, Method, StatusCode, Uri};
use axum::response::Response;
use bytes::{Buf, Bytes};
use http_body::{Frame, SizeHint};
use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Instant;
use zerohop_client::ReadPath;
use zerohop_daemon::http::{Encrypted, FileSender};
use zerohop_system::clock;

/// What is known of a request while it is answered. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Exchange(Arc<Facts>);

#[derive(Default)]
struct Facts {
    files: Option<FileSender>,
    is_encrypted: bool,
    received: AtomicU64,
    sent: AtomicU64,
    read_path: OnceLock<ReadPath>,
    /// Where the bytes of a file are counted.
    activity: OnceLock<Arc<RestActivity>>,
}

impl Exchange {
    /// Begins one on the connection that has put these extensions into the request.
    pub(crate) fn begin(connection: &mut Extensions) -> Self {
        let files = connection.remove::<FileSender>();
        let is_encrypted = connection.get::<Encrypted>().is_some();
        Self(Arc::new(Facts { files, is_encrypted, ..Facts::default() }))
    }

    /// The scheme of the request's URL.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.0.is_encrypted { "https" } else { "http" }
    }

    /// What sends files on the request's connection.
    pub(crate) fn files(&self) -> Option<&FileSender> {
        self.0.files.as_ref()
    }

    /// Whether it was noted how a file is read.
    pub(crate) fn knows_read_path(&self) -> bool {
        self.0.read_path.get().is_some()
    }

    /// Notes how a file is read; the first note stays.
    pub(crate) fn note_read_path(&self, path: Option<ReadPath>) {
        if let Some(path) = path {
            _ = self.0.read_path.set(path);
        }
    }

    /// The request is about a file's data: its bytes and those of the answer are the file's.
    pub(crate) fn moves_data(&self, activity: &Arc<RestActivity>) {
        _ = self.0.activity.set(Arc::clone(activity));
    }

    /// The request's body; its bytes are counted.
    pub(crate) fn count_received(&self, body: Body) -> Body {
        if body.is_end_stream() {
            return body;
        }
        Body::new(Counted { body, seen: Received(self.clone()) })
    }

    /// The answer; its bytes are counted, and when the last one was sent or the caller is gone a line is logged.
    pub(crate) fn log_when_sent(&self, head: RequestHead, response: Response) -> Response {
        let status = response.status();
        response.map(|body| {
            let size = body.size_hint().exact();
            let line = LogLine { head, status, size, exchange: self.clone(), failure: None };
            Body::new(Counted { body, seen: line })
        })
    }
}

/// Who asked for what, and when.
pub(crate) struct RequestHead {
    pub(crate) begun: Instant,
    pub(crate) remote: SocketAddr,
    pub(crate) method: Method,
    pub(crate) uri: Uri,
}

/// What sees the bytes of a body.
trait Seen: Unpin {
    fn bytes(&mut self, len: u64);
    fn failure(&mut self, _: &axum::Error) {}
}

struct Received(Exchange);

impl Seen for Received {
    fn bytes(&mut self, len: u64) {
        self.0.0.received.fetch_add(len, Ordering::Relaxed);
        if let Some(activity) = self.0.0.activity.get() {
            activity.bytes_written.add(len);
        }
    }
}

/// Logged when it is dropped.
struct LogLine {
    head: RequestHead,
    status: StatusCode,
    /// Bytes of the answer's body, if they are known before.
    size: Option<u64>,
    exchange: Exchange,
    failure: Option<String>,
}

impl Seen for LogLine {
    fn bytes(&mut self, len: u64) {
        self.exchange.0.sent.fetch_add(len, Ordering::Relaxed);
        if let Some(activity) = self.exchange.0.activity.get().filter(|_| self.status.is_success())
        {
            activity.bytes_read.add(len);
        }
    }

    fn failure(&mut self, error: &axum::Error) {
        self.failure = Some(error.to_string());
    }
}

impl fmt::Display for LogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RequestHead { begun, remote, method, uri } = &self.head;
        let facts = &*self.exchange.0;
        let (received, sent) =
            (facts.received.load(Ordering::Relaxed), facts.sent.load(Ordering::Relaxed));
        let ms = clock::since(*begun).as_millis();
        let (url, status) = (logged_url(uri), self.status.as_u16());
        write!(f, "{remote} {method} {url} {status} {ms} ms")?;
        write!(f, ", {received} bytes in, {sent} out")?;
        if let Some(path) = facts.read_path.get() {
            write!(f, ", read {}", path.name())?;
        }
        match (&self.failure, self.size) {
            (Some(failure), _) => write!(f, ", broke off: {failure}"),
            (None, Some(size)) if sent < size && *method != Method::HEAD => {
                write!(f, ", broke off by the caller")
            }
            _ => Ok(()),
        }
    }
}

impl Drop for LogLine {
    fn drop(&mut self) {
        tracing::info!(target: "requests", "{self}");
    }
}

/// A body whose bytes are counted when they are asked for.
struct Counted<S> {
    body: Body,
    seen: S,
}

impl<S: Seen> HttpBody for Counted<S> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                let len = frame.data_ref().map_or(0, Buf::remaining);
                self.seen.bytes(len as u64);
            }
            Poll::Ready(Some(Err(error))) => self.seen.failure(error),
            Poll::Ready(None) | Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;

    fn head(method: Method) -> RequestHead {
        let remote = SocketAddr::from(([10, 0, 0, 1], 5000));
        RequestHead {
            begun: clock::now(),
            remote,
            method,
            uri: "/a?op=OPEN&delegation=IAAE".parse().unwrap(),
        }
    }

    fn line(exchange: &Exchange, method: Method, size: Option<u64>) -> LogLine {
        let status = StatusCode::OK;
        LogLine { head: head(method), status, size, exchange: exchange.clone(), failure: None }
    }

    #[tokio::test]
    async fn a_line_has_the_bytes_of_both_directions_and_the_way_a_file_was_read() {
        let exchange = Exchange::default();
        let body = exchange.count_received(Body::from("request"));
        assert_eq!(to_bytes(body, 100).await.unwrap(), "request");
        exchange.note_read_path(Some(ReadPath::LocalMapped));
        let response = exchange.log_when_sent(head(Method::GET), Response::new("abc".into()));
        assert_eq!(response.body().size_hint().exact(), Some(3), "the length is still known");
        assert_eq!(to_bytes(response.into_body(), 100).await.unwrap(), "abc");
        let shown = |method, size| line(&exchange, method, size).to_string();
        let whole = shown(Method::GET, Some(3));
        assert!(whole.starts_with("10.0.0.1:5000 GET /a?op=OPEN&delegation=*** 200 "), "{whole}");
        assert!(whole.ends_with(" ms, 7 bytes in, 3 out, read local-mapped"), "{whole}");
        assert!(shown(Method::GET, Some(9)).ends_with("local-mapped, broke off by the caller"));
        assert!(shown(Method::HEAD, Some(9)).ends_with("local-mapped"));
        assert!(shown(Method::GET, None).ends_with("local-mapped"));
    }
}
