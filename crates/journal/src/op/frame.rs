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

/// The record at the front of `bytes`, and how many bytes it took.
pub fn decode(
    bytes: &[u8],
    layout: LayoutVersion,
    size_max: usize,
) -> Result<(Record, usize), DecodeError> {
    let (code, size, txid) = peek(bytes, size_max)?;
    let mut whole = Reader::new(bytes, layout);
    let frame = whole.take(size)?;
    let (signed, stored) = frame.split_at(size - 4);
    let calculated = crc32fast::hash(signed);
    let stored = Reader::new(stored, layout).i32()? as u32;
    if calculated != stored {
        return Err(DecodeError::Checksum { calculated, stored });
    }
    let mut body = Reader::new(signed.get(BODY_AT..).unwrap_or_default(), layout);
    let op = EditOp::get(code, &mut body)?;
    let rpc = if op.has_rpc_ids() {
        let client_id = body.short_bytes()?;
        RpcIds::new(client_id, body.i32()?)
    } else {
        RpcIds::NONE
    };
    body.finish()?;
    Ok((Record { txid, op, rpc }, size))
}
