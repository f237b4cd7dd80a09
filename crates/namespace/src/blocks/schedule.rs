//! Blocks that were sent to a DataNode and that it has not reported.

use super::types::StorageType;

const TYPES: usize = StorageType::ALL.len();

/// How many are on their way to volumes of each type: the DataNode chooses the volume. Blocks that it never reports are
/// forgotten after two periods.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Schedule {
    /// In this period, and before it.
    counts: [[u32; 2]; TYPES],
}

impl Schedule {
    pub(super) fn add(&mut self, kind: StorageType) {
        if let Some([new, _]) = self.counts.get_mut(kind as usize) {
            *new = new.saturating_add(1);
        }
    }

    /// The oldest has arrived, or will not.
    pub(super) fn remove(&mut self, kind: StorageType) {
        match self.counts.get_mut(kind as usize) {
            Some([new, 0]) => *new = new.saturating_sub(1),
            Some([_, old]) => *old -= 1,
            None => {}
        }
    }

    pub(super) fn count(&self, kind: StorageType) -> u64 {
        self.counts.get(kind as usize).map_or(0, |[new, old]| u64::from(*new) + u64::from(*old))
    }

    pub(super) fn total(&self) -> u64 {
        self.counts.iter().flatten().map(|count| u64::from(*count)).sum()
    }

    pub(super) fn roll(&mut self) {
        self.counts.iter_mut().for_each(|[new, old]| *old = std::mem::take(new));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks on their way to NVDIMM were not counted: the last type had no place.
    #[test]
    fn blocks_on_their_way_are_counted_for_every_type() {
        let mut schedule = Schedule::default();
        StorageType::ALL.into_iter().for_each(|kind| schedule.add(kind));
        assert!(StorageType::ALL.into_iter().all(|kind| schedule.count(kind) == 1));
        assert_eq!(schedule.total(), 6);
        schedule.roll();
        StorageType::ALL.into_iter().for_each(|kind| schedule.remove(kind));
        assert_eq!(schedule.total(), 0);
    }
}
