//! The operations that the shell needs of each file system.

use std::io::{Read, Write};
use std::sync::Arc;

use zerohop_client::AclEntry;
use zerohop_client::blocking::FileSystem;
use zerohop_wire::checksum_type::DataChecksum;

use super::acl_entry::AclChange;
use super::location::{Location, child};
use super::status::{Checksum, FsStatus, QuotaUsage, Status, Summary};
use crate::failure::{Failure, Kind, Outcome};

/// Bytes moved by one call.
pub const BUFFER: usize = 1 << 20;

/// How a file is made.
#[derive(Debug, Clone, Copy, Default)]
pub struct CreateHow {
    pub overwrite: bool,
    /// Memory first, one replica, written to disk later.
    pub lazy_persist: bool,
    /// Replicas of each block; `None` means the configured number. Only HDFS uses this and the next two.
    pub replication: Option<u16>,
    /// Bytes per block; `None` means the configured size.
    pub block_size: Option<u64>,
    /// Checksum type of the data; `None` means the configured type.
    pub checksum: Option<DataChecksum>,
}

/// How a file is opened.
#[derive(Debug, Clone, Copy)]
pub struct OpenHow {
    pub verify: bool,
}

impl Default for OpenHow {
    fn default() -> Self {
        OpenHow { verify: true }
    }
}

/// A file being read.
pub trait Input: Read + Send {
    /// Sets the offset of the next read.
    fn seek_to(&mut self, offset: u64) -> Outcome;
}

/// A file being written.
pub trait Output: Write + Send {
    /// The local file behind it, which can be written at any place; `None` where a file is written
    /// from its front to its end only.
    fn file(&self) -> Option<&std::fs::File> {
        None
    }
    /// Reads the next bytes of `input` into the file; 0 at its end. `buffer` is for those who need one.
    fn write_from(&mut self, input: &mut dyn Read, buffer: &mut Vec<u8>) -> std::io::Result<usize> {
        buffer.resize(BUFFER, 0);
        let count = input.read(buffer)?;
        self.write_all(buffer.get(..count).unwrap_or_default())?;
        Ok(count)
    }
    /// Completes the file; without it the file is incomplete.
    fn finish(self: Box<Self>) -> Outcome;
}

/// Modification and access time, each where it is to change, in milliseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    pub modified_ms: Option<i64>,
    pub accessed_ms: Option<i64>,
}

/// Other file systems, for those that lead to them.
pub trait Stores: Send + Sync {
    /// Returns the file system of a location.
    fn open(&self, location: &Location) -> Outcome<Arc<dyn Store>>;
}

/// A path in the file system that a mount point leads to.
pub struct Resolved {
    pub store: Arc<dyn Store>,
    pub path: String,
}

/// A mount point with the sizes of its file system.
pub struct MountUsage {
    /// The URI that the mount point leads to.
    pub target: String,
    /// The path of the mount point.
    pub mounted_on: String,
    pub status: FsStatus,
}

/// A file system. Paths are absolute and have no scheme.
pub trait Store: Send + Sync {
    /// `hdfs://host:port` or `file:///`.
    fn uri(&self) -> String;
    fn is_local(&self) -> bool;
    /// Where relative paths start.
    fn home(&self) -> String;
    /// The user's trash.
    fn trash_root(&self) -> String {
        child(&self.home(), ".Trash")
    }
    /// Returns where a path leads in a file system below; `None` if it is a path of this one.
    fn resolve(&self, _path: &str) -> Outcome<Option<Resolved>> {
        Ok(None)
    }
    /// Returns the trash of a path if that is in this file system, although the path leads to another one.
    fn trash_root_inside(&self, _path: &str) -> Outcome<Option<String>> {
        Ok(None)
    }
    /// Returns the mount points that a path leads to; `None` if the file system has none.
    fn mounts(&self, _path: &str) -> Outcome<Option<Vec<MountUsage>>> {
        Ok(None)
    }
    /// The client, for what is more than a store does; `None`: it is no HDFS.
    fn hdfs(&self) -> Option<&FileSystem> {
        None
    }
    fn status(&self, path: &str) -> Outcome<Status>;
    /// Lists a directory page by page, in order of name; a file lists itself.
    fn list(&self, path: &str, page: &mut dyn FnMut(Vec<Status>) -> Outcome) -> Outcome;
    fn open(&self, path: &str, how: OpenHow) -> Outcome<Box<dyn Input>>;
    /// Which way everything that was read so far went, a line each.
    fn read_report(&self) -> Vec<String> {
        Vec::new()
    }
    /// After a block of this size found no place: how much room there is and what to do, in one line;
    /// `None` where room is not what lacks, or nothing can be said.
    fn room_report(&self, _block_size: u64, _failure: &str) -> Option<String> {
        None
    }
    fn create(&self, path: &str, how: CreateHow) -> Outcome<Box<dyn Output>>;
    fn mkdirs(&self, path: &str) -> Outcome<bool>;
    fn delete(&self, path: &str, recursive: bool) -> Outcome<bool>;
    fn rename(&self, from: &str, to: &str) -> Outcome<bool>;
    /// Renames a file to the name of another, which it takes the place of in one step: at no time is
    /// there neither of the two.
    fn replace(&self, from: &str, to: &str) -> Outcome;
    fn set_permission(&self, path: &str, mode: u32) -> Outcome;
    fn set_owner(&self, path: &str, owner: Option<&str>, group: Option<&str>) -> Outcome;
    fn set_times(&self, path: &str, times: Times) -> Outcome;
    fn summary(&self, path: &str) -> Outcome<Summary>;
    fn fs_status(&self) -> Outcome<FsStatus>;

