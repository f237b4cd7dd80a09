//! Numbers of a segment's layout.

/// Bytes before the first record.
pub const HEADER_LEN: u64 = 8;

/// The code that means no record: what padding is made of.
pub(crate) const OP_INVALID: u8 = 0xff;
