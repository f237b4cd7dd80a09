//! From the folders to the namespace: the newest image, then every edit behind it.

use super::NameStorage;
use super::dir::NameDir;
use super::error::{ReplayError, StorageError};
use super::save::images;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zerohop_journal::JournalError;
use zerohop_journal::image::{self, ImageReader};
use zerohop_journal::op::Record;
use zerohop_journal::segment::{
    self, Scan, SegmentFile, SegmentKind, SegmentReader, Tail, finalized_name, sync_dir,
};
use zerohop_wire::TxId;

/// What images and edits are loaded into.
pub trait Replay {
    /// Takes a whole image; called once, before any edit.
    fn image(&mut self, image: &ImageReader) -> Result<(), ReplayError>;
    /// Applies the next edit.
    fn edit(&mut self, record: Record) -> Result<(), ReplayError>;
}

/// What was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadReport {
    /// The image that was loaded.
    pub image: PathBuf,
    /// The transaction it was taken after.
    pub image_txid: i64,
    /// The last transaction applied; the next is one more.
    pub last_txid: i64,
    /// Edits applied behind the image.
    pub edits: u64,
    /// Whether a folder has no image yet, or the layout is older: an image should be saved now.
    pub needs_save: bool,
}

impl NameStorage {
    /// Finishes segments that a crash left behind, then loads the newest image and all edits.
    pub fn load(&self, replay: &mut dyn Replay) -> Result<LoadReport, StorageError> {
        self.recover_segments()?;
        let (image_txid, path) = self.newest_image()?;
        let image = ImageReader::open(&path)?;
        let refused = |source| StorageError::Replay { what: path.display().to_string(), source };
        replay.image(&image).map_err(refused)?;
        let last_txid = self.replay_edits(image_txid, replay)?;
        let seen = self.seen_txid();
        if last_txid < seen {
            return Err(StorageError::Gap { until: seen, missing: last_txid + 1 });
        }
        Ok(LoadReport {
            image_txid,
            last_txid,
            edits: (last_txid - image_txid) as u64,
            needs_save: self.dirs.iter().any(|dir| dir.is_version_due()),
            image: path,
        })
    }

    fn seen_txid(&self) -> i64 {
        let seen = self.dirs.iter().filter(|dir| !dir.has_failed()).map(|dir| {
            dir.read_seen_txid().unwrap_or_else(|e| {
                tracing::warn!("{e}");
                0
            })
        });
        seen.max().unwrap_or(0)
    }

    /// The newest image that is what its MD5 file says; copies in other folders stand in for a bad
    /// one, older images do not (their edits may be purged, and nobody would notice).
    fn newest_image(&self) -> Result<(i64, PathBuf), StorageError> {
        let mut found: Vec<_> = self.image_dirs().flat_map(|dir| images(&dir.current())).collect();
        found.sort_by_key(|(txid, _)| Reverse(*txid));
        let newest = found.first().map(|(txid, _)| *txid);
        let mut error = None;
        for (txid, path) in found.into_iter().take_while(|(txid, _)| Some(*txid) == newest) {
            match image::verify_md5(&path) {
                Ok(()) => return Ok((txid, path)),
                Err(e) => {
                    tracing::error!("{e}");
                    error = Some(e.into());
                }
            }
        }
        Err(error.unwrap_or_else(|| StorageError::NoImage { path: self.first_root() }))
    }

    fn first_root(&self) -> PathBuf {
        self.dirs.first().map(|dir| dir.root().to_owned()).unwrap_or_default()
    }

    /// Finishes what a crash left in progress. A folder whose segment is damaged is dropped if
    /// another one is whole.
    fn recover_segments(&self) -> Result<(), StorageError> {
        let mut first_error = None;
        for dir in self.edits_dirs().cloned().collect::<Vec<_>>() {
            if let Err(e) = recover_dir(&dir, self.config.op_size_max) {
                first_error.get_or_insert((dir, e));
            }
        }
        let Some((dir, error)) = first_error else { return Ok(()) };
        dir.fail(&error);
        if self.edits_dirs().next().is_none() { Err(error) } else { self.recover_segments() }
    }

    fn replay_edits(&self, image_txid: i64, replay: &mut dyn Replay) -> Result<i64, StorageError> {
        let mut next = image_txid + 1;
        loop {
            let copies = self.segments_with(next);
            if copies.is_empty() {
                break;
            }
            let before = next;
            let mut error = None;
            for file in copies {
                match self.replay_segment(&file, &mut next, replay) {
                    Ok(()) => {
                        error = None;
                        break;
                    }
                    Err(e @ StorageError::Replay { .. }) => return Err(e),
                    Err(e) => {
                        tracing::error!("{e}");
                        error = Some(e);
                    }
                }
            }
            match error {
                Some(e) => return Err(e),
                None if next == before => break,
                None => {}
            }
        }
        self.check_no_later_segment(next)?;
        Ok(next - 1)
    }

    /// Finished segments that hold `txid`, the longest first.
    fn segments_with(&self, txid: i64) -> Vec<SegmentFile> {
        let mut found = self.finalized();
        found.retain(|(file, last)| file.first.0 <= txid && txid <= *last);
        found.sort_by_key(|(_, last)| Reverse(*last));
        found.into_iter().map(|(file, _)| file).collect()
    }

