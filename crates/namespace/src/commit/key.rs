//! The parameter of functions that only a commit may call.

/// Only the files of `commit` can make one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommitKey(());

impl CommitKey {
    pub(super) const fn new() -> Self {
        Self(())
    }

    /// For tests of what a commit changes.
    #[cfg(test)]
    pub(crate) const fn for_tests() -> Self {
        Self(())
    }
}
