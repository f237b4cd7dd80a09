//! A file open for writing.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::exchange::{Exchange, lost};
use crate::http::Upload;
use crate::operation::Operation;
use crate::query::Query;

/// A file open for writing. Without [`close`](Self::close) it stays incomplete.
pub struct Writer {
    exchange: Arc<Exchange>,
    op: &'static Operation,
    /// `None` after a failure.
    upload: Option<Upload>,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("op", &self.op.name).finish_non_exhaustive()
    }
}

impl Writer {
    pub(crate) fn begin(
        exchange: Arc<Exchange>,
        op: &'static Operation,
        path: &str,
        query: &Query,
    ) -> Result<Self> {
        let upload = exchange.upload(op, path, query)?;
        Ok(Self { exchange, op, upload: Some(upload) })
    }

    /// Sends the rest and completes the file.
    ///
    /// # Errors
    /// Fails if the server did not take all bytes, or an earlier write failed.
    pub fn close(mut self) -> Result<()> {
        let Some(upload) = self.upload.take() else {
            return Err(Error::Protocol(
                "the file is incomplete: an earlier write failed".to_owned(),
            ));
        };
        let address = upload.authority().to_owned();
        let (head, body) = upload.finish().map_err(|source| lost(self.op, &address, source))?;
        // HttpFS and DataNodes answer an append with 200, a create with 201.
        self.exchange.checked(self.op, head, body).map(drop)
    }

    /// Returns the reason a server gave before it closed the connection; the connection's error if it gave none.
    fn cause(&mut self, failure: io::Error) -> io::Error {
        let Some(upload) = self.upload.take() else { return failure };
        let address = upload.authority().to_owned();
        let answered = upload.early_answer(failure);
        match answered.map(|(head, body)| self.exchange.checked(self.op, head, body)) {
            Ok(Err(refusal)) => io::Error::other(refusal),
            Ok(Ok(_)) => io::Error::other(format!("{address}: answered before it had all data")),
            Err(failure) => io::Error::new(failure.kind(), format!("{address}: {failure}")),
        }
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(upload) = &mut self.upload else {
            return Err(io::Error::other("an earlier write failed"));
        };
        upload.write(bytes).map_err(|failure| self.cause(failure))
    }

    fn flush(&mut self) -> io::Result<()> {
        let Some(upload) = &mut self.upload else {
            return Err(io::Error::other("an earlier write failed"));
        };
        upload.flush().map_err(|failure| self.cause(failure))
    }
}
