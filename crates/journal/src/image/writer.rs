//! Writing an image.

use super::format::{ImageFormat, SectionEncoder};
use super::{FILE_VERSION, MAGIC, SectionName};
use crate::layout::LayoutVersion;
use md5::{Digest, Md5};
use prost::Message;
use std::io::{self, Write};
use zerohop_proto::hdfs::fsimage::{FileSummary, file_summary::Section};

/// Bytes gathered before they go to the file.
const BUFFER_LEN: usize = 1024 * 1024;

/// Appends a message with its length in front, as sections have them.
pub fn put_message(out: &mut Vec<u8>, message: &impl Message) {
    prost::encoding::encode_varint(message.encoded_len() as u64, out);
    message.encode_raw(out);
}

/// Writes sections one after another; call [`Self::end`] behind each and [`Self::finish`] at last.
pub struct ImageWriter<'w> {
    out: &'w mut dyn Write,
    format: ImageFormat,
    section: SectionEncoder,
    /// One message, before it is compressed.
    scratch: Vec<u8>,
    digest: Md5,
    summary: FileSummary,
    /// Bytes handed to `out`. section_start <= part_start <= written.
    written: u64,
    section_start: u64,
    part_start: u64,
}

impl<'w> ImageWriter<'w> {
    /// Begins an image; nothing is compressed, there are no parts.
    pub fn new(out: &'w mut dyn Write) -> Self {
        Self::with_format(out, ImageFormat::default())
    }

    /// Begins an image of a format.
    pub fn with_format(out: &'w mut dyn Write, format: ImageFormat) -> Self {
        let summary = FileSummary {
            ondisk_version: FILE_VERSION,
            layout_version: LayoutVersion::CURRENT.0 as u32,
            codec: format.codec.map(|codec| codec.class().to_owned()),
            sections: Vec::new(),
        };
        let len = MAGIC.len() as u64;
        Self {
            out,
            format,
            section: SectionEncoder::new(format.codec),
            scratch: Vec::new(),
            digest: Md5::new(),
            summary,
            written: 0,
            section_start: len,
            part_start: len,
        }
    }

    /// How it is written.
    pub fn format(&self) -> ImageFormat {
        self.format
    }

    /// Appends a message to the section being written.
    pub fn message(&mut self, message: &impl Message) -> io::Result<()> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        put_message(&mut scratch, message);
        self.scratch = scratch;
        self.section.put(&self.scratch)?;
        self.flush_above(BUFFER_LEN)
    }

    /// Appends messages that [`put_message`] has encoded.
    pub fn messages(&mut self, encoded: &[u8]) -> io::Result<()> {
        self.section.put(encoded)?;
        self.flush_above(BUFFER_LEN)
    }

    /// Ends a part of the section being written. Not for compressed images: a part cannot be read there without those before.
    pub fn end_part(&mut self, name: SectionName) -> io::Result<()> {
        self.flush_above(0)?;
        if self.written > self.part_start {
            self.list(name, self.part_start);
            self.part_start = self.written;
        }
        Ok(())
    }

    /// Ends the section being written under this name; an empty one is recorded too.
    pub fn end(&mut self, name: SectionName) -> io::Result<()> {
        self.begin()?;
        let next = SectionEncoder::new(self.format.codec);
        let rest = std::mem::replace(&mut self.section, next).finish()?;
        self.hand_over(&rest)?;
        self.list(name, self.section_start);
        (self.section_start, self.part_start) = (self.written, self.written);
        Ok(())
    }

    fn list(&mut self, name: SectionName, start: u64) {
        self.summary.sections.push(Section {
            name: Some(name.as_str().to_owned()),
            length: Some(self.written - start),
            offset: Some(start),
        });
    }

    /// Writes the summary and gives the whole image's MD5.
    pub fn finish(mut self) -> io::Result<[u8; 16]> {
        self.begin()?;
        let mut end = Vec::new();
        put_message(&mut end, &self.summary);
        let len = end.len() as u32;
        end.extend_from_slice(&len.to_be_bytes());
        self.hand_over(&end)?;
        Ok(self.digest.finalize().into())
    }

    /// Writes the first bytes, once.
    fn begin(&mut self) -> io::Result<()> {
        if self.written == 0 { self.hand_over(MAGIC) } else { Ok(()) }
    }

    fn flush_above(&mut self, len: usize) -> io::Result<()> {
        self.begin()?;
        if self.section.encoded().len() <= len {
            return Ok(());
        }
        let mut bytes = std::mem::take(self.section.encoded());
        self.hand_over(&bytes)?;
        bytes.clear();
        *self.section.encoded() = bytes;
        Ok(())
    }

    fn hand_over(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.digest.update(bytes);
        self.out.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }
}
