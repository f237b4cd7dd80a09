//! Bytes of a response that also lie in a file: on a connection that is not encrypted the kernel sends them from there
//! (sendfile(2)), and they are not copied through this process.
//!
//! A body gives such bytes as any others, as [`Bytes`] over the map of the file. hyper passes them on to the socket without
//! looking at them, and the [`SendfileStream`] of the connection knows the addresses for which it has a file.

use super::connection::Unacknowledged;
use bytes::Bytes;
use parking_lot::Mutex;
use std::io::{self, ErrorKind};
use std::os::fd::BorrowedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

/// Bytes in memory that also lie in a file.
pub trait BytesInFile: AsRef<[u8]> + Send + Sync + 'static {
    /// The file, and the offset of the first byte in it. `None`: the bytes are sent from memory.
    ///
    /// # Errors
    /// If the bytes must not be sent any more. This ends the connection.
    fn file(&self) -> io::Result<Option<(BorrowedFd<'_>, u64)>>;
}

/// What one connection has to send from files. Clones share it. A request has it in its extensions, where the connection can
/// send files.
#[derive(Clone, Default)]
pub struct FileSender(Arc<Mutex<Vec<Arc<dyn BytesInFile>>>>);

impl FileSender {
    /// The bytes for the body of a response on this connection. On any other one they are sent from memory.
    pub fn bytes(&self, piece: impl BytesInFile) -> Bytes {
        let piece: Arc<dyn BytesInFile> = Arc::new(piece);
        self.0.lock().push(Arc::clone(&piece));
        Bytes::from_owner(Registered { piece, sender: self.clone() })
    }

    /// The piece that holds all of `bytes`, and where in it they begin.
    fn find(&self, bytes: &[u8]) -> Option<(Arc<dyn BytesInFile>, u64)> {
        let pieces = self.0.lock();
        pieces.iter().find_map(|piece| {
            let all = (**piece).as_ref();
            let start = bytes.as_ptr().addr().checked_sub(all.as_ptr().addr())?;
            let is_inside = !bytes.is_empty() && start.checked_add(bytes.len())? <= all.len();
            is_inside.then(|| (Arc::clone(piece), start as u64))
        })
    }
}

/// A piece that its connection knows for as long as a body or hyper has bytes of it: afterwards other memory may have its
/// address.
struct Registered {
    piece: Arc<dyn BytesInFile>,
    sender: FileSender,
}

impl AsRef<[u8]> for Registered {
    fn as_ref(&self) -> &[u8] {
        (*self.piece).as_ref()
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.sender.0.lock().retain(|piece| !Arc::ptr_eq(piece, &self.piece));
    }
}

/// A TCP connection that sends bytes from the file in which they lie, where its [`FileSender`] knows one.
///
/// To a peer on this machine the kernel copies them out of the map instead: bytes that were just compared with their checksums are
/// in this processor's cache, and with sendfile the peer's processor would fetch each page from memory. That takes about 1.3
/// times as long.
pub(super) struct SendfileStream {
    stream: TcpStream,
    files: FileSender,
    uses_sendfile: bool,
}

impl SendfileStream {
    pub(super) fn new(stream: TcpStream, files: FileSender) -> Self {
        let addresses =
            stream.local_addr().and_then(|near| Ok((near.ip(), stream.peer_addr()?.ip())));
        let uses_sendfile = addresses.is_ok_and(|(near, far)| near != far);
        Self { stream, files, uses_sendfile }
    }

    fn poll_sendfile(
        &self,
        context: &mut Context<'_>,
        piece: &dyn BytesInFile,
        (start, bytes): (u64, &[u8]),
    ) -> Poll<io::Result<usize>> {
        let Some((file, base)) = piece.file()?.filter(|_| self.uses_sendfile) else {
            return self.poll_send(context, || self.stream.try_write(bytes));
        };
        self.poll_send(context, || {
            let mut offset = base + start;
            let send = || {
                let sent = rustix::fs::sendfile(&self.stream, file, Some(&mut offset), bytes.len());
                Ok(sent?)
            };
            match self.stream.try_io(Interest::WRITABLE, send)? {
                0 => Err(io::Error::other("the block file has become shorter while it was sent")),
                sent => Ok(sent),
            }
        })
    }

    fn poll_send(
        &self,
        context: &mut Context<'_>,
        mut send: impl FnMut() -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.stream.poll_write_ready(context))?;
            match send() {
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                sent => return Poll::Ready(sent),
            }
        }
    }
}

impl Unacknowledged for SendfileStream {
    fn unacknowledged(&self) -> u64 {
        socket_queue_len(&self.stream)
    }
}

impl Unacknowledged for TcpStream {
    fn unacknowledged(&self) -> u64 {
        socket_queue_len(self)
    }
}

