//! What operations are told that safe mode refuses.

use crate::error::{Error, SafeMode, TryAgain};

/// Why operations are refused for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SafeModeNotice {
    /// What safe mode waits for, and how to leave it (`SafeMode::tip` of `blocks`).
    pub tip: String,
    /// Clients are to send the same call again: it is the safe mode of a NameNode's start, which ends by itself, and the NameNode
    /// is one of several, whose clients count on one that serves (`FSNamesystem.checkNameNodeSafeMode`).
    pub is_passing: bool,
}

impl SafeModeNotice {
    /// The error for what is refused, in Hadoop's words.
    pub(crate) fn refuse(&self, refusal: String) -> Error {
        let safe_mode = SafeMode { refusal, tip: self.tip.clone() };
        match self.is_passing {
            true => TryAgain::SafeMode(safe_mode).into(),
            false => safe_mode.into(),
        }
    }
}
