//! A server with WebHDFS's URLs, and a client of it that follows redirects as curl does.

use super::connection::{Connection, Head};
use serde_json::Value;
use std::collections::HashMap;
use std::io::{self, Read, Write};

/// Bytes of a call of read(2) or write(2) on long bodies.
pub const LONG: usize = 1 << 20;
/// Bytes of a call of read(2) where answers are short.
pub const SHORT: usize = 16 << 10;

/// A server, and who asks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// `host:port`.
    authority: String,
    user: String,
    /// Whether uploads are redirected, as a NameNode does it; else they are sent at once, as HttpFS takes them.
    redirects: bool,
}

/// A client with a connection to each server it was sent to.
pub struct Client<'a> {
    service: &'a Service,
    buffer_len: usize,
    connections: HashMap<String, Connection>,
}

/// What a request sends.
pub enum Upload<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// So many bytes of a file.
    File(&'a mut dyn Read, u64),
}

impl Service {
    /// The server at `http://host:port`, with or without `/webhdfs/v1`. It is asked how it takes uploads.
    pub fn find(url: &str, user: &str) -> io::Result<Self> {
        let (authority, rest) = split(url)?;
        if !matches!(rest.trim_end_matches('/'), "" | "/webhdfs/v1") {
            return Err(invalid(format!("{url}: a server's URL is http://HOST:PORT")));
        }
        let mut service = Self { authority, user: user.to_owned(), redirects: false };
        let asked = service.target("/zerohop-bench-upload", "op=CREATE&data=true");
        let mut client = service.client(SHORT);
        let head = client.call("PUT", &service.authority, &asked, None, &mut ignore)?;
        service.redirects = match head.status {
            307 => true,
            200..=299 => {
                service.client(SHORT).delete("/zerohop-bench-upload")?;
                false
            }
            status => return Err(invalid(format!("{url} answers an upload with {status}"))),
        };
        Ok(service)
    }

    /// A client; its reads take at most `buffer_len` bytes.
    pub fn client(&self, buffer_len: usize) -> Client<'_> {
        Client { service: self, buffer_len, connections: HashMap::new() }
    }

    fn target(&self, path: &str, query: &str) -> String {
        format!("/webhdfs/v1{path}?{query}&user.name={}", self.user)
    }
}

