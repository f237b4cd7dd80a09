//! GETARCHIVE: files below a path as a tar archive, made while it is sent.

use super::names::{below, relative};
use crate::failure::Failure;
use crate::request::Request;
use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use std::io::{self, Read, Write};
use tar::{Builder, EntryType, Header};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Sender, channel};
use zerohop_client::{FileKind, FileReader, FileStatus, FileSystem};

/// Bytes of a piece of the body.
const PIECE_LEN: usize = 256 << 10;
/// Pieces that wait for the caller.
const PIECES_MAX: usize = 4;

/// Sends what lies below the request's path, or of that what the parameters `file` name.
pub(crate) async fn get(fs: &FileSystem, request: &Request) -> Result<Response, Failure> {
    let root = fs.status(&request.path).await?;
    let mut wanted = Vec::new();
    for name in request.params.values("file") {
        wanted.push(fs.status(&below(&request.path, name)?).await?);
    }
    // A file alone has its own name in the archive.
    let directory = match root.kind {
        FileKind::Directory => root.path.clone(),
        _ => root.path.rsplit_once('/').map_or_else(String::new, |(above, _)| above.to_owned()),
    };
    if wanted.is_empty() {
        wanted.push(root);
    }
    let (sender, receiver) = channel(PIECES_MAX);
    let pack = Pack { fs: fs.clone(), handle: Handle::current(), directory };
    tokio::task::spawn_blocking(move || {
        let mut out = Pieces { sender: sender.clone(), piece: BytesMut::new() };
        if let Err(error) = pack.write(&wanted, &mut out) {
            tracing::warn!("an archive of {} ends too early: {error}", pack.directory);
            // The caller sees that the body breaks off.
            _ = sender.blocking_send(Err(error));
        }
    });
    let pieces = stream::unfold(receiver, |mut receiver| async move {
        receiver.recv().await.map(|piece| (piece, receiver))
    });
    let kind = [(header::CONTENT_TYPE, "application/x-tar")];
    Ok((kind, Body::from_stream(pieces)).into_response())
}

struct Pack {
    fs: FileSystem,
    handle: Handle,
    /// Names in the archive are relative to it.
    directory: String,
}

impl Pack {
    fn write(&self, wanted: &[FileStatus], out: &mut Pieces) -> io::Result<()> {
        let mut archive = Builder::new(&mut *out);
        for one in wanted {
            self.add(&mut archive, one)?;
            if one.is_dir() {
                let mut walk = self.fs.walk(&one.path);
                while let Some(entry) = self.handle.block_on(walk.next()) {
                    self.add(&mut archive, &entry.map_err(io::Error::other)?)?;
                }
            }
        }
        archive.finish()?;
        drop(archive);
        out.flush()
    }

    fn add(&self, archive: &mut Builder<&mut Pieces>, status: &FileStatus) -> io::Result<()> {
        let name = relative(&self.directory, &status.path);
        if name.is_empty() {
            return Ok(());
        }
        let mut header = Header::new_gnu();
        header.set_mode(u32::from(status.permission));
        header.set_mtime(status.modified_ms / 1000);
        // A name that is too long stays out; whoever unpacks it owns it.
        _ = header.set_username(&status.owner);
        _ = header.set_groupname(&status.group);
        match status.kind {
            FileKind::Directory => {
                header.set_entry_type(EntryType::Directory);
                header.set_size(0);
                archive.append_data(&mut header, format!("{name}/"), io::empty())
            }
            FileKind::Symlink => {
                header.set_entry_type(EntryType::Symlink);
                header.set_size(0);
                let to = status.symlink.as_deref().unwrap_or_default();
                archive.append_link(&mut header, name, to)
            }
            _ => {
                let reader = self.handle.block_on(self.fs.open(&status.path));
                let reader = reader.map_err(io::Error::other)?;
                let len = reader.len();
                header.set_entry_type(EntryType::Regular);
                header.set_size(len);
                archive.append_data(&mut header, name, Contents { pack: self, reader, left: len })
            }
        }
    }
}

/// So many bytes of a file as its header in the archive says.
struct Contents<'a> {
    pack: &'a Pack,
    reader: FileReader,
    left: u64,
}

impl Read for Contents<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        if len == 0 {
            return Ok(0);
        }
        let read = self.pack.handle.block_on(self.reader.read(&mut buffer[..len]));
        match read.map_err(io::Error::other)? {
            0 => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a file became shorter")),
            read => {
                self.left -= read as u64;
                Ok(read)
            }
        }
    }
}

/// What is written becomes pieces of a body. Writing waits while the caller does not take them.
struct Pieces {
    sender: Sender<io::Result<Bytes>>,
    piece: BytesMut,
}

impl Write for Pieces {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(data);
        if self.piece.len() >= PIECE_LEN {
            self.flush()?;
        }
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let piece = self.piece.split().freeze();
        if piece.is_empty() {
            return Ok(());
        }
        let sent = self.sender.blocking_send(Ok(piece));
        sent.map_err(|_| io::Error::new(io::ErrorKind::BrokenPipe, "the caller has gone"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_sent_when_they_are_long_enough_and_until_the_caller_goes() {
        let (sender, mut receiver) = channel(PIECES_MAX);
        let mut out = Pieces { sender, piece: BytesMut::new() };
        out.write_all(&[1; 10]).unwrap();
        assert!(receiver.try_recv().is_err());
        out.write_all(&vec![2; PIECE_LEN]).unwrap();
        assert_eq!(receiver.try_recv().unwrap().unwrap().len(), PIECE_LEN + 10);
        drop(receiver);
        out.write_all(&[3]).unwrap();
        assert_eq!(out.flush().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
