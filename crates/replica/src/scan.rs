//! All replicas of a pool on a volume, as a DataNode finds them when it starts.

use crate::error::{Error, ErrorKind, Result};
use crate::names::{BlockFile, DirectoryNumbers, parse_name};
use crate::pool::{Place, Pool, StoredReplica};
use crate::recover::recover_len;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, statat};
use rustix::io::Errno;
use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use zerohop_wire::{Block, BlockId, DataChecksum, GenerationStamp, meta_header};

/// At least so many threads list a volume: on few processors, too, a disk shall have several requests at a time.
const THREADS_MIN: usize = 16;
/// Bytes of directory entries that are read at a time.
const DIRECTORY_BUFFER_LEN: usize = 64 << 10;

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

/// The block files of one directory.
#[derive(Default)]
struct BlockFiles {
    data: Vec<(BlockId, u64)>,
    /// The newest meta file of each block, in the order of the blocks.
    meta: Vec<(BlockId, GenerationStamp)>,
}

impl BlockFiles {
    /// The generation stamp of a block's meta file.
    fn stamp_of(&self, id: BlockId) -> Option<GenerationStamp> {
        let at = self.meta.binary_search_by_key(&id, |(known, _)| *known).ok()?;
        self.meta.get(at).map(|(_, stamp)| *stamp)
    }

    /// Of several meta files of one block the newest counts.
    fn sort(&mut self) {
        self.meta.sort_unstable_by_key(|(id, stamp)| (*id, Reverse(*stamp)));
        self.meta.dedup_by_key(|(id, _)| *id);
    }

    /// Pairs data with meta files; a data file without one has stamp 0, as Apache reports it.
    fn replicas(&self, place: Place) -> impl Iterator<Item = StoredReplica> {
        self.data.iter().map(move |(id, len)| {
            let found = self.stamp_of(*id);
            let block =
                Block { id: *id, stamp: found.unwrap_or(GenerationStamp::GRANDFATHER), len: *len };
            StoredReplica { block, place, meta_len: found.map_or(0, |_| usual_meta_len(*len)) }
        })
    }
}

/// The length of a meta file whose checksums are of the default kind. It only counts as used space: asking the
/// disk for each one's length would double the time of a start.
fn usual_meta_len(data_len: u64) -> u64 {
    meta_header::file_len(DataChecksum::default(), data_len)
}

/// Lists a pool's directories.
struct Lister<'a> {
    pool: &'a Pool,
    /// Called whenever the disk has answered for a directory.
    progress: &'a (dyn Fn() + Sync),
}

impl Pool {
    /// Lists all replicas; those in `rbw` are cut to their good length. A directory that cannot be
    /// read is an error of the volume.
    pub fn scan(&self) -> Result<Scan> {
        self.scan_with(&|| ())
    }

    /// As [`scan`](Self::scan); `progress` is called by the threads that list, whenever the disk has answered.
    pub fn scan_with(&self, progress: &(dyn Fn() + Sync)) -> Result<Scan> {
        self.finalize_lazy_persisted()?;
        progress();
        let (rbw, _) = read_directory(&self.directory(BlockId(0), Place::Rbw))?;
        let mut open: Vec<_> = rbw.replicas(Place::Rbw).collect();
        let mut finalized = Lister { pool: self, progress }.list_finalized()?;
        self.complete_moves(&rbw, &mut finalized, &mut open)?;
        let mut unreadable = Vec::new();
        let recovered = open.into_iter().map(|found| {
            progress();
            self.recovered(found, &mut unreadable)
        });
        let rbw = recovered.collect::<Result<_>>()?;
        Ok(Scan { finalized, rbw, unreadable })
    }

    /// A replica's two files move one after the other; a process killed in between leaves them in
    /// different directories. The data follows the meta file.
    fn complete_moves(
        &self,
        rbw: &BlockFiles,
        finalized: &mut Vec<StoredReplica>,
        open: &mut Vec<StoredReplica>,
    ) -> Result<()> {
        let torn = |found: &StoredReplica| found.meta_len == 0;
        for found in finalized.iter_mut().filter(|found| torn(found)) {
            if let Some(stamp) = rbw.stamp_of(found.block.id) {
                self.follow(found, stamp, Place::Rbw)?;
                open.push(*found);
            }
        }
        finalized.retain(|found| found.place == Place::Finalized);
        for found in open.iter_mut().filter(|found| torn(found)) {
            let directory = self.directory(found.block.id, Place::Finalized);
            let Ok((files, _)) = read_directory(&directory) else { continue };
            if let Some(stamp) = files.stamp_of(found.block.id) {
                self.follow(found, stamp, Place::Finalized)?;
                finalized.push(*found);
            }
        }
        open.retain(|found| found.place == Place::Rbw);
        Ok(())
    }

