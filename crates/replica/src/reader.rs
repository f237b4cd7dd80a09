//! A replica opened for reading: data, checksums, and how much of it may be read.

use crate::error::{Error, ErrorKind, Result};
use crate::io::{IoCall, IoTimer};
use crate::pool::{Place, Pool};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use zerohop_wire::checksum_type::ChecksumType;
use zerohop_wire::{Block, ChecksumError, DataChecksum, meta_header};

/// An open replica. Its length and last checksum are those of the moment it was opened; a writer
/// may go on behind them.
#[derive(Debug)]
pub struct ReplicaReader {
    block: Block,
    path: PathBuf,
    data: File,
    meta: File,
    checksum: DataChecksum,
    /// The sum of the partial chunk at the end, which a writer may overwrite in the file.
    tail: Option<[u8; 4]>,
    io: IoTimer,
}

impl Pool {
    /// Opens a replica that no longer changes.
    pub fn open(&self, block: &Block, place: Place) -> Result<ReplicaReader> {
        ReplicaReader::open(self, block, place)
    }

    /// Opens the data of a replica without checksums, for one whose meta file is lost.
    pub fn open_unsummed(&self, block: &Block, place: Place) -> Result<ReplicaReader> {
        ReplicaReader::open_unsummed(self, block, place)
    }
}

impl ReplicaReader {
    /// Opens both files and checks that they fit each other; `block.len` is replaced by the data
    /// file's length.
    fn open(pool: &Pool, block: &Block, place: Place) -> Result<Self> {
        let path = pool.data_path(block.id, place);
        let io = pool.io().clone();
        let open = |path: &Path| {
            let opened = io.time(IoCall::Metadata, || File::open(path));
            opened.map_err(|e| Error::io(format!("replica {block}"), "open", path, e))
        };
        let data = open(&path)?;
        let meta_path = pool.meta_path(block, place);
        let meta = open(&meta_path)?;
        let checksum = io.time(IoCall::Read, || read_header(block, &meta, &meta_path))?;
        let len = file_len(block, &data, &path)?;
        let covered = meta_header::covered_len(checksum, file_len(block, &meta, &meta_path)?);
        if covered < len {
            let text = format!("its checksums cover {covered} of {len} bytes");
            return Err(corrupt(block, &meta_path, text));
        }
        Ok(Self { block: Block { len, ..*block }, path, data, meta, checksum, tail: None, io })
    }

    /// Opens the data file alone, for a replica whose meta file is lost: there are no checksums.
    fn open_unsummed(pool: &Pool, block: &Block, place: Place) -> Result<Self> {
        let path = pool.data_path(block.id, place);
        let failed = |e| Error::io(format!("replica {block}"), "open", &path, e);
        let io = pool.io().clone();
        let data = io.time(IoCall::Metadata, || File::open(&path)).map_err(failed)?;
        let meta = data.try_clone().map_err(failed)?;
        let checksum = DataChecksum::new(ChecksumType::Null, 512).unwrap_or_default();
        let len = file_len(block, &data, &path)?;
        Ok(Self { block: Block { len, ..*block }, path, data, meta, checksum, tail: None, io })
    }

    pub(crate) fn of_live(
        block: Block,
        path: PathBuf,
        files: (File, File),
        checksum: DataChecksum,
        tail: Option<[u8; 4]>,
        io: IoTimer,
    ) -> Self {
        let (data, meta) = files;
        Self { block, path, data, meta, checksum, tail, io }
    }

    /// The block, with the length that may be read.
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// Bytes that may be read.
    pub fn len(&self) -> u64 {
        self.block.len
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.block.len == 0
    }

    /// How the data is summed.
    pub fn checksum(&self) -> DataChecksum {
        self.checksum
    }

    /// The data file: for sendfile, or to pass on. Its position means nothing.
    pub fn data(&self) -> &File {
        &self.data
    }

    /// The meta file.
    pub fn meta(&self) -> &File {
        &self.meta
    }

    /// The data file and the meta file, for others to read.
    pub fn into_files(self) -> (File, File) {
        (self.data, self.meta)
    }

    /// Where the data file was when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// An error if the data file has fewer bytes than its replica should have.
    pub fn check_len(&self, expected: u64) -> Result<()> {
        if self.len() >= expected {
            return Ok(());
        }
        let text = format!("{} bytes are there, {expected} were expected", self.len());
        Err(corrupt(&self.block, &self.path, text))
    }

    /// The error of this replica for a read of its data file that was made without this reader, as by
    /// sendfile. An end of the file is an [`UnexpectedEof`](io::ErrorKind::UnexpectedEof).
    pub fn data_error(&self, e: impl Into<io::Error>) -> Error {
        self.read_error(&self.path, e.into())
    }

