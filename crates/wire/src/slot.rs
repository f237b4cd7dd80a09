//! A slot of a shared memory segment: one word that a DataNode and a client change together.
//!
//! ```text
//!  63      62          61..31   30..0
//! +-------+-----------+--------+--------------+
//! | valid | anchorable| unused | anchor count |   8 bytes, then 56 unused: a cache line a slot
//! +-------+-----------+--------+--------------+
//! ```
//! The client takes a free slot, marks it valid and names it when it asks for a replica's
//! descriptors. The DataNode makes it invalid when the replica must not be used any more (deleted,
//! appended to), and anchorable while the replica is locked in memory. The client anchors it for as
//! long as it gives out zero-copy reads or reads unverified; the DataNode unlocks the memory only when no
//! anchor is left. (`ShortCircuitShm`; the layout is its fact.)
//!
//! A client that holds no anchor reads as a seqlock is read: it finds the slot valid, reads the
//! replica's bytes, and counts them only if [`Slot::is_still_valid`] finds the slot valid again. The
//! DataNode calls [`Slot::make_invalid`] before it changes a byte. Two fences make this sound, because an
//! acquire load does not keep earlier reads in front of it, nor a release store later writes behind it
//! (ARM reorders both; x86 does not):
//!
//! ```text
//! client                              DataNode
//! read the bytes                      clear the valid flag
//! fence(Acquire)                      fence(Release)
//! load the slot's word                change the bytes
//! ```
//! If the client read one changed byte, its fence synchronizes with the DataNode's, the cleared flag
//! happens before the second load, and that load sees it.
//!
//! The operations are written over [`Slot`]'s four primitives, so that a model checker can run
//! them on its own atomics.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use zerohop_proto::hdfs::{ShortCircuitShmIdProto, ShortCircuitShmSlotProto};

/// Bytes a slot takes in its segment.
pub const SLOT_LEN: usize = 64;
/// Bytes of the segments that DataNodes make.
pub const SEGMENT_LEN: usize = 8192;
/// Slots of such a segment.
pub const SLOTS_PER_SEGMENT: usize = SEGMENT_LEN / SLOT_LEN;

const VALID: u64 = 1 << 63;
const ANCHORABLE: u64 = 1 << 62;
const ANCHORS: u64 = 0x7fff_ffff;

/// The name of a segment, random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShmId {
    /// The high half.
    pub hi: i64,
    /// The low half.
    pub lo: i64,
}

/// A slot of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SlotId {
    /// The segment.
    pub shm: ShmId,
    /// Which slot, from 0; what comes over the network may be any number.
    pub index: i32,
}

impl fmt::Display for ShmId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}{:016x}", self.hi, self.lo)
    }
}

impl fmt::Display for SlotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SlotId({}:{})", self.shm, self.index)
    }
}

impl From<ShortCircuitShmIdProto> for ShmId {
    fn from(id: ShortCircuitShmIdProto) -> Self {
        Self { hi: id.hi, lo: id.lo }
    }
}

impl From<ShmId> for ShortCircuitShmIdProto {
    fn from(id: ShmId) -> Self {
        Self { hi: id.hi, lo: id.lo }
    }
}

impl From<&ShortCircuitShmSlotProto> for SlotId {
    fn from(id: &ShortCircuitShmSlotProto) -> Self {
        Self { shm: ShmId { hi: id.shm_id.hi, lo: id.shm_id.lo }, index: id.slot_idx }
    }
}

impl From<SlotId> for ShortCircuitShmSlotProto {
    fn from(id: SlotId) -> Self {
        Self { shm_id: id.shm.into(), slot_idx: id.index }
    }
}

/// The operations on a slot's word; implemented for [`AtomicU64`].
///
/// All of them are lock-free. They act on one word only, so acquire and release order is enough:
/// who sees an anchor taken or a flag cleared sees what its setter did before. What is read without an
/// anchor, between two looks at the valid flag, needs the fences as well.
pub trait Slot {
    /// Reads the word (acquire).
    fn load(&self) -> u64;
    /// Writes the word (release).
    fn store(&self, word: u64);
    /// Writes `new` if the word is `current` (acquire and release); otherwise returns what it is.
    fn replace(&self, current: u64, new: u64) -> Result<(), u64>;
    /// A fence between this thread's accesses to the replica and those to the word.
    fn fence(&self, order: Ordering);

    /// Whether the replica may be used.
    fn is_valid(&self) -> bool {
        self.load() & VALID != 0
    }

    /// Whether the replica could be used until now: what was read before this call, and after
    /// [`is_valid`](Self::is_valid) said yes, is from before any change by the DataNode.
    fn is_still_valid(&self) -> bool {
        // The reads of the replica stay in front of the load of the word.
        self.fence(Ordering::Acquire);
        self.is_valid()
    }

