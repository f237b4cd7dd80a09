//! The socket of a connection, with or without TLS.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, StreamOwned};

use super::url::Url;

/// Time limits of a connection. Zero means no limit, as in Java.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    /// Limit for connecting to one address.
    pub(crate) connect: Duration,
    /// Limit for each read and each write.
    pub(crate) read: Duration,
}

/// A socket.
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    /// Connects to the server of a URL; a host with several addresses is tried at each.
    pub(crate) fn connect(
        url: &Url,
        tls: Option<&Arc<ClientConfig>>,
        timeouts: Timeouts,
    ) -> io::Result<Self> {
        let mut problem = io::Error::new(io::ErrorKind::NotFound, "unknown host");
        for address in url.authority.to_socket_addrs()? {
            let connected = match timeouts.connect.is_zero() {
                true => TcpStream::connect(address),
                false => TcpStream::connect_timeout(&address, timeouts.connect),
            };
            match connected {
                Ok(stream) => return Self::prepared(stream, url, tls, timeouts),
                Err(error) => problem = error,
            }
        }
        Err(problem)
    }

    fn prepared(
        stream: TcpStream,
        url: &Url,
        tls: Option<&Arc<ClientConfig>>,
        timeouts: Timeouts,
    ) -> io::Result<Self> {
        let limit = Some(timeouts.read).filter(|limit| !limit.is_zero());
        stream.set_nodelay(true)?;
        stream.set_read_timeout(limit)?;
        stream.set_write_timeout(limit)?;
        let Some(config) = tls else { return Ok(Self::Plain(stream)) };
        let name = ServerName::try_from(url.host().to_owned()).map_err(io::Error::other)?;
        let session = ClientConnection::new(config.clone(), name).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(session, stream);
        // The handshake is part of connecting: if it fails, no request has been sent.
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(Self::Tls(Box::new(stream)))
    }

    /// Returns `true` if the server has neither closed the connection nor sent anything unasked.
    pub(crate) fn is_quiet(&self) -> bool {
        let stream = match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => &stream.sock,
        };
        let mut byte = [0];
        let is_quiet = stream.set_nonblocking(true).is_ok()
            && stream.peek(&mut byte).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
        is_quiet && stream.set_nonblocking(false).is_ok()
    }
}

/// Names a time-out. Linux reports it as "Resource temporarily unavailable".
fn timed_out(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => io::Error::new(io::ErrorKind::TimedOut, "Read timed out"),
        _ => error,
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
        .map_err(timed_out)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
        .map_err(timed_out)
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
        }
        .map_err(timed_out)
    }
}
