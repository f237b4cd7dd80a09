//! Copies, renames and deletions.

use crate::attributes;
use crate::errors::{not_found, reading, writing};
use crate::inner::Inner;
use crate::names::{self, is_at};
use crate::read::file;
use crate::staged::{Staged, Target};
use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{CopyMode, Error, GetOptions, PutMode, RenameTargetMode, Result};
use zerohop_client::{ErrorKind, RenameOptions};

impl Inner {
    /// Copies the bytes through this process: HDFS has no other way.
    pub(crate) async fn copy(&self, from: &Path, to: &Path, mode: CopyMode) -> Result<()> {
        let to = self.target(to)?;
        let source = self.get(from, GetOptions::default()).await?;
        let kept = source.attributes.clone();
        let mut pieces = source.into_stream();
        let (staged, mut writer) = Staged::begin(&self.fs, &to).await?;
        while let Some(piece) = pieces.try_next().await? {
            writer.write_bytes(piece).await.map_err(|error| to.refused(error))?;
        }
        writer.close().await.map_err(|error| to.refused(error))?;
        attributes::keep(&self.fs, staged.path(), &to.location, &kept).await?;
        let mode = match mode {
            CopyMode::Overwrite => PutMode::Overwrite,
            CopyMode::Create => PutMode::Create,
        };
        let _change = self.change();
        staged.publish(&to, mode).await.map(drop)
    }

    /// Renames the file, in one step.
    pub(crate) async fn rename(
        &self,
        from: &Path,
        to: &Path,
        mode: RenameTargetMode,
    ) -> Result<()> {
        let to = self.target(to)?;
        let source = self.names.existing(from)?;
        let status = self.fs.status(&source).await.map_err(|error| reading(from, error))?;
        file(from, &status)?;
        let overwrite = mode == RenameTargetMode::Overwrite;
        if source == to.path {
            return match overwrite {
                true => Ok(()),
                false => Err(exists(&to)),
            };
        }
        let _change = self.change();
        let options = RenameOptions::default().overwrite(overwrite);
        let renamed = self.fs.rename2(&source, &to.path, options).await;
        let renamed = match renamed {
            // Of the directory, as a rule.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let made = self.fs.mkdirs(names::parent(&to.path)).await;
                made.map_err(|error| to.refused(error))?;
                self.fs.rename2(&source, &to.path, options).await
            }
            renamed => renamed,
        };
        let Err(error) = renamed else { return Ok(()) };
        if is_at(&self.fs, &to.path, status.file_id).await {
            // The answer was lost.
            return Ok(());
        }
        Err(match error.kind() {
            ErrorKind::NotFound => not_found(from, error),
            _ => to.refused(error),
        })
    }

    /// Deletes an object; a directory is none.
    pub(crate) async fn delete(&self, location: Path) -> Result<Path> {
        let path = self.names.existing(&location)?;
        let status = self.fs.status(&path).await.map_err(|error| reading(&location, error))?;
        file(&location, &status)?;
        let _change = self.change();
        match self.fs.delete(&path, false).await {
            Ok(true) => Ok(location),
            Ok(false) => Err(not_found(&location, "it was deleted meanwhile")),
            Err(error) => Err(writing(&location, error)),
        }
    }
}

fn exists(to: &Target) -> Error {
    let path = to.location.to_string();
    Error::AlreadyExists { path, source: "it is the object that was to be renamed".into() }
}
