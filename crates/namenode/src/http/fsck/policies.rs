//! `-storagepolicies`: on which types of storage blocks lie, beside the policy of their files.

use std::collections::BTreeMap;
use std::fmt;
use zerohop_namespace::blocks::policy::{DEFAULT, POLICIES, StoragePolicy};
use zerohop_namespace::blocks::{ReplicaLocation, StorageType};

/// Blocks by their file's policy and the types of their replicas.
#[derive(Default)]
pub(super) struct PolicySummary {
    blocks: u64,
    counts: BTreeMap<(u8, Vec<StorageType>), u64>,
}

/// Types in the order of Hadoop's enum, which its lists are sorted by.
fn sorted(kinds: impl Iterator<Item = StorageType>) -> Vec<StorageType> {
    let mut kinds: Vec<StorageType> = kinds.collect();
    kinds.sort_unstable();
    kinds
}

impl PolicySummary {
    /// A block of a file with this policy.
    pub(super) fn add(&mut self, replicas: &[ReplicaLocation], policy: u8) {
        self.count(policy, replicas.iter().map(|replica| replica.kind));
    }

    fn count(&mut self, policy: u8, kinds: impl Iterator<Item = StorageType>) {
        let policy = StoragePolicy::by_id(policy).unwrap_or(DEFAULT).id;
        *self.counts.entry((policy, sorted(kinds))).or_default() += 1;
        self.blocks += 1;
    }

    /// `54.5455%`
    fn share(&self, count: u64) -> String {
        format!("{:.4}%", count as f64 / self.blocks as f64 * 100.0)
    }
}

/// The policy that a block with these types would satisfy: its own types, the last one repeated. Hadoop
/// compares sorted lists, so that more of the last type in the enum's order will do, too.
fn satisfied(kinds: &[StorageType]) -> Option<&'static StoragePolicy> {
    let mut by_id: Vec<&StoragePolicy> = POLICIES.iter().collect();
    by_id.sort_by_key(|policy| policy.id);
    by_id.into_iter().find(|policy| {
        let wanted = sorted(policy.types.iter().copied());
        let rest = kinds.strip_prefix(wanted.as_slice());
        rest.is_some_and(|rest| rest.iter().all(|kind| wanted.last() == Some(kind)))
    })
}

/// `DISK:2,ARCHIVE:1(WARM)`
fn described(kinds: &[StorageType]) -> String {
    let mut counts: BTreeMap<StorageType, u32> = BTreeMap::new();
    kinds.iter().for_each(|kind| *counts.entry(*kind).or_default() += 1);
    let one = |(kind, count): (StorageType, u32)| format!("{}:{count}", kind.as_str_name());
    let list = counts.into_iter().map(one).collect::<Vec<_>>().join(",");
    match satisfied(kinds) {
        Some(policy) => format!("{list}({})", policy.name),
        None => list,
    }
}

impl fmt::Display for PolicySummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\nBlocks satisfying the specified storage policy:")?;
        f.write_str("\nStorage Policy                  # of blocks       % of blocks\n")?;
        let mut counts: Vec<_> = self.counts.iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let (good, bad): (Vec<_>, Vec<_>) = counts.into_iter().partition(|((policy, kinds), _)| {
            satisfied(kinds).is_some_and(|satisfied| satisfied.id == *policy)
        });
        for ((_, kinds), count) in good {
            writeln!(f, "{:<25} {count:>10}  {:>20}", described(kinds), self.share(*count))?;
        }
        if bad.is_empty() {
            return f.write_str("\nAll blocks satisfy specified storage policy.\n");
        }
        f.write_str("\nBlocks NOT satisfying the specified storage policy:\nStorage Policy                  ")?;
        f.write_str("Specified Storage Policy      # of blocks       % of blocks\n")?;
        for ((policy, kinds), count) in bad {
            let name = StoragePolicy::by_id(*policy).map_or("", |policy| policy.name);
            let share = self.share(*count);
            writeln!(f, "{:<35} {name:<20} {count:>10}  {share:>20}", described(kinds))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use StorageType::{Archive, Disk, Ssd};

    #[test]
    fn blocks_are_counted_by_types_and_policy() {
        let mut summary = PolicySummary::default();
        let mut add = |policy, kinds: &[StorageType]| summary.count(policy, kinds.iter().copied());
        add(0, &[Disk, Disk]);
        add(7, &[Disk, Disk]);
        add(5, &[Archive, Disk, Archive]);
        add(2, &[Disk]);
        assert_eq!(
            summary.to_string(),
            "\nBlocks satisfying the specified storage policy:\n\
             Storage Policy                  # of blocks       % of blocks\n\
             DISK:2(HOT)                        2              50.0000%\n\
             DISK:1,ARCHIVE:2(WARM)             1              25.0000%\n\
             \nBlocks NOT satisfying the specified storage policy:\n\
             Storage Policy                  Specified Storage Policy      # of blocks       % of blocks\n\
             DISK:1(HOT)                         COLD                          1              25.0000%\n"
        );
    }

    #[test]
    fn types_that_no_policy_has_stand_alone() {
        assert_eq!(described(&sorted([Disk, Ssd, Archive].into_iter())), "SSD:1,DISK:1,ARCHIVE:1");
        assert_eq!(described(&sorted([Ssd, Disk, Disk].into_iter())), "SSD:1,DISK:2(ONE_SSD)");
        assert!(
            PolicySummary::default()
                .to_string()
                .ends_with("All blocks satisfy specified storage policy.\n")
        );
    }
}
