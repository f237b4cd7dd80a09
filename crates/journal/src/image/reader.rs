//! Reading an image.

use super::format::ImageCodec;
use super::{FILE_VERSION, MAGIC, MESSAGE_LEN_MAX, SectionName};
use crate::error::JournalError;
use crate::layout::LayoutVersion;
use bytes::Bytes;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use zerohop_proto::Checked;
use zerohop_proto::hdfs::fsimage::{FileSummary, NameSystemSection, file_summary::Section};
use zerohop_wire::TxId;

/// The longest summary: sixteen sections take a few hundred bytes, with sub-sections some KB.
const SUMMARY_LEN_MAX: u64 = 1024 * 1024;

/// The buffer for a section's bytes.
const SECTION_BUFFER_LEN: u64 = 256 * 1024;

type Result<T> = std::result::Result<T, JournalError>;

/// An image opened for reading; sections can be read in any order, several at once.
#[derive(Debug)]
pub struct ImageReader {
    path: PathBuf,
    summary: FileSummary,
    threads: usize,
}

impl ImageReader {
    /// Opens an image and reads its summary; the MD5 is checked by [`super::verify_md5`].
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(JournalError::io("open", path))?;
        let summary = read_summary(&file, path)?;
        let layout = LayoutVersion(summary.layout_version as i32);
        if layout.is_from_the_future() {
            return Err(JournalError::Newer { path: path.to_owned(), found: layout });
        }
        if summary.ondisk_version != FILE_VERSION || !layout.is_readable() {
            let reason =
                format!("file version {}, layout version {layout}", summary.ondisk_version);
            return Err(bad(path, reason));
        }
        Ok(Self { path: path.to_owned(), summary, threads: 1 })
    }

    /// Has whoever loads it decode inodes on so many threads.
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads: threads.max(1), ..self }
    }

    /// On how many threads inodes are to be decoded.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The layout it was written in.
    pub fn layout(&self) -> LayoutVersion {
        LayoutVersion(self.summary.layout_version as i32)
    }

    /// Refuses an image whose last transaction is not `expected`, which its file name or an upload request states.
    /// Otherwise the edits between the two would be applied twice, or not at all.
    ///
    /// # Errors
    /// Fails if the image says another transaction, or cannot be read.
    pub fn check_txid(&self, expected: TxId) -> Result<()> {
        let section = self.section(SectionName::NsInfo)?;
        let Some(mut section) = section else {
            return Err(bad(&self.path, "it has no section NS_INFO"));
        };
        let found = TxId(section.expect::<NameSystemSection>()?.transaction_id() as i64);
        if found == expected {
            return Ok(());
        }
        let reason =
            format!("it contains the edits up to transaction {found}, not up to {expected}");
        Err(bad(&self.path, reason))
    }

    /// Returns the names of the sections without sub-sections, in loading order.
    ///
    /// # Errors
    /// Fails if a section is unknown, or if two have the same name.
    pub fn sections(&self) -> Result<Vec<SectionName>> {
        let mut names = Vec::new();
        for section in &self.summary.sections {
            let text = section.name.as_deref().unwrap_or_default();
            let name = SectionName::parse(text)
                .ok_or_else(|| bad(&self.path, format!("Unrecognized section {text}")))?;
            if !name.is_sub() {
                names.push(name);
            }
        }
        names.sort_unstable();
        match names.iter().zip(names.iter().skip(1)).find(|(name, next)| name == next) {
            Some((twice, _)) => {
                Err(bad(&self.path, format!("it has two sections {}", twice.as_str())))
            }
            None => Ok(names),
        }
    }

    /// A section's messages; none if the image has no such section.
    pub fn section(&self, name: SectionName) -> Result<Option<SectionReader>> {
        let found = self.summary.sections.iter().find(|section| section.name() == name.as_str());
        found.map(|section| self.open_section(section)).transpose()
    }

    fn codec(&self) -> Option<ImageCodec> {
        ImageCodec::parse(self.summary.codec())
    }

    fn open_section(&self, section: &Section) -> Result<SectionReader> {
        let mut file = File::open(&self.path).map_err(JournalError::io("open", &self.path))?;
        file.seek(SeekFrom::Start(section.offset()))
            .map_err(JournalError::io("seek in", &self.path))?;
        // A short section, and one that is only claimed, takes no long buffer.
        let buffer_len = section.length().clamp(1, SECTION_BUFFER_LEN) as usize;
        let raw = BufReader::with_capacity(buffer_len, file).take(section.length());
        let input: Box<dyn BufRead + Send> = match (self.summary.codec(), self.codec()) {
            ("", _) => Box::new(raw),
            (_, Some(ImageCodec::Gzip)) => {
                Box::new(BufReader::new(flate2::bufread::MultiGzDecoder::new(raw)))
            }
            (_, Some(ImageCodec::Default)) => {
                Box::new(BufReader::new(flate2::bufread::ZlibDecoder::new(raw)))
            }
            (other, None) => {
                let reason = format!(
                    "it is compressed with {other}, which this build does not read: \
                     save it again with dfs.image.compress=false"
                );
                return Err(bad(&self.path, reason));
            }
        };
        let name = section.name().to_owned();
        Ok(SectionReader { path: self.path.clone(), name, input, buffer: Vec::new() })
    }
}

fn bad(path: &Path, reason: impl Into<String>) -> JournalError {
    JournalError::Image { path: path.to_owned(), reason: reason.into() }
}

