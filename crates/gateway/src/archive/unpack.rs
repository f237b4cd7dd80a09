//! PUTARCHIVE with a tar archive.

use super::names::{begin, below};
use super::outcomes::Outcomes;
use crate::body::BodyReader;
use crate::failure::Failure;
use crate::request::Request;
use crate::upload::CreateDefaults;
use axum::response::Response;
use bytes::{Buf, Bytes};
use std::io::{self, Read};
use tar::{Archive, Entry, EntryType};
use tokio::runtime::Handle;
use zerohop_client::FileSystem;

/// Bytes that are read of a file at once.
const PIECE_LEN: usize = 1 << 20;

/// Makes the files of an archive.
pub(super) async fn unpack(
    fs: FileSystem,
    request: Request,
    defaults: CreateDefaults,
    body: BodyReader,
) -> Result<Response, Failure> {
    let unpack = Unpack { fs, request, defaults, handle: Handle::current() };
    let work = move || {
        let mut outcomes = Outcomes::default();
        let broken = unpack.run(body, &mut outcomes).err();
        outcomes.response(broken)
    };
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Failure::io(format!("the upload failed: {error}")))
}

struct Unpack {
    fs: FileSystem,
    request: Request,
    defaults: CreateDefaults,
    handle: Handle,
}

impl Unpack {
    /// An error means that the archive cannot be read on.
    fn run(&self, body: BodyReader, outcomes: &mut Outcomes) -> Result<(), Failure> {
        let unreadable = |error: io::Error| Failure::illegal(format!("the archive: {error}"));
        let from = Contents { handle: self.handle.clone(), body, piece: Bytes::new() };
        let mut archive = Archive::new(from);
        for entry in archive.entries().map_err(unreadable)? {
            let mut entry = entry.map_err(unreadable)?;
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let done = match entry.header().entry_type() {
                EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                    self.file(&name, &mut entry)
                }
                EntryType::Directory => self.directory(&name),
                EntryType::XGlobalHeader => continue,
                other => Err(Failure::unsupported(format!(
                    "{name} is neither a file nor a directory, but {other:?}"
                ))),
            };
            outcomes.add(&name, done);
        }
        Ok(())
    }

    fn directory(&self, name: &str) -> Result<u64, Failure> {
        // The directory that the archive was made of.
        if name.split('/').all(|part| matches!(part, "" | ".")) && !name.starts_with('/') {
            return Ok(0);
        }
        let path = below(&self.request.path, name)?;
        self.handle.block_on(self.fs.mkdirs_with(&path, 0o755, true))?;
        Ok(0)
    }

    fn file(&self, name: &str, entry: &mut Entry<'_, Contents>) -> Result<u64, Failure> {
        let begun = begin(&self.fs, &self.request, self.defaults, name);
        let mut file = self.handle.block_on(begun)?;
        let written = self.write(entry, |data| self.handle.block_on(file.write(data)));
        self.handle.block_on(file.end(written))
    }

    fn write(
        &self,
        entry: &mut Entry<'_, Contents>,
        mut write: impl FnMut(Bytes) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (len, mut written) = (entry.size(), 0);
        loop {
            let mut piece =
                Vec::with_capacity(PIECE_LEN.min(usize::try_from(len).unwrap_or(PIECE_LEN)));
            let read = entry.by_ref().take(PIECE_LEN as u64).read_to_end(&mut piece);
            read.map_err(|error| Failure::io(format!("the archive broke off: {error}")))?;
            if piece.is_empty() {
                break;
            }
            written += piece.len() as u64;
            write(piece.into())?;
        }
        match written == len {
            true => Ok(()),
            false => Err(Failure::io(format!("{written} bytes of {len} are in the archive"))),
        }
    }
}

/// The request's body, as the reader of archives wants it.
struct Contents {
    handle: Handle,
    body: BodyReader,
    piece: Bytes,
}

impl Read for Contents {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            let next = self.handle.block_on(self.body.next());
            match next.map_err(|failure| io::Error::other(failure.to_string()))? {
                Some(piece) => self.piece = piece,
                None => return Ok(0),
            }
        }
        let len = self.piece.len().min(buffer.len());
        self.piece.copy_to_slice(&mut buffer[..len]);
        Ok(len)
    }
}
