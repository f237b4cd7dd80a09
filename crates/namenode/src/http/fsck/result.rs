//! The sums at the end of a check.

use std::fmt;
use zerohop_namespace::blocks::BlockCheck;

#[derive(Default)]
pub(super) struct Totals {
    pub(super) dirs: u64,
    pub(super) symlinks: u64,
    pub(super) files: u64,
    pub(super) size: u64,
    pub(super) blocks: u64,
    pub(super) corrupt_files: u64,
    open_files: u64,
    open_size: u64,
    open_blocks: u64,
    missing: u64,
    missing_size: u64,
    corrupt: u64,
    corrupt_size: u64,
    replicas: u64,
    expected: u64,
    missing_replicas: u64,
    under_min: u64,
    min: u64,
    under: u64,
    over: u64,
    decommissioned: u64,
    decommissioning: u64,
    entering_maintenance: u64,
    in_maintenance: u64,
    misplaced: u64,
    /// Badly placed blocks that `-replicate` queued.
    pub(super) queued: u64,
    replication_default: u16,
    replication_min: u16,
}

impl Totals {
    pub(super) fn new(replication_default: u16, replication_min: u16) -> Self {
        Self { replication_default, replication_min, ..Self::default() }
    }

    pub(super) fn is_healthy(&self) -> bool {
        self.missing == 0 && self.corrupt == 0
    }

    pub(super) fn add_open(&mut self, size: u64, blocks: u64) {
        self.open_files += 1;
        self.open_size += size;
        self.open_blocks += blocks;
    }

    pub(super) fn add_misplaced(&mut self) {
        self.misplaced += 1;
    }

    pub(super) fn add_block(&mut self, check: &BlockCheck, replicas: u32, target: u32) {
        let counts = &check.counts;
        self.entering_maintenance += u64::from(check.entering_maintenance());
        self.in_maintenance += u64::from(check.in_maintenance());
        self.replicas += u64::from(replicas);
        self.expected += u64::from(target);
        self.decommissioned += u64::from(counts.decommissioned);
        self.decommissioning += u64::from(counts.decommissioning);
        let is_under_min = replicas < u32::from(self.replication_min);
        self.under_min += u64::from(is_under_min);
        self.min += u64::from(!is_under_min);
        self.over += u64::from(counts.live > target);
        if replicas < target && replicas > 0 {
            self.under += 1;
            self.missing_replicas += u64::from(target - replicas);
        }
    }

    pub(super) fn add_missing(&mut self, size: u64) {
        self.missing += 1;
        self.missing_size += size;
    }

    pub(super) fn add_corrupt(&mut self, size: u64) {
        self.corrupt += 1;
        self.corrupt_size += size;
    }

    /// ` (33.333332 %)`, nothing without blocks.
    fn share(&self, part: u64) -> String {
        if self.blocks == 0 {
            return String::new();
        }
        format!(" ({:?} %)", (part * 100) as f32 / self.blocks as f32)
    }

