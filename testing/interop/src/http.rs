//! A plain HTTP/1.1 client on one connection, for tests that look at every byte.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Longer than any answer takes on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// One connection to a server of this machine.
pub struct Connection {
    stream: BufReader<TcpStream>,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// The names in small letters, and the values.
    pub headers: Vec<(String, String)>,
    /// All of the body that came.
    pub body: Vec<u8>,
    /// Whether that is all that the head promised.
    pub is_whole: bool,
}

impl Answer {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Connection {
    /// Connects.
    pub fn open(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    /// Sends a piece of a chunked body; an empty one ends it.
    pub fn send_chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        self.send(&chunk)
    }

    /// Sends a request and reads the answer. A body goes with its length.
    pub fn ask(
        &mut self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<Answer> {
        let mut request = head(method, target, headers);
        if !body.is_empty() || matches!(method, "PUT" | "POST") {
            request += &format!("Content-Length: {}\r\n", body.len());
        }
        request += "\r\n";
        let mut request = request.into_bytes();
        request.extend_from_slice(body);
        // A server that refuses a body may answer before it has read it.
        let sent = self.send(&request);
        match (self.answer(method == "HEAD"), sent) {
            (Err(_), Err(error)) => Err(error),
            (answer, _) => answer,
        }
    }

    /// Sends the head of a request with a chunked body, for which [`send_chunk`](Self::send_chunk) is there.
    pub fn begin(
        &mut self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
    ) -> io::Result<()> {
        let request = head(method, target, headers) + "Transfer-Encoding: chunked\r\n\r\n";
        self.send(request.as_bytes())
    }

    /// Reads the head of an answer; interim ones are passed over. The body is empty yet.
    pub fn answer_head(&mut self) -> io::Result<Answer> {
        loop {
            let line = self.line()?;
            let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
            let status = status.ok_or_else(|| io::Error::other(format!("no status: {line:?}")))?;
            let mut headers = Vec::new();
            loop {
                let line = self.line()?;
                let Some((name, value)) = line.split_once(':') else { break };
                headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
            }
            if status >= 200 {
                return Ok(Answer { status, headers, body: Vec::new(), is_whole: false });
            }
        }
    }

    /// Reads an answer. One that breaks off in its body is not whole.
    pub fn answer(&mut self, is_of_head: bool) -> io::Result<Answer> {
        let mut answer = self.answer_head()?;
        if is_of_head || matches!(answer.status, 204 | 304) {
            answer.is_whole = true;
            return Ok(answer);
        }
        answer.is_whole = match answer.header("content-length").map(str::parse::<u64>) {
            Some(len) => {
                let len = len.map_err(io::Error::other)?;
                self.take(len, &mut answer.body)
            }
            None if answer.header("transfer-encoding") == Some("chunked") => {
                self.chunks(&mut answer.body)?
            }
            None => self.stream.read_to_end(&mut answer.body).is_ok(),
        };
        Ok(answer)
    }

    /// Reads up to `len` bytes of a body; true if all of them came.
    pub fn take(&mut self, len: u64, into: &mut Vec<u8>) -> bool {
        let before = into.len() as u64;
        // What came before a reset is kept.
        let _ = (&mut self.stream).take(len).read_to_end(into);
        into.len() as u64 - before == len
    }

    /// Whether the server closes the connection without another byte.
    pub fn is_closed(&mut self) -> bool {
        let mut byte = [0];
        !matches!(self.stream.read(&mut byte), Ok(1..))
    }

    fn chunks(&mut self, into: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            let Ok(line) = self.line() else { return Ok(false) };
            let len = u64::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
            if !self.take(len, into) || self.line().is_err() {
                return Ok(false);
            }
            if len == 0 {
                return Ok(true);
            }
        }
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim_end_matches(['\r', '\n']).to_owned()),
        }
    }
}

fn head(method: &str, target: &str, headers: &[(&str, &str)]) -> String {
    let mut head = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head
}
