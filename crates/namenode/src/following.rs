//! How a standby follows the edits of the active NameNode.

use crate::Error;
use parking_lot::{Mutex, MutexGuard};
use std::time::Duration;
use zerohop_conf::{Conf, Unit, Value, keys};

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
    /// Held while edits are read and applied.
    pass: Mutex<()>,
}

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
            pass: Mutex::default(),
        })
    }

    /// Nobody else reads and applies edits while this is held.
    pub(crate) fn alone(&self) -> MutexGuard<'_, ()> {
        self.pass.lock()
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
