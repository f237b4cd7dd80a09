//! A file being written: what the caller gives becomes packets; flush, sync and close.

use super::allocate::next_delay;
use super::create::{block_flags, create_file, reject_unsupported};
use super::packet::{Chunks, Packet};
use super::stream::Stream;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::lease::Keepable;
use crate::namenode::Writing;
use crate::types::{AppendOptions, CreateOptions, FileStatus, SyncOptions};
use parking_lot::Mutex;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use zerohop_transport::waits::WAITS;
use zerohop_wire::checksum_type::DataChecksum;

/// Bytes of a file's first packet: small files do not need a large buffer.
const FIRST_PACKET_LEN: usize = 64 << 10;
/// Bytes that a caller puts into a packet at a time: they are summed while they are in cache.
const FILL_STEP: usize = 128 << 10;

/// A file being written. What is not async blocks the thread.
pub(crate) struct Writer {
    src: String,
    client: Arc<Client>,
    is_open: AtomicBool,
    state: Mutex<State>,
}

struct State {
    stream: Stream,
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
    pos: u64,
    has_sent: bool,
    /// The end of each block is synced: asked for at the start, or since the first `hsync`.
    sync_block: bool,
    failure: Option<Error>,
}

impl Writer {
    pub(crate) async fn create(
        client: &Arc<Client>,
        src: String,
        options: &CreateOptions,
    ) -> Result<Arc<Self>> {
        let settings = &client.settings;
        let checksum = options.checksum.unwrap_or(settings.checksum);
        let block_size = options.block_size.unwrap_or(settings.block_size);
        let chunk_len = checksum.bytes_per_checksum() as u64;
        if !block_size.is_multiple_of(chunk_len) {
            return Err(Error::invalid(format!(
                "Invalid values: dfs.bytes-per-checksum (={chunk_len}) must divide block size \
                 (={block_size})."
            )));
        }
        let status = create_file(client, &src, options, block_size).await?;
        reject_unsupported(&src, &status)?;
        let mut stream = Stream::new(client, &src, &status, checksum);
        stream.lazy_persist = options.lazy_persist;
        stream.favored = options.favored_nodes.clone();
        stream.block_flags = block_flags(options);
        Ok(Self::start(client, src, State::new(stream, checksum, options.sync_block)))
    }

    pub(crate) async fn append(
        client: &Arc<Client>,
        src: String,
        options: &AppendOptions,
    ) -> Result<Arc<Self>> {
        let (last, status) = client.namenode.append(&src, &client.name, options).await?;
        reject_unsupported(&src, &status)?;
        let checksum = client.settings.checksum;
        let stream = Stream::new(client, &src, &status, checksum);
        let mut state = State::new(stream, checksum, options.sync_block);
        state.pos = status.len;
        match last {
            Some(last) if !options.new_block => state.continue_block(last, &status)?,
            Some(last) => state.stream.block = Some(last.block),
            None => {}
        }
        Ok(Self::start(client, src, state))
    }

    fn start(client: &Arc<Client>, src: String, state: State) -> Arc<Self> {
        let writer = Arc::new(Self {
            src,
            client: Arc::clone(client),
            is_open: AtomicBool::new(true),
            state: Mutex::new(state),
        });
        let weak: Weak<Self> = Arc::downgrade(&writer);
        client.leases.keep(weak);
        writer
    }

    pub(crate) fn path(&self) -> &str {
        &self.src
    }

    pub(crate) fn pos(&self) -> u64 {
        self.state.lock().pos
    }

    pub(crate) fn file_id(&self) -> u64 {
        self.state.lock().stream.file_id
    }

    /// DataNodes of the current pipeline.
    pub(crate) fn replicas(&self) -> usize {
        self.state.lock().stream.nodes.len()
    }

    pub(crate) fn write(&self, data: &[u8]) -> Result<()> {
        self.guarded(|state| state.write(data))
    }

