//! The scanners' keys.

use crate::error::Error;
use std::time::Duration;
use zerohop_conf::{Conf, keys};

const HOUR: Duration = Duration::from_secs(3600);

/// How replicas are verified in the background.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockScannerSettings {
    /// Bytes a second on each volume.
    pub(crate) bytes_per_second: u64,
    /// Each replica is verified once in this time.
    pub(crate) period: Duration,
    /// Replicas read within the period are not verified.
    pub(crate) skips_recently_accessed: bool,
    /// Between two writes of the cursor's file.
    pub(crate) cursor_save_interval: Duration,
    /// How long the node's stop waits for the scanners.
    pub(crate) join_timeout: Duration,
}

impl BlockScannerSettings {
    /// Reads the settings; `None` if a negative period or a rate of 0 turns the scanner off.
    pub(crate) fn read(conf: &Conf) -> Result<Option<Self>, Error> {
        let hours = conf.get(&keys::DFS_DATANODE_SCAN_PERIOD_HOURS)?;
        let bytes_per_second = conf.get(&keys::DFS_BLOCK_SCANNER_VOLUME_BYTES_PER_SECOND)?;
        // 0 has meant the default since Hadoop 0.20.
        let hours = if hours == 0 { Ok(504) } else { u32::try_from(hours) };
        let Some(hours) = hours.ok().filter(|_| bytes_per_second > 0) else { return Ok(None) };
        Ok(Some(Self {
            bytes_per_second,
            period: HOUR * hours,
            skips_recently_accessed: conf.get(&keys::DFS_BLOCK_SCANNER_SKIP_RECENT_ACCESSED)?,
            cursor_save_interval: conf.get(&keys::DFS_BLOCK_SCANNER_CURSOR_SAVE_INTERVAL_MS)?,
            join_timeout: conf.get(&keys::DFS_BLOCK_SCANNER_VOLUME_JOIN_TIMEOUT_MS)?,
        }))
    }
}

/// How disks and memory are compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DirectoryScannerSettings {
    /// Between two comparisons.
    pub(crate) interval: Duration,
    /// Volumes that are listed at a time.
    pub(crate) threads: usize,
    /// Time in each second in which a thread may list; `None` for all of it.
    pub(crate) throttle: Option<Duration>,
    /// NameNodes hear at once of so many found or lost replicas of one interval of full block reports;
    /// of the others with the next full report.
    pub(crate) notifications_max: usize,
    /// Differences that are resolved without a pause.
    pub(crate) batch: usize,
    /// The pause.
    pub(crate) batch_pause: Duration,
}

impl DirectoryScannerSettings {
    /// Reads the settings; `None` if a negative interval turns the scanner off.
    pub(crate) fn read(conf: &Conf) -> Result<Option<Self>, Error> {
        let text = conf.get_raw(keys::DFS_DATANODE_DIRECTORYSCAN_INTERVAL.name);
        if text.is_some_and(|text| text.trim().starts_with('-')) {
            return Ok(None);
        }
        let interval = conf.get(&keys::DFS_DATANODE_DIRECTORYSCAN_INTERVAL)?;
        let count = "a number above 0";
        let positive = |number: i32| usize::try_from(number).ok().filter(|number| *number > 0);
        let per_second = conf.get(&keys::DFS_DATANODE_DIRECTORYSCAN_THROTTLE_LIMIT_MS_PER_SEC)?;
        let throttle = u64::try_from(per_second).ok().filter(|ms| (1..1000).contains(ms));
        Ok(Some(Self {
            interval: if interval.is_zero() { Duration::from_secs(21600) } else { interval },
            threads: conf.get_as(&keys::DFS_DATANODE_DIRECTORYSCAN_THREADS, count, positive)?,
            throttle: throttle.map(Duration::from_millis),
            notifications_max: usize::try_from(
                conf.get(&keys::DFS_DATANODE_DIRECTORYSCAN_MAX_NOTIFY_COUNT)?,
            )
            .unwrap_or(0),
            batch: conf.get_as(&keys::DFS_DATANODE_RECONCILE_BLOCKS_BATCH_SIZE, count, positive)?,
            batch_pause: conf.get(&keys::DFS_DATANODE_RECONCILE_BLOCKS_BATCH_INTERVAL)?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conf(name: &str, value: &str) -> Conf {
        let mut conf = Conf::new();
        conf.set(name, value);
        conf
    }

    #[test]
    fn the_block_scanner_has_hadoops_defaults_and_can_be_turned_off() {
        let read = |name, value| BlockScannerSettings::read(&conf(name, value)).unwrap();
        let usual = read("dfs.datanode.scan.period.hours", "0").unwrap();
        assert_eq!((usual.period, usual.bytes_per_second), (HOUR * 504, 1 << 20));
        assert!(!usual.skips_recently_accessed);
        assert_eq!(usual.cursor_save_interval, Duration::from_secs(600));
        assert!(read("dfs.datanode.scan.period.hours", "-1").is_none());
        assert!(read("dfs.block.scanner.volume.bytes.per.second", "0").is_none());
    }

    #[test]
    fn the_directory_scanner_has_hadoops_defaults_and_can_be_turned_off() {
        let read = |name, value| DirectoryScannerSettings::read(&conf(name, value)).unwrap();
        let usual = read("dfs.datanode.directoryscan.throttle.limit.ms.per.sec", "1000").unwrap();
        assert_eq!((usual.interval, usual.threads), (HOUR * 6, 1));
        assert_eq!(usual.throttle, None);
        let slow = read("dfs.datanode.directoryscan.throttle.limit.ms.per.sec", "200").unwrap();
        assert_eq!(slow.throttle, Some(Duration::from_millis(200)));
        assert!(read("dfs.datanode.directoryscan.interval", "-1").is_none());
    }
}
