//! What is wrong with compressed data, and where.

use std::io;

/// Compressed data that cannot be unpacked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{format} data is damaged at byte {offset}: {cause}")]
pub struct Damage {
    /// The format, as `gzip` or `lzop`.
    pub format: &'static str,
    /// How far the compressed stream was read when the damage was found.
    pub offset: u64,
    /// What is wrong there.
    pub cause: String,
}

/// An error of kind `InvalidData`.
pub(crate) fn damaged(format: &'static str, offset: u64, cause: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, Damage { format, offset, cause: cause.to_string() })
}

/// The error of a stream that ends too early, of kind `UnexpectedEof`.
pub(crate) fn cut(format: &'static str, offset: u64) -> io::Error {
    let cause = "the stream ends in the middle".to_owned();
    io::Error::new(io::ErrorKind::UnexpectedEof, Damage { format, offset, cause })
}
