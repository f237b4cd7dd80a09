//! The rest of a body whose request was refused.
//!
//! Many clients send all of a body before they read the answer. If the connection is closed with bytes unread they see a reset, and not
//! why they were refused.

use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, header};
use bytes::{Buf, Bytes};
use futures_util::StreamExt;
use futures_util::future::select;
use http_body::{Frame, SizeHint};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::Handle;
use zerohop_system::clock;

/// So much of a body is passed over, and for so long.
const LEN_MAX: usize = 64 << 20;
const TIME_MAX: Duration = Duration::from_secs(10);

/// A body that is read to its end when it is given up before.
pub(crate) fn read_when_dropped(body: Body, headers: &HeaderMap) -> Body {
    if body.is_end_stream() {
        return body;
    }
    // Who waits to be told to go on sends nothing unless the body is asked for.
    let is_awaited = !headers.contains_key(header::EXPECT);
    Body::new(Drained { body: Some(body), is_awaited })
}

struct Drained {
    /// None when nothing more comes.
    body: Option<Body>,
    is_awaited: bool,
}

impl HttpBody for Drained {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.is_awaited = true;
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let polled = Pin::new(body).poll_frame(context);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.body = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl Drop for Drained {
    fn drop(&mut self) {
        let Some(body) = self.body.take().filter(|body| self.is_awaited && !body.is_end_stream())
        else {
            return;
        };
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                select(pin!(pass_over(body)), pin!(clock::sleep(TIME_MAX))).await;
            });
        }
    }
}

async fn pass_over(body: Body) {
    let mut pieces = body.into_data_stream();
    let mut len = 0;
    while len < LEN_MAX
        && let Some(Ok(piece)) = pieces.next().await
    {
        len += piece.remaining();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A body of three pieces, and how many of them were taken.
    fn body() -> (Body, Arc<AtomicUsize>) {
        let taken = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&taken);
        let pieces = stream::iter(0..3).map(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            Ok::<_, std::io::Error>(Bytes::from("piece"))
        });
        (Body::from_stream(pieces), taken)
    }

    #[tokio::test]
    async fn a_refusal_was_lost_with_the_bytes_that_nobody_read() {
        let (whole, taken) = body();
        drop(read_when_dropped(whole, &HeaderMap::new()));
        tokio::task::yield_now().await;
        assert_eq!(taken.load(Ordering::Relaxed), 3);

        let mut headers = HeaderMap::new();
        headers.insert(header::EXPECT, "100-continue".parse().unwrap());
        let (whole, taken) = body();
        drop(read_when_dropped(whole, &headers));
        tokio::task::yield_now().await;
        assert_eq!(taken.load(Ordering::Relaxed), 0, "nobody was told to send");

        let (whole, taken) = body();
        let mut pieces = read_when_dropped(whole, &headers).into_data_stream();
        pieces.next().await.unwrap().unwrap();
        drop(pieces);
        tokio::task::yield_now().await;
        assert_eq!(taken.load(Ordering::Relaxed), 3, "it was told to send");
    }
}
