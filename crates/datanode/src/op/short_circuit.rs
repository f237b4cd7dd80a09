//! Short-circuit reads: a client of this machine gets the descriptors of a replica's files, and
//! shared memory in which it is told when to let go of them.

use super::outcome::{AfterOperation, OpFailure};
use crate::node::Node;
use crate::short_circuit::BlockKey;
use crate::store::{Failure, ReplicaFiles};
use crate::transfer::conn::Conn;
use std::os::fd::AsFd;
use std::sync::Arc;
use zerohop_proto::hdfs::{
    BlockOpResponseProto, OpRequestShortCircuitAccessProto, ReleaseShortCircuitAccessRequestProto,
    ReleaseShortCircuitAccessResponseProto, ShortCircuitFdResponse, ShortCircuitShmRequestProto,
    ShortCircuitShmResponseProto, Status,
};
use zerohop_transport::domain::Peer;
use zerohop_wire::{ExtendedBlock, SlotId};

/// The format of block and meta files (`DataNode.CURRENT_BLOCK_FORMAT_VERSION`).
const BLOCK_FORMAT_VERSION: u32 = 1;

/// Why descriptors are not passed.
enum Refusal {
    /// Not to this client, which is too old.
    Version(String),
    /// Not here.
    Unsupported(&'static str),
    /// Not over this connection.
    NoDomainSocket,
    /// The slot is not one that this client may use.
    Slot(String),
    /// Not these.
    Replica(String),
}

impl Refusal {
    /// For counts.
    fn reason(&self) -> &'static str {
        match self {
            Self::Version(_) => "client-too-old",
            Self::Unsupported(_) => "not-configured",
            Self::NoDomainSocket => "no-domain-socket",
            Self::Slot(_) => "invalid-slot",
            Self::Replica(_) => "replica-unavailable",
        }
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Replica(failure.to_exception().message)
    }
}

/// A slot registered for this request; given back unless the client got the descriptors.
struct SlotGuard<'a> {
    node: &'a Node,
    slot: Option<(SlotId, Peer)>,
}

impl Drop for SlotGuard<'_> {
    fn drop(&mut self) {
        if let Some((slot, peer)) = self.slot.take() {
            tracing::info!("{slot} is free again: its request for descriptors failed");
            // Gone already where the client's connection for the segment was closed first.
            drop(self.node.store.slots().unregister(slot, peer));
        }
    }
}

/// REQUEST_SHORT_CIRCUIT_FDS: passes the descriptors of a replica's block and meta file.
pub(super) fn fds(
    node: &Arc<Node>,
    conn: &mut Conn,
    message: &OpRequestShortCircuitAccessProto,
) -> Result<AfterOperation, OpFailure> {
    let block = ExtendedBlock::from(&message.header.block);
    node.wait_for_pool(&block)?;
    let mut guard = SlotGuard { node, slot: None };
    let files = match prepare(node, conn, message, &block, &mut guard) {
        Ok(files) => files,
        Err(refusal) => {
            // Before the client knows that it may use the slot for another replica.
            drop(guard);
            node.domain_socket.descriptors.refuse(refusal.reason());
            refuse(conn, &block, refusal)?;
            return Ok(AfterOperation::Keep);
        }
    };
    conn.write_message(&BlockOpResponseProto {
        status: Status::Success as i32,
        short_circuit_access_version: Some(BLOCK_FORMAT_VERSION),
        ..Default::default()
    })?;
    let verifies = message.supports_receipt_verification();
    let byte = if verifies {
        ShortCircuitFdResponse::UseReceiptVerification
    } else {
        ShortCircuitFdResponse::DoNotUseReceiptVerification
    };
    conn.send_with_fds(byte as u8, &[files.data.as_fd(), files.meta.as_fd()])?;
    if verifies {
        // Who sleeps in a receive is woken by the client's taking the answer, too; who polls is not.
        let patience = node.settings.socket_timeout;
        if conn.buffered().is_empty() && !patience.is_zero() && !conn.wait_readable(patience)? {
            return Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into());
        }
        conn.read_byte()?;
    }
    guard.slot = None;
    node.domain_socket.descriptors.grant();
    tracing::debug!("{}: got the descriptors of {block}", conn.peer);
    Ok(AfterOperation::Keep)
}