    /// Writes `data` if that waits for nothing: the packet that is being filled has room for it and
    /// more. False, and nothing is written, if not.
    pub(crate) fn try_write(&self, data: &[u8]) -> Result<bool> {
        let Some(mut state) = self.state.try_lock().filter(|_| self.is_open()) else {
            return Ok(false);
        };
        match &state.failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(state.try_write(data)),
        }
    }

    /// Writes what `input` puts into a packet; see [`State::write_with`]. `input`'s own error is the
    /// inner one, after which the file is as it was.
    pub(crate) fn write_with(
        &self,
        input: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> Result<io::Result<usize>> {
        self.guarded(|state| state.write_with(input))
    }

    pub(crate) fn flush(&self) -> Result<()> {
        self.guarded(|state| state.flush(false, SyncOptions::default()))
    }

    pub(crate) fn sync(&self, options: SyncOptions) -> Result<()> {
        self.guarded(|state| state.flush(true, options))
    }

    /// Sends what is left and completes the file. A second call does nothing.
    pub(crate) fn close(&self) -> Result<()> {
        if !self.is_open() {
            return Ok(());
        }
        let sent = self.guarded(State::finish);
        self.client.wait(self.end(sent))
    }

    /// The same without blocking the task.
    pub(crate) async fn close_on_task(self: Arc<Self>) -> Result<()> {
        if !self.is_open() {
            return Ok(());
        }
        let writer = Arc::clone(&self);
        let sent = self.client.on_thread(move || writer.guarded(State::finish)).await;
        self.end(sent).await
    }

    /// Completes the file, if all of it was sent.
    async fn end(&self, sent: Result<()>) -> Result<()> {
        let closed = match sent {
            Ok(()) => self.complete().await,
            Err(error) => Err(error),
        };
        self.abandon();
        if closed.is_err() && self.client.settings.recover_lease_on_close {
            let recovery = self.client.namenode.recover_lease(&self.src, &self.client.name);
            if let Err(error) = recovery.await {
                tracing::warn!("Fail to recover lease for {}: {error}", self.src);
            }
        }
        closed
    }

    /// Gives the file up without completing it: its lease runs out by itself.
    pub(crate) fn abandon(&self) {
        self.is_open.store(false, Ordering::Release);
        self.state.lock().stream.pipeline = None;
    }

    /// After a failure every call fails with the same error: what was acknowledged is unknown.
    fn guarded<T>(&self, work: impl FnOnce(&mut State) -> Result<T>) -> Result<T> {
        if !self.is_open() {
            return Err(Error::plain("stream is closed"));
        }
        let mut state = self.state.lock();
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        let result = work(&mut state);
        if let Err(error) = &result {
            state.failure = Some(error.clone());
            state.stream.pipeline = None;
        }
        result
    }

    async fn complete(&self) -> Result<()> {
        let settings = &self.client.settings;
        let mut delay = settings.following_block_delay;
        let mut left = settings.following_block_retries;
        let (file_id, last) = {
            let state = self.state.lock();
            (state.stream.file_id, state.stream.block.clone())
        };
        let writing = Writing { src: &self.src, file_id, client_name: &self.client.name };
        loop {
            if self.client.namenode.complete(writing, last.as_ref()).await? {
                return Ok(());
            }
            if left == 0 {
                return Err(Error::plain(format!(
                    "Unable to close file because the last block {} does not have enough number \
                     of replicas.",
                    last.map(|block| block.to_string()).unwrap_or_default()
                )));
            }
            left -= 1;
            tracing::warn!(
                target: WAITS,
                wait_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
                "closing {}: its last block has not enough replicas yet; asking again {left} more time(s)",
                self.src
            );
            tokio::time::sleep(delay).await;
            delay = next_delay(delay, settings.following_block_delay_max);
        }
    }
}

impl Keepable for Writer {
    fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Acquire)
    }

    fn is_quiet(&self) -> bool {
        self.state.try_lock().is_some_and(|state| state.stream.is_quiet())
    }

    fn heartbeat(&self) {
        if let Some(mut state) = self.state.try_lock()
            && state.stream.is_quiet()
        {
            state.stream.heartbeat();
        }
    }
}

