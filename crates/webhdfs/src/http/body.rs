//! The body of an answer as it arrives.

use std::io::{self, BufRead, Read};

use super::connection::Connection;
use super::head::{Head, Length, invalid};

/// A chunk's first line and trailers with more bytes are refused.
const LINE_LEN_MAX: u64 = 16 << 10;

/// Bytes still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// A body of known length.
    Bytes(u64),
    /// The rest of a chunk, after which the next one follows.
    Chunk(u64),
    /// The next chunk begins.
    NextChunk,
    /// The body ends with the connection.
    Close,
    /// The body has ended.
    End,
}

/// The body of an answer, with the connection it comes from.
///
/// Invariant: a body that ends before its announced end is an error, never an end.
pub(crate) struct Body {
    connection: Connection,
    rest: Rest,
    closes: bool,
}

impl Body {
    /// Takes over the connection whose next bytes are the body of `head`.
    pub(crate) fn new(connection: Connection, head: &Head) -> Self {
        let rest = match head.length {
            Length::Known(0) => Rest::End,
            Length::Known(count) => Rest::Bytes(count),
            Length::Chunked => Rest::NextChunk,
            Length::Close => Rest::Close,
        };
        Self { connection, rest, closes: head.closes || head.length == Length::Close }
    }

    /// Returns the server, as `host:port`.
    pub(crate) fn authority(&self) -> &str {
        &self.connection.authority
    }

    /// Reads the whole body, of at most `max` bytes.
    ///
    /// # Errors
    /// Fails if it is longer.
    pub(crate) fn read_whole(&mut self, max: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.by_ref().take(max + 1).read_to_end(&mut bytes)?;
        match bytes.len() as u64 > max {
            true => Err(io::Error::other(format!("an answer of more than {max} bytes"))),
            false => Ok(bytes),
        }
    }

    /// Returns the connection for another request; `None` unless the body was read to its end.
    pub(crate) fn into_connection(self) -> Option<Connection> {
        (self.rest == Rest::End && !self.closes).then_some(self.connection)
    }

    fn read_some(&mut self, left: u64, buffer: &mut [u8]) -> io::Result<u64> {
        let wanted = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let count = self.connection.stream.read(buffer.get_mut(..wanted).unwrap_or_default())?;
        match count {
            0 => Err(broken_off()),
            count => Ok(count as u64),
        }
    }

    fn line(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        self.connection.stream.by_ref().take(LINE_LEN_MAX).read_until(b'\n', &mut line)?;
        if line.ends_with(b"\n") { Ok(line) } else { Err(broken_off()) }
    }

    fn next_chunk(&mut self) -> io::Result<Rest> {
        let line = self.line()?;
        match httparse::parse_chunk_size(&line) {
            Ok(httparse::Status::Complete((_, 0))) => {
                while self.line()?.len() > 2 {}
                Ok(Rest::End)
            }
            Ok(httparse::Status::Complete((_, length))) => Ok(Rest::Chunk(length)),
            _ => Err(invalid("a chunk has no length")),
        }
    }
}

fn broken_off() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the answer broke off")
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match self.rest {
                Rest::End => return Ok(0),
                Rest::Close => {
                    let count = self.connection.stream.read(buffer)?;
                    if count == 0 {
                        self.rest = Rest::End;
                    }
                    return Ok(count);
                }
                Rest::NextChunk => self.rest = self.next_chunk()?,
                Rest::Bytes(left) => {
                    let count = self.read_some(left, buffer)?;
                    self.rest = if count == left { Rest::End } else { Rest::Bytes(left - count) };
                    return Ok(count as usize);
                }
                Rest::Chunk(left) => {
                    let count = self.read_some(left, buffer)?;
                    self.rest = Rest::Chunk(left - count);
                    if count == left {
                        self.line()?;
                        self.rest = Rest::NextChunk;
                    }
                    return Ok(count as usize);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Request, Timeouts, Url};
    use super::*;
    use std::io::Write;
    use std::net::TcpListener;
    use std::time::Duration;

    /// Returns what a client gets from a server that sends `answer` and closes the connection.
    fn received(answer: &'static [u8]) -> io::Result<(Head, Vec<u8>, bool)> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = Url::parse(&format!("http://{}/", listener.local_addr()?)).unwrap();
        let server = std::thread::spawn(move || -> io::Result<()> {
            let mut stream = listener.accept()?.0;
            let mut asked = [0; 4096];
            let _ = stream.read(&mut asked)?;
            stream.write_all(answer)
        });
        let limit = Duration::from_secs(60);
        let timeouts = Timeouts { connect: limit, read: limit };
        let mut connection = Connection::open(&url, None, timeouts)?;
        connection.send(&url, Request { method: "GET", headers: "", has_body: false })?;
        let head = connection.receive();
        server.join().unwrap()?;
        let head = head?;
        let mut body = Body::new(connection, &head);
        let bytes = body.read_whole(100)?;
        Ok((head, bytes, body.into_connection().is_some()))
    }

    #[test]
    fn bodies_end_by_length_by_chunk_or_with_the_connection() {
        let sized = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";
        let (head, body, stays) = received(sized).unwrap();
        assert_eq!((head.status, &*body, stays), (200, &b"abc"[..], true));
        let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n1;x=y\r\nd\r\n0\r\nT: u\r\n\r\n";
        let (_, body, stays) = received(chunked).unwrap();
        assert_eq!((&*body, stays), (&b"abcd"[..], true));
        let closed = b"HTTP/1.1 307 Moved\r\nLocation: http://a:1/b\r\n\r\nrest";
        let (head, body, stays) = received(closed).unwrap();
        assert_eq!(head.location.as_deref(), Some("http://a:1/b"));
        assert_eq!((&*body, stays), (&b"rest"[..], false));
    }

    /// A file used to look complete when its server died in mid-body.
    #[test]
    fn a_body_that_breaks_off_is_an_error() {
        for answer in [
            &b""[..],
            b"HTTP/1.1 200 OK\r\nContent-Le",
            b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nabc",
            b"hello\r\n\r\n",
        ] {
            assert!(received(answer).is_err(), "{}", String::from_utf8_lossy(answer));
        }
    }
}
