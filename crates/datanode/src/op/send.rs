//! The sending end: header and checksums of a packet by one call, its data by sendfile.

use crate::outliers::DiskCall;
use crate::store::Opened;
use crate::transfer::conn::Conn;
use crate::transfer::throttle::Throttle;
use std::io;
use zerohop_replica::{Error as ReplicaError, ReplicaReader};
use zerohop_transport::net::SendFileError;
use zerohop_wire::checksum_type::{ChecksumType, DataChecksum};
use zerohop_wire::transfer::packet::PacketHeader;

/// Data of a packet that is sent by sendfile. Readers verify a packet in one go before they hand
/// it on, so it should fit a processor's second-level cache.
const PACKET_DATA: usize = 256 << 10;
/// Of data that is sent by sendfile, a byte is read so often, which is timed: four packets.
const TOUCHED_EVERY: u64 = 4 * PACKET_DATA as u64;
/// Up to so much data goes out with its header in one call, copied.
const COPIED_DATA: usize = 64 << 10;
/// Checksums that are read from the meta file at a time.
const SUMS_AHEAD: usize = 64 << 10;
/// Chunk length that is announced when no checksums are sent.
const CHUNK_WITHOUT_SUMS: u32 = 512;

/// A range of a replica, ready to be sent.
pub(crate) struct Sender {
    open: Opened,
    checksum: DataChecksum,
    /// Where the first packet begins: a chunk boundary.
    start: u64,
    /// Where the last packet ends: a chunk boundary, or the end of the replica.
    end: u64,
    sendfile: bool,
}

/// Why a range was not sent.
#[derive(Debug)]
pub(crate) enum SendError {
    /// The connection failed.
    Conn(io::Error),
    /// The replica could not be read.
    Replica(Box<ReplicaError>),
}

impl From<io::Error> for SendError {
    fn from(error: io::Error) -> Self {
        Self::Conn(error)
    }
}

impl From<ReplicaError> for SendError {
    fn from(error: ReplicaError) -> Self {
        Self::Replica(Box::new(error))
    }
}

/// The range is not in the replica.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OutOfRange {
    /// Bytes that could be read.
    pub(crate) len: u64,
}

impl Sender {
    /// Sends `[offset, offset + len)` of `open`, rounded to whole chunks; no `len` means up to the
    /// end of what readers may see.
    pub(crate) fn new(
        open: Opened,
        offset: u64,
        len: Option<u64>,
        with_sums: bool,
        sendfile: bool,
    ) -> Result<Self, OutOfRange> {
        let checksum = if with_sums { Some(open.reader.checksum()) } else { None }
            .or_else(|| DataChecksum::new(ChecksumType::Null, CHUNK_WITHOUT_SUMS).ok())
            .unwrap_or_default();
        let len = len.unwrap_or(open.visible);
        let wanted = offset.checked_add(len).filter(|wanted| *wanted <= open.reader.len());
        let Some(wanted) = wanted else { return Err(OutOfRange { len: open.reader.len() }) };
        let end = checksum.chunk_end(wanted).min(open.reader.len());
        Ok(Self { start: checksum.chunk_start(offset), end, checksum, open, sendfile })
    }

    /// The checksums that are sent.
    pub(crate) fn checksum(&self) -> DataChecksum {
        self.checksum
    }

    /// Where the first packet begins.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Sends `head`, all packets and the empty last one; tells how many bytes of data that were.
    pub(crate) fn send(
        &self,
        conn: &Conn,
        head: Vec<u8>,
        throttle: Option<&Throttle>,
    ) -> Result<u64, SendError> {
        if self.end - self.start <= COPIED_DATA as u64 {
            self.send_at_once(conn, head)?;
        } else {
            self.send_packets(conn, head, throttle)?;
        }
        Ok(self.end - self.start)
    }

    fn header(&self, offset: u64, seqno: i64, data_len: usize) -> PacketHeader {
        PacketHeader {
            offset_in_block: offset as i64,
            seqno,
            last: data_len == 0,
            data_len: data_len as u32,
            sync: false,
        }
    }

