//! Replicas that go to the trash, and come back from it.

use crate::error::{Error, Result};
use crate::pool::{Place, Pool};
use crate::trash::MARKER;
use std::fs;
use std::io;
use std::path::Path;
use zerohop_wire::Block;

impl Pool {
    /// Deletes both files of a replica that the NameNode has deleted, or moves them to the trash while a rolling upgrade is
    /// under way. Returns the bytes that are the replica's no more.
    pub fn discard(&self, block: &Block, place: Place) -> Result<u64> {
        let trash = self.trash();
        let directory = self.directory(block.id, place);
        let Some(kept_in) = trash.place_of(&directory).filter(|_| trash.keeps_deleted()) else {
            return self.delete(block, place);
        };
        trash.mode.create(&kept_in)?;
        // The data first: a meta file that is left alone is no replica.
        let mut moved = 0;
        for path in [self.data_path(block.id, place), self.meta_path(block, place)] {
            let Some(name) = path.file_name() else { continue };
            let len = fs::metadata(&path).map_or(0, |found| found.len());
            match fs::rename(&path, kept_in.join(name)) {
                Ok(()) => moved += len,
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(Error::io(format!("replica {block}"), "move", &path, e)),
            }
        }
        Ok(moved)
    }

    /// Moves everything in the trash back to where it was, and deletes the marker: the rolling upgrade is rolled back. To
    /// be called before the replicas are listed; `answered` is called whenever the disk has answered. Returns how many files
    /// were moved.
    ///
    /// # Errors
    /// Fails if a file cannot be moved or deleted.
    pub(crate) fn restore_trash(&self, answered: &dyn Fn()) -> Result<usize> {
        let trash = self.trash();
        let restored = self.restore_below(&trash.directory(), answered)?;
        let marker = trash.root.join(MARKER);
        match fs::remove_file(&marker) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io("block pool", "delete", &marker, e));
            }
            _ => {}
        }
        tracing::info!("block pool {}: restored {restored} block files from the trash", self.id());
        Ok(restored)
    }

    fn restore_below(&self, directory: &Path, answered: &dyn Fn()) -> Result<usize> {
        let io = |e: io::Error| Error::io("block pool", "restore", directory, e);
        let entries = match fs::read_dir(directory) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(0),
            entries => entries.map_err(io)?,
        };
        let mut restored = 0;
        for entry in entries {
            let entry = entry.map_err(io)?;
            answered();
            match entry.file_type().map_err(io)?.is_dir() {
                true => restored += self.restore_below(&entry.path(), answered)?,
                false => restored += usize::from(self.restore_file(&entry.path())?),
            }
        }
        fs::remove_dir(directory).map_err(io)?;
        Ok(restored)
    }

    /// A file that is there again, and not shorter, is newer than the one in the trash, which goes.
    fn restore_file(&self, kept: &Path) -> Result<bool> {
        let io = |e: io::Error| Error::io("block pool", "restore", kept, e);
        let trash = self.trash();
        let Ok(below) = kept.strip_prefix(trash.directory()) else { return Ok(false) };
        let home = trash.root.join("current").join(below);
        let len = |path: &Path| fs::metadata(path).map(|found| found.len());
        if len(&home).is_ok_and(|there| len(kept).is_ok_and(|kept| there >= kept)) {
            fs::remove_file(kept).map_err(io)?;
            return Ok(false);
        }
        if let Some(parent) = home.parent() {
            trash.mode.create(parent)?;
        }
        fs::rename(kept, &home).map_err(io)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PoolVersion, UpgradePhase, Volume};
    use std::path::PathBuf;
    use zerohop_wire::{BlockId, DataChecksum, GenerationStamp, meta_header};

    const BLOCK: Block = Block { id: BlockId(5), stamp: GenerationStamp(1001), len: 4 };

    struct Home {
        directory: tempfile::TempDir,
        volume: Volume,
    }

    impl Home {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let mut volume = Volume::open(directory.path()).unwrap();
            volume.claim("CID-1", "uuid-1").unwrap();
            Self { directory, volume }
        }

        fn pool(&self) -> Pool {
            let pool_id = "BP-1-127.0.0.1-2".to_owned();
            self.volume.open_pool(&PoolVersion { pool_id, namespace_id: 7, ctime: 2 }).unwrap()
        }

        fn path(&self, name: &str) -> PathBuf {
            self.directory.path().join("current/BP-1-127.0.0.1-2").join(name)
        }
    }

    fn put(pool: &Pool, data: &[u8; 4]) {
        fs::create_dir_all(pool.directory(BLOCK.id, Place::Finalized)).unwrap();
        let mut sums = [0; 4];
        DataChecksum::default().compute(data, &mut sums).unwrap();
        fs::write(pool.data_path(BLOCK.id, Place::Finalized), data).unwrap();
        let meta = [&meta_header::encode(DataChecksum::default())[..], &sums].concat();
        fs::write(pool.meta_path(&BLOCK, Place::Finalized), meta).unwrap();
    }

    fn enter(pool: &Pool, phase: UpgradePhase) {
        assert!(pool.trash().enter(phase));
        assert!(!pool.trash().enter(phase), "once");
        pool.trash().apply(phase).unwrap();
    }

    /// The DataNode kept replicas where they were and went on reporting them, so that the NameNode deleted them again
    /// and again, and a rollback could not tell them from others.
    #[test]
    fn a_replica_deleted_during_a_rolling_upgrade_comes_back_with_the_rollback() {
        let home = Home::new();
        let pool = home.pool();
        put(&pool, b"data");
        enter(&pool, UpgradePhase::UnderWay);
        assert!(home.path(MARKER).exists());
        assert_eq!(pool.discard(&BLOCK, Place::Finalized).unwrap(), 4 + 11);
        assert!(pool.scan().unwrap().finalized.is_empty());
        let kept = home.path("trash/finalized/subdir0/subdir0");
        assert_eq!(fs::read(kept.join("blk_5")).unwrap(), b"data");
        assert!(kept.join("blk_5_1001.meta").exists());
        drop(pool);

        let pool = home.pool();
        assert_eq!(pool.restore_trash(&|| ()).unwrap(), 2);
        assert_eq!(pool.scan().unwrap().finalized[0].block, BLOCK);
        pool.open(&BLOCK, Place::Finalized).unwrap().verify().unwrap();
        assert!(!home.path("trash").exists() && !home.path(MARKER).exists());
        assert_eq!(pool.restore_trash(&|| ()).unwrap(), 0);
    }

    #[test]
    fn the_end_of_a_rolling_upgrade_empties_the_trash() {
        let home = Home::new();
        let pool = home.pool();
        put(&pool, b"data");
        enter(&pool, UpgradePhase::UnderWay);
        pool.discard(&BLOCK, Place::Finalized).unwrap();
        enter(&pool, UpgradePhase::Finalized);
        assert!(!home.path("trash").exists() && !home.path(MARKER).exists());
        put(&pool, b"data");
        pool.discard(&BLOCK, Place::Finalized).unwrap();
        assert!(!home.path("trash").exists() && pool.scan().unwrap().finalized.is_empty());
    }

    /// A NameNode that was rolled back says nothing of a rolling upgrade: what was kept waits for `-rollback`.
    #[test]
    fn silence_keeps_what_is_in_the_trash() {
        let home = Home::new();
        let pool = home.pool();
        put(&pool, b"data");
        enter(&pool, UpgradePhase::UnderWay);
        pool.discard(&BLOCK, Place::Finalized).unwrap();
        assert!(!pool.trash().enter(UpgradePhase::None));
        put(&pool, b"data");
        pool.discard(&BLOCK, Place::Finalized).unwrap();
        assert!(pool.scan().unwrap().finalized.is_empty());
        assert_eq!(pool.restore_trash(&|| ()).unwrap(), 2);
    }

    #[test]
    fn a_newer_replica_is_not_replaced_from_the_trash() {
        let home = Home::new();
        let pool = home.pool();
        put(&pool, b"olde");
        enter(&pool, UpgradePhase::UnderWay);
        pool.discard(&BLOCK, Place::Finalized).unwrap();
        put(&pool, b"newe");
        assert_eq!(pool.restore_trash(&|| ()).unwrap(), 0);
        pool.open(&BLOCK, Place::Finalized).unwrap().verify().unwrap();
        assert_eq!(fs::read(pool.data_path(BLOCK.id, Place::Finalized)).unwrap(), b"newe");
    }

    /// Apache's DataNode of a new layout keeps all replicas in `previous`.
    #[test]
    fn what_previous_keeps_is_not_kept_twice() {
        let home = Home::new();
        let pool = home.pool();
        put(&pool, b"data");
        fs::create_dir(home.path("previous")).unwrap();
        enter(&pool, UpgradePhase::UnderWay);
        pool.discard(&BLOCK, Place::Finalized).unwrap();
        assert!(!home.path("trash").exists());
        enter(&pool, UpgradePhase::Finalized);
        assert!(!home.path("previous").exists());
    }
}
