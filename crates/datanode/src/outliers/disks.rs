//! Disks that are slower than the others of this DataNode: measured here, reported to the NameNode (`DataNodeDiskMetrics`).

use super::detector::OutlierLimits;
use super::history::DiskHistory;
use super::means::RollingMean;
use super::slow_calls::SlowCalls;
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_proto::hdfs::datanode::SlowDiskReportProto;
use zerohop_replica::{IoObserver, IoTimer};
use zerohop_system::{clock, random};

/// Means are of the last half hour, the time between two reports by default.
const WINDOWS: u64 = 6;

/// What a disk is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiskCall {
    /// Data or checksums are read.
    Read,
    /// Data and checksums are written, to the page cache at least.
    Write,
    /// Files are forced to the disk.
    Sync,
    /// Files are created, opened, renamed or deleted.
    Metadata,
}

impl DiskCall {
    const COUNT: usize = 4;
}

/// How disks are timed and compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DiskSettings {
    /// Of a hundred reads, writes and syncs, so many are timed for reports to the NameNode; 0 times nothing at all.
    pub(crate) sampling_percent: u32,
    /// The latencies of all calls of the last hour are kept.
    pub(crate) keeps_history: bool,
    pub(crate) limits: OutlierLimits,
    /// So many of the slowest disks get no new replicas.
    pub(crate) excluded_max: usize,
    /// How often the slowest disks are looked for.
    pub(crate) interval: Duration,
    /// Calls of writers that take longer are logged.
    pub(crate) slow_call: Duration,
}

/// How long the calls to the disk of one volume take.
pub(crate) struct DiskTimes {
    sampling_percent: u32,
    /// Of all calls, for people; nothing is compared with it that goes to the NameNode. None: it is off.
    history: Option<Arc<DiskHistory>>,
    started: Instant,
    means: Mutex<[RollingMean; DiskCall::COUNT]>,
    slow_calls: Arc<SlowCalls>,
}

impl DiskTimes {
    /// As the settings say.
    pub(crate) fn new(settings: &DiskSettings) -> Self {
        Self {
            sampling_percent: settings.sampling_percent,
            history: settings.keeps_history.then(Arc::default),
            started: clock::now(),
            means: Mutex::default(),
            slow_calls: Arc::new(SlowCalls::new(settings.slow_call)),
        }
    }

    /// What warns of single calls that take long.
    pub(crate) fn slow_calls(&self) -> &Arc<SlowCalls> {
        &self.slow_calls
    }

    /// The last hour, where it is kept.
    pub(crate) fn history(&self) -> Option<&DiskHistory> {
        self.history.as_deref()
    }

    /// What times the calls on replicas.
    pub(crate) fn io_timer(&self) -> IoTimer {
        let observer =
            self.history.as_ref().map(|history| Arc::clone(history) as Arc<dyn IoObserver>);
        observer.map_or_else(IoTimer::default, IoTimer::new)
    }

    /// Does `work`, which calls the disk, and notes how long it takes.
    pub(crate) fn time<T>(&self, call: DiskCall, work: impl FnOnce() -> T) -> T {
        if !self.is_sampled(call) {
            return work();
        }
        let begun = clock::now();
        let result = work();
        self.note(call, clock::since(begun));
        result
    }

    fn is_sampled(&self, call: DiskCall) -> bool {
        match call {
            DiskCall::Metadata => self.sampling_percent > 0,
            DiskCall::Read | DiskCall::Write | DiskCall::Sync => {
                self.sampling_percent >= 100 || random::u32(..100) < self.sampling_percent
            }
        }
    }

    /// A call took so long.
    pub(crate) fn note(&self, call: DiskCall, took: Duration) {
        let now_ms = self.now_ms();
        if let Some(mean) = self.means.lock().get_mut(call as usize) {
            mean.add(took.as_secs_f64() * 1000.0, now_ms, WINDOWS);
        }
    }

