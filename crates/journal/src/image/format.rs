//! How an image is written: compressed or not, in parts or not, by how many threads.

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use std::io::{self, Write};

/// How images are compressed: each section is one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageCodec {
    /// zlib's format: Hadoop's `DefaultCodec` and `DeflateCodec`.
    Default,
    /// gzip's format: `GzipCodec`.
    Gzip,
}

const CODECS: [(&str, ImageCodec); 3] = [
    ("org.apache.hadoop.io.compress.DefaultCodec", ImageCodec::Default),
    ("org.apache.hadoop.io.compress.DeflateCodec", ImageCodec::Default),
    ("org.apache.hadoop.io.compress.GzipCodec", ImageCodec::Gzip),
];

impl ImageCodec {
    /// From the name of Hadoop's class; none for codecs that are not there.
    pub fn parse(class: &str) -> Option<Self> {
        CODECS.iter().find(|(name, _)| *name == class).map(|(_, codec)| *codec)
    }

    /// The name of Hadoop's class, as the summary has it.
    pub fn class(self) -> &'static str {
        CODECS.iter().find(|(_, codec)| *codec == self).map_or("", |(name, _)| name)
    }
}

/// When sections are also listed in parts, which Apache's readers load side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageParts {
    /// Only images of more inodes have parts (`dfs.image.parallel.inode.threshold`).
    pub inodes_min: u64,
    /// How many parts a section gets (`dfs.image.parallel.target.sections`).
    pub count: u64,
}

/// How an image is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageFormat {
    /// `dfs.image.compress`, `dfs.image.compression.codec`
    pub codec: Option<ImageCodec>,
    /// `dfs.image.parallel.load`
    pub parts: Option<ImageParts>,
    /// Threads that encode and decode inodes (`dfs.image.parallel.threads`); 1 at least.
    pub threads: usize,
}

impl Default for ImageFormat {
    fn default() -> Self {
        Self { codec: None, parts: None, threads: 1 }
    }
}

impl ImageFormat {
    /// After how many inodes a part ends, in an image of so many; none: there are no parts.
    pub fn inodes_per_part(&self, inodes: u64) -> Option<u64> {
        let parts = self.parts.filter(|parts| inodes > parts.inodes_min)?;
        Some(inodes.div_ceil(parts.count.max(1)).max(1))
    }
}

/// The bytes of one section on their way into the image.
pub(super) enum SectionEncoder {
    Plain(Vec<u8>),
    Zlib(ZlibEncoder<Vec<u8>>),
    Gzip(GzEncoder<Vec<u8>>),
}

impl SectionEncoder {
    pub(super) fn new(codec: Option<ImageCodec>) -> Self {
        match codec {
            None => Self::Plain(Vec::new()),
            Some(ImageCodec::Default) => {
                Self::Zlib(ZlibEncoder::new(Vec::new(), Compression::default()))
            }
            Some(ImageCodec::Gzip) => {
                Self::Gzip(GzEncoder::new(Vec::new(), Compression::default()))
            }
        }
    }

    pub(super) fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.write_all(bytes),
            Self::Zlib(encoder) => encoder.write_all(bytes),
            Self::Gzip(encoder) => encoder.write_all(bytes),
        }
    }

    /// What is encoded so far, for the file; the buffer is to be emptied then.
    pub(super) fn encoded(&mut self) -> &mut Vec<u8> {
        match self {
            Self::Plain(out) => out,
            Self::Zlib(encoder) => encoder.get_mut(),
            Self::Gzip(encoder) => encoder.get_mut(),
        }
    }

    /// The end of the stream.
    pub(super) fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Plain(out) => Ok(out),
            Self::Zlib(encoder) => encoder.finish(),
            Self::Gzip(encoder) => encoder.finish(),
        }
    }
}
