//! Workloads over our own stack, each beside the limit the machine sets, measured in the same run.
//!
//! All sizes and counts are parameters; figures are medians of several runs. CPU time is that of the
//! processes that take part, from `/proc`. Comparisons with Apache start rivals and live elsewhere.

pub mod args;
pub mod checksum;
pub mod codec;
pub mod dfsio;
pub mod directories;
pub mod files;
pub mod local;
pub mod measure;
pub mod memory;
pub mod metadata;
pub mod process;
pub mod raw;
pub mod report;
pub mod rest;
pub mod suite;

pub use measure::{Percentiles, median};
pub use process::WatchedProcess;
pub use report::{Cost, Limit, Report, Row};
pub use suite::{Section, Suite};

/// Bytes of a gigabyte in all figures.
pub const GB: f64 = 1e9;
