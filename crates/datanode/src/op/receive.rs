//! The receiving end of a pipeline: packets in, forward, verify, write, acknowledge.
//!
//! One thread does all of it. It takes whatever packets have arrived, passes them on with one call,
//! writes them with one call and acknowledges them with one call; in between it relays the acks of
//! the node below. An acknowledged packet is in this node's page cache, as Apache's last node
//! promises it.

use super::packets::{Found, Packet, find};
use crate::store::replica::Writer;
use crate::store::write::Writable;
use crate::transfer::conn::{Conn, invalid};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_proto::hdfs::Status;
use zerohop_replica::Packet as ReplicaPacket;
use zerohop_transport::net::LOW_WATER_MAX;
use zerohop_wire::DataChecksum;
use zerohop_wire::transfer::ack::{PipelineAck, UNKNOWN_SEQNO};

/// Least room for packets on their way; a larger packet gets as much as it needs.
const BUFFER_LEN: usize = 512 << 10;

/// What the receiver asks of the DataNode around it.
pub(crate) trait Sink {
    /// All bytes are written: finalizes the replica and tells the NameNode.
    fn finalize(&mut self, target: &Writable, sync: bool) -> io::Result<()>;
    /// Called between packets of a copy that somebody waits for.
    fn progress(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// A checksum did not fit.
    fn corrupt(&mut self) {}
    /// What a writer that was told to stop says to its client.
    fn farewell(&self) -> Option<Status> {
        None
    }
}

/// The node below.
pub(crate) struct Mirror {
    pub(crate) conn: Conn,
    /// `host:port`, for logs.
    pub(crate) name: String,
}

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

struct Pending {
    seqno: i64,
    last: bool,
    end: u64,
    since: Instant,
}

/// A run of packets being received.
pub(crate) struct Receiver<'a, S: Sink> {
    conn: &'a mut Conn,
    mirror: Option<Mirror>,
    mirror_failed: bool,
    target: Writable,
    /// How the sender sums the data.
    sent: DataChecksum,
    control: Arc<Writer>,
    sink: S,
    mode: Mode,
    packets: Vec<Packet>,
    pending: VecDeque<Pending>,
    acks: Vec<u8>,
    sync_at_end: bool,
}

impl<'a, S: Sink> Receiver<'a, S> {
    /// Receives into `target` what arrives on `conn`.
    pub(crate) fn new(
        conn: &'a mut Conn,
        mirror: Option<Mirror>,
        target: Writable,
        sent: DataChecksum,
        control: Arc<Writer>,
        sink: S,
        mode: Mode,
    ) -> Self {
        let mode = Mode { verify: mode.verify || sent != target.live.checksum(), ..mode };
        Self {
            conn,
            mirror,
            mirror_failed: false,
            target,
            sent,
            control,
            sink,
            mode,
            packets: Vec::new(),
            pending: VecDeque::new(),
            acks: Vec::new(),
            sync_at_end: mode.sync_on_close,
        }
    }

    /// Receives until the last packet is written and acknowledged.
    pub(crate) fn run(mut self) -> io::Result<()> {
        let result = self.receive_all();
        if let Err(error) = &result {
            self.say_farewell(error);
        }
        result
    }

    fn receive_all(&mut self) -> io::Result<()> {
        loop {
            self.gather()?;
            if self.packets.is_empty() {
                continue;
            }
            let last = self.take_packets()?;
            if last {
                return self.finish();
            }
        }
    }

    /// Finds the packets that have arrived; waits when there are none. Returns without packets
    /// when only acks arrived.
    fn gather(&mut self) -> io::Result<()> {
        self.packets.clear();
        let mut at = 0;
        let missing = loop {
            match find(self.conn.buffered(), at)? {
                Found::Packet(packet) => {
                    at = packet.frame.end;
                    let last = packet.header.last;
                    self.packets.push(packet);
                    if last {
                        return Ok(());
                    }
                }
                Found::Needs(len) => break at + len,
            }
        };
        if self.packets.is_empty() {
            self.conn.reserve(missing.max(BUFFER_LEN));
            // The rest of a long packet is sure to come: a few wake-ups will do. Of a short one
            // every byte is waited for.
            let certain = missing.saturating_sub(self.conn.buffered().len());
            self.conn.expect(if certain >= LOW_WATER_MAX { certain } else { 0 })?;
            self.wait_for_bytes()?;
        }
        Ok(())
    }

