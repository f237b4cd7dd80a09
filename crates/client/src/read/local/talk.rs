//! The requests that are sent over a DataNode's domain socket to get descriptors, and their answers.
//!
//! ```text
//! REQUEST_SHORT_CIRCUIT_SHM  client name             -> status, id;  1 byte with 1 descriptor
//! REQUEST_SHORT_CIRCUIT_FDS  block, token, slot      -> status;      1 byte with 2 descriptors
//!                            receipt (1 byte), where the byte before was 1
//! RELEASE_SHORT_CIRCUIT_FDS  slot                    -> status
//! ```
//! (`BlockReaderFactory`, `DfsClientShmManager`, `ShortCircuitCache.SlotReleaser`)

use crate::spans;
use crate::types::LocatedBlock;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::time::Duration;
use zerohop_proto::Checked;
use zerohop_proto::hdfs::{
    BaseHeaderProto, BlockOpResponseProto, OpRequestShortCircuitAccessProto,
    ReleaseShortCircuitAccessRequestProto, ReleaseShortCircuitAccessResponseProto,
    ShortCircuitFdResponse, ShortCircuitShmRequestProto, ShortCircuitShmResponseProto, Status,
};
use zerohop_system::clock;
use zerohop_transport::net::DataStream;
use zerohop_transport::shm::Segment;
use zerohop_transport::trace;
use zerohop_wire::slot::{ShmId, SlotId};
use zerohop_wire::transfer::frame;
use zerohop_wire::transfer::op::{self, OpCode};

/// The newest layout of block files that this client reads (`CURRENT_BLOCK_FORMAT_VERSION`).
const BLOCK_FORMAT_VERSION: u32 = 1;
/// How long a thread that waits for an answer stays awake.
const AWAKE: Duration = Duration::from_micros(100);
/// Answers are some hundred bytes.
const ANSWER_LEN: usize = 1024;

/// What a DataNode answers when it is asked for a replica.
pub(super) enum Answer {
    /// The block file and its checksums.
    Files(File, File),
    /// It does not give them.
    Refused {
        status: Status,
        /// Whether it is about this block alone, not about the DataNode.
        is_of_block: bool,
        message: String,
    },
}

/// Asks for a replica's descriptors.
pub(super) fn request_files(
    socket: &DataStream,
    block: &LocatedBlock,
    slot: Option<SlotId>,
) -> io::Result<Answer> {
    let code = OpCode::RequestShortCircuitFds;
    let span = spans::of_request(code, &block.block, &"domain socket");
    let _within = span.enter();
    let message = OpRequestShortCircuitAccessProto {
        header: BaseHeaderProto {
            block: (&block.block).into(),
            token: Some(block.token.clone()),
            trace_info: trace::transfer_info(),
        },
        max_version: BLOCK_FORMAT_VERSION,
        slot_id: slot.map(Into::into),
        supports_receipt_verification: Some(true),
    };
    let mut inbox = Inbox::send(socket, code, &message)?;
    let answer: BlockOpResponseProto = inbox.message()?;
    if answer.status() != Status::Success {
        inbox.done()?;
        let is_of_block = match answer.status() {
            Status::ErrorUnsupported => answer.short_circuit_access_version.is_some(),
            _ => true,
        };
        let message = answer.message().to_owned();
        return Ok(Answer::Refused { status: answer.status(), is_of_block, message });
    }
    let (byte, fds) = inbox.descriptors()?;
    let mut files = fds.into_iter().map(File::from);
    let (Some(data), Some(meta), None) = (files.next(), files.next(), files.next()) else {
        return Err(io::Error::other(
            "the DataNode did not pass two descriptors (it might have reached its limit of open \
             files)",
        ));
    };
    if i32::from(byte) == i32::from(ShortCircuitFdResponse::UseReceiptVerification) {
        (&mut &*socket).write_all(&[0])?;
    }
    Ok(Answer::Files(data, meta))
}

/// A DataNode's answer to the request for a segment.
pub(super) enum NewSegment {
    Made(ShmId, Segment),
    /// It has none to give at all.
    Unsupported(String),
    /// It could not make one now.
    Failed(String),
}

