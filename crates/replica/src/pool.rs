//! One block pool on one volume: its directories, and the moves of replicas between them.

use crate::error::{Error, ErrorKind, Result};
use crate::io::{IoCall, IoTimer};
use crate::mode::DirectoryMode;
use crate::names::{block_directory, block_file_name, meta_file_name};
use crate::transition::{PoolStart, StartOptions};
use crate::trash::Trash;
use crate::version::{PoolVersion, sync_directory};
use rustix::fs::{CWD, RenameFlags};
use rustix::io::Errno;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zerohop_wire::{Block, BlockId, ReplicaState};

/// The directory a replica is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// `current/finalized`: complete.
    Finalized,
    /// `current/rbw`: written by a client.
    Rbw,
    /// `tmp`: received from another DataNode.
    Tmp,
}

impl Place {
    /// The state of a replica that is found there when a DataNode starts.
    pub const fn state_at_start(self) -> ReplicaState {
        match self {
            Place::Finalized => ReplicaState::Finalized,
            Place::Rbw => ReplicaState::Rwr,
            Place::Tmp => ReplicaState::Temporary,
        }
    }
}

/// A replica on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredReplica {
    /// Its block, with the length on disk.
    pub block: Block,
    /// Where it is.
    pub place: Place,
    /// Bytes of its meta file, as they count as used space.
    pub meta_len: u64,
}

#[derive(Debug)]
struct Directories {
    id: Arc<str>,
    finalized: PathBuf,
    rbw: PathBuf,
    tmp: PathBuf,
    mode: DirectoryMode,
    io: IoTimer,
    trash: Trash,
}

/// A block pool on a volume; cheap to clone.
#[derive(Clone, Debug)]
pub struct Pool(Arc<Directories>);

impl Pool {
    /// Opens a pool's directories below the `current` of `volume`, or makes them, and empties `tmp`. An upgrade, rollback or
    /// finalization that was interrupted is completed first.
    pub(crate) fn on_volume(
        volume: &Path,
        mode: DirectoryMode,
        io: IoTimer,
        expected: &PoolVersion,
        options: StartOptions<'_>,
    ) -> Result<Self> {
        let volume_current = volume.join("current");
        check_pool_id(&volume_current, &expected.pool_id)?;
        let root = volume_current.join(&expected.pool_id);
        let current = root.join("current");
        let pool = Self(Arc::new(Directories {
            id: expected.pool_id.as_str().into(),
            finalized: current.join("finalized"),
            rbw: current.join("rbw"),
            tmp: root.join("tmp"),
            mode,
            io,
            trash: Trash::new(root.clone(), mode),
        }));
        let start = PoolStart { volume, root: &root, mode, expected, options };
        // An upgrade links finalized replicas and those that are being written, no others.
        start.run(|| pool.finalize_lazy_persisted())?;
        if options.rolls_back {
            pool.restore_trash(options.answered)?;
        }
        pool.drop_leftovers(&current)?;
        for directory in [&pool.0.finalized, &pool.0.rbw, &pool.0.tmp] {
            mode.create(directory)?;
        }
        sync_directory(&current)?;
        Ok(pool)
    }

