//! The bytes that the requests of all connections may take together.
//!
//! ```text
//! frame of at most FREE_LEN bytes    not charged: each connection may have one
//! larger frame                       charged as its bytes arrive, until the last reference to them is dropped
//! decoded request                    charged before it is decoded, until its call is answered
//! ```
//! A connection whose frame finds no room is not read until others give bytes back. One frame at a time may take what is kept
//! in reserve, so that frames which have begun cannot keep each other from being finished. A call that cannot be decoded is told
//! to come back later.

use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use zerohop_conf::keys;
use zerohop_proto::{Checked, InvalidMessage};
use zerohop_wire::{JavaException, RemoteException};

/// Requests of at most this length are decoded without a charge: what they decode to is small.
const DECODED_FREE_LEN: usize = 4 << 10;

/// The bytes that one server's requests may take, and those that they take.
#[derive(Debug)]
pub(super) struct Budget {
    /// Bytes for all, without the reserve.
    common_max: usize,
    /// Part of them that the connections of one address may take, so that others find room for a frame.
    address_max: usize,
    /// Bytes for the one frame that has the reserve: as many as the largest frame has.
    reserve: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    used: usize,
    /// True if a frame has the reserve.
    is_reserve_taken: bool,
    by_address: HashMap<IpAddr, usize>,
    /// Connections that wait for room, by the tickets of their charges.
    waiting: BTreeMap<u64, Waker>,
    tickets: u64,
}

impl Budget {
    /// Creates a budget of `max` bytes for frames of at most `frame_len_max`.
    pub(super) fn new(max: usize, frame_len_max: usize) -> Arc<Self> {
        let common_max = max.saturating_sub(frame_len_max);
        let address_max = common_max.saturating_sub(frame_len_max).max(frame_len_max);
        let (reserve, state) = (frame_len_max, Mutex::default());
        Arc::new(Self { common_max, address_max, reserve, state })
    }

    /// Creates a charge of 0 bytes for connections from `address`.
    pub(super) fn charge(self: &Arc<Self>, address: IpAddr) -> Charge {
        let address = address.to_canonical();
        Charge { budget: Arc::clone(self), address, bytes: 0, has_reserve: false, ticket: None }
    }

    /// Returns the bytes that are charged.
    #[cfg(test)]
    pub(super) fn used(&self) -> usize {
        self.state.lock().used
    }

    /// Returns `true` if a connection waits for room.
    pub(super) fn is_contended(&self) -> bool {
        !self.state.lock().waiting.is_empty()
    }

    /// Takes bytes if there is room, which is larger for what `has_reserve`.
    fn take(&self, state: &mut State, charge: &Charge, bytes: usize) -> bool {
        let of_address = state.by_address.get(&charge.address).copied().unwrap_or(0);
        let more = if charge.has_reserve { self.reserve } else { 0 };
        let fits = |used: usize, max: usize| {
            used.checked_add(bytes).is_some_and(|sum| sum <= max.saturating_add(more))
        };
        if !fits(state.used, self.common_max) || !fits(of_address, self.address_max) {
            return false;
        }
        state.used += bytes;
        state.by_address.insert(charge.address, of_address + bytes);
        true
    }

    fn give_back(&self, charge: &Charge) {
        let mut state = self.state.lock();
        if let Some(ticket) = charge.ticket {
            state.waiting.remove(&ticket);
        }
        if charge.bytes == 0 && !charge.has_reserve {
            return;
        }
        state.used -= charge.bytes;
        if let Some(of_address) = state.by_address.get_mut(&charge.address) {
            *of_address -= charge.bytes;
            if *of_address == 0 {
                state.by_address.remove(&charge.address);
            }
        }
        if charge.has_reserve {
            state.is_reserve_taken = false;
        }
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_values().for_each(Waker::wake);
    }
}

