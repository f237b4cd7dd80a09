//! How many bytes a waiting read waits for.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// What a read of block data waits for at most, unless told otherwise. TCP wakes its reader for each segment of 64 KB
/// unless told otherwise, and those wake-ups cost more than the copy; beyond this size the two ends
/// begin to wait for each other (`docs/read-path.md`, Measured).
const LOW_WATER_MAX: usize = 256 << 10;
/// For fewer bytes no mark is set.
const LOW_WATER_MIN: usize = 64 << 10;

/// The low-water mark of one socket (`SO_RCVLOWAT`): a reader that waits is woken when so many
/// bytes have arrived, or when the other end closes.
///
/// The promise behind it: so many bytes are certain to come. Otherwise the reader would wait for
/// ever for bytes that have arrived. A read takes what is there before it sleeps, less than the mark,
/// and is woken when as many bytes as the mark have arrived *after that*: so the mark is at most
/// half of what is certain.
#[derive(Debug)]
pub struct LowWater {
    max: usize,
    /// 0 stands for the system's own mark, 1.
    mark: usize,
}

impl Default for LowWater {
    fn default() -> Self {
        Self::up_to(LOW_WATER_MAX)
    }
}

impl LowWater {
    /// With marks of at most `max` bytes.
    pub const fn up_to(max: usize) -> Self {
        Self { max, mark: 0 }
    }

    /// Sets the mark for the next read, when at least `certain` bytes are to be read by it and the
    /// reads after it. Costs a system call only where the mark changes.
    pub fn expect(&mut self, socket: impl AsFd, certain: usize) -> io::Result<()> {
        let half = (certain / 2).min(self.max);
        let mark = if half >= LOW_WATER_MIN { half } else { 0 };
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

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let far = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (listener.accept().unwrap().0, far)
    }

    #[test]
    fn a_read_waits_for_the_mark_and_no_longer() {
        let (mut near, mut far) = pair();
        let mut low_water = LowWater::default();
        low_water.expect(&near, 256 << 10).unwrap();
        let writer = std::thread::spawn(move || {
            for _ in 0..128 {
                far.write_all(&[7; 1024]).unwrap();
            }
            far
        });
        let mut buffer = vec![0; 512 << 10];
        assert_eq!(near.read(&mut buffer).unwrap(), 128 << 10);
        low_water.expect(&near, 0).unwrap();
        let mut far = writer.join().unwrap();
        far.write_all(b"y").unwrap();
        assert_eq!(near.read(&mut buffer).unwrap(), 1);
        low_water.expect(&near, 1 << 20).unwrap();
        drop(far);
        assert_eq!(near.read(&mut buffer).unwrap(), 0);
    }

    /// A read that had taken a part slept until its timeout: fewer bytes than the mark were to come.
    #[test]
    fn a_read_that_has_taken_a_part_is_woken_for_the_rest() {
        let (mut near, mut far) = pair();
        near.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
        const TOTAL: usize = 300 << 10;
        far.write_all(&[7; 100 << 10]).unwrap();
        // All of the first part is there before the read begins.
        let mut seen = vec![0; TOTAL];
        while near.peek(&mut seen).unwrap() < 100 << 10 {}
        let writer = std::thread::spawn(move || {
            for _ in 0..200 {
                far.write_all(&[7; 1024]).unwrap();
                std::thread::yield_now();
            }
            far
        });
        let mut low_water = LowWater::default();
        let mut got = 0;
        while got < TOTAL {
            low_water.expect(&near, TOTAL - got).unwrap();
            got += near.read(&mut seen).unwrap();
        }
        drop(writer.join().unwrap());
        assert_eq!(got, TOTAL);
    }
}