    fn follow(
        &self,
        found: &mut StoredReplica,
        stamp: GenerationStamp,
        place: Place,
    ) -> Result<()> {
        let from = self.data_path(found.block.id, found.place);
        let to = self.data_path(found.block.id, place);
        let block = Block { stamp, ..found.block };
        if !to.exists() {
            tracing::info!("replica {block}: completed its move to {}", to.display());
            let moved = fs::rename(&from, &to);
            moved.map_err(|e| Error::io(format!("replica {block}"), "move", &from, e))?;
            *found = StoredReplica { block, place, meta_len: usual_meta_len(block.len) };
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

impl Lister<'_> {
    /// Several threads take the directories of the second level in turn: the time goes into system calls, and a
    /// disk answers several at once.
    fn list_finalized(&self) -> Result<Vec<StoredReplica>> {
        let mut directories = Vec::new();
        for first in self.read(self.pool.finalized())?.1 {
            directories.extend(self.without_strays(&first)?);
        }
        let next = AtomicUsize::new(0);
        let list_in_turn = || -> Result<Vec<StoredReplica>> {
            let mut found = Vec::new();
            while let Some(directory) = directories.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.list(directory, &mut found)?;
            }
            Ok(found)
        };
        let threads = thread::available_parallelism().map_or(1, usize::from).max(THREADS_MIN);
        thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(list_in_turn)).collect();
            let mut all = Vec::new();
            for one in running {
                all.extend(one.join().unwrap_or_else(|died| std::panic::resume_unwind(died))?);
            }
            Ok(all)
        })
    }

    /// Adds the replicas of a directory of the second level.
    fn list(&self, directory: &Path, found: &mut Vec<StoredReplica>) -> Result<()> {
        let (files, below) = self.read(directory)?;
        let numbers = DirectoryNumbers::of_directory(directory);
        let belongs =
            |replica: &StoredReplica| numbers == Some(DirectoryNumbers::of_block(replica.block.id));
        found.extend(files.replicas(Place::Finalized).filter(belongs));
        let stray = files.replicas(Place::Finalized).find(|replica| !belongs(replica));
        warn_of_stray(directory, stray.as_ref());
        below.iter().try_for_each(|path| self.all_strays(path))
    }

    /// The directories below one that should have no block files.
    fn without_strays(&self, directory: &Path) -> Result<Vec<PathBuf>> {
        let (files, below) = self.read(directory)?;
        warn_of_stray(directory, files.replicas(Place::Finalized).next().as_ref());
        Ok(below)
    }

    fn all_strays(&self, directory: &Path) -> Result<()> {
        let below = self.without_strays(directory)?;
        below.iter().try_for_each(|path| self.all_strays(path))
    }

    fn read(&self, directory: &Path) -> Result<(BlockFiles, Vec<PathBuf>)> {
        let read = read_directory(directory);
        (self.progress)();
        read
    }
}

/// Blocks in a directory where no lookup would search for them are ignored.
fn warn_of_stray(directory: &Path, stray: Option<&StoredReplica>) {
    if let Some(stray) = stray {
        tracing::warn!(
            "ignored blocks in {}: {} belongs elsewhere",
            directory.display(),
            stray.block
        );
    }
}

/// The block files of a directory, and the directories in it. No memory is allocated for a single file: a
/// DataNode may have millions.
fn read_directory(path: &Path) -> Result<(BlockFiles, Vec<PathBuf>)> {
    let failed = |e: Errno| Error::io("volume", "list", path, e);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(path, flags, Mode::empty()).map_err(failed)?;
    let (mut files, mut below, mut unlinked) = (BlockFiles::default(), Vec::new(), Vec::new());
    let mut buffer = Vec::with_capacity(DIRECTORY_BUFFER_LEN);
    let mut entries = RawDir::new(&directory, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let stat = || statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed);
        let kind = match entry.file_type() {
            FileType::Unknown => FileType::from_raw_mode(stat()?.st_mode),
            known => known,
        };
        let Ok(name) = name.to_str() else { continue };
        if kind == FileType::Directory {
            if !matches!(name, "." | "..") {
                below.push(path.join(name));
            }
            continue;
        }
        match parse_name(name) {
            Some(BlockFile::Data(id)) => files.data.push((id, stat()?.st_size as u64)),
            Some(BlockFile::Meta(id, stamp)) => files.meta.push((id, stamp)),
            Some(BlockFile::Unlinked(id)) => unlinked.push((id, path.join(name))),
            None => {}
        }
    }
    // Not before: the directory is being read.
    unlinked.iter().try_for_each(|(id, path)| restore_unlinked(path, *id, &mut files))?;
    files.sort();
    Ok((files, below))
}

/// A copy made to break a hard link becomes the original if that is gone, and is deleted otherwise.
fn restore_unlinked(path: &Path, id: BlockId, files: &mut BlockFiles) -> Result<()> {
    let io = |e: std::io::Error| Error::io("volume", "restore", path, e);
    let original = path.with_extension("");
    if original.exists() {
        return fs::remove_file(path).map_err(io);
    }
    fs::rename(path, &original).map_err(io)?;
    files.data.push((id, fs::metadata(&original).map_err(io)?.len()));
    Ok(())
}
