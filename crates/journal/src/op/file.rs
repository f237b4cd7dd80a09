//! Operations on files and their blocks.

use super::attr::{get_acl, get_xattrs, put_acl, put_xattrs};
use super::field::{Body, Field, Result, plain_ops};
use crate::codec::{Reader, Writer};
use crate::error::DecodeError;
use crate::types::{AclEntry, PermissionStatus, XAttr};
use zerohop_wire::{Block, InodeId};

/// The most files one concat may join (`MAX_CONCAT_SRC`).
const CONCAT_SOURCES_MAX: i32 = 1024 * 1024;

/// A file was created (or, in old logs, opened again for append).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Add {
    /// Its inode.
    pub inode_id: InodeId,
    /// Its full path.
    pub path: String,
    /// Its replication; 0 or 1 under an erasure-coding policy.
    pub replication: i16,
    /// Modification time, ms since the epoch.
    pub mtime_ms: i64,
    /// Access time, ms since the epoch.
    pub atime_ms: i64,
    /// Bytes of a full block.
    pub block_size: i64,
    /// Its blocks: none for a new file.
    pub blocks: Vec<Block>,
    /// Owner, group, mode.
    pub permissions: PermissionStatus,
    /// Its access-control list; empty means only the mode.
    pub acl: Vec<AclEntry>,
    /// Its extended attributes.
    pub xattrs: Vec<XAttr>,
    /// The lease's holder.
    pub client_name: String,
    /// The host it writes from.
    pub client_machine: String,
    /// Whether a file of that path is replaced.
    pub overwrite: bool,
    /// Storage policy; 0 means inherited.
    pub storage_policy_id: u8,
    /// Erasure-coding policy; 0 means replication.
    pub ec_policy_id: u8,
}

impl Body for Add {
    const RPC_IDS: bool = true;

    fn put(&self, out: &mut Writer<'_>) {
        self.inode_id.put(out);
        out.utf8(&self.path);
        out.i16(self.replication);
        out.i64(self.mtime_ms);
        out.i64(self.atime_ms);
        out.i64(self.block_size);
        out.blocks(&self.blocks);
        self.permissions.put(out);
        put_acl(&self.acl, out);
        if out.layout().has_xattrs() {
            put_xattrs(None, &self.xattrs, out);
        }
        out.utf8(&self.client_name);
        out.utf8(&self.client_machine);
        if out.layout().has_create_overwrite() {
            self.overwrite.put(out);
        }
        if out.layout().has_storage_policy() {
            out.u8(self.storage_policy_id);
        }
        if out.layout().has_erasure_coding() {
            out.u8(self.ec_policy_id);
        }
    }

    fn get(from: &mut Reader<'_>) -> Result<Self> {
        let layout = from.layout();
        Ok(Self {
            inode_id: Field::get(from)?,
            path: from.utf8()?,
            replication: from.i16()?,
            mtime_ms: from.i64()?,
            atime_ms: from.i64()?,
            block_size: from.i64()?,
            blocks: from.blocks()?,
            permissions: Field::get(from)?,
            acl: get_acl(from)?,
            xattrs: if layout.has_xattrs() { get_xattrs(from)?.1 } else { Vec::new() },
            client_name: from.utf8()?,
            client_machine: from.utf8()?,
            overwrite: layout.has_create_overwrite() && bool::get(from)?,
            storage_policy_id: if layout.has_storage_policy() { from.u8()? } else { 0 },
            ec_policy_id: if layout.has_erasure_coding() { from.u8()? } else { 0 },
        })
    }
}

/// A file was completed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Close {
    /// Its inode.
    pub inode_id: InodeId,
    /// Its full path.
    pub path: String,
    /// Its replication.
    pub replication: i16,
    /// Modification time, ms since the epoch.
    pub mtime_ms: i64,
    /// Access time, ms since the epoch.
    pub atime_ms: i64,
    /// Bytes of a full block.
    pub block_size: i64,
    /// All its blocks with their final lengths.
    pub blocks: Vec<Block>,
    /// Owner, group, mode.
    pub permissions: PermissionStatus,
}

impl Body for Close {
    const RPC_IDS: bool = false;

    fn put(&self, out: &mut Writer<'_>) {
        self.inode_id.put(out);
        out.utf8(&self.path);
        out.i16(self.replication);
        out.i64(self.mtime_ms);
        out.i64(self.atime_ms);
        out.i64(self.block_size);
        out.blocks(&self.blocks);
        self.permissions.put(out);
    }

    fn get(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            inode_id: Field::get(from)?,
            path: from.utf8()?,
            replication: from.i16()?,
            mtime_ms: from.i64()?,
            atime_ms: from.i64()?,
            block_size: from.i64()?,
            blocks: from.blocks()?,
            permissions: Field::get(from)?,
        })
    }
}

