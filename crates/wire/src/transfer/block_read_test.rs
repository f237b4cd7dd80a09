//! Ranges read from what a DataNode sends, in every order of arrival.

use super::*;
use crate::checksum_type::ChecksumType;
use crate::transfer::packet::PACKET_LEN_MAX;
use proptest::prelude::*;
use zerohop_proto::hdfs::ReadOpChecksumInfoProto;

const CHUNK: u32 = 16;

fn checksum() -> DataChecksum {
    DataChecksum::new(ChecksumType::Crc32c, CHUNK).unwrap()
}

fn block(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 + at / 256) as u8).collect()
}

fn packet(seqno: i64, at: usize, data: &[u8]) -> Vec<u8> {
    let sums_len = checksum().sums_len(data.len());
    let mut sums = vec![0; sums_len];
    let algorithm = checksum().kind().algorithm().unwrap();
    zerohop_checksum::compute(algorithm, CHUNK as usize, data, &mut sums);
    let header = PacketHeader {
        offset_in_block: at as i64,
        seqno,
        last: data.is_empty(),
        data_len: data.len() as u32,
        sync: false,
    };
    let (prefix, len) = header.encode(sums_len);
    [&prefix[..len], &sums, data].concat()
}

/// What a DataNode sends for a range: its answer, and the packets of the chunks around it.
fn sent(block: &[u8], range: &Range<u64>, packet_len: usize) -> (BlockOpResponseProto, Vec<u8>) {
    let start = checksum().chunk_start(range.start) as usize;
    let end = (checksum().chunk_end(range.end) as usize).min(block.len());
    let mut bytes = Vec::new();
    let mut seqno = 0;
    for at in (start..end).step_by(packet_len) {
        bytes.extend(packet(seqno, at, &block[at..end.min(at + packet_len)]));
        seqno += 1;
    }
    bytes.extend(packet(seqno, end, &[]));
    let answer = BlockOpResponseProto {
        status: Status::Success.into(),
        read_op_checksum_info: Some(ReadOpChecksumInfoProto {
            checksum: checksum().into(),
            chunk_offset: start as u64,
        }),
        ..Default::default()
    };
    (answer, bytes)
}

/// A connection that gives at most `piece` bytes at a time.
struct Arriving<'a> {
    bytes: &'a [u8],
    piece: usize,
    arrived: usize,
}

impl Arriving<'_> {
    /// The bytes from `at` on, of which `len` are there.
    fn need(&mut self, at: usize, len: usize) -> &[u8] {
        while self.arrived < at + len {
            assert!(self.arrived < self.bytes.len(), "more is asked for than was sent");
            self.arrived = (self.arrived + self.piece).min(self.bytes.len());
        }
        &self.bytes[at..self.arrived]
    }
}

/// Reads as a client does, into room for `room` bytes at a time.
fn read(
    (answer, bytes): &(BlockOpResponseProto, Vec<u8>),
    options: &ReadOptions,
    piece: usize,
    room: usize,
) -> Result<Vec<u8>, ReadFailure> {
    let mut state = BlockRead::begin(answer, options)?;
    let mut from = Arriving { bytes, piece, arrived: 0 };
    let (mut at, mut out) = (0, Vec::new());
    let wanted = (options.range.end - options.range.start) as usize;
    loop {
        match state.next(room) {
            Next::End if state.is_complete() => break,
            Next::Head | Next::End => {
                let mut len = 0;
                at += loop {
                    match state.take_head(from.need(at, len))? {
                        Parsed::Whole(taken) => break taken,
                        Parsed::Needs(more) => {
                            assert!(more > len, "asked for the same again");
                            len = more;
                        }
                    }
                };
            }
            Next::Data(len) => {
                let data = from.need(at, len)[..len].to_vec();
                state.check(&data)?;
                out.extend(data);
                at += len;
            }
            Next::Chunk { len, skip } => {
                let data = from.need(at, len)[..len].to_vec();
                state.check(&data)?;
                let rest = wanted - out.len();
                out.extend(data[skip..].iter().take(rest));
                at += len;
            }
        }
    }
    assert_eq!(at, bytes.len(), "all of it is taken");
    Ok(out)
}

