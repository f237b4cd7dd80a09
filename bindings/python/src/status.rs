//! What is known of paths, as Python objects.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::type_object::PyTypeInfo;
use pyo3::types::{PyFloat, PyTuple, PyType};
use zerohop::{FileKind, LocatedBlock};

/// The kinds of paths, which is all there are.
const KINDS: [&str; 3] = ["file", "directory", "symlink"];

/// What is known of a path.
#[pyclass(frozen, get_all, eq, hash, module = "zerohop", skip_from_py_object)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct FileStatus {
    /// The absolute path.
    path: String,
    /// One of [`KINDS`].
    kind: &'static str,
    /// Bytes; 0 for a directory.
    size: u64,
    owner: String,
    group: String,
    /// The nine permission bits and the sticky bit.
    permission: u16,
    modified: Time,
    /// 0 for a directory.
    accessed: Time,
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

/// Milliseconds since 1970, which are seconds in Python.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Time(u64);

impl<'py> IntoPyObject<'py> for &Time {
    type Target = PyFloat;
    type Output = Bound<'py, PyFloat>;
    type Error = std::convert::Infallible;

    fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Self::Error> {
        (self.0 as f64 / 1e3).into_pyobject(py)
    }
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
            modified: Time(status.modified_ms),
            accessed: Time(status.accessed_ms),
            replication: status.replication,
            block_size: status.block_size,
            file_id: status.file_id.0,
            symlink: status.symlink,
            children: status.children,
            path: status.path,
        }
    }
}

/// Returns the class and its arguments, from which pickle and copy make the object again.
fn again<'py, T: PyTypeInfo>(
    py: Python<'py>,
    fields: Vec<Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
    Ok((py.get_type::<T>(), PyTuple::new(py, fields)?))
}

#[pymethods]
impl FileStatus {
    /// Times are milliseconds since 1970.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the fields; pickle gives them in order")]
    fn new(
        path: String,
        kind: &str,
        size: u64,
        owner: String,
        group: String,
        permission: u16,
        modified_ms: u64,
        accessed_ms: u64,
        replication: u16,
        block_size: u64,
        file_id: u64,
        symlink: Option<String>,
        children: Option<u32>,
    ) -> PyResult<Self> {
        let known = KINDS.into_iter().find(|known| *known == kind);
        let unknown = || PyValueError::new_err(format!("kind is one of {KINDS:?}, not {kind:?}"));
        Ok(Self {
            path,
            kind: known.ok_or_else(unknown)?,
            size,
            owner,
            group,
            permission,
            modified: Time(modified_ms),
            accessed: Time(accessed_ms),
            replication,
            block_size,
            file_id,
            symlink,
            children,
        })
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        let fields = vec![
            (&self.path).into_bound_py_any(py)?,
            self.kind.into_bound_py_any(py)?,
            self.size.into_bound_py_any(py)?,
            (&self.owner).into_bound_py_any(py)?,
            (&self.group).into_bound_py_any(py)?,
            self.permission.into_bound_py_any(py)?,
            self.modified.0.into_bound_py_any(py)?,
            self.accessed.0.into_bound_py_any(py)?,
            self.replication.into_bound_py_any(py)?,
            self.block_size.into_bound_py_any(py)?,
            self.file_id.into_bound_py_any(py)?,
            (&self.symlink).into_bound_py_any(py)?,
            self.children.into_bound_py_any(py)?,
        ];
        again::<Self>(py, fields)
    }

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
#[pyclass(frozen, get_all, eq, hash, module = "zerohop", skip_from_py_object)]
#[derive(Clone, PartialEq, Eq, Hash)]
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
    #[new]
    fn new(offset: u64, length: u64, hosts: Vec<String>, is_corrupt: bool) -> Self {
        Self { offset, length, hosts, is_corrupt }
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        let fields = vec![
            self.offset.into_bound_py_any(py)?,
            self.length.into_bound_py_any(py)?,
            (&self.hosts).into_bound_py_any(py)?,
            self.is_corrupt.into_bound_py_any(py)?,
        ];
        again::<Self>(py, fields)
    }

    fn __repr__(&self) -> String {
        format!("BlockLocation({}, {}, {:?})", self.offset, self.length, self.hosts)
    }
}

/// Sums below a path, and its quotas; -1 means that there is none.
#[pyclass(frozen, get_all, eq, hash, module = "zerohop", skip_from_py_object)]
#[derive(Clone, PartialEq, Eq, Hash)]
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

#[pymethods]
impl ContentSummary {
    #[new]
    fn new(
        length: u64,
        files: u64,
        directories: u64,
        space_consumed: u64,
        quota: i64,
        space_quota: i64,
    ) -> Self {
        Self { length, files, directories, space_consumed, quota, space_quota }
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        let fields = vec![
            self.length.into_bound_py_any(py)?,
            self.files.into_bound_py_any(py)?,
            self.directories.into_bound_py_any(py)?,
            self.space_consumed.into_bound_py_any(py)?,
            self.quota.into_bound_py_any(py)?,
            self.space_quota.into_bound_py_any(py)?,
        ];
        again::<Self>(py, fields)
    }

    fn __repr__(&self) -> String {
        format!(
            "ContentSummary({} bytes, {} files, {} directories)",
            self.length, self.files, self.directories
        )
    }
}
