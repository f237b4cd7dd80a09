//! The receiving end of a pipeline: packets in, forward, verify, write, acknowledge.
//!
//! One thread does all of it. It takes all packets that have arrived, passes them on with one call,
//! writes them with one call and acknowledges them with one call; in between it relays the acks of
//! the downstream DataNode. An acknowledged packet is in this node's page cache, as Apache's last node
//! promises it.
//!
//! Where long packets follow each other closely, they wait for those behind them, so that the file
//! is written in large calls (the page cache keeps it in pieces as large as these). A short packet,
//! which may be a client's hflush, and one that is to be synced wait for nothing.
//!
//! ```text
//! buffer of the connection: | packets, found and checked | part of the next one |
//!                           0                         scanned                  len
//! written <= received <= arrived; a packet is acknowledged when its end <= written
//! ```

mod acks;
mod destination;
mod downstream;
mod flush_policy;
mod packets;
#[cfg(test)]
mod receive_test;
mod upstream;

pub(crate) use self::destination::Sink;
pub(crate) use self::downstream::Downstream;

use self::acks::Acks;
use self::destination::Destination;
use self::flush_policy::{FlushPolicy, Pace};
use self::packets::{find, part, verify};
use self::upstream::Upstream;
use crate::store::write::Writable;
use crate::store::writer::Writer;
use crate::transfer::conn::{Conn, invalid};
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use zerohop_proto::hdfs::Status;
use zerohop_replica::{FlushExtent, Packet as ReplicaPacket};
use zerohop_system::clock;
use zerohop_wire::DataChecksum;
use zerohop_wire::transfer::ack::{PipelineAck, UNKNOWN_SEQNO};
use zerohop_wire::transfer::arrival::{ArrivedPacket, Parsed};

/// How long packets wait for the next ones.
const HOLD_MAX: Duration = Duration::from_millis(1);
/// A writer that sends nothing for so long waits without its buffers: there may be thousands.
const IDLE_AFTER: Duration = Duration::from_secs(2);
/// How long a writer has to read why this node goes.
const LAST_STATUS_LINGER: Duration = Duration::from_secs(1);
const TIMED_OUT: &str = "no packet, no ack";

/// How packets are received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode {
    /// Packets are acknowledged: a client writes. Copies between DataNodes are not.
    pub(crate) acks: bool,
    /// Checksums are verified here: last node, copy, or other checksums on disk.
    pub(crate) verify: bool,
    /// A replica is forced to disk when it is finalized.
    pub(crate) sync_on_close: bool,
    /// Longest wait for a packet or an ack.
    pub(crate) timeout: Duration,
}

/// A run of packets being received.
pub(crate) struct Receiver<'a, S: Sink> {
    upstream: Upstream<'a>,
    acks: Acks,
    destination: Destination<S>,
    /// How the sender sums the data.
    sent: DataChecksum,
    mode: Mode,
    /// Found, passed on and checked, not yet written.
    packets: Vec<ArrivedPacket>,
    scanned: usize,
    /// Where in the block the packets found so far end.
    arrived: u64,
    /// Bytes of the replica that are in its file.
    written: u64,
    pace: Pace,
    flush_policy: FlushPolicy,
    /// The client has sent nothing for [`IDLE_AFTER`]: the buffers are given back until it does.
    is_idle: bool,
}

impl<'a, S: Sink> Receiver<'a, S> {
    /// Receives into `target` what arrives on `conn`.
    pub(crate) fn new(
        conn: &'a mut Conn,
        downstream: Option<Downstream>,
        target: Writable,
        sent: DataChecksum,
        control: Arc<Writer>,
        sink: S,
        mode: Mode,
    ) -> Self {
        let written = target.live.received();
        let mode = Mode { verify: mode.verify || sent != target.live.checksum(), ..mode };
        Self {
            upstream: Upstream::new(conn, control),
            acks: Acks::new(&target.replica, mode.acks, downstream, written),
            destination: Destination::new(target, sink, mode.sync_on_close),
            sent,
            mode,
            packets: Vec::new(),
            scanned: 0,
            arrived: written,
            written,
            pace: Pace::default(),
            flush_policy: FlushPolicy::new(),
            is_idle: false,
        }
    }

