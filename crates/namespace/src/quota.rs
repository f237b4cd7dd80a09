//! Quotas on names and space, and what is used of them.
//!
//! Only folders with a quota (and the root) keep their use; each change is added to all of those above it.

use crate::blocks::{BlockState, StorageType, policy};
use crate::fail::fail;
use crate::tree::{Body, File, Slot};
use crate::{Namespace, Result};
use zerohop_wire::JavaException;

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

/// Names, bytes with replication, and bytes by storage type (indexed by the type's protobuf number).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub names: i64,
    pub space: i64,
    pub types: [i64; 7],
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Counts) {
        // Wrapping: lengths come from logs and images, and what was added is taken away again.
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

    fn grows(&self) -> bool {
        self.names > 0 || self.space > 0 || self.types.iter().any(|part| *part > 0)
    }
}

/// A folder's limits (-1 is none) and what is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quota {
    pub limit: Counts,
    pub used: Counts,
}

const NO_LIMIT: Counts = Counts { names: -1, space: -1, types: [-1; 7] };

impl Quota {
    pub(crate) fn of_root() -> Self {
        let used = Counts { names: 1, ..Counts::default() };
        Self { limit: Counts { names: QUOTA_DONT_SET, ..NO_LIMIT }, used }
    }

    pub(crate) fn unlimited() -> Self {
        Self { limit: NO_LIMIT, used: Counts::default() }
    }

    pub(crate) fn is_set(&self) -> bool {
        self.limit.names >= 0
            || self.limit.space >= 0
            || self.limit.types.iter().any(|limit| *limit >= 0)
    }

    fn verify(&self, delta: &Counts, path: impl Fn() -> String) -> Result<()> {
        if violated(self.limit.names, self.used.names, delta.names) {
            let (quota, count) = (self.limit.names, self.used.names.saturating_add(delta.names));
            let message = format!(
                "The NameSpace quota (directories and files) of directory {} is exceeded: quota={quota} file count={count}",
                path()
            );
            return fail(JavaException::NSQuotaExceeded, message);
        }
        if violated(self.limit.space, self.used.space, delta.space) {
            let (quota, count) = (self.limit.space, self.used.space.saturating_add(delta.space));
            let message = format!(
                "The DiskSpace quota of {} is exceeded: quota = {quota} B = {} but diskspace consumed = {count} B = {}",
                path(),
                binary_prefix(quota),
                binary_prefix(count)
            );
            return fail(JavaException::DSQuotaExceeded, message);
        }
        for kind in QUOTA_TYPES {
            let at = kind as usize;
            if violated(self.limit.types[at], self.used.types[at], delta.types[at]) {
                let message = format!(
                    "Quota by storage type : {} on path : {} is exceeded. quota = {} but space consumed = {}",
                    kind.as_str_name(),
                    path(),
                    binary_prefix(self.limit.types[at]),
                    binary_prefix(self.used.types[at].saturating_add(delta.types[at]))
                );
                return fail(JavaException::QuotaByStorageTypeExceeded, message);
            }
        }
        Ok(())
    }
}

fn violated(limit: i64, used: i64, delta: i64) -> bool {
    limit >= 0 && delta > 0 && used > limit.saturating_sub(delta)
}

/// `StringUtils.TraditionalBinaryPrefix.long2String(n, "B", 2)`.
fn binary_prefix(n: i64) -> String {
    let size = n.unsigned_abs();
    let sign = if n < 0 { "-" } else { "" };
    if size < 1024 {
        return format!("{sign}{size} B");
    }
    let power = (size.ilog2() / 10).min(6);
    let unit = ["", "K", "M", "G", "T", "P", "E"][power as usize];
    let whole = 1u64 << (10 * power);
    if size.is_multiple_of(whole) {
        return format!("{sign}{} {unit}B", size / whole);
    }
    format!("{sign}{:.2} {unit}B", size as f64 / whole as f64)
}

/// Adds `bytes` for each storage type that `replication` replicas lie on under a policy.
pub(crate) fn add_types(types: &mut [i64; 7], policy_id: u8, replication: u16, bytes: i64) {
    let policy = policy::StoragePolicy::by_id(policy_id).unwrap_or(policy::DEFAULT);
    let counted = |kind: &StorageType| *kind != StorageType::RamDisk;
    let listed = policy.types.iter().copied().filter(counted);
    let last = policy.types.last().copied().filter(counted);
    let repeated = std::iter::repeat_with(|| last).map_while(|kind| kind);
    for kind in listed.chain(repeated).take(replication.into()) {
        types[kind as usize] = types[kind as usize].wrapping_add(bytes);
    }
}

