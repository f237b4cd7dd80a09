//! What can be wrong with bytes and with files.

use crate::layout::LayoutVersion;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Bytes that are not the operation they claim to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// Fewer bytes than the field needs.
    #[error("ended early: {needed} more bytes needed")]
    Short {
        /// How many are missing.
        needed: usize,
    },
    /// An operation left bytes of its frame unread.
    #[error("{0} bytes left over after the operation's last field")]
    LeftOver(usize),
    /// An operation's fields need more bytes than its frame has.
    #[error("operation {code} ends early: {needed} more bytes needed")]
    Overrun {
        /// The op code.
        code: u8,
        /// How many are missing.
        needed: usize,
    },
    /// An op code nobody writes.
    #[error("Read invalid opcode {0}")]
    OpCode(u8),
    /// A frame whose length cannot be.
    #[error("Op {code} has size {len}, but sizes from {min} to {max} are allowed")]
    Length {
        /// The op code.
        code: u8,
        /// The whole frame's length as it says itself.
        len: i64,
        /// The smallest allowed.
        min: usize,
        /// The largest allowed (`dfs.namenode.max.op.size`).
        max: usize,
    },
    /// The CRC at the frame's end is not its bytes'.
    #[error(
        "Transaction is corrupt. Calculated checksum is {calculated} but read checksum {stored}"
    )]
    Checksum {
        /// What the bytes give.
        calculated: u32,
        /// What is written behind them.
        stored: u32,
    },
    /// A field's value is outside of what the format allows.
    #[error("invalid {what}: {value}")]
    Value {
        /// The field.
        what: &'static str,
        /// What it holds.
        value: i64,
    },
    /// Text that is not UTF-8 as Hadoop writes it.
    #[error("invalid UTF-8 in a string")]
    Utf8,
    /// A protobuf inside that does not parse.
    #[error("invalid protobuf: {0}")]
    Proto(String),
    /// A layout this build does not read.
    #[error("layout version {0} is not readable by this build")]
    Layout(LayoutVersion),
}

/// What helps, where the system's error tells.
pub fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "; the user who runs the NameNode must own the directory"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; make room there",
        io::ErrorKind::ReadOnlyFilesystem => "; mount it for writing",
        _ => "",
    }
}

/// A journal or image file that cannot be used; says which and where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The operating system refused.
    #[error("cannot {verb} {}: {source}{}", path.display(), advice(source))]
    Io {
        /// What was tried.
        verb: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The bytes at an offset are wrong and more follow, so nothing behind them can be trusted.
    #[error(
        "{} is corrupt at offset {offset}, after transaction {last_txid}: {source}",
        path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Where the bad bytes begin.
        offset: u64,
        /// The last good transaction before them (0: none).
        last_txid: i64,
        /// What is wrong.
        source: DecodeError,
    },
    /// The header cannot be read.
    #[error("{} has no valid header: {reason}", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Written by a newer release.
    #[error(
        "{} has layout version {found}, newer than {} which this build reads; use the release that wrote it",
        path.display(),
        LayoutVersion::CURRENT
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its layout.
        found: LayoutVersion,
    },
    /// Transaction ids do not follow one another.
    #[error("{}: expected transaction {expected} at offset {offset}, found {found}", path.display())]
    Gap {
        /// The file.
        path: PathBuf,
        /// Where.
        offset: u64,
        /// The id that should follow.
        expected: i64,
        /// The id that is there.
        found: i64,
    },
    /// An image whose contents do not match its summary or its MD5 file.
    #[error("{} is not a usable image: {reason}", path.display())]
    Image {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A segment in progress that cannot be finalized.
    #[error("{source}; {advice}")]
    Damaged {
        /// What is wrong with it.
        source: Box<JournalError>,
        /// What follows from that, and what to do.
        advice: String,
    },
    /// Files that do not belong together.
    #[error("Directory {} is in an inconsistent state: {reason}", path.display())]
    Inconsistent {
        /// The file, or its directory.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// Too few JournalNodes did what they were asked for: nothing more may be written.
    #[error("{reason}")]
    NoQuorum {
        /// Which, and why.
        reason: String,
    },
    /// Records were not durable in time.
    #[error("the edits were not durable within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// A journal was asked to write, and gave up before it knew the end of it.
    #[error("the journal was closed while records were on their way")]
    GivenUp,
    /// An earlier write or sync failed: what is on disk is unknown.
    #[error("{} failed earlier and is not written any more", path.display())]
    Poisoned {
        /// The file.
        path: PathBuf,
    },
}

impl JournalError {
    /// Wraps a system error with the verb and the path.
    pub fn io(verb: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { verb, path, source }
    }
}
