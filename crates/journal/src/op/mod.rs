//! The edit log's operations: every change to the namespace is one of these.
//!
//! A record on disk:
//! ```text
//! +--------+------------+-----------+----------------------+-----------+
//! | code 1 | length 4   | txid 8    | body, then rpc ids   | CRC-32 4  |
//! +--------+------------+-----------+----------------------+-----------+
//!          |<-- length counts these three ---------------->|
//! |<-- the CRC covers these four ------------------------->|
//! ```
//! Source: `FSEditLogOp`, `FSEditLogOpCodes` of Hadoop 3.4.

mod attr;
mod cache;
mod erasure;
mod field;
mod file;
mod frame;
mod global;
mod snapshot;
mod token;
mod tree;

pub use attr::{RemoveXAttr, SetAcl, SetXAttr};
pub use cache::{
    AddCacheDirective, AddCachePool, ModifyCacheDirective, ModifyCachePool, RemoveCacheDirective,
    RemoveCachePool,
};
pub use erasure::{
    AddErasureCodingPolicy, DisableErasureCodingPolicy, EnableErasureCodingPolicy,
    RemoveErasureCodingPolicy,
};
pub use file::{
    Add, AddBlock, Append, Close, ConcatDelete, ReassignLease, SetReplication, SetStoragePolicy,
    Truncate, UpdateBlocks,
};
pub use frame::{OP_SIZE_MAX, OP_SIZE_MIN, Record, check, decode, encode, peek};
pub use global::{
    AllocateBlockId, EndLogSegment, RollingUpgradeFinalize, RollingUpgradeStart, SetGenstampV1,
    SetGenstampV2, StartLogSegment,
};
pub use snapshot::{
    AllowSnapshot, CreateSnapshot, DeleteSnapshot, DisallowSnapshot, RenameSnapshot,
};
pub use token::{CancelDelegationToken, GetDelegationToken, RenewDelegationToken, UpdateMasterKey};
pub use tree::{
    ClearNsQuota, Delete, Mkdir, Rename, RenameOld, SetNsQuota, SetOwner, SetPermissions, SetQuota,
    SetQuotaByStorageType, Symlink, Times,
};

pub use crate::codec::string_fits;
use crate::codec::{Reader, Writer};
use crate::error::DecodeError;
use field::Body;

