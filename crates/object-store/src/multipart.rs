//! Uploads in parts: files in a hidden directory, joined at the end.

use crate::attributes;
use crate::errors::generic;
use crate::inner::Inner;
use crate::names;
use crate::staged::{Staged, Target, write};
use async_trait::async_trait;
use futures_util::FutureExt;
use object_store::multipart::PartId;
use object_store::path::Path;
use object_store::{
    MultipartId, MultipartUpload, PutMode, PutMultipartOptions, PutPayload, PutResult, Result,
    UploadPart,
};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use uuid::Uuid;
use zerohop_client::{CreateOptions, ErrorKind, FileSystem};

/// How many files one call joins.
const JOINED_MAX: usize = 1000;

/// An upload: its directory, and the object that it is for.
#[derive(Clone)]
pub(crate) struct Upload {
    fs: FileSystem,
    to: Target,
    id: Uuid,
}

impl Inner {
    pub(crate) async fn begin_upload(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Upload> {
        self.check(&options.attributes, &options.tags)?;
        let upload = Upload { fs: self.fs.clone(), to: self.target(location)?, id: Uuid::new_v4() };
        let directory = upload.directory();
        upload.fs.mkdirs(&directory).await.map_err(|error| upload.to.refused(error))?;
        attributes::keep(&upload.fs, &directory, location, &options.attributes).await?;
        Ok(upload)
    }

    /// The upload that was begun with this id.
    pub(crate) fn upload(&self, location: &Path, id: &MultipartId) -> Result<Upload> {
        let id = Uuid::parse_str(id)
            .map_err(|error| generic(format!("{id} is no id of an upload: {error}")))?;
        Ok(Upload { fs: self.fs.clone(), to: self.target(location)?, id })
    }

    /// The object that the parts are, in this order.
    pub(crate) async fn complete(&self, upload: &Upload, parts: Vec<PartId>) -> Result<PutResult> {
        let mut paths = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            if part.content_id != part_name(index) {
                return Err(generic(format!("{} is not part {index}", part.content_id)));
            }
            paths.push(upload.part(index));
        }
        let _change = self.change();
        upload.complete(paths, self.keeps_attributes).await
    }
}

fn part_name(index: usize) -> String {
    format!("part-{index:06}")
}

impl Upload {
    pub(crate) fn id(&self) -> MultipartId {
        self.id.to_string()
    }

    fn directory(&self) -> String {
        names::hidden(&self.to.path, self.id)
    }

    fn part(&self, index: usize) -> String {
        format!("{}/{}", self.directory(), part_name(index))
    }

    /// Writes a part; one that was written before is replaced.
    pub(crate) async fn put_part(&self, index: usize, data: PutPayload) -> Result<PartId> {
        // The directory is not made again after the upload has been given up.
        let options = CreateOptions::overwriting().create_parent(false);
        let put = async {
            let mut writer = self.fs.create(&self.part(index), options).await?;
            write(&mut writer, data).await
        };
        put.await.map_err(|error| self.to.refused(error))?;
        Ok(PartId { content_id: part_name(index) })
    }

    async fn complete(&self, parts: Vec<String>, keeps_attributes: bool) -> Result<PutResult> {
        let staged = self.join(parts).await?;
        if keeps_attributes {
            let location = &self.to.location;
            let kept = attributes::kept(&self.fs, &self.directory(), location).await?;
            attributes::keep(&self.fs, staged.path(), location, &kept).await?;
        }
        let result = staged.publish(&self.to, PutMode::Overwrite).await?;
        // The object is there, whatever becomes of the directory.
        if let Err(error) = self.abort().await {
            tracing::warn!("{} of a completed upload stays: {error}", self.directory());
        }
        Ok(result)
    }

    /// Makes one file of the parts: the first that is not empty, with the others at its end.
    async fn join(&self, parts: Vec<String>) -> Result<Staged> {
        let mut filled = Vec::new();
        for part in parts {
            let status = self.fs.status(&part).await.map_err(|error| self.to.refused(error))?;
            filled.extend((status.len > 0).then_some((part, status.len)));
        }
        let mut filled = filled.into_iter();
        let Some((first, mut len)) = filled.next() else {
            return Staged::with_bytes(&self.fs, &self.to, []).await;
        };
        let rest: Vec<(String, u64)> = filled.collect();
        for some in rest.chunks(JOINED_MAX) {
            len += some.iter().map(|(_, len)| len).sum::<u64>();
            let paths: Vec<&str> = some.iter().map(|(path, _)| path.as_str()).collect();
            if let Err(error) = self.fs.concat(&first, &paths).await
                // Nothing else makes it longer: the answer was lost.
                && !self.fs.status(&first).await.is_ok_and(|joined| joined.len == len)
            {
                return Err(self.to.refused(error));
            }
        }
        Ok(Staged::existing(&self.fs, first))
    }

    /// Deletes the directory with what is in it.
    pub(crate) async fn abort(&self) -> Result<()> {
        match self.fs.delete(&self.directory(), true).await {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(self.to.refused(error)),
        }
    }
}

/// An upload that counts its parts itself.
pub(crate) struct PartsInOrder {
    upload: Upload,
    inner: Inner,
    /// Which parts have been written.
    written: Arc<Mutex<Vec<bool>>>,
}

impl PartsInOrder {
    pub(crate) fn of(upload: Upload, inner: &Inner) -> Self {
        Self { upload, inner: inner.clone(), written: Arc::default() }
    }
}

impl fmt::Debug for PartsInOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (location, parts) = (&self.upload.to.location, self.written.lock().len());
        f.debug_struct("PartsInOrder").field("location", location).field("parts", &parts).finish()
    }
}

#[async_trait]
impl MultipartUpload for PartsInOrder {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let (upload, written) = (self.upload.clone(), Arc::clone(&self.written));
        let index = {
            let mut written = written.lock();
            written.push(false);
            written.len() - 1
        };
        async move {
            upload.put_part(index, data).await?;
            if let Some(is_written) = written.lock().get_mut(index) {
                *is_written = true;
            }
            Ok(())
        }
        .boxed()
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let written = self.written.lock().clone();
        if let Some(missing) = written.iter().position(|is_written| !is_written) {
            return Err(generic(format!("part {missing} has not been written")));
        }
        let parts = (0..written.len()).map(|index| self.upload.part(index)).collect();
        let _change = self.inner.change();
        self.upload.complete(parts, self.inner.keeps_attributes).await
    }

    async fn abort(&mut self) -> Result<()> {
        self.upload.abort().await
    }
}