impl State {
    fn new(stream: Stream, checksum: DataChecksum, sync_block: bool) -> Self {
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
            failure: None,
        }
    }

    /// Goes on in the last block, with a packet that fills up its last chunk first.
    fn continue_block(
        &mut self,
        last: crate::types::LocatedBlock,
        status: &FileStatus,
    ) -> Result<()> {
        if status.len.is_multiple_of(status.block_size) {
            let src = &self.stream.src;
            return Err(Error::plain(format!("The last block for file {src} is full.")));
        }
        let chunk_len = self.checksum.bytes_per_checksum();
        let used = (last.block.block.len % chunk_len as u64) as usize;
        self.append_chunk_len = if used > 0 { chunk_len - used } else { 0 };
        self.block_pos = last.block.block.len;
        self.stream.continue_block(last);
        Ok(())
    }

    fn write(&mut self, mut data: &[u8]) -> Result<()> {
        while !data.is_empty() {
            self.end_full_block()?;
            let taken = self.packet().fill(data);
            data = data.get(taken..).unwrap_or_default();
            self.advance(taken)?;
        }
        Ok(())
    }

    fn try_write(&mut self, data: &[u8]) -> bool {
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
    fn write_with(
        &mut self,
        input: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> Result<io::Result<usize>> {
        self.end_full_block()?;
        let is_fresh = self.current.is_none();
        let filled = self.packet().fill_with(FILL_STEP, input);
        match filled {
            Ok(taken) if taken > 0 => self.advance(taken)?,
            _ if is_fresh => self.put_back(),
            _ => {}
        }
        Ok(filled)
    }

    /// Takes a packet back into which nothing was put: packets without data mean something else.
    fn put_back(&mut self) {
        if let Some(packet) = self.current.take() {
            self.begun = packet.begun_chunk().to_vec();
            self.stream.put_back(packet);
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

    /// So many bytes were put into the packet: it is sent when it is full, or the block is.
    fn advance(&mut self, taken: usize) -> Result<()> {
        self.block_pos += taken as u64;
        self.pos += taken as u64;
        if self.is_block_full() || self.current.as_ref().is_some_and(Packet::is_full) {
            self.send_current()?;
        }
        Ok(())
    }

    fn is_block_full(&self) -> bool {
        self.block_pos > 0 && self.block_pos == self.stream.block_size
    }

    /// A full block is ended by what comes after it: an `hsync` that comes first can still sync it.
    fn end_full_block(&mut self) -> Result<()> {
        if self.is_block_full() { self.end_block() } else { Ok(()) }
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
        let packet_len = self.stream.client.settings.packet_len;
        let packet_len = if self.has_sent { packet_len } else { packet_len.min(FIRST_PACKET_LEN) };
        let rest = usize::try_from(self.stream.block_size.saturating_sub(offset));
        let capacity = chunks.capacity_at(offset, packet_len).min(rest.unwrap_or(usize::MAX));
        let mut packet = self.stream.packet(chunks, capacity, offset);
        packet.fill(&std::mem::take(&mut self.begun));
        packet
    }

    fn send_current(&mut self) -> Result<()> {
        let Some(packet) = self.current.take() else { return Ok(()) };
        self.has_sent = true;
        self.stream.send(packet)
    }

    /// Ends the block with an empty packet.
    fn end_block(&mut self) -> Result<()> {
        self.begun.clear();
        self.append_chunk_len = 0;
        let mut last = self.empty_packet();
        last.is_last = true;
        last.sync = self.sync_block;
        self.block_pos = 0;
        self.flushed_pos = 0;
        self.stream.send(last)
    }

    fn empty_packet(&mut self) -> Packet {
        self.stream.packet(Chunks::whole(self.checksum), 0, self.block_pos)
    }

    /// Sends what is there and waits until every DataNode has it (`hflush`), or has it on disk.
    fn flush(&mut self, is_sync: bool, options: SyncOptions) -> Result<()> {
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
        self.send_current()?;
        if ends_block {
            self.end_block()?;
        }
        self.stream.wait_for(self.stream.last_queued())?;
        self.persist(options.update_length)?;
        self.stream.is_flushed = true;
        Ok(())
    }

    /// Makes the list of blocks durable at the NameNode, once for each new block or pipeline.
    fn persist(&mut self, update_length: bool) -> Result<()> {
        if !self.stream.persist_blocks && !update_length {
            return Ok(());
        }
        let len = self.stream.block.as_ref().map(|block| block.block.len);
        let client = self.stream.client.clone();
        client.wait(client.namenode.fsync(self.stream.writing(), len))?;
        self.stream.persist_blocks = false;
        Ok(())
    }

    /// Sends the rest and ends the last block.
    fn finish(&mut self) -> Result<()> {
        self.send_current()?;
        if self.block_pos > 0 {
            self.end_block()?;
        }
        self.stream.wait_for(self.stream.last_queued())
    }
}

#[cfg(test)]
#[path = "file_test.rs"]
mod tests;
