//! The body of a request, sent in chunks while it is written.

use std::io::{self, Write};

use super::body::Body;
use super::connection::Connection;
use super::head::Head;

/// Bytes of a chunk.
const CHUNK: usize = 256 << 10;

/// A request whose body is being written.
///
/// Invariant: only [`finish`](Self::finish) sends the last chunk, so that a server takes a dropped upload for one that
/// broke off.
pub(crate) struct Upload {
    connection: Connection,
    buffer: Vec<u8>,
}

impl Upload {
    /// Takes over a connection whose request has been sent up to its body.
    pub(crate) fn new(connection: Connection) -> Self {
        Self { connection, buffer: Vec::with_capacity(CHUNK) }
    }

    /// Returns the server, as `host:port`.
    pub(crate) fn authority(&self) -> &str {
        &self.connection.authority
    }

    /// Ends the body and returns the answer.
    pub(crate) fn finish(mut self) -> io::Result<(Head, Body)> {
        let sent = self.send_chunk().and_then(|()| {
            let stream = self.connection.stream.get_mut();
            stream.write_all(b"0\r\n\r\n")?;
            stream.flush()
        });
        self.answer(sent)
    }

    /// Returns the answer that a server sent before it stopped to read.
    pub(crate) fn early_answer(self, failure: io::Error) -> io::Result<(Head, Body)> {
        self.answer(Err(failure))
    }

    /// Receives the answer, after a failure too: a server that refuses a body says why and closes the connection.
    fn answer(mut self, sent: io::Result<()>) -> io::Result<(Head, Body)> {
        match (self.connection.receive(), sent) {
            (Ok(head), _) => {
                let body = Body::new(self.connection, &head);
                Ok((head, body))
            }
            (Err(_), Err(failure)) | (Err(failure), Ok(())) => Err(failure),
        }
    }

    fn send_chunk(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let stream = self.connection.stream.get_mut();
        stream.write_all(format!("{:x}\r\n", self.buffer.len()).as_bytes())?;
        stream.write_all(&self.buffer)?;
        stream.write_all(b"\r\n")?;
        self.buffer.clear();
        Ok(())
    }
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(CHUNK - self.buffer.len());
        self.buffer.extend_from_slice(bytes.get(..count).unwrap_or_default());
        if self.buffer.len() >= CHUNK {
            self.send_chunk()?;
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send_chunk()?;
        self.connection.stream.get_mut().flush()
    }
}
