//! All replicas of a pool on a volume, as a DataNode finds them when it starts.

use crate::error::{Error, ErrorKind, Result};
use crate::names::{BlockFile, parse_name};
use crate::pool::{Place, Pool, StoredReplica};
use crate::recover::recover_len;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use zerohop_wire::{Block, BlockId, GenerationStamp};

/// What was found.
#[derive(Debug, Default)]
pub struct Scan {
    /// Finalized replicas.
    pub finalized: Vec<StoredReplica>,
    /// Replicas that were being written, with the length that is good.
    pub rbw: Vec<StoredReplica>,
    /// Why replicas in `rbw` could not be read: these count as empty.
    pub unreadable: Vec<Error>,
}

impl Scan {
    /// Bytes of data and meta files.
    pub fn bytes(&self) -> u64 {
        self.finalized.iter().chain(&self.rbw).map(|found| found.block.len + found.meta_len).sum()
    }
}

/// The block files of one folder.
#[derive(Default)]
struct Folder {
    data: Vec<(BlockId, u64)>,
    meta: HashMap<BlockId, (GenerationStamp, u64)>,
}

impl Pool {
    /// Lists all replicas; those in `rbw` are cut to their good length. A folder that cannot be
    /// read is an error of the volume.
    pub fn scan(&self) -> Result<Scan> {
        self.finalize_lazy_persisted()?;
        let rbw = read_folder(&self.folder(BlockId(0), Place::Rbw), &mut |_| Ok(()))?;
        let mut open: Vec<_> = stored(&rbw, Place::Rbw).collect();
        let mut finalized = self.scan_finalized()?;
        self.complete_moves(&rbw, &mut finalized, &mut open)?;
        let mut unreadable = Vec::new();
        let recovered = open.into_iter().map(|found| self.recovered(found, &mut unreadable));
        let rbw = recovered.collect::<Result<_>>()?;
        Ok(Scan { finalized, rbw, unreadable })
    }

    /// Several threads, each with some of the upper folders: the time goes into system calls.
    fn scan_finalized(&self) -> Result<Vec<StoredReplica>> {
        let mut below = Vec::new();
        read_folder(self.finalized(), &mut |path| {
            below.push(path.to_owned());
            Ok(())
        })?;
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let share = below.len().div_ceil(threads).max(1);
        let scan_share = |paths: &[PathBuf]| {
            let mut found = Vec::new();
            paths.iter().try_for_each(|path| self.scan_below(path, &mut found)).map(|()| found)
        };
        thread::scope(|scope| {
            let start = |paths| scope.spawn(move || scan_share(paths));
            let running: Vec<_> = below.chunks(share).map(start).collect();
            let mut all = Vec::new();
            for one in running {
                all.extend(one.join().unwrap_or_else(|died| std::panic::resume_unwind(died))?);
            }
            Ok(all)
        })
    }

    /// A replica's two files move one after the other; a process killed in between leaves them in
    /// different folders. The data follows the meta file.
    fn complete_moves(
        &self,
        rbw: &Folder,
        finalized: &mut Vec<StoredReplica>,
        open: &mut Vec<StoredReplica>,
    ) -> Result<()> {
        let torn = |found: &StoredReplica| found.meta_len == 0;
        for found in finalized.iter_mut().filter(|found| torn(found)) {
            if let Some(meta) = rbw.meta.get(&found.block.id) {
                self.follow(found, *meta, Place::Rbw)?;
                open.push(*found);
            }
        }
        finalized.retain(|found| found.place == Place::Finalized);
        for found in open.iter_mut().filter(|found| torn(found)) {
            let folder = self.folder(found.block.id, Place::Finalized);
            let Ok(folder) = read_folder(&folder, &mut |_| Ok(())) else { continue };
            if let Some(meta) = folder.meta.get(&found.block.id) {
                self.follow(found, *meta, Place::Finalized)?;
                finalized.push(*found);
            }
        }
        open.retain(|found| found.place == Place::Rbw);
        Ok(())
    }

