//! Files in bodies: sent from a thread that reads the file, received by a thread that writes one.

use crate::throttle::TransferThrottle;
use axum::body::{Body, BodyDataStream};
use bytes::{Buf, Bytes};
use futures_core::Stream;
use std::fs::File;
use std::future::poll_fn;
use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc;
use zerohop_daemon::http::HandlerPermit;

/// Bytes in one piece.
const PIECE_LEN: usize = 64 * 1024;
/// Pieces that wait for the slower side.
const PIECES_MAX: usize = 4;

type Piece = io::Result<Bytes>;

/// What a thread has read.
struct Pieces(mpsc::Receiver<Piece>);

impl Stream for Pieces {
    type Item = Piece;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Piece>> {
        self.0.poll_recv(context)
    }
}

/// The first `len` bytes of a file, read on `thread`.
pub(super) fn file_body(
    file: File,
    len: u64,
    bytes_per_s: u64,
    thread: HandlerPermit,
    on_end: impl FnOnce() + Send + 'static,
) -> Body {
    let (to, pieces) = mpsc::channel(PIECES_MAX);
    thread.run(move || {
        let mut throttle = TransferThrottle::new(bytes_per_s);
        let mut file = file.take(len);
        loop {
            let mut piece = Vec::with_capacity(PIECE_LEN);
            let read = (&mut file).take(PIECE_LEN as u64).read_to_end(&mut piece);
            let piece = match read {
                Ok(0) => return on_end(),
                Ok(_) => Ok(Bytes::from(piece)),
                Err(error) => Err(error),
            };
            let sent = piece.as_ref().map_or(0, Bytes::len);
            // Nobody reads any more, or the file cannot be read.
            if to.blocking_send(piece).is_err() || sent == 0 {
                return;
            }
            throttle.pass(sent);
        }
    });
    Body::from_stream(Pieces(pieces))
}

/// A body that a thread reads.
pub(super) struct BodyReader {
    pieces: mpsc::Receiver<Piece>,
    current: Bytes,
    throttle: TransferThrottle,
}

impl BodyReader {
    /// The reader, and what must be awaited for it to have something to read. It ends when the reader is dropped.
    pub(super) fn of(body: Body) -> (Self, impl Future<Output = ()>) {
        let (to, pieces) = mpsc::channel(PIECES_MAX);
        let reader = Self { pieces, current: Bytes::new(), throttle: TransferThrottle::new(0) };
        (reader, feed(body.into_data_stream(), to))
    }

    /// Reads at most so many bytes a second from now on; 0: as many as come.
    pub(super) fn throttle(&mut self, bytes_per_s: u64) {
        self.throttle = TransferThrottle::new(bytes_per_s);
    }
}

async fn feed(mut body: BodyDataStream, to: mpsc::Sender<Piece>) {
    while let Some(piece) = poll_fn(|context| Pin::new(&mut body).poll_next(context)).await {
        if to.send(piece.map_err(io::Error::other)).await.is_err() {
            return;
        }
    }
}

impl Read for BodyReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.current.is_empty() {
            match self.pieces.blocking_recv() {
                Some(piece) => self.current = piece?,
                None => return Ok(0),
            }
        }
        let len = self.current.len().min(buffer.len());
        self.current.copy_to_slice(buffer.get_mut(..len).unwrap_or_default());
        self.throttle.pass(len);
        Ok(len)
    }
}
