//! One data-transfer connection: the stream, and the bytes received but not yet consumed.

use bytes::Bytes;
use prost::Message;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;
use zerohop_proto::Checked;
use zerohop_system::clock;
use zerohop_transport::domain::Peer;
use zerohop_transport::net::{ConnectOptions, DataStream, LowWater};
use zerohop_wire::transfer::frame;

/// No operation or reply header comes near this; larger announcements are refused unread.
const MESSAGE_LEN_MAX: usize = frame::MESSAGE_LEN_MAX;
/// What a connection reads ahead while it waits for operations.
pub(crate) const SMALL_BUFFER: usize = 8 << 10;

/// What a receive of a packet waits for at most: a quarter of the readers' mark. As fast where
/// the processors are free; where other programs keep them busy, much faster in one run and alike in
/// others (`docs/write-path.md`, Measured).
const LOW_WATER_MAX: usize = 64 << 10;

/// How often a connection that lingers looks for bytes to drop.
const LINGER_TICK: Duration = Duration::from_millis(20);

/// A connection with its receive buffer.
///
/// Invariant: `start <= end <= buffer.len()`; `buffer[start..end]` was received and not consumed.
pub(crate) struct Conn {
    stream: Arc<DataStream>,
    /// Who is at the other end, for logs.
    pub(crate) peer: String,
    /// The process at the other end of a Unix domain socket.
    domain_peer: Option<Peer>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    low_water: LowWater,
    read_timeout: Option<Duration>,
    write_timeout: Option<Duration>,
}

impl Conn {
    /// Takes over a connected stream.
    pub(crate) fn new(stream: DataStream) -> Self {
        let domain_peer = stream.domain_peer();
        let peer = match (stream.peer_addr(), domain_peer) {
            (Some(addr), _) => format!("/{addr}"),
            (None, Some(peer)) => peer.to_string(),
            (None, None) => "unknown".to_owned(),
        };
        Self {
            peer,
            domain_peer,
            stream: Arc::new(stream),
            buffer: Vec::new(),
            start: 0,
            end: 0,
            low_water: LowWater::up_to(LOW_WATER_MAX),
            read_timeout: None,
            write_timeout: None,
        }
    }

    /// Connects to a DataNode's transfer port.
    pub(crate) fn connect(addr: SocketAddr, timeout: Duration) -> io::Result<Self> {
        let options = ConnectOptions {
            connect_timeout: timeout,
            read_timeout: Duration::ZERO,
            write_timeout: Duration::ZERO,
            tcp_nodelay: true,
            send_buffer_len: 0,
        };
        Ok(Self::new(DataStream::connect(addr, &options)?))
    }

    /// The process at the other end, where it came over a Unix domain socket.
    pub(crate) fn is_local(&self) -> bool {
        let ends = (self.stream.local_addr(), self.stream.peer_addr());
        match ends {
            (Some(here), Some(there)) => here.ip() == there.ip() || there.ip().is_loopback(),
            _ => self.domain_peer.is_some(),
        }
    }

    /// The process at the other end of a Unix domain socket.
    pub(crate) fn domain_peer(&self) -> Option<Peer> {
        self.domain_peer
    }

