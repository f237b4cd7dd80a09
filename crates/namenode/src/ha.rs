//! Whether this NameNode is the active one or a standby, and what it answers in that state.

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
}

impl HaState {
    /// Apache's word for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Standby => "standby",
        }
    }

    /// As HAServiceProtocol and ClientProtocol say it.
    pub(crate) fn service_state(self) -> HaServiceStateProto {
        match self {
            Self::Active => HaServiceStateProto::Active,
            Self::Standby => HaServiceStateProto::Standby,
        }
    }

    /// As DataNodes are told.
    pub(crate) fn heartbeat_state(self) -> nnha_status_heartbeat_proto::State {
        match self {
            Self::Active => nnha_status_heartbeat_proto::State::Active,
            Self::Standby => nnha_status_heartbeat_proto::State::Standby,
        }
    }

    /// Whether operations of a category are carried out in this state.
    fn allows(self, category: OperationCategory) -> bool {
        match self {
            Self::Active => true,
            Self::Standby => category == OperationCategory::Unchecked,
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
}

impl HaStatus {
    pub(crate) fn new(state: HaState, is_enabled: bool) -> Self {
        Self { state: AtomicU8::new(state as u8), changed_ms: AtomicU64::new(0), is_enabled }
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
        if state.allows(category) {
            return Ok(());
        }
        Err(NotAllowed { category, state })
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
    }
}