/// Bytes taken from a budget until this is dropped.
#[derive(Debug)]
pub(super) struct Charge {
    budget: Arc<Budget>,
    address: IpAddr,
    bytes: usize,
    has_reserve: bool,
    /// Key of the waker in [`State::waiting`]; `None` if this charge does not wait.
    ticket: Option<u64>,
}

impl Charge {
    /// Returns the bytes that are charged.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Raises the charge by `bytes`. Returns `false`, and changes nothing, if there is no room.
    fn add(&mut self, bytes: usize) -> bool {
        let added = self.budget.take(&mut self.budget.state.lock(), self, bytes);
        self.bytes += if added { bytes } else { 0 };
        added
    }

    /// Raises the charge by `bytes` that a decoded request takes.
    fn add_for_call(&mut self, bytes: usize) -> Result<(), RemoteException> {
        if self.add(bytes) {
            return Ok(());
        }
        let key = keys::ZEROHOP_IPC_SERVER_REQUEST_MEMORY_MAX.name;
        let text = format!("the request takes {bytes} bytes of memory when it is decoded");
        let max = self.budget.address_max;
        Err(match self.bytes.saturating_add(bytes) > max {
            true => JavaException::RpcServer.with(format!("{text}, and {max} are allowed ({key})")),
            false => JavaException::Retriable.with(format!("Server too busy: {text} ({key})")),
        })
    }

    /// Raises the charge to `bytes`. Returns `false`, and changes nothing, if there is no room.
    pub(super) fn raise(&mut self, bytes: usize) -> bool {
        self.bytes >= bytes || self.add(bytes - self.bytes)
    }

    /// Raises the charge to `bytes` as soon as there is room.
    pub(super) fn poll_raise(&mut self, context: &mut Context<'_>, bytes: usize) -> Poll<()> {
        let Some(more) = bytes.checked_sub(self.bytes).filter(|more| *more > 0) else {
            return Poll::Ready(());
        };
        let budget = Arc::clone(&self.budget);
        let mut state = budget.state.lock();
        let mut is_taken = budget.take(&mut state, self, more);
        if !is_taken && !self.has_reserve && !state.is_reserve_taken {
            (self.has_reserve, state.is_reserve_taken) = (true, true);
            is_taken = budget.take(&mut state, self, more);
        }
        if is_taken {
            if let Some(ticket) = self.ticket.take() {
                state.waiting.remove(&ticket);
            }
            self.bytes = bytes;
            return Poll::Ready(());
        }
        let state = &mut *state;
        let ticket = *self.ticket.get_or_insert_with(|| {
            state.tickets += 1;
            state.tickets
        });
        let waker = state.waiting.entry(ticket).or_insert_with(|| context.waker().clone());
        waker.clone_from(context.waker());
        Poll::Pending
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        if self.bytes > 0 || self.has_reserve || self.ticket.is_some() {
            self.budget.give_back(self);
        }
    }
}

/// A frame whose bytes are charged as long as any part of it is kept.
struct ChargedFrame {
    bytes: Bytes,
    _charge: Charge,
}

impl AsRef<[u8]> for ChargedFrame {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Ties a charge to the bytes that it is for.
pub(super) fn charged(bytes: Bytes, charge: Charge) -> Bytes {
    Bytes::from_owner(ChargedFrame { bytes, _charge: charge })
}

/// The charge for one call's decoded request. Clones share the charge, which lasts until the last one is dropped.
#[derive(Clone, Debug, Default)]
pub struct CallMemory(Option<Arc<Mutex<Charge>>>);

impl CallMemory {
    /// Creates the memory of a call whose parameter has `len` bytes.
    pub(super) fn of(len: usize, charge: impl FnOnce() -> Charge) -> Self {
        Self((len > DECODED_FREE_LEN).then(|| Arc::new(Mutex::new(charge()))))
    }

    /// Returns `true` if the request is so large that decoding it is charged.
    pub fn is_charged(&self) -> bool {
        self.0.is_some()
    }