    fn append(&self, _path: &str, _new_block: bool) -> Outcome<Box<dyn Output>> {
        Err(self.unsupported("append"))
    }
    fn rename_to_trash(&self, from: &str, to: &str) -> Outcome {
        match self.rename(from, to)? {
            true => Ok(()),
            false => Err(Failure::path(from, "Input/output error")),
        }
    }
    /// `mask` has the bits of `rwx`; fails with [`Kind::Denied`] or [`Kind::NotFound`].
    fn access(&self, path: &str, _mask: u32) -> Outcome {
        self.status(path).map(|_| ())
    }
    fn set_replication(&self, _path: &str, _replication: i32) -> Outcome<bool> {
        Ok(true)
    }
    /// Live replicas of each block.
    fn replicas(&self, _path: &str) -> Outcome<Vec<usize>> {
        Ok(Vec::new())
    }
    fn truncate(&self, _path: &str, _length: i64) -> Outcome<bool> {
        Err(self.unsupported("truncate"))
    }
    fn concat(&self, _target: &str, _sources: &[String]) -> Outcome {
        Err(self.unsupported("concat"))
    }
    fn quota_usage(&self, _path: &str) -> Outcome<QuotaUsage> {
        Err(self.unsupported("quotas"))
    }
    /// `None` where the file system has no checksums of files.
    fn checksum(&self, _path: &str) -> Outcome<Option<Checksum>> {
        Ok(None)
    }
    /// Returns the checksum of the first `len` bytes; `None` if the file system has no such checksum.
    fn checksum_of(&self, path: &str, len: u64) -> Outcome<Option<Checksum>> {
        let is_whole = u64::try_from(self.status(path)?.length) == Ok(len);
        if is_whole { self.checksum(path) } else { Ok(None) }
    }
    /// Minutes that a trash checkpoint is kept by the server's defaults.
    fn trash_interval_min(&self) -> Outcome<i64> {
        Ok(0)
    }
    fn acl(&self, _path: &str) -> Outcome<Vec<AclEntry>> {
        Err(self.unsupported("ACLs"))
    }
    fn change_acl(&self, _path: &str, _change: AclChange) -> Outcome {
        Err(self.unsupported("ACLs"))
    }
    fn xattrs(&self, _path: &str) -> Outcome<Vec<(String, Vec<u8>)>> {
        Err(self.unsupported("extended attributes"))
    }
    fn set_xattr(&self, _path: &str, _name: &str, _value: &[u8]) -> Outcome {
        Err(self.unsupported("extended attributes"))
    }
    fn remove_xattr(&self, _path: &str, _name: &str) -> Outcome {
        Err(self.unsupported("extended attributes"))
    }
    /// The path of the snapshot.
    fn create_snapshot(&self, _path: &str, _name: Option<&str>) -> Outcome<String> {
        Err(self.unsupported("snapshots"))
    }
    fn delete_snapshot(&self, _path: &str, _name: &str) -> Outcome {
        Err(self.unsupported("snapshots"))
    }
    fn rename_snapshot(&self, _path: &str, _from: &str, _to: &str) -> Outcome {
        Err(self.unsupported("snapshots"))
    }

    fn unsupported(&self, what: &str) -> Failure {
        Failure::unsupported(format!("{} does not support {what}", self.uri()))
    }

    fn exists(&self, path: &str) -> Outcome<bool> {
        match self.status(path) {
            Ok(_) => Ok(true),
            Err(failure) if failure.kind == Kind::NotFound => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    fn list_all(&self, path: &str) -> Outcome<Vec<Status>> {
        let mut all = Vec::new();
        self.list(path, &mut |page| {
            all.extend(page);
            Ok(())
        })?;
        Ok(all)
    }
}
