//! Files under hidden names that become objects.

use crate::errors::{generic, is_refusal, not_supported, precondition, writing};
use crate::metadata::e_tag;
use crate::names::{self, is_at};
use bytes::Bytes;
use object_store::path::Path;
use object_store::{Error, PutMode, PutResult, Result, UpdateVersion};
use zerohop_client::{CreateOptions, ErrorKind, FileSystem, FileWriter, InodeId, RenameOptions};

/// A hidden file that is to become an object. It is deleted if it does not.
pub(crate) struct Staged {
    fs: FileSystem,
    path: String,
    is_published: bool,
}

/// The object that is being put.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) location: Path,
    pub(crate) path: String,
}

impl Target {
    pub(crate) fn refused(&self, error: zerohop_client::Error) -> Error {
        writing(&self.location, error)
    }
}

impl Staged {
    /// A new file in the directory of the object; directories that are missing are made.
    pub(crate) async fn begin(fs: &FileSystem, to: &Target) -> Result<(Self, FileWriter)> {
        let staged = Self::existing(fs, names::hidden_beside(&to.path));
        // In a task of its own, which ends though its caller gives up: a deletion that overtook the call would delete nothing.
        let creating = fs.runtime().spawn(async move {
            let made = staged.fs.create(&staged.path, CreateOptions::default()).await;
            made.map(|writer| (staged, writer))
        });
        let made = creating.await.map_err(generic)?;
        made.map_err(|error| to.refused(error))
    }

    /// A file that was written already.
    pub(crate) fn existing(fs: &FileSystem, path: String) -> Self {
        Self { fs: fs.clone(), path, is_published: false }
    }

    /// A new file with these bytes.
    pub(crate) async fn with_bytes(
        fs: &FileSystem,
        to: &Target,
        pieces: impl IntoIterator<Item = Bytes>,
    ) -> Result<Self> {
        let (staged, mut writer) = Self::begin(fs, to).await?;
        write(&mut writer, pieces).await.map_err(|error| to.refused(error))?;
        Ok(staged)
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Gives the file the object's name, in one step.
    pub(crate) async fn publish(mut self, to: &Target, mode: PutMode) -> Result<PutResult> {
        let status = self.fs.status(&self.path).await.map_err(|error| to.refused(error))?;
        let own = status.file_id;
        match mode {
            PutMode::Overwrite => {
                let renamed = self.rename(to, own, &to.path, true).await;
                renamed.map_err(|error| to.refused(error))?;
            }
            PutMode::Create => self.take_free_name(to, own).await?,
            PutMode::Update(version) => self.replace(to, own, version).await?,
        }
        self.is_published = true;
        let e_tag = Some(e_tag(&status));
        Ok(PutResult { e_tag, version: None })
    }

    /// Takes a name that no other object and no directory has.
    async fn take_free_name(&self, to: &Target, own: InodeId) -> Result<()> {
        let Err(error) = self.rename(to, own, &to.path, false).await else { return Ok(()) };
        if !is_refusal(&error) {
            return Err(to.refused(error));
        }
        match self.fs.status(&to.path).await {
            // A directory of this name is refused as one of another kind.
            Ok(_) => {
                Err(Error::AlreadyExists { path: to.location.to_string(), source: error.into() })
            }
            Err(_) => Err(to.refused(error)),
        }
    }

    /// Renames the file, whose inode is `own`, to `path`, which is the object's or leads to it. If the call fails and the
    /// object is this file, the call was carried out and its answer was lost.
    async fn rename(
        &self,
        to: &Target,
        own: InodeId,
        path: &str,
        overwrite: bool,
    ) -> zerohop_client::Result<()> {
        let options = RenameOptions::default().overwrite(overwrite);
        match self.fs.rename2(&self.path, path, options).await {
            Err(_) if is_at(&self.fs, &to.path, own).await => Ok(()),
            renamed => renamed,
        }
    }

    /// Replaces the very file that has the tag: the NameNode finds it by its inode, which is gone as soon as another file
    /// has taken its place.
    async fn replace(&self, to: &Target, own: InodeId, version: UpdateVersion) -> Result<()> {
        if version.version.is_some() {
            return Err(not_supported("HDFS keeps no versions of a file: name the ETag alone"));
        }
        let expected = version.e_tag.ok_or_else(|| generic("a conditional put names an ETag"))?;
        let inode = self.tagged(to, &expected).await?;
        match self.rename(to, own, &names::inode_path(inode), true).await {
            Ok(()) => Ok(()),
            Err(error) => {
                if is_refusal(&error) {
                    self.tagged(to, &expected).await?;
                }
                Err(to.refused(error))
            }
        }
    }

    /// The inode of the object, if it has this tag.
    async fn tagged(&self, to: &Target, expected: &str) -> Result<InodeId> {
        let failed = |why: String| Err(precondition(&to.location, why));
        match self.fs.status(&to.path).await {
            Ok(status) if status.is_file() => match e_tag(&status) {
                found if found == expected => Ok(status.file_id),
                found => failed(format!("its ETag is {found}, not {expected}")),
            },
            Ok(_) => failed("it is a directory".to_owned()),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::WrongType) => {
                failed("there is no such object".to_owned())
            }
            Err(error) => Err(to.refused(error)),
        }
    }
}

/// Writes all of a file and closes it.
pub(crate) async fn write(
    writer: &mut FileWriter,
    pieces: impl IntoIterator<Item = Bytes>,
) -> zerohop_client::Result<()> {
    for piece in pieces {
        writer.write_bytes(piece).await?;
    }
    writer.close().await
}

impl Drop for Staged {
    fn drop(&mut self) {
        if self.is_published {
            return;
        }
        let (fs, path) = (self.fs.clone(), std::mem::take(&mut self.path));
        let runtime = fs.runtime().clone();
        // What cannot be deleted stays hidden.
        drop(runtime.spawn(async move { fs.delete(&path, true).await }));
    }
}
