//! What a type asks for in a function that only a commit may call.

/// Only this module can make one.
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
