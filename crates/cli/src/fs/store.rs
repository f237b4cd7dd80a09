//! What the shell needs of a file system; HDFS and the local one have it.

use std::io::{Read, Write};

use super::display::BUFFER;
use crate::failure::{Failure, Kind, Outcome};

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    File,
    Directory,
    Symlink,
}

/// What is known of a path.
#[derive(Debug, Clone)]
pub struct Status {
    /// Absolute, without scheme and host.
    pub path: String,
    pub kind: FileKind,
    pub length: i64,
    pub replication: i32,
    pub block_size: i64,
    /// Milliseconds since 1970.
    pub modified_ms: i64,
    pub accessed_ms: i64,
    pub owner: String,
    pub group: String,
    /// The nine permission bits and the sticky bit (octal 1000).
    pub mode: u32,
    pub has_acl: bool,
    /// Name of the erasure coding policy, empty for a replicated file.
    pub erasure_policy: String,
}

impl Status {
    pub fn is_dir(&self) -> bool {
        self.kind == FileKind::Directory
    }

    pub fn is_file(&self) -> bool {
        self.kind == FileKind::File
    }

    /// The last name of the path; empty for the root.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// As FsPermission.toString: `rwxr-x--t`.
    pub fn permission(&self) -> String {
        permission(self.mode)
    }
}

/// As FsPermission.toString: `rwxr-x--t`.
pub fn permission(mode: u32) -> String {
    let mut text = String::with_capacity(9);
    for (index, letter) in "rwxrwxrwx".chars().enumerate() {
        text.push(if mode & (0o400 >> index) != 0 { letter } else { '-' });
    }
    if mode & 0o1000 != 0 {
        text.pop();
        text.push(if mode & 1 != 0 { 't' } else { 'T' });
    }
    text
}

/// Sums below a path, and its quotas.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    pub length: i64,
    pub files: i64,
    pub directories: i64,
    /// -1 means no quota.
    pub quota: i64,
    pub space_consumed: i64,
    pub space_quota: i64,
    pub snapshot_length: i64,
    pub snapshot_files: i64,
    pub snapshot_directories: i64,
    pub snapshot_space: i64,
    pub erasure_policy: String,
}

/// Usage against the quota of one storage type.
#[derive(Debug, Clone)]
pub struct TypeUsage {
    pub storage_type: String,
    pub quota: i64,
    pub consumed: i64,
}

/// Quotas and what counts against them.
#[derive(Debug, Clone, Default)]
pub struct QuotaUsage {
    pub files_and_directories: i64,
    pub quota: i64,
    pub space_consumed: i64,
    pub space_quota: i64,
    pub types: Vec<TypeUsage>,
}

/// Sizes of a whole file system in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct FsStatus {
    pub capacity: i64,
    pub used: i64,
    pub remaining: i64,
}

/// A file's checksum.
#[derive(Debug, Clone)]
pub struct Checksum {
    /// As `MD5-of-0MD5-of-512CRC32C`.
    pub algorithm: String,
    pub bytes: Vec<u8>,
}

/// How a file is made.
#[derive(Debug, Clone, Copy, Default)]
pub struct CreateHow {
    pub overwrite: bool,
    /// Memory first, one replica, written to disk later.
    pub lazy_persist: bool,
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

/// One entry of an access control list, in Hadoop's notation: `default:user:name:rwx`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AclEntry {
    pub is_default: bool,
    /// `user`, `group`, `mask` or `other`.
    pub kind: AclKind,
    pub name: Option<String>,
    /// Three bits; 7 where an entry is only to be removed.
    pub permission: u32,
}

/// Whom an ACL entry is about; in the order in which entries are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AclKind {
    User,
    Group,
    Mask,
    Other,
}

/// What to do to an access control list.
pub enum AclChange {
    Modify(Vec<AclEntry>),
    Remove(Vec<AclEntry>),
    Set(Vec<AclEntry>),
    RemoveDefault,
    RemoveAll,
}

/// A file system. Paths are absolute and have no scheme.
pub trait Store: Send + Sync {
    /// `hdfs://host:port` or `file:///`.
    fn uri(&self) -> String;
    fn is_local(&self) -> bool;
    /// Where relative paths start.
    fn home(&self) -> String;
    fn status(&self, path: &str) -> Outcome<Status>;
    /// Lists a folder page by page, in order of name; a file lists itself.
    fn list(&self, path: &str, page: &mut dyn FnMut(Vec<Status>) -> Outcome) -> Outcome;
    fn open(&self, path: &str, how: OpenHow) -> Outcome<Box<dyn Input>>;
    /// Which way everything that was read so far went, a line each.
    fn read_report(&self) -> Vec<String> {
        Vec::new()
    }
    fn create(&self, path: &str, how: CreateHow) -> Outcome<Box<dyn Output>>;
    fn mkdirs(&self, path: &str) -> Outcome<bool>;
    fn delete(&self, path: &str, recursive: bool) -> Outcome<bool>;
    fn rename(&self, from: &str, to: &str) -> Outcome<bool>;
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
