//! All replicas of a pool on a volume, as a DataNode finds them when it starts.

use crate::error::{Error, Result};
use crate::names::{BlockFile, parse_name};
use crate::pool::{Place, Pool, StoredReplica};
use crate::recover::recover_len;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use zerohop_wire::{Block, BlockId, GenerationStamp};

/// What was found.
#[derive(Debug, Default)]
pub struct Scan {
    /// Finalized replicas.
    pub finalized: Vec<StoredReplica>,
    /// Replicas that were being written, with the length that is good.
    pub rbw: Vec<StoredReplica>,
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
        let mut scan = Scan::default();
        self.scan_below(self.finalized_root(), &mut scan.finalized)?;
        let rbw = self.folder(BlockId(0), Place::Rbw);
        let folder = read_folder(&rbw, &mut |_| Ok(()))?;
        for found in stored(&folder, Place::Rbw) {
            scan.rbw.push(self.recovered(found)?);
        }
        Ok(scan)
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

    fn recovered(&self, mut found: StoredReplica) -> Result<StoredReplica> {
        let data = self.data_path(found.block.id, found.place);
        let meta = self.meta_path(&found.block, found.place);
        found.block.len = recover_len(&found.block, &data, &meta)?;
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
