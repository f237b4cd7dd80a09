//! A DataNode's domain socket.

use super::path;
use socket2::{Domain, SockAddr, Socket, Type};
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 256;
/// Bytes that may be on their way to the other end. What sendfile(2) sends are the file's own pages, which
/// cost nothing: with the system's usual 208 KiB both ends wait for each other after every packet, which
/// is a third of the speed. (The system may allow less: `net.core.wmem_max`.)
const SEND_BUFFER_LEN: usize = 1 << 20;
/// Everybody may connect: what they may read is decided by the DataNode, not by the file.
const MODE: u32 = 0o666;

/// A listening domain socket; its file is removed when it is dropped, if it is still the same one.
#[derive(Debug)]
pub struct Listener {
    socket: Socket,
    path: PathBuf,
    file: (u64, u64),
}

impl Listener {
    /// Listens at `path`, which must be safe (see [`path::validate`]). A socket file whose owner is
    /// gone is replaced; one that answers, and any other file, is left alone and is an error.
    pub fn bind(path: &Path) -> io::Result<Self> {
        path::validate(path)
            .map_err(|unsafe_path| io::Error::new(io::ErrorKind::PermissionDenied, unsafe_path))?;
        Self::bind_unchecked(path)
    }

    fn bind_unchecked(path: &Path) -> io::Result<Self> {
        remove_dead(path)?;
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.bind(&SockAddr::unix(path)?)?;
        fs::set_permissions(path, fs::Permissions::from_mode(MODE))?;
        socket.listen(BACKLOG)?;
        let file = fs::symlink_metadata(path)?;
        Ok(Self { socket, path: path.to_owned(), file: (file.dev(), file.ino()) })
    }

    /// Where it listens.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file at its path is still this socket: it may have been removed or replaced.
    pub fn is_in_place(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|file| (file.dev(), file.ino()) == self.file)
    }

    /// Sets whether `accept` returns at once when no connection waits.
    pub fn set_nonblocking(&self, on: bool) -> io::Result<()> {
        self.socket.set_nonblocking(on)
    }

    /// The next connection; its own reads and writes block, also where the listener does not.
    pub fn accept(&self) -> io::Result<Socket> {
        let (socket, _) = self.socket.accept()?;
        socket.set_nonblocking(false)?;
        socket.set_send_buffer_size(SEND_BUFFER_LEN)?;
        Ok(socket)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl std::os::fd::AsRawFd for Listener {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        std::os::fd::AsRawFd::as_raw_fd(&self.socket)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if self.is_in_place() {
            // A file that stays is found dead by the next one to listen here.
            drop(fs::remove_file(&self.path));
        }
    }
}

fn remove_dead(path: &Path) -> io::Result<()> {
    let file = match fs::symlink_metadata(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !file.file_type().is_socket() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!("{} is not a socket; move it away", path.display()),
        ));
    }
    match super::connect(path, std::time::Duration::from_secs(1)) {
        Ok(answering) => {
            let who = super::peer(&answering).map_or(String::new(), |peer| format!(" ({peer})"));
            Err(io::Error::new(
                io::ErrorKind::AddrInUse,
                format!(
                    "another process{who} listens at {}; stop it, or put _PORT into \
                     dfs.domain.socket.path",
                    path.display()
                ),
            ))
        }
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn an_unsafe_directory_is_refused_with_the_fix() {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let refused = Listener::bind(&directory.path().join("dn")).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        // A temporary directory lies below one with the sticky bit, which is the first at fault.
        let fixes = ["chmod o-w", "set dfs.domain.socket.path"];
        assert!(fixes.iter().any(|fix| refused.to_string().contains(fix)), "{refused}");
    }

    #[test]
    fn it_listens_replaces_dead_sockets_and_cleans_up() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("dn");
        // What a killed process leaves behind.
        let dead = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
        dead.bind(&SockAddr::unix(&path).unwrap()).unwrap();
        drop(dead);
        let listener = Listener::bind_unchecked(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o666);
        let mut client = super::super::connect(&path, std::time::Duration::ZERO).unwrap();
        client.write_all(b"x").unwrap();
        let mut byte = [0];
        listener.accept().unwrap().read_exact(&mut byte).unwrap();
        assert_eq!(&byte, b"x");
        let taken = Listener::bind_unchecked(&path).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AddrInUse, "{taken}");
        assert!(listener.is_in_place());
        fs::remove_file(&path).unwrap();
        assert!(!listener.is_in_place());
        fs::write(&path, b"").unwrap();
        drop(listener);
        let other = Listener::bind_unchecked(&path).unwrap_err();
        assert_eq!(other.kind(), io::ErrorKind::AlreadyExists, "{other}");
    }
}