    /// Sends one byte with descriptors, over a Unix domain socket.
    pub(crate) fn send_with_fds(&self, byte: u8, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        match self.stream.send_with_fds(&[byte], fds)? {
            1 => Ok(()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }

    /// The stream, to be shut down from another thread.
    pub(crate) fn stream(&self) -> &Arc<DataStream> {
        &self.stream
    }

    /// Limits how long one receive may wait.
    pub(crate) fn set_read_timeout(&mut self, timeout: Duration) -> io::Result<()> {
        if self.read_timeout != Some(timeout) {
            self.stream.set_read_timeout(timeout)?;
            self.read_timeout = Some(timeout);
        }
        Ok(())
    }

    /// Limits how long one send may wait.
    pub(crate) fn set_write_timeout(&mut self, timeout: Duration) -> io::Result<()> {
        if self.write_timeout != Some(timeout) {
            self.stream.set_write_timeout(timeout)?;
            self.write_timeout = Some(timeout);
        }
        Ok(())
    }

    /// The bytes received and not consumed.
    pub(crate) fn buffered(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// How much memory the buffer takes.
    pub(crate) fn buffer_len(&self) -> usize {
        self.buffer.len()
    }

    /// Forgets the first `len` buffered bytes.
    pub(crate) fn consume(&mut self, len: usize) {
        self.start = (self.start + len).min(self.end);
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
    }

    /// Makes room so that at least `len` bytes can be buffered from `start` on.
    pub(crate) fn reserve(&mut self, len: usize) {
        if self.buffer.len() - self.start >= len {
            return;
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() < len {
            // A buffer of the next few bytes alone would take a call for each part of a request.
            self.buffer.resize(len.max(SMALL_BUFFER), 0);
        }
    }

    /// Gives back what a large buffer has beyond the bytes in it.
    pub(crate) fn shrink(&mut self) {
        let len = SMALL_BUFFER.max(self.end - self.start);
        if self.buffer.len() > len {
            let mut small = Vec::with_capacity(len);
            small.extend_from_slice(self.buffered());
            small.resize(len, 0);
            self.end -= self.start;
            self.start = 0;
            self.buffer = small;
        }
    }

    /// One receive into the free part of the buffer; 0 means the peer closed.
    ///
    /// Waits at most the read timeout. The buffer must have room (`reserve`).
    pub(crate) fn fill(&mut self) -> io::Result<usize> {
        if self.end == self.buffer.len() {
            self.reserve((self.end - self.start + 1).max(SMALL_BUFFER));
        }
        let free = self.buffer.get_mut(self.end..).unwrap_or_default();
        let (begun, limit) = (clock::now(), self.read_timeout.filter(|limit| !limit.is_zero()));
        let got = loop {
            match (&*self.stream).read(free) {
                // A receive with a timeout is not restarted, not even when the process was only
                // stopped and goes on (signal(7)). Signals that keep coming, as those of a profile, do not make it longer.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    if limit.is_some_and(|limit| clock::since(begun) >= limit) {
                        return Err(io::ErrorKind::WouldBlock.into());
                    }
                }
                done => break done?,
            }
        };
        self.end += got;
        Ok(got)
    }

    /// Like `fill`, but does not wait: 0 when nothing is there, an error when the peer closed.
    pub(crate) fn fill_ready(&mut self) -> io::Result<usize> {
        let Some(free) = self.buffer.get_mut(self.end..).filter(|free| !free.is_empty()) else {
            return Ok(0);
        };
        match self.stream.read_ready(free)? {
            Some(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Some(got) => {
                self.end += got;
                Ok(got)
            }
            None => Ok(0),
        }
    }

    /// Waits until something can be received (or the peer closed); false when `timeout` passed.
    pub(crate) fn wait_readable(&self, timeout: Duration) -> io::Result<bool> {
        self.stream.wait_readable(timeout)
    }

    /// Whether the connection ended in both directions, or failed.
    pub(crate) fn has_hung_up(&self) -> io::Result<bool> {
        self.stream.wait_hang_up(Duration::ZERO)
    }

    /// Keeps the connection, and drops what still comes, until the peer has closed it or `patience` is
    /// over: closed with bytes unread it would take back what was sent.
    pub(crate) fn linger(&mut self, patience: Duration) {
        let deadline = clock::now() + patience;
        while clock::now() < deadline {
            self.consume(self.buffered().len());
            self.reserve(1);
            match self.fill_ready() {
                // Nothing, or the end of a connection whose receiving side is shut.
                Ok(0) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
                Ok(_) => continue,
                Err(_) => return,
            }
            if self.stream.wait_hang_up(LINGER_TICK).unwrap_or(false) {
                return;
            }
        }
    }

    /// Lets the next receive wait until many bytes are there, where `certain` bytes are sure to
    /// come.
    pub(crate) fn expect(&mut self, certain: usize) -> io::Result<()> {
        self.low_water.expect(&*self.stream, certain)
    }

    /// Receives until at least `len` bytes are buffered.
    pub(crate) fn need(&mut self, len: usize) -> io::Result<()> {
        while self.end - self.start < len {
            self.reserve(len);
            if self.fill()? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }

    /// Receives the next byte.
    pub(crate) fn read_byte(&mut self) -> io::Result<u8> {
        self.need(1)?;
        let byte = self.buffered().first().copied().unwrap_or_default();
        self.consume(1);
        Ok(byte)
    }

    /// Receives one message preceded by its length.
    pub(crate) fn read_message<M: Checked>(&mut self) -> io::Result<M> {
        let bytes = self.read_delimited()?;
        zerohop_proto::decode(bytes).map_err(invalid)
    }

    /// Receives the bytes of one message preceded by its length.
    pub(crate) fn read_delimited(&mut self) -> io::Result<Bytes> {
        let len = self.read_varint()?;
        if len > MESSAGE_LEN_MAX as u64 {
            return Err(invalid(format!("a message of {len} bytes announced")));
        }
        let len = len as usize;
        self.need(len)?;
        let bytes = Bytes::copy_from_slice(self.buffered().get(..len).unwrap_or_default());
        self.consume(len);
        Ok(bytes)
    }

    fn read_varint(&mut self) -> io::Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.read_byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(invalid("a varint of more than ten bytes"))
    }

    /// Sends all of `bytes`.
    pub(crate) fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        (&*self.stream).write_all(bytes)
    }

    /// Sends the first of `bytes`; how many the peer took, 0 when it took none within the write
    /// timeout.
    pub(crate) fn write_some(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match (&*self.stream).write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(0),
                done => return done,
            }
        }
    }

