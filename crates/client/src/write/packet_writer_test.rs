//! What a file's `hsync` asks of the DataNodes, played by the test.

use super::*;
use crate::write::advance::tests::stream;
use std::io::{Read, Write as _};
use std::net::TcpStream;
use std::thread::JoinHandle;
use zerohop_proto::hdfs::Status;
use zerohop_wire::transfer::ack::PipelineAck;
use zerohop_wire::transfer::packet::{LENGTHS_LEN, PACKET_LEN_MAX, PacketHeader, PacketLengths};

const BLOCK_SIZE: u64 = 2048;

/// Acknowledges every packet until the connection ends; gives the headers.
fn acknowledge(mut conn: TcpStream) -> JoinHandle<Vec<PacketHeader>> {
    std::thread::spawn(move || {
        let mut headers = Vec::new();
        let mut lengths = [0; LENGTHS_LEN];
        while conn.read_exact(&mut lengths).is_ok() {
            let lengths = PacketLengths::decode(lengths, PACKET_LEN_MAX).unwrap();
            let mut rest = vec![0; lengths.rest_len()];
            conn.read_exact(&mut rest).unwrap();
            let header = PacketHeader::decode(&rest[..lengths.header_len]).unwrap();
            let below = PipelineAck::own(header.seqno, Status::Success);
            let below = PipelineAck::with_downstream(header.seqno, Status::Success, &below, 0);
            let ack = PipelineAck::with_downstream(header.seqno, Status::Success, &below, 0);
            conn.write_all(&ack.encode()).unwrap();
            headers.push(header);
        }
        headers
    })
}

/// Whether each packet was a last one, and to be synced.
fn flags(work: impl FnOnce(&mut PacketWriter)) -> Vec<(bool, bool)> {
    let (mut stream, datanode) = stream();
    stream.block_size = BLOCK_SIZE;
    let datanode = acknowledge(datanode);
    let mut packets = PacketWriter::new(stream, DataChecksum::default(), false);
    work(&mut packets);
    drop(packets);
    datanode.join().unwrap().iter().map(|header| (header.last, header.sync)).collect()
}

/// Does work for which the NameNode need not be asked.
fn run(packets: &mut PacketWriter, mut work: Work<&[u8]>) {
    assert!(packets.step(&mut work).unwrap().is_none());
}

/// Only the block of the call was synced: what came after it was lost with the power, though the
/// program had asked for a file on disk.
#[test]
fn after_the_first_hsync_every_block_is_synced_at_its_end() {
    let seen = flags(|packets| {
        run(packets, Work::write(&[1; 100]));
        run(packets, Work::hsync(SyncOptions::default()));
        run(packets, Work::write(&[2; 100]));
        run(packets, Work::finish());
    });
    assert_eq!(seen, [(false, true), (false, false), (true, true)]);
    let never = flags(|packets| {
        run(packets, Work::write(&[1; 100]));
        run(packets, Work::hflush());
        run(packets, Work::finish());
    });
    assert_eq!(never, [(false, false), (true, false)]);
}

/// A block that was just full had been ended before, and an `hsync` behind it synced nothing.
#[test]
fn an_hsync_at_the_end_of_a_full_block_syncs_it() {
    let seen = flags(|packets| {
        run(packets, Work::write(&[1; BLOCK_SIZE as usize]));
        run(packets, Work::hsync(SyncOptions::default()));
        assert_eq!((packets.block_pos, packets.pos), (0, BLOCK_SIZE));
    });
    assert_eq!(seen, [(false, false), (true, true)]);
}
