//! What a client sees of its slots when the DataNode acts.

use super::registry::InvalidSlot;
use super::{BlockCache, BlockKey, CacheLimits, Limits, Registry, SocketState, listing};
use std::sync::Arc;
use std::time::Duration;
use zerohop_transport::domain::Peer;
use zerohop_transport::shm::Segment;
use zerohop_wire::{BlockId, Slot, SlotId};

const ONE: Peer = Peer { pid: 1, uid: 10 };
const TWO: Peer = Peer { pid: 2, uid: 20 };

fn registry() -> Arc<Registry> {
    Registry::new(Vec::new(), Limits { per_process: 2, per_user: 3, total: 3 })
}

fn key(id: i64) -> BlockKey {
    BlockKey { pool: "BP-1".into(), id: BlockId(id) }
}

#[test]
fn a_revoked_block_is_seen_by_all_its_holders_and_by_nobody_else() {
    let registry = registry();
    let (first, fd) = registry.create("one", ONE).unwrap();
    let ones = Segment::map(fd).unwrap();
    let (second, fd) = registry.create("two", TWO).unwrap();
    let twos = Segment::map(fd).unwrap();
    for slot in [ones.slot(0), ones.slot(1), twos.slot(5)] {
        slot.unwrap().claim();
    }
    let at = |index| SlotId { shm: first.id(), index };
    registry.register(at(0), ONE, &key(7), false).unwrap();
    registry.register(at(1), ONE, &key(8), true).unwrap();
    registry.register(SlotId { shm: second.id(), index: 5 }, TWO, &key(7), false).unwrap();
    assert_eq!(registry.counts(), (2, 3));
    assert_eq!(registry.clients(&key(7)), "one,two");
    registry.revoke(&key(7));
    assert!(!ones.slot(0).unwrap().is_valid() && !twos.slot(5).unwrap().is_valid());
    assert!(ones.slot(1).unwrap().is_valid());

    // A dead client's segment goes with its slots; what others hold stays.
    drop(second);
    assert_eq!(registry.counts(), (1, 2));
    registry.unregister(at(0), ONE).unwrap();
    registry.unregister(at(1), ONE).unwrap();
    assert!(!ones.slot(1).unwrap().is_valid());
    drop(first);
    assert_eq!(registry.counts(), (0, 0));
}

#[test]
fn memory_is_unlocked_when_no_anchor_is_left() {
    let registry = registry();
    let (segment_guard, fd) = registry.create("one", ONE).unwrap();
    let segment = Segment::map(fd).unwrap();
    let slot = segment.slot(0).unwrap();
    slot.claim();
    registry.register(SlotId { shm: segment_guard.id(), index: 0 }, ONE, &key(7), false).unwrap();
    assert!(!slot.add_anchor());
    registry.locked(&key(7));
    assert!(slot.add_anchor());
    assert!(!registry.may_unlock(&key(7)));
    assert!(!slot.add_anchor(), "no new anchors once it was asked for");
    slot.remove_anchor();
    assert!(registry.may_unlock(&key(7)));
    assert!(registry.may_unlock(&key(9)), "nobody holds it");
}

#[test]
fn requests_that_make_no_sense_are_refused_as_java_words_it() {
    let registry = registry();
    let (segment_guard, fd) = registry.create("one", ONE).unwrap();
    let segment = Segment::map(fd).unwrap();
    let shm = segment_guard.id();
    let at = |index| SlotId { shm, index };
    let said = |result: Result<(), InvalidSlot>| result.unwrap_err().0;
    let prefix = format!("RegisteredShm({shm}): ");
    for (index, wanted) in [
        (-1, "invalid negative slot index -1"),
        (128, "invalid slot index 128"),
        (3, "slot 3 is not marked as valid."),
    ] {
        let text = said(registry.register(at(index), ONE, &key(1), false));
        assert_eq!(text, format!("{prefix}{wanted}"));
    }
    segment.slot(3).unwrap().claim();
    registry.register(at(3), ONE, &key(1), false).unwrap();
    let text = said(registry.register(at(3), ONE, &key(1), false));
    assert_eq!(text, format!("{prefix}slot 3 is already in use."));
    assert_eq!(said(registry.unregister(at(4), ONE)), format!("{prefix}slot 4 does not exist."));
    let unknown = format!("there is no shared memory segment registered with shmId {shm}");
    assert_eq!(said(registry.unregister(at(3), TWO)), unknown, "another user's segment");
    drop(segment_guard);
    assert_eq!(said(registry.unregister(at(3), ONE)), unknown);
}

#[test]
fn segments_are_bounded_for_a_process_and_for_all() {
    let registry = registry();
    let kept: Vec<_> = (0..2).map(|_| registry.create("one", ONE).unwrap()).collect();
    let refused = registry.create("one", ONE).err().unwrap().to_string();
    assert!(refused.contains("pid 1") && refused.contains("segments.max.per.process"), "{refused}");
    let _third = registry.create("two", TWO).unwrap();
    let refused = registry.create("two", TWO).err().unwrap().to_string();
    assert!(refused.contains("shortcircuit.segments.max allows"), "{refused}");
    drop(kept);
    assert!(registry.create("one", ONE).is_ok());
}

/// A user with many processes took all segments there are.
#[test]
fn segments_are_bounded_for_all_processes_of_a_user() {
    let limits = Limits { per_process: 2, per_user: 3, total: 10 };
    let registry = Registry::new(Vec::new(), limits);
    let process = |pid| Peer { pid, ..ONE };
    let kept: Vec<_> = (1..=3).map(|pid| registry.create("one", process(pid)).unwrap()).collect();
    let refused = registry.create("one", process(4)).err().unwrap().to_string();
    assert!(refused.contains("segments.max.per.user allows"), "{refused}");
    assert!(registry.create("two", TWO).is_ok(), "another user");
    drop(kept);
    assert!(registry.create("one", process(4)).is_ok());
}

#[test]
fn the_listing_says_who_holds_what() {
    let registry = registry();
    let (segment_guard, fd) = registry.create("a \"client\"", ONE).unwrap();
    let segment = Segment::map(fd).unwrap();
    segment.slot(2).unwrap().claim();
    registry.register(SlotId { shm: segment_guard.id(), index: 2 }, ONE, &key(7), true).unwrap();
    segment.slot(2).unwrap().add_anchor();
    let socket = SocketState::default();
    *socket.path.write() = Some("/run/dn".into());
    let none = CacheLimits { bytes: 0, revocation: Duration::ZERO, polling: Duration::ZERO };
    let listed = listing(&registry, &socket, &BlockCache::new(none, Arc::clone(&registry)));
    assert_eq!(listed["socket"]["path"], "/run/dn");
    let segment = &listed["segments"][0];
    assert_eq!(segment["pid"], 1);
    assert_eq!(segment["uid"], 10);
    assert_eq!(segment["client"], "a \"client\"");
    let slot = &segment["slots"][0];
    assert_eq!((&slot["block"], &slot["anchors"]), (&"BP-1:blk_7".into(), &1.into()));
    assert_eq!((&slot["valid"], &slot["anchorable"]), (&true.into(), &true.into()));
    assert!(slot["since"].as_u64().unwrap() > 1_700_000_000_000);
}