    /// Decodes a request or a part of it. `invalid` names the exception for bytes that are no such message.
    ///
    /// # Errors
    /// Fails with that exception, with Java's `RetriableException` if other requests leave too little room, or with its
    /// `RpcServerException` if the request alone takes more than is allowed.
    pub fn decode<M: Checked>(
        &self,
        param: Bytes,
        invalid: impl Fn(InvalidMessage) -> RemoteException,
    ) -> Result<M, RemoteException> {
        let Some(charge) = &self.0 else {
            return zerohop_proto::decode(param).map_err(invalid);
        };
        let measured = zerohop_proto::measure::<M>(param).map_err(&invalid)?;
        charge.lock().add_for_call(measured.memory())?;
        measured.decode().map_err(invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    const ONE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
    const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));

    #[test]
    fn one_address_leaves_room_for_a_frame_of_another() {
        let budget = Budget::new(400, 100);
        let (mut one, mut second) = (budget.charge(ONE), budget.charge(ONE));
        assert!(one.raise(150) && second.raise(50));
        assert!(!second.raise(51), "two frames are its share");
        let mut other = budget.charge(OTHER);
        assert!(other.raise(100) && !other.raise(101));
        drop(one);
        assert!(other.raise(200) && second.raise(100));
        drop((other, second));
        assert_eq!(budget.used(), 0);
        assert!(budget.state.lock().by_address.is_empty());
    }

    /// Frames that each had a part of the budget could keep each other from their rest.
    #[test]
    fn frames_that_have_begun_are_finished_one_after_the_other() {
        let budget = Budget::new(200, 100);
        let mut context = Context::from_waker(Waker::noop());
        let mut all: Vec<Charge> = (0..4).map(|_| budget.charge(ONE)).collect();
        assert!(all.iter_mut().all(|charge| charge.raise(25)));
        while let Some(mut next) = all.pop() {
            assert!(next.poll_raise(&mut context, 100).is_ready(), "{} wait", all.len());
            assert!(budget.used() <= 200);
        }
    }

    #[test]
    fn who_waits_for_room_is_woken_when_a_frame_is_dropped() {
        let budget = Budget::new(200, 100);
        let mut context = Context::from_waker(Waker::noop());
        let mut reserved = budget.charge(OTHER);
        let mut held = budget.charge(ONE);
        assert!(held.raise(100) && reserved.poll_raise(&mut context, 1).is_ready());
        let frame = charged(Bytes::from_static(b"frame"), held);
        let part = frame.slice(1..2);
        drop(frame);
        let wakes = Arc::<Wakes>::default();
        let waker = Waker::from(Arc::clone(&wakes));
        let mut context = Context::from_waker(&waker);
        let mut waits = budget.charge(ONE);
        for _ in 0..3 {
            assert!(waits.poll_raise(&mut context, 50).is_pending());
        }
        assert_eq!((budget.used(), wakes.0.load(Ordering::Relaxed)), (101, 0));
        drop(part);
        assert_eq!((budget.used(), wakes.0.load(Ordering::Relaxed)), (1, 1));
        assert!(waits.poll_raise(&mut context, 50).is_ready());
        assert_eq!(waits.bytes(), 50);
    }

    /// While the budget was full, each connection that waited and left stayed in memory, and was looked at by all others.
    #[test]
    fn connections_that_left_were_kept_until_others_gave_bytes_back() {
        let budget = Budget::new(200, 100);
        let mut context = Context::from_waker(Waker::noop());
        let mut held = budget.charge(ONE);
        assert!(held.poll_raise(&mut context, 200).is_ready());
        for _ in 0..5 {
            let wakes = Arc::<Wakes>::default();
            let waker = Waker::from(Arc::clone(&wakes));
            let mut leaves = budget.charge(OTHER);
            assert!(leaves.poll_raise(&mut Context::from_waker(&waker), 50).is_pending());
            drop((leaves, waker));
            assert_eq!(Arc::strong_count(&wakes), 1);
        }
        assert_eq!(budget.used(), 200);
    }
}
