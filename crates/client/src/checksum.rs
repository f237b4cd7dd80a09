//! The checksum of a whole file, from those that DataNodes keep (`FileChecksumHelper`).

use crate::client::Client;
use crate::error::{Error, ErrorKind, Result};
use crate::settings::CombineMode as Mode;
use crate::spans;
use crate::types::{LocatedBlock, LocatedBlocks, Replica};
use md5::{Digest, Md5};
use std::io::{self, Write};
use zerohop_proto::hdfs::{
    BaseHeaderProto, BlockChecksumOptionsProto, BlockChecksumTypeProto, BlockOpResponseProto,
    ChecksumTypeProto, OpBlockChecksumProto, OpBlockChecksumResponseProto, Status,
};
use zerohop_transport::trace;
use zerohop_wire::checksum_type::ChecksumType;
use zerohop_wire::transfer::op::{self, OpCode};

/// Bytes that Hadoop's buffer of block sums begins with; it grows by doubling, and all of it is
/// summed.
const MD5_BUFFER_LEN: usize = 32;

/// The checksum of a file; equal for equal files with equal block and chunk sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileChecksum {
    /// Hadoop's name, as `MD5-of-0MD5-of-512CRC32C` or `COMPOSITE-CRC32C`.
    pub algorithm: String,
    /// The value, as Hadoop's `FileChecksum.getBytes`.
    pub bytes: Vec<u8>,
}

/// What the blocks have in common.
struct Blocks {
    bytes_per_crc: u32,
    crc_per_block: u64,
    /// `None` where blocks differ.
    kind: Option<ChecksumType>,
    sums: Vec<u8>,
}

/// The blocks of a file whose checksum is wanted.
pub(crate) struct Summed {
    src: String,
    len: u64,
    located: LocatedBlocks,
}

impl Summed {
    /// Asks for the blocks of a file's first `len` bytes.
    pub(crate) async fn locate(client: &Client, src: String, len: u64) -> Result<Self> {
        let length = len.min(i64::MAX as u64);
        let located = client.namenode.block_locations(&src, 0, length).await?;
        let located = located.ok_or_else(|| {
            Error::new(ErrorKind::NotFound, format!("File does not exist: {src}"))
        })?;
        if located.is_under_construction {
            return Err(Error::plain(format!(
                "Fail to get checksum, since file {src} is under construction."
            )));
        }
        located.check_replicated(&src)?;
        // The last block of a snapshot may have grown since.
        let len = len.min(located.file_len);
        Ok(Self { src, len, located })
    }

    /// The checksum, from the DataNodes; `None` where block data has none. Blocks the thread.
    pub(crate) fn compute(&self, client: &Client) -> Result<Option<FileChecksum>> {
        let (mode, blocks) = (client.settings.checksum_combine_mode, &self.located.blocks);
        if blocks.is_empty() {
            return Ok(Some(of_nothing()));
        }
        let sums = sum_blocks(client, &self.src, blocks, self.len, mode)?;
        match mode {
            Mode::Md5 => Ok(md5_of_md5s(&sums)),
            Mode::Composite => composite(&sums, blocks, self.len).map(Some),
        }
    }
}

fn of_nothing() -> FileChecksum {
    let digest = Md5::digest([0; MD5_BUFFER_LEN]);
    FileChecksum {
        algorithm: "MD5-of-0MD5-of-0CRC32".to_owned(),
        bytes: [&[0; 12][..], &digest[..]].concat(),
    }
}

fn sum_blocks(
    client: &Client,
    src: &str,
    blocks: &[LocatedBlock],
    len: u64,
    mode: Mode,
) -> Result<Blocks> {
    let mut all = Blocks { bytes_per_crc: 0, crc_per_block: 0, kind: None, sums: Vec::new() };
    for (at, block) in blocks.iter().enumerate() {
        let wanted = block.block.block.len.min(len.saturating_sub(block.offset));
        let answer = ask_replicas(client, src, block, wanted, mode)?;
        all.take(&answer, at, blocks.len(), mode)?;
    }
    Ok(all)
}

