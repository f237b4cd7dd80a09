//! A tar archive, read from a request's body as it comes, with a bound on all that is kept of it.

use crate::body::BodyReader;
use crate::failure::Failure;
use bytes::Bytes;
use std::io;
use tar::{EntryType, Header, PaxExtensions};

/// Bytes of a block. An archive consists of blocks.
const BLOCK: usize = 512;
/// Bytes of a name. HDFS takes paths of 8,000 characters.
const NAME_MAX: u64 = 64 << 10;
/// Bytes of the PAX header of an entry, which may hold the attributes of a file.
const PAX_MAX: u64 = 1 << 20;
/// Offsets of the flag that says that the map of a sparse entry continues: in the header, and in the blocks of the map.
const SPARSE_HEAD_MORE: usize = 482;
const SPARSE_BLOCK_MORE: usize = 504;

/// An archive.
pub(super) struct TarReader {
    body: BodyReader,
    /// Bytes of the entry's data that were not read yet.
    left: u64,
    /// Bytes between the data and the next header.
    padding: u64,
}

/// An entry of an archive.
#[derive(Debug)]
pub(super) struct TarEntry {
    pub(super) name: String,
    pub(super) kind: EntryType,
    /// True if the archive leaves out holes of the file.
    pub(super) is_sparse: bool,
}

/// Properties of an entry from the headers before its own.
#[derive(Default)]
struct Extensions {
    name: Option<String>,
    len: Option<u64>,
    is_sparse: bool,
}

impl TarReader {
    pub(super) fn of(body: BodyReader) -> Self {
        Self { body, left: 0, padding: 0 }
    }

    /// Returns the next entry, or `None` at the end of the archive. Skips unread data of the previous entry.
    ///
    /// # Errors
    /// Fails if the body is not an archive, breaks off, or has a longer name or PAX header than this reader keeps.
    pub(super) async fn next(&mut self) -> Result<Option<TarEntry>, Failure> {
        let mut extensions = Extensions::default();
        loop {
            self.pass_over().await?;
            let Some(block) = self.block().await? else { return Ok(None) };
            if block == [0; BLOCK] {
                return Ok(None);
            }
            let header = header(&block)?;
            let (kind, len) = (header.entry_type(), header.entry_size().map_err(malformed)?);
            self.expect(len);
            match kind {
                EntryType::GNULongName => {
                    let name = self.kept(NAME_MAX, "a name").await?;
                    extensions.name.get_or_insert_with(|| text(until_nul(&name)));
                }
                // Links are refused, wherever they lead.
                EntryType::GNULongLink | EntryType::XGlobalHeader => {}
                EntryType::XHeader => {
                    let records = self.kept(PAX_MAX, "a PAX header").await?;
                    extensions.read(&records)?;
                }
                kind => {
                    self.expect(extensions.len.unwrap_or(len));
                    let mut has_map = kind == EntryType::GNUSparse
                        && block.get(SPARSE_HEAD_MORE).is_some_and(|more| *more != 0);
                    let is_sparse = kind == EntryType::GNUSparse || extensions.is_sparse;
                    let name = extensions.name.unwrap_or_else(|| text(&header.path_bytes()));
                    while has_map {
                        let map = self.block().await?.ok_or_else(broken_off)?;
                        has_map = map.get(SPARSE_BLOCK_MORE).is_some_and(|more| *more != 0);
                    }
                    return Ok(Some(TarEntry { name, kind, is_sparse }));
                }
            }
        }
    }

    /// Returns the next piece of the entry's data, or `None` at its end.
    ///
    /// # Errors
    /// Fails if the body breaks off.
    pub(super) async fn data(&mut self) -> Result<Option<Bytes>, Failure> {
        if self.left == 0 {
            return Ok(None);
        }
        let piece = self.piece(self.left).await?;
        self.left -= piece.len() as u64;
        Ok(Some(piece))
    }

    fn expect(&mut self, len: u64) {
        (self.left, self.padding) = (len, len.wrapping_neg() % BLOCK as u64);
    }

    async fn pass_over(&mut self) -> Result<(), Failure> {
        while self.data().await?.is_some() {}
        while self.padding > 0 {
            self.padding -= self.piece(self.padding).await?.len() as u64;
        }
        Ok(())
    }

    /// Returns all of the entry's data.
    async fn kept(&mut self, len_max: u64, what: &str) -> Result<Vec<u8>, Failure> {
        if self.left > len_max {
            return Err(Failure::illegal(format!(
                "the archive: {what} has {} bytes, and {len_max} at most are taken",
                self.left
            )));
        }
        let mut kept = Vec::new();
        while let Some(piece) = self.data().await? {
            kept.extend_from_slice(&piece);
        }
        Ok(kept)
    }

    /// Returns the next block, or `None` at the end of the body.
    async fn block(&mut self) -> Result<Option<[u8; BLOCK]>, Failure> {
        if !self.body.has_more().await? {
            return Ok(None);
        }
        let (mut block, mut len) = ([0; BLOCK], 0);
        while let Some(rest) = block.get_mut(len..).filter(|rest| !rest.is_empty()) {
            let piece = self.piece(rest.len() as u64).await?;
            rest[..piece.len()].copy_from_slice(&piece);
            len += piece.len();
        }
        Ok(Some(block))
    }

    /// Returns some bytes of the body, at most `len_max` and at least one.
    async fn piece(&mut self, len_max: u64) -> Result<Bytes, Failure> {
        loop {
            let mut piece = self.body.next().await?.ok_or_else(broken_off)?;
            let len = usize::try_from(len_max).unwrap_or(usize::MAX);
            if piece.len() > len {
                self.body.put_back(piece.split_off(len));
            }
            if !piece.is_empty() {
                return Ok(piece);
            }
        }
    }
}

impl Extensions {
    fn read(&mut self, records: &[u8]) -> Result<(), Failure> {
        for record in PaxExtensions::new(records) {
            let record = record.map_err(malformed)?;
            match record.key_bytes() {
                b"path" => self.name = Some(text(record.value_bytes())),
                b"size" => {
                    let len = record.value().ok().and_then(|len| len.parse().ok());
                    self.len = Some(len.ok_or_else(|| malformed("a size is not a number"))?);
                }
                key => self.is_sparse |= key.starts_with(b"GNU.sparse."),
            }
        }
        Ok(())
    }
}

/// Reads a header and checks its sum, so that no other bytes are taken for one.
fn header(block: &[u8; BLOCK]) -> Result<&Header, Failure> {
    let header = Header::from_byte_slice(block);
    let without_sum = |at: usize, byte: u8| if (148..156).contains(&at) { b' ' } else { byte };
    let bytes = block.iter().enumerate();
    let sum: u32 = bytes.map(|(at, byte)| u32::from(without_sum(at, *byte))).sum();
    match header.cksum().map_err(malformed)? == sum {
        true => Ok(header),
        false => Err(malformed("the checksum of a header is wrong")),
    }
}

fn malformed(why: impl std::fmt::Display) -> Failure {
    Failure::illegal(format!("the archive: {why}"))
}

fn broken_off() -> Failure {
    malformed(io::Error::new(io::ErrorKind::UnexpectedEof, "it breaks off"))
}

fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
#[path = "tar_reader_test.rs"]
mod tests;