    fn wait_for_bytes(&mut self) -> io::Result<()> {
        let (acks, bytes) = match &self.mirror {
            Some(mirror) if !self.mirror_failed && self.mode.acks => {
                wait_both(self.conn, &mirror.conn, self.mode.timeout)?
            }
            _ => (false, true),
        };
        if acks {
            self.relay_ready()?;
            self.send_acks()?;
        }
        if bytes && self.conn.fill()? == 0 {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the connection ended within the block",
            ));
        }
        Ok(())
    }

    /// Handles the gathered packets; true when the last one is among them.
    fn take_packets(&mut self) -> io::Result<bool> {
        let (len, last) =
            self.packets.last().map_or((0, false), |packet| (packet.frame.end, packet.header.last));
        self.forward(len);
        self.verify_packets()?;
        let sync = self.packets.iter().any(|packet| packet.header.sync);
        let written = self.write_packets();
        let written = written.and_then(|()| self.flush(sync && !last));
        if let Err(error) = written {
            self.refuse(Status::Error);
            return Err(error);
        }
        if last && sync {
            self.sync_at_end = true;
        }
        self.conn.consume(len);
        self.sink.progress()?;
        if self.mode.acks {
            self.note_packets();
            if self.mirror.is_none() {
                self.acknowledge_own()?;
            } else if !self.mirror_failed {
                self.relay_ready()?;
            }
            self.send_acks()?;
        }
        Ok(last)
    }

    /// Passes the first `len` received bytes to the node below.
    fn forward(&mut self, len: usize) {
        let Some(mirror) = self.mirror.as_ref().filter(|_| !self.mirror_failed) else { return };
        let frames = self.conn.buffered().get(..len).unwrap_or_default();
        if let Err(error) = mirror.conn.write_all(frames) {
            self.mirror_lost(&error);
        }
    }

    fn mirror_lost(&mut self, error: &io::Error) {
        if let Some(mirror) = &self.mirror {
            tracing::info!(
                "blk_{}: the node below, {}, is lost: {error}",
                self.target.replica.id,
                mirror.name
            );
        }
        self.mirror_failed = true;
        if self.mode.acks {
            let mut ack = PipelineAck::own(UNKNOWN_SEQNO, Status::Success);
            ack.flags.push(Status::Error as u32);
            self.acks.extend_from_slice(&ack.encode());
        }
    }

    fn verify_packets(&mut self) -> io::Result<()> {
        if !self.mode.verify {
            return Ok(());
        }
        let bytes = self.conn.buffered();
        let bad = self.packets.iter().find_map(|packet| {
            verify(self.sent, bytes, packet).err().map(|error| (packet.start(), error))
        });
        let Some((start, error)) = bad else { return Ok(()) };
        self.sink.corrupt();
        self.refuse(Status::ErrorChecksum);
        Err(invalid(format!(
            "Unexpected checksum mismatch while writing blk_{} from {} at offset {start}: {error}",
            self.target.replica.id, self.conn.peer
        )))
    }

    fn write_packets(&mut self) -> io::Result<()> {
        let bytes = self.conn.buffered();
        let translate = self.sent != self.target.live.checksum();
        for packet in self.packets.iter().filter(|packet| !packet.data.is_empty()) {
            let sums = if translate { &[] } else { part(bytes, &packet.sums) };
            let packet =
                ReplicaPacket { offset: packet.start(), data: part(bytes, &packet.data), sums };
            self.target.live.write(&packet).map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// What is acknowledged is in the page cache, or on the disk if the client asked for that.
    fn flush(&mut self, sync: bool) -> io::Result<()> {
        let live = &self.target.live;
        let flushed = if sync { live.sync() } else { live.flush() };
        flushed.map_err(io::Error::other)?;
        self.target.replica.grown();
        Ok(())
    }

    /// Tells the client that this node cannot take the packet.
    fn refuse(&mut self, status: Status) {
        if self.mode.acks {
            let seqno = self.packets.first().map_or(UNKNOWN_SEQNO, |packet| packet.header.seqno);
            self.acks.extend_from_slice(&PipelineAck::own(seqno, status).encode());
            drop(self.send_acks());
        }
    }

    fn note_packets(&mut self) {
        let since = Instant::now();
        self.pending.extend(self.packets.iter().map(|packet| Pending {
            seqno: packet.header.seqno,
            last: packet.header.last,
            end: packet.end(),
            since,
        }));
    }

    /// Acknowledges all packets that are written: nobody is below.
    fn acknowledge_own(&mut self) -> io::Result<()> {
        while let Some(pending) = self.pending.pop_front() {
            self.target.live.set_acked(pending.end);
            if pending.last {
                self.sink.finalize(&self.target, self.sync_at_end)?;
            }
            let ack = PipelineAck::own(pending.seqno, Status::Success);
            self.acks.extend_from_slice(&ack.encode());
        }
        Ok(())
    }

    /// Takes the acks that have arrived from below.
    fn relay_ready(&mut self) -> io::Result<()> {
        let Some(mirror) = self.mirror.as_mut() else { return Ok(()) };
        mirror.conn.reserve(4096);
        if let Err(error) = mirror.conn.fill_ready() {
            self.mirror_lost(&error);
            return Ok(());
        }
        self.relay_buffered()
    }

    fn relay_buffered(&mut self) -> io::Result<()> {
        loop {
            let Some(mirror) = self.mirror.as_mut() else { return Ok(()) };
            let Some((ack, len)) = PipelineAck::take(mirror.conn.buffered()).map_err(invalid)?
            else {
                return Ok(());
            };
            mirror.conn.consume(len);
            self.relay(&ack)?;
        }
    }

    fn relay(&mut self, below: &PipelineAck) -> io::Result<()> {
        if below.statuses().next() == Some(Status::ErrorChecksum) {
            return Err(invalid(
                "the node below reported that the data sent by this one is corrupt",
            ));
        }
        if below.seqno == UNKNOWN_SEQNO {
            let ack = PipelineAck::with_downstream(UNKNOWN_SEQNO, Status::Success, below, 0);
            self.acks.extend_from_slice(&ack.encode());
            return Ok(());
        }
        let pending = self.pending.pop_front().filter(|pending| pending.seqno == below.seqno);
        let Some(pending) = pending else {
            self.mirror_lost(&invalid(format!("unexpected ack of packet {}", below.seqno)));
            return Ok(());
        };
        let waited = u64::try_from(pending.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let ack = PipelineAck::with_downstream(pending.seqno, Status::Success, below, waited);
        if ack.is_success() {
            self.target.live.set_acked(pending.end);
        }
        if pending.last {
            self.sink.finalize(&self.target, self.sync_at_end)?;
        }
        self.acks.extend_from_slice(&ack.encode());
        Ok(())
    }

    fn send_acks(&mut self) -> io::Result<()> {
        if !self.acks.is_empty() {
            self.conn.write_all(&self.acks)?;
            self.acks.clear();
        }
        Ok(())
    }

    /// The last packet is written: waits for the acks that are still under way, or finalizes.
    fn finish(&mut self) -> io::Result<()> {
        if !self.mode.acks {
            return self.sink.finalize(&self.target, self.sync_at_end);
        }
        // Only signs of life, or its end, may still come from the client.
        self.conn.expect(0)?;
        while !self.pending.is_empty() {
            if self.mirror_failed {
                // The client has been told; it recovers the pipeline and hangs up.
                self.send_acks()?;
                while self.conn.fill()? > 0 {
                    let len = self.conn.buffered().len();
                    self.conn.consume(len);
                }
                return Err(invalid("the node below was lost before the block's end"));
            }
            self.wait_for_ack()?;
            self.send_acks()?;
        }
        Ok(())
    }

    fn wait_for_ack(&mut self) -> io::Result<()> {
        let Some(mirror) = self.mirror.as_ref() else { return Ok(()) };
        let (acks, bytes) = wait_both(self.conn, &mirror.conn, self.mode.timeout)?;
        if bytes && self.conn.fill_ready().is_err() {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the client left before the last ack",
            ));
        }
        if acks { self.relay_ready() } else { self.skip_heartbeats() }
    }

    /// After the last packet a client that waits long sends heartbeats; they go below too.
    fn skip_heartbeats(&mut self) -> io::Result<()> {
        self.packets.clear();
        if let Found::Packet(packet) = find(self.conn.buffered(), 0)? {
            let len = packet.frame.end;
            self.packets.push(packet);
            self.forward(len);
            self.note_packets();
            self.conn.consume(len);
        }
        Ok(())
    }

    fn say_farewell(&mut self, error: &io::Error) {
        if self.mode.acks
            && self.control.is_stopped()
            && let Some(status) = self.sink.farewell()
        {
            tracing::debug!("blk_{}: {error}", self.target.replica.id);
            drop(self.conn.write_all(&PipelineAck::own(UNKNOWN_SEQNO, status).encode()));
        }
    }
}

