//! A connection that may not be silent for ever, and whose peer may not take what it asked for too slowly.

use super::caller_socket::ClosesSocket;
use super::slow_peer::{MinimumRate, SlowPeer};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};
use zerohop_system::clock;

/// A connection that knows what of its bytes the peer has not taken.
pub(super) trait Unacknowledged {
    /// Bytes that were written and lie in the socket still.
    fn unacknowledged(&self) -> u64;
}

/// Fails a read or write that waits while nothing has moved, in either direction, for the limit; and a write whose peer takes
/// fewer bytes than the minimum.
pub(super) struct IdleLimited<S> {
    /// Before the stream: it says that the stream's socket is closed, and fields are dropped in this order.
    _closes: Option<ClosesSocket>,
    stream: S,
    idle_max: Duration,
    reader: SlowPeer,
    /// Bytes that were given to the socket.
    written: u64,
    /// Copy of `written` for the tasks that watch the connection.
    shown: Option<Arc<AtomicU64>>,
    /// Those of them that the peer had taken when the silence was looked at last.
    taken: u64,
    /// When bytes last moved, or when the current wait began after a time without reads and writes.
    last_move: Instant,
    timer: Pin<Box<Sleep>>,
    is_reading: bool,
    is_writing: bool,
}

impl<S> IdleLimited<S> {
    pub(super) fn new(stream: S, idle_max: Duration, rate_min: MinimumRate) -> Self {
        Self {
            _closes: None,
            stream,
            idle_max,
            reader: SlowPeer::new(rate_min),
            written: 0,
            shown: None,
            taken: 0,
            last_move: clock::runtime_now(),
            timer: Box::pin(clock::sleep(idle_max)),
            is_reading: false,
            is_writing: false,
        }
    }

    /// Says that the stream's socket is closed before it is.
    pub(super) fn closing(self, closes: ClosesSocket) -> Self {
        Self { _closes: Some(closes), ..self }
    }

    /// Counts in `written` what is given to the socket.
    pub(super) fn showing(self, written: Arc<AtomicU64>) -> Self {
        Self { shown: Some(written), ..self }
    }

    /// A wait begins.
    fn wait(&mut self, waits: impl FnOnce(&mut Self) -> &mut bool) {
        let is_alone = !self.is_reading && !self.is_writing;
        if !std::mem::replace(waits(self), true) && is_alone {
            self.last_move = clock::runtime_now();
        }
    }

    /// Bytes have moved. The timer is left as it is: it looks at the time when it fires.
    fn moved(&mut self) {
        self.last_move = clock::runtime_now();
    }
}

impl<S: Unacknowledged> IdleLimited<S> {
    /// Ready when nothing has moved for the limit.
    fn poll_silence(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        loop {
            let until = self.last_move + self.idle_max;
            if self.timer.deadline() < until {
                self.timer.as_mut().reset(until);
            }
            ready!(self.timer.as_mut().poll(context));
            // The socket takes more only when a good part of it is free: a slow peer moves bytes out of it long before.
            let taken = self.written.saturating_sub(self.stream.unacknowledged());
            if std::mem::replace(&mut self.taken, taken) < taken && self.is_writing {
                self.moved();
            } else if clock::runtime_now() >= until {
                return Poll::Ready(io::ErrorKind::TimedOut.into());
            }
        }
    }
}

impl<S: AsyncRead + Unacknowledged + Unpin> AsyncRead for IdleLimited<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Poll::Ready(read) = Pin::new(&mut self.stream).poll_read(context, buffer) {
            self.is_reading = false;
            self.moved();
            return Poll::Ready(read);
        }
        self.wait(|this| &mut this.is_reading);
        self.poll_silence(context).map(Err)
    }
}

impl<S: AsyncWrite + Unacknowledged + Unpin> IdleLimited<S> {
    fn written(
        &mut self,
        polled: Poll<io::Result<usize>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(result) = &polled {
            self.written += *result.as_ref().unwrap_or(&0) as u64;
            if let Some(shown) = &self.shown {
                shown.store(self.written, Ordering::Relaxed);
            }
            self.is_writing = false;
            self.reader.stop_waiting();
            self.moved();
            return polled;
        }
        // A peer that takes nothing: nothing might be read from it meanwhile, which would show its silence.
        self.wait(|this| &mut this.is_writing);
        let taken = || self.written.saturating_sub(self.stream.unacknowledged());
        if self.reader.poll_too_slow(context, taken).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        self.poll_silence(context).map(Err)
    }
}

impl<S: AsyncWrite + Unacknowledged + Unpin> AsyncWrite for IdleLimited<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(polled, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.written(polled, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    impl Unacknowledged for DuplexStream {
        fn unacknowledged(&self) -> u64 {
            0
        }
    }

    const LIMIT: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn silence_is_limited_and_a_slow_peer_is_not() {
        let (ours, mut theirs) = duplex(16);
        let mut limited = IdleLimited::new(ours, LIMIT, MinimumRate::NONE);
        tokio::spawn(async move {
            for _ in 0..5 {
                tokio::time::sleep(LIMIT - Duration::from_secs(1)).await;
                theirs.write_all(b"x").await.unwrap();
            }
            std::future::pending::<()>().await;
        });
        let start = Instant::now();
        let mut byte = [0];
        for _ in 0..5 {
            limited.read_exact(&mut byte).await.unwrap();
        }
        let error = limited.read_exact(&mut byte).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(start.elapsed() >= 6 * LIMIT - Duration::from_secs(5), "{:?}", start.elapsed());
    }

    /// A handler may take longer than a peer may be silent; then the answer was cut off.
    #[tokio::test(start_paused = true)]
    async fn a_pause_of_our_own_counted_as_the_peers_silence() {
        let (ours, mut theirs) = duplex(4);
        let mut limited = IdleLimited::new(ours, LIMIT, MinimumRate::NONE);
        tokio::time::sleep(2 * LIMIT).await;
        tokio::spawn(async move {
            tokio::time::sleep(LIMIT / 2).await;
            let mut all = Vec::new();
            theirs.read_to_end(&mut all).await.unwrap();
        });
        limited.write_all(b"more than fits").await.unwrap();
        let (ours, _silent) = duplex(4);
        let mut limited = IdleLimited::new(ours, LIMIT, MinimumRate::NONE);
        let error = limited.write_all(b"more than fits").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "a peer that takes nothing");
    }
}
