//! The values operations carry.

use bytes::Bytes;
use std::sync::Arc;

pub use zerohop_wire::{AclKind, AclScope, RpcIds, XAttrNamespace};

/// Owner, group and mode of an inode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PermissionStatus {
    /// The owner's name.
    pub user: Arc<str>,
    /// The group's name.
    pub group: Arc<str>,
    /// The mode bits, sticky bit included (0o1777 at most).
    pub mode: u16,
}

/// One entry of an access-control list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AclEntry {
    /// Access or default.
    pub scope: AclScope,
    /// User, group, mask, other.
    pub kind: AclKind,
    /// The user or group; none means the owner, the owning group, the mask, others.
    pub name: Option<Arc<str>>,
    /// Read 4, write 2, execute 1.
    pub perm: u8,
}

/// An extended attribute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct XAttr {
    /// Its namespace.
    pub namespace: XAttrNamespace,
    /// Its name, without the namespace's prefix.
    pub name: Arc<str>,
    /// Its value; a removal may name an attribute without one.
    pub value: Option<Bytes>,
}

/// A storage type, numbered as edits and images count them (`StorageType.ordinal()`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StorageType {
    /// `RAM_DISK`
    RamDisk = 0,
    /// `SSD`
    Ssd = 1,
    /// `DISK`
    Disk = 2,
    /// `ARCHIVE`
    Archive = 3,
    /// `PROVIDED`
    Provided = 4,
    /// `NVDIMM`
    Nvdimm = 5,
}

/// What a cache directive says, each part only where it is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheDirective {
    /// The directive's id.
    pub id: i64,
    /// The path to cache.
    pub path: Option<String>,
    /// How many replicas.
    pub replication: Option<i16>,
    /// In which pool.
    pub pool: Option<String>,
    /// Until when, ms since the epoch.
    pub expiration_ms: Option<i64>,
}

/// What a cache pool says, each part only where it is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CachePool {
    /// The pool's name.
    pub name: String,
    /// Its owner.
    pub owner: Option<String>,
    /// Its group.
    pub group: Option<String>,
    /// Its mode bits.
    pub mode: Option<u16>,
    /// How many bytes it may cache.
    pub limit: Option<i64>,
    /// The longest relative expiry, ms.
    pub max_relative_expiry_ms: Option<i64>,
    /// Replication where a directive names none.
    pub default_replication: Option<i16>,
}

/// An erasure-coding policy without its id (the id is given when it is applied).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EcPolicy {
    /// The codec: `rs`, `rs-legacy`, `xor`.
    pub codec: String,
    /// Data units of a group.
    pub data_units: i32,
    /// Parity units of a group.
    pub parity_units: i32,
    /// Bytes of a cell.
    pub cell_size: i32,
    /// Extra options of the schema.
    pub options: Vec<(String, String)>,
}

impl EcPolicy {
    /// `<CODEC>-<data>-<parity>-<cell size in KB>k`, the name Hadoop composes.
    pub fn name(&self) -> String {
        format!(
            "{}-{}-{}-{}k",
            self.codec.to_uppercase(),
            self.data_units,
            self.parity_units,
            self.cell_size / 1024
        )
    }
}

/// A delegation token's identifier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenIdentifier {
    /// For whom.
    pub owner: String,
    /// Who may renew it.
    pub renewer: String,
    /// Who really asked; empty if the owner.
    pub real_user: String,
    /// When it was issued, ms since the epoch.
    pub issue_date_ms: i64,
    /// When it ends for good, ms since the epoch.
    pub max_date_ms: i64,
    /// Its number.
    pub sequence_number: i32,
    /// The key that signed it.
    pub master_key_id: i32,
}

/// A key that signs delegation tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DelegationKey {
    /// Its id.
    pub id: i32,
    /// When it ends, ms since the epoch.
    pub expiry_ms: i64,
    /// Its bytes.
    pub key: Option<Bytes>,
}

impl StorageType {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::RamDisk, Self::Ssd, Self::Disk, Self::Archive, Self::Provided, Self::Nvdimm];

    /// From its place in [`Self::ALL`].
    pub fn from_ordinal(ordinal: i32) -> Option<Self> {
        Self::ALL.get(usize::try_from(ordinal).ok()?).copied()
    }
}
