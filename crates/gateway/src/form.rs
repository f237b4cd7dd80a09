//! A form of several parts (`multipart/form-data`), read with a bound.
//!
//! The parser keeps what it cannot place yet: bytes before the first boundary, and the head of a part. It gets one piece of the
//! body at a time, and none when it has kept too many without coming further.

use crate::failure::Failure;
use axum::body::{Body, BodyDataStream};
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use multer::{Field, Multipart};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

/// Bytes that may come before the first boundary, or as the head of a part.
const KEPT_MAX: usize = 64 << 10;

/// A form, part by part.
pub(crate) struct Form {
    parts: Multipart<'static>,
    kept: Kept,
}

/// Number of bytes that the parser got since it came further. Clones share it.
#[derive(Clone, Default)]
struct Kept(Arc<AtomicUsize>);

impl Form {
    /// Begins to read the form whose parts `boundary` separates.
    pub(crate) fn begin(body: Body, boundary: &str) -> Self {
        let kept = Kept::default();
        let body = Rationed { body: body.into_data_stream(), kept: kept.clone(), has_given: false };
        Self { parts: Multipart::new(body, boundary), kept }
    }

    /// Returns the next part, or `None` at the end of the form. The part before must have been read or passed over.
    ///
    /// # Errors
    /// Fails if the form breaks off, is malformed, or has more than [`KEPT_MAX`] bytes where a boundary or the end of a head
    /// should be.
    pub(crate) async fn next(&mut self) -> Result<Option<FormPart>, Failure> {
        let field = self.parts.next_field().await.map_err(failure)?;
        self.kept.forget();
        Ok(field.map(|field| FormPart { field, kept: self.kept.clone() }))
    }
}

/// A part of a form.
pub(crate) struct FormPart {
    field: Field<'static>,
    kept: Kept,
}

impl FormPart {
    /// Returns the name of the form's field.
    pub(crate) fn name(&self) -> Option<&str> {
        self.field.name()
    }

    /// Returns the name of the file that the user chose.
    pub(crate) fn file_name(&self) -> Option<&str> {
        self.field.file_name()
    }

    /// Returns the next piece, or `None` at the end of the part.
    ///
    /// # Errors
    /// Fails if the form breaks off.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        let piece = self.field.chunk().await.map_err(failure)?;
        self.kept.forget();
        Ok(piece)
    }

    /// Reads the rest of the part and drops it.
    ///
    /// # Errors
    /// Fails if the form breaks off.
    pub(crate) async fn pass_over(mut self) -> Result<(), Failure> {
        while self.next().await?.is_some() {}
        Ok(())
    }
}

fn failure(error: multer::Error) -> Failure {
    let mut text = format!("the form: {error}");
    let mut cause = std::error::Error::source(&error);
    while let Some(deeper) = cause {
        text = format!("{text}: {deeper}");
        cause = deeper.source();
    }
    Failure::illegal(text)
}

impl Kept {
    fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// A body that gives one piece whenever the parser looks, which would otherwise take all that has come.
struct Rationed {
    body: BodyDataStream,
    kept: Kept,
    has_given: bool,
}

impl Stream for Rationed {
    type Item = io::Result<Bytes>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Bytes>>> {
        if std::mem::take(&mut self.has_given) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.kept.0.load(Ordering::Relaxed) > KEPT_MAX {
            let text = format!("no boundary and no end of a part's head in {KEPT_MAX} bytes");
            return Poll::Ready(Some(Err(io::Error::new(io::ErrorKind::InvalidData, text))));
        }
        self.body.poll_next_unpin(context).map(|piece| {
            let piece = piece?.map_err(io::Error::other);
            if let Ok(piece) = &piece {
                self.kept.0.fetch_add(piece.len(), Ordering::Relaxed);
                self.has_given = true;
            }
            Some(piece)
        })
    }
}

#[cfg(test)]
#[path = "form_test.rs"]
mod tests;