    /// Reads data into all of `target`.
    pub fn read_at(&self, offset: u64, target: &mut [u8]) -> Result<()> {
        self.check_range(offset, target.len())?;
        let read = self.io.time(IoCall::Read, || self.data.read_exact_at(target, offset));
        read.map_err(|e| self.read_error(&self.path, e))
    }

    /// Reads a byte of the data that is about to be sent without a copy (sendfile): the time that the disk takes is seen here,
    /// without the time that the receiver takes.
    pub fn touch(&self, offset: u64) -> Result<()> {
        self.read_at(offset, &mut [0])
    }

    /// Reads the sums of `data_len` bytes from `offset`, which is a chunk boundary; `sums` has
    /// exactly their length ([`DataChecksum::sums_len`]). The last chunk may be short only at the
    /// end of the replica.
    pub fn read_sums(&self, offset: u64, data_len: usize, sums: &mut [u8]) -> Result<()> {
        self.check_range(offset, data_len)?;
        let end = offset + data_len as u64;
        let aligned = offset == self.checksum.chunk_start(offset)
            && (end == self.len() || end == self.checksum.chunk_start(end));
        if !aligned || sums.len() != self.checksum.sums_len(data_len) {
            return Err(self.invalid(format!("no whole chunks lie from {offset} to {end}")));
        }
        let at = meta_header::sum_offset(self.checksum, offset);
        self.meta
            .read_exact_at(sums, at)
            .map_err(|e| self.read_error(Path::new("meta file"), e))?;
        if let (true, Some(tail), [.., a, b, c, d]) = (end == self.len(), self.tail, sums) {
            [*a, *b, *c, *d] = tail;
        }
        Ok(())
    }

    /// Reads `target` and checks it against the stored sums; `offset` and length as for
    /// [`read_sums`](Self::read_sums).
    pub fn read_verified(&self, offset: u64, target: &mut [u8]) -> Result<()> {
        let mut sums = vec![0; self.checksum.sums_len(target.len())];
        self.read_sums(offset, target.len(), &mut sums)?;
        self.read_at(offset, target)?;
        self.checksum.verify(target, &sums).map_err(|e| match e {
            ChecksumError::Mismatch(bad) => {
                let at = offset + (bad.index * self.checksum.bytes_per_checksum()) as u64;
                corrupt(&self.block, &self.path, format!("at offset {at}: {bad}"))
            }
            other => self.invalid(other.to_string()),
        })
    }

    /// Reads and checks the whole replica.
    pub fn verify(&self) -> Result<()> {
        let step = self.checksum.chunk_end(1 << 20) as usize;
        let mut buffer = vec![0; step.min(self.len() as usize)];
        let mut offset = 0;
        while offset < self.len() {
            let take = (self.len() - offset).min(step as u64) as usize;
            let part = buffer.get_mut(..take).unwrap_or_default();
            self.read_verified(offset, part)?;
            offset += take as u64;
        }
        Ok(())
    }

    fn check_range(&self, offset: u64, len: usize) -> Result<()> {
        match offset.checked_add(len as u64) {
            Some(end) if end <= self.len() => Ok(()),
            _ => {
                Err(self
                    .invalid(format!("{len} bytes from {offset} are beyond its {}", self.len())))
            }
        }
    }

    fn invalid(&self, text: String) -> Error {
        Error::new(ErrorKind::Invalid, self.subject(), "read", &self.path, text)
    }

    fn read_error(&self, path: &Path, e: io::Error) -> Error {
        match e.kind() {
            io::ErrorKind::UnexpectedEof => {
                corrupt(&self.block, path, "the file ends before its replica does".to_owned())
            }
            _ => Error::io(self.subject(), "read", path, e),
        }
    }

    fn subject(&self) -> String {
        format!("replica {}", self.block)
    }
}

pub(crate) fn corrupt(block: &Block, path: &Path, text: String) -> Error {
    Error::new(ErrorKind::Corrupt, format!("replica {block}"), "use", path, text)
}

pub(crate) fn file_len(block: &Block, file: &File, path: &Path) -> Result<u64> {
    let found = file.metadata();
    Ok(found.map_err(|e| Error::io(format!("replica {block}"), "stat", path, e))?.len())
}

/// Reads the header of a meta file.
pub(crate) fn read_header(block: &Block, meta: &File, path: &Path) -> Result<DataChecksum> {
    let mut header = [0; meta_header::LEN];
    meta.read_exact_at(&mut header, 0).map_err(|e| match e.kind() {
        io::ErrorKind::UnexpectedEof => {
            corrupt(block, path, "the meta file ends within its header".to_owned())
        }
        _ => Error::io(format!("replica {block}"), "read", path, e),
    })?;
    let (version, checksum) =
        meta_header::decode(header).map_err(|e| corrupt(block, path, e.to_string()))?;
    if version != meta_header::VERSION {
        tracing::warn!("{} has version {version}, not {}", path.display(), meta_header::VERSION);
    }
    Ok(checksum)
}
