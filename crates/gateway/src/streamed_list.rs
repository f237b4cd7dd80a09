//! Answers in JSON that hold a list of any length. The server sends a piece before it creates the next one.
//!
//! A failure within the first piece is a refusal with a status. A later failure ends the connection, so that no caller takes
//! the part for the whole.

use crate::failure::Failure;
use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use serde_json::Value;
use std::fmt::Write;
use std::io;
use std::mem;
use std::pin::Pin;

/// Bytes of a piece.
pub(crate) const PIECE_LEN: usize = 64 << 10;

/// The members of a list, one after another.
pub(crate) type Members = Pin<Box<dyn Stream<Item = Result<Value, Failure>> + Send>>;

/// Returns members that are all known.
pub(crate) fn known<T: Send + 'static>(all: Vec<T>, shape: fn(&T) -> Value) -> Members {
    Box::pin(stream::iter(all.into_iter().map(move |one| Ok(shape(&one)))))
}

/// A list in an answer.
pub(crate) struct StreamedList {
    /// The JSON before the list.
    pub(crate) head: String,
    pub(crate) members: Members,
    /// The JSON after the list.
    pub(crate) tail: String,
    /// The JSON of a list without members.
    pub(crate) empty: &'static str,
}

impl StreamedList {
    /// Creates the answer with its first piece.
    ///
    /// # Errors
    /// Fails if a member of the first piece fails.
    pub(crate) async fn response(self) -> Result<Response, Failure> {
        let mut text = ListText { text: self.head, members: self.members, state: State::Begun };
        let end = ListEnd { tail: self.tail, empty: self.empty };
        let first = text.piece(&end).await?;
        let kind = [(header::CONTENT_TYPE, "application/json")];
        if text.is_ended() {
            return Ok((kind, first).into_response());
        }
        let rest = stream::try_unfold((text, end), async |(mut text, end)| match text.is_ended() {
            true => Ok(None),
            false => {
                let piece = text.piece(&end).await;
                let piece = piece.map_err(|failure| io::Error::other(failure.to_string()))?;
                Ok(Some((piece, (text, end))))
            }
        });
        let pieces = stream::iter([Ok::<_, io::Error>(first)]).chain(rest);
        Ok((kind, Body::from_stream(pieces)).into_response())
    }
}

struct ListEnd {
    tail: String,
    empty: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// No member was written yet.
    Begun,
    /// The list has members.
    Open,
    Ended,
}

/// The state of an answer that is being sent.
struct ListText {
    text: String,
    members: Members,
    state: State,
}

impl ListText {
    fn is_ended(&self) -> bool {
        self.state == State::Ended
    }

    /// Returns the next piece, which is a short one at the end.
    async fn piece(&mut self, end: &ListEnd) -> Result<Bytes, Failure> {
        while self.text.len() < PIECE_LEN {
            match self.members.next().await {
                Some(member) => {
                    let member = member?;
                    self.text.push_str(if self.state == State::Begun { "[" } else { ",\n" });
                    self.state = State::Open;
                    // A string takes all that is written to it.
                    _ = write!(self.text, "{member}");
                }
                None => {
                    self.text.push_str(if self.state == State::Begun { end.empty } else { "]" });
                    self.text.push_str(&end.tail);
                    self.state = State::Ended;
                    break;
                }
            }
        }
        Ok(mem::take(&mut self.text).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;
    use http_body::Body as _;
    use serde_json::json;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn list(members: impl Stream<Item = Result<Value, Failure>> + Send + 'static) -> StreamedList {
        let (head, tail) = ("{\"a\":".to_owned(), ",\"b\":1}".to_owned());
        StreamedList { head, members: Box::pin(members), tail, empty: "null" }
    }

    /// Returns members of 1,000 bytes, and counts in `made` how many were taken.
    fn long(
        count: usize,
        made: &Arc<AtomicUsize>,
    ) -> impl Stream<Item = Result<Value, Failure>> + Send + use<> {
        let made = Arc::clone(made);
        stream::iter(0..count).map(move |_| {
            made.fetch_add(1, Ordering::Relaxed);
            Ok("x".repeat(998).into())
        })
    }

    #[tokio::test]
    async fn a_short_list_has_a_length_and_an_empty_one_its_own_text() {
        for (members, expected) in [
            (vec![json!(1), json!({ "c": "d" })], "{\"a\":[1,\n{\"c\":\"d\"}],\"b\":1}"),
            (vec![], "{\"a\":null,\"b\":1}"),
        ] {
            let members = stream::iter(members.into_iter().map(Ok));
            let body = list(members).response().await.unwrap().into_body();
            assert_eq!(body.size_hint().exact(), Some(expected.len() as u64));
            assert_eq!(to_bytes(body, 100).await.unwrap(), expected);
        }
    }

    #[tokio::test]
    async fn a_list_used_to_be_made_whole_before_its_first_byte_was_sent() {
        let made = Arc::new(AtomicUsize::new(0));
        let response = list(long(1_000, &made)).response().await.unwrap();
        assert!(made.load(Ordering::Relaxed) <= 66, "{made:?} members for the first piece");
        let mut pieces = response.into_body().into_data_stream();
        let mut len = 0;
        while let Some(piece) = pieces.next().await {
            let piece = piece.unwrap();
            assert!(piece.len() < PIECE_LEN + 2_000, "{} bytes", piece.len());
            len += piece.len();
            let ahead = (made.load(Ordering::Relaxed) * 1_002).saturating_sub(len);
            assert!(ahead < PIECE_LEN, "{ahead} bytes were made ahead");
        }
        assert_eq!(len, "{\"a\":[".len() + 1_000 * 1_000 + 999 * 2 + "],\"b\":1}".len());
    }

    #[tokio::test]
    async fn an_early_failure_is_a_refusal_and_a_late_one_breaks_the_body() {
        let failed = || stream::iter([Err(Failure::not_found("gone"))]);
        let refused = list(failed()).response().await.unwrap_err();
        assert_eq!(refused.to_string(), "gone");
        let made = Arc::new(AtomicUsize::new(0));
        let response = list(long(100, &made).chain(failed())).response().await.unwrap();
        let broken = to_bytes(response.into_body(), usize::MAX).await.unwrap_err();
        assert!(broken.to_string().contains("gone"), "{broken}");
    }
}
