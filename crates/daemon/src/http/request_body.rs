//! The body of a request, which may not come too slowly.

use super::slow_peer::{MinimumRate, SlowPeer};
use axum::body::{Body, HttpBody};
use bytes::{Buf, Bytes};
use http_body::{Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The body as handlers get it.
pub(super) fn limited<B>(body: B, rate: MinimumRate) -> Body
where
    B: HttpBody<Data = Bytes> + Unpin + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    if rate.bytes_per_s == 0 || body.is_end_stream() {
        return Body::new(body);
    }
    Body::new(LimitedBody { body, rate, peer: SlowPeer::new(rate), received: 0 })
}

/// Fails where a handler waits for the body and too little comes.
struct LimitedBody<B> {
    body: B,
    rate: MinimumRate,
    peer: SlowPeer,
    received: u64,
}

impl<B> HttpBody for LimitedBody<B>
where
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: Into<axum::BoxError>,
{
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        let this = self.get_mut();
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            this.peer.stop_waiting();
            if let Some(Ok(frame)) = &frame {
                this.received += frame.data_ref().map_or(0, |data| data.remaining() as u64);
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        this.peer.poll_too_slow(context, || this.received).map(|()| {
            let text = format!("fewer than {} bytes a second came", this.rate.bytes_per_s);
            Some(Err(io::Error::new(io::ErrorKind::TimedOut, text).into()))
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