    fn follow(
        &self,
        found: &mut StoredReplica,
        (stamp, meta_len): (GenerationStamp, u64),
        place: Place,
    ) -> Result<()> {
        let from = self.data_path(found.block.id, found.place);
        let to = self.data_path(found.block.id, place);
        let block = Block { stamp, ..found.block };
        if !to.exists() {
            tracing::info!("replica {block}: completed its move to {}", to.display());
            let moved = fs::rename(&from, &to);
            moved.map_err(|e| Error::io(format!("replica {block}"), "move", &from, e))?;
            *found = StoredReplica { block, place, meta_len };
        }
        Ok(())
    }

    fn scan_below(&self, path: &Path, found: &mut Vec<StoredReplica>) -> Result<()> {
        let folder = read_folder(path, &mut |below| self.scan_below(below, found))?;
        let before = found.len();
        found.extend(stored(&folder, Place::Finalized));
        let astray =
            |replica: &StoredReplica| self.folder(replica.block.id, Place::Finalized) != path;
        if let Some(replica) = found.iter().skip(before).find(|replica| astray(replica)) {
            tracing::warn!(
                "ignored blocks in {}: {} belongs elsewhere",
                path.display(),
                replica.block
            );
            let mut index = 0;
            found.retain(|replica| {
                index += 1;
                index <= before || !astray(replica)
            });
        }
        Ok(())
    }

    /// One whose files cannot be read has no good bytes; the others of its volume may be fine.
    fn recovered(
        &self,
        mut found: StoredReplica,
        unreadable: &mut Vec<Error>,
    ) -> Result<StoredReplica> {
        let data = self.data_path(found.block.id, found.place);
        let meta = self.meta_path(&found.block, found.place);
        found.block.len = match recover_len(&found.block, &data, &meta) {
            Err(error) if error.kind() != ErrorKind::Exhausted => {
                unreadable.push(error);
                0
            }
            recovered => recovered?,
        };
        Ok(found)
    }
}

/// Pairs data with meta files; a data file without one has stamp 0, as Apache reports it.
fn stored(folder: &Folder, place: Place) -> impl Iterator<Item = StoredReplica> {
    folder.data.iter().map(move |(id, len)| {
        let (stamp, meta_len) =
            folder.meta.get(id).copied().unwrap_or((GenerationStamp::GRANDFATHER, 0));
        StoredReplica { block: Block { id: *id, stamp, len: *len }, place, meta_len }
    })
}

fn read_folder(path: &Path, below: &mut dyn FnMut(&Path) -> Result<()>) -> Result<Folder> {
    let io = |e: std::io::Error| Error::io("volume", "list", path, e);
    let mut folder = Folder::default();
    for entry in fs::read_dir(path).map_err(io)? {
        let entry = entry.map_err(io)?;
        if entry.file_type().map_err(io)?.is_dir() {
            below(&entry.path())?;
            continue;
        }
        let name = entry.file_name();
        match name.to_str().and_then(parse_name) {
            Some(BlockFile::Data(id)) => {
                folder.data.push((id, entry.metadata().map_err(io)?.len()));
            }
            Some(BlockFile::Meta(id, stamp)) => {
                let len = entry.metadata().map_err(io)?.len();
                let newest = folder.meta.entry(id).or_insert((stamp, len));
                if stamp > newest.0 {
                    *newest = (stamp, len);
                }
            }
            Some(BlockFile::Unlinked(id)) => restore_unlinked(&entry.path(), id, &mut folder)?,
            None => {}
        }
    }
    Ok(folder)
}

/// A copy made to break a hard link is the original itself if that is gone, and garbage otherwise.
fn restore_unlinked(path: &Path, id: BlockId, folder: &mut Folder) -> Result<()> {
    let io = |e: std::io::Error| Error::io("volume", "restore", path, e);
    let original = path.with_extension("");
    if original.exists() {
        return fs::remove_file(path).map_err(io);
    }
    fs::rename(path, &original).map_err(io)?;
    folder.data.push((id, fs::metadata(&original).map_err(io)?.len()));
    Ok(())
}
