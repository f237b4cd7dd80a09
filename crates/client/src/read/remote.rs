//! One range of one block from one DataNode; no policy here.
//!
//! [`BlockRead`] knows what the bytes of the connection are; here they are read. Data goes from the socket to the
//! caller's buffer and is checked there; the same system call brings the head of the next packet into `ahead`.

use super::local_outcome::LocalError;
use super::plan::ReadPath;
use super::race::{Contender, Watched};
use crate::client::Peer;
use crate::spans;
use crate::types::LocatedBlock;
use std::io::{self, IoSliceMut, Read, Write};
use tracing::Span;
use zerohop_proto::hdfs::{
    BaseHeaderProto, BlockOpResponseProto, CachingStrategyProto, ClientOperationHeaderProto,
    ClientReadStatusProto, OpReadBlockProto, Status,
};
use zerohop_transport::net::{DataStream, LowWater};
use zerohop_transport::trace;
use zerohop_wire::transfer::arrival::Parsed;
use zerohop_wire::transfer::block_read::{BlockRead, Next, ReadFailure, ReadOptions};
use zerohop_wire::transfer::frame;
use zerohop_wire::transfer::op::{self, OpCode};
use zerohop_wire::transfer::packet::PREFIX_LEN_MAX;

/// Data is read and checked in steps of about this size, so that it is still in cache when checked.
const STEP_LEN: usize = 128 << 10;
/// Room for the answer to the request.
const AHEAD_LEN: usize = 1024;

/// Why a range could not be read from a DataNode.
#[derive(Debug)]
pub(super) enum ReadError {
    /// No connection to the DataNode could be made.
    Unreachable(io::Error),
    /// The connection or the DataNode failed.
    Failed(io::Error),
    /// The DataNode does not accept the token.
    Token(String),
    /// The data does not match its checksum.
    Corrupt(String),
    /// The replica's file on this machine could not be read.
    Local(LocalError),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<ReadFailure> for ReadError {
    fn from(failure: ReadFailure) -> Self {
        match failure {
            ReadFailure::Corrupt { .. } => Self::Corrupt(failure.to_string()),
            other => Self::Failed(bad(other.to_string())),
        }
    }
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreachable(error) | Self::Failed(error) => error.fmt(f),
            Self::Token(text) | Self::Corrupt(text) => f.write_str(text),
            Self::Local(error) => error.fmt(f),
        }
    }
}

/// What is asked of a DataNode.
pub(super) struct RangeRequest<'a> {
    pub(super) block: &'a LocatedBlock,
    /// In the block.
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) verify: bool,
    pub(super) client_name: &'a str,
    pub(super) packet_len_max: usize,
    /// Of a hedged read: the connection is shut down when the other side was faster.
    pub(super) contender: Option<&'a Contender>,
}

impl RangeRequest<'_> {
    /// Whether nobody waits for the range any more.
    pub(super) fn is_beaten(&self) -> bool {
        self.contender.is_some_and(Contender::is_beaten)
    }
}

pub(super) struct RemoteBlock {
    stream: DataStream,
    addr: Peer,
    path: ReadPath,
    /// What the next bytes of the connection are.
    state: BlockRead,
    /// In the block, the next byte for the caller; `pos <= end`.
    pos: u64,
    end: u64,
    low_water: LowWater,
    ahead: Ahead,
    /// A checked chunk of which the caller has taken a part.
    chunk: Vec<u8>,
    chunk_taken: usize,
    is_finished: bool,
    _watched: Option<Watched>,
    /// Of the request; it ends with this.
    _span: Span,
}

/// Bytes read from the socket and not yet used: `bytes[start..]`.
#[derive(Default)]
struct Ahead {
    bytes: Vec<u8>,
    start: usize,
}

impl Ahead {
    fn rest(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    fn consume(&mut self, len: usize) {
        self.start = (self.start + len).min(self.bytes.len());
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
        }
    }
}

impl RemoteBlock {
    /// Sends the request on a connection and reads the answer.
    pub(super) fn open(
        stream: DataStream,
        addr: Peer,
        path: ReadPath,
        request: &RangeRequest<'_>,
    ) -> Result<Self, ReadError> {
        let span = spans::of_request(OpCode::ReadBlock, &request.block.block, &addr);
        let opened = span.in_scope(|| Self::ask(stream, addr, path, request, span.clone()));
        opened.inspect_err(|error| trace::record_failure(&span, error))
    }

