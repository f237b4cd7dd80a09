//! Whether the blocks of DataNodes that leave service have enough replicas elsewhere, found out a few blocks at a time.
//!
//! Apache's monitor (`DatanodeAdminDefaultMonitor`) gives up its lock after so many blocks, too, and lets a DataNode go when
//! one scan over all its blocks found none that needs it; what changes behind the scan is not looked at again.

use super::map::Slot;
use super::types::{AdminState, NodeIdx};
use roaring::RoaringBitmap;
use std::collections::BTreeMap;

/// A storage of the DataNode by its number, and a block on it.
type Place = (usize, Slot);

/// The scans of all DataNodes that leave service.
#[derive(Debug, Default)]
pub(super) struct LeavingScans {
    scans: BTreeMap<NodeIdx, Scan>,
    changes: Vec<(String, AdminState)>,
}

/// A scan over the blocks of one DataNode. It goes round in a circle: where it finds a block that needs the DataNode it
/// waits, and it is done when it has come round without finding another.
#[derive(Debug, Default)]
pub(super) struct Scan {
    at: Place,
    /// Where the circle ends.
    from: Place,
    has_wrapped: bool,
    is_waiting: bool,
}

/// What a slice of a scan found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// There are more blocks to look at.
    Unfinished,
    /// A block needs the DataNode; the scan waits there.
    Needed,
    /// No block does.
    Done,
}

impl LeavingScans {
    /// Begins the scan of a DataNode, or continues one that waits.
    pub(super) fn resume(&mut self, node: NodeIdx) {
        self.scans.entry(node).or_default().is_waiting = false;
    }

    /// Drops the scan of a DataNode: what is asked of its blocks has changed.
    pub(super) fn drop_scan(&mut self, node: NodeIdx) {
        self.scans.remove(&node);
    }

    /// A DataNode whose scan does not wait.
    pub(super) fn next(&self) -> Option<NodeIdx> {
        self.scans.iter().find(|(_, scan)| !scan.is_waiting).map(|(node, _)| *node)
    }

    /// The scan of a DataNode waits until it is resumed.
    pub(super) fn wait(&mut self, node: NodeIdx) {
        if let Some(scan) = self.scans.get_mut(&node) {
            scan.is_waiting = true;
        }
    }

    /// Looks at up to `left` blocks of a DataNode, which has these storages. Returns what was found and how many blocks may
    /// still be looked at.
    pub(super) fn advance(
        &mut self,
        node: NodeIdx,
        storages: &[&RoaringBitmap],
        left: usize,
        is_enough: impl FnMut(Slot) -> bool,
    ) -> (Progress, usize) {
        let scan = self.scans.entry(node).or_default();
        scan.advance(storages, left, is_enough)
    }

    /// Keeps for the log that a DataNode has another state now.
    pub(super) fn note_change(&mut self, name: String, state: AdminState) {
        self.changes.push((name, state));
    }

    /// What was noted since the last call.
    pub(super) fn take_changes(&mut self) -> Vec<(String, AdminState)> {
        std::mem::take(&mut self.changes)
    }
}

impl Scan {
    fn advance(
        &mut self,
        storages: &[&RoaringBitmap],
        mut left: usize,
        mut is_enough: impl FnMut(Slot) -> bool,
    ) -> (Progress, usize) {
        loop {
            let (storage, from) = self.at;
            let Some(blocks) = storages.get(storage) else {
                if self.has_wrapped {
                    return (Progress::Done, left);
                }
                (self.at, self.has_wrapped) = ((0, 0), true);
                continue;
            };
            let Some(slot) = blocks.range(from..).next() else {
                self.at = (storage + 1, 0);
                continue;
            };
            if self.has_wrapped && (storage, slot) >= self.from {
                return (Progress::Done, left);
            }
            if left == 0 {
                return (Progress::Unfinished, 0);
            }
            left -= 1;
            if !is_enough(slot) {
                let at = (storage, slot);
                *self = Self { at, from: at, has_wrapped: false, is_waiting: true };
                return (Progress::Needed, left);
            }
            self.at = slot.checked_add(1).map_or((storage + 1, 0), |next| (storage, next));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: NodeIdx = NodeIdx(7);

    #[test]
    fn a_scan_is_done_after_a_round_without_a_block_that_needs_the_datanode() {
        let (one, two): (RoaringBitmap, RoaringBitmap) = ((0..4).collect(), (10..14).collect());
        let mut scans = LeavingScans::default();
        scans.resume(NODE);
        let mut lacking = vec![2, 11];
        let mut looks = Vec::new();
        let mut rounds = 0;
        loop {
            assert_eq!(scans.next(), Some(NODE));
            let look = |slot| {
                looks.push(slot);
                !lacking.contains(&slot)
            };
            match scans.advance(NODE, &[&one, &two], 3, look) {
                (Progress::Unfinished, 0) => {}
                (Progress::Needed, _) => {
                    assert_eq!(scans.next(), None, "it waits");
                    lacking.remove(0);
                    scans.resume(NODE);
                }
                (Progress::Done, _) => break,
                other => panic!("{other:?}"),
            }
            rounds += 1;
            assert!(rounds < 20, "{looks:?}");
        }
        assert_eq!(looks, [0, 1, 2, 2, 3, 10, 11, 11, 12, 13, 0, 1, 2, 3, 10]);
    }

    #[test]
    fn a_datanode_without_blocks_is_done_at_once() {
        let mut scans = LeavingScans::default();
        assert_eq!(scans.advance(NODE, &[], 0, |_| false), (Progress::Done, 0));
        let none = RoaringBitmap::new();
        assert_eq!(scans.advance(NODE, &[&none], 5, |_| false), (Progress::Done, 5));
    }
}