fn read_summary(mut file: &File, path: &Path) -> Result<FileSummary> {
    let io = |source| JournalError::Io { verb: "read", path: path.to_owned(), source };
    let file_len = file.metadata().map_err(io)?.len();
    let magic_len = MAGIC.len() as u64;
    if file_len < magic_len + 4 {
        return Err(bad(path, format!("it is only {file_len} bytes long")));
    }
    let mut magic = [0; MAGIC.len()];
    file.read_exact(&mut magic).map_err(io)?;
    if magic != *MAGIC {
        return Err(bad(path, "it does not begin with HDFSIMG1"));
    }
    let mut size = [0; 4];
    file.seek(SeekFrom::Start(file_len - 4)).map_err(io)?;
    file.read_exact(&mut size).map_err(io)?;
    let len = u64::from(u32::from_be_bytes(size));
    if len == 0 || len > SUMMARY_LEN_MAX || len > file_len - 4 - magic_len {
        return Err(bad(path, format!("a summary of {len} bytes cannot be")));
    }
    file.seek(SeekFrom::Start(file_len - 4 - len)).map_err(io)?;
    let mut bytes = vec![0; len as usize];
    file.read_exact(&mut bytes).map_err(io)?;
    zerohop_proto::decode_delimited(&mut Bytes::from(bytes))
        .map_err(|e| bad(path, format!("its summary: {e}")))
}

/// Messages of a section that are still to be decoded, by whichever thread.
#[derive(Debug)]
pub struct Batch {
    bytes: Bytes,
    /// Where each message ends; in order, the last one at the end of `bytes`.
    ends: Vec<usize>,
}

impl Batch {
    /// The messages, each decoded; what is wrong with it otherwise. Byte fields share the batch's memory: what is to be
    /// kept must be copied.
    pub fn messages<M: Checked>(&self) -> impl Iterator<Item = std::result::Result<M, String>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| {
            zerohop_proto::decode(self.bytes.slice(start..*end)).map_err(|e| e.to_string())
        })
    }
}

/// Makes errors that name an image and a section.
#[derive(Clone, Debug)]
pub struct SectionErrors {
    path: PathBuf,
    name: String,
}

impl SectionErrors {
    /// An error for messages that make no sense.
    pub fn bad(&self, reason: impl std::fmt::Display) -> JournalError {
        bad(&self.path, format!("section {}: {reason}", self.name))
    }
}

/// The messages of one section, one after another.
pub struct SectionReader {
    path: PathBuf,
    name: String,
    input: Box<dyn BufRead + Send>,
    buffer: Vec<u8>,
}

impl SectionReader {
    /// The next message; none at the section's end. Byte fields are copies: they may be kept.
    #[expect(
        clippy::should_implement_trait,
        reason = "the message's type differs from call to call"
    )]
    pub fn next<M: Checked>(&mut self) -> Result<Option<M>> {
        let Some(len) = self.varint()? else { return Ok(None) };
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        self.read_message(len, &mut buffer)?;
        self.buffer = buffer;
        // A copy of its own for each message: a field kept does not hold on to its neighbours.
        let bytes = Bytes::copy_from_slice(&self.buffer);
        zerohop_proto::decode(bytes).map(Some).map_err(|e| self.bad(e.to_string()))
    }

    /// The next messages, not decoded, of about `len` bytes together; none at the section's end.
    pub fn next_batch(&mut self, len: usize) -> Result<Option<Batch>> {
        let mut bytes = Vec::with_capacity(len + len / 8);
        let mut ends = Vec::new();
        while bytes.len() < len
            && let Some(message_len) = self.varint()?
        {
            self.read_message(message_len, &mut bytes)?;
            ends.push(bytes.len());
        }
        Ok((!ends.is_empty()).then(|| Batch { bytes: bytes.into(), ends }))
    }

    /// Appends the message of so many bytes that is next.
    fn read_message(&mut self, len: u64, buffer: &mut Vec<u8>) -> Result<()> {
        if len > MESSAGE_LEN_MAX {
            return Err(self.bad(format!("a message of {len} bytes")));
        }
        let read = (&mut self.input).take(len).read_to_end(buffer);
        let read = read.map_err(|e| self.io(e))?;
        if (read as u64) < len {
            return Err(self.bad(format!("it ends within a message of {len} bytes")));
        }
        Ok(())
    }

    /// The next message, which must be there.
    pub fn expect<M: Checked>(&mut self) -> Result<M> {
        match self.next()? {
            Some(message) => Ok(message),
            None => Err(self.bad(format!("it has no {}", M::shape().name))),
        }
    }

    /// An error that names the image and this section, for messages that make no sense.
    pub fn bad(&self, reason: impl std::fmt::Display) -> JournalError {
        self.errors().bad(reason)
    }

    /// Makes such errors without the reader.
    pub fn errors(&self) -> SectionErrors {
        SectionErrors { path: self.path.clone(), name: self.name.clone() }
    }

    fn io(&self, source: io::Error) -> JournalError {
        JournalError::Io { verb: "read", path: self.path.clone(), source }
    }

    fn varint(&mut self) -> Result<Option<u64>> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            match self.input.read(&mut byte).map_err(|e| self.io(e))? {
                0 if shift == 0 => return Ok(None),
                0 => return Err(self.bad("it ends within a length")),
                _ => value |= u64::from(byte[0] & 0x7f) << shift,
            }
            if byte[0] < 0x80 {
                return Ok(Some(value));
            }
        }
        Err(self.bad("a length of more than ten bytes"))
    }
}
