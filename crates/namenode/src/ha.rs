//! Whether this NameNode is the active one, a standby or an observer, and what it answers in that state.

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use thiserror::Error;
use zerohop_proto::common::HaServiceStateProto;
use zerohop_proto::hdfs::nnha_status_heartbeat_proto;

/// What a NameNode is among those of its name service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum HaState {
    /// It serves clients and writes the edit log.
    Active,
    /// It follows the active one's edits.
    Standby,
    /// It follows them too, answers reads, and never becomes active without having been a standby.
    Observer,
}

impl HaState {
    /// Apache's word for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Standby => "standby",
            Self::Observer => "observer",
        }
    }

    /// As HAServiceProtocol and ClientProtocol say it.
    pub(crate) fn service_state(self) -> HaServiceStateProto {
        match self {
            Self::Active => HaServiceStateProto::Active,
            Self::Standby => HaServiceStateProto::Standby,
            Self::Observer => HaServiceStateProto::Observer,
        }
    }

    /// As DataNodes are told.
    pub(crate) fn heartbeat_state(self) -> nnha_status_heartbeat_proto::State {
        match self {
            Self::Active => nnha_status_heartbeat_proto::State::Active,
            Self::Standby => nnha_status_heartbeat_proto::State::Standby,
            Self::Observer => nnha_status_heartbeat_proto::State::Observer,
        }
    }

    /// Whether operations of a category are carried out in this state.
    fn allows(self, category: OperationCategory) -> bool {
        match self {
            Self::Active => true,
            Self::Standby => category == OperationCategory::Unchecked,
            Self::Observer => {
                matches!(category, OperationCategory::Unchecked | OperationCategory::Read)
            }
        }
    }
}

/// What an operation does, as far as the state matters (`NameNode.OperationCategory`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationCategory {
    /// The same in every state.
    Unchecked,
    /// Reads the namespace.
    Read,
    /// Changes the namespace.
    Write,
    /// Is about the edit log.
    Journal,
}

impl fmt::Display for OperationCategory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unchecked => "UNCHECKED",
            Self::Read => "READ",
            Self::Write => "WRITE",
            Self::Journal => "JOURNAL",
        })
    }
}

/// An operation that this NameNode does not carry out in its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "Operation category {category} is not supported in state {}. Visit https://s.apache.org/sbnn-error",
    state.name()
)]
pub(crate) struct NotAllowed {
    pub(crate) category: OperationCategory,
    pub(crate) state: HaState,
}

impl NotAllowed {
    /// Whether the active NameNode is to be asked, and no other one before it.
    pub(crate) fn is_for_active(&self) -> bool {
        (self.state, self.category) == (HaState::Observer, OperationCategory::Write)
    }
}

/// There is no other NameNode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("HA for namenode is not enabled")]
pub(crate) struct NotEnabled;

/// The state, and since when it lasts.
#[derive(Debug)]
pub(crate) struct HaStatus {
    state: AtomicU8,
    /// Ms since the epoch; 0 if the state has not changed since the start.
    changed_ms: AtomicU64,
    /// Whether the name service has several NameNodes.
    is_enabled: bool,
    /// Whether a standby answers reads, of what it has followed so far (`dfs.ha.allow.stale.reads`).
    standby_reads: bool,
}

impl HaStatus {
    pub(crate) fn new(state: HaState, is_enabled: bool) -> Self {
        let (state, changed_ms) = (AtomicU8::new(state as u8), AtomicU64::new(0));
        Self { state, changed_ms, is_enabled, standby_reads: false }
    }

    /// The same, where a standby answers reads or does not.
    pub(crate) fn with_standby_reads(self, standby_reads: bool) -> Self {
        Self { standby_reads, ..self }
    }

    /// Whether the name service has several NameNodes.
    pub(crate) fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    /// Refuses transitions where there is no other NameNode.
    ///
    /// # Errors
    /// [`NotEnabled`]
    pub(crate) fn check_enabled(&self) -> Result<(), NotEnabled> {
        if self.is_enabled { Ok(()) } else { Err(NotEnabled) }
    }

    pub(crate) fn state(&self) -> HaState {
        match self.state.load(Ordering::Acquire) {
            state if state == HaState::Active as u8 => HaState::Active,
            state if state == HaState::Observer as u8 => HaState::Observer,
            _ => HaState::Standby,
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        self.state() == HaState::Active
    }

    /// When the state changed last, ms since the epoch; 0 if it has not since the start.
    pub(crate) fn changed_ms(&self) -> u64 {
        self.changed_ms.load(Ordering::Relaxed)
    }

    /// From here on the state is another. To be called under the namespace's write lock, so that no operation that was
    /// allowed is half done.
    pub(crate) fn set(&self, state: HaState, now_ms: u64) {
        self.state.store(state as u8, Ordering::Release);
        self.changed_ms.store(now_ms, Ordering::Relaxed);
    }

    /// Refuses operations that another NameNode must be asked for.
    ///
    /// # Errors
    /// [`NotAllowed`], upon which clients turn to the next NameNode.
    pub(crate) fn check(&self, category: OperationCategory) -> Result<(), NotAllowed> {
        let state = self.state();
        let is_stale_read = self.standby_reads && category == OperationCategory::Read;
        if state.allows(category) || is_stale_read {
            return Ok(());
        }
        Err(NotAllowed { category, state })
    }

    /// Whether reads are answered of what another NameNode's edits have made.
    pub(crate) fn serves_followed_reads(&self) -> bool {
        let state = self.state();
        state == HaState::Observer || (state == HaState::Standby && self.standby_reads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standby_refuses_what_depends_on_the_state() {
        use OperationCategory::{Journal, Read, Unchecked, Write};
        let status = HaStatus::new(HaState::Active, true);
        for category in [Unchecked, Read, Write, Journal] {
            status.check(category).unwrap();
        }
        status.set(HaState::Standby, 7);
        assert_eq!((status.state(), status.changed_ms()), (HaState::Standby, 7));
        status.check(Unchecked).unwrap();
        for category in [Read, Write, Journal] {
            assert!(status.check(category).is_err());
        }
        assert_eq!(
            status.check(Read).unwrap_err().to_string(),
            "Operation category READ is not supported in state standby. Visit https://s.apache.org/sbnn-error"
        );
        let status = status.with_standby_reads(true);
        status.check(Read).unwrap();
        assert!(!status.check(Write).unwrap_err().is_for_active());
    }

    #[test]
    fn an_observer_reads_and_has_the_active_one_asked_for_changes() {
        use OperationCategory::{Journal, Read, Unchecked, Write};
        let status = HaStatus::new(HaState::Observer, true);
        for category in [Unchecked, Read] {
            status.check(category).unwrap();
        }
        assert!(status.check(Write).unwrap_err().is_for_active());
        assert!(!status.check(Journal).unwrap_err().is_for_active());
    }
}
