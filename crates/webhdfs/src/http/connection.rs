//! One connection: a request's head out, an answer's head in.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::Arc;

use tokio_rustls::rustls::ClientConfig;

use super::head::Head;
use super::stream::{Stream, Timeouts};
use super::url::Url;

/// A head with more bytes is refused.
const HEAD_LEN_MAX: usize = 64 << 10;
/// Bytes read from the socket by one call.
const BUFFER: usize = 128 << 10;

/// The head of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) method: &'static str,
    /// Further headers, as whole lines that end in CRLF.
    pub(crate) headers: &'a str,
    /// True if a body of unknown length follows.
    pub(crate) has_body: bool,
}

/// A connection to a server.
pub(crate) struct Connection {
    pub(super) stream: BufReader<Stream>,
    /// `host:port`.
    pub(crate) authority: String,
}

impl Connection {
    /// Connects to the server of a URL.
    pub(crate) fn open(
        url: &Url,
        tls: Option<&Arc<ClientConfig>>,
        timeouts: Timeouts,
    ) -> io::Result<Self> {
        let stream = Stream::connect(url, tls, timeouts)?;
        let stream = BufReader::with_capacity(BUFFER, stream);
        Ok(Self { stream, authority: url.authority.clone() })
    }

    /// Returns `true` if the connection can take another request.
    pub(crate) fn is_usable(&self) -> bool {
        self.stream.buffer().is_empty() && self.stream.get_ref().is_quiet()
    }

    /// Sends the head of a request.
    pub(crate) fn send(&mut self, url: &Url, request: Request<'_>) -> io::Result<()> {
        let length = match (request.has_body, request.method) {
            (true, _) => "Transfer-Encoding: chunked\r\nContent-Type: application/octet-stream\r\n",
            (false, "PUT" | "POST") => "Content-Length: 0\r\n",
            (false, _) => "",
        };
        let text = format!(
            "{} {} HTTP/1.1\r\nHost: {}\r\nAccept: */*\r\nUser-Agent: zerohop\r\n{length}{}\r\n",
            request.method, url.target, url.authority, request.headers
        );
        let stream = self.stream.get_mut();
        stream.write_all(text.as_bytes())?;
        stream.flush()
    }

    /// Receives the head of the answer.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::UnexpectedEof`] if the server closes the connection first.
    pub(crate) fn receive(&mut self) -> io::Result<Head> {
        loop {
            let head = self.receive_one()?;
            if head.status / 100 != 1 {
                return Ok(head);
            }
        }
    }

    fn receive_one(&mut self) -> io::Result<Head> {
        let mut bytes = Vec::with_capacity(512);
        loop {
            let before = bytes.len();
            let mut limited = self.stream.by_ref().take((HEAD_LEN_MAX - before) as u64);
            if limited.read_until(b'\n', &mut bytes)? == 0 {
                let problem = "the server closed the connection before its answer";
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem));
            }
            if matches!(bytes.get(before..), Some(b"\r\n" | b"\n")) {
                return Head::parse(&bytes);
            }
        }
    }
}
