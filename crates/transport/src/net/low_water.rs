//! How many bytes a waiting read waits for.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// What a read of block data waits for at most. TCP wakes its reader for each segment of 64 KB
/// unless told otherwise, and those wake-ups cost more than the copy; beyond this size the two ends
/// begin to wait for each other (`docs/read-path.md`, Measured).
pub const LOW_WATER_MAX: usize = 256 << 10;

/// The low-water mark of one socket (`SO_RCVLOWAT`): a reader that waits is woken when so many
/// bytes have arrived, or when the other end closes.
///
/// The promise behind it: as many bytes are certain to come. Otherwise the reader would wait for
/// ever for bytes that have arrived.
#[derive(Debug, Default)]
pub struct LowWater {
    /// 0 stands for the system's own mark, 1.
    mark: usize,
}

impl LowWater {
    /// Sets the mark for the next read, when at least `certain` bytes are still to be read. Costs a
    /// system call only where the mark changes.
    pub fn expect(&mut self, socket: impl AsFd, certain: usize) -> io::Result<()> {
        let mark = if certain > 1 { certain.min(LOW_WATER_MAX) } else { 0 };
        if mark == self.mark {
            return Ok(());
        }
        set(socket, mark.max(1))?;
        self.mark = mark;
        Ok(())
    }
}

fn set(socket: impl AsFd, mark: usize) -> io::Result<()> {
    let mark = libc::c_int::try_from(mark).unwrap_or(libc::c_int::MAX);
    // SAFETY: the descriptor is open while it is borrowed; the kernel reads one int behind the
    // pointer, and `mark` lives until the call returns.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVLOWAT,
            std::ptr::from_ref(&mark).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_read_waits_for_the_mark_and_no_longer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut far = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut near, _) = listener.accept().unwrap();
        let mut low_water = LowWater::default();
        low_water.expect(&near, 100).unwrap();
        let writer = std::thread::spawn(move || {
            for _ in 0..100 {
                far.write_all(b"x").unwrap();
            }
            far
        });
        let mut buffer = [0; 200];
        assert_eq!(near.read(&mut buffer).unwrap(), 100);
        low_water.expect(&near, 0).unwrap();
        let mut far = writer.join().unwrap();
        far.write_all(b"y").unwrap();
        assert_eq!(near.read(&mut buffer).unwrap(), 1);
        low_water.expect(&near, 1 << 20).unwrap();
        drop(far);
        assert_eq!(near.read(&mut buffer).unwrap(), 0);
    }
}
