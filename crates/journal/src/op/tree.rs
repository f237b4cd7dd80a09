//! Operations on paths: directories, links, names, times, owners, quotas.

use super::attr::{get_acl, get_xattrs, put_acl, put_xattrs};
use super::field::{Body, Field, Mode, Result, plain_ops};
use crate::codec::{Reader, Writer};
use crate::types::{AclEntry, PermissionStatus, StorageType, XAttr};
use std::sync::Arc;
use zerohop_wire::InodeId;

/// One directory was made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mkdir {
    /// Its inode.
    pub inode_id: InodeId,
    /// Its full path.
    pub path: String,
    /// When, ms since the epoch.
    pub timestamp_ms: i64,
    /// Owner, group, mode.
    pub permissions: PermissionStatus,
    /// Its access-control list; empty means only the mode.
    pub acl: Vec<AclEntry>,
    /// Its extended attributes.
    pub xattrs: Vec<XAttr>,
}

impl Body for Mkdir {
    const RPC_IDS: bool = false;

    fn put(&self, out: &mut Writer<'_>) {
        self.inode_id.put(out);
        out.utf8(&self.path);
        // Once as the modification, once as the access time.
        out.i64(self.timestamp_ms);
        out.i64(self.timestamp_ms);
        self.permissions.put(out);
        put_acl(&self.acl, out);
        if out.layout().has_xattrs() {
            put_xattrs(None, &self.xattrs, out);
        }
    }

    fn get(from: &mut Reader<'_>) -> Result<Self> {
        let inode_id = Field::get(from)?;
        let path = from.utf8()?;
        let timestamp_ms = from.i64()?;
        from.i64()?;
        Ok(Self {
            inode_id,
            path,
            timestamp_ms,
            permissions: Field::get(from)?,
            acl: get_acl(from)?,
            xattrs: if from.layout().has_xattrs() { get_xattrs(from)?.1 } else { Vec::new() },
        })
    }
}

plain_ops! {
    /// Rename of the old kind: fails if the destination exists, moves into a directory.
    rpc RenameOld {
        /// The path before.
        src: String,
        /// The path after.
        dst: String,
        /// When, ms since the epoch.
        timestamp_ms: i64,
    }

    /// A path was deleted with all below it.
    rpc Delete {
        /// The path.
        path: String,
        /// When, ms since the epoch.
        timestamp_ms: i64,
    }

    /// A symbolic link was made.
    rpc Symlink {
        /// Its inode.
        inode_id: InodeId,
        /// Its full path.
        path: String,
        /// What it points to.
        target: String,
        /// Modification time, ms since the epoch.
        mtime_ms: i64,
        /// Access time, ms since the epoch.
        atime_ms: i64,
        /// Owner, group, mode.
        permissions: PermissionStatus,
    }

    /// Modification or access time set; -1 leaves one as it is.
    Times {
        /// The path.
        path: String,
        /// Modification time, ms since the epoch.
        mtime_ms: i64,
        /// Access time, ms since the epoch.
        atime_ms: i64,
    }

    /// Obsolete: only a name quota.
    SetNsQuota {
        /// The directory.
        path: String,
        /// How many names.
        ns_quota: i64,
    }

    /// Obsolete: the name quota is gone.
    ClearNsQuota {
        /// The directory.
        path: String,
    }

    /// Name and space quota set; -1 is none, `i64::MAX` leaves one as it is.
    SetQuota {
        /// The directory.
        path: String,
        /// How many names.
        ns_quota: i64,
        /// How many bytes over all replicas.
        ds_quota: i64,
    }

    /// A quota of one storage type was set; -1 is none.
    SetQuotaByStorageType {
        /// The directory.
        path: String,
        /// The type.
        storage_type: StorageType,
        /// How many bytes over all replicas.
        quota: i64,
    }
}

/// Mode bits changed.
#[derive(Clone, Debug, PartialEq)]
pub struct SetPermissions {
    /// The path.
    pub path: String,
    /// The new bits, sticky bit included.
    pub mode: u16,
}

impl Body for SetPermissions {
    const RPC_IDS: bool = false;

    fn put(&self, out: &mut Writer<'_>) {
        out.utf8(&self.path);
        Mode(self.mode).put(out);
    }

    fn get(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { path: from.utf8()?, mode: Mode::get(from)?.0 })
    }
}

/// Owner or group changed.
#[derive(Clone, Debug, PartialEq)]
pub struct SetOwner {
    /// The path.
    pub path: String,
    /// The new owner; none leaves it.
    pub user: Option<Arc<str>>,
    /// The new group; none leaves it.
    pub group: Option<Arc<str>>,
}

impl Body for SetOwner {
    const RPC_IDS: bool = false;

    fn put(&self, out: &mut Writer<'_>) {
        out.utf8(&self.path);
        out.utf8(self.user.as_deref().unwrap_or_default());
        out.utf8(self.group.as_deref().unwrap_or_default());
    }

    fn get(from: &mut Reader<'_>) -> Result<Self> {
        let some = |name: String| (!name.is_empty()).then(|| name.into());
        Ok(Self { path: from.utf8()?, user: some(from.utf8()?), group: some(from.utf8()?) })
    }
}

/// Rename with options.
#[derive(Clone, Debug, PartialEq)]
pub struct Rename {
    /// The path before.
    pub src: String,
    /// The path after.
    pub dst: String,
    /// When, ms since the epoch.
    pub timestamp_ms: i64,
    /// `Options.Rename` codes: 0 none, 1 overwrite, 2 to trash.
    pub options: Vec<u8>,
}

impl Rename {
    /// The option that replaces what is at the destination.
    pub const OVERWRITE: u8 = 1;
    /// The option that says it is a move into the trash.
    pub const TO_TRASH: u8 = 2;

    /// Whether what is at the destination is replaced.
    pub fn overwrites(&self) -> bool {
        self.options.contains(&Self::OVERWRITE)
    }
}

impl Body for Rename {
    const RPC_IDS: bool = true;

    fn put(&self, out: &mut Writer<'_>) {
        out.utf8(&self.src);
        out.utf8(&self.dst);
        out.i64(self.timestamp_ms);
        out.i32(self.options.len() as i32);
        out.raw(&self.options);
    }

    fn get(from: &mut Reader<'_>) -> Result<Self> {
        let src = from.utf8()?;
        let dst = from.utf8()?;
        let timestamp_ms = from.i64()?;
        let count = from.i32()?;
        let count = from.count("number of rename options", count.into(), 1)?;
        Ok(Self { src, dst, timestamp_ms, options: from.take(count)?.to_vec() })
    }
}
