//! A file system's client.

use crate::failure::{About, Failure, Result, about_file};
use crate::listing::{Listing, Source};
use crate::operation::Operation;
use crate::process::OfProcess;
use crate::reader::Reader;
use crate::status::{BlockLocation, ContentSummary, FileStatus};
use crate::writer::Writer;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::HashMap;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use zerohop::{
    AppendOptions, Builder, CreateOptions, FileSystem, OpenOptions, RenameOptions, Verify,
    XAttrFlags,
};

/// A file system's client. A child made by fork() gets a new one when it first uses it.
#[pyclass(frozen, module = "zerohop._zerohop")]
pub(crate) struct Client {
    builder: Builder,
    /// Locked for a moment, by a thread that holds the interpreter's lock: fork() never finds it locked.
    made: Mutex<OfProcess<FileSystem>>,
}

impl Client {
    fn fs(&self, py: Python<'_>) -> PyResult<FileSystem> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if !made.is_here() {
            let fresh = self.builder.clone().build();
            *made = OfProcess::new(fresh.map_err(|error| Failure::from(error).exception(py))?);
        }
        Ok(FileSystem::clone(&made))
    }

    /// An operation on a path.
    fn call<T, W>(
        &self,
        py: Python<'_>,
        path: String,
        work: impl FnOnce(FileSystem, String) -> W,
    ) -> PyResult<Operation>
    where
        T: for<'py> IntoPyObject<'py> + Send + 'static,
        W: Future<Output = Result<T>> + Send + 'static,
    {
        let fs = self.fs(py)?;
        let runtime = fs.runtime().clone();
        Ok(Operation::new(&runtime, work(fs, path)))
    }
}