    /// Receives until the last packet is written and acknowledged.
    pub(crate) fn run(mut self) -> io::Result<()> {
        self.acks.begin()?;
        self.upstream.conn.set_read_timeout(IDLE_AFTER.min(self.mode.timeout))?;
        let result = self.receive_all();
        if let Err(error) = &result {
            self.send_last_status(error);
        }
        result
    }

    fn receive_all(&mut self) -> io::Result<()> {
        loop {
            let missing = self.scan()?;
            if !self.may_hold() {
                self.write_received()?;
            } else if let Some(extent) = self.flush_policy.flush_extent(self.held_len()) {
                self.pace.kept();
                self.write(extent)?;
            }
            match missing {
                None => return self.finish(),
                Some(len) => self.wait_for_bytes(len)?,
            }
        }
    }

    /// Finds the packets that have arrived, passes them on and checks them. Returns how many bytes
    /// the next one needs from its start on; `None` after the last one.
    fn scan(&mut self) -> io::Result<Option<usize>> {
        let (first, from) = (self.packets.len(), self.scanned);
        let missing = loop {
            match find(self.upstream.conn.buffered(), self.scanned)? {
                Parsed::Whole(packet) => {
                    self.check_sequence(&packet)?;
                    self.arrived = self.arrived.max(packet.end());
                    self.scanned = packet.frame.end;
                    self.pace.note(packet.header.data_len);
                    let last = packet.header.last;
                    self.packets.push(packet);
                    if last {
                        break None;
                    }
                }
                Parsed::Needs(len) => break Some(len),
            }
        };
        if self.scanned > from {
            self.forward(from..self.scanned)?;
            self.verify_packets(first)?;
            self.acks.note(self.packets.get(first..).unwrap_or_default());
        }
        Ok(missing)
    }

    /// Passes received bytes on to the downstream DataNode.
    fn forward(&mut self, range: Range<usize>) -> io::Result<()> {
        let conn = &*self.upstream.conn;
        self.acks.forward(part(conn.buffered(), &range), conn, &mut self.destination)
    }

    /// A packet that begins beyond what came is not of this stream, also one without data: its
    /// end would never be written, and so never acknowledged.
    fn check_sequence(&mut self, packet: &ArrivedPacket) -> io::Result<()> {
        if packet.start() <= self.arrived {
            return Ok(());
        }
        self.refuse(packet.header.seqno, Status::Error);
        Err(invalid(format!(
            "Received an out-of-sequence packet for blk_{} from {} at offset {}. Expecting packet \
             starting at {}",
            self.destination.target.replica.id,
            self.upstream.conn.peer,
            packet.start(),
            self.arrived
        )))
    }

    /// Bytes of data that are received and not written.
    fn held_len(&self) -> u64 {
        self.packets.last().map_or(0, |last| last.end().saturating_sub(self.written))
    }

    /// Whether what is not written yet may wait: more will follow, and none is to be synced.
    fn may_hold(&self) -> bool {
        let Some(newest) = self.packets.last() else { return true };
        self.pace.goes_on(newest.header.data_len)
            && !self.packets.iter().any(|packet| packet.header.sync)
    }

    /// Whether something waits that is to be written soon.
    fn holds(&self) -> bool {
        !self.packets.is_empty() || self.written < self.destination.target.live.received()
    }

    /// Waits for packets, of which the next needs `missing` bytes, and relays acks meanwhile.
    fn wait_for_bytes(&mut self, missing: usize) -> io::Result<()> {
        if !self.is_idle {
            self.reserve(missing);
        }
        // The rest of a long packet is sure to come: a few wake-ups will do. Of a short one every
        // byte is waited for.
        let certain = (self.scanned + missing).saturating_sub(self.upstream.conn.buffered().len());
        self.upstream.conn.expect(certain)?;
        let holds = self.holds();
        if holds && self.upstream.conn.fill_ready()? > 0 {
            return Ok(());
        }
        let limit = match (holds, self.is_idle) {
            (true, _) => HOLD_MAX,
            (false, false) => IDLE_AFTER.min(self.mode.timeout),
            (false, true) => self.mode.timeout.saturating_sub(IDLE_AFTER),
        };
        let (acks, bytes) = match self.acks.answering() {
            Some(downstream) => {
                let limit = limit.min(self.acks.silence_left());
                self.upstream.wait_with(&downstream.conn, limit)?
            }
            _ if holds || self.is_idle => (false, self.upstream.conn.wait_readable(limit)?),
            _ => (false, true),
        };
        if acks {
            self.acks.relay_ready(&mut self.destination)?;
            self.acks.send(self.upstream.conn)?;
        }
        let gave_up = !acks && self.acks.check_silence(self.upstream.conn)?;
        if bytes {
            self.take_bytes(missing)
        } else if !acks && holds {
            self.pace.missed();
            self.write_received()
        } else if !acks && !gave_up {
            self.become_idle()
        } else {
            Ok(())
        }
    }

