//! Reading objects.

use crate::attributes;
use crate::errors::{generic, not_found, not_supported, reading};
use crate::inner::Inner;
use crate::metadata::object_meta;
use crate::names::inode_path;
use bytes::Bytes;
use futures_util::{StreamExt, TryFutureExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{
    Attributes, GetOptions, GetRange, GetResult, GetResultPayload, ObjectMeta, Result,
};
use std::ops::Range;
use zerohop_client::{ErrorKind, FileReader, FileStatus};

/// Ranges up to this length are read at once, longer ones as a stream.
const AT_ONCE_MAX: u64 = 4 << 20;

/// How often an object is opened again that was replaced while it was opened.
const TRIES: usize = 10;

impl Inner {
    pub(crate) async fn get(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        if options.version.is_some() {
            return Err(not_supported("HDFS keeps no versions of a file"));
        }
        let path = self.names.existing(location)?;
        if options.head {
            let status = self.fs.status(&path).map_err(|error| reading(location, error));
            let (status, attributes) = tokio::try_join!(status, self.attributes(location, &path))?;
            let meta = object_meta(location.clone(), file(location, &status)?);
            self.seen(&meta);
            options.check_preconditions(&meta)?;
            let range = range_of(options.range.as_ref(), meta.size)?;
            return Ok(result(
                meta,
                attributes,
                range,
                GetResultPayload::Stream(stream::empty().boxed()),
            ));
        }
        let (opened, attributes) =
            tokio::try_join!(self.open(location, &path), self.attributes(location, &path))?;
        let (reader, meta) = opened;
        options.check_preconditions(&meta)?;
        let range = range_of(options.range.as_ref(), meta.size)?;
        let payload = payload(reader, location.clone(), range.clone());
        Ok(result(meta, attributes, range, payload))
    }

    /// Several ranges, with at most one question to the NameNode; those that are near each other are read together.
    pub(crate) async fn get_ranges(
        &self,
        location: &Path,
        ranges: &[Range<u64>],
    ) -> Result<Vec<Bytes>> {
        let path = self.names.existing(location)?;
        let open = || self.fs.open(&path).map_err(|error| reading(location, error));
        let Some(files) = &self.open_files else {
            return ranges_of(&open().await?, location, ranges).await;
        };
        let (reader, was_open) = {
            let turn = files.turn(&path);
            let _opening = turn.lock().await;
            match files.find(&path) {
                Some(reader) => (reader, true),
                None => {
                    let asked = files.moment();
                    let reader = open().await?;
                    files.keep(asked, &path, &reader, None);
                    (reader, false)
                }
            }
        };
        match ranges_of(&reader, location, ranges).await {
            // The object may be another one by now, and the blocks of this one gone.
            Err(_) if was_open => {
                files.close(&path);
                let asked = files.moment();
                let reader = open().await?;
                files.keep(asked, &path, &reader, None);
                ranges_of(&reader, location, ranges).await
            }
            read => read,
        }
    }

    async fn attributes(&self, location: &Path, path: &str) -> Result<Attributes> {
        match self.keeps_attributes {
            true => attributes::kept(&self.fs, path, location).await,
            false => Ok(Attributes::new()),
        }
    }

    /// Opens an object and describes the very bytes that the reader has: the file is opened by its inode.
    async fn open(&self, location: &Path, path: &str) -> Result<(FileReader, ObjectMeta)> {
        for _ in 0..TRIES {
            let asked = self.open_files.as_ref().map(|files| files.moment());
            let status = self.fs.status(path).await.map_err(|error| reading(location, error))?;
            let mut meta = object_meta(location.clone(), file(location, &status)?);
            let turn = self.open_files.as_ref().map(|files| files.turn(path));
            let _opening = match &turn {
                Some(turn) => Some(turn.lock().await),
                None => None,
            };
            let files = self.open_files.as_ref().zip(asked);
            if let Some((files, _)) = files
                && let Some(reader) = files.find_tagged(path, meta.e_tag.as_deref())
            {
                return Ok((reader, meta));
            }
            match self.fs.open(&inode_path(status.file_id)).await {
                Ok(reader) => {
                    // Of a file that is being written the reader knows how much can be read.
                    meta.size = reader.len();
                    if let Some((files, asked)) = files {
                        files.keep(asked, path, &reader, meta.e_tag.clone());
                    }
                    return Ok((reader, meta));
                }
                // Another file took its place.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(reading(location, error)),
            }
        }
        Err(generic(format!("{location} was replaced again and again while it was opened")))
    }
}

async fn ranges_of(
    reader: &FileReader,
    location: &Path,
    ranges: &[Range<u64>],
) -> Result<Vec<Bytes>> {
    let mut wanted = Vec::with_capacity(ranges.len());
    for range in ranges {
        let range = range_of(Some(&GetRange::Bounded(range.clone())), reader.len())?;
        wanted.push((range.start, length(&range)?));
    }
    reader.read_ranges(&wanted).await.map_err(|error| reading(location, error))
}

/// The status of a file; a directory is not found.
pub(crate) fn file<'a>(location: &Path, status: &'a FileStatus) -> Result<&'a FileStatus> {
    match status.is_file() {
        true => Ok(status),
        false => Err(not_found(location, "it is a directory")),
    }
}

fn range_of(wanted: Option<&GetRange>, size: u64) -> Result<Range<u64>> {
    match wanted {
        Some(wanted) => wanted.as_range(size).map_err(generic),
        None => Ok(0..size),
    }
}

fn length(range: &Range<u64>) -> Result<usize> {
    usize::try_from(range.end.saturating_sub(range.start)).map_err(generic)
}

fn result(
    meta: ObjectMeta,
    attributes: Attributes,
    range: Range<u64>,
    payload: GetResultPayload,
) -> GetResult {
    GetResult { payload, meta, range, attributes }
}

fn payload(reader: FileReader, location: Path, range: Range<u64>) -> GetResultPayload {
    let bytes = match range.end - range.start {
        0 => stream::empty().boxed(),
        len @ 1..=AT_ONCE_MAX => stream::once(whole(reader, location, range.start, len)).boxed(),
        len => stream::once(stream_of(reader, location, range.start, len)).try_flatten().boxed(),
    };
    GetResultPayload::Stream(bytes)
}

async fn whole(reader: FileReader, location: Path, start: u64, len: u64) -> Result<Bytes> {
    let len = length(&(start..start + len))?;
    reader.read_bytes_at(start, len).await.map_err(|error| reading(&location, error))
}

async fn stream_of(
    mut reader: FileReader,
    location: Path,
    start: u64,
    len: u64,
) -> Result<stream::BoxStream<'static, Result<Bytes>>> {
    reader.seek_to(start).map_err(|error| reading(&location, error))?;
    let pieces = reader.into_stream_of(len);
    Ok(pieces.map_err(move |error| reading(&location, error)).boxed())
}