    /// A short range: everything in one call.
    fn send_at_once(&self, conn: &Conn, mut out: Vec<u8>) -> Result<(), SendError> {
        let data_len = (self.end - self.start) as usize;
        out.reserve(data_len + self.checksum.sums_len(data_len) + 128);
        let mut seqno = 0;
        if data_len > 0 {
            self.put_header(&mut out, self.start, seqno, data_len);
            seqno += 1;
            self.put_sums(&mut out, self.start, data_len)?;
            let at = out.len();
            out.resize(at + data_len, 0);
            let room = out.get_mut(at..).unwrap_or_default();
            self.read(|reader| reader.read_at(self.start, room))?;
        }
        self.put_header(&mut out, self.end, seqno, 0);
        Ok(conn.write_all(&out)?)
    }

    fn send_packets(
        &self,
        conn: &Conn,
        mut out: Vec<u8>,
        throttle: Option<&Throttle>,
    ) -> Result<(), SendError> {
        let packet_len = self.packet_len();
        let sums_len = self.checksum.sums_len(packet_len).max(1);
        let packets_ahead = (SUMS_AHEAD / sums_len).max(1);
        let mut sums: Vec<u8> = Vec::with_capacity(sums_len * packets_ahead);
        let mut used = 0;
        let mut seqno = 0;
        let mut offset = self.start;
        while offset < self.end {
            let data_len = (self.end - offset).min(packet_len as u64) as usize;
            let need = self.checksum.sums_len(data_len);
            if used + need > sums.len() {
                let ahead = (self.end - offset).min((packet_len * packets_ahead) as u64) as usize;
                sums.clear();
                self.put_sums(&mut sums, offset, ahead)?;
                used = 0;
            }
            self.put_header(&mut out, offset, seqno, data_len);
            out.extend_from_slice(sums.get(used..used + need).unwrap_or_default());
            used += need;
            self.send_packet(conn, &mut out, offset, data_len)?;
            out.clear();
            offset += data_len as u64;
            seqno += 1;
            if let Some(throttle) = throttle {
                throttle.take(data_len as u64);
            }
        }
        self.put_header(&mut out, self.end, seqno, 0);
        Ok(conn.write_all(&out)?)
    }

    fn packet_len(&self) -> usize {
        let chunk = self.checksum.bytes_per_checksum();
        (PACKET_DATA / chunk).max(1) * chunk
    }

    fn send_packet(
        &self,
        conn: &Conn,
        out: &mut Vec<u8>,
        offset: u64,
        data_len: usize,
    ) -> Result<(), SendError> {
        if !self.sendfile {
            let at = out.len();
            out.resize(at + data_len, 0);
            let room = out.get_mut(at..).unwrap_or_default();
            self.read(|reader| reader.read_at(offset, room))?;
            return Ok(conn.write_all(out)?);
        }
        if (offset - self.start).is_multiple_of(TOUCHED_EVERY)
            && self.open.volume.times.history().is_some()
        {
            self.open.reader.touch(offset)?;
        }
        conn.stream().write_more(out)?;
        let data = self.open.reader.data();
        conn.stream().send_file(data, offset, data_len).map_err(|error| match error {
            SendFileError::File(error) => self.open.reader.data_error(error).into(),
            SendFileError::Connection(error) => SendError::Conn(error),
        })
    }

    fn put_header(&self, out: &mut Vec<u8>, offset: u64, seqno: i64, data_len: usize) {
        let sums_len = self.checksum.sums_len(data_len);
        let (bytes, len) = self.header(offset, seqno, data_len).encode(sums_len);
        out.extend_from_slice(bytes.get(..len).unwrap_or_default());
    }

    /// The checksums of `data_len` bytes from `offset` (a chunk boundary) on.
    fn put_sums(
        &self,
        out: &mut Vec<u8>,
        offset: u64,
        data_len: usize,
    ) -> Result<(), ReplicaError> {
        let len = self.checksum.sums_len(data_len);
        if len == 0 {
            return Ok(());
        }
        let at = out.len();
        out.resize(at + len, 0);
        let room = out.get_mut(at..).unwrap_or_default();
        self.read(|reader| reader.read_sums(offset, data_len, room))
    }

    /// Times a read for reports to the NameNode. What sendfile moves is not timed: its time is the client's too.
    fn read<T>(&self, read: impl FnOnce(&ReplicaReader) -> T) -> T {
        self.open.volume.times.time(DiskCall::Read, || read(&self.open.reader))
    }
}
