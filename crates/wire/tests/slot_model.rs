//! The slot protocol under every order of steps that two or three threads can take (loom).

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use loom::thread;
use zerohop_wire::Slot;

/// A slot whose accesses the model checker orders.
struct Modelled(AtomicU64);

impl Slot for Modelled {
    fn load(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    fn store(&self, word: u64) {
        self.0.store(word, Ordering::Release);
    }

    fn replace(&self, current: u64, new: u64) -> Result<(), u64> {
        self.0.compare_exchange(current, new, Ordering::AcqRel, Ordering::Acquire).map(drop)
    }

    fn fence(&self, order: Ordering) {
        fence(order);
    }
}

fn anchorable() -> Arc<Modelled> {
    let slot = Arc::new(Modelled(AtomicU64::new(0)));
    slot.claim();
    slot.make_anchorable();
    slot
}

/// While a client holds an anchor, the replica is locked in memory: the DataNode unlocks it only
/// after it forbade new anchors and saw none.
#[test]
fn memory_is_never_unlocked_under_an_anchor() {
    loom::model(|| {
        let slot = anchorable();
        let locked = Arc::new(AtomicBool::new(true));
        let client = {
            let (slot, locked) = (slot.clone(), locked.clone());
            thread::spawn(move || {
                if slot.add_anchor() {
                    assert!(locked.load(Ordering::Relaxed));
                    assert!(slot.remove_anchor());
                }
            })
        };
        slot.make_unanchorable();
        if !slot.is_anchored() {
            locked.store(false, Ordering::Relaxed);
        }
        client.join().unwrap();
        assert!(!slot.is_anchored());
    });
}

/// A client that saw the slot valid after it was told off does not exist: and no anchor gets lost,
/// whatever the flags do meanwhile.
#[test]
fn flags_and_anchors_do_not_disturb_each_other() {
    loom::model(|| {
        let slot = anchorable();
        let clients = [0, 1].map(|_| {
            let slot = slot.clone();
            thread::spawn(move || u32::from(slot.add_anchor()))
        });
        slot.make_invalid();
        assert!(!slot.add_anchor());
        let held: u32 = clients.into_iter().map(|client| client.join().unwrap()).sum();
        assert_eq!(slot.anchors(), held);
        assert!(!slot.is_valid() && slot.is_anchorable());
        for _ in 0..held {
            assert!(slot.remove_anchor());
        }
        assert!(!slot.remove_anchor());
    });
}

/// The DataNode locks the replica, then says so: who can anchor sees it locked.
#[test]
fn an_anchor_is_taken_only_after_the_lock() {
    loom::model(|| {
        let slot = Arc::new(Modelled(AtomicU64::new(0)));
        slot.claim();
        let locked = Arc::new(AtomicBool::new(false));
        let datanode = {
            let (slot, locked) = (slot.clone(), locked.clone());
            thread::spawn(move || {
                locked.store(true, Ordering::Relaxed);
                slot.make_anchorable();
            })
        };
        if slot.add_anchor() {
            assert!(locked.load(Ordering::Relaxed));
        }
        datanode.join().unwrap();
    });
}

/// A client reads without an anchor while the DataNode takes the replica back and changes it. The
/// second look at the slot was an acquire load, in front of which the reads of the data did not have to
/// stay: changed bytes could be taken for good ones.
#[test]
fn bytes_read_before_the_slot_is_found_valid_again_are_not_changed_ones() {
    loom::model(|| {
        let slot = anchorable();
        let bytes = Arc::new(AtomicU64::new(1));
        let datanode = {
            let (slot, bytes) = (slot.clone(), bytes.clone());
            thread::spawn(move || {
                slot.make_invalid();
                bytes.store(2, Ordering::Relaxed);
            })
        };
        if slot.is_valid() {
            let read = bytes.load(Ordering::Relaxed);
            if slot.is_still_valid() {
                assert_eq!(read, 1);
            }
        }
        datanode.join().unwrap();
    });
}
