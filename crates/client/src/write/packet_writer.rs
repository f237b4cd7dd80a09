//! What a caller gives becomes packets; flush, sync and the end of blocks.

use super::call::Need;
use super::packet::{Chunks, Packet};
use super::stream::Stream;
use crate::error::{Error, Result};
use crate::types::{FileStatus, LocatedBlock, SyncOptions};
use std::io;
use zerohop_wire::checksum_type::DataChecksum;
use zerohop_wire::transfer::block_write::Until;

/// Bytes of a file's first packet: small files do not need a large buffer.
const FIRST_PACKET_LEN: usize = 64 << 10;
/// Bytes that a caller puts into a packet at a time: they are summed while they are in cache.
const FILL_STEP: usize = 128 << 10;

/// What a caller wants done, and how far it is.
pub(crate) enum Work<D> {
    /// Writing bytes.
    Write { data: D, taken: usize },
    /// Making what was written visible to readers, or durable.
    Flush { is_sync: bool, options: SyncOptions, progress: FlushProgress },
    /// Sending the rest, and the end of the last block.
    Finish { is_queued: bool },
    /// Ending a block that is full.
    EndFullBlock,
    /// Sending what is queued.
    Send,
    /// Recovering the pipeline from a failure between two calls.
    Repair,
}

/// How far a flush is.
#[derive(Clone, Copy)]
pub(crate) enum FlushProgress {
    New,
    /// All packets are queued.
    Queued,
    /// The NameNode was asked to make the list of blocks durable.
    Persisting,
}

impl<D> Work<D> {
    pub(crate) fn write(data: D) -> Self {
        Self::Write { data, taken: 0 }
    }

    pub(crate) fn hflush() -> Self {
        let (is_sync, options) = (false, SyncOptions::default());
        Self::Flush { is_sync, options, progress: FlushProgress::New }
    }

    pub(crate) fn hsync(options: SyncOptions) -> Self {
        Self::Flush { is_sync: true, options, progress: FlushProgress::New }
    }

    pub(super) fn finish() -> Self {
        Self::Finish { is_queued: false }
    }
}

/// The packets of a file.
pub(super) struct PacketWriter {
    pub(super) stream: Stream,
    checksum: DataChecksum,
    current: Option<Packet>,
    /// Bytes of the current block given by the caller.
    block_pos: u64,
    /// The last chunk's bytes, where a flush sent it before it was full: they go into the next
    /// packet again.
    begun: Vec<u8>,
    /// Bytes of a first chunk that fills up one of the replica; 0 once chunks are aligned.
    append_chunk_len: usize,
    /// Value of `block_pos` at the last flush.
    flushed_pos: u64,
    /// Bytes of the file with those given by the caller.
    pub(super) pos: u64,
    has_sent: bool,
    /// The end of each block is synced: asked for at the start, or since the first `hsync`.
    sync_block: bool,
}

impl PacketWriter {
    pub(super) fn new(stream: Stream, checksum: DataChecksum, sync_block: bool) -> Self {
        Self {
            stream,
            checksum,
            current: None,
            block_pos: 0,
            begun: Vec::new(),
            append_chunk_len: 0,
            flushed_pos: 0,
            pos: 0,
            has_sent: false,
            sync_block,
        }
    }

    /// Continues the last block, first with a packet that fills up its last chunk.
    pub(super) fn continue_block(&mut self, last: LocatedBlock, status: &FileStatus) -> Result<()> {
        if status.len.is_multiple_of(status.block_size) {
            let src = &self.stream.file.src;
            return Err(Error::plain(format!("The last block for file {src} is full.")));
        }
        let chunk_len = self.checksum.bytes_per_checksum();
        let used = (last.block.block.len % chunk_len as u64) as usize;
        self.append_chunk_len = if used > 0 { chunk_len - used } else { 0 };
        self.block_pos = last.block.block.len;
        self.stream.continue_block(last);
        Ok(())
    }

    /// Continues work until it is done or needs the NameNode.
    pub(super) fn step<D: AsRef<[u8]>>(&mut self, work: &mut Work<D>) -> Result<Option<Need>> {
        match work {
            Work::Write { data, taken } => self.write(data.as_ref(), taken),
            Work::Flush { is_sync, options, progress } => self.flush(*is_sync, *options, progress),
            Work::Finish { is_queued } => {
                if !std::mem::replace(is_queued, true) {
                    self.queue_all(self.block_pos > 0);
                }
                self.wait_for_queued()
            }
            Work::EndFullBlock => {
                self.end_full_block();
                self.stream.advance(Until::Sent)
            }
            Work::Send => self.stream.advance(Until::Sent),
            Work::Repair => {
                self.stream.begin_repair()?;
                self.stream.advance(Until::Sent)
            }
        }
    }

    fn write(&mut self, data: &[u8], taken: &mut usize) -> Result<Option<Need>> {
        loop {
            let need = self.stream.advance(Until::Sent)?;
            let rest = data.get(*taken..).unwrap_or_default();
            if need.is_some() || rest.is_empty() {
                return Ok(need);
            }
            if self.is_block_full() {
                self.queue_end();
                continue;
            }
            let filled = self.packet().fill(rest);
            *taken += filled;
            self.note_filled(filled);
        }
    }

    pub(super) fn try_write(&mut self, data: &[u8]) -> bool {
        let Some(packet) = self.current.as_mut().filter(|packet| packet.room() > data.len()) else {
            return false;
        };
        let taken = packet.fill(data) as u64;
        self.block_pos += taken;
        self.pos += taken;
        true
    }