    /// Whether the slot may be anchored: the replica is locked in memory.
    fn is_anchorable(&self) -> bool {
        self.load() & ANCHORABLE != 0
    }

    /// Whether the slot is valid and a reader holds it anchored.
    fn is_anchored(&self) -> bool {
        let word = self.load();
        word & VALID != 0 && word & ANCHORS != 0
    }

    /// Anchors held now.
    fn anchors(&self) -> u32 {
        (self.load() & ANCHORS) as u32
    }

    /// Anchors the slot; false when it is invalid, not anchorable or anchored 2^31 - 1 times.
    fn add_anchor(&self) -> bool {
        self.update(|word| {
            let may = word & VALID != 0 && word & ANCHORABLE != 0 && word & ANCHORS != ANCHORS;
            may.then(|| word + 1)
        })
    }

    /// Takes one anchor back; false when there was none. Works on an invalid slot too.
    fn remove_anchor(&self) -> bool {
        self.update(|word| (word & ANCHORS != 0).then(|| word - 1))
    }

    /// Makes it a fresh valid slot: not anchorable, no anchors. Only for the client that owns it.
    fn claim(&self) {
        self.store(VALID);
    }

    /// From now on the replica may be used.
    fn make_valid(&self) {
        self.set(VALID);
    }

    /// From now on the replica must not be used.
    fn make_invalid(&self) {
        self.clear(VALID);
        // The changes of the replica that follow stay behind the cleared flag.
        self.fence(Ordering::Release);
    }

    /// From now on the slot may be anchored.
    fn make_anchorable(&self) {
        self.set(ANCHORABLE);
    }

    /// From now on no new anchors; those held stay.
    fn make_unanchorable(&self) {
        self.clear(ANCHORABLE);
    }

    #[doc(hidden)]
    fn set(&self, flag: u64) {
        self.update(|word| (word & flag == 0).then_some(word | flag));
    }

    #[doc(hidden)]
    fn clear(&self, flag: u64) {
        self.update(|word| (word & flag != 0).then_some(word & !flag));
    }

    /// Replaces the word by what `change` makes of it; false, and no write, when that is nothing.
    #[doc(hidden)]
    fn update(&self, change: impl Fn(u64) -> Option<u64>) -> bool {
        let mut word = self.load();
        while let Some(new) = change(word) {
            match self.replace(word, new) {
                Ok(()) => return true,
                Err(now) => word = now,
            }
        }
        false
    }
}

impl Slot for AtomicU64 {
    fn load(&self) -> u64 {
        AtomicU64::load(self, Ordering::Acquire)
    }

    fn store(&self, word: u64) {
        AtomicU64::store(self, word, Ordering::Release);
    }

    fn replace(&self, current: u64, new: u64) -> Result<(), u64> {
        self.compare_exchange(current, new, Ordering::AcqRel, Ordering::Acquire).map(drop)
    }

    fn fence(&self, order: Ordering) {
        fence(order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_laid_out_as_java_has_it() {
        let slot = AtomicU64::new(0x7f);
        slot.claim();
        assert_eq!(Slot::load(&slot), 1 << 63);
        assert!(!slot.add_anchor(), "not anchorable");
        slot.make_anchorable();
        assert!(slot.add_anchor() && slot.add_anchor());
        assert_eq!(Slot::load(&slot), 1 << 63 | 1 << 62 | 2);
        slot.make_unanchorable();
        assert!(!slot.add_anchor());
        assert!(slot.is_anchored());
        slot.make_invalid();
        assert!(!slot.is_anchored(), "an invalid slot keeps nothing in memory");
        assert_eq!(slot.anchors(), 2);
        assert!(slot.remove_anchor() && slot.remove_anchor() && !slot.remove_anchor());
        assert_eq!(Slot::load(&slot), 0);
    }

    #[test]
    fn the_anchor_count_never_runs_into_other_bits() {
        let slot = AtomicU64::new(VALID | ANCHORABLE | ANCHORS);
        assert!(!slot.add_anchor());
        assert_eq!(Slot::load(&slot), VALID | ANCHORABLE | ANCHORS);
    }

    #[test]
    fn ids_print_as_java_prints_them() {
        let shm = ShmId { hi: -1, lo: 0x1f };
        assert_eq!(shm.to_string(), "ffffffffffffffff000000000000001f");
        assert_eq!(
            SlotId { shm, index: 3 }.to_string(),
            "SlotId(ffffffffffffffff000000000000001f:3)"
        );
    }
}
