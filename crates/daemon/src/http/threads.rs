//! Threads for handlers that wait for locks, disks or other handlers.

use super::page::Page;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinHandle, spawn_blocking};

/// A request waits so long for a thread.
const TURN_WAIT_MAX: Duration = Duration::from_secs(10);

/// A bound on handlers that run on the runtime's blocking threads. Clones share it. Pages that may take long have a bound of
/// their own, so that the others always find a thread.
#[derive(Clone, Debug)]
pub struct HandlerThreads {
    turns: Arc<Semaphore>,
    turn_wait_max: Duration,
}

/// The right to one thread.
#[derive(Debug)]
pub struct HandlerPermit(Option<OwnedSemaphorePermit>);

/// Why a request gets no page: status 503 or 500.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// All threads are busy, and stayed so.
    Busy,
    /// The handler panicked.
    Failed,
}

impl HandlerThreads {
    /// At most `count` handlers at once.
    pub fn new(count: usize) -> Self {
        Self { turns: Arc::new(Semaphore::new(count)), turn_wait_max: TURN_WAIT_MAX }
    }

    /// Runs `handler` on a thread of its own.
    ///
    /// # Errors
    /// If all threads stay busy, or the handler panics.
    pub async fn run<T: Send + 'static>(
        &self,
        handler: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Unavailable> {
        let turn = tokio::time::timeout(self.turn_wait_max, self.turn());
        let turn = turn.await.map_err(|_| Unavailable::Busy)?;
        turn.run(handler).await.map_err(|_| Unavailable::Failed)
    }

    /// Waits for a thread, however long that takes.
    pub async fn turn(&self) -> HandlerPermit {
        // The semaphore is never closed.
        HandlerPermit(Arc::clone(&self.turns).acquire_owned().await.ok())
    }
}

impl HandlerPermit {
    /// Runs `handler` on the thread; the turn ends with it, even if the result is no longer awaited.
    pub fn run<T: Send + 'static>(
        self,
        handler: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        spawn_blocking(move || {
            let result = handler();
            drop(self.0);
            result
        })
    }
}

impl IntoResponse for Unavailable {
    fn into_response(self) -> Response {
        match self {
            Self::Busy => {
                let page = Page::text("All threads for pages are busy; ask again later.\n");
                let retry = [(header::RETRY_AFTER, HeaderValue::from_static("10"))];
                (retry, page.with_status(StatusCode::SERVICE_UNAVAILABLE)).into_response()
            }
            Self::Failed => {
                let page = Page::text("The page failed; the log of this process has the reason.\n");
                page.with_status(StatusCode::INTERNAL_SERVER_ERROR).into_response()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[tokio::test]
    async fn handlers_beyond_the_bound_are_refused_and_a_turn_ends_with_its_handler() {
        let mut threads = HandlerThreads::new(1);
        threads.turn_wait_max = Duration::from_millis(20);
        let (go_on, gate) = mpsc::channel::<()>();
        let slow = threads.turn().await.run(move || gate.recv());
        assert_eq!(threads.run(|| 1).await, Err(Unavailable::Busy));
        let another_page = HandlerThreads::new(1);
        assert_eq!(another_page.run(|| 1).await, Ok(1));
        go_on.send(()).unwrap();
        slow.await.unwrap().unwrap();
        threads.turn_wait_max = TURN_WAIT_MAX;
        assert_eq!(
            threads.run(|| panic!("as a bug would")).await,
            Err::<(), _>(Unavailable::Failed)
        );
        assert_eq!(threads.run(|| 2).await, Ok(2), "the turn of a handler that panicked");
    }
}
