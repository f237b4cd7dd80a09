//! A GET to a daemon's web server, read line by line. No HTTP library: those limit how long a whole body
//! takes, and Hadoop's read time-out is for each read of an fsck that may run for hours; and the answer of an
//! RPC port, which is no HTTP, is to be recognised.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use crate::failure::{Failure, Outcome};

/// Longest header line that is believed to be one.
const LINE_MAX: u64 = 64 << 10;

/// Number of headers that are kept; further ones are skipped.
const HEADERS_MAX: usize = 100;

/// What Hadoop's RPC servers and ours answer to a GET.
const RPC_PORT: &str = "this is an RPC port, and the web port is needed \
    (dfs.namenode.http-address, 9870 by default)";

/// What may be wrong where a NameNode does not answer.
const NAMENODE_HINT: &str = "is the NameNode running, and dfs.namenode.http-address its address?";

/// Fetches `path` from a NameNode's `host:port`; the body as it arrives.
pub fn get(
    address: &str,
    path: &str,
    connect: Duration,
    read: Duration,
) -> Outcome<impl BufRead + use<>> {
    get_from(address, path, (connect, read), NAMENODE_HINT)
}

/// Fetches `path` from `host:port`; the body as it arrives. The times are for connecting and for each read; `hint` is said
/// where nothing answers. HTTP/1.0 keeps the body free of chunks.
pub fn get_from(
    address: &str,
    path: &str,
    (connect, read): (Duration, Duration),
    hint: &str,
) -> Outcome<Body> {
    let failed = |problem: String| Failure::io(format!("http://{address}{path}: {problem}"));
    let addresses = address.to_socket_addrs().map_err(|error| failed(error.to_string()))?;
    let mut stream = first_connection(addresses, connect, hint).map_err(failed)?;
    stream.set_read_timeout(Some(read).filter(|limit| !limit.is_zero()))?;
    // In one piece: a server that does not like its beginning closes the connection.
    let request = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let lost = |error: std::io::Error| failed(error.to_string());
    stream.write_all(request.as_bytes()).map_err(lost)?;
    let mut reader = BufReader::new(stream);
    let status = line(&mut reader).map_err(lost)?;
    let code = status.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        let header = line(&mut reader).map_err(lost)?;
        if header.is_empty() {
            break;
        }
        if headers.len() < HEADERS_MAX {
            headers.push(header);
        }
    }
    if code != "200" {
        let mut body = String::new();
        let _ = reader.by_ref().take(LINE_MAX).read_to_string(&mut body);
        let first = body.lines().next().unwrap_or_default().to_owned();
        if first.contains("Hadoop IPC port") {
            return Err(failed(RPC_PORT.to_owned()));
        }
        return Err(failed(format!("{} {first}", status.trim())));
    }
    Ok(Body { headers, reader })
}

/// The body of an answer as it arrives, behind its headers.
pub struct Body {
    headers: Vec<String>,
    reader: BufReader<TcpStream>,
}

impl Body {
    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let pairs = self.headers.iter().filter_map(|header| header.split_once(':'));
        let mut pairs = pairs.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        pairs.next().map(|(_, value)| value.trim())
    }
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.reader.read(buffer)
    }
}

impl BufRead for Body {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.reader.consume(amount);
    }
}

/// A connection to the first address that answers; a host may have several, of two kinds.
fn first_connection(
    addresses: impl Iterator<Item = SocketAddr>,
    limit: Duration,
    hint: &str,
) -> Result<TcpStream, String> {
    let mut problem = "unknown host".to_owned();
    for address in addresses {
        match TcpStream::connect_timeout(&address, limit) {
            Ok(stream) => return Ok(stream),
            Err(error) => problem = format!("{error}; {hint}"),
        }
    }
    Err(problem)
}

fn line(reader: &mut impl BufRead) -> std::io::Result<String> {
    let mut text = String::new();
    reader.by_ref().take(LINE_MAX).read_line(&mut text)?;
    Ok(text.trim_end().to_owned())
}

/// Escapes a query value as URLEncoder does.
pub fn escape(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_host_is_tried_at_all_its_addresses() {
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let open = TcpListener::bind("127.0.0.1:0").unwrap();
        let limit = Duration::from_secs(5);
        let both = [closed, open.local_addr().unwrap()];
        let stream = first_connection(both.into_iter(), limit, NAMENODE_HINT).unwrap();
        assert_eq!(stream.peer_addr().unwrap(), both[1]);
        let none = first_connection([closed].into_iter(), limit, NAMENODE_HINT).unwrap_err();
        assert!(none.contains("is the NameNode running"), "{none}");
        assert_eq!(
            first_connection([].into_iter(), limit, NAMENODE_HINT).unwrap_err(),
            "unknown host"
        );
    }
}
