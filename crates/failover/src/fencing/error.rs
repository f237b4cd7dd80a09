//! Fencing that cannot be configured so.

/// Why fencing cannot be configured so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "dfs.ha.fencing.methods: {0}; write a method a line: sshfence, sshfence(USER:PORT) or shell(COMMAND)"
)]
pub struct BadFencing(String);

impl BadFencing {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}
