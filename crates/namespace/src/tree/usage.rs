//! What a subtree uses, as sums that every directory keeps.
//!
//! Each directory keeps the sum over all that is below it, so that content summaries, quotas, renames between quotas and
//! deletions cost a walk up the path, never one over the subtree. Space by storage type depends on policies that
//! directories above may set: files that inherit theirs are summed up apart, and become space of certain types where a
//! directory on the way up sets a policy ([`Usage::under_policy`]).

use crate::blocks::policy;
use crate::quota::{Counts, TYPES, add_types};

/// Sums over files, directories and links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Inodes of every kind.
    pub names: i64,
    pub files: i64,
    pub directories: i64,
    pub blocks: i64,
    /// Bytes of files, of blocks being written what is known of them.
    pub length: i64,
    /// Charged bytes of one replica of each file that inherits its storage policy from above.
    pub one_replica: i64,
    /// Charged bytes of all their replicas.
    pub space: i64,
    /// What lies on known types: few subtrees have a policy, so it is a pointer.
    on_types: Option<Box<OnTypes>>,
}

/// Charged bytes of files whose storage policy is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct OnTypes {
    space: i64,
    types: [i64; TYPES],
}

impl Usage {
    /// One inode of any kind, nothing else.
    pub(crate) fn name() -> Self {
        Self { names: 1, ..Self::default() }
    }

    /// An empty directory.
    pub(crate) fn directory() -> Self {
        Self { directories: 1, ..Self::name() }
    }

    /// `bytes` of a file that inherits its storage policy, over `replication` replicas.
    pub(crate) fn bytes(bytes: i64, replication: u16) -> Self {
        Self {
            one_replica: if replication == 0 { 0 } else { bytes },
            space: bytes.wrapping_mul(replication.into()),
            ..Self::default()
        }
    }

    // Wrapping: lengths come from logs and images, and what was added is taken away again.
    pub(crate) fn add(&mut self, other: &Self) {
        self.names = self.names.wrapping_add(other.names);
        self.files = self.files.wrapping_add(other.files);
        self.directories = self.directories.wrapping_add(other.directories);
        self.blocks = self.blocks.wrapping_add(other.blocks);
        self.length = self.length.wrapping_add(other.length);
        self.one_replica = self.one_replica.wrapping_add(other.one_replica);
        self.space = self.space.wrapping_add(other.space);
        if let Some(other) = &other.on_types {
            let own = self.on_types.get_or_insert_default();
            own.space = own.space.wrapping_add(other.space);
            let pairs = own.types.iter_mut().zip(other.types);
            pairs.for_each(|(sum, part)| *sum = sum.wrapping_add(part));
            if **own == OnTypes::default() {
                self.on_types = None;
            }
        }
    }

    pub(crate) fn negated(&self) -> Self {
        let negated = |on: &OnTypes| OnTypes {
            space: on.space.wrapping_neg(),
            types: on.types.map(i64::wrapping_neg),
        };
        Self {
            names: self.names.wrapping_neg(),
            files: self.files.wrapping_neg(),
            directories: self.directories.wrapping_neg(),
            blocks: self.blocks.wrapping_neg(),
            length: self.length.wrapping_neg(),
            one_replica: self.one_replica.wrapping_neg(),
            space: self.space.wrapping_neg(),
            on_types: self.on_types.as_deref().map(|on| Box::new(negated(on))),
        }
    }

    pub(crate) fn less(mut self, other: &Self) -> Self {
        self.add(&other.negated());
        self
    }

    /// The same from above an inode that has this storage policy: what inherits from it lies on known types.
    pub(crate) fn under_policy(mut self, policy_id: u8) -> Self {
        if policy_id == policy::UNSPECIFIED || (self.one_replica, self.space) == (0, 0) {
            return self;
        }
        let mut known = OnTypes { space: self.space, types: [0; TYPES] };
        add_types(&mut known.types, policy_id, self.one_replica, self.space);
        (self.one_replica, self.space) = (0, 0);
        self.add(&Self { on_types: Some(Box::new(known)), ..Self::default() });
        self
    }

    /// What quotas count, `policy_id` being the storage policy in force here.
    pub(crate) fn counts(&self, policy_id: u8) -> Counts {
        let mut counts = Counts { names: self.names, space: self.space, types: [0; TYPES] };
        add_types(&mut counts.types, policy_id, self.one_replica, self.space);
        if let Some(on) = &self.on_types {
            counts.add(&Counts { names: 0, space: on.space, types: on.types });
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::StorageType::{Disk, Ssd};

    const ONE_SSD: u8 = 10;
    const ALL_SSD: u8 = 12;

    #[test]
    fn the_nearest_policy_decides_where_space_lies() {
        let usage = Usage::bytes(100, 3);
        assert_eq!(usage.counts(policy::UNSPECIFIED).types, [0; TYPES]);
        let seen = usage.counts(ONE_SSD);
        assert_eq!(
            (seen.types[Ssd as usize], seen.types[Disk as usize], seen.space),
            (100, 200, 300)
        );
        let seen = usage.under_policy(ALL_SSD).counts(ONE_SSD);
        assert_eq!(
            (seen.types[Ssd as usize], seen.types[Disk as usize], seen.space),
            (300, 0, 300)
        );
    }

    #[test]
    fn what_was_added_and_taken_away_leaves_nothing() {
        let mut sum = Usage::default();
        let part = Usage::bytes(7, 2).under_policy(ALL_SSD);
        sum.add(&part);
        sum.add(&Usage::directory());
        sum.add(&part.negated());
        assert_eq!(sum.less(&Usage::directory()), Usage::default());
    }

    #[test]
    fn a_directory_pays_little_for_its_sums() {
        assert!(size_of::<Usage>() <= 64, "{}", size_of::<Usage>());
    }
}