/// Registers the slot, then opens the files: a thread that changes the replica in between finds the slot
/// and makes it invalid.
fn prepare(
    node: &Node,
    conn: &Conn,
    message: &OpRequestShortCircuitAccessProto,
    block: &ExtendedBlock,
    guard: &mut SlotGuard<'_>,
) -> Result<ReplicaFiles, Refusal> {
    let Some(peer) = conn.domain_peer() else { return Err(Refusal::NoDomainSocket) };
    if let Some(slot) = message.slot_id.as_ref().map(SlotId::from) {
        let key = BlockKey::from(block);
        let is_cached = node.store.cache().has(&key);
        let registered = node.store.slots().register(slot, peer, &key, is_cached);
        registered.map_err(|invalid| Refusal::Slot(invalid.0))?;
        guard.slot = Some((slot, peer));
        if is_cached && !node.store.cache().has(&key) {
            // Let go of in between, when this slot was not there yet.
            node.store.slots().may_unlock(&key);
        }
    }
    if !node.settings.passes_descriptors {
        return Err(Refusal::Unsupported("File descriptor passing was not configured."));
    }
    if message.max_version < BLOCK_FORMAT_VERSION {
        return Err(Refusal::Version(format!(
            "Your client is too old to read this block!  Its format version is \
             {BLOCK_FORMAT_VERSION}, but the highest format version you can read is {}",
            message.max_version
        )));
    }
    Ok(node.open_files(block)?)
}

fn refuse(conn: &Conn, block: &ExtendedBlock, refusal: Refusal) -> std::io::Result<()> {
    let (status, version, text) = match refusal {
        Refusal::Version(text) => (Status::ErrorUnsupported, Some(BLOCK_FORMAT_VERSION), text),
        Refusal::Unsupported(text) => (Status::ErrorUnsupported, None, text.to_owned()),
        Refusal::NoDomainSocket => {
            let text = "You cannot pass file descriptors over anything but a UNIX domain socket.";
            (Status::Error, None, text.to_owned())
        }
        Refusal::Slot(text) | Refusal::Replica(text) => (Status::Error, None, text),
    };
    tracing::info!("{}: no descriptors of {block}: {text}", conn.peer);
    conn.write_message(&BlockOpResponseProto {
        status: status as i32,
        message: Some(text),
        short_circuit_access_version: version,
        ..Default::default()
    })
}

/// RELEASE_SHORT_CIRCUIT_FDS: a client gives a slot back.
pub(super) fn release(
    node: &Node,
    conn: &Conn,
    message: &ReleaseShortCircuitAccessRequestProto,
) -> Result<AfterOperation, OpFailure> {
    let slot = SlotId::from(&message.slot_id);
    let released = match conn.domain_peer() {
        Some(peer) => node.store.slots().unregister(slot, peer).map_err(|invalid| invalid.0),
        None => Err("slots are given back over the UNIX domain socket".to_owned()),
    };
    let (status, error) = match released {
        Ok(()) => (Status::Success, None),
        Err(text) => (Status::ErrorInvalid, Some(text)),
    };
    conn.write_message(&ReleaseShortCircuitAccessResponseProto { status: status as i32, error })?;
    Ok(AfterOperation::Keep)
}

/// REQUEST_SHORT_CIRCUIT_SHM: makes a segment. From now on the connection serves nothing else; its
/// end is the segment's.
pub(super) fn shm(
    node: &Node,
    conn: &Conn,
    message: &ShortCircuitShmRequestProto,
) -> Result<AfterOperation, OpFailure> {
    let refuse = |status: Status, text: String| {
        tracing::info!("{}: no shared memory: {text}", conn.peer);
        conn.write_message(&ShortCircuitShmResponseProto {
            status: status as i32,
            error: Some(text),
            id: None,
        })?;
        Ok(AfterOperation::Keep)
    };
    let Some(peer) = conn.domain_peer() else {
        let text = format!(
            "Bad request from {}: must request a shared memory segment over a UNIX domain socket.",
            conn.peer
        );
        return refuse(Status::ErrorInvalid, text);
    };
    let (segment_guard, fd) = match node.store.slots().create(&message.client_name, peer) {
        Ok(made) => made,
        Err(error) => {
            let text = format!("Failed to create shared file descriptor: {error}");
            return refuse(Status::Error, text);
        }
    };
    conn.write_message(&ShortCircuitShmResponseProto {
        status: Status::Success as i32,
        error: None,
        id: Some(segment_guard.id().into()),
    })?;
    conn.send_with_fds(0, &[fd.as_fd()])?;
    tracing::debug!("{}: {} got segment {}", conn.peer, message.client_name, segment_guard.id());
    Ok(AfterOperation::Hold(Box::new(segment_guard)))
}
