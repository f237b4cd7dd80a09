//! Descriptors sent over a stream (`SCM_RIGHTS`).

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Descriptors that one call sends or receives at most (Hadoop's limit as well).
pub const DESCRIPTORS_MAX: usize = 16;

/// Sends `bytes` (at least one) with `fds` on its first byte; returns how many bytes were taken.
///
/// The receiver must take that byte with [`recv_with_fds`]: a plain read of it loses the
/// descriptors.
pub fn send_with_fds(socket: impl AsFd, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<usize> {
    if bytes.is_empty() || fds.len() > DESCRIPTORS_MAX {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    loop {
        match sendmsg(&socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL) {
            Err(Errno::INTR) => {}
            done => return Ok(done?),
        }
    }
}

/// Receives into `bytes`, and appends the descriptors that came along (closed on exec) to `fds`;
/// returns the bytes received, 0 at the end of the stream.
///
/// Fails when more descriptors came than [`DESCRIPTORS_MAX`] or than this process may open; those
/// that did arrive are closed then.
pub fn recv_with_fds(
    socket: impl AsFd,
    bytes: &mut [u8],
    fds: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let message = loop {
        let room = &mut [IoSliceMut::new(bytes)];
        match recvmsg(&socket, room, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            done => break done?,
        }
    };
    let received: Vec<OwnedFd> = control
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(fds) => Some(fds),
            _ => None,
        })
        .flatten()
        .collect();
    if message.flags.contains(rustix::net::ReturnFlags::CTRUNC) {
        // Descriptors were lost on the way, because this process has too many open.
        return Err(Errno::MFILE.into());
    }
    fds.extend(received);
    Ok(message.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::pair;
    use std::fs::File;
    use std::io::{Read, Seek, Write};

    #[test]
    fn descriptors_arrive_with_their_byte() {
        let (here, mut there) = pair().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"block").unwrap();
        there.write_all(b"head").unwrap();
        assert_eq!(send_with_fds(&there, &[7], &[file.as_fd(), there.as_fd()]).unwrap(), 1);
        there.write_all(b"tail").unwrap();

        let mut head = [0; 4];
        (&here).read_exact(&mut head).unwrap();
        let (mut byte, mut fds) = ([0], Vec::new());
        assert_eq!(recv_with_fds(&here, &mut byte, &mut fds).unwrap(), 1);
        assert_eq!((byte, fds.len()), ([7], 2));
        let flags = rustix::io::fcntl_getfd(&fds[0]).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
        let mut passed = File::from(fds.remove(0));
        passed.rewind().unwrap();
        let mut text = String::new();
        passed.read_to_string(&mut text).unwrap();
        assert_eq!(text, "block");
        let mut tail = [0; 4];
        (&here).read_exact(&mut tail).unwrap();
        assert_eq!(&tail, b"tail");
    }

    #[test]
    fn a_byte_without_descriptors_and_the_end_are_told_apart() {
        let (here, mut there) = pair().unwrap();
        there.write_all(&[1]).unwrap();
        drop(there);
        let (mut byte, mut fds) = ([0], Vec::new());
        assert_eq!(recv_with_fds(&here, &mut byte, &mut fds).unwrap(), 1);
        assert_eq!(recv_with_fds(&here, &mut byte, &mut fds).unwrap(), 0);
        assert!(fds.is_empty());
    }
}