    fn check_no_later_segment(&self, next: i64) -> Result<(), StorageError> {
        match self.finalized().iter().map(|(_, last)| *last).max() {
            Some(last) if last >= next => Err(StorageError::Gap { until: last, missing: next }),
            _ => Ok(()),
        }
    }

    fn finalized(&self) -> Vec<(SegmentFile, i64)> {
        let mut found = Vec::new();
        for dir in self.edits_dirs() {
            match segment::list(&dir.current()) {
                Ok(files) => found.extend(files.into_iter().filter_map(|file| match file.kind {
                    SegmentKind::Finalized(last) => Some((file, last.0)),
                    SegmentKind::InProgress => None,
                })),
                Err(e) => dir.fail(&e),
            }
        }
        found
    }

    /// Applies the records from `next` on, and moves `next` along.
    fn replay_segment(
        &self,
        file: &SegmentFile,
        next: &mut i64,
        replay: &mut dyn Replay,
    ) -> Result<(), StorageError> {
        let SegmentKind::Finalized(last) = file.kind else { return Ok(()) };
        let mut reader = SegmentReader::open(&file.path, self.config.op_size_max)?;
        while *next <= last.0 {
            let Some(record) = reader.next()? else {
                let reason = format!("it ends before transaction {next}, its name says {last}");
                return Err(inconsistent(&file.path, reason));
            };
            match record.txid.0 {
                txid if txid < *next => {}
                txid if txid == *next => {
                    let (name, txid) = (record.op.name(), record.txid);
                    replay.edit(record).map_err(|source| StorageError::Replay {
                        what: format!("{name} (transaction {txid}) of {}", file.path.display()),
                        source,
                    })?;
                    *next += 1;
                }
                _ => return Err(StorageError::Gap { until: last.0, missing: *next }),
            }
        }
        Ok(())
    }
}

fn inconsistent(path: &Path, reason: String) -> StorageError {
    StorageError::Inconsistent { path: path.to_owned(), reason }
}

fn recover_dir(dir: &Arc<NameDir>, op_size_max: usize) -> Result<(), StorageError> {
    for file in segment::list(&dir.current())? {
        if file.kind == SegmentKind::InProgress {
            recover_segment(&file, op_size_max)?;
        }
    }
    Ok(())
}

/// Cuts a segment behind its last good record and gives it its final name.
fn recover_segment(file: &SegmentFile, op_size_max: usize) -> Result<(), StorageError> {
    let path = &file.path;
    let len = std::fs::metadata(path).map_err(StorageError::io("stat", path))?.len();
    if len == 0 {
        tracing::info!("deleting zero-length edit log file {}", path.display());
        return std::fs::remove_file(path).map_err(StorageError::io("remove", path));
    }
    let scan = match segment::scan(path, op_size_max) {
        Err(JournalError::Header { .. }) if is_only_padding(path)? => {
            tracing::warn!(
                "moving aside {}: there is only padding, probably the disk was full",
                path.display()
            );
            return move_aside(path, "empty");
        }
        Err(e @ JournalError::Header { .. }) => {
            move_aside(path, "corrupt")?;
            return Err(e.into());
        }
        scan => scan?,
    };
    match (scan.first, scan.last) {
        (Some(first), Some(last)) if first == file.first => finish(file, last, &scan, len),
        (Some(first), _) => {
            let reason = format!("its first transaction is {first}, its name says {}", file.first);
            Err(inconsistent(path, reason))
        }
        (None, _) => {
            tracing::info!("moving aside {}: it has no transactions", path.display());
            move_aside(path, "empty")
        }
    }
}

fn finish(file: &SegmentFile, last: TxId, scan: &Scan, len: u64) -> Result<(), StorageError> {
    let path = &file.path;
    if let Tail::Torn(error) = &scan.tail {
        tracing::warn!(
            "{}: cutting a torn record at offset {}, behind transaction {last}: {error}",
            path.display(),
            scan.valid_len
        );
    }
    if scan.valid_len < len {
        let file = std::fs::OpenOptions::new().write(true).open(path);
        file.and_then(|file| file.set_len(scan.valid_len).and_then(|()| file.sync_all()))
            .map_err(StorageError::io("truncate", path))?;
    }
    let to = path.with_file_name(finalized_name(file.first, last));
    tracing::info!("finalizing edits file {} -> {}", path.display(), to.display());
    if to.exists() {
        return Err(inconsistent(
            &to,
            "it exists already beside the segment in progress".to_owned(),
        ));
    }
    super::file::rename(path, &to)
}

/// Whether a segment holds nothing but what fills it in advance: its header was never written, so
/// nothing that was acknowledged can be in it.
fn is_only_padding(path: &Path) -> Result<bool, StorageError> {
    let bytes = std::fs::read(path).map_err(StorageError::io("read", path))?;
    Ok([0xff, 0].iter().any(|padding| bytes.iter().all(|byte| byte == padding)))
}

fn move_aside(path: &Path, suffix: &str) -> Result<(), StorageError> {
    let mut to = path.as_os_str().to_owned();
    to.push(format!(".{suffix}"));
    std::fs::rename(path, &to).map_err(StorageError::io("rename", path))?;
    Ok(sync_dir(path.parent().unwrap_or(path))?)
}
