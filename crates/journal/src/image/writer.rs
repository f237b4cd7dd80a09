//! Writing an image.

use super::{FILE_VERSION, MAGIC, SectionName};
use crate::layout::LayoutVersion;
use md5::{Digest, Md5};
use prost::Message;
use std::io::{self, Write};
use zerohop_proto::hdfs::fsimage::{FileSummary, file_summary::Section};

/// Bytes gathered before they go to the file.
const BUFFER_LEN: usize = 1024 * 1024;

/// Writes sections one after another; call [`Self::end`] behind each and [`Self::finish`] at last.
pub struct ImageWriter<'w> {
    out: &'w mut dyn Write,
    buffer: Vec<u8>,
    digest: Md5,
    summary: FileSummary,
    /// Bytes handed over so far, those in `buffer` included.
    written: u64,
    section_start: u64,
}

impl<'w> ImageWriter<'w> {
    /// Begins an image; nothing is compressed.
    pub fn new(out: &'w mut dyn Write) -> Self {
        let summary = FileSummary {
            ondisk_version: FILE_VERSION,
            layout_version: LayoutVersion::CURRENT.0 as u32,
            codec: None,
            sections: Vec::new(),
        };
        let len = MAGIC.len() as u64;
        Self {
            out,
            buffer: MAGIC.to_vec(),
            digest: Md5::new(),
            summary,
            written: len,
            section_start: len,
        }
    }

    /// Appends a message to the section being written.
    pub fn message(&mut self, message: &impl Message) -> io::Result<()> {
        let before = self.buffer.len();
        prost::encoding::encode_varint(message.encoded_len() as u64, &mut self.buffer);
        message.encode_raw(&mut self.buffer);
        self.written += (self.buffer.len() - before) as u64;
        if self.buffer.len() >= BUFFER_LEN { self.flush() } else { Ok(()) }
    }

    /// Ends the section being written under this name; an empty one is recorded too.
    pub fn end(&mut self, name: SectionName) {
        self.summary.sections.push(Section {
            name: Some(name.as_str().to_owned()),
            length: Some(self.written - self.section_start),
            offset: Some(self.section_start),
        });
        self.section_start = self.written;
    }

    /// Writes the summary and gives the whole image's MD5.
    pub fn finish(mut self) -> io::Result<[u8; 16]> {
        let start = self.buffer.len();
        prost::encoding::encode_varint(self.summary.encoded_len() as u64, &mut self.buffer);
        self.summary.encode_raw(&mut self.buffer);
        let len = (self.buffer.len() - start) as u32;
        self.buffer.extend_from_slice(&len.to_be_bytes());
        self.flush()?;
        Ok(self.digest.finalize().into())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.digest.update(&self.buffer);
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}