    fn ask(
        stream: DataStream,
        addr: Peer,
        path: ReadPath,
        request: &RangeRequest<'_>,
        span: Span,
    ) -> Result<Self, ReadError> {
        let watched = request.contender.map(|contender| contender.watch(&stream)).transpose()?;
        (&stream).write_all(&encode(request))?;
        let mut ahead = Ahead::default();
        let answer = read_answer(&stream, &mut ahead)?;
        let (start, end) = (request.offset, request.offset + request.len);
        let options = ReadOptions {
            range: start..end,
            verify: request.verify,
            packet_len_max: request.packet_len_max,
        };
        let state = BlockRead::begin(&answer, &options)
            .map_err(|failure| refused(failure, request, &addr))?;
        Ok(Self {
            stream,
            addr,
            path,
            state,
            pos: start,
            end,
            low_water: LowWater::default(),
            ahead,
            chunk: Vec::new(),
            chunk_taken: 0,
            is_finished: false,
            _watched: watched,
            _span: span,
        })
    }

    pub(super) fn path(&self) -> ReadPath {
        self.path
    }

    pub(super) fn verifies(&self) -> bool {
        self.state.verifies()
    }

    /// In the block, the next byte that [`read`](Self::read) gives.
    pub(super) fn pos(&self) -> u64 {
        self.pos
    }

    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Fills `out` as far as the range goes. `pos` is how far it came, after an error too: the bytes
    /// before it were verified.
    pub(super) fn read(&mut self, out: &mut [u8]) -> Result<usize, ReadError> {
        let mut filled = 0;
        while filled < out.len() && self.pos < self.end {
            let Some(room) = out.get_mut(filled..) else { break };
            filled += self.read_some(room)?;
        }
        if self.pos == self.end {
            self.finish();
        }
        Ok(filled)
    }

    fn read_some(&mut self, out: &mut [u8]) -> Result<usize, ReadError> {
        if self.chunk_taken < self.chunk.len() {
            return Ok(self.take_from_chunk(out));
        }
        match self.state.next(out.len()) {
            Next::Head | Next::End => self.take_head()?,
            Next::Chunk { len, skip } => self.read_chunk(len, skip)?,
            Next::Data(whole) => {
                let chunk_len = self.state.chunk_len();
                let step = whole.min((STEP_LEN / chunk_len).max(1) * chunk_len);
                let Some(target) = out.get_mut(..step) else { return Ok(0) };
                self.fill(target)?;
                self.state.check(target)?;
                self.pos += step as u64;
                return Ok(step);
            }
        }
        Ok(0)
    }

    fn take_from_chunk(&mut self, out: &mut [u8]) -> usize {
        let rest = self.chunk.get(self.chunk_taken..).unwrap_or_default();
        let wanted = usize::try_from(self.end - self.pos).unwrap_or(usize::MAX);
        let len = rest.len().min(out.len()).min(wanted);
        if let (Some(to), Some(from)) = (out.get_mut(..len), rest.get(..len)) {
            to.copy_from_slice(from);
        }
        self.chunk_taken += len;
        self.pos += len as u64;
        len
    }

    /// Reads one chunk to the side: the caller wants only a part of it.
    fn read_chunk(&mut self, len: usize, skip: usize) -> Result<(), ReadError> {
        let mut chunk = std::mem::take(&mut self.chunk);
        chunk.resize(len, 0);
        let filled = self.fill(&mut chunk).map_err(ReadError::from);
        let checked = filled.and_then(|()| Ok(self.state.check(&chunk)?));
        self.chunk = chunk;
        self.chunk_taken = if checked.is_ok() { skip } else { len };
        checked
    }

    /// Reads exactly `out`, and the head of the next packet in the same call where it is there.
    fn fill(&mut self, out: &mut [u8]) -> io::Result<()> {
        let ready = self.ahead.rest().len().min(out.len());
        if let (Some(to), Some(from)) = (out.get_mut(..ready), self.ahead.rest().get(..ready)) {
            to.copy_from_slice(from);
        }
        self.ahead.consume(ready);
        let mut filled = ready;
        while filled < out.len() {
            // Before each read: what an earlier one took is not to come any more.
            self.expect_more(filled)?;
            let Some(room) = out.get_mut(filled..) else { break };
            let room_len = room.len();
            let ends_packet = filled + room_len >= self.state.left_in_packet();
            let head_len = match ends_packet {
                true => PREFIX_LEN_MAX - 2 + self.state.last_sums_len(),
                false => 0,
            };
            self.ahead.bytes.resize(head_len, 0);
            let read = (&self.stream).read_vectored(&mut [
                IoSliceMut::new(room),
                IoSliceMut::new(&mut self.ahead.bytes),
            ]);
            let read = match read {
                Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
                other => other,
            };
            self.ahead.bytes.truncate(read.as_ref().map_or(0, |n| n.saturating_sub(room_len)));
            filled += match read {
                Ok(read) => read.min(room_len),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
                Err(error) => return Err(error),
            };
        }
        Ok(())
    }

