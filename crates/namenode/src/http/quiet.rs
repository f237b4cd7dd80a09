//! The listener of the pages: connections that say nothing are closed, and there are never more than
//! a fixed number, so that strangers cannot use up the descriptors that RPC needs.

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep};
use zerohop_transport::rarely::Rarely;

/// Connections at once; more wait in the socket.
const CONNECTIONS_MAX: usize = 2048;
/// A connection on which nothing moves for so long is closed: longer than any page takes, and one that takes long
/// (`/fsck`) has something to say more often.
const SILENCE_MAX: Duration = Duration::from_secs(120);
/// Wait after an accept failed, most likely for want of descriptors.
const RETRY_AFTER: Duration = Duration::from_millis(200);

pub(super) struct QuietListener {
    inner: TcpListener,
    room: Arc<Semaphore>,
    refused: Rarely,
}

impl QuietListener {
    pub(super) fn new(inner: TcpListener) -> Self {
        let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        Self { inner, room, refused: Rarely::default() }
    }
}

impl Listener for QuietListener {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        loop {
            // The semaphore is never closed.
            let permit = Arc::clone(&self.room).acquire_owned().await.ok();
            match self.inner.accept().await {
                Ok((stream, remote)) => {
                    let silence = Box::pin(tokio::time::sleep(SILENCE_MAX));
                    return (Connection { stream, silence, _permit: permit }, remote);
                }
                Err(error) => {
                    if self.refused.is_due() {
                        tracing::warn!("HTTP server: a connection was not accepted: {error}");
                    }
                    tokio::time::sleep(RETRY_AFTER).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }
}

/// A connection with a limit to its silence.
pub(super) struct Connection {
    stream: TcpStream,
    silence: Pin<Box<Sleep>>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Connection {
    fn heard(&mut self) {
        self.silence.as_mut().reset(Instant::now() + SILENCE_MAX);
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Poll::Ready(read) = Pin::new(&mut self.stream).poll_read(context, buffer) {
            self.heard();
            return Poll::Ready(read);
        }
        ready!(self.silence.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(written) = Pin::new(&mut self.stream).poll_write(context, bytes) {
            self.heard();
            return Poll::Ready(written);
        }
        // A peer that takes nothing: nothing might be read from it meanwhile, which would show its silence.
        ready!(self.silence.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// The other end of a connection, for handlers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remote(pub(super) SocketAddr);

impl Connected<IncomingStream<'_, QuietListener>> for Remote {
    fn connect_info(stream: IncomingStream<'_, QuietListener>) -> Self {
        Self(*stream.remote_addr())
    }
}
