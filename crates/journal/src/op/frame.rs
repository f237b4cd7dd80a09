//! A record: code, length, transaction id, body, CRC.

use super::EditOp;
use crate::codec::{Reader, Writer};
use crate::error::DecodeError;
use crate::layout::LayoutVersion;
use crate::types::RpcIds;
use zerohop_wire::TxId;

/// The largest record read unless configured otherwise, bytes (`dfs.namenode.max.op.size`).
pub const OP_SIZE_MAX: usize = 50 * 1024 * 1024;

/// The smallest record, bytes: code, length, transaction id and CRC around an empty body.
pub const OP_SIZE_MIN: usize = 17;

/// Where a record's body begins: behind code, length and transaction id.
const BODY_AT: usize = 13;

/// A record of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its transaction.
    pub txid: TxId,
    /// What was done.
    pub op: EditOp,
    /// By which call.
    pub rpc: RpcIds,
}

/// Appends a record to `out`.
pub fn encode(op: &EditOp, txid: TxId, rpc: &RpcIds, layout: LayoutVersion, out: &mut Vec<u8>) {
    let start = out.len();
    let mut writer = Writer::new(out, layout);
    writer.u8(op.code());
    writer.i32(0);
    writer.i64(txid.0);
    op.put(&mut writer);
    if op.has_rpc_ids() {
        writer.short_bytes(rpc.client_id.as_ref().map_or(&[], |id| id.as_slice()));
        writer.i32(rpc.call_id);
    }
    let len = (out.len() - start - 1) as u32;
    out[start + 1..start + 5].copy_from_slice(&len.to_be_bytes());
    let crc = crc32fast::hash(&out[start..]);
    out.extend_from_slice(&crc.to_be_bytes());
}

/// A record's code, whole length and transaction id from its first [`OP_SIZE_MIN`] bytes; the
/// length is checked against `size_max`, the CRC is not.
pub fn peek(bytes: &[u8], size_max: usize) -> Result<(u8, usize, TxId), DecodeError> {
    let mut head = Reader::new(bytes, LayoutVersion::CURRENT);
    let code = head.u8()?;
    let len = i64::from(head.i32()?) + 5;
    let bad = DecodeError::Length { code, len, min: OP_SIZE_MIN, max: size_max };
    let Ok(size) = usize::try_from(len) else { return Err(bad) };
    if size < OP_SIZE_MIN || size > size_max {
        return Err(bad);
    }
    Ok((code, size, TxId(head.i64()?)))
}

/// The transaction of the record at the front of `bytes` and how many bytes it takes, its CRC
/// checked; what is in it is not.
pub fn check(bytes: &[u8], size_max: usize) -> Result<(TxId, usize), DecodeError> {
    let (_, size, txid) = peek(bytes, size_max)?;
    signed(bytes, size)?;
    Ok((txid, size))
}

/// The bytes the CRC covers, if it fits them.
fn signed(bytes: &[u8], size: usize) -> Result<&[u8], DecodeError> {
    let mut frame = Reader::new(bytes, LayoutVersion::CURRENT);
    let signed =
        frame.take(size - 4).map_err(|_| DecodeError::Short { needed: size - bytes.len() })?;
    let stored = frame.i32()? as u32;
    let calculated = crc32fast::hash(signed);
    if calculated == stored {
        Ok(signed)
    } else {
        Err(DecodeError::Checksum { calculated, stored })
    }
}

/// The record at the front of `bytes`, and how many bytes it took.
pub fn decode(
    bytes: &[u8],
    layout: LayoutVersion,
    size_max: usize,
) -> Result<(Record, usize), DecodeError> {
    let (code, size, txid) = peek(bytes, size_max)?;
    let signed = signed(bytes, size)?;
    let mut body = Reader::new(signed.get(BODY_AT..).unwrap_or_default(), layout);
    // The CRC fits: a body that ends early is a lie in its lengths, and no reason to read on.
    let inside = |error| match error {
        DecodeError::Short { needed } => DecodeError::Overrun { code, needed },
        other => other,
    };
    let op = EditOp::get(code, &mut body).map_err(inside)?;
    let rpc = if op.has_rpc_ids() {
        let client_id = body.short_bytes().map_err(inside)?;
        RpcIds::new(client_id, body.i32().map_err(inside)?)
    } else {
        RpcIds::NONE
    };
    body.finish()?;
    Ok((Record { txid, op, rpc }, size))
}