    /// Has the socket wake this thread for many bytes only, as long as so many are certain to follow:
    /// the rest of the range, without the `taken` bytes of it and those that lie ahead.
    fn expect_more(&mut self, taken: usize) -> io::Result<()> {
        let taken = taken + self.ahead.rest().len();
        let rest = self.state.left_in_range().saturating_sub(taken as u64);
        self.low_water.expect(&self.stream, usize::try_from(rest).unwrap_or(usize::MAX))
    }

    /// Reads lengths, header and checksums of the next packet.
    fn take_head(&mut self) -> Result<(), ReadError> {
        loop {
            match self.state.take_head(self.ahead.rest())? {
                Parsed::Whole(len) => {
                    self.ahead.consume(len);
                    return Ok(());
                }
                Parsed::Needs(len) => _ = self.need(len)?,
            }
        }
    }

    /// At least `len` bytes ahead.
    fn need(&mut self, len: usize) -> io::Result<&[u8]> {
        if self.ahead.rest().len() < len {
            self.expect_more(0)?;
        }
        while self.ahead.rest().len() < len {
            let missing = len - self.ahead.rest().len();
            let before = self.ahead.bytes.len();
            self.ahead.bytes.resize(before + missing, 0);
            let room = self.ahead.bytes.get_mut(before..).unwrap_or_default();
            let read = (&self.stream).read(room);
            self.ahead.bytes.truncate(before + read.as_ref().map_or(0, |n| *n));
            match read {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.ahead.rest())
    }

    /// Takes the empty packet at the end and reports success to the DataNode; it then waits for
    /// the next request. Failing here loses only the connection.
    fn finish(&mut self) {
        if self.is_finished || self.state.left_in_packet() > 0 {
            return;
        }
        if !self.state.is_complete() && self.take_head().is_err() {
            return;
        }
        // The next request on this connection may bring little.
        let ended = self.state.is_complete() && self.low_water.expect(&self.stream, 0).is_ok();
        let message = frame::encode(&ClientReadStatusProto { status: self.state.status().into() });
        self.is_finished = ended && (&self.stream).write_all(&message).is_ok();
    }

    /// Reports to the DataNode that it sent corrupt data.
    pub(super) fn complain(&mut self) {
        let status = Status::ErrorChecksum.into();
        let _ = (&self.stream).write_all(&frame::encode(&ClientReadStatusProto { status }));
    }

    /// The connection, where it may carry another request.
    pub(super) fn into_connection(self) -> Option<(Peer, DataStream)> {
        (self.is_finished && self.ahead.rest().is_empty()).then_some((self.addr, self.stream))
    }
}

fn bad(text: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text.into())
}

fn encode(request: &RangeRequest<'_>) -> Vec<u8> {
    let message = OpReadBlockProto {
        header: ClientOperationHeaderProto {
            base_header: BaseHeaderProto {
                block: (&request.block.block).into(),
                token: Some(request.block.token.clone()),
                trace_info: trace::transfer_info(),
            },
            client_name: request.client_name.to_owned(),
        },
        offset: request.offset,
        len: request.len,
        send_checksums: Some(request.verify),
        caching_strategy: Some(CachingStrategyProto::default()),
    };
    op::encode(OpCode::ReadBlock, &message)
}

fn read_answer(mut stream: &DataStream, ahead: &mut Ahead) -> io::Result<BlockOpResponseProto> {
    loop {
        let taken = frame::take(ahead.rest()).map_err(|e| bad(e.to_string()))?;
        if let Some((answer, len)) = taken {
            ahead.consume(len);
            return Ok(answer);
        }
        let before = ahead.bytes.len();
        ahead.bytes.resize(before + AHEAD_LEN, 0);
        let read = stream.read(ahead.bytes.get_mut(before..).unwrap_or_default());
        ahead.bytes.truncate(before + read.as_ref().map_or(0, |n| *n));
        match read {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Why an answer cannot be read from; the code decides what the caller does about it.
fn refused(failure: ReadFailure, request: &RangeRequest<'_>, addr: &Peer) -> ReadError {
    let ReadFailure::Refused { status, .. } = &failure else { return failure.into() };
    let text = format!(
        "Got error, {failure}, for OP_READ_BLOCK, remote={addr}, for block {}",
        request.block.block
    );
    match status {
        Status::ErrorAccessToken => ReadError::Token(text),
        _ => ReadError::Failed(io::Error::other(text)),
    }
}
