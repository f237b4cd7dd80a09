//! A request's body, the beginning of which is read ahead.

use crate::failure::Failure;
use axum::body::{Body, BodyDataStream};
use bytes::Bytes;
use futures_util::StreamExt;
use std::collections::VecDeque;
use std::error::Error;
use std::io;

/// So many bytes are read before others have to wait for the rest.
const AHEAD_MAX: usize = 1 << 20;

/// A body, piece by piece.
pub(crate) struct BodyReader {
    ahead: VecDeque<Bytes>,
    /// None at the end.
    rest: Option<BodyDataStream>,
}

impl BodyReader {
    /// A body of which nothing is read ahead.
    pub(crate) fn of(body: Body) -> Self {
        Self { ahead: VecDeque::new(), rest: Some(body.into_data_stream()) }
    }

    /// Reads a beginning of the body, all of it if it is short.
    ///
    /// # Errors
    /// If the body breaks off in it.
    pub(crate) async fn begin(body: Body) -> Result<Self, Failure> {
        let mut reader = Self::of(body);
        let mut len = 0;
        while len < AHEAD_MAX
            && let Some(data) = reader.receive().await?
        {
            len += data.len();
            reader.ahead.push_back(data);
        }
        Ok(reader)
    }

    /// The next piece; none at the end.
    ///
    /// # Errors
    /// If the body breaks off.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        match self.ahead.pop_front() {
            Some(data) => Ok(Some(data)),
            None => self.receive().await,
        }
    }

    /// Whether there are further bytes.
    ///
    /// # Errors
    /// If the body breaks off.
    pub(crate) async fn has_more(&mut self) -> Result<bool, Failure> {
        while let Some(data) = self.next().await? {
            if !data.is_empty() {
                self.put_back(data);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The next piece begins with these bytes again.
    pub(crate) fn put_back(&mut self, data: Bytes) {
        if !data.is_empty() {
            self.ahead.push_front(data);
        }
    }

    async fn receive(&mut self) -> Result<Option<Bytes>, Failure> {
        let Some(rest) = &mut self.rest else { return Ok(None) };
        match rest.next().await {
            Some(Ok(data)) => Ok(Some(data)),
            Some(Err(error)) => {
                self.rest = None;
                Err(broken(&error))
            }
            None => {
                self.rest = None;
                Ok(None)
            }
        }
    }
}

/// Why a body broke off.
fn broken(error: &axum::Error) -> Failure {
    let text = format!("The request's body broke off: {error}");
    let mut causes = std::iter::successors(error.source(), |cause| (*cause).source());
    let is_late = |cause: &(dyn Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::TimedOut)
    };
    match causes.any(is_late) {
        true => Failure::timeout(text),
        false => Failure::io(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;

    #[tokio::test]
    async fn a_body_is_read_in_order_and_pieces_can_be_put_back() {
        let pieces = ["ab", "", "cd"].map(|piece| Ok::<_, std::io::Error>(Bytes::from(piece)));
        let mut body = BodyReader::begin(Body::from_stream(stream::iter(pieces))).await.unwrap();
        let mut first = body.next().await.unwrap().unwrap();
        assert_eq!(first.split_to(1), "a");
        body.put_back(first);
        assert!(body.has_more().await.unwrap());
        let mut all = Vec::new();
        while let Some(data) = body.next().await.unwrap() {
            all.extend_from_slice(&data);
        }
        assert_eq!(all, b"bcd");
        assert!(!body.has_more().await.unwrap());
    }

    #[tokio::test]
    async fn a_short_body_that_breaks_off_does_not_begin() {
        let pieces = [Ok(Bytes::from("ab")), Err(std::io::Error::other("reset"))];
        let begun = BodyReader::begin(Body::from_stream(stream::iter(pieces))).await;
        assert!(begun.err().unwrap().to_string().contains("broke off"));
    }
}
