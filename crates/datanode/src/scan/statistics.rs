//! What a volume's scanner has done, as `/blockScannerReport` shows it.

use std::fmt::{self, Write};
use std::time::{Instant, SystemTime};
use zerohop_system::clock;
use zerohop_wire::ExtendedBlock;

/// What a volume's scanner has done.
#[derive(Debug, Clone, Default)]
pub(crate) struct Statistics {
    pub(super) bytes_in_last_hour: u64,
    pub(super) blocks_in_period: u64,
    pub(super) blocks_since_start: u64,
    pub(super) scans_since_start: u64,
    pub(super) errors_since_start: u64,
    /// While all replicas are verified: when that begins again.
    pub(super) next_scan: Option<Instant>,
    /// The end of the present period.
    pub(super) period_ends: Option<SystemTime>,
    pub(super) last_block: Option<ExtendedBlock>,
    pub(super) is_at_end: bool,
}

impl Statistics {
    /// Replicas verified since the start.
    pub(crate) fn verified(&self) -> u64 {
        self.blocks_since_start
    }

    /// Replicas verified in the present period.
    pub(crate) fn in_period(&self) -> u64 {
        self.blocks_in_period
    }

    /// Bytes verified in the last hour.
    pub(crate) fn bytes_in_last_hour(&self) -> u64 {
        self.bytes_in_last_hour
    }

    /// How often all replicas were verified since the start.
    pub(crate) fn scans(&self) -> u64 {
        self.scans_since_start
    }

    /// Replicas that could not be verified since the start.
    pub(crate) fn failures(&self) -> u64 {
        self.errors_since_start
    }

    /// Writes the lines of Apache's page.
    pub(super) fn write(&self, page: &mut String, storage_id: &str, root: &str) -> fmt::Result {
        let last = self.last_block.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
        writeln!(page, "Block scanner information for volume {storage_id} with base path {root}")?;
        writeln!(page, "Bytes verified in last hour       : {:>57}", self.bytes_in_last_hour)?;
        writeln!(page, "Blocks scanned in current period  : {:>57}", self.blocks_in_period)?;
        writeln!(page, "Blocks scanned since restart      : {:>57}", self.blocks_since_start)?;
        writeln!(page, "Block pool scans since restart    : {:>57}", self.scans_since_start)?;
        writeln!(page, "Block scan errors since restart   : {:>57}", self.errors_since_start)?;
        if let Some(at) = self.next_scan {
            let hours = at.saturating_duration_since(clock::now()).as_secs_f64() / 3600.0;
            writeln!(page, "Hours until next block pool scan  : {hours:>57.3}")?;
        }
        if let Some(at) = self.period_ends {
            let left = at.duration_since(clock::wall()).unwrap_or_default();
            let hours = left.as_secs_f64() / 3600.0;
            writeln!(page, "Hours until possible pool rescan  : {hours:>57.3}")?;
        }
        writeln!(page, "Last block scanned                : {last:>57}")?;
        writeln!(page, "More blocks to scan in period     : {:>57}\n", !self.is_at_end)
    }
}
