//! Whether a DataNode that failed in a pipeline is replaced (`ReplaceDatanodeOnFailure`).

use crate::settings::ReplacePolicy;

/// What the decision goes by.
pub(super) struct Loss {
    /// Replicas the file should have.
    pub(super) replication: usize,
    /// DataNodes left in the pipeline.
    pub(super) left: usize,
    pub(super) is_append: bool,
    /// Data was made visible to readers.
    pub(super) is_flushed: bool,
}

pub(super) fn wants_replacement(policy: ReplacePolicy, loss: &Loss) -> bool {
    if loss.left == 0 || loss.left >= loss.replication {
        return false;
    }
    match policy {
        ReplacePolicy::Disabled | ReplacePolicy::Never => false,
        ReplacePolicy::Always => true,
        ReplacePolicy::Default => {
            loss.replication >= 3
                && (loss.left <= loss.replication / 2 || loss.is_append || loss.is_flushed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_replaces_from_three_replicas_on() {
        let wants = |replication, left, is_append, is_flushed| {
            let loss = Loss { replication, left, is_append, is_flushed };
            wants_replacement(ReplacePolicy::Default, &loss)
        };
        assert!(!wants(3, 2, false, false));
        assert!(wants(3, 2, true, false));
        assert!(wants(3, 2, false, true));
        assert!(wants(3, 1, false, false));
        assert!(!wants(2, 1, true, true));
        assert!(!wants(3, 3, true, true));
        assert!(!wants(3, 0, true, true));
    }

    #[test]
    fn other_policies_do_not_look_at_the_file() {
        let loss = || Loss { replication: 2, left: 1, is_append: false, is_flushed: false };
        assert!(wants_replacement(ReplacePolicy::Always, &loss()));
        assert!(!wants_replacement(ReplacePolicy::Never, &loss()));
        assert!(!wants_replacement(ReplacePolicy::Disabled, &loss()));
    }
}