    /// The mean of the last half hour; none without a call.
    fn mean_ms(&self, call: DiskCall) -> Option<f64> {
        let now_ms = self.now_ms();
        self.means.lock().get_mut(call as usize)?.mean(1, now_ms, WINDOWS)
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(clock::since(self.started).as_millis()).unwrap_or(u64::MAX)
    }
}

/// The disks that stand out now, by the directories of their volumes.
pub(crate) fn slow_disks<'a>(
    disks: impl Iterator<Item = (&'a Path, &'a DiskTimes)> + Clone,
    limits: &OutlierLimits,
) -> Vec<SlowDiskReportProto> {
    let mut reports: Vec<SlowDiskReportProto> = Vec::new();
    for call in [DiskCall::Metadata, DiskCall::Read, DiskCall::Write] {
        let mean = |(path, times): (&'a Path, &DiskTimes)| Some((path, times.mean_ms(call)?));
        let means: Vec<(&Path, f64)> = disks.clone().filter_map(mean).collect();
        for (path, outlier) in limits.outliers(&means) {
            let report = report_of(&mut reports, &path.display().to_string());
            match call {
                DiskCall::Metadata => report.mean_metadata_op_latency = Some(outlier.mean_ms),
                DiskCall::Read => report.mean_read_io_latency = Some(outlier.mean_ms),
                DiskCall::Write => report.mean_write_io_latency = Some(outlier.mean_ms),
                DiskCall::Sync => {}
            }
        }
    }
    reports
}

fn report_of<'a>(
    reports: &'a mut Vec<SlowDiskReportProto>,
    path: &str,
) -> &'a mut SlowDiskReportProto {
    let known = reports.iter().position(|report| report.base_path() == path);
    let at = known.unwrap_or_else(|| {
        let base_path = Some(path.to_owned());
        reports.push(SlowDiskReportProto { base_path, ..SlowDiskReportProto::default() });
        reports.len() - 1
    });
    &mut reports[at]
}

/// The slowest disks, which get no new replicas (`dfs.datanode.max.slowdisks.to.exclude`).
pub(crate) struct SlowestDisks {
    settings: DiskSettings,
    /// Their volumes' directories, and when they were looked for.
    last: Mutex<Option<(Instant, Vec<PathBuf>)>>,
}

impl SlowestDisks {
    /// None are known yet.
    pub(crate) fn new(settings: DiskSettings) -> Self {
        Self { settings, last: Mutex::new(None) }
    }

    /// The slowest of `disks`, the worst first: as they were found when this was asked last, if that was not long ago.
    pub(crate) fn of<'a>(
        &self,
        disks: impl Iterator<Item = (&'a Path, &'a DiskTimes)> + Clone,
    ) -> Vec<PathBuf> {
        if self.settings.excluded_max == 0 {
            return Vec::new();
        }
        let mut last = self.last.lock();
        if let Some((at, slowest)) = &*last
            && clock::since(*at) < self.settings.interval
        {
            return slowest.clone();
        }
        let mut slow = slow_disks(disks, &self.settings.limits);
        slow.sort_by(|a, b| largest_ms(b).total_cmp(&largest_ms(a)));
        slow.truncate(self.settings.excluded_max);
        let slowest: Vec<PathBuf> = slow.iter().map(|report| report.base_path().into()).collect();
        if !slowest.is_empty() {
            tracing::warn!("the slowest disks get no new replicas: {slowest:?}");
        }
        *last = Some((clock::now(), slowest.clone()));
        slowest
    }
}

