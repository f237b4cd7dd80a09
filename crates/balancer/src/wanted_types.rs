//! On which types of storage the replicas of a block belong, and which of them are elsewhere.

use crate::policy::MOVABLE;
use zerohop_client::{StoragePolicy, StorageType};

/// The types that a policy wants for so many replicas. Memory is left out: what is there is written to disk later.
pub(crate) fn wanted(policy: &StoragePolicy, replication: usize) -> Vec<StorageType> {
    let is_lasting = |kind: &StorageType| *kind != StorageType::RamDisk;
    let last = policy.creation.last().copied();
    let rest = std::iter::repeat_n(last, replication).flatten();
    let listed = policy.creation.iter().copied().filter(is_lasting);
    let mut types: Vec<_> = listed.chain(rest.filter(is_lasting)).collect();
    types.truncate(replication);
    types
}

/// How the types of a block's replicas differ from those that are wanted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Replicas that are on a type that is not wanted.
    pub(crate) existing: Vec<StorageType>,
    /// Types that are wanted and have no replica.
    pub(crate) expected: Vec<StorageType>,
}

impl Difference {
    pub(crate) fn new(wanted: &[StorageType], found: &[StorageType]) -> Self {
        let mut expected = wanted.to_vec();
        let mut existing = found.to_vec();
        existing.retain(|kind| match expected.iter().position(|wanted| wanted == kind) {
            Some(at) => {
                expected.remove(at);
                false
            }
            None => true,
        });
        existing.retain(|kind| MOVABLE.contains(kind));
        expected.retain(|kind| MOVABLE.contains(kind));
        Self { existing, expected }
    }

    /// Whether no replica can be moved to where it is wanted.
    pub(crate) fn is_none(&self) -> bool {
        self.existing.is_empty() || self.expected.is_empty()
    }

    /// Whether one move does not end it.
    pub(crate) fn needs_more_moves(&self) -> bool {
        self.existing.len() > 1 && self.expected.len() > 1
    }
}

#[cfg(test)]
pub(crate) mod fixture {
    use super::*;
    use zerohop_proto::hdfs::{BlockStoragePolicyProto, StorageTypesProto};

    /// A policy that wants these types.
    pub(crate) fn policy(types: &[StorageType]) -> StoragePolicy {
        let storage_types = types.iter().map(|kind| kind.number()).collect();
        let creation_policy = StorageTypesProto { storage_types };
        BlockStoragePolicyProto { policy_id: 1, creation_policy, ..Default::default() }.into()
    }
}

#[cfg(test)]
mod tests {
    use super::fixture::policy;
    use super::*;
    use zerohop_client::StorageType::{Archive, Disk, RamDisk, Ssd};

    #[test]
    fn the_last_type_of_a_policy_is_for_all_further_replicas() {
        for (name, types, replication, expected) in [
            ("HOT", &[Disk][..], 3, &[Disk, Disk, Disk][..]),
            ("WARM", &[Disk, Archive], 3, &[Disk, Archive, Archive]),
            ("ONE_SSD", &[Ssd, Disk], 1, &[Ssd]),
            ("LAZY_PERSIST", &[RamDisk, Disk], 2, &[Disk, Disk]),
            ("memory alone", &[RamDisk], 2, &[]),
        ] {
            assert_eq!(wanted(&policy(types), replication), expected, "{name}");
        }
    }

    #[test]
    fn only_replicas_in_the_wrong_place_are_moved() {
        let difference = |wanted: &[StorageType], found: &[StorageType]| {
            let difference = Difference::new(wanted, found);
            (difference.is_none(), difference.needs_more_moves(), difference)
        };
        assert!(difference(&[Disk, Archive], &[Archive, Disk]).0);
        let (none, more, found) = difference(&[Archive, Archive], &[Disk, Disk]);
        assert!(!none && more && found.existing == [Disk, Disk]);
        let (none, more, found) = difference(&[Ssd, Disk, Disk], &[Disk, Disk, Disk]);
        assert!(!none && !more);
        assert_eq!((found.existing, found.expected), (vec![Disk], vec![Ssd]));
        assert!(difference(&[Disk, Disk], &[Disk, RamDisk]).0, "what is in memory stays there");
        assert!(
            difference(&[Disk, Disk, Disk], &[Disk]).0,
            "a missing replica is not the mover's work"
        );
    }
}
