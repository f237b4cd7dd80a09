//! Background scans: they find corrupt replicas that no client reads, and differences between
//! the files on the disks and the replicas in memory.

mod block_scanner;
mod compare_disks;
mod cursor;
mod directory;
mod rate;
mod reconcile;
mod settings;
mod statistics;
mod suspects;
mod verify;
mod volume_scanner;

#[cfg(test)]
mod scan_test;

pub(crate) use block_scanner::BlockScanner;
pub(crate) use compare_disks::scan_directories;
pub(crate) use directory::DirectoryScanner;
pub(crate) use settings::{BlockScannerSettings, DirectoryScannerSettings};
pub(crate) use verify::verify_volume;