plain_ops! {
    /// A file was opened for append.
    rpc Append {
        /// Its full path.
        path: String,
        /// The lease's holder.
        client_name: String,
        /// The host it writes from.
        client_machine: String,
        /// Whether to begin a new block though the last is not full.
        new_block: bool,
    }

    /// A file's replication changed.
    SetReplication {
        /// Its full path.
        path: String,
        /// The new target.
        replication: i16,
    }

    /// A path's storage policy was set.
    SetStoragePolicy {
        /// The path.
        path: String,
        /// The policy; 0 means inherited.
        policy_id: u8,
    }

    /// A lease went to another holder.
    ReassignLease {
        /// Who had it.
        lease_holder: String,
        /// The file's path.
        path: String,
        /// Who has it now.
        new_holder: String,
    }
}

/// A file got its next block.
#[derive(Clone, Debug, PartialEq)]
pub struct AddBlock {
    /// The file's path.
    pub path: String,
    /// The block before, now with its final length.
    pub penultimate: Option<Block>,
    /// The new block.
    pub last: Block,
}

impl Body for AddBlock {
    const RPC_IDS: bool = true;

    fn put(&self, out: &mut Writer<'_>) {
        out.utf8(&self.path);
        match &self.penultimate {
            Some(before) => out.compact_blocks([before, &self.last].into_iter()),
            None => out.compact_blocks([&self.last].into_iter()),
        }
    }

    fn get(from: &mut Reader<'_>) -> Result<Self> {
        let path = from.utf8()?;
        match from.compact_blocks()?.as_slice() {
            [last] => Ok(Self { path, penultimate: None, last: *last }),
            [before, last] => Ok(Self { path, penultimate: Some(*before), last: *last }),
            other => Err(DecodeError::Value {
                what: "number of blocks in OP_ADD_BLOCK",
                value: other.len() as i64,
            }),
        }
    }
}

/// A file's blocks as they are now (after a sync, an abandoned block, a new stamp).
#[derive(Clone, Debug, PartialEq)]
pub struct UpdateBlocks {
    /// The file's path.
    pub path: String,
    /// All its blocks.
    pub blocks: Vec<Block>,
}

impl Body for UpdateBlocks {
    const RPC_IDS: bool = true;

    fn put(&self, out: &mut Writer<'_>) {
        out.utf8(&self.path);
        out.compact_blocks(self.blocks.iter());
    }

    fn get(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { path: from.utf8()?, blocks: from.compact_blocks()? })
    }
}

/// Files were joined to the end of another and are gone.
#[derive(Clone, Debug, PartialEq)]
pub struct ConcatDelete {
    /// The file that grew.
    pub target: String,
    /// The files that went into it, in order.
    pub sources: Vec<String>,
    /// When, ms since the epoch.
    pub timestamp_ms: i64,
}

impl Body for ConcatDelete {
    const RPC_IDS: bool = true;

    fn put(&self, out: &mut Writer<'_>) {
        out.utf8(&self.target);
        out.i32(self.sources.len() as i32);
        for source in &self.sources {
            out.utf8(source);
        }
        out.i64(self.timestamp_ms);
    }

    fn get(from: &mut Reader<'_>) -> Result<Self> {
        let target = from.utf8()?;
        let value = from.i32()?;
        let count = from.count("number of concat sources", value.into(), 2)?;
        if value > CONCAT_SOURCES_MAX {
            return Err(DecodeError::Value {
                what: "number of concat sources",
                value: value.into(),
            });
        }
        let sources = (0..count).map(|_| from.utf8()).collect::<Result<_>>()?;
        Ok(Self { target, sources, timestamp_ms: from.i64()? })
    }
}

/// A file was cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Truncate {
    /// Its full path.
    pub path: String,
    /// The lease's holder while the last block is recovered.
    pub client_name: String,
    /// The host it calls from.
    pub client_machine: String,
    /// Bytes left.
    pub new_length: i64,
    /// When, ms since the epoch.
    pub timestamp_ms: i64,
    /// The last block to be recovered; none where the cut falls between blocks.
    pub block: Option<Block>,
}

impl Body for Truncate {
    const RPC_IDS: bool = false;

    fn put(&self, out: &mut Writer<'_>) {
        out.utf8(&self.path);
        out.utf8(&self.client_name);
        out.utf8(&self.client_machine);
        out.i64(self.new_length);
        out.i64(self.timestamp_ms);
        out.compact_blocks(self.block.as_slice().iter());
    }

    fn get(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            path: from.utf8()?,
            client_name: from.utf8()?,
            client_machine: from.utf8()?,
            new_length: from.i64()?,
            timestamp_ms: from.i64()?,
            block: from.compact_blocks()?.into_iter().next(),
        })
    }
}
