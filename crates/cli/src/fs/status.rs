//! What a file system says of a path, and of itself.

use serde_json::json;
pub use zerohop_client::FileKind;

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
    /// The inode's number, which stays when the file is renamed and is never given again; `None` where
    /// there is no such number.
    pub id: Option<u64>,
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

    /// For programs, under the name `text`; the same fields as in the REST interface.
    pub fn json(&self, text: &str) -> serde_json::Value {
        json!({
            "path": text,
            "type": match self.kind {
                FileKind::File => "FILE",
                FileKind::Directory => "DIRECTORY",
                _ => "SYMLINK",
            },
            "length": self.length,
            "replication": self.replication,
            "blockSize": self.block_size,
            "modificationTime": self.modified_ms,
            "accessTime": self.accessed_ms,
            "owner": self.owner,
            "group": self.group,
            "permission": format!("{:o}", self.mode),
        })
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
