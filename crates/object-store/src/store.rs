//! The store: each call of the traits, passed on.

use crate::attributes;
use crate::inner::Inner;
use crate::multipart::PartsInOrder;
use crate::names::Names;
use crate::open_files::OpenFiles;
use crate::staged::Staged;
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::list::{PaginatedListOptions, PaginatedListResult, PaginatedListStore};
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartId, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result,
};
use std::fmt;
use std::ops::Range;
use std::time::Duration;
use zerohop_client::FileSystem;

/// How many objects are deleted at a time.
const DELETED_AT_ONCE: usize = 10;

/// The files of HDFS below a directory, as objects.
///
/// Cheap to clone. Besides [`ObjectStore`] there are [`MultipartStore`] and [`PaginatedListStore`]. Lists are in order of name.
///
/// ```no_run
/// # async fn example(fs: zerohop_client::FileSystem) -> zerohop_object_store::object_store::Result<()> {
/// use zerohop_object_store::{HdfsObjectStore, object_store::{ObjectStoreExt, PutMode, path::Path}};
/// let store = HdfsObjectStore::new(fs);
/// let lock = Path::from("locks/table");
/// // One of several processes makes it; the others are told that it is there.
/// let put = store.put_opts(&lock, "mine".into(), PutMode::Create.into()).await?;
/// // Replaced only if it is still the same.
/// store.put_opts(&lock, "still mine".into(), PutMode::Update(put.into()).into()).await?;
/// # Ok(()) }
/// # use zerohop_object_store::object_store::ObjectStore;
/// ```
#[derive(Clone)]
pub struct HdfsObjectStore(Inner);

impl HdfsObjectStore {
    /// All files of a file system.
    pub fn new(fs: FileSystem) -> Self {
        let names = Names::below("/");
        Self(Inner { fs, names, keeps_attributes: false, open_files: None })
    }

    /// The files below the directory at `root` alone, which is made when it is needed. Names do not have its path.
    #[must_use]
    pub fn with_root(mut self, root: &str) -> Self {
        self.0.names = Names::below(root);
        self
    }

    /// Keeps the attributes of objects in an extended attribute of their files (`user.zerohop.object.attributes`), at the
    /// price of one more call to the NameNode for each object that is read. Otherwise a put with attributes is refused.
    #[must_use]
    pub fn with_attributes(mut self) -> Self {
        self.0.keeps_attributes = true;
        self
    }

    /// Keeps up to 64 files open for a time after they were opened, so that of several reads of an object only the first asks the
    /// NameNode for its blocks. Zero, as at first, keeps none. Clones share the files.
    ///
    /// - [`get_ranges`](ObjectStore::get_ranges) then reads the file as it was when it was opened, though another program has
    ///   replaced, changed or deleted the object since. Files are closed by every change that is made through this store, and
    ///   that of an object by a list or `head` that shows another ETag (inode, modification time and length).
    /// - [`get_opts`](ObjectStore::get_opts) asks the NameNode for the ETag each time and uses an open file only if it has the same: conditions are
    ///   those of the object that is there.
    #[must_use]
    pub fn with_files_open_for(mut self, time: Duration) -> Self {
        self.0.open_files = (!time.is_zero()).then(|| OpenFiles::for_a(time, self.0.fs.runtime()));
        self
    }
}

impl fmt::Display for HdfsObjectStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HDFS({}{})", self.0.fs.uri(), self.0.names.root())
    }
}

impl fmt::Debug for HdfsObjectStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (uri, root) = (self.0.fs.uri(), self.0.names.root());
        f.debug_struct("HdfsObjectStore").field("uri", &uri).field("root", &root).finish()
    }
}

#[async_trait]
impl ObjectStore for HdfsObjectStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.0.check(&options.attributes, &options.tags)?;
        let to = self.0.target(location)?;
        let _change = self.0.change();
        let staged = Staged::with_bytes(&self.0.fs, &to, payload).await?;
        attributes::keep(&self.0.fs, staged.path(), location, &options.attributes).await?;
        staged.publish(&to, options.mode).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let upload = self.0.begin_upload(location, options).await?;
        Ok(Box::new(PartsInOrder::of(upload, &self.0)))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.0.get(location, options).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.0.get_ranges(location, ranges).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let inner = self.0.clone();
        let delete = move |location: Result<Path>| {
            let inner = inner.clone();
            async move { inner.delete(location?).await }
        };
        locations.map(delete).buffered(DELETED_AT_ONCE).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.list(prefix, None)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.list(prefix, Some(offset))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.0.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.0.copy(from, to, options.mode).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.0.rename(from, to, options.target_mode).await
    }
}

#[async_trait]
impl MultipartStore for HdfsObjectStore {
    async fn create_multipart(&self, path: &Path) -> Result<MultipartId> {
        Ok(self.0.begin_upload(path, PutMultipartOptions::default()).await?.id())
    }

    async fn put_part(
        &self,
        path: &Path,
        id: &MultipartId,
        index: usize,
        data: PutPayload,
    ) -> Result<PartId> {
        self.0.upload(path, id)?.put_part(index, data).await
    }

    async fn complete_multipart(
        &self,
        path: &Path,
        id: &MultipartId,
        parts: Vec<PartId>,
    ) -> Result<PutResult> {
        self.0.complete(&self.0.upload(path, id)?, parts).await
    }

    async fn abort_multipart(&self, path: &Path, id: &MultipartId) -> Result<()> {
        self.0.upload(path, id)?.abort().await
    }
}

#[async_trait]
impl PaginatedListStore for HdfsObjectStore {
    async fn list_paginated(
        &self,
        prefix: Option<&str>,
        options: PaginatedListOptions,
    ) -> Result<PaginatedListResult> {
        self.0.list_page(prefix, options).await
    }
}
