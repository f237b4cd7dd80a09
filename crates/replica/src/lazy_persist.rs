//! Replicas that Apache's lazy writer copied from memory to this volume: Apache keeps them in
//! `current/lazypersist` and makes them finalized replicas when its DataNode starts
//! (`BlockPoolSlice.moveLazyPersistReplicasToFinalized`).

use crate::error::{Error, ErrorKind, Result};
use crate::names::{BlockFile, parse_name};
use crate::pool::{Place, Pool, rename};
use std::fs;
use std::path::Path;
use zerohop_wire::{Block, BlockId, GenerationStamp};

impl Pool {
    /// Moves the replicas of `current/lazypersist` to the finalized ones; a replica that is finalized
    /// already stays as it is. Empty directories are removed, everything else is left in place.
    pub(crate) fn finalize_lazy_persisted(&self) -> Result<()> {
        let Some(root) = self.finalized().parent().map(|current| current.join("lazypersist"))
        else {
            return Ok(());
        };
        if !root.is_dir() {
            return Ok(());
        }
        let moved = self.finalize_below(&root)?;
        tracing::info!("finalized {moved} replicas of {}", root.display());
        Ok(())
    }

    fn finalize_below(&self, directory: &Path) -> Result<usize> {
        let io = |e: std::io::Error| Error::io("volume", "list", directory, e);
        let mut moved = 0;
        for entry in fs::read_dir(directory).map_err(io)? {
            let entry = entry.map_err(io)?;
            if entry.file_type().map_err(io)?.is_dir() {
                moved += self.finalize_below(&entry.path())?;
                continue;
            }
            let name = entry.file_name();
            if let Some(BlockFile::Meta(id, stamp)) = name.to_str().and_then(parse_name) {
                match self.finalize_lazy(directory, id, stamp) {
                    Ok(()) => moved += 1,
                    Err(error) if error.kind() == ErrorKind::Exhausted => return Err(error),
                    Err(error) => tracing::warn!("{error}"),
                }
            }
        }
        // One that still holds files is not removed.
        let _ = fs::remove_dir(directory);
        Ok(moved)
    }

    /// The data moves first: a meta file that was left behind finds it at the next start.
    fn finalize_lazy(&self, directory: &Path, id: BlockId, stamp: GenerationStamp) -> Result<()> {
        let block = Block { id, stamp, len: 0 };
        let (data, meta) =
            (self.data_path(id, Place::Finalized), self.meta_path(&block, Place::Finalized));
        let is_here = |path: &Path| path.file_name().map(|name| directory.join(name));
        let (Some(lazy_data), Some(lazy_meta)) = (is_here(&data), is_here(&meta)) else {
            return Ok(());
        };
        self.create_directory(&self.directory(id, Place::Finalized))?;
        match rename(&lazy_data, &data, &block) {
            Err(error) if error.kind() == ErrorKind::NotFound && data.exists() => {
                if self.has_finalized_meta(id)? {
                    return Err(error);
                }
            }
            done => done?,
        }
        rename(&lazy_meta, &meta, &block)
    }

    fn has_finalized_meta(&self, id: BlockId) -> Result<bool> {
        let directory = self.directory(id, Place::Finalized);
        let io = |e: std::io::Error| Error::io("volume", "list", &directory, e);
        for entry in fs::read_dir(&directory).map_err(io)? {
            let name = entry.map_err(io)?.file_name();
            let found = name.to_str().and_then(parse_name);
            if matches!(found, Some(BlockFile::Meta(known, _)) if known == id) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Place, PoolVersion, Volume};
    use std::fs;
    use std::path::Path;
    use zerohop_wire::{Block, BlockId, DataChecksum, GenerationStamp, meta_header};

    /// Writes the files of a replica of four bytes.
    fn put(directory: &Path, id: i64, stamp: i64, data: &[u8; 4]) {
        fs::create_dir_all(directory).unwrap();
        let mut sums = [0; 4];
        DataChecksum::default().compute(data, &mut sums).unwrap();
        fs::write(directory.join(format!("blk_{id}")), data).unwrap();
        let meta = [&meta_header::encode(DataChecksum::default())[..], &sums].concat();
        fs::write(directory.join(format!("blk_{id}_{stamp}.meta")), meta).unwrap();
    }

    /// Apache's DataNode had copied them from memory to disk; ours never looked there, and where the
    /// memory was gone they were lost.
    #[test]
    fn lazy_persisted_replicas_of_an_apache_directory_are_found() {
        let root = tempfile::tempdir().unwrap();
        let mut volume = Volume::open(root.path()).unwrap();
        volume.claim("CID-1", "uuid-1").unwrap();
        let pool_id = "BP-1-127.0.0.1-2".to_owned();
        let pool = volume.open_pool(&PoolVersion { pool_id, namespace_id: 7, ctime: 2 }).unwrap();
        let lazy = pool.finalized().with_file_name("lazypersist").join("subdir0/subdir0");
        // One to move, one whose data was moved before the process was killed, one that exists.
        put(&lazy, 1, 1001, b"data");
        put(&lazy, 2, 1001, b"data");
        put(&pool.directory(BlockId(3), Place::Finalized), 3, 1002, b"newe");
        put(&lazy, 3, 1001, b"olde");
        fs::rename(lazy.join("blk_2"), pool.data_path(BlockId(2), Place::Finalized)).unwrap();
        let found = pool.scan().unwrap();
        let mut blocks: Vec<_> = found.finalized.iter().map(|found| found.block).collect();
        blocks.sort_by_key(|block| block.id);
        let block = |id, stamp| Block { id: BlockId(id), stamp: GenerationStamp(stamp), len: 4 };
        assert_eq!(blocks, [block(1, 1001), block(2, 1001), block(3, 1002)]);
        for block in &blocks {
            pool.open(block, Place::Finalized).unwrap().verify().unwrap();
        }
        assert_eq!(fs::read(pool.data_path(BlockId(3), Place::Finalized)).unwrap(), b"newe");
        assert!(lazy.join("blk_3").exists(), "what is not moved is not deleted");
        assert_eq!(fs::read_dir(&lazy).unwrap().count(), 2);
    }
}
