//! A connection on which block data moves.

use super::ConnectOptions;
use super::connect::{connect, limit};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use socket2::Socket;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;
use zerohop_proto::Checked;
use zerohop_system::clock;
use zerohop_wire::transfer::frame;

/// A connection of the data-transfer protocol, over TCP or a Unix domain socket: client and DataNode move block data over
/// nothing else.
///
/// Bytes go through the socket as they are, so that a DataNode can [send a file](Self::send_file) without
/// copying it. A stream that encrypts (SASL, TLS) belongs into this type too: its buffers lie between these methods and
/// the socket, and `send_file` is where it reads and encrypts instead.
#[derive(Debug)]
pub struct DataStream {
    pub(super) socket: Socket,
}

impl DataStream {
    /// Connects to `addr` over TCP.
    pub fn connect(addr: SocketAddr, options: &ConnectOptions) -> io::Result<Self> {
        Ok(Self { socket: connect(addr, options)? })
    }

    /// The same connection again, so that one thread can [shut it down](Self::shutdown) while another one waits in it.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { socket: self.socket.try_clone()? })
    }

    /// The address of the other end, if it is one of TCP.
    pub fn peer_addr(&self) -> Option<SocketAddr> {
        self.socket.peer_addr().ok()?.as_socket()
    }

    /// The address of this end, if it is one of TCP.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.socket.local_addr().ok()?.as_socket()
    }

    /// How long one read waits; zero means for ever.
    pub fn set_read_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.socket.set_read_timeout(limit(timeout))
    }

    /// How long one write waits; zero means for ever.
    pub fn set_write_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.socket.set_write_timeout(limit(timeout))
    }

    /// The limit of one read, if it has one.
    pub fn read_timeout(&self) -> io::Result<Option<Duration>> {
        self.socket.read_timeout()
    }

    /// Ends one or both directions, also for a thread that is waiting in one.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.socket.shutdown(how)
    }

    /// Reads what has arrived, without waiting; `None` if nothing has, 0 at the end.
    pub fn read_ready(&self, room: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match rustix::net::recv(&self.socket, &mut *room, RecvFlags::DONTWAIT) {
                Ok((_, read)) => return Ok(Some(read)),
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Reads one message behind its length, and nothing beyond it.
    pub fn read_message<M: Checked>(&self) -> io::Result<M> {
        let mut bytes = Vec::with_capacity(64);
        loop {
            if let Some((message, _)) = frame::take(&bytes).map_err(invalid)? {
                return Ok(message);
            }
            let extent = frame::extent(&bytes).map_err(invalid)?;
            let missing = extent.map_or(1, |extent| extent.total() - bytes.len());
            let before = bytes.len();
            bytes.resize(before + missing, 0);
            (&mut &*self).read_exact(bytes.get_mut(before..).unwrap_or_default())?;
        }
    }

    /// Waits until something can be read, or the other end closed; false when `timeout` passed.
    pub fn wait_readable(&self, timeout: Duration) -> io::Result<bool> {
        self.poll(PollFlags::IN, timeout)
    }

    /// Waits until the connection ended in both directions or failed; false when `timeout` passed.
    pub fn wait_hang_up(&self, timeout: Duration) -> io::Result<bool> {
        // A hang-up is reported without being asked for.
        self.poll(PollFlags::empty(), timeout)
    }

    fn poll(&self, events: PollFlags, timeout: Duration) -> io::Result<bool> {
        let mut fds = [PollFd::new(&self.socket, events)];
        let begun = clock::now();
        loop {
            // Signals, as those of a profile, must not make it longer.
            let left = timeout.saturating_sub(clock::since(begun));
            let left = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 60, tv_nsec: 0 });
            match poll(&mut fds, Some(&left)) {
                Ok(ready) => return Ok(ready > 0),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Whether nothing has arrived, neither bytes nor the end.
    pub fn is_quiet(&self) -> bool {
        let flags = RecvFlags::DONTWAIT | RecvFlags::PEEK;
        matches!(rustix::net::recv(&self.socket, &mut [0; 1][..], flags), Err(Errno::AGAIN))
    }
}

fn invalid(error: frame::FrameError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

impl From<Socket> for DataStream {
    fn from(socket: Socket) -> Self {
        Self { socket }
    }
}

impl From<TcpStream> for DataStream {
    fn from(stream: TcpStream) -> Self {
        Self { socket: stream.into() }
    }
}

/// To wait for it, and to set its low-water mark.
impl AsFd for DataStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl AsRawFd for DataStream {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

/// The socket, for a task that waits for its end.
impl From<DataStream> for OwnedFd {
    fn from(stream: DataStream) -> Self {
        stream.socket.into()
    }
}

impl Read for &DataStream {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        (&self.socket).read(room)
    }

    fn read_vectored(&mut self, rooms: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        (&self.socket).read_vectored(rooms)
    }
}

/// A connection that the other end has closed is an error and no signal: the program around a client may not ignore
/// SIGPIPE.
impl Write for &DataStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.send_with_flags(bytes, libc::MSG_NOSIGNAL)
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.socket.send_vectored_with_flags(slices, libc::MSG_NOSIGNAL)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::SendFileError;
    use super::*;
    use crate::domain;
    use std::net::TcpListener;
    use zerohop_proto::hdfs::{BlockOpResponseProto, Status};

    fn pairs() -> [(DataStream, DataStream); 2] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (here, there) = domain::pair().unwrap();
        [(near.into(), listener.accept().unwrap().0.into()), (here.into(), there.into())]
    }

    /// What comes behind a message stays in the socket: it may be a packet, or a byte with descriptors.
    #[test]
    fn a_message_is_read_to_its_last_byte_and_no_further() {
        for (near, far) in pairs() {
            let answer = BlockOpResponseProto {
                status: Status::Success.into(),
                message: Some("x".repeat(300)),
                ..Default::default()
            };
            let bytes = [&frame::encode(&answer)[..], b"rest"].concat();
            let writer = std::thread::spawn(move || {
                bytes.iter().for_each(|byte| (&far).write_all(&[*byte]).unwrap());
                far
            });
            assert_eq!(near.read_message::<BlockOpResponseProto>().unwrap(), answer);
            let mut rest = [0; 4];
            (&near).read_exact(&mut rest).unwrap();
            assert_eq!(&rest, b"rest");
            assert!(near.is_quiet() && near.read_ready(&mut rest).unwrap().is_none());
            drop(writer.join().unwrap());
            assert!(near.wait_readable(Duration::from_secs(60)).unwrap() && !near.is_quiet());
            assert_eq!(near.read_ready(&mut rest).unwrap(), Some(0));
            near.shutdown(Shutdown::Write).unwrap();
            assert!(near.wait_hang_up(Duration::from_secs(60)).unwrap(), "it ended both ways");
        }
    }

    #[test]
    fn a_write_to_a_closed_connection_raises_no_signal() {
        // SAFETY: the sets are local and initialized by sigemptyset; only this thread's mask is changed.
        let is_pending = unsafe {
            let (mut pipe, mut pending) = std::mem::zeroed();
            libc::sigemptyset(&mut pipe);
            libc::sigaddset(&mut pipe, libc::SIGPIPE);
            assert_eq!(libc::pthread_sigmask(libc::SIG_BLOCK, &pipe, std::ptr::null_mut()), 0);
            for (near, far) in pairs() {
                drop(far);
                let slices = [IoSlice::new(b"a"), IoSlice::new(b"b")];
                while (&near).write(b"x").is_ok() {}
                (&near).write_vectored(&slices).unwrap_err();
            }
            assert_eq!(libc::sigpending(&mut pending), 0);
            libc::sigismember(&pending, libc::SIGPIPE)
        };
        assert_eq!(is_pending, 0);
    }

    #[test]
    fn files_go_over_both_kinds_of_socket_and_a_short_one_is_to_blame() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        for (near, far) in pairs() {
            near.write_more(b"head").unwrap();
            near.send_file(&file, 2, 5).unwrap();
            let mut sent = [0; 9];
            (&far).read_exact(&mut sent).unwrap();
            assert_eq!(&sent, b"head23456");
            let short = near.send_file(&file, 8, 5);
            assert!(matches!(short, Err(SendFileError::File(_))), "{short:?}");
            drop(far);
            let closed =
                std::iter::repeat_with(|| near.send_file(&file, 0, 5)).find(Result::is_err);
            assert!(matches!(closed, Some(Err(SendFileError::Connection(_)))), "{closed:?}");
        }
    }
}
