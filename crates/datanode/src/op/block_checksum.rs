//! BLOCK_CHECKSUM: a replica's checksums folded into one (`BlockChecksumHelper`).

use super::outcome::{AfterOperation, OpFailure, unreadable};
use crate::node::Node;
use crate::store::Failure;
use crate::transfer::conn::Conn;
use md5::{Digest, Md5};
use std::sync::Arc;
use zerohop_proto::hdfs::{
    BlockChecksumTypeProto, BlockOpResponseProto, ChecksumTypeProto, OpBlockChecksumProto,
    OpBlockChecksumResponseProto, Status,
};
use zerohop_replica::ReplicaReader;
use zerohop_wire::checksum_type::{ChecksumType, DataChecksum};
use zerohop_wire::{ExtendedBlock, meta_header};

/// Checksums read at a time.
const SUMS_AHEAD: usize = 256 << 10;

/// Serves the operation.
pub(super) fn run(
    node: &Arc<Node>,
    conn: &mut Conn,
    message: &OpBlockChecksumProto,
) -> Result<AfterOperation, OpFailure> {
    let block = ExtendedBlock::from(&message.header.block);
    node.wait_for_pool(&block)?;
    let opened = node.open_replica(&block, 0)?;
    let options = message.block_checksum_options.unwrap_or_default();
    let (reader, visible) = (&opened.reader, opened.visible);
    let checksum = reader.checksum();
    let asked = block.block.len.min(visible);
    let composite = options.block_checksum_type() == BlockChecksumTypeProto::CompositeCrc;
    let digest = if composite {
        let stripe = options.stripe_length.unwrap_or(0);
        composite_crc(reader, asked, stripe)
    } else {
        let whole = block.block.len >= visible;
        md5_of_crcs(reader, if whole { reader.len() } else { asked })
    };
    let digest = digest.map_err(|failure| unreadable(node, &block, failure))?;
    let meta_len = reader.meta().metadata()?.len();
    conn.write_message(&BlockOpResponseProto {
        status: Status::Success as i32,
        checksum_response: Some(OpBlockChecksumResponseProto {
            bytes_per_crc: u32::try_from(checksum.bytes_per_checksum()).unwrap_or(u32::MAX),
            crc_per_block: match checksum.sum_len() as u64 {
                0 => 0,
                sum_len => meta_len.saturating_sub(meta_header::LEN as u64) / sum_len,
            },
            block_checksum: digest.into(),
            crc_type: Some(ChecksumTypeProto::from(checksum.kind()) as i32),
            block_checksum_options: Some(options),
        }),
        ..Default::default()
    })?;
    Ok(AfterOperation::Close)
}

/// Calls `take` with the checksums of the first `len` bytes, in order; the checksum of a last
/// chunk that `len` cuts is computed from the data.
fn each_sums(reader: &ReplicaReader, len: u64, mut take: impl FnMut(&[u8])) -> Result<(), Failure> {
    let checksum = reader.checksum();
    if checksum.sum_len() == 0 {
        return Ok(());
    }
    let whole = if len == reader.len() { len } else { checksum.chunk_start(len) };
    let step = (SUMS_AHEAD / checksum.sum_len() * checksum.bytes_per_checksum()) as u64;
    let mut sums = Vec::new();
    let mut offset = 0;
    while offset < whole {
        let part = (whole - offset).min(step) as usize;
        sums.clear();
        sums.resize(checksum.sums_len(part), 0);
        reader.read_sums(offset, part, &mut sums)?;
        take(&sums);
        offset += part as u64;
    }
    if whole < len {
        take(&cut_sum(reader, checksum, whole, len)?);
    }
    Ok(())
}

fn cut_sum(
    reader: &ReplicaReader,
    checksum: DataChecksum,
    from: u64,
    to: u64,
) -> Result<Vec<u8>, Failure> {
    let mut data = vec![0; (to - from) as usize];
    reader.read_at(from, &mut data)?;
    let mut sum = vec![0; checksum.sum_len()];
    checksum.compute(&data, &mut sum).map_err(|error| Failure::io(error.to_string()))?;
    Ok(sum)
}

fn md5_of_crcs(reader: &ReplicaReader, len: u64) -> Result<Vec<u8>, Failure> {
    let mut md5 = Md5::new();
    each_sums(reader, len, |sums| md5.update(sums))?;
    Ok(md5.finalize().to_vec())
}

/// One CRC a stripe (of the whole range, if the stripe length is 0 or longer than it).
fn composite_crc(reader: &ReplicaReader, len: u64, stripe: u64) -> Result<Vec<u8>, Failure> {
    let checksum = reader.checksum();
    let Some(algorithm) = checksum.kind().algorithm() else {
        return Err(Failure::io(format!(
            "Unsupported checksum type for composite CRC: {}",
            ChecksumType::Null.name()
        )));
    };
    let stripe = if stripe == 0 || stripe > len { len } else { stripe };
    let chunk = checksum.bytes_per_checksum() as u64;
    let shift = algorithm.shift(chunk);
    let (mut out, mut crc, mut in_stripe, mut left) = (Vec::new(), 0u32, 0u64, len);
    each_sums(reader, len, |sums| {
        for sum in sums.as_chunks::<4>().0 {
            let sum = u32::from_be_bytes(*sum);
            let covered = chunk.min(left);
            crc = if in_stripe == 0 {
                sum
            } else if covered == chunk {
                shift.combine(crc, sum)
            } else {
                algorithm.combine(crc, sum, covered)
            };
            in_stripe += covered;
            left -= covered;
            if in_stripe >= stripe {
                out.extend_from_slice(&crc.to_be_bytes());
                (crc, in_stripe) = (0, 0);
            }
        }
    })?;
    if in_stripe > 0 {
        out.extend_from_slice(&crc.to_be_bytes());
    }
    Ok(out)
}
