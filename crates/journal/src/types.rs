//! The values operations carry.

use bytes::Bytes;
use std::sync::Arc;

pub use zerohop_wire::{
    AclEntry, AclKind, AclScope, CachePool, RpcIds, StorageType, XAttr, XAttrNamespace,
};
use zerohop_wire::{CacheDirective, CacheExpiry};

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

/// A cache directive, or what changes of one, as edit logs and images record it. Not a [`CacheDirective`], which requests
/// and answers carry: here the id is always known, and the expiry is a time, since one that counts from now would be another
/// at each replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheDirectiveRecord {
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

impl CacheDirectiveRecord {
    /// What a request says, with the id and the expiry that the NameNode found.
    pub fn of(said: &CacheDirective, id: i64, expiration_ms: Option<i64>) -> Self {
        Self {
            id,
            path: said.path.clone(),
            replication: said.replication,
            pool: said.pool.clone(),
            expiration_ms,
        }
    }
}

impl From<CacheDirectiveRecord> for CacheDirective {
    fn from(record: CacheDirectiveRecord) -> Self {
        let expiry = record.expiration_ms.map(|ms| CacheExpiry { ms, is_relative: false });
        Self::default()
            .id(record.id)
            .path(record.path)
            .replication(record.replication)
            .pool(record.pool)
            .expiry(expiry)
    }
}

/// From an image, whose expiries are times.
impl From<CacheDirective> for CacheDirectiveRecord {
    fn from(directive: CacheDirective) -> Self {
        let expiration_ms = directive.expiry.map(|expiry| expiry.ms);
        Self::of(&directive, directive.id.unwrap_or_default(), expiration_ms)
    }
}
