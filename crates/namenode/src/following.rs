//! How a standby follows the edits of the active NameNode.

use crate::Error;
use parking_lot::Mutex;
use std::time::{Duration, Instant};
use zerohop_conf::{Conf, Unit, Value, keys};
use zerohop_system::clock;

/// How a standby follows the active NameNode's edits, and whether it does so at the moment.
#[derive(Debug)]
pub(crate) struct Following {
    /// `dfs.ha.tail-edits.period`
    pub(crate) period: Duration,
    /// `dfs.ha.tail-edits.period.backoff-max`; none: the period stays.
    backoff_max: Option<Duration>,
    /// `dfs.ha.tail-edits.in-progress`
    pub(crate) in_progress: bool,
    /// `dfs.ha.log-roll.period`; none: segments end when the active NameNode wants.
    pub(crate) roll_period: Option<Duration>,
    /// `dfs.ha.tail-edits.rolledits.timeout`
    pub(crate) roll_timeout: Duration,
    /// `dfs.ha.tail-edits.namenode-retries`
    pub(crate) roll_rounds: usize,
    /// `dfs.ha.standby.checkpoints`
    pub(crate) checkpoints: bool,
    passes: Mutex<Passes>,
    /// The reason it can no longer catch up, and the time of the last check.
    gap: Mutex<Gap>,
}

/// The right to apply edits.
#[derive(Debug, Default)]
struct Passes {
    /// Number of the newest pass; earlier ones no longer apply edits.
    newest: u64,
    /// The NameNode becomes active: no pass begins.
    is_taking_over: bool,
}

#[derive(Debug, Default)]
struct Gap {
    reason: Option<String>,
    checked: Option<Instant>,
}

/// One look for edits. It reads them without a lock, so that nothing waits for its downloads, and holds the right to apply them a few
/// at a time.
#[derive(Debug)]
pub(crate) struct Pass<'a> {
    following: &'a Following,
    number: u64,
}

impl<'a> Pass<'a> {
    /// Returns the right to apply edits while it is held, or `None` if a later pass or a takeover has begun.
    pub(crate) fn hold(&self) -> Option<impl Drop + use<'a>> {
        let passes = self.following.passes.lock();
        (passes.newest == self.number).then_some(passes)
    }
}

/// A guard that keeps passes from beginning and from applying edits.
#[derive(Debug)]
pub(crate) struct TakingOver<'a>(&'a Following);

impl Drop for TakingOver<'_> {
    fn drop(&mut self) {
        self.0.passes.lock().is_taking_over = false;
    }
}

/// Time between two checks for missing edits if segments in progress are followed, because each check asks all JournalNodes.
const GAP_CHECKED_FOR: Duration = Duration::from_secs(5);

impl Following {
    pub(crate) fn from_conf(conf: &Conf) -> Result<Self, Error> {
        let period = conf.get(&keys::DFS_HA_TAIL_EDITS_PERIOD)?;
        let backoff_max = conf.get(&keys::DFS_HA_TAIL_EDITS_PERIOD_BACKOFF_MAX)?;
        if !backoff_max.is_zero() && backoff_max < period {
            tracing::warn!(
                "{} is less than {}: the time between two looks for edits stays",
                keys::DFS_HA_TAIL_EDITS_PERIOD_BACKOFF_MAX.name,
                keys::DFS_HA_TAIL_EDITS_PERIOD.name
            );
        }
        let roll_period = conf.get_as(
            &keys::DFS_HA_LOG_ROLL_PERIOD,
            "a number of seconds, or a negative one for never",
            |text| match text.trim().starts_with('-') {
                true => Some(None),
                false => Duration::parse(text.trim(), Unit::Seconds).map(Some),
            },
        )?;
        Ok(Self {
            period,
            backoff_max: Some(backoff_max).filter(|max| *max >= period && !max.is_zero()),
            in_progress: conf.get(&keys::DFS_HA_TAIL_EDITS_IN_PROGRESS)?,
            roll_period,
            roll_timeout: conf.get(&keys::DFS_HA_TAIL_EDITS_ROLLEDITS_TIMEOUT)?,
            roll_rounds: conf.get(&keys::DFS_HA_TAIL_EDITS_NAMENODE_RETRIES)?.max(1) as usize,
            checkpoints: conf.get(&keys::DFS_HA_STANDBY_CHECKPOINTS)?,
            passes: Mutex::default(),
            gap: Mutex::default(),
        })
    }