    /// Half-received copies are of no use; Apache's caches of lists and sizes would mislead Apache's
    /// DataNode after we changed replicas.
    fn drop_leftovers(&self, current: &Path) -> Result<()> {
        let gone = |done: std::io::Result<()>, path: &Path| match done {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io("volume", "remove", path, e))
            }
            _ => Ok(()),
        };
        gone(fs::remove_dir_all(&self.0.tmp), &self.0.tmp)?;
        for cache in ["replicas", "dfsUsed"] {
            let path = current.join(cache);
            gone(fs::remove_file(&path), &path)?;
        }
        Ok(())
    }

    /// What times calls to the disk.
    pub(crate) fn io(&self) -> &IoTimer {
        &self.0.io
    }

    /// Where deleted replicas are kept during a rolling upgrade.
    pub fn trash(&self) -> &Trash {
        &self.0.trash
    }

    /// The pool's id.
    pub fn id(&self) -> &Arc<str> {
        &self.0.id
    }

    /// Makes a directory of replicas that is not there yet.
    pub(crate) fn create_directory(&self, directory: &Path) -> Result<()> {
        self.0.mode.create(directory)
    }

    /// The permissions of new block and meta files.
    pub(crate) fn file_mode(&self) -> u32 {
        self.0.mode.of_files()
    }

    /// The directory of a replica.
    pub fn directory(&self, id: BlockId, place: Place) -> PathBuf {
        match place {
            Place::Finalized => block_directory(&self.0.finalized, id),
            Place::Rbw => self.0.rbw.clone(),
            Place::Tmp => self.0.tmp.clone(),
        }
    }

    /// The directory of the finalized replicas.
    pub fn finalized(&self) -> &Path {
        &self.0.finalized
    }

    /// The pool's directory below the volume's `current`.
    pub fn root(&self) -> &Path {
        self.0.tmp.parent().unwrap_or(&self.0.tmp)
    }

    /// The file with the data.
    pub fn data_path(&self, id: BlockId, place: Place) -> PathBuf {
        self.directory(id, place).join(block_file_name(id))
    }

    /// The file with header and checksums.
    pub fn meta_path(&self, block: &Block, place: Place) -> PathBuf {
        self.directory(block.id, place).join(meta_file_name(block))
    }

    /// Deletes both files; a file that is gone already is no error. Returns the bytes freed.
    pub fn delete(&self, block: &Block, place: Place) -> Result<u64> {
        let freed = [self.data_path(block.id, place), self.meta_path(block, place)]
            .into_iter()
            .map(|path| self.io().time(IoCall::Metadata, || remove(&path, block)))
            .sum::<Result<u64>>()?;
        Ok(freed)
    }

    /// Moves both files from one place (and stamp) to another; the meta file first, as Apache does.
    /// Either both moves happen or none.
    pub(crate) fn shift(&self, from: (&Block, Place), to: (&Block, Place)) -> Result<()> {
        self.io().time(IoCall::Metadata, || self.shift_files(from, to))
    }

    fn shift_files(&self, from: (&Block, Place), to: (&Block, Place)) -> Result<()> {
        let (block, place) = to;
        let (old_meta, new_meta) = (self.meta_path(from.0, from.1), self.meta_path(block, place));
        match rename(&old_meta, &new_meta, block) {
            // Mostly because the directory is not there yet.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.0.mode.create(&self.directory(block.id, place))?;
                rename(&old_meta, &new_meta, block)?;
            }
            done => done?,
        }
        let (old_data, new_data) =
            (self.data_path(block.id, from.1), self.data_path(block.id, place));
        if old_data == new_data {
            return Ok(());
        }
        rename(&old_data, &new_data, block).inspect_err(|_| {
            if let Err(second) = fs::rename(&new_meta, &old_meta) {
                tracing::error!("cannot move {} back: {second}", new_meta.display());
            }
        })
    }

    /// Makes a file that has other names too one of its own, with the same bytes: the others keep
    /// theirs (`LocalReplica.breakHardLinksIfNeeded`).
    pub(crate) fn break_link(&self, block: &Block, path: &Path) -> Result<()> {
        let links = match fs::metadata(path) {
            Ok(found) => found.nlink(),
            // Opening it gives the error.
            Err(_) => return Ok(()),
        };
        if links <= 1 {
            return Ok(());
        }
        let name = path.file_name().unwrap_or_default();
        let copy = self.0.tmp.join(name).with_extension("unlinked");
        let made = fs::copy(path, &copy)
            .and_then(|_| fs::File::open(&copy)?.sync_all())
            .and_then(|()| fs::rename(&copy, path));
        made.map_err(|e| {
            let _ = fs::remove_file(&copy);
            Error::io(format!("replica {block}"), "copy from its hard link", path, e)
        })
    }

    /// Makes moves of this block into a directory survive a power cut.
    pub(crate) fn sync_directory(&self, id: BlockId, place: Place) -> Result<()> {
        let directory = self.directory(id, place);
        let sync_directory =
            |directory: &Path| self.io().time(IoCall::Sync, || sync_directory(directory));
        sync_directory(&directory)?;
        if place != Place::Finalized {
            return Ok(());
        }
        // The two levels of sub-directories may be new as well.
        directory.ancestors().skip(1).take(2).try_for_each(sync_directory)
    }
}

/// The id comes from the NameNode and becomes a directory's name.
fn check_pool_id(parent: &Path, id: &str) -> Result<()> {
    if id.starts_with("BP-") && !id.contains(['/', '\0']) {
        return Ok(());
    }
    let text = format!("{id:?} is no block pool id");
    Err(Error::new(ErrorKind::Invalid, "volume", "make a block pool in", parent, text))
}

/// Moves a file to a name that is not taken.
pub(crate) fn rename(from: &Path, to: &Path, block: &Block) -> Result<()> {
    if from == to {
        return Ok(());
    }
    let exists = || {
        let there = format!("{} is there already", to.display());
        Error::new(ErrorKind::Exists, format!("replica {block}"), "move", from, there)
    };
    let flags = RenameFlags::NOREPLACE;
    match rustix::fs::renameat_with(CWD, from, CWD, to, flags) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(exists()),
        // A file system, or a kernel, that cannot do both at once.
        Err(Errno::INVAL | Errno::NOSYS) if to.exists() => Err(exists()),
        Err(Errno::INVAL | Errno::NOSYS) => {
            fs::rename(from, to).map_err(|e| failed(from, block, e))
        }
        Err(error) => Err(failed(from, block, error.into())),
    }
}

fn failed(from: &Path, block: &Block, error: std::io::Error) -> Error {
    Error::io(format!("replica {block}"), "move", from, error)
}

fn remove(path: &Path, block: &Block) -> Result<u64> {
    let len = fs::metadata(path).map(|found| found.len());
    match len.and_then(|len| fs::remove_file(path).map(|()| len)) {
        Ok(len) => Ok(len),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(0),
        Err(e) => Err(Error::io(format!("replica {block}"), "delete", path, e)),
    }
}
