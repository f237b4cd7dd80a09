//! Packets found in a receive buffer.

use crate::transfer::conn::invalid;
use std::io;
use std::ops::Range;
use zerohop_wire::DataChecksum;
use zerohop_wire::transfer::arrival::{ArrivedPacket, Parsed};
use zerohop_wire::transfer::packet::PACKET_LEN_MAX;

/// Looks for a packet at a place of a receive buffer.
pub(super) fn find(bytes: &[u8], at: usize) -> io::Result<Parsed<ArrivedPacket>> {
    ArrivedPacket::find(bytes, at, PACKET_LEN_MAX).map_err(invalid)
}

/// The bytes of a part of a packet.
pub(super) fn part<'a>(bytes: &'a [u8], range: &Range<usize>) -> &'a [u8] {
    bytes.get(range.clone()).unwrap_or_default()
}

/// Checks the sender's checksums of a packet, which may begin within a chunk.
pub(super) fn verify(sent: DataChecksum, bytes: &[u8], packet: &ArrivedPacket) -> io::Result<()> {
    if packet.sums.is_empty() || packet.data.is_empty() {
        return Ok(());
    }
    sent.verify(part(bytes, &packet.data), part(bytes, &packet.sums)).map_err(invalid)
}
