//! How files are opened, made and renamed.

use zerohop_wire::checksum_type::DataChecksum;
use zerohop_wire::setters;

/// How often the bytes of a file are compared with their checksums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verify {
    /// At every read.
    #[default]
    Full,
    /// Never: checksums are not even asked for (`setVerifyChecksum(false)`).
    None,
    /// Bytes of a replica of this machine are verified when they are first read, and trusted after
    /// that for as long as the DataNode leaves the replica to this client. Other bytes as with
    /// [`Full`](Self::Full).
    Once,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// How checksums are checked.
    pub verify: Verify,
    pub(crate) maps_bytes: bool,
}

impl OpenOptions {
    /// The defaults, but for checksums.
    pub const fn verifying(verify: Verify) -> Self {
        Self { verify, maps_bytes: false }
    }

    /// Async reads give bytes of this machine's replicas where they lie in the maps of their block files,
    /// without a copy: they are verified there, and a map lives as long as the bytes of it. A read of a page that cannot be had,
    /// because the disk failed or the block file has become shorter, raises SIGBUS: the page never becomes zeros.
    ///
    /// # Safety
    /// No process writes to the block files or truncates them, and their disks do not fail, while such bytes
    /// live. A DataNode changes the block files of a closed file only where the file is truncated, and does
    /// not where it is appended to or deleted; other processes that may write to its disks are the caller's
    /// to know. If a byte changes while it is used the behaviour is undefined, as with every map of a
    /// file.
    pub const unsafe fn with_mapped_bytes(mut self) -> Self {
        self.maps_bytes = true;
        self
    }
}

/// How a file is made; what is `None` comes from the configuration.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CreateOptions {
    /// Whether a file that is there is replaced; else it is an error.
    pub overwrite: bool,
    /// Whether missing directories above are made.
    pub create_parent: bool,
    /// Replicas of each block.
    pub replication: Option<u16>,
    /// Size at which a block is full.
    pub block_size: Option<u64>,
    /// Permission bits before the umask.
    pub permission: u16,
    /// The bits to which the default ACL of the directory above applies, where they are not those of `permission`, which
    /// then count as they are.
    pub unmasked_permission: Option<u16>,
    /// How block data is summed.
    pub checksum: Option<DataChecksum>,
    /// Memory first, one replica, written to disk later.
    pub lazy_persist: bool,
    /// Each block is on disk before it is closed.
    pub sync_block: bool,
    /// No replica on the writer's own machine.
    pub no_local_write: bool,
    /// Places replicas as if the writer were no DataNode's machine.
    pub ignore_client_locality: bool,
    /// The file is replicated even below a directory with erasure coding.
    pub should_replicate: bool,
    /// DataNodes (`host:port`) that are to have the replicas.
    pub favored_nodes: Vec<String>,
    /// Name of the erasure coding policy.
    pub erasure_policy: Option<String>,
    /// Name of the storage policy.
    pub storage_policy: Option<String>,
}

impl Default for CreateOptions {
    fn default() -> Self {
        Self {
            overwrite: false,
            create_parent: true,
            replication: None,
            block_size: None,
            permission: 0o666,
            unmasked_permission: None,
            checksum: None,
            lazy_persist: false,
            sync_block: false,
            no_local_write: false,
            ignore_client_locality: false,
            should_replicate: false,
            favored_nodes: Vec::new(),
            erasure_policy: None,
            storage_policy: None,
        }
    }
}

impl CreateOptions {
    /// The defaults, replacing a file that is there.
    pub fn overwriting() -> Self {
        Self { overwrite: true, ..Self::default() }
    }
}

/// How a file is appended to.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AppendOptions {
    /// Begins a new block instead of filling the last one.
    pub new_block: bool,
    /// Each block is on disk before it is closed.
    pub sync_block: bool,
}

/// What else a sync does.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct SyncOptions {
    /// The NameNode learns the new length (`SyncFlag.UPDATE_LENGTH`).
    pub update_length: bool,
    /// The block ends here (`SyncFlag.END_BLOCK`).
    pub end_block: bool,
}

/// How a path is renamed (`rename2`).
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct RenameOptions {
    /// Replaces a file or an empty directory at the target.
    pub overwrite: bool,
    /// The target is the trash: missing directories may be made there, quotas do not count.
    pub to_trash: bool,
}

setters!(OpenOptions { verify: Verify });
setters!(CreateOptions {
    overwrite: bool,
    create_parent: bool,
    replication: Option<u16>,
    block_size: Option<u64>,
    permission: u16,
    unmasked_permission: Option<u16>,
    checksum: Option<DataChecksum>,
    lazy_persist: bool,
    sync_block: bool,
    no_local_write: bool,
    ignore_client_locality: bool,
    should_replicate: bool,
    favored_nodes: Vec<String>,
    erasure_policy: Option<String>,
    storage_policy: Option<String>,
});
setters!(AppendOptions { new_block: bool, sync_block: bool });
setters!(SyncOptions { update_length: bool, end_block: bool });
setters!(RenameOptions { overwrite: bool, to_trash: bool });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_left_out_is_set_with_and_without_some() {
        let options = CreateOptions::overwriting().replication(2).block_size(None);
        assert_eq!((options.overwrite, options.replication), (true, Some(2)));
        let options = options.replication(None).storage_policy("HOT".to_owned());
        assert_eq!((options.replication, options.storage_policy.as_deref()), (None, Some("HOT")));
    }
}
