//! The calls of one connection that have no answer yet, or one that may not leave yet.

use super::panic::poll_caught;
use super::response::Answered;
use super::service::{Gate, LaterReply};
use super::shared::Shared;
use bytes::Bytes;
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use zerohop_wire::RemoteException;

type Answer = Result<Bytes, RemoteException>;

/// Counted in [`Shared::waiting`] as long as they are here, also when their connection goes away.
pub(super) struct Waiting {
    shared: Arc<Shared>,
    later: FuturesUnordered<Later>,
    /// In the order of the calls; only the first one's gate is asked.
    gated: VecDeque<(Answered, Answer, Box<dyn Gate>)>,
}

impl Waiting {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::clone(shared), later: FuturesUnordered::new(), gated: VecDeque::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.later.is_empty() && self.gated.is_empty()
    }

    pub(super) fn add_later(&mut self, call: Answered, future: LaterReply) {
        self.shared.counters.waiting.fetch_add(1, Ordering::Relaxed);
        self.later.push(Later { call: Some(call), future });
    }

    pub(super) fn add_gated(&mut self, call: Answered, answer: Answer, gate: Box<dyn Gate>) {
        self.shared.counters.waiting.fetch_add(1, Ordering::Relaxed);
        self.gated.push_back((call, answer, gate));
    }

    /// The next answer that may leave.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<(Answered, Answer)> {
        let next = match self.poll_gated(context) {
            Poll::Ready(next) => next,
            Poll::Pending if self.later.is_empty() => return Poll::Pending,
            Poll::Pending => match self.later.poll_next_unpin(context) {
                Poll::Ready(Some(next)) => next,
                _ => return Poll::Pending,
            },
        };
        self.shared.counters.waiting.fetch_sub(1, Ordering::Relaxed);
        Poll::Ready(next)
    }

    fn poll_gated(&mut self, context: &mut Context<'_>) -> Poll<(Answered, Answer)> {
        let Some((_, _, gate)) = self.gated.front_mut() else { return Poll::Pending };
        let Poll::Ready(opened) = gate.poll_open(context) else { return Poll::Pending };
        match self.gated.pop_front() {
            Some((call, answer, _)) => Poll::Ready((call, opened.and(answer))),
            None => Poll::Pending,
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.shared
            .counters
            .waiting
            .fetch_sub(self.later.len() + self.gated.len(), Ordering::Relaxed);
    }
}

/// A call whose answer is still worked on.
struct Later {
    /// Taken when the answer is there.
    call: Option<Answered>,
    future: LaterReply,
}

impl Future for Later {
    type Output = (Answered, Answer);

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        poll_caught(&mut self.future, context)
            .map(|answer| (self.call.take().unwrap_or_else(Answered::unknown), answer))
    }
}