    /// Lets `input` put bytes straight into the packet that is being filled, with one copy fewer than
    /// [`write`](Self::write).
    pub(super) fn fill_with(
        &mut self,
        input: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let is_fresh = self.current.is_none();
        let filled = self.packet().fill_with(FILL_STEP, input);
        match filled {
            Ok(taken) if taken > 0 => self.note_filled(taken),
            _ if is_fresh => self.put_back(),
            _ => {}
        }
        filled
    }

    /// Takes a packet back into which nothing was put: packets without data mean something else.
    fn put_back(&mut self) {
        if let Some(packet) = self.current.take() {
            self.begun = packet.begun_chunk().to_vec();
            self.stream.buffers.put_back(packet);
        }
    }

    /// The packet that is being filled.
    fn packet(&mut self) -> &mut Packet {
        let packet = match self.current.take() {
            Some(packet) => packet,
            None => self.next_packet(),
        };
        self.current.insert(packet)
    }

    /// Counts `len` bytes that were put into the packet, and queues it when it or the block is full.
    fn note_filled(&mut self, len: usize) {
        self.block_pos += len as u64;
        self.pos += len as u64;
        if self.is_block_full() || self.current.as_ref().is_some_and(Packet::is_full) {
            self.queue_current();
        }
    }

    fn is_block_full(&self) -> bool {
        self.block_pos > 0 && self.block_pos == self.stream.block_size
    }

    /// A full block is ended by what comes after it: an `hsync` that comes first can still sync it.
    fn end_full_block(&mut self) {
        if self.is_block_full() {
            self.queue_end();
        }
    }

    /// A packet at the last chunk's start, with what a flush has sent of that chunk already.
    fn next_packet(&mut self) -> Packet {
        let chunk_len = self.checksum.bytes_per_checksum();
        if self.append_chunk_len > 0 && self.block_pos.is_multiple_of(chunk_len as u64) {
            self.append_chunk_len = 0;
        }
        let chunks = match self.append_chunk_len {
            0 => Chunks::whole(self.checksum),
            first_len => Chunks { checksum: self.checksum, first_len },
        };
        let offset = self.block_pos - self.begun.len() as u64;
        let packet_len = self.stream.file.client.settings.packet_len;
        let packet_len = if self.has_sent { packet_len } else { packet_len.min(FIRST_PACKET_LEN) };
        let rest = usize::try_from(self.stream.block_size.saturating_sub(offset));
        let capacity = chunks.capacity_at(offset, packet_len).min(rest.unwrap_or(usize::MAX));
        let mut packet = self.stream.buffers.packet(chunks, capacity, offset);
        packet.fill(&std::mem::take(&mut self.begun));
        packet
    }

    fn queue_current(&mut self) {
        if let Some(packet) = self.current.take() {
            self.has_sent = true;
            self.stream.queue(packet);
        }
    }

    /// Ends the block with an empty packet.
    fn queue_end(&mut self) {
        self.begun.clear();
        self.append_chunk_len = 0;
        let mut last = self.empty_packet();
        last.is_last = true;
        last.sync = self.sync_block;
        self.block_pos = 0;
        self.flushed_pos = 0;
        self.stream.queue(last);
    }

    /// Queues what is there, and the end of the block.
    fn queue_all(&mut self, ends_block: bool) {
        self.queue_current();
        if ends_block {
            self.queue_end();
        }
    }

    fn wait_for_queued(&mut self) -> Result<Option<Need>> {
        self.stream.advance(Until::Acknowledged(self.stream.buffers.last_seqno()))
    }

    fn empty_packet(&mut self) -> Packet {
        self.stream.buffers.packet(Chunks::whole(self.checksum), 0, self.block_pos)
    }

    /// Sends what is there and waits until every DataNode has it (`hflush`), or has it on disk. Then the list of
    /// blocks is made durable at the NameNode, once for each new block or pipeline.
    fn flush(
        &mut self,
        is_sync: bool,
        options: SyncOptions,
        progress: &mut FlushProgress,
    ) -> Result<Option<Need>> {
        if let FlushProgress::New = progress {
            self.begin_flush(is_sync, options);
            *progress = FlushProgress::Queued;
        }
        if let FlushProgress::Queued = progress {
            let need = self.wait_for_queued()?;
            if need.is_some() {
                return Ok(need);
            }
            if self.stream.persist_blocks || options.update_length {
                *progress = FlushProgress::Persisting;
                let len = self.stream.block.as_ref().map(|block| block.block.len);
                return Ok(Some(Need::Persist(len)));
            }
        }
        self.stream.take_answer()?;
        self.stream.persist_blocks = false;
        self.stream.is_flushed = true;
        Ok(None)
    }

    /// Queues what is there for a flush.
    fn begin_flush(&mut self, is_sync: bool, options: SyncOptions) {
        let ends_block = (options.end_block && self.block_pos > 0) || self.is_block_full();
        // From now on all of the file is wanted on disk, not only the block of this call.
        self.sync_block |= is_sync;
        let has_news = self.flushed_pos != self.block_pos;
        if let Some(packet) = &self.current {
            self.begun = packet.begun_chunk().to_vec();
        }
        if self.current.is_none() && is_sync && !ends_block && self.block_pos > 0 {
            self.current = Some(self.empty_packet());
        }
        debug_assert!(has_news || self.current.as_ref().is_none_or(|p| p.data_len() == 0));
        self.flushed_pos = self.block_pos;
        if let Some(packet) = &mut self.current {
            packet.sync = is_sync;
        }
        self.queue_all(ends_block);
    }
}

#[cfg(test)]
#[path = "packet_writer_test.rs"]
mod tests;