macro_rules! edit_ops {
    ($($(#[$doc:meta])* $variant:ident($body:ty) = $code:literal $name:literal,)*) => {
        /// An operation of the edit log.
        #[derive(Clone, Debug, PartialEq)]
        pub enum EditOp {
            $($(#[$doc])* $variant($body),)*
        }

        impl EditOp {
            /// The code on disk.
            pub fn code(&self) -> u8 {
                match self { $(Self::$variant(_) => $code,)* }
            }

            /// Hadoop's name of it, such as `OP_ADD`.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)* }
            }

            /// Whether the record ends with the caller's client and call id.
            pub fn has_rpc_ids(&self) -> bool {
                match self { $(Self::$variant(_) => <$body>::RPC_IDS,)* }
            }

            fn put(&self, out: &mut Writer<'_>) {
                match self { $(Self::$variant(body) => body.put(out),)* }
            }

            fn get(code: u8, from: &mut Reader<'_>) -> Result<Self, DecodeError> {
                match code {
                    $($code => <$body>::get(from).map(Self::$variant),)*
                    other => Err(DecodeError::OpCode(other)),
                }
            }
        }

        $(impl From<$body> for EditOp {
            fn from(body: $body) -> Self { Self::$variant(body) }
        })*

        /// Every code with its name, in order of the codes.
        pub const OP_CODES: &[(u8, &str)] = &[$(($code, $name),)*];
    };
}

edit_ops! {
    /// A file was created, or overwritten.
    Add(Box<Add>) = 0 "OP_ADD",
    /// Rename of the old kind: fails if the destination exists, moves into a directory.
    RenameOld(RenameOld) = 1 "OP_RENAME_OLD",
    /// A path was deleted with all below it.
    Delete(Delete) = 2 "OP_DELETE",
    /// One directory was made.
    Mkdir(Mkdir) = 3 "OP_MKDIR",
    /// A file's replication changed.
    SetReplication(SetReplication) = 4 "OP_SET_REPLICATION",
    /// Mode bits changed.
    SetPermissions(SetPermissions) = 7 "OP_SET_PERMISSIONS",
    /// Owner or group changed.
    SetOwner(SetOwner) = 8 "OP_SET_OWNER",
    /// A file was completed.
    Close(Box<Close>) = 9 "OP_CLOSE",
    /// The generation stamp of legacy blocks.
    SetGenstampV1(SetGenstampV1) = 10 "OP_SET_GENSTAMP_V1",
    /// Obsolete; read only.
    SetNsQuota(SetNsQuota) = 11 "OP_SET_NS_QUOTA",
    /// Obsolete; read only.
    ClearNsQuota(ClearNsQuota) = 12 "OP_CLEAR_NS_QUOTA",
    /// Modification or access time set.
    Times(Times) = 13 "OP_TIMES",
    /// Name and space quota set.
    SetQuota(SetQuota) = 14 "OP_SET_QUOTA",
    /// Rename with options.
    Rename(Rename) = 15 "OP_RENAME",
    /// Files were joined to another's end.
    ConcatDelete(ConcatDelete) = 16 "OP_CONCAT_DELETE",
    /// A symbolic link was made.
    Symlink(Symlink) = 17 "OP_SYMLINK",
    /// A delegation token was issued.
    GetDelegationToken(GetDelegationToken) = 18 "OP_GET_DELEGATION_TOKEN",
    /// A delegation token was renewed.
    RenewDelegationToken(RenewDelegationToken) = 19 "OP_RENEW_DELEGATION_TOKEN",
    /// A delegation token was cancelled.
    CancelDelegationToken(CancelDelegationToken) = 20 "OP_CANCEL_DELEGATION_TOKEN",
    /// A new key for tokens.
    UpdateMasterKey(UpdateMasterKey) = 21 "OP_UPDATE_MASTER_KEY",
    /// A lease went to another holder.
    ReassignLease(ReassignLease) = 22 "OP_REASSIGN_LEASE",
    /// The last record of a segment.
    EndLogSegment(EndLogSegment) = 23 "OP_END_LOG_SEGMENT",
    /// The first record of a segment.
    StartLogSegment(StartLogSegment) = 24 "OP_START_LOG_SEGMENT",
    /// A file's blocks as they are now.
    UpdateBlocks(UpdateBlocks) = 25 "OP_UPDATE_BLOCKS",
    /// A snapshot was taken.
    CreateSnapshot(CreateSnapshot) = 26 "OP_CREATE_SNAPSHOT",
    /// A snapshot was deleted.
    DeleteSnapshot(DeleteSnapshot) = 27 "OP_DELETE_SNAPSHOT",
    /// A snapshot got another name.
    RenameSnapshot(RenameSnapshot) = 28 "OP_RENAME_SNAPSHOT",
    /// A directory may have snapshots.
    AllowSnapshot(AllowSnapshot) = 29 "OP_ALLOW_SNAPSHOT",
    /// A directory may not have snapshots any more.
    DisallowSnapshot(DisallowSnapshot) = 30 "OP_DISALLOW_SNAPSHOT",
    /// The last generation stamp given out.
    SetGenstampV2(SetGenstampV2) = 31 "OP_SET_GENSTAMP_V2",
    /// The last block id given out.
    AllocateBlockId(AllocateBlockId) = 32 "OP_ALLOCATE_BLOCK_ID",
    /// A file got its next block.
    AddBlock(AddBlock) = 33 "OP_ADD_BLOCK",
    /// A cache directive was made.
    AddCacheDirective(AddCacheDirective) = 34 "OP_ADD_CACHE_DIRECTIVE",
    /// A cache directive was removed.
    RemoveCacheDirective(RemoveCacheDirective) = 35 "OP_REMOVE_CACHE_DIRECTIVE",
    /// A cache pool was made.
    AddCachePool(AddCachePool) = 36 "OP_ADD_CACHE_POOL",
    /// A cache pool was changed.
    ModifyCachePool(ModifyCachePool) = 37 "OP_MODIFY_CACHE_POOL",
    /// A cache pool was removed.
    RemoveCachePool(RemoveCachePool) = 38 "OP_REMOVE_CACHE_POOL",
    /// A cache directive was changed.
    ModifyCacheDirective(ModifyCacheDirective) = 39 "OP_MODIFY_CACHE_DIRECTIVE",
    /// A path's access-control list as it is now.
    SetAcl(SetAcl) = 40 "OP_SET_ACL",
    /// A rolling upgrade began.
    RollingUpgradeStart(RollingUpgradeStart) = 41 "OP_ROLLING_UPGRADE_START",
    /// A rolling upgrade was finalized.
    RollingUpgradeFinalize(RollingUpgradeFinalize) = 42 "OP_ROLLING_UPGRADE_FINALIZE",
    /// Extended attributes were set.
    SetXAttr(SetXAttr) = 43 "OP_SET_XATTR",
    /// Extended attributes were removed.
    RemoveXAttr(RemoveXAttr) = 44 "OP_REMOVE_XATTR",
    /// A path's storage policy was set.
    SetStoragePolicy(SetStoragePolicy) = 45 "OP_SET_STORAGE_POLICY",
    /// A file was cut.
    Truncate(Truncate) = 46 "OP_TRUNCATE",
    /// A file was opened for append.
    Append(Append) = 47 "OP_APPEND",
    /// A quota of one storage type was set.
    SetQuotaByStorageType(SetQuotaByStorageType) = 48 "OP_SET_QUOTA_BY_STORAGETYPE",
    /// An erasure-coding policy was added.
    AddErasureCodingPolicy(AddErasureCodingPolicy) = 49 "OP_ADD_ERASURE_CODING_POLICY",
    /// An erasure-coding policy was enabled.
    EnableErasureCodingPolicy(EnableErasureCodingPolicy) = 50 "OP_ENABLE_ERASURE_CODING_POLICY",
    /// An erasure-coding policy was disabled.
    DisableErasureCodingPolicy(DisableErasureCodingPolicy) = 51 "OP_DISABLE_ERASURE_CODING_POLICY",
    /// An erasure-coding policy was removed.
    RemoveErasureCodingPolicy(RemoveErasureCodingPolicy) = 52 "OP_REMOVE_ERASURE_CODING_POLICY",
}

impl From<Add> for EditOp {
    fn from(op: Add) -> Self {
        Self::Add(Box::new(op))
    }
}

impl From<Close> for EditOp {
    fn from(op: Close) -> Self {
        Self::Close(Box::new(op))
    }
}
