//! Settings that may change while the DataNode runs.

use crate::error::Error;
use std::time::Duration;
use zerohop_conf::{Conf, keys};

/// Settings that may change while the DataNode runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Adjustable {
    pub(crate) block_report_interval: Duration,
    pub(crate) block_report_split: u64,
    pub(crate) cache_report_interval: Duration,
    pub(crate) balance_max_moves: usize,
}

impl Adjustable {
    /// Their keys.
    pub(super) const KEYS: [&str; 4] = [
        keys::DFS_DATANODE_BALANCE_MAX_CONCURRENT_MOVES.name,
        keys::DFS_BLOCKREPORT_INTERVALMSEC.name,
        keys::DFS_BLOCKREPORT_SPLIT_THRESHOLD.name,
        keys::DFS_CACHEREPORT_INTERVALMSEC.name,
    ];

    /// Reads the settings.
    pub(crate) fn read(conf: &Conf) -> Result<Self, Error> {
        let positive = |count: i32| usize::try_from(count).ok().filter(|count| *count > 0);
        let interval = conf.get(&keys::DFS_BLOCKREPORT_INTERVALMSEC)?;
        Ok(Self {
            // Zero means "no limit" in Hadoop.
            block_report_interval: match interval.is_zero() {
                true => Duration::from_secs(24 * 3600),
                false => interval,
            },
            block_report_split: u64::try_from(conf.get(&keys::DFS_BLOCKREPORT_SPLIT_THRESHOLD)?)
                .unwrap_or(0),
            cache_report_interval: conf.get(&keys::DFS_CACHEREPORT_INTERVALMSEC)?,
            balance_max_moves: conf.get_as(
                &keys::DFS_DATANODE_BALANCE_MAX_CONCURRENT_MOVES,
                "a number above 0",
                positive,
            )?,
        })
    }
}
