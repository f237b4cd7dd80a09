//! PUTARCHIVE with a tar archive.

use super::names::{begin, below};
use super::outcomes::Outcomes;
use super::tar_reader::{TarEntry, TarReader};
use crate::body::BodyReader;
use crate::failure::Failure;
use crate::request::Request;
use crate::upload::CreateDefaults;
use axum::response::Response;
use tar::EntryType;
use zerohop_client::FileSystem;

/// Makes the files of an archive.
pub(super) async fn unpack(
    fs: &FileSystem,
    request: &Request,
    defaults: CreateDefaults,
    body: BodyReader,
) -> Response {
    let mut unpack = Unpack { fs, request, defaults, archive: TarReader::of(body) };
    let mut outcomes = Outcomes::default();
    let broken = unpack.run(&mut outcomes).await.err();
    outcomes.response(broken)
}

struct Unpack<'a> {
    fs: &'a FileSystem,
    request: &'a Request,
    defaults: CreateDefaults,
    archive: TarReader,
}

impl Unpack<'_> {
    /// An error means that the archive cannot be read on.
    async fn run(&mut self, outcomes: &mut Outcomes) -> Result<(), Failure> {
        while let Some(TarEntry { name, kind, is_sparse }) = self.archive.next().await? {
            let done = match kind {
                // A few bytes of an archive could become a file of any length.
                _ if is_sparse => Err(Failure::unsupported(format!(
                    "{name} is a sparse file; pack it without holes (tar without --sparse)"
                ))),
                EntryType::Regular | EntryType::Continuous => self.file(&name).await,
                EntryType::Directory => directory(self.fs, &self.request.path, &name).await,
                other => Err(Failure::unsupported(format!(
                    "{name} is neither a file nor a directory, but {other:?}"
                ))),
            };
            outcomes.add(&name, done)?;
        }
        Ok(())
    }

    async fn file(&mut self, name: &str) -> Result<u64, Failure> {
        let mut file = begin(self.fs, self.request, self.defaults, name).await?;
        let written = loop {
            match self.archive.data().await {
                Ok(None) => break Ok(()),
                Err(failure) => break Err(failure),
                Ok(Some(data)) => {
                    if let Err(failure) = file.write(data).await {
                        break Err(failure);
                    }
                }
            }
        };
        file.end(written).await
    }
}

async fn directory(fs: &FileSystem, above: &str, name: &str) -> Result<u64, Failure> {
    // The directory that the archive was made of.
    if name.split('/').all(|part| matches!(part, "" | ".")) && !name.starts_with('/') {
        return Ok(0);
    }
    fs.mkdirs_with(&below(above, name)?, 0o755, true).await?;
    Ok(0)
}
