//! A rolling upgrade: the servers of the cluster are replaced one by one, and until it is finalized everything can be
//! rolled back to the moment at which it was prepared.

use crate::error::{Inconsistent, Result, refuse};

/// The last rolling upgrade of a namespace, from its image and edits (`RollingUpgradeInfo`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RollingUpgrade {
    state: State,
}

/// Times are in milliseconds since the epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    NotPrepared,
    UnderWay {
        started_ms: u64,
    },
    Finalized {
        started_ms: u64,
        finalized_ms: u64,
    },
}

impl RollingUpgrade {
    /// The rolling upgrade recorded in an image: one is under way if the image has the time of its start.
    pub(crate) fn of_image(started_ms: Option<u64>) -> Self {
        let state =
            started_ms.map_or(State::NotPrepared, |started_ms| State::UnderWay { started_ms });
        Self { state }
    }

    /// The time of the start, as images carry it: only while the upgrade is under way.
    pub(crate) fn for_image(self) -> Option<u64> {
        self.started_ms().filter(|_| self.is_under_way())
    }

    /// Whether one was prepared and is not finalized.
    pub fn is_under_way(self) -> bool {
        matches!(self.state, State::UnderWay { .. })
    }

    /// When it was prepared, milliseconds since the epoch; none if no rolling upgrade is known.
    pub fn started_ms(self) -> Option<u64> {
        match self.state {
            State::NotPrepared => None,
            State::UnderWay { started_ms } | State::Finalized { started_ms, .. } => {
                Some(started_ms)
            }
        }
    }

    /// When it was finalized, milliseconds since the epoch.
    pub fn finalized_ms(self) -> Option<u64> {
        match self.state {
            State::Finalized { finalized_ms, .. } => Some(finalized_ms),
            State::NotPrepared | State::UnderWay { .. } => None,
        }
    }

    /// One is prepared.
    ///
    /// # Errors
    /// `Error::Inconsistent` if one is under way.
    pub(crate) fn start(&mut self, time_ms: i64) -> Result<()> {
        if self.is_under_way() {
            return refuse(Inconsistent::RollingUpgradeStarted);
        }
        self.state = State::UnderWay { started_ms: time_ms.max(0) as u64 };
        Ok(())
    }

    /// The end without a start follows an image that was taken in between on another NameNode, and changes nothing.
    pub(crate) fn finalize(&mut self, time_ms: i64) {
        if let State::UnderWay { started_ms } = self.state {
            self.state = State::Finalized { started_ms, finalized_ms: time_ms.max(0) as u64 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_upgrade_under_way_is_in_an_image() {
        let mut upgrade = RollingUpgrade::default();
        assert_eq!(upgrade.for_image(), None);
        upgrade.finalize(1);
        assert_eq!(upgrade, RollingUpgrade::default(), "a second end changes nothing");
        upgrade.start(5).unwrap();
        assert!(upgrade.start(6).is_err());
        assert_eq!(RollingUpgrade::of_image(upgrade.for_image()), upgrade);
        upgrade.finalize(7);
        assert_eq!((upgrade.started_ms(), upgrade.finalized_ms()), (Some(5), Some(7)));
        assert_eq!((upgrade.for_image(), upgrade.is_under_way()), (None, false));
        upgrade.start(8).unwrap();
        assert_eq!((upgrade.started_ms(), upgrade.finalized_ms()), (Some(8), None));
    }
}