fn largest_ms(report: &SlowDiskReportProto) -> f64 {
    let SlowDiskReportProto {
        mean_metadata_op_latency: metadata,
        mean_read_io_latency: read,
        mean_write_io_latency: write,
        ..
    } = report;
    [metadata, read, write].into_iter().flatten().copied().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(sampling_percent: u32) -> DiskTimes {
        DiskTimes::new(&DiskSettings {
            sampling_percent,
            keeps_history: true,
            limits: LIMITS,
            excluded_max: 0,
            interval: Duration::ZERO,
            slow_call: Duration::MAX,
        })
    }

    const LIMITS: OutlierLimits = OutlierLimits { resources_min: 3, low_threshold_ms: 20.0 };

    #[test]
    fn the_slowest_disk_is_reported_with_what_it_is_slow_in() {
        let disks: Vec<(String, DiskTimes)> =
            (0..4).map(|n| (format!("/d{n}"), times(100))).collect();
        for (path, times) in &disks {
            let is_slow = path == "/d2";
            for _ in 0..3 {
                times.note(DiskCall::Read, Duration::from_millis(if is_slow { 90 } else { 5 }));
                times.note(DiskCall::Write, Duration::from_millis(if is_slow { 15 } else { 1 }));
                times
                    .note(DiskCall::Metadata, Duration::from_millis(if is_slow { 400 } else { 2 }));
                times.note(DiskCall::Sync, Duration::from_secs(u64::from(is_slow)));
            }
        }
        let all = disks.iter().map(|(path, times)| (Path::new(path), times));
        let slow = slow_disks(all.clone(), &LIMITS);
        let [report] = &slow[..] else { panic!("{slow:?}") };
        assert_eq!(report.base_path(), "/d2");
        assert_eq!(report.mean_read_io_latency, Some(90.0));
        assert_eq!(report.mean_metadata_op_latency, Some(400.0));
        assert_eq!(report.mean_write_io_latency, None, "below the low threshold");
        let few = OutlierLimits { resources_min: 5, ..LIMITS };
        assert!(slow_disks(all, &few).is_empty());
    }

    /// The fifth is slow in reading, the sixth slower still in writing.
    fn two_of_six_are_slow() -> Vec<(String, DiskTimes)> {
        let disks: Vec<(String, DiskTimes)> =
            (0..6).map(|n| (format!("/d{n}"), times(100))).collect();
        for (n, (_, times)) in disks.iter().enumerate() {
            times.note(DiskCall::Read, Duration::from_millis(if n == 4 { 100 } else { 5 }));
            times.note(DiskCall::Write, Duration::from_millis(if n == 5 { 300 } else { 5 }));
        }
        disks
    }

    #[test]
    fn the_slowest_disks_are_looked_for_once_in_an_interval() {
        let disks = two_of_six_are_slow();
        let all = disks.iter().map(|(path, times)| (Path::new(path), times));
        let settings = |excluded_max, interval| DiskSettings {
            sampling_percent: 100,
            keeps_history: true,
            limits: LIMITS,
            excluded_max,
            interval,
            slow_call: Duration::MAX,
        };
        let hour = Duration::from_secs(3600);
        let slowest = |count| SlowestDisks::new(settings(count, hour)).of(all.clone());
        assert!(slowest(0).is_empty());
        assert_eq!(slowest(1), [Path::new("/d5")]);
        assert_eq!(slowest(9), [Path::new("/d5"), Path::new("/d4")]);
        for (interval, expected) in [(hour, vec!["/d5"]), (Duration::ZERO, vec![])] {
            let slowest = SlowestDisks::new(settings(1, interval));
            assert_eq!(slowest.of(all.clone()), [Path::new("/d5")]);
            let expected: Vec<PathBuf> = expected.into_iter().map(PathBuf::from).collect();
            assert_eq!(slowest.of(all.clone().take(2)), expected);
        }
    }

    #[test]
    fn calls_are_timed_as_often_as_asked_for() {
        for (percent, timed) in [(0, false), (100, true)] {
            let times = times(percent);
            for call in [DiskCall::Read, DiskCall::Write, DiskCall::Sync, DiskCall::Metadata] {
                assert_eq!(times.time(call, || 7), 7);
                assert_eq!(times.mean_ms(call).is_some(), timed, "{call:?} at {percent} %");
            }
        }
        let times = times(50);
        (0..1000).for_each(|_| times.time(DiskCall::Write, || ()));
        let enough =
            |samples| times.means.lock()[DiskCall::Write as usize].mean(samples, 0, WINDOWS);
        assert!(enough(300).is_some() && enough(700).is_none());
    }
}