/// Bytes in a socket that its peer has not acknowledged.
fn socket_queue_len(stream: &TcpStream) -> u64 {
    const QUEUE_LEN: rustix::ioctl::Opcode = libc::TIOCOUTQ as rustix::ioctl::Opcode;
    // SAFETY: TIOCOUTQ of a socket writes one int.
    let asked = unsafe {
        rustix::ioctl::ioctl(stream, rustix::ioctl::Getter::<QUEUE_LEN, std::ffi::c_int>::new())
    };
    asked.map_or(0, |len| u64::try_from(len).unwrap_or(0))
}

impl AsyncRead for SendfileStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for SendfileStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.files.find(bytes) {
            Some((piece, start)) => self.poll_sendfile(context, &*piece, (start, bytes)),
            None => Pin::new(&mut self.stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut found = pieces.iter().enumerate();
        let found = found.find_map(|(at, bytes)| Some((at, bytes, self.files.find(bytes)?)));
        let Some((at, bytes, (piece, start))) = found else {
            return Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        };
        let before = pieces.get(..at).unwrap_or_default();
        match before.iter().all(|bytes| bytes.is_empty()) {
            true => self.poll_sendfile(context, &*piece, (start, bytes)),
            false => Pin::new(&mut self.stream).poll_write_vectored(context, before),
        }
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
    use std::fs::File;
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::sync::atomic::{AtomicBool, Ordering};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    /// In memory all zeros, in the file not: so that it shows where bytes came from.
    struct Piece {
        memory: Vec<u8>,
        file: File,
        is_gone: Arc<AtomicBool>,
    }

    impl AsRef<[u8]> for Piece {
        fn as_ref(&self) -> &[u8] {
            &self.memory
        }
    }

    impl BytesInFile for Piece {
        fn file(&self) -> io::Result<Option<(BorrowedFd<'_>, u64)>> {
            match self.is_gone.load(Ordering::Relaxed) {
                true => Err(io::Error::other("taken back")),
                false => Ok(Some((self.file.as_fd(), 3))),
            }
        }
    }

    fn piece(content: &[u8]) -> (Piece, Arc<AtomicBool>) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"xyz").unwrap();
        file.write_all(content).unwrap();
        let is_gone = Arc::new(AtomicBool::new(false));
        (Piece { memory: vec![0; content.len()], file, is_gone: Arc::clone(&is_gone) }, is_gone)
    }

    async fn pair() -> (SendfileStream, FileSender, TcpStream) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let far = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let files = FileSender::default();
        let mut near = SendfileStream::new(listener.accept().await.unwrap().0, files.clone());
        assert!(!std::mem::replace(&mut near.uses_sendfile, true), "the peer is on this machine");
        (near, files, far)
    }

    #[tokio::test]
    async fn bytes_of_files_and_of_memory_are_sent_in_order() {
        let (mut near, files, mut far) = pair().await;
        let content: Vec<u8> = (0..3_000_000u32).map(|at| (at % 251) as u8).collect();
        let reading = tokio::spawn(async move {
            let mut all = Vec::new();
            far.read_to_end(&mut all).await.unwrap();
            all
        });
        let first = files.bytes(piece(&content).0);
        let second = files.bytes(piece(b"second").0);
        let mut parts = [Bytes::from("head "), first.slice(10..), Bytes::from(" "), second];
        drop(first);
        while parts.iter().any(|part| !part.is_empty()) {
            let slices = parts.each_ref().map(|part| io::IoSlice::new(part));
            let mut sent = near.write_vectored(&slices).await.unwrap();
            for part in &mut parts {
                let taken = sent.min(part.len());
                drop(part.split_to(taken));
                sent -= taken;
            }
        }
        near.shutdown().await.unwrap();
        let all = reading.await.unwrap();
        assert!(all == [b"head ", &content[10..], b" ", b"second"].concat());
        drop(parts);
        assert!(files.0.lock().is_empty(), "memory at these addresses may be another's now");
    }

    #[tokio::test]
    async fn a_peer_on_this_machine_gets_the_bytes_in_memory() {
        let (mut near, files, mut far) = pair().await;
        near.uses_sendfile = false;
        near.write_all(&files.bytes(piece(b"content").0)).await.unwrap();
        drop(near);
        let mut all = Vec::new();
        far.read_to_end(&mut all).await.unwrap();
        assert_eq!(all, [0; 7]);
    }

    #[tokio::test]
    async fn bytes_that_may_not_be_sent_any_more_end_the_connection() {
        let (mut near, files, mut far) = pair().await;
        let (piece, is_gone) = piece(b"content");
        let bytes = files.bytes(piece);
        near.write_all(&bytes[..4]).await.unwrap();
        is_gone.store(true, Ordering::Relaxed);
        assert!(near.write_all(&bytes[4..]).await.unwrap_err().to_string().contains("taken back"));
        drop(near);
        let mut all = Vec::new();
        far.read_to_end(&mut all).await.unwrap();
        assert_eq!(all, b"cont");
    }
}
