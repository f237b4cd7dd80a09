//! Storage policies: on which types of storage a file's replicas shall lie. Stored with files, obeyed by placement.

use super::types::StorageType::{self, Archive, Disk, Nvdimm, Provided, RamDisk, Ssd};
use smallvec::SmallVec;

/// As many types as a block has replicas.
pub(super) type Types = SmallVec<[StorageType; 4]>;

/// One of Hadoop's fixed policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoragePolicy {
    /// Its id, as stored with inodes.
    pub id: u8,
    /// Its name, upper case.
    pub name: &'static str,
    /// Types for the first, second, ... replica; the last one repeats.
    pub types: &'static [StorageType],
    /// Types to fall back to when a file is written.
    pub creation_fallbacks: &'static [StorageType],
    /// Types to fall back to when a replica is copied.
    pub replication_fallbacks: &'static [StorageType],
    /// May only be set on a file when it is created.
    pub copy_on_create: bool,
}

/// The id that means "not set: take the parent's".
pub const UNSPECIFIED: u8 = 0;

/// The policy of files whose ancestors have none.
pub const DEFAULT: &StoragePolicy = &POLICIES[3];

/// All policies, in the order `getStoragePolicies` answers.
pub const POLICIES: [StoragePolicy; 8] = [
    policy(1, "PROVIDED", &[Provided, Disk], &[Provided, Disk], &[Provided, Disk], false),
    policy(2, "COLD", &[Archive], &[], &[], false),
    policy(5, "WARM", &[Disk, Archive], &[Disk, Archive], &[Disk, Archive], false),
    policy(7, "HOT", &[Disk], &[], &[Archive], false),
    policy(10, "ONE_SSD", &[Ssd, Disk], &[Ssd, Disk], &[Ssd, Disk], false),
    policy(12, "ALL_SSD", &[Ssd], &[Disk], &[Disk], false),
    policy(14, "ALL_NVDIMM", &[Nvdimm], &[Disk], &[Disk], false),
    policy(15, "LAZY_PERSIST", &[RamDisk, Disk], &[Disk], &[Disk], true),
];

const fn policy(
    id: u8,
    name: &'static str,
    types: &'static [StorageType],
    creation_fallbacks: &'static [StorageType],
    replication_fallbacks: &'static [StorageType],
    copy_on_create: bool,
) -> StoragePolicy {
    StoragePolicy { id, name, types, creation_fallbacks, replication_fallbacks, copy_on_create }
}

impl StoragePolicy {
    /// The policy with an id.
    pub fn by_id(id: u8) -> Option<&'static StoragePolicy> {
        POLICIES.iter().find(|policy| policy.id == id)
    }

    /// The policy with a name, in any case.
    pub fn by_name(name: &str) -> Option<&'static StoragePolicy> {
        POLICIES.iter().find(|policy| policy.name.eq_ignore_ascii_case(name))
    }

    /// The types that this many replicas shall lie on. Never memory: it is the DataNode that keeps a replica there first.
    fn types_for(&self, replicas: usize) -> impl Iterator<Item = StorageType> {
        let last = self.types.last().copied().into_iter().cycle();
        let lasting = |kind: &StorageType| *kind != RamDisk;
        self.types
            .iter()
            .copied()
            .chain(last)
            .take(replicas + self.types.len())
            .filter(lasting)
            .take(replicas)
    }

    /// The types that are missing among `replicas` replicas when some are there (`chooseStorageTypes`).
    pub(super) fn missing_types(
        &self,
        replicas: usize,
        present: impl Iterator<Item = StorageType>,
    ) -> Types {
        self.compare(replicas, present).0
    }

    /// The types there are too many of for `replicas` replicas (`chooseExcess`).
    pub(super) fn excess_types(
        &self,
        replicas: usize,
        present: impl Iterator<Item = StorageType>,
    ) -> Types {
        self.compare(replicas, present).1
    }

    fn compare(
        &self,
        replicas: usize,
        present: impl Iterator<Item = StorageType>,
    ) -> (Types, Types) {
        let mut missing: Types = self.types_for(replicas).collect();
        let mut excess = Types::new();
        for kind in present {
            match missing.iter().position(|wanted| *wanted == kind) {
                Some(at) => _ = missing.remove(at),
                None => excess.push(kind),
            }
        }
        (missing, excess)
    }

    /// Types to take where a wanted one cannot be had.
    pub(super) fn fallbacks(&self, creating: bool) -> &'static [StorageType] {
        if creating { self.creation_fallbacks } else { self.replication_fallbacks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_hot() {
        assert_eq!(DEFAULT.name, "HOT");
        assert_eq!(StoragePolicy::by_name("hot"), Some(DEFAULT));
        assert_eq!(StoragePolicy::by_id(DEFAULT.id), Some(DEFAULT));
    }

    #[test]
    fn one_ssd_puts_the_first_replica_on_ssd() {
        let policy = StoragePolicy::by_name("ONE_SSD").unwrap();
        assert_eq!(policy.missing_types(3, [].into_iter())[..], [Ssd, Disk, Disk]);
        assert_eq!(policy.missing_types(3, [Disk, Disk].into_iter())[..], [Ssd]);
        assert_eq!(policy.excess_types(2, [Disk, Ssd, Disk].into_iter())[..], [Disk]);
    }

    #[test]
    fn memory_is_not_where_replicas_are_placed() {
        let policy = StoragePolicy::by_name("LAZY_PERSIST").unwrap();
        assert_eq!(policy.missing_types(2, [].into_iter())[..], [Disk, Disk]);
    }
}