    /// Begins a pass and ends the earlier ones. Returns `None` if the NameNode is becoming active.
    pub(crate) fn begin_pass(&self) -> Option<Pass<'_>> {
        let mut passes = self.passes.lock();
        if passes.is_taking_over {
            return None;
        }
        passes.newest += 1;
        Some(Pass { following: self, number: passes.newest })
    }

    /// Ends all passes. Waits for edits that are being applied, and for no download.
    pub(crate) fn take_over(&self) -> TakingOver<'_> {
        let mut passes = self.passes.lock();
        passes.newest += 1;
        passes.is_taking_over = true;
        TakingOver(self)
    }

    /// Returns the reason this NameNode can no longer catch up with the active one, or `None` if it can.
    pub(crate) fn gap(&self) -> Option<String> {
        self.gap.lock().reason.clone()
    }

    /// Notes whether the edits that come next are missing.
    pub(crate) fn set_gap(&self, reason: Option<String>) {
        let before = {
            let mut gap = self.gap.lock();
            gap.checked = Some(clock::now());
            std::mem::replace(&mut gap.reason, reason.clone())
        };
        match (before, reason) {
            (before, Some(reason)) if before.as_ref() != Some(&reason) => {
                tracing::error!(
                    "this NameNode can no longer catch up with the active one: {reason}"
                );
            }
            (Some(_), None) => tracing::info!("this NameNode catches up with the active one again"),
            _ => {}
        }
    }

    /// Returns `true` if a pass that found no edits must check whether some are missing.
    pub(crate) fn is_gap_check_due(&self) -> bool {
        let checked = self.gap.lock().checked;
        !self.in_progress || checked.is_none_or(|at| clock::since(at) >= GAP_CHECKED_FOR)
    }

    /// How long to wait after a look for edits, the last wait being `wait`.
    pub(crate) fn next_wait(&self, wait: Duration, found_any: bool) -> Duration {
        match self.backoff_max {
            Some(max) if !found_any => (wait.max(Duration::from_millis(1)) * 2).min(max),
            // Without a pause a look for nothing would follow the other at once.
            _ => self.period.max(Duration::from_millis(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn following(settings: &[(&str, &str)]) -> Following {
        let mut conf = Conf::new();
        settings.iter().for_each(|(name, value)| conf.set(name, *value));
        Following::from_conf(&conf).unwrap()
    }

    /// A takeover used to wait for the look that had begun, and that for a download that stalled.
    #[test]
    fn a_look_for_edits_ends_where_a_takeover_begins() {
        let following = following(&[]);
        let reading = following.begin_pass().unwrap();
        assert!(reading.hold().is_some());
        // It is reading, without the lock.
        let takeover = following.take_over();
        assert!(reading.hold().is_none(), "what it has read is not applied");
        assert!(following.begin_pass().is_none(), "no look begins");
        drop(takeover);
        let next = following.begin_pass().unwrap();
        assert!(next.hold().is_some() && reading.hold().is_none());
        let newest = following.begin_pass().unwrap();
        assert!(newest.hold().is_some() && next.hold().is_none(), "one applies at a time");
    }

    #[test]
    fn waits_double_while_there_are_no_edits_if_that_is_configured() {
        let ms = Duration::from_millis;
        let plain = following(&[("dfs.ha.tail-edits.period", "100ms")]);
        assert_eq!(plain.next_wait(ms(100), false), ms(100));
        let patient = following(&[
            ("dfs.ha.tail-edits.period", "100ms"),
            ("dfs.ha.tail-edits.period.backoff-max", "1s"),
        ]);
        assert_eq!(patient.next_wait(ms(400), false), ms(800));
        assert_eq!(patient.next_wait(ms(800), false), ms(1000));
        assert_eq!(patient.next_wait(ms(800), true), ms(100));
    }

    #[test]
    fn a_negative_period_of_rolls_is_never() {
        assert_eq!(following(&[]).roll_period, Some(Duration::from_secs(120)));
        assert_eq!(following(&[("dfs.ha.log-roll.period", "-1")]).roll_period, None);
        let mut conf = Conf::new();
        conf.set("dfs.ha.log-roll.period", "soon");
        let error = Following::from_conf(&conf).unwrap_err().to_string();
        assert!(error.contains("dfs.ha.log-roll.period"), "{error}");
    }
}