/// Asks for a segment of shared memory; the connection then belongs to the segment.
pub(super) fn request_segment(socket: &DataStream, client_name: &str) -> io::Result<NewSegment> {
    let message = ShortCircuitShmRequestProto {
        client_name: client_name.to_owned(),
        trace_info: trace::transfer_info(),
    };
    let mut inbox = Inbox::send(socket, OpCode::RequestShortCircuitShm, &message)?;
    let answer: ShortCircuitShmResponseProto = inbox.message()?;
    let status = answer.status();
    match (status, answer.id) {
        (Status::Success, Some(id)) => {
            let (_, fds) = inbox.descriptors()?;
            let [fd] = fds.as_slice() else {
                return Err(io::Error::other(
                    "the DataNode failed to pass the descriptor of a shared memory segment",
                ));
            };
            Ok(NewSegment::Made(id.into(), Segment::map(fd)?))
        }
        (Status::Success, None) => Err(bad("a shared memory segment without a name")),
        (Status::ErrorUnsupported, _) => Ok(NewSegment::Unsupported(answer.error().to_owned())),
        _ => Ok(NewSegment::Failed(answer.error().to_owned())),
    }
}

/// Gives a slot back; after that it may name another replica. One that the DataNode does not know is
/// free already: it drops those of requests that failed.
pub(super) fn release(socket: &DataStream, slot: SlotId) -> io::Result<()> {
    let trace_info = trace::transfer_info();
    let message = ReleaseShortCircuitAccessRequestProto { slot_id: slot.into(), trace_info };
    let mut inbox = Inbox::send(socket, OpCode::ReleaseShortCircuitFds, &message)?;
    let answer: ReleaseShortCircuitAccessResponseProto = inbox.message()?;
    inbox.done()?;
    match answer.status() {
        Status::Success | Status::ErrorInvalid => Ok(()),
        status => Err(io::Error::other(format!("{}: {}", status.as_str_name(), answer.error()))),
    }
}

/// What has come from a socket: bytes not yet used, and descriptors.
struct Inbox<'a> {
    socket: &'a DataStream,
    bytes: Vec<u8>,
    fds: Vec<OwnedFd>,
}

impl<'a> Inbox<'a> {
    fn send(
        socket: &'a DataStream,
        code: OpCode,
        message: &impl prost::Message,
    ) -> io::Result<Self> {
        (&mut &*socket).write_all(&op::encode(code, message))?;
        Ok(Self { socket, bytes: Vec::new(), fds: Vec::new() })
    }

    fn message<M: Checked>(&mut self) -> io::Result<M> {
        loop {
            if let Some((message, len)) = frame::take(&self.bytes).map_err(bad)? {
                self.bytes.drain(..len);
                return Ok(message);
            }
            self.more()?;
        }
    }

    /// The byte behind an answer and the descriptors that came with it.
    fn descriptors(mut self) -> io::Result<(u8, Vec<OwnedFd>)> {
        while self.bytes.is_empty() {
            self.more()?;
        }
        match self.bytes.as_slice() {
            [byte] => Ok((*byte, self.fds)),
            _ => Err(bad("more bytes than the descriptors' one")),
        }
    }

    /// Whether the connection is good for another request.
    fn done(self) -> io::Result<()> {
        match self.bytes.is_empty() && self.fds.is_empty() {
            true => Ok(()),
            false => Err(bad("bytes or descriptors behind an answer")),
        }
    }

    /// Waits for bytes. A thread that sleeps in recvmsg(2) is woken as well when the DataNode takes the
    /// request out of the socket, which costs both ends a wake-up; one that polls is not.
    fn wait(&self) -> io::Result<()> {
        if self.is_there_soon()? {
            return Ok(());
        }
        let patience = self.socket.read_timeout()?;
        let begun = clock::now();
        let mut polled = [PollFd::new(self.socket, PollFlags::IN)];
        loop {
            // Signals must not make it longer.
            let left = patience.map(|patience| patience.saturating_sub(clock::since(begun)));
            let left = left.map(Timespec::try_from).transpose().map_err(bad)?;
            match rustix::event::poll(&mut polled, left.as_ref()) {
                Err(Errno::INTR) => {}
                Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
                ready => return Ok(ready.map(drop)?),
            }
        }
    }

    /// Looks for a moment whether bytes come, without sleeping: a DataNode that is awake answers sooner
    /// than a thread that sleeps is woken on another processor. Other threads that want this processor run
    /// first, the DataNode's among them.
    fn is_there_soon(&self) -> io::Result<bool> {
        let start = clock::now();
        let mut polled = [PollFd::new(self.socket, PollFlags::IN)];
        while clock::since(start) < AWAKE {
            match rustix::event::poll(&mut polled, Some(&Timespec::default())) {
                Ok(0) | Err(Errno::INTR) => std::thread::yield_now(),
                ready => return Ok(ready.map(|_| true)?),
            }
        }
        Ok(false)
    }

    fn more(&mut self) -> io::Result<()> {
        let mut room = [0; ANSWER_LEN];
        self.wait()?;
        match self.socket.recv_with_fds(&mut room, &mut self.fds)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                self.bytes.extend_from_slice(room.get(..read).unwrap_or_default());
                Ok(())
            }
        }
    }
}

fn bad(error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}
