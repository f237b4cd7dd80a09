//! The body of an OPEN: a file's bytes. Those of a replica of this machine are verified in its map, and sent by the kernel from
//! the block file where the connection allows it.

use crate::exchange::Exchange;
use crate::failure::Failure;
use axum::body::Body;
use bytes::Bytes;
use futures_util::stream::try_unfold;
use std::io;
use std::os::fd::BorrowedFd;
use zerohop_client::{FileReader, ZeroCopyRead};
use zerohop_daemon::http::{BytesInFile, FileSender};

/// Bytes that are read at once.
const PIECE_LEN: usize = 256 << 10;
/// Up to this length a body is read before the answer begins: what cannot be read is refused with a status.
const WHOLE_MAX: u64 = 64 << 10;
/// Fewer bytes are copied: that is cheaper than to send them from the file.
const SENDFILE_MIN: usize = 32 << 10;

/// The next `size` bytes of a file as a body.
///
/// # Errors
/// If a short body cannot be read.
pub(crate) async fn body_of(
    mut reader: FileReader,
    size: u64,
    exchange: &Exchange,
) -> Result<Body, Failure> {
    if size == 0 {
        return Ok(Body::empty());
    }
    if size <= WHOLE_MAX {
        let start = reader.pos();
        let whole = reader.read_bytes(size as usize).await?;
        if whole.len() as u64 == size {
            note_path(exchange, &reader);
            return Ok(Body::from(whole));
        }
        // What failed behind this shows again.
        reader.seek_to(start)?;
    }
    let pieces = Pieces { reader, left: size, exchange: exchange.clone() };
    Ok(Body::from_stream(try_unfold(pieces, Pieces::next)))
}

struct Pieces {
    reader: FileReader,
    left: u64,
    exchange: Exchange,
}

impl Pieces {
    async fn next(mut self) -> io::Result<Option<(Bytes, Self)>> {
        if self.left == 0 {
            return Ok(None);
        }
        let len = PIECE_LEN.min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let piece = match self.piece_in_file(len).await {
            Some(piece) => piece,
            None => self.reader.read_bytes(len).await?,
        };
        note_path(&self.exchange, &self.reader);
        if piece.is_empty() {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("{} has become shorter", self.reader.path()),
            ));
        }
        self.left = self.left.saturating_sub(piece.len() as u64);
        Ok(Some((piece, self)))
    }

    async fn piece_in_file(&mut self, len: usize) -> Option<Bytes> {
        let files: &FileSender = self.exchange.files().filter(|_| len >= SENDFILE_MIN)?;
        let read = self.reader.read_zero_copy(len).await?;
        Some(files.bytes(Verified(read)))
    }
}

fn note_path(exchange: &Exchange, reader: &FileReader) {
    if !exchange.knows_read_path() {
        exchange.note_read_path(reader.statistics().last.map(|(path, _)| path));
    }
}

/// Verified bytes in the map of a block file.
struct Verified(ZeroCopyRead);

impl AsRef<[u8]> for Verified {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: no code of this process reads the slice: hyper hands it to a system call as it is, on the plain connections
        // that have a `FileSender`, and the kernel may read memory that changes. A DataNode changes the block file of a closed
        // file only where the file is truncated; then `file` fails, and the connection ends.
        unsafe { self.0.as_slice() }
    }
}

impl BytesInFile for Verified {
    fn file(&self) -> io::Result<Option<(BorrowedFd<'_>, u64)>> {
        self.0.file()
    }
}
