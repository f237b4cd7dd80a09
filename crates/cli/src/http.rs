//! A GET to a NameNode's web server, read line by line.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use crate::failure::{Failure, Outcome};

/// Longest header line that is believed to be one.
const LINE_MAX: u64 = 64 << 10;

/// Fetches `path` from `host:port`; the body as it arrives. HTTP/1.0 keeps the body free of chunks.
pub fn get(
    address: &str,
    path: &str,
    connect: Duration,
    read: Duration,
) -> Outcome<impl BufRead + use<>> {
    let failed = |problem: String| Failure::io(format!("http://{address}{path}: {problem}"));
    let mut addresses = address.to_socket_addrs().map_err(|error| failed(error.to_string()))?;
    let target = addresses.next().ok_or_else(|| failed("unknown host".to_owned()))?;
    let mut stream = TcpStream::connect_timeout(&target, connect).map_err(|error| {
        failed(format!(
            "{error}; is the NameNode running, and dfs.namenode.http-address its address?"
        ))
    })?;
    stream.set_read_timeout(Some(read).filter(|limit| !limit.is_zero()))?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut reader = BufReader::new(stream);
    let status = line(&mut reader)?;
    let code = status.split(' ').nth(1).unwrap_or_default().to_owned();
    while !line(&mut reader)?.is_empty() {}
    if code != "200" {
        let mut body = String::new();
        let _ = reader.by_ref().take(LINE_MAX).read_to_string(&mut body);
        let first = body.lines().next().unwrap_or_default().to_owned();
        return Err(failed(format!("{} {first}", status.trim())));
    }
    Ok(reader)
}

fn line(reader: &mut impl BufRead) -> Outcome<String> {
    let mut text = String::new();
    reader.by_ref().take(LINE_MAX).read_line(&mut text)?;
    Ok(text.trim_end().to_owned())
}

/// Escapes a query value as URLEncoder does.
pub fn escape(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => {
                out.push(byte.into())
            }
            b' ' => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