impl Client<'_> {
    /// Makes a file, or writes one anew.
    pub fn create(&mut self, path: &str, upload: Upload<'_>) -> io::Result<()> {
        self.upload("PUT", path, "op=CREATE&overwrite=true", upload)
    }

    /// Appends to a file that is there.
    pub fn append(&mut self, path: &str, upload: Upload<'_>) -> io::Result<()> {
        self.upload("POST", path, "op=APPEND", upload)
    }

    /// Reads a file; returns its bytes' number.
    pub fn read(
        &mut self,
        path: &str,
        sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<u64> {
        let (mut authority, mut target) =
            (self.service.authority.clone(), self.service.target(path, "op=OPEN"));
        let mut len = 0;
        for _ in 0..2 {
            let mut counted = |data: &[u8]| {
                len += data.len() as u64;
                sink(data)
            };
            let head = self.call("GET", &authority, &target, None, &mut counted)?;
            match (head.status, head.location) {
                (200, _) => return Ok(len),
                (307, Some(location)) => {
                    (authority, target) = split(&location)?;
                    len = 0;
                }
                (status, _) => return Err(refused(path, status)),
            }
        }
        Err(invalid(format!("{path}: redirected twice")))
    }

    /// Bytes of a file, as its status says.
    pub fn len(&mut self, path: &str) -> io::Result<u64> {
        let target = self.service.target(path, "op=GETFILESTATUS");
        let (authority, mut body) = (self.service.authority.clone(), Vec::new());
        let mut keep = |data: &[u8]| body.write_all(data);
        let head = self.call("GET", &authority, &target, None, &mut keep)?;
        let status: Value = serde_json::from_slice(&body).unwrap_or_default();
        let len = status["FileStatus"]["length"].as_u64();
        len.ok_or_else(|| refused(path, head.status))
    }

    /// Makes a directory.
    pub fn mkdirs(&mut self, path: &str) -> io::Result<()> {
        self.change("PUT", path, "op=MKDIRS")
    }

    /// Deletes a path and all below it.
    pub fn delete(&mut self, path: &str) -> io::Result<()> {
        self.change("DELETE", path, "op=DELETE&recursive=true")
    }

    fn change(&mut self, method: &str, path: &str, query: &str) -> io::Result<()> {
        let target = self.service.target(path, query);
        let authority = self.service.authority.clone();
        let head = self.call(method, &authority, &target, None, &mut ignore)?;
        if head.status == 200 { Ok(()) } else { Err(refused(path, head.status)) }
    }

    fn upload(
        &mut self,
        method: &str,
        path: &str,
        query: &str,
        upload: Upload<'_>,
    ) -> io::Result<()> {
        let service = self.service;
        let (authority, target) = match service.redirects {
            false => {
                (service.authority.clone(), service.target(path, &format!("{query}&data=true")))
            }
            true => {
                let target = service.target(path, query);
                let head = self.call(method, &service.authority, &target, None, &mut ignore)?;
                let location = head.location.ok_or_else(|| refused(path, head.status))?;
                split(&location)?
            }
        };
        let head = self.call(method, &authority, &target, Some(upload), &mut ignore)?;
        match head.status {
            200..=299 => Ok(()),
            status => Err(refused(path, status)),
        }
    }

    fn call(
        &mut self,
        method: &str,
        authority: &str,
        target: &str,
        upload: Option<Upload<'_>>,
        sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<Head> {
        let len = match &upload {
            Some(Upload::Bytes(bytes)) => bytes.len() as u64,
            Some(Upload::File(_, len)) => *len,
            None => 0,
        };
        let mut head = format!("{method} {target} HTTP/1.1\r\nHost: {authority}\r\n");
        if method != "GET" {
            head += &format!("Content-Type: application/octet-stream\r\nContent-Length: {len}\r\n");
        }
        head += "\r\n";
        let mut head = head.into_bytes();
        // A connection that an error left in the middle of an answer is not used again.
        let kept = self.connections.remove(authority).filter(Connection::is_open);
        let mut connection = match kept {
            Some(connection) => connection,
            None => Connection::open(authority, self.buffer_len)?,
        };
        match upload {
            Some(Upload::Bytes(bytes)) if bytes.len() <= SHORT => {
                head.extend_from_slice(bytes);
                connection.send(&head)?;
            }
            Some(Upload::Bytes(bytes)) => {
                connection.send(&head)?;
                connection.send(bytes)?;
            }
            Some(Upload::File(file, _)) => {
                connection.send(&head)?;
                send_file(&mut connection, file, len)?;
            }
            None => connection.send(&head)?,
        }
        let (head, stays) = connection.receive(method == "HEAD", sink)?;
        if stays {
            self.connections.insert(authority.to_owned(), connection);
        }
        Ok(head)
    }
}

fn send_file(connection: &mut Connection, file: &mut dyn Read, mut len: u64) -> io::Result<()> {
    let mut buffer = vec![0; LONG];
    while len > 0 {
        let take = len.min(LONG as u64) as usize;
        file.read_exact(&mut buffer[..take])?;
        connection.send(&buffer[..take])?;
        len -= take as u64;
    }
    Ok(())
}

/// For answers that nobody reads.
fn ignore(_: &[u8]) -> io::Result<()> {
    Ok(())
}

/// The authority of a URL, and what follows it.
fn split(url: &str) -> io::Result<(String, String)> {
    let rest = url.strip_prefix("http://");
    let rest = rest.ok_or_else(|| invalid(format!("{url}: URLs begin with http://")))?;
    let (authority, target) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    Ok((authority.to_owned(), target.to_owned()))
}

fn refused(path: &str, status: u16) -> io::Error {
    io::Error::other(format!("{path}: the answer is {status}"))
}

fn invalid(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::net::{TcpListener, TcpStream};

    /// Answers requests, one a line of `answers`, and returns their first lines and bodies.
    fn serve(listener: &TcpListener, answers: &[String]) -> Vec<String> {
        let mut seen = Vec::new();
        let mut stream: Option<BufReader<TcpStream>> = None;
        for answer in answers {
            let from = stream.get_or_insert_with(|| BufReader::new(listener.accept().unwrap().0));
            let (mut first, mut len) = (String::new(), 0);
            from.read_line(&mut first).unwrap();
            loop {
                let mut line = String::new();
                from.read_line(&mut line).unwrap();
                if let Some(text) = line.strip_prefix("Content-Length: ") {
                    len = text.trim().parse().unwrap();
                }
                if line == "\r\n" {
                    break;
                }
            }
            let mut body = vec![0; len];
            from.read_exact(&mut body).unwrap();
            seen.push(format!("{} {}", first.trim(), String::from_utf8(body).unwrap()));
            from.get_mut().write_all(answer.as_bytes()).unwrap();
            if answer.contains("close") {
                stream = None;
            }
        }
        seen
    }

    #[test]
    fn uploads_go_where_the_server_wants_them() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let authority = listener.local_addr().unwrap().to_string();
        let redirect = format!(
            "HTTP/1.1 307 x\r\nLocation: http://{authority}/webhdfs/v1/f?op=CREATE&token=1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        let close = "HTTP/1.1 201 x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_owned();
        let answers = [redirect.clone(), redirect, close];
        let server = std::thread::spawn(move || serve(&listener, &answers));
        let service = Service::find(&format!("http://{authority}"), "u").unwrap();
        assert!(service.redirects);
        service.client(SHORT).create("/f", Upload::Bytes(b"abc")).unwrap();
        let seen = server.join().unwrap();
        assert!(seen[1].starts_with("PUT /webhdfs/v1/f?op=CREATE&overwrite=true&user.name=u "));
        assert_eq!(seen[2], "PUT /webhdfs/v1/f?op=CREATE&token=1 HTTP/1.1 abc");
        for url in ["https://a", "http://a/b", "a:1"] {
            assert!(Service::find(url, "u").is_err(), "{url}");
        }
    }

    #[test]
    fn a_connection_that_the_server_closed_meanwhile_is_opened_again() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let authority = listener.local_addr().unwrap().to_string();
        let answer = ["HTTP/1.1 200 x\r\nContent-Length: 0\r\n\r\n".to_owned()];
        let service = Service { authority, user: "u".to_owned(), redirects: false };
        let (answered, waits) = std::sync::mpsc::channel();
        let server = std::thread::spawn(move || {
            for _ in 0..2 {
                // Closed without a word on it.
                serve(&listener, &answer);
                answered.send(()).unwrap();
            }
        });
        let mut client = service.client(SHORT);
        for _ in 0..2 {
            client.mkdirs("/d").unwrap();
            waits.recv().unwrap();
        }
        server.join().unwrap();
    }
}