    fn write_damage(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stars = "\n  ********************************";
        if self.corrupt_files == 0 && self.under_min == 0 {
            return Ok(());
        }
        f.write_str(stars)?;
        if self.under_min > 0 {
            write!(
                f,
                "\n  UNDER MIN REPL'D BLOCKS:\t{}{}",
                self.under_min,
                self.share(self.under_min)
            )?;
            write!(f, "\n  MINIMAL BLOCK REPLICATION:\t{}", self.replication_min)?;
        }
        if self.corrupt_files > 0 {
            write!(f, "\n  CORRUPT FILES:\t{}", self.corrupt_files)?;
            if self.missing_size > 0 {
                write!(
                    f,
                    "\n  MISSING BLOCKS:\t{}\n  MISSING SIZE:\t\t{} B",
                    self.missing, self.missing_size
                )?;
            }
            if self.corrupt > 0 {
                write!(
                    f,
                    "\n  CORRUPT BLOCKS: \t{}\n  CORRUPT SIZE:\t\t{} B",
                    self.corrupt, self.corrupt_size
                )?;
            }
        }
        f.write_str(stars)
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " Total size:\t{} B", self.size)?;
        if self.open_size > 0 {
            write!(f, " (Total open files size: {} B)", self.open_size)?;
        }
        write!(f, "\n Total files:\t{}", self.files)?;
        if self.open_files > 0 {
            write!(f, " (Files currently being written: {})", self.open_files)?;
        }
        write!(f, "\n Total blocks (validated):\t{}", self.blocks)?;
        if let Some(average) = self.size.checked_div(self.blocks) {
            write!(f, " (avg. block size {average} B)")?;
        }
        if self.open_blocks > 0 {
            write!(f, " (Total open file blocks (not validated): {})", self.open_blocks)?;
        }
        self.write_damage(f)?;
        write!(f, "\n Minimally replicated blocks:\t{}{}", self.min, self.share(self.min))?;
        write!(f, "\n Over-replicated blocks:\t{}{}", self.over, self.share(self.over))?;
        write!(f, "\n Under-replicated blocks:\t{}{}", self.under, self.share(self.under))?;
        write!(f, "\n Mis-replicated blocks:\t\t{}{}", self.misplaced, self.share(self.misplaced))?;
        write!(f, "\n Default replication factor:\t{}", self.replication_default)?;
        let average =
            if self.blocks == 0 { 0.0 } else { self.replicas as f32 / self.blocks as f32 };
        write!(f, "\n Average block replication:\t{average:?}")?;
        write!(f, "\n Missing blocks:\t\t{}\n Corrupt blocks:\t\t{}", self.missing, self.corrupt)?;
        write!(f, "\n Missing replicas:\t\t{}", self.missing_replicas)?;
        if self.replicas > 0 {
            write!(f, " ({:?} %)", (self.missing_replicas * 100) as f32 / self.expected as f32)?;
        }
        if self.decommissioned > 0 {
            write!(f, "\n DecommissionedReplicas:\t{}", self.decommissioned)?;
        }
        if self.decommissioning > 0 {
            write!(f, "\n DecommissioningReplicas:\t{}", self.decommissioning)?;
        }
        if self.entering_maintenance > 0 {
            write!(f, "\n EnteringMaintenanceReplicas:\t{}", self.entering_maintenance)?;
        }
        if self.in_maintenance > 0 {
            write!(f, "\n InMaintenanceReplicas:\t{}", self.in_maintenance)?;
        }
        write!(f, "\n Blocks queued for replication:\t{}", self.queued)
    }
}

/// The section on erasure coding where there is none.
pub(super) const NO_ERASURE_CODING: &str = " Total size:\t0 B\n Total files:\t0\n Total block groups (validated):\t0\n \
Minimally erasure-coded block groups:\t0\n Over-erasure-coded block groups:\t0\n Under-erasure-coded block groups:\t0\n \
Unsatisfactory placement block groups:\t0\n Average block group size:\t0.0\n Missing block groups:\t\t0\n Corrupt block \
groups:\t\t0\n Missing internal blocks:\t0\n Blocks queued for replication:\t0";

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_namespace::blocks::{BlockState, ReplicaCounts, StoredBlock};
    use zerohop_wire::{Block, BlockId, GenerationStamp, InodeId};

    #[test]
    fn sums_print_as_hadoop_prints_them() {
        let mut totals = Totals::new(3, 1);
        (totals.files, totals.size, totals.blocks) = (2, 300, 3);
        let stored = StoredBlock {
            block: Block { id: BlockId(1), stamp: GenerationStamp(1), len: 100 },
            file: InodeId(1),
            replication: 3,
            state: BlockState::Complete,
        };
        totals.add_misplaced();
        for live in [3, 3, 2] {
            let counts = ReplicaCounts { live, ..ReplicaCounts::default() };
            totals.add_block(&BlockCheck { stored, counts, replicas: Vec::new() }, live, 3);
        }
        let text = totals.to_string();
        assert!(text.contains(" Total blocks (validated):\t3 (avg. block size 100 B)\n"));
        assert!(text.contains("\n Minimally replicated blocks:\t3 (100.0 %)\n"));
        assert!(text.contains("\n Under-replicated blocks:\t1 (33.333332 %)\n"));
        assert!(text.contains("\n Mis-replicated blocks:\t\t1 (33.333332 %)\n"));
        assert!(text.contains("\n Average block replication:\t2.6666667\n"));
        assert!(text.contains("\n Missing replicas:\t\t1 (11.111111 %)\n"));
        assert!(totals.is_healthy());
    }
}
