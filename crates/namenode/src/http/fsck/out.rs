//! A report on its way to the user who asked: sent in pieces while the rest is made.

use bytes::Bytes;
use futures_core::Stream;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Sleep;
use zerohop_system::clock;

/// Bytes after which a piece is sent.
const PIECE: usize = 64 * 1024;
/// Pieces that wait for a slow reader; then the check waits for it too.
const PIECES_MAX: usize = 4;
/// Apache's client gives up when nothing comes for 60 seconds, our server closes a connection after 120.
const QUIET_MAX: Duration = Duration::from_secs(10);

/// The end that the report is written to.
pub(super) struct Out {
    text: String,
    to: mpsc::Sender<io::Result<Bytes>>,
}

/// The end that is sent.
pub(super) struct Report {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    quiet: Pin<Box<Sleep>>,
    quiet_max: Duration,
}

pub(super) fn report() -> (Out, Report) {
    with_quiet(QUIET_MAX)
}

fn with_quiet(quiet_max: Duration) -> (Out, Report) {
    let (to, pieces) = mpsc::channel(PIECES_MAX);
    let quiet = Box::pin(clock::sleep(quiet_max));
    (Out { text: String::new(), to }, Report { pieces, quiet, quiet_max })
}

impl Out {
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn line(&mut self, text: impl AsRef<str>) {
        self.push(text.as_ref());
        self.push("\n");
    }

    /// Sends what is there; waits for a reader that is behind. Not for asynchronous tasks.
    pub(super) fn flush(&mut self) {
        if !self.text.is_empty() {
            // The writer asks `is_wanted` before the next thing it does.
            _ = self.to.blocking_send(Ok(std::mem::take(&mut self.text).into()));
        }
    }

    /// As [`Out::flush`] where a piece is full.
    pub(super) fn flush_if_full(&mut self) {
        if self.text.len() >= PIECE {
            self.flush();
        }
    }

    /// Whether the report is still read.
    pub(super) fn is_wanted(&self) -> bool {
        !self.to.is_closed()
    }

    /// For the case that this end is lost before the report is at its own.
    pub(super) fn breaker(&self) -> Breaker {
        Breaker(self.to.clone())
    }
}

/// Breaks an answer off: what came is not to be taken for all.
pub(super) struct Breaker(mpsc::Sender<io::Result<Bytes>>);

impl Breaker {
    pub(super) async fn break_off(self, error: io::Error) {
        _ = self.0.send(Err(error)).await;
    }
}

impl fmt::Write for Out {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text);
        Ok(())
    }
}

impl Stream for Report {
    type Item = io::Result<Bytes>;

    /// A dot where nothing else comes for long, as Apache's prints them while it checks.
    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let piece = match self.pieces.poll_recv(context) {
            Poll::Ready(piece) => piece,
            Poll::Pending => {
                ready!(self.quiet.as_mut().poll(context));
                Some(Ok(Bytes::from_static(b".")))
            }
        };
        let until = clock::runtime_now() + self.quiet_max;
        self.quiet.as_mut().reset(until);
        Poll::Ready(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    async fn next(report: &mut Report) -> Option<String> {
        let piece = poll_fn(|context| Pin::new(&mut *report).poll_next(context)).await?;
        Some(String::from_utf8(piece.unwrap().to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_report_comes_in_pieces_and_waits_for_its_reader() {
        let (mut out, mut report) = report();
        let writer = std::thread::spawn(move || {
            for n in 0..PIECES_MAX + 2 {
                out.push(&n.to_string());
                out.flush_if_full();
                assert_eq!(out.text.len(), 1, "not full");
                out.flush();
            }
            out
        });
        for n in 0..PIECES_MAX + 2 {
            assert_eq!(next(&mut report).await, Some(n.to_string()));
        }
        let mut out = writer.join().unwrap();
        out.push(&"x".repeat(PIECE));
        let writer = std::thread::spawn(move || {
            out.flush_if_full();
            out
        });
        assert_eq!(next(&mut report).await.map(|piece| piece.len()), Some(PIECE));
        let out = writer.join().unwrap();
        assert!(out.is_wanted());
        drop(report);
        assert!(!out.is_wanted());
    }

    #[tokio::test]
    async fn a_slow_check_shows_that_it_is_alive() {
        let quiet_max = Duration::from_millis(20);
        let begun = clock::runtime_now();
        let (out, mut report) = with_quiet(quiet_max);
        assert_eq!(next(&mut report).await.as_deref(), Some("."));
        assert_eq!(next(&mut report).await.as_deref(), Some("."));
        assert!(begun.elapsed() >= 2 * quiet_max);
        drop(out);
        assert_eq!(next(&mut report).await, None);
    }
}