fn options(range: Range<u64>) -> ReadOptions {
    ReadOptions { range, verify: true, packet_len_max: PACKET_LEN_MAX }
}

#[test]
fn a_range_arrives_whole_whatever_the_size_of_the_pieces() {
    let block = block(100);
    let sent = sent(&block, &(5..90), 32);
    for piece in 1..=sent.1.len() {
        for room in [1, 15, 16, 17, 40, 1000] {
            let found = read(&sent, &options(5..90), piece, room).unwrap();
            assert_eq!(found, block[5..90], "pieces of {piece}, room for {room}");
        }
    }
}

proptest! {
    #[test]
    fn any_range_is_what_the_block_has(
        len in 1usize..400, ends in any::<[u16; 2]>(), chunks in 1usize..6, piece in 1usize..200,
        room in 1usize..200, verify: bool,
    ) {
        let block = block(len);
        let [a, b] = ends.map(|end| u64::from(end) % (len as u64 + 1));
        let range = a.min(b)..a.max(b);
        prop_assume!(!range.is_empty());
        let sent = sent(&block, &range, chunks * CHUNK as usize);
        let options = ReadOptions { verify, ..options(range.clone()) };
        let found = read(&sent, &options, piece, room);
        let wanted = block[range.start as usize..range.end as usize].to_vec();
        prop_assert_eq!(found, Ok(wanted));
    }

    /// For any bytes that a DataNode sends, the reader consumes no more than it was given, and ends.
    #[test]
    fn random_bytes_never_panic(bytes: Vec<u8>) {
        let (answer, _) = sent(&block(50), &(0..50), 32);
        let mut state = BlockRead::begin(&answer, &options(0..50)).unwrap();
        if let Ok(Parsed::Whole(taken)) = state.take_head(&bytes) {
            prop_assert!(taken <= bytes.len());
        }
    }
}

#[test]
fn corrupt_data_is_named_by_its_place() {
    let (answer, mut bytes) = sent(&block(100), &(0..100), 64);
    let last = bytes.len() - packet(9, 100, &[]).len() - 1;
    bytes[last] ^= 1;
    let found = read(&(answer, bytes), &options(0..100), 1000, 1000);
    assert!(matches!(found, Err(ReadFailure::Corrupt { at: 96, .. })), "{found:?}");
}

#[test]
fn what_does_not_follow_is_refused() {
    let block = block(100);
    let (answer, bytes) = sent(&block, &(0..100), 64);
    let fails = |bytes: Vec<u8>| read(&(answer.clone(), bytes), &options(0..100), 1000, 1000);
    let first = packet(0, 0, &block[..64]);
    let lost = [first.clone(), packet(2, 64, &block[64..])].concat();
    assert!(matches!(fails(lost), Err(ReadFailure::OutOfOrder { .. })));
    let gap = [first.clone(), packet(1, 80, &block[80..])].concat();
    assert!(matches!(fails(gap), Err(ReadFailure::OutOfOrder { .. })));
    let early = [first.clone(), packet(1, 64, &[])].concat();
    assert_eq!(fails(early), Err(ReadFailure::EndedEarly));
    let mut torn = bytes;
    torn[0] = 0xff;
    assert!(matches!(fails(torn), Err(ReadFailure::Packet(_))));
    let refusal = BlockOpResponseProto {
        status: Status::ErrorAccessToken.into(),
        message: Some("expired".to_owned()),
        ..Default::default()
    };
    let status = Status::ErrorAccessToken;
    let found = BlockRead::begin(&refusal, &options(0..1)).map(drop);
    assert_eq!(found, Err(ReadFailure::Refused { status, message: "expired".to_owned() }));
    let found = BlockRead::begin(&answer, &options(16..20)).map(drop);
    assert_eq!(found, Err(ReadFailure::FirstChunk { found: 0, wanted: 16 }));
}