    /// Makes room for the packets on their way, of which the next one needs `missing` bytes more.
    fn reserve(&mut self, missing: usize) {
        let is_small = missing < flush_policy::SMALL_BUFFER_LEN && !self.pace.has_long();
        self.upstream.conn.reserve(FlushPolicy::buffer_len(self.scanned + missing, is_small));
    }

    fn take_bytes(&mut self, missing: usize) -> io::Result<()> {
        if self.is_idle {
            self.is_idle = false;
            self.reserve(missing);
        }
        match self.upstream.conn.fill() {
            Ok(0) => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the connection ended within the block",
            )),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.become_idle(),
            Err(error) => Err(error),
        }
    }

    /// The client sent nothing for a while: gives all buffers back, or gives up after the whole time.
    fn become_idle(&mut self) -> io::Result<()> {
        if self.is_idle || self.mode.timeout <= IDLE_AFTER {
            return Err(io::Error::new(io::ErrorKind::TimedOut, TIMED_OUT));
        }
        self.is_idle = true;
        self.flush_policy = FlushPolicy::new();
        self.upstream.conn.shrink();
        self.acks.shrink();
        self.destination.target.live.release_memory();
        Ok(())
    }

    /// Writes everything that was received, to the disk if the client asked for that.
    fn write_received(&mut self) -> io::Result<()> {
        if !self.holds() {
            return Ok(());
        }
        let last = self.packets.last().is_some_and(|packet| packet.header.last);
        let sync = self.packets.iter().any(|packet| packet.header.sync);
        if last && sync {
            self.destination.sync_at_end();
        }
        let first = self.packets.first().map(|packet| packet.header.seqno);
        self.write_packets(FlushExtent::All)?;
        if self.written < self.arrived {
            // A reader found the volume full before this thread did.
            self.refuse(first.unwrap_or(UNKNOWN_SEQNO), Status::Error);
            return Err(io::Error::new(
                io::ErrorKind::StorageFull,
                format!("only {} of {} bytes could be written", self.written, self.arrived),
            ));
        }
        if sync && !last {
            let synced = self.destination.sync();
            self.or_refuse(first, synced)?;
        }
        if last && self.acks.answering().is_some() {
            // The DataNodes downstream do the same at this moment.
            self.destination.finalize()?;
        }
        self.acknowledge()
    }

    /// Writes what was received as far as `extent` says, and acknowledges that.
    fn write(&mut self, extent: FlushExtent) -> io::Result<()> {
        self.write_packets(extent)?;
        self.acknowledge()
    }

    fn acknowledge(&mut self) -> io::Result<()> {
        self.acks.acknowledge(self.written, self.upstream.conn, &mut self.destination)
    }

    /// Checks the packets from the one at index `first` on.
    fn verify_packets(&mut self, first: usize) -> io::Result<()> {
        if !self.mode.verify {
            return Ok(());
        }
        let bytes = self.upstream.conn.buffered();
        let mut packets = self.packets.iter().skip(first);
        let bad = packets.find_map(|packet| {
            let failed = verify(self.sent, bytes, packet).err();
            failed.map(|error| (packet.start(), packet.header.seqno, error))
        });
        let Some((start, seqno, error)) = bad else { return Ok(()) };
        self.destination.sink.corrupt();
        self.refuse(seqno, Status::ErrorChecksum);
        Err(invalid(format!(
            "Unexpected checksum mismatch while writing blk_{} from {} at offset {start}: {error}",
            self.destination.target.replica.id, self.upstream.conn.peer
        )))
    }

    fn write_packets(&mut self, extent: FlushExtent) -> io::Result<()> {
        let bytes = self.upstream.conn.buffered();
        let target = &self.destination.target;
        let translate = self.sent != target.live.checksum();
        let packets = self.packets.iter().filter(|packet| !packet.data.is_empty());
        let run: Vec<_> = packets
            .map(|packet| {
                let sums = if translate { &[] } else { part(bytes, &packet.sums) };
                ReplicaPacket { offset: packet.start(), data: part(bytes, &packet.data), sums }
            })
            .collect();
        let first = self.packets.first().map(|packet| packet.header.seqno);
        let begun = clock::now();
        let written = self.destination.write(&run, extent);
        let (packets, took) = (run.len(), clock::since(begun));
        let before = self.written;
        self.written = self.or_refuse(first, written)?;
        let replica = &self.destination.target.replica;
        replica.filled(self.written.saturating_sub(before));
        replica.grown();
        let bytes = self.written.saturating_sub(before);
        self.destination.sink.wrote(packets, bytes, took);
        self.upstream.conn.consume(self.scanned);
        self.scanned = 0;
        self.packets.clear();
        self.destination.sink.progress()
    }

    /// Tells the client that this node cannot take a packet, if that is so.
    fn or_refuse<T>(
        &mut self,
        seqno: Option<i64>,
        result: Result<T, zerohop_replica::Error>,
    ) -> io::Result<T> {
        result.map_err(|error| {
            self.refuse(seqno.unwrap_or(UNKNOWN_SEQNO), Status::Error);
            io::Error::other(error)
        })
    }

    fn refuse(&mut self, seqno: i64, status: Status) {
        self.acks.refuse(seqno, status, self.upstream.conn);
    }

    /// The last packet is written: waits for the acks that are still under way, or finalizes.
    fn finish(&mut self) -> io::Result<()> {
        // Only signs of life, its end, or another request may still come from the client.
        self.upstream.conn.expect(0)?;
        self.upstream.conn.set_read_timeout(self.mode.timeout)?;
        if !self.mode.acks {
            return self.destination.finalize();
        }
        while !self.acks.is_idle() {
            if self.acks.is_downstream_lost() {
                // The client has been told; it recovers the pipeline and hangs up.
                self.acks.send(self.upstream.conn)?;
                while self.upstream.conn.fill()? > 0 {
                    let len = self.upstream.conn.buffered().len();
                    self.upstream.conn.consume(len);
                }
                return Err(invalid("the downstream DataNode was lost before the block's end"));
            }
            self.wait_for_ack()?;
            self.acks.send(self.upstream.conn)?;
        }
        Ok(())
    }

    fn wait_for_ack(&mut self) -> io::Result<()> {
        let Some(downstream) = self.acks.answering() else {
            return Err(invalid("the last packet ends beyond what is written"));
        };
        let silence_left = self.acks.silence_left();
        let (acks, sent) = self.upstream.wait_for_ack(&downstream.conn, silence_left)?;
        if !acks {
            self.acks.check_silence(self.upstream.conn)?;
        }
        if sent {
            self.upstream.receive_late()?;
        }
        if acks { self.acks.relay_ready(&mut self.destination) } else { self.skip_heartbeats() }
    }

    /// After the last packet a client that waits long sends heartbeats; they go downstream too.
    fn skip_heartbeats(&mut self) -> io::Result<()> {
        if let Parsed::Whole(packet) = find(self.upstream.conn.buffered(), 0)? {
            let len = packet.frame.end;
            self.forward(0..len)?;
            self.acks.note(&[packet]);
            self.upstream.conn.consume(len);
        }
        Ok(())
    }

    fn send_last_status(&mut self, error: &io::Error) {
        if self.mode.acks
            && self.upstream.is_stopped()
            && let Some(status) = self.destination.sink.status_on_failure()
        {
            tracing::debug!("blk_{}: {error}", self.destination.target.replica.id);
            drop(self.upstream.conn.write_all(&PipelineAck::own(UNKNOWN_SEQNO, status).encode()));
            // A writer that finds its connection closed first would take this node for dead.
            self.upstream.conn.linger(LAST_STATUS_LINGER);
        }
    }
}
