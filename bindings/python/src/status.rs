//! What is known of paths, as Python objects.

use pyo3::prelude::*;
use zerohop::{FileKind, LocatedBlock};

/// What is known of a path.
#[pyclass(frozen, get_all, eq, module = "zerohop", skip_from_py_object)]
#[derive(Clone, PartialEq)]
pub(crate) struct FileStatus {
    /// The absolute path.
    path: String,
    /// "file", "directory" or "symlink", which is all there are.
    kind: &'static str,
    /// Bytes; 0 for a directory.
    size: u64,
    owner: String,
    group: String,
    /// The nine permission bits and the sticky bit.
    permission: u16,
    /// Seconds since 1970.
    modified: f64,
    /// Seconds since 1970; 0 for a directory.
    accessed: f64,
    /// Replicas each block should have; 0 for a directory.
    replication: u16,
    /// Size at which a block is full; 0 for a directory.
    block_size: u64,
    /// The inode's id.
    file_id: u64,
    /// Where a symlink leads.
    symlink: Option<String>,
    /// Entries of a directory, where the server says.
    children: Option<u32>,
}

impl From<zerohop::FileStatus> for FileStatus {
    fn from(status: zerohop::FileStatus) -> Self {
        Self {
            kind: match status.kind {
                FileKind::Directory => "directory",
                FileKind::File => "file",
                _ => "symlink",
            },
            size: status.len,
            owner: status.owner.to_string(),
            group: status.group.to_string(),
            permission: status.permission,
            modified: status.modified_ms as f64 / 1e3,
            accessed: status.accessed_ms as f64 / 1e3,
            replication: status.replication,
            block_size: status.block_size,
            file_id: status.file_id.0,
            symlink: status.symlink,
            children: status.children,
            path: status.path,
        }
    }
}

#[pymethods]
impl FileStatus {
    /// The last name of the path; empty for the root.
    #[getter]
    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Whether it is a file.
    fn is_file(&self) -> bool {
        self.kind == "file"
    }

    /// Whether it is a directory.
    fn is_dir(&self) -> bool {
        self.kind == "directory"
    }

    fn __repr__(&self) -> String {
        format!("FileStatus({:?}, {}, {} bytes)", self.path, self.kind, self.size)
    }
}

/// Where a block of a file is.
#[pyclass(frozen, get_all, module = "zerohop")]
pub(crate) struct BlockLocation {
    /// Where in the file it begins.
    offset: u64,
    /// Its bytes.
    length: u64,
    /// The names of the machines that have it, nearest first.
    hosts: Vec<String>,
    /// Every replica is corrupt.
    is_corrupt: bool,
}

impl From<&LocatedBlock> for BlockLocation {
    fn from(block: &LocatedBlock) -> Self {
        Self {
            offset: block.offset,
            length: block.end() - block.offset,
            hosts: block.nodes().map(|node| node.host().to_owned()).collect(),
            is_corrupt: block.is_corrupt,
        }
    }
}

#[pymethods]
impl BlockLocation {
    fn __repr__(&self) -> String {
        format!("BlockLocation({}, {}, {:?})", self.offset, self.length, self.hosts)
    }
}

/// Sums below a path, and its quotas; -1 means that there is none.
#[pyclass(frozen, get_all, module = "zerohop")]
pub(crate) struct ContentSummary {
    /// Bytes of all files, each counted once.
    length: u64,
    files: u64,
    /// The path itself included.
    directories: u64,
    /// Bytes of all replicas.
    space_consumed: u64,
    /// Names allowed.
    quota: i64,
    /// Bytes of replicas allowed.
    space_quota: i64,
}

impl From<zerohop::ContentSummary> for ContentSummary {
    fn from(summary: zerohop::ContentSummary) -> Self {
        Self {
            length: summary.len,
            files: summary.files,
            directories: summary.directories,
            space_consumed: summary.space_consumed,
            quota: summary.quota,
            space_quota: summary.space_quota,
        }
    }
}
