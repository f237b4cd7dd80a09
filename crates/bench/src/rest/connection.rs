//! One kept-alive HTTP/1.1 connection, with no more between the socket and the measurement than curl has.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A server that says nothing for so long has failed the request.
const SILENCE_MAX: Duration = Duration::from_secs(120);
/// A head with more lines is refused.
const HEADERS_MAX: usize = 64;
/// A head with more bytes is refused.
const HEAD_LEN_MAX: usize = 64 << 10;

/// A connection to a server.
#[derive(Debug)]
pub struct Connection {
    stream: BufReader<TcpStream>,
}

/// The head of an answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The status code.
    pub status: u16,
    /// The header `Location`.
    pub location: Option<String>,
    length: Length,
    closes: bool,
}

/// Where an answer's body ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Length {
    /// After so many bytes.
    Known(u64),
    /// With an empty chunk.
    Chunked,
    /// With the connection.
    #[default]
    Close,
}

impl Connection {
    /// Connects to `host:port`; reads take at most `buffer_len` bytes.
    pub fn open(authority: &str, buffer_len: usize) -> io::Result<Self> {
        let stream = TcpStream::connect(authority)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SILENCE_MAX))?;
        stream.set_write_timeout(Some(SILENCE_MAX))?;
        Ok(Self { stream: BufReader::with_capacity(buffer_len, stream) })
    }

    /// Whether the next request can go out on it: false once the server has closed it.
    pub fn is_open(&self) -> bool {
        let stream = self.stream.get_ref();
        let mut byte = [0];
        let is_silent = self.stream.buffer().is_empty()
            && stream.set_nonblocking(true).is_ok()
            && stream.peek(&mut byte).is_err_and(|e| e.kind() == io::ErrorKind::WouldBlock);
        is_silent && stream.set_nonblocking(false).is_ok()
    }

    /// Sends bytes of a request.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    /// Receives an answer; its body goes to `sink`, piece by piece. False if the server closes the connection behind it.
    pub fn receive(
        &mut self,
        is_head: bool,
        sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<(Head, bool)> {
        let mut head = self.receive_head()?;
        while head.status == 100 {
            head = self.receive_head()?;
        }
        let has_body = !is_head && !matches!(head.status, 204 | 304);
        match head.length {
            _ if !has_body => {}
            Length::Known(len) => self.receive_bytes(len, sink)?,
            Length::Chunked => self.receive_chunks(sink)?,
            Length::Close => loop {
                let data = self.stream.fill_buf()?;
                let len = data.len();
                if len == 0 {
                    break;
                }
                sink(data)?;
                self.stream.consume(len);
            },
        }
        let stays = !(head.closes || has_body && head.length == Length::Close);
        Ok((head, stays))
    }

    fn receive_head(&mut self) -> io::Result<Head> {
        let mut bytes = Vec::with_capacity(512);
        loop {
            let before = bytes.len();
            let mut limited = self.stream.by_ref().take((HEAD_LEN_MAX - before) as u64);
            if limited.read_until(b'\n', &mut bytes)? == 0 {
                let problem = "the server closed the connection before its answer";
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem));
            }
            if matches!(&bytes[before..], b"\r\n" | b"\n") {
                return parse_head(&bytes);
            }
        }
    }

    fn receive_bytes(
        &mut self,
        mut len: u64,
        sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        while len > 0 {
            let data = self.stream.fill_buf()?;
            let take = data.len().min(usize::try_from(len).unwrap_or(usize::MAX));
            if take == 0 {
                let problem = format!("the answer lacks its last {len} bytes");
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem));
            }
            sink(&data[..take])?;
            self.stream.consume(take);
            len -= take as u64;
        }
        Ok(())
    }

    fn receive_chunks(&mut self, sink: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        loop {
            let line = self.line()?;
            let len = match httparse::parse_chunk_size(&line) {
                Ok(httparse::Status::Complete((_, len))) => len,
                _ => return Err(invalid("the answer has a chunk without a length")),
            };
            if len == 0 {
                // Trailers, and an empty line.
                while self.line()?.len() > 2 {}
                return Ok(());
            }
            self.receive_bytes(len, sink)?;
            self.line()?;
        }
    }

    fn line(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        let mut limited = self.stream.by_ref().take(HEAD_LEN_MAX as u64);
        limited.read_until(b'\n', &mut line)?;
        match line.ends_with(b"\n") {
            true => Ok(line),
            false => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the answer broke off")),
        }
    }
}

fn parse_head(bytes: &[u8]) -> io::Result<Head> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut answer = httparse::Response::new(&mut headers);
    match answer.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Err(invalid("the answer's head is incomplete")),
        Err(error) => return Err(invalid(&format!("the answer's head: {error}"))),
    }
    let mut head = Head { status: answer.code.unwrap_or(0), ..Head::default() };
    for header in answer.headers.iter() {
        let Ok(value) = std::str::from_utf8(header.value) else { continue };
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        if is("content-length") {
            let len = value.trim().parse();
            head.length = Length::Known(len.map_err(|_| invalid("the answer's length"))?);
        } else if is("transfer-encoding") {
            head.length = Length::Chunked;
        } else if is("connection") {
            head.closes |= value.trim().eq_ignore_ascii_case("close");
        } else if is("location") {
            head.location = Some(value.trim().to_owned());
        }
    }
    Ok(head)
}

fn invalid(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// What a client receives from a server that says `answer` and closes the connection.
    fn received(answer: &'static [u8]) -> io::Result<(Head, bool, Vec<u8>)> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let server = std::thread::spawn(move || listener.accept()?.0.write_all(answer));
        let mut connection = Connection::open(&address, 16)?;
        let mut body = Vec::new();
        let received = connection.receive(false, &mut |data| body.write_all(data));
        server.join().unwrap()?;
        received.map(|(head, stays)| (head, stays, body))
    }

    #[test]
    fn bodies_end_by_length_by_chunk_or_with_the_connection() {
        let sized = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n0123456789012345678901234567890123456789";
        let (head, stays, body) = received(sized).unwrap();
        assert_eq!((head.status, stays, body.len()), (200, true, 40));
        let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n14;x=y\r\n01234567890123456789\r\n0\r\nT: u\r\n\r\n";
        let (_, stays, body) = received(chunked).unwrap();
        assert_eq!((stays, body.as_slice()), (true, b"abc01234567890123456789".as_slice()));
        let closed =
            b"HTTP/1.1 307 Moved\r\nLocation: http://a:1/b\r\nConnection: close\r\n\r\nrest";
        let (head, stays, body) = received(closed).unwrap();
        assert_eq!((head.location.as_deref(), stays), (Some("http://a:1/b"), false));
        assert_eq!(body, b"rest");
    }

    #[test]
    fn answers_that_break_off_are_errors() {
        for answer in [
            b"".as_slice(),
            b"HTTP/1.1 200 OK\r\nContent-Le",
            b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            b"hello\r\n\r\n",
        ] {
            assert!(received(answer).is_err(), "{}", String::from_utf8_lossy(answer));
        }
    }
}
