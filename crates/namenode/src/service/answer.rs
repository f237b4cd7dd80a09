//! The answer of a typed call, and when it may leave.

use crate::call_error::CallError;
use crate::storage::PendingSync;
use std::future::Future;
use std::pin::Pin;

/// What a call gives: a value, or why there is none.
pub(crate) type Outcome<R> = Result<R, CallError>;

/// An answer that waits for something other than the edit log.
pub(crate) type LaterOutcome<R> = Pin<Box<dyn Future<Output = Outcome<R>> + Send>>;

/// The answer of one call. A change's answer must not leave before its edits are on disk.
pub(crate) enum Answer<R> {
    /// May leave at once.
    Ready(Outcome<R>),
    /// May leave when the edits of the sync are on disk.
    AfterSync(Outcome<R>, PendingSync),
    /// Worked out later, synced edits included.
    Later(LaterOutcome<R>),
}

impl<R: 'static> Answer<R> {
    /// An answer that may leave once the sync's edits, if there are any, are on disk.
    pub(crate) fn after(outcome: Outcome<R>, sync: Option<PendingSync>) -> Self {
        match sync.filter(|sync| !sync.is_synced()) {
            None => Self::Ready(outcome),
            Some(sync) => Self::AfterSync(outcome, sync),
        }
    }

    pub(super) fn later(future: impl Future<Output = Outcome<R>> + Send + 'static) -> Self {
        Self::Later(Box::pin(future))
    }

    /// The same answer with another value.
    pub(crate) fn map<S: 'static>(self, value: impl FnOnce(R) -> S + Send + 'static) -> Answer<S> {
        match self {
            Self::Ready(outcome) => Answer::Ready(outcome.map(value)),
            Self::AfterSync(outcome, sync) => Answer::AfterSync(outcome.map(value), sync),
            Self::Later(future) => Answer::later(async move { future.await.map(value) }),
        }
    }

    /// Waits until the answer may leave.
    ///
    /// # Errors
    /// The call's, or a failure if its edits could not be written.
    pub(crate) async fn outcome(self) -> Outcome<R> {
        match self {
            Self::Ready(outcome) => outcome,
            Self::AfterSync(outcome, sync) => {
                synced(sync).await?;
                outcome
            }
            Self::Later(future) => future.await,
        }
    }

    /// Blocks until the answer may leave; for threads of their own only.
    ///
    /// # Errors
    /// The call's, or a failure if its edits could not be written.
    pub(crate) fn wait(self) -> Outcome<R> {
        match self {
            Self::Ready(outcome) => outcome,
            Self::AfterSync(outcome, sync) => {
                sync.wait()?;
                outcome
            }
            Self::Later(future) => tokio::runtime::Handle::current().block_on(future),
        }
    }
}

/// Waits until the edits of a sync are on disk.
///
/// # Errors
/// A failure if they could not be written.
pub(crate) async fn synced(sync: PendingSync) -> Outcome<()> {
    Ok(sync.synced().await?)
}
