//! Quotas on names and space.

use crate::blocks::{StorageType, policy};
use crate::error::{QuotaError, Result, refuse};

/// The value that leaves a quota as it is (`HdfsConstants.QUOTA_DONT_SET`); the root's name quota at the start.
pub const QUOTA_DONT_SET: i64 = i64::MAX;
/// The value that clears a quota (`HdfsConstants.QUOTA_RESET`).
pub const QUOTA_RESET: i64 = -1;

/// Storage types with a quota of their own, in Hadoop's order; RAM is not counted.
pub(crate) const QUOTA_TYPES: [StorageType; 5] = [
    StorageType::Ssd,
    StorageType::Disk,
    StorageType::Archive,
    StorageType::Provided,
    StorageType::Nvdimm,
];

/// Storage types, those without a quota included.
pub(crate) const TYPES: usize = StorageType::ALL.len();

/// Names, bytes with replication, and bytes by storage type (indexed by the type's place in Hadoop's order).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub names: i64,
    pub space: i64,
    pub types: [i64; TYPES],
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Counts) {
        // Wrapping: lengths come from logs and images, and each addition is subtracted again.
        self.names = self.names.wrapping_add(other.names);
        self.space = self.space.wrapping_add(other.space);
        self.types
            .iter_mut()
            .zip(other.types)
            .for_each(|(sum, part)| *sum = sum.wrapping_add(part));
    }

    pub(crate) fn negated(&self) -> Self {
        Self {
            names: self.names.wrapping_neg(),
            space: self.space.wrapping_neg(),
            types: self.types.map(i64::wrapping_neg),
        }
    }

    pub(crate) fn less(mut self, other: &Counts) -> Self {
        self.add(&other.negated());
        self
    }

    /// Limits with some of them set: [`QUOTA_DONT_SET`] leaves one as it is, [`QUOTA_RESET`] clears it. With a storage type,
    /// `space` is that type's.
    pub(crate) fn with(
        mut self,
        names: i64,
        space: i64,
        kind: Option<StorageType>,
        is_root: bool,
    ) -> Self {
        match kind {
            Some(kind) if space != QUOTA_DONT_SET => self.types[kind as usize] = space,
            Some(_) => {}
            None => {
                if is_root && names == QUOTA_RESET {
                    // The root always has one: its largest value is none.
                    self.names = QUOTA_DONT_SET;
                } else if names != QUOTA_DONT_SET {
                    self.names = names;
                }
                if space != QUOTA_DONT_SET {
                    self.space = space;
                }
            }
        }
        self
    }

    pub(crate) fn grows(&self) -> bool {
        self.names > 0 || self.space > 0 || self.types.iter().any(|part| *part > 0)
    }
}

/// A directory's limits; -1 is none. What is used is the sum that every directory keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quota {
    pub limit: Counts,
}

const NO_LIMIT: Counts = Counts { names: -1, space: -1, types: [-1; TYPES] };

impl Quota {
    pub(crate) fn of_root() -> Self {
        Self { limit: Counts { names: QUOTA_DONT_SET, ..NO_LIMIT } }
    }

    pub(crate) fn unlimited() -> Self {
        Self { limit: NO_LIMIT }
    }

    pub(crate) fn is_set(&self) -> bool {
        self.limit.names >= 0
            || self.limit.space >= 0
            || self.limit.types.iter().any(|limit| *limit >= 0)
    }

    /// Refuses if `used` plus `delta` exceeds a limit; `path` names the directory for the message.
    pub(crate) fn verify(
        &self,
        used: &Counts,
        delta: &Counts,
        path: impl Fn() -> String,
    ) -> Result<()> {
        if violated(self.limit.names, used.names, delta.names) {
            let (quota, count) = (self.limit.names, used.names.saturating_add(delta.names));
            return refuse(QuotaError::Names { path: path(), quota, count });
        }
        if violated(self.limit.space, used.space, delta.space) {
            let (quota, consumed) = (self.limit.space, used.space.saturating_add(delta.space));
            return refuse(QuotaError::Space { path: path(), quota, consumed });
        }
        for kind in QUOTA_TYPES {
            let at = kind as usize;
            if violated(self.limit.types[at], used.types[at], delta.types[at]) {
                return refuse(QuotaError::SpaceOfType {
                    storage_type: kind,
                    path: path(),
                    quota: self.limit.types[at],
                    consumed: used.types[at].saturating_add(delta.types[at]),
                });
            }
        }
        Ok(())
    }
}

fn violated(limit: i64, used: i64, delta: i64) -> bool {
    limit >= 0 && delta > 0 && used > limit.saturating_sub(delta)
}

/// Adds the space of files under a policy to the types that their replicas lie on: `one_replica` is the sum of their
/// bytes, `space` that of all replicas. Files for which no policy is set are charged to no type, wherever their replicas
/// lie (`FSDirectory.getStorageTypeDeltas`).
pub(crate) fn add_types(types: &mut [i64; TYPES], policy_id: u8, one_replica: i64, space: i64) {
    let Some(policy) = policy::StoragePolicy::by_id(policy_id) else { return };
    let mut counted = policy.types.iter().copied().filter(|kind| *kind != StorageType::RamDisk);
    // The first replica lies on the first type, all others on the last: no policy names more than two.
    let Some(first) = counted.next() else { return };
    let last = counted.next_back().unwrap_or(first);
    let mut add =
        |kind: StorageType, bytes| types[kind as usize] = types[kind as usize].wrapping_add(bytes);
    add(first, one_replica);
    add(last, space.wrapping_sub(one_replica));
}

/// `bytes` of a file with that policy and replication, over all replicas.
pub(crate) fn space(policy_id: u8, replication: u16, bytes: i64) -> Counts {
    let space = bytes.wrapping_mul(replication.into());
    let mut counts = Counts { space, ..Counts::default() };
    add_types(&mut counts.types, policy_id, if replication == 0 { 0 } else { bytes }, space);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_are_charged_to_the_types_of_the_policy() {
        let one_ssd = space(10, 3, 100);
        assert_eq!(one_ssd.types[StorageType::Ssd as usize], 100);
        assert_eq!(one_ssd.types[StorageType::Disk as usize], 200);
        assert_eq!(one_ssd.space, 300);
        assert_eq!(space(15, 2, 10).types[StorageType::Disk as usize], 20);
        assert_eq!(space(policy::DEFAULT.id, 2, 10).types[StorageType::Disk as usize], 20);
        for policy in &policy::POLICIES {
            let counted = policy.types.iter().filter(|kind| **kind != StorageType::RamDisk);
            assert!(counted.count() <= 2, "{} names more types than are summed up", policy.name);
        }
        let no_policy = Counts { space: 20, ..Counts::default() };
        assert_eq!(space(policy::UNSPECIFIED, 2, 10), no_policy);
    }
}
