//! GETARCHIVE: files below a path as a tar archive, made while it is sent.
//!
//! The body creates its next piece when the connection has room. No thread waits for a caller.

use super::names::{below, relative};
use crate::failure::Failure;
use crate::request::Request;
use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use std::io;
use std::mem;
use std::vec;
use tar::{Builder, EntryType, Header};
use zerohop_client::{FileKind, FileReader, FileStatus, FileSystem, Walk};

/// Bytes of a piece of the body.
const PIECE_LEN: usize = 256 << 10;
/// Bytes of a block. An archive consists of blocks, and ends with two empty ones.
const BLOCK: usize = 512;

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
    let (fs, wanted) = (fs.clone(), wanted.into_iter());
    let pack = Pack { fs, directory, wanted, walk: None, file: None, piece: BytesMut::new() };
    let pieces = stream::try_unfold(Some(pack), async |pack| {
        let Some(mut pack) = pack else { return Ok(None) };
        match pack.next().await {
            Ok((piece, has_more)) => Ok(Some((piece, has_more.then_some(pack)))),
            // The caller sees that the body breaks off.
            Err(error) => {
                tracing::warn!("an archive of {} ends too early: {error}", pack.directory);
                Err(error)
            }
        }
    });
    let kind = [(header::CONTENT_TYPE, "application/x-tar")];
    Ok((kind, Body::from_stream(pieces)).into_response())
}

/// The state of an archive that is being sent.
struct Pack {
    fs: FileSystem,
    /// Names in the archive are relative to it.
    directory: String,
    /// Files and directories that are not packed yet.
    wanted: vec::IntoIter<FileStatus>,
    /// The directory of `wanted` that is being packed.
    walk: Option<Walk>,
    file: Option<Contents>,
    piece: BytesMut,
}

/// So many bytes of a file as its header in the archive says.
struct Contents {
    reader: FileReader,
    len: u64,
    left: u64,
}

impl Pack {
    /// Returns the next piece, and `true` if another one follows.
    async fn next(&mut self) -> io::Result<(Bytes, bool)> {
        while self.piece.len() < PIECE_LEN {
            if self.file.is_some() {
                self.read().await?;
            } else if let Some(status) = self.next_status().await? {
                self.begin(&status).await?;
            } else {
                self.piece.resize(self.piece.len() + 2 * BLOCK, 0);
                return Ok((self.piece.split().freeze(), false));
            }
        }
        Ok((self.piece.split().freeze(), true))
    }

    /// Returns the next file or directory: from the walk of a directory, otherwise from `wanted`.
    async fn next_status(&mut self) -> io::Result<Option<FileStatus>> {
        if let Some(walk) = &mut self.walk {
            if let Some(status) = walk.next().await {
                return status.map(Some).map_err(io::Error::other);
            }
            self.walk = None;
        }
        let status = self.wanted.next();
        self.walk = status.as_ref().filter(|one| one.is_dir()).map(|one| self.fs.walk(&one.path));
        Ok(status)
    }

    /// Adds the header of an entry, and begins to read what it holds.
    async fn begin(&mut self, status: &FileStatus) -> io::Result<()> {
        let name = relative(&self.directory, &status.path);
        if name.is_empty() {
            return Ok(());
        }
        let mut len = 0;
        if matches!(status.kind, FileKind::File) {
            let reader = self.fs.open(&status.path).await.map_err(io::Error::other)?;
            len = reader.len();
            self.file = (len > 0).then_some(Contents { reader, len, left: len });
        }
        self.piece.extend_from_slice(&header_of(name, status, len)?);
        Ok(())
    }

    /// Adds bytes of the file that is being packed.
    async fn read(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let room = PIECE_LEN - self.piece.len();
        let len = usize::try_from(file.left).unwrap_or(usize::MAX).min(room);
        let data = file.reader.read_bytes(len).await.map_err(io::Error::other)?;
        if data.is_empty() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a file became shorter"));
        }
        self.piece.extend_from_slice(&data);
        file.left -= data.len() as u64;
        if file.left == 0 {
            let padding = (file.len.wrapping_neg() % BLOCK as u64) as usize;
            self.piece.resize(self.piece.len() + padding, 0);
            self.file = None;
        }
        Ok(())
    }
}

/// Returns the header of an entry, with those before it that hold a long name.
fn header_of(name: &str, status: &FileStatus, len: u64) -> io::Result<Vec<u8>> {
    let mut header = Header::new_gnu();
    header.set_mode(u32::from(status.permission));
    header.set_mtime(status.modified_ms / 1000);
    header.set_size(len);
    // The header has no room for a longer name. Then the user who unpacks the archive owns the file.
    _ = header.set_username(&status.owner);
    _ = header.set_groupname(&status.group);
    let mut archive = Builder::new(Vec::new());
    match status.kind {
        FileKind::Directory => {
            header.set_entry_type(EntryType::Directory);
            archive.append_data(&mut header, format!("{name}/"), io::empty())?;
        }
        FileKind::Symlink => {
            header.set_entry_type(EntryType::Symlink);
            let to = status.symlink.as_deref().unwrap_or_default();
            archive.append_link(&mut header, name, to)?;
        }
        _ => {
            header.set_entry_type(EntryType::Regular);
            archive.append_data(&mut header, name, io::empty())?;
        }
    }
    // Without the blocks that end an archive.
    Ok(mem::take(archive.get_mut()))
}

#[cfg(test)]
#[path = "pack_test.rs"]
mod tests;
