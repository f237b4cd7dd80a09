//! What is known of checkpoints: the newest image, and when the next is due.

use crate::Error;
use crate::image_uploads::Refusal;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;
use zerohop_conf::{Conf, keys};
use zerohop_namespace::blocks::Now;

/// Images come a little early or late: clocks differ, and to send one takes time.
const UPLOAD_AGE_MIN: f64 = 0.75;

/// When images are saved and segments end by themselves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    /// `dfs.namenode.checkpoint.period`
    period: Duration,
    /// `dfs.namenode.checkpoint.txns`
    edits_max: i64,
    /// `dfs.namenode.checkpoint.check.period`
    pub(crate) check_interval: Duration,
    /// A segment with more transactions ends.
    pub(crate) segment_max: i64,
    /// `dfs.namenode.edit.log.autoroll.check.interval.ms`
    pub(crate) roll_check_interval: Duration,
}

impl Schedule {
    fn from_conf(conf: &Conf) -> Result<Self, Error> {
        let above_zero = |time: Duration| Some(time).filter(|time| !time.is_zero());
        let time = |key| conf.get_as(key, "a time above 0", above_zero);
        let edits_max = conf.get(&keys::DFS_NAMENODE_CHECKPOINT_TXNS)?.max(1);
        let multiplier = conf.get(&keys::DFS_NAMENODE_EDIT_LOG_AUTOROLL_MULTIPLIER_THRESHOLD)?;
        let period = conf.get(&keys::DFS_NAMENODE_CHECKPOINT_PERIOD)?;
        let check_interval = time(&keys::DFS_NAMENODE_CHECKPOINT_CHECK_PERIOD)?;
        Ok(Self {
            period,
            edits_max,
            check_interval: above_zero(period).map_or(check_interval, |p| check_interval.min(p)),
            // Two at least: a new segment has one already.
            segment_max: ((f64::from(multiplier) * edits_max as f64) as i64).max(2),
            roll_check_interval: time(&keys::DFS_NAMENODE_EDIT_LOG_AUTOROLL_CHECK_INTERVAL_MS)?,
        })
    }

    /// How long a NameNode that refused an image gets none.
    pub(crate) fn quiet_after_refusal(&self, multiplier: f64) -> Duration {
        Duration::try_from_secs_f64(self.period.as_secs_f64() * multiplier).unwrap_or_default()
    }

    /// How old the last image must be for another NameNode's to be taken, in seconds.
    fn upload_age_min_s(&self) -> u64 {
        (self.period.as_secs_f64() * UPLOAD_AGE_MIN).round() as u64
    }

    /// Whether `edits` transactions behind an image of this age ask for another one.
    pub(crate) fn is_due(&self, edits: i64, age_ms: u64) -> bool {
        edits >= self.edits_max || age_ms >= self.period.as_millis() as u64
    }
}

/// The newest image, and when the next is due.
pub(crate) struct Checkpoints {
    pub(crate) schedule: Schedule,
    /// The last transaction of the newest image, and when that was written, ms since the epoch: this is shown.
    txid: AtomicI64,
    written_ms: AtomicU64,
    /// When that was by the steady clock, ms; below zero: before its beginning. This decides, for the other clock may be set.
    written_mono_ms: AtomicI64,
    /// One image is saved at a time.
    pub(crate) saving: Mutex<()>,
}

impl Checkpoints {
    /// With the newest image: its last transaction, and when it was written, ms since the epoch.
    pub(crate) fn from_conf(
        conf: &Conf,
        (txid, written_ms): (i64, u64),
        now: Now,
    ) -> Result<Self, Error> {
        let age_ms = now.wall_ms.saturating_sub(written_ms);
        let written_mono_ms = (now.mono_ms as i64).saturating_sub_unsigned(age_ms);
        Ok(Self {
            schedule: Schedule::from_conf(conf)?,
            txid: AtomicI64::new(txid),
            written_ms: AtomicU64::new(written_ms),
            written_mono_ms: AtomicI64::new(written_mono_ms),
            saving: Mutex::default(),
        })
    }

    /// The transaction of the newest image.
    pub(crate) fn last_txid(&self) -> i64 {
        self.txid.load(Ordering::Relaxed)
    }

    /// When the newest image was written, ms since the epoch.
    pub(crate) fn last_written_ms(&self) -> u64 {
        self.written_ms.load(Ordering::Relaxed)
    }