    /// Sends one message preceded by its length.
    pub(crate) fn write_message<M: Message>(&self, message: &M) -> io::Result<()> {
        self.write_all(&message.encode_length_delimited_to_vec())
    }
}

/// Bytes of the peer that are not what they should be.
pub(crate) fn invalid(reason: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use zerohop_proto::hdfs::{ClientReadStatusProto, Status};

    fn pair() -> (Conn, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let there = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (Conn::new(listener.accept().unwrap().0.into()), there)
    }

    #[test]
    fn messages_and_bytes_arrive_in_order() {
        let (mut conn, mut there) = pair();
        let status = ClientReadStatusProto { status: Status::ChecksumOk as i32 };
        there.write_all(&status.encode_length_delimited_to_vec()).unwrap();
        there.write_all(b"x").unwrap();
        assert_eq!(conn.read_message::<ClientReadStatusProto>().unwrap(), status);
        assert_eq!(conn.read_byte().unwrap(), b'x');
        assert!(!conn.wait_readable(Duration::ZERO).unwrap());
    }

    #[test]
    fn an_oversized_announcement_is_refused_unread() {
        let (mut conn, mut there) = pair();
        there.write_all(&[0xff, 0xff, 0xff, 0xff, 0x0f]).unwrap();
        let error = conn.read_delimited().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    /// A DataNode that was stopped for a moment, by a debugger or job control, closed its pipelines.
    #[test]
    fn a_signal_does_not_end_a_receive() {
        extern "C" fn nothing(_: libc::c_int) {}
        // SAFETY: the handler does nothing and lives as long as the program; all fields of the
        // struct may be zero: an empty mask, no flags.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
            assert_eq!(libc::sigaction(libc::SIGURG, &action, std::ptr::null_mut()), 0);
        }
        let (mut conn, mut there) = pair();
        conn.set_read_timeout(Duration::from_secs(20)).unwrap();
        let receiver = std::thread::spawn(move || conn.fill());
        let id = std::os::unix::thread::JoinHandleExt::as_pthread_t(&receiver);
        for _ in 0..1000 {
            // SAFETY: the thread is joined below, so its id is good.
            assert_eq!(unsafe { libc::pthread_kill(id, libc::SIGURG) }, 0);
            std::thread::yield_now();
        }
        there.write_all(b"x").unwrap();
        assert_eq!(receiver.join().unwrap().unwrap(), 1);
    }

    #[test]
    fn a_cut_connection_is_an_end_of_file() {
        let (mut conn, mut there) = pair();
        there.write_all(&[9, 1, 2]).unwrap();
        drop(there);
        assert_eq!(conn.read_delimited().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
