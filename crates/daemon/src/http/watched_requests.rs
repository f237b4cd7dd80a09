//! The test for an idle HTTP/2 connection.
//!
//! The bytes on the connection do not tell. A client without requests answers pings, and a client that neither sends nor takes
//! the bodies of its requests can send any number of small frames.

use super::slow_peer::MinimumRate;
use axum::body::{Body, HttpBody};
use axum::http::{Request, Response};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use parking_lot::Mutex;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;
use zerohop_system::clock;

/// Bytes that a client with open requests takes at least while a connection may be silent: pings are fewer.
const TAKEN_MIN: u64 = 1 << 10;

/// The requests of one connection. Clones share them.
#[derive(Clone)]
pub(super) struct WatchedRequests(Arc<Mutex<State>>);

struct State {
    /// Requests whose answer is not sent.
    open: usize,
    /// Open requests that wait for this server, not for the client.
    working: usize,
    last_progress: Instant,
}

/// One request, shared by the handler, the request's body and the answer's.
struct Watched {
    requests: WatchedRequests,
    phase: Mutex<Phase>,
}

#[derive(Default)]
struct Phase {
    is_handled: bool,
    waits_for_body: bool,
    waits_for_producer: bool,
}

impl Phase {
    fn is_working(&self) -> bool {
        !self.waits_for_body && (self.is_handled || self.waits_for_producer)
    }
}

impl Default for WatchedRequests {
    fn default() -> Self {
        let last_progress = clock::runtime_now();
        Self(Arc::new(Mutex::new(State { open: 0, working: 0, last_progress })))
    }
}

impl WatchedRequests {
    /// Watches a request, until the value that is returned with it and the bodies are dropped.
    pub(super) fn begin<B>(&self, request: Request<B>) -> (Request<RequestBody<B>>, Handling) {
        let watched = Arc::new(Watched { requests: self.clone(), phase: Mutex::default() });
        let mut state = self.0.lock();
        state.open += 1;
        state.last_progress = clock::runtime_now();
        drop(state);
        watched.change(|phase| phase.is_handled = true);
        let request = request.map(|body| RequestBody { body, watched: Arc::clone(&watched) });
        (request, Handling(watched))
    }

    /// Waits until the client has wanted nothing for `idle_max`: no request has come and none is being handled, no body has
    /// moved, and of answers it takes less than `rate_min`. `written` returns the bytes that were sent to it.
    pub(super) fn silent<W: Fn() -> u64>(
        &self,
        idle_max: Duration,
        rate_min: MinimumRate,
        written: W,
    ) -> impl Future<Output = ()> + use<W> {
        let requests = self.clone();
        let rate = u128::from(rate_min.bytes_per_s) * idle_max.as_millis() / 1000;
        let written_min = u64::try_from(rate).unwrap_or(u64::MAX).max(TAKEN_MIN);
        async move {
            let (mut since, mut before) = (clock::runtime_now(), written());
            loop {
                let (is_open, is_working, last) = requests.look();
                let now = clock::runtime_now();
                if is_working {
                    (since, before) = (now, written());
                }
                let until = since.max(last) + idle_max;
                if until > now {
                    clock::sleep_until(until).await;
                    continue;
                }
                let taken = written();
                if !is_open || taken.saturating_sub(before) < written_min {
                    return;
                }
                (since, before) = (now, taken);
            }
        }
    }

    /// Returns whether requests are open, whether this server works for one, and when a body last moved.
    fn look(&self) -> (bool, bool, Instant) {
        let state = self.0.lock();
        (state.open > 0, state.working > 0, state.last_progress)
    }
}

impl Watched {
    fn change(&self, change: impl FnOnce(&mut Phase)) {
        let mut phase = self.phase.lock();
        let before = phase.is_working();
        change(&mut phase);
        let after = phase.is_working();
        if before != after {
            let mut state = self.requests.0.lock();
            match after {
                true => state.working += 1,
                false => state.working -= 1,
            }
            state.last_progress = clock::runtime_now();
        }
    }

    fn moved(&self) {
        self.requests.0.lock().last_progress = clock::runtime_now();
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.change(|phase| *phase = Phase::default());
        self.requests.0.lock().open -= 1;
    }
}

/// The time in which a request is handled.
pub(super) struct Handling(Arc<Watched>);

impl Handling {
    /// Ends the handler's part. Returns the answer with a body that is watched until it is sent.
    pub(super) fn finish(self, answer: Response<Body>) -> Response<AnswerBody> {
        self.0.change(|phase| phase.is_handled = false);
        let watched = Arc::clone(&self.0);
        answer.map(|body| AnswerBody { body, watched })
    }
}

impl Drop for Handling {
    fn drop(&mut self) {
        self.0.change(|phase| phase.is_handled = false);
    }
}

/// The body of a request: while it is waited for, the client is to do something.
pub(super) struct RequestBody<B> {
    body: B,
    watched: Arc<Watched>,
}

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for RequestBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.body).poll_frame(context);
        this.watched.change(|phase| phase.waits_for_body = polled.is_pending());
        if polled.is_ready() {
            this.watched.moved();
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

impl<B> Drop for RequestBody<B> {
    fn drop(&mut self) {
        self.watched.change(|phase| phase.waits_for_body = false);
    }
}

/// The body of an answer. Hyper polls it only when the client has taken enough of the pieces before.
pub(super) struct AnswerBody {
    body: Body,
    watched: Arc<Watched>,
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.body).poll_frame(context);
        this.watched.change(|phase| phase.waits_for_producer = polled.is_pending());
        if polled.is_ready() {
            this.watched.moved();
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