    /// How old the newest image is, by a clock that is never set.
    pub(crate) fn age_ms(&self, now: Now) -> u64 {
        let written_mono_ms = self.written_mono_ms.load(Ordering::Relaxed);
        (now.mono_ms as i64).saturating_sub(written_mono_ms).max(0) as u64
    }

    /// Refuses an image of another NameNode that brings too little: the last one is younger than three quarters of the period,
    /// and fewer transactions came since than ask for a checkpoint (`ImageServlet`).
    ///
    /// # Errors
    /// Apache's words for it.
    pub(crate) fn check_not_too_early(&self, txid: i64, now: Now) -> Result<(), Refusal> {
        let age_s = self.age_ms(now) / 1000;
        let (age_min_s, edits_min) = (self.schedule.upload_age_min_s(), self.schedule.edits_max);
        let edits = txid - self.last_txid();
        if age_s >= age_min_s || edits >= edits_min {
            return Ok(());
        }
        Err(Refusal(format!(
            "Rejecting a fsimage due to small time delta and txnid delta. Time since previous checkpoint is {age_s} expecting \
             at least {age_min_s} txnid delta since previous checkpoint is {edits} expecting at least {edits_min}"
        )))
    }

    /// An image was written just now.
    pub(crate) fn note(&self, txid: i64, now: Now) {
        self.txid.store(txid, Ordering::Relaxed);
        self.written_ms.store(now.wall_ms, Ordering::Relaxed);
        self.written_mono_ms.store(now.mono_ms as i64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_that_brings_too_little_is_refused() {
        let mut conf = Conf::new();
        conf.set("dfs.namenode.checkpoint.txns", "100");
        conf.set("dfs.namenode.checkpoint.period", "10");
        let at = |mono_ms| Now { wall_ms: 50_000 + mono_ms, mono_ms };
        let checkpoints = Checkpoints::from_conf(&conf, (1000, 50_000), at(0)).unwrap();
        checkpoints.check_not_too_early(1001, at(8000)).unwrap();
        checkpoints.check_not_too_early(1100, at(0)).unwrap();
        let refusal = checkpoints.check_not_too_early(1099, at(7999)).unwrap_err();
        assert_eq!(
            refusal.0,
            "Rejecting a fsimage due to small time delta and txnid delta. Time since previous checkpoint is 7 expecting at \
             least 8 txnid delta since previous checkpoint is 99 expecting at least 100"
        );
    }

    /// After the clock was set back by a day, no image was due, and none of another NameNode was taken, for a day.
    #[test]
    fn an_image_ages_whatever_is_done_to_the_clock() {
        let start = Now { wall_ms: 1_000_000, mono_ms: 5 };
        let checkpoints = Checkpoints::from_conf(&Conf::new(), (1, 997_000), start).unwrap();
        assert_eq!(checkpoints.age_ms(start), 3000);
        let set_back = Now { wall_ms: 0, mono_ms: 1005 };
        assert_eq!(checkpoints.age_ms(set_back), 4000);
        checkpoints.note(2, set_back);
        let set_forward = Now { wall_ms: u64::MAX, mono_ms: 1007 };
        assert_eq!((checkpoints.age_ms(set_forward), checkpoints.last_written_ms()), (2, 0));
        let of_the_future = Checkpoints::from_conf(&Conf::new(), (1, u64::MAX), start).unwrap();
        assert_eq!(of_the_future.age_ms(start), 0);
    }

    #[test]
    fn an_image_is_due_by_edits_or_by_age() {
        let mut conf = Conf::new();
        conf.set("dfs.namenode.checkpoint.txns", "100");
        conf.set("dfs.namenode.checkpoint.period", "10");
        let schedule = Schedule::from_conf(&conf).unwrap();
        assert!(!schedule.is_due(99, 9_999));
        assert!(schedule.is_due(100, 0) && schedule.is_due(1, 10_000));
        assert_eq!(schedule.segment_max, 50);
        assert_eq!(
            schedule.check_interval,
            Duration::from_secs(10),
            "never longer than the period"
        );
        conf.set("dfs.namenode.checkpoint.check.period", "0");
        let error = Schedule::from_conf(&conf).unwrap_err().to_string();
        assert!(error.contains("is not a time above 0"), "{error}");
    }
}
