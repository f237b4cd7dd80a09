//! The bytes of a connection that have arrived, until they are whole frames.

use super::budget::{Budget, Charge, charged};
use crate::rpc::frame::{self, BadLength, PREFIX};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncReadExt, Interest};
use tokio::net::TcpStream;

/// Room for a read, renewed when less than [`READ_ROOM_MIN`] of it is left: calls that wait keep
/// their part of the buffer, so that each renewal is an allocation. A larger frame gets more.
const READ_ROOM: usize = 16 << 10;
/// A usual call fits several times.
const READ_ROOM_MIN: usize = 2 << 10;
/// Frames of at most this length are not charged: every connection has room for one.
const FREE_LEN: usize = READ_ROOM;
/// A larger frame is charged, and given room, in steps of this size, so that a length without data costs nothing.
const STEP: usize = 1 << 20;
/// Bytes of a larger frame that count as progress. Otherwise one byte a minute would hold its charge.
const PROGRESS_LEN: usize = 64 << 10;
/// While others wait for room, a larger frame has to come in this number of parts, each within the time that a part may take.
const PARTS_IF_CONTENDED: usize = 8;

/// Arrived bytes that are not a whole frame yet.
///
/// Invariant: while a frame of more than [`FREE_LEN`] bytes is in progress, nothing behind its end is read.
pub(super) struct Intake {
    buffer: BytesMut,
    budget: Arc<Budget>,
    address: IpAddr,
    /// Length of the frame in progress, its prefix included; 0 if unknown.
    frame_len: usize,
    /// The charge for the frame in progress, if it is a large one.
    charge: Option<Charge>,
    /// Bytes of a large frame since its last progress.
    since_progress: usize,
    /// True if the budget has no room for the frame in progress.
    is_starved: bool,
}

/// The result of waiting for bytes.
pub(super) enum Arrival {
    /// The connection's end.
    End,
    /// Bytes; `is_progress` if they count as a sign of life.
    Bytes {
        /// False for a few bytes of a large frame.
        is_progress: bool,
    },
    /// Room in the budget for a frame that is whole.
    Room,
}

impl Intake {
    /// Creates the intake of a connection from `address`.
    pub(super) fn new(budget: &Arc<Budget>, address: IpAddr) -> Self {
        Self {
            buffer: BytesMut::new(),
            budget: Arc::clone(budget),
            address,
            frame_len: 0,
            charge: None,
            since_progress: 0,
            is_starved: false,
        }
    }

    /// Returns `true` if no part of a frame has arrived.
    pub(super) fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Returns `true` if a frame in progress takes bytes of the budget.
    pub(super) fn is_charged(&self) -> bool {
        self.charge.is_some()
    }

    /// Returns `true` if the frame in progress waits for the budget rather than for its sender.
    pub(super) fn is_starved(&self) -> bool {
        self.is_starved
    }

    /// Creates a charge for what the connection's requests decode to.
    pub(super) fn new_charge(&self) -> Charge {
        self.budget.charge(self.address)
    }

    /// Takes the next frame. Returns `None` until all of it has arrived and the budget has room for it.
    ///
    /// # Errors
    /// Fails if the frame's length cannot be right, or exceeds `len_max`.
    pub(super) fn take_frame(&mut self, len_max: usize) -> Result<Option<Bytes>, BadLength> {
        let Some(whole) = frame::whole_len(&self.buffer, len_max)? else { return Ok(None) };
        self.frame_len = whole;
        if self.buffer.len() < whole {
            return Ok(None);
        }
        if whole <= FREE_LEN {
            self.frame_len = 0;
            let mut bytes = self.buffer.split_to(whole);
            bytes.advance(PREFIX);
            return Ok(Some(bytes.freeze()));
        }
        let mut charge = self.charge.take().unwrap_or_else(|| self.new_charge());
        if !charge.raise(whole) {
            self.charge = Some(charge);
            return Ok(None);
        }
        let mut bytes = self.buffer.split_to(whole);
        bytes.advance(PREFIX);
        // What came with it moves, so that the large buffer goes with its frame.
        self.buffer = BytesMut::from(&self.buffer[..]);
        (self.frame_len, self.since_progress, self.is_starved) = (0, 0, false);
        Ok(Some(charged(bytes.freeze(), charge)))
    }

    /// Reads what has arrived, as far as the budget has room for it.
    pub(super) fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        stream: &mut TcpStream,
    ) -> Poll<io::Result<Arrival>> {
        let is_large = self.frame_len > FREE_LEN;
        let mut len_max = usize::MAX;
        if is_large {
            let len = self.buffer.len();
            let wanted = self.frame_len.min(len + STEP);
            let charge = self.charge.get_or_insert_with(|| self.budget.charge(self.address));
            self.is_starved = charge.poll_raise(context, wanted).is_pending();
            // What has been charged before may be filled first.
            len_max = charge.bytes().saturating_sub(len);
            match (self.frame_len.saturating_sub(len), len_max) {
                (0, _) if !self.is_starved => return Poll::Ready(Ok(Arrival::Room)),
                (0, _) | (_, 0) if has_left(stream, context) => {
                    return Poll::Ready(Ok(Arrival::End));
                }
                (0, _) | (_, 0) => return Poll::Pending,
                _ => {}
            }
        }
        let room = self.buffer.capacity() - self.buffer.len();
        if is_large && room == 0 {
            self.buffer.reserve(len_max.min(STEP));
        } else if !is_large && room < READ_ROOM_MIN {
            self.buffer.reserve(READ_ROOM);
        }
        let mut limited = (&mut self.buffer).limit(len_max);
        let read = ready!(pin!(stream.read_buf(&mut limited)).poll(context))?;
        if read == 0 {
            return Poll::Ready(Ok(Arrival::End));
        }
        self.since_progress += read;
        let is_progress = !is_large
            || self.buffer.len() >= self.frame_len
            || self.since_progress >= PROGRESS_LEN
                && (self.since_progress >= self.frame_len / PARTS_IF_CONTENDED
                    || !self.budget.is_contended());
        if is_progress {
            self.since_progress = 0;
        }
        Poll::Ready(Ok(Arrival::Bytes { is_progress }))
    }
}

/// Returns `true` if the peer has closed a connection that is not read. The scan for idle connections repeats the check.
fn has_left(stream: &TcpStream, context: &mut Context<'_>) -> bool {
    match pin!(stream.ready(Interest::READABLE)).poll(context) {
        Poll::Ready(Ok(ready)) => ready.is_read_closed(),
        Poll::Ready(Err(_)) => true,
        Poll::Pending => false,
    }
}
