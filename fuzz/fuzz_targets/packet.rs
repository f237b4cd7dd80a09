//! Packet lengths and header, and a pipeline's acknowledgement.
#![no_main]
use libfuzzer_sys::fuzz_target;
use zerohop_wire::transfer::packet::{LENGTHS_LEN, PACKET_LEN_MAX};
use zerohop_wire::transfer::{PacketHeader, PacketLengths, PipelineAck};

fuzz_target!(|bytes: &[u8]| {
    let _ = PipelineAck::take(bytes);
    let Some((lengths, rest)) = bytes.split_first_chunk::<LENGTHS_LEN>() else { return };
    let Ok(lengths) = PacketLengths::decode(*lengths, PACKET_LEN_MAX) else { return };
    let Some(header) = rest.get(..lengths.header_len) else { return };
    if let Ok(header) = PacketHeader::decode(header) {
        let _ = lengths.sums_len(&header);
    }
});