fn part<'a>(bytes: &'a [u8], range: &std::ops::Range<usize>) -> &'a [u8] {
    bytes.get(range.clone()).unwrap_or_default()
}

/// Checks the sender's checksums of a packet, which may begin within a chunk.
fn verify(sent: DataChecksum, bytes: &[u8], packet: &Packet) -> io::Result<()> {
    if packet.sums.is_empty() || packet.data.is_empty() {
        return Ok(());
    }
    sent.verify(part(bytes, &packet.data), part(bytes, &packet.sums)).map_err(invalid)
}

/// Waits until the node below or the one above sent something: `(below, above)`.
fn wait_both(above: &Conn, below: &Conn, timeout: Duration) -> io::Result<(bool, bool)> {
    let mut fds = [
        PollFd::new(&**below.socket(), PollFlags::IN),
        PollFd::new(&**above.socket(), PollFlags::IN),
    ];
    let limit = Timespec::try_from(timeout).unwrap_or(Timespec { tv_sec: 60, tv_nsec: 0 });
    loop {
        match poll(&mut fds, Some(&limit)) {
            Ok(0) => return Err(io::Error::new(io::ErrorKind::TimedOut, "no packet, no ack")),
            Ok(_) => {
                let [below, above] = &fds;
                return Ok((!below.revents().is_empty(), !above.revents().is_empty()));
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
