//! A panic in a service costs the call it happens in; the connection and its other calls go on.

use super::service::LaterReply;
use bytes::Bytes;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll};
use zerohop_wire::{JavaException, RemoteException};

/// Runs a service's answer to a call; the exception that the caller gets if it panics.
pub(super) fn caught<T>(answer: impl FnOnce() -> T) -> Result<T, RemoteException> {
    catch_unwind(AssertUnwindSafe(answer)).map_err(|_| {
        // The panic's message and place are printed by the process's panic hook.
        tracing::error!("a call panicked; its caller gets an error");
        JavaException::Io.with("The server failed at this call (a panic, see its log)")
    })
}

/// Polls an answer that comes later. One that has panicked is not to be polled again.
pub(super) fn poll_caught(
    future: &mut LaterReply,
    context: &mut Context<'_>,
) -> Poll<Result<Bytes, RemoteException>> {
    caught(|| future.as_mut().poll(context)).unwrap_or_else(|exception| Poll::Ready(Err(exception)))
}