#[pymethods]
impl Client {
    /// `config_dir` is the directory of core-site.xml and hdfs-site.xml, `settings` counts more than any file.
    #[new]
    #[pyo3(signature = (uri, user, config_dir, settings))]
    fn new(
        py: Python<'_>,
        uri: Option<String>,
        user: Option<String>,
        config_dir: Option<PathBuf>,
        settings: HashMap<String, String>,
    ) -> PyResult<Self> {
        let mut builder = FileSystem::builder();
        if let Some(uri) = uri {
            builder = builder.name_node(uri);
        }
        if let Some(user) = user {
            builder = builder.user(user);
        }
        if let Some(directory) = config_dir {
            builder = builder.config_dir(directory);
        }
        for (key, value) in settings {
            builder = builder.set(key, value);
        }
        let failed = |error| Failure::from(error).exception(py);
        for line in builder.take_warnings().map_err(failed)? {
            // Two frames above is who called connect().
            let text = CString::new(line.replace('\0', "?"))?;
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 3)?;
        }
        let made = builder.clone().build().map_err(failed)?;
        Ok(Self { builder, made: Mutex::new(OfProcess::new(made)) })
    }

    /// `hdfs://host:port` or `hdfs://nameservice`.
    #[getter]
    fn uri(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.fs(py)?.uri().to_owned())
    }

    /// Returns the path of a text that is a path, or a URI of this file system by any of its names.
    fn path_of(&self, py: Python<'_>, text: &str) -> PyResult<String> {
        let fs = self.fs(py)?;
        let found = py.detach(|| fs.path_of(text).map(|path| path.into_owned()));
        found.map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))
    }

    /// The user's name.
    #[getter]
    fn user(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.fs(py)?.user().name.clone())
    }

    /// The user's home directory.
    #[getter]
    fn home(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.fs(py)?.home())
    }

    /// Opens a file for reading. `verify` is "full", "once" or "none"; `mapped` gives bytes of this machine's replicas without
    /// a copy.
    fn open(
        &self,
        py: Python<'_>,
        path: String,
        verify: &str,
        mapped: bool,
    ) -> PyResult<Operation> {
        let verify = match verify {
            "full" => Verify::Full,
            "once" => Verify::Once,
            "none" => Verify::None,
            other => {
                let text = format!("verify is \"full\", \"once\" or \"none\", not {other:?}");
                return Err(pyo3::exceptions::PyValueError::new_err(text));
            }
        };
        let mut options = OpenOptions::verifying(verify);
        if mapped {
            // SAFETY: a caller who sets `mapped` promises it: the documentation of `open()` in Python says what.
            options = unsafe { options.with_mapped_bytes() };
        }
        self.call(py, path, move |fs, path| async move {
            let opened = fs.open_with(&path, options).await;
            let reader = about_file(&fs, &path, opened).await?;
            Ok(Reader::new(fs.runtime().clone(), reader))
        })
    }

    /// Makes a file and opens it for writing.
    #[pyo3(signature = (path, overwrite, create_parent, replication, block_size, permission, storage_policy))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn create(
        &self,
        py: Python<'_>,
        path: String,
        overwrite: bool,
        create_parent: bool,
        replication: Option<u16>,
        block_size: Option<u64>,
        permission: u16,
        storage_policy: Option<String>,
    ) -> PyResult<Operation> {
        let options = CreateOptions::default()
            .overwrite(overwrite)
            .create_parent(create_parent)
            .replication(replication)
            .block_size(block_size)
            .permission(permission)
            .storage_policy(storage_policy);
        self.call(py, path, move |fs, path| async move {
            let created = fs.create(&path, options).await;
            // As open(2) has it: O_EXCL fails with EEXIST, whatever exists.
            let writer = match overwrite {
                true => about_file(&fs, &path, created).await?,
                false => created.about(&path)?,
            };
            Ok(Writer::new(fs.runtime().clone(), writer))
        })
    }

    /// Opens a file for writing at its end.
    fn append(&self, py: Python<'_>, path: String, new_block: bool) -> PyResult<Operation> {
        let options = AppendOptions::default().new_block(new_block);
        self.call(py, path, |fs, path| async move {
            let appended = fs.append(&path, options).await;
            let writer = about_file(&fs, &path, appended).await?;
            Ok(Writer::new(fs.runtime().clone(), writer))
        })
    }

    /// What is known of a path.
    fn status(&self, py: Python<'_>, path: String) -> PyResult<Operation> {
        self.call(py, path, |fs, path| async move {
            fs.status(&path).await.about(&path).map(FileStatus::from)
        })
    }

    /// What a directory holds, as a list in order of name; a file lists itself.
    fn list_dir(&self, py: Python<'_>, path: String) -> PyResult<Operation> {
        self.call(py, path, |fs, path| async move {
            let all = fs.list(&path).await.about(&path)?;
            Ok(all.into_iter().map(FileStatus::from).collect::<Vec<FileStatus>>())
        })
    }

    /// What a directory holds, page by page.
    fn entries(&self, py: Python<'_>, path: String) -> PyResult<Listing> {
        let fs = self.fs(py)?;
        let pages = fs.list_pages(&path).about(&path).map_err(|failure| failure.exception(py))?;
        Ok(Listing::new(fs.runtime().clone(), path, Source::Pages(pages)))
    }

    /// All files and directories below a path, each directory before what it holds.
    fn walk(&self, py: Python<'_>, path: String) -> PyResult<Listing> {
        let fs = self.fs(py)?;
        let walk = Source::Walk(fs.walk(&path));
        Ok(Listing::new(fs.runtime().clone(), path, walk))
    }

    /// Makes a directory; with `parents` the missing ones above it, too. False where it could not be made.
    fn mkdirs(
        &self,
        py: Python<'_>,
        path: String,
        permission: u16,
        parents: bool,
    ) -> PyResult<Operation> {
        self.call(py, path, move |fs, path| async move {
            fs.mkdirs_with(&path, permission, parents).await.about(&path)
        })
    }

    /// Deletes a path; false where it does not exist.
    fn delete(&self, py: Python<'_>, path: String, recursive: bool) -> PyResult<Operation> {
        self.call(py, path, move |fs, path| async move {
            fs.delete(&path, recursive).await.about(&path)
        })
    }

    /// Renames to exactly `to`.
    fn rename(
        &self,
        py: Python<'_>,
        path: String,
        to: String,
        overwrite: bool,
    ) -> PyResult<Operation> {
        let options = RenameOptions::default().overwrite(overwrite);
        self.call(py, path, move |fs, path| async move {
            fs.rename2(&path, &to, options).await.about(&path)
        })
    }

    /// Cuts a file; false where it is not closed yet.
    fn truncate(&self, py: Python<'_>, path: String, len: u64) -> PyResult<Operation> {
        self.call(py, path, move |fs, path| async move {
            about_file(&fs, &path, fs.truncate(&path, len).await).await
        })
    }

    /// Moves the blocks of `sources` to the end of a file.
    fn concat(&self, py: Python<'_>, path: String, sources: Vec<String>) -> PyResult<Operation> {
        self.call(py, path, move |fs, path| async move {
            about_file(&fs, &path, fs.concat(&path, &sources).await).await
        })
    }

    /// Sets permission bits.
    fn set_permission(&self, py: Python<'_>, path: String, permission: u16) -> PyResult<Operation> {
        self.call(py, path, move |fs, path| async move {
            fs.set_permission(&path, permission).await.about(&path)
        })
    }

    /// Sets owner and group, each where it is given.
    fn set_owner(
        &self,
        py: Python<'_>,
        path: String,
        owner: Option<String>,
        group: Option<String>,
    ) -> PyResult<Operation> {
        self.call(py, path, move |fs, path| async move {
            fs.set_owner(&path, owner.as_deref(), group.as_deref()).await.about(&path)
        })
    }

    /// Sets times in milliseconds since 1970, each where it is given.
    fn set_times(
        &self,
        py: Python<'_>,
        path: String,
        modified_ms: Option<u64>,
        accessed_ms: Option<u64>,
    ) -> PyResult<Operation> {
        self.call(py, path, move |fs, path| async move {
            fs.set_times(&path, modified_ms, accessed_ms).await.about(&path)
        })
    }

    /// Sets how many replicas each block of a file should have; false for a directory.
    fn set_replication(
        &self,
        py: Python<'_>,
        path: String,
        replication: u16,
    ) -> PyResult<Operation> {
        self.call(py, path, move |fs, path| async move {
            fs.set_replication(&path, replication).await.about(&path)
        })
    }

    /// A file's checksum as (algorithm, value), or None where block data has none.
    fn checksum(&self, py: Python<'_>, path: String) -> PyResult<Operation> {
        self.call(py, path, |fs, path| async move {
            let sum = about_file(&fs, &path, fs.checksum(&path).await).await?;
            Ok(sum.map(|sum| (sum.algorithm, Value(sum.bytes.into()))))
        })
    }

    /// Sums below a path, and its quotas.
    fn content_summary(&self, py: Python<'_>, path: String) -> PyResult<Operation> {
        self.call(py, path, |fs, path| async move {
            fs.content_summary(&path).await.about(&path).map(ContentSummary::from)
        })
    }

    /// Where the blocks of a range of a file are.
    fn block_locations(
        &self,
        py: Python<'_>,
        path: String,
        offset: u64,
        len: u64,
    ) -> PyResult<Operation> {
        self.call(py, path, move |fs, path| async move {
            let located = fs.block_locations(&path, offset, len).await;
            let located = about_file(&fs, &path, located).await?;
            Ok(located.blocks.iter().map(BlockLocation::from).collect::<Vec<_>>())
        })
    }

    /// The extended attributes that the user may see, by their full names (`user.color`).
    fn xattrs(&self, py: Python<'_>, path: String) -> PyResult<Operation> {
        self.call(py, path, |fs, path| async move {
            let mut all = HashMap::new();
            for name in fs.list_xattrs(&path).await.about(&path)? {
                if let Some(value) = fs.xattr(&path, &name).await.about(&path)? {
                    all.insert(name, Value(value));
                }
            }
            Ok(all)
        })
    }

    /// Sets an extended attribute by its full name, or removes it where the value is None.
    fn set_xattr(
        &self,
        py: Python<'_>,
        path: String,
        name: String,
        value: Option<Vec<u8>>,
    ) -> PyResult<Operation> {
        self.call(py, path, move |fs, path| async move {
            let done = match value {
                Some(value) => fs.set_xattr(&path, &name, &value, XAttrFlags::default()).await,
                None => fs.remove_xattr(&path, &name).await,
            };
            done.about(&path)
        })
    }

    /// The capacity of the file system, what is used of it, and what remains, in bytes.
    fn capacity(&self, py: Python<'_>) -> PyResult<Operation> {
        self.call(py, "/".to_owned(), |fs, _| async move {
            let stats = fs.fs_stats().await?;
            Ok((stats.capacity, stats.used, stats.remaining))
        })
    }
}

/// Bytes that become a `bytes` object.
struct Value(bytes::Bytes);

impl<'py> IntoPyObject<'py> for Value {
    type Target = PyBytes;
    type Output = Bound<'py, PyBytes>;
    type Error = std::convert::Infallible;

    fn into_pyobject(self, py: Python<'py>) -> std::result::Result<Self::Output, Self::Error> {
        Ok(PyBytes::new(py, &self.0))
    }
}