/// `bytes` of a file with that policy and replication, over all replicas.
pub(crate) fn space(policy_id: u8, replication: u16, bytes: i64) -> Counts {
    let mut counts = Counts { space: bytes.wrapping_mul(replication.into()), ..Counts::default() };
    add_types(&mut counts.types, policy_id, replication, bytes);
    counts
}

impl Namespace {
    /// Bytes a file's blocks are charged with before replication: a block being written counts as full.
    pub(crate) fn charged_bytes(&self, file: &File) -> i64 {
        let charge = |id| match self.blocks.get(id) {
            Some(stored)
                if matches!(stored.state, BlockState::Complete | BlockState::Committed) =>
            {
                stored.block.len
            }
            Some(_) => file.block_size(),
            None => 0,
        };
        file.blocks.as_slice().iter().map(|id| charge(*id) as i64).fold(0, i64::wrapping_add)
    }

    fn usage_of_file(&self, file: &File, inherited_policy: u8) -> Counts {
        let policy = if file.storage_policy() == policy::UNSPECIFIED {
            inherited_policy
        } else {
            file.storage_policy()
        };
        Counts { names: 1, ..space(policy, file.replication(), self.charged_bytes(file)) }
    }

    /// What an inode and all below it use; `inherited_policy` is that of the folder it is (or shall be) in.
    pub(crate) fn usage_of(&self, slot: Slot, inherited_policy: u8) -> Counts {
        let mut sum = Counts::default();
        let mut open = vec![(slot, inherited_policy)];
        while let Some((slot, inherited)) = open.pop() {
            let inode = self.tree.get(slot);
            match &inode.body {
                Body::File(file) => sum.add(&self.usage_of_file(file, inherited)),
                Body::Directory(directory) => {
                    sum.names += 1;
                    let policy = match self.local_policy(slot) {
                        policy::UNSPECIFIED => inherited,
                        local => local,
                    };
                    open.extend(directory.children.iter().map(|child| (child, policy)));
                }
                _ => sum.names += 1,
            }
        }
        sum
    }

    /// What an inode uses where it is.
    pub(crate) fn usage_here(&self, slot: Slot) -> Counts {
        self.usage_of(slot, self.effective_policy(self.tree.get(slot).parent))
    }

    /// Adds to the use of a folder and all above it.
    pub(crate) fn charge(&mut self, folder: Slot, delta: &Counts) {
        let mut next = folder;
        while next != crate::tree::NO_SLOT {
            let inode = self.tree.get_mut(next);
            next = inode.parent;
            if let Some(quota) =
                inode.as_directory_mut().and_then(|directory| directory.quota.as_mut())
            {
                quota.used.add(delta);
            }
        }
    }

    /// Whether a folder and all above it have room; folders from `common` up are not asked (both ends of a rename).
    pub(crate) fn verify_quota(
        &self,
        folder: Slot,
        delta: &Counts,
        common: Option<Slot>,
    ) -> Result<()> {
        if !delta.grows() {
            return Ok(());
        }
        for slot in self.tree.ancestors(folder).take_while(|slot| Some(*slot) != common) {
            let quota =
                self.tree.get(slot).as_directory().and_then(|directory| directory.quota.as_ref());
            if let Some(quota) = quota {
                quota.verify(delta, || self.tree.path(slot))?;
            }
        }
        Ok(())
    }

    /// The change of a file's charge when its blocks' bytes change by `bytes`.
    pub(crate) fn space_delta(&self, file: Slot, bytes: i64) -> Counts {
        let replication = self.tree.get(file).as_file().map_or(0, File::replication);
        space(self.effective_policy(file), replication, bytes)
    }

    /// Charges the folders above a file for a change of its bytes.
    pub(crate) fn charge_bytes(&mut self, file: Slot, bytes: i64) {
        if bytes != 0 {
            let delta = self.space_delta(file, bytes);
            self.charge(self.tree.get(file).parent, &delta);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_as_hadoop_shows_them() {
        let shown = [0, 1023, 1024, 1536, 128 << 20, -2048].map(binary_prefix);
        assert_eq!(shown, ["0 B", "1023 B", "1 KB", "1.50 KB", "128 MB", "-2 KB"]);
    }

    #[test]
    fn replicas_are_charged_to_the_types_of_the_policy() {
        let one_ssd = space(10, 3, 100);
        assert_eq!(one_ssd.types[StorageType::Ssd as usize], 100);
        assert_eq!(one_ssd.types[StorageType::Disk as usize], 200);
        assert_eq!(one_ssd.space, 300);
        assert_eq!(space(15, 2, 10).types[StorageType::Disk as usize], 20);
    }
}