impl Blocks {
    fn take(
        &mut self,
        answer: &OpBlockChecksumResponseProto,
        at: usize,
        count: usize,
        mode: Mode,
    ) -> Result<()> {
        let kind = answer.crc_type.and_then(|kind| ChecksumTypeProto::try_from(kind).ok());
        let kind = Some(kind.map_or(ChecksumType::Crc32, ChecksumType::from));
        if at == 0 {
            self.bytes_per_crc = answer.bytes_per_crc;
            self.kind = kind;
            if count > 1 {
                self.crc_per_block = answer.crc_per_block;
            }
        } else if answer.bytes_per_crc != self.bytes_per_crc && mode == Mode::Md5 {
            return Err(Error::plain(format!(
                "Byte-per-checksum not matched: bpc={} but bytesPerCRC={}",
                answer.bytes_per_crc, self.bytes_per_crc
            )));
        } else if self.kind != kind {
            if mode == Mode::Composite {
                return Err(Error::plain(
                    "DataChecksum.Type.MIXED is not supported for COMPOSITE_CRC",
                ));
            }
            self.kind = None;
        }
        self.sums.extend_from_slice(&answer.block_checksum);
        Ok(())
    }
}

fn md5_of_md5s(blocks: &Blocks) -> Option<FileChecksum> {
    let kind = blocks.kind.filter(|kind| *kind != ChecksumType::Null)?;
    let mut padded_len = MD5_BUFFER_LEN;
    while padded_len < blocks.sums.len() {
        padded_len *= 2;
    }
    let mut padded = blocks.sums.clone();
    padded.resize(padded_len, 0);
    let digest = Md5::digest(&padded);
    let (bytes_per_crc, crc_per_block) = (blocks.bytes_per_crc, blocks.crc_per_block);
    Some(FileChecksum {
        algorithm: format!("MD5-of-{crc_per_block}MD5-of-{bytes_per_crc}{}", kind.name()),
        bytes: [&bytes_per_crc.to_be_bytes()[..], &crc_per_block.to_be_bytes()[..], &digest[..]]
            .concat(),
    })
}

fn composite(blocks: &Blocks, located: &[LocatedBlock], len: u64) -> Result<FileChecksum> {
    let kind = blocks.kind.unwrap_or(ChecksumType::Crc32c);
    let algorithm = kind.algorithm().ok_or_else(|| Error::plain("block data has no checksums"))?;
    let (sums, _) = blocks.sums.as_chunks::<4>();
    let mut crc = 0;
    for (block, sum) in located.iter().zip(sums) {
        let block_len = block.block.block.len.min(len.saturating_sub(block.offset));
        crc = algorithm.combine(crc, u32::from_be_bytes(*sum), block_len);
    }
    Ok(FileChecksum {
        algorithm: format!("COMPOSITE-{}", kind.name()),
        bytes: crc.to_be_bytes().to_vec(),
    })
}

fn ask_replicas(
    client: &Client,
    src: &str,
    block: &LocatedBlock,
    wanted: u64,
    mode: Mode,
) -> Result<OpBlockChecksumResponseProto> {
    for replica in &block.replicas {
        match ask(client, block, replica, wanted, mode) {
            Ok(answer) => return Ok(answer),
            Err(error) => {
                tracing::warn!(
                    "src={src}, datanode={}, block={}: {error}",
                    replica.node,
                    block.block
                );
            }
        }
    }
    Err(Error::plain(format!("Fail to get block checksum for {}", block.block)))
}

fn ask(
    client: &Client,
    block: &LocatedBlock,
    replica: &Replica,
    wanted: u64,
    mode: Mode,
) -> io::Result<OpBlockChecksumResponseProto> {
    let span = spans::of_request(OpCode::BlockChecksum, &block.block, &replica.node);
    let _within = span.enter();
    let addr = client.transfer_addr(&replica.node)?;
    // Each step of a sum over a large block may take as long as one answer.
    let timeout = client.settings.pipeline_read_timeout(block.replicas.len());
    let stream = client.connect(addr, timeout, client.settings.write_timeout)?;
    let kind = match mode {
        Mode::Md5 => BlockChecksumTypeProto::Md5crc,
        Mode::Composite => BlockChecksumTypeProto::CompositeCrc,
    };
    let message = OpBlockChecksumProto {
        header: BaseHeaderProto {
            block: (&crate::types::with_len(&block.block, wanted)).into(),
            token: Some(block.token.clone()),
            trace_info: trace::transfer_info(),
        },
        block_checksum_options: Some(BlockChecksumOptionsProto {
            block_checksum_type: Some(kind.into()),
            stripe_length: None,
        }),
    };
    (&stream).write_all(&op::encode(OpCode::BlockChecksum, &message))?;
    let answer: BlockOpResponseProto = stream.read_message()?;
    if answer.status() != Status::Success {
        let (status, text) = (answer.status().as_str_name(), answer.message());
        return Err(io::Error::other(format!("Got error, status={status}, status message {text}")));
    }
    answer.checksum_response.ok_or_else(|| io::Error::other("no checksum in the answer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_has_hadoop_s_magic_value() {
        let hex: String = of_nothing().bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "00000000000000000000000070bc8f4b72a86921468bf8e8441dce51");
    }
}
