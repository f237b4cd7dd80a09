//! The same tables in HDFS and on the local disk, and their way out of the page cache.

use crate::args::{Args, BASE_DIRECTORY};
use crate::failure::Result;
use crate::generate::{TableFile, find_tables, generate};
use crate::source::Source;
use crate::two_machines::far_datanode;
use std::fs::File;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use zerohop::blocking::FileSystem;
use zerohop::{Conf, CreateOptions};
use zerohop_bench::dfsio::matrix::{CacheDropper, find};
use zerohop_bench::directories::{data_directories, own_home};

/// Bytes that are copied at a time.
const BUFFER_LEN: usize = 1 << 20;

/// The tables. They are deleted when dropped, in HDFS and, unless they were there before, on the local disk.
pub struct Tables {
    /// Bytes of all files.
    pub bytes: u64,
    /// The directories of the tables on the local disk are in this one.
    directory: Directory,
    /// Whether HDFS has them twice, on this machine's DataNode and on the far one.
    are_far_too: bool,
    fs: FileSystem,
    in_hdfs: CacheDropper,
    on_disk: CacheDropper,
}

enum Directory {
    Made(TempDir),
    Given(PathBuf),
}

impl Directory {
    fn path(&self) -> &Path {
        match self {
            Self::Made(directory) => directory.path(),
            Self::Given(directory) => directory,
        }
    }
}

impl Tables {
    /// Makes the tables, or takes those that `args` name, and copies them to HDFS.
    pub fn make(args: &Args, fs: FileSystem, conf: &Conf) -> Result<Self> {
        let home = own_home();
        let (directory, files) = match &args.tables {
            Some(given) => {
                let given =
                    given.canonicalize().map_err(|e| format!("{}: {e}", given.display()))?;
                let files = find_tables(&given)?;
                (Directory::Given(given), files)
            }
            None => {
                let place = args.directory.clone().or_else(|| home.clone());
                let place = place.unwrap_or_else(std::env::temp_dir);
                let made = tempfile::Builder::new().prefix("zerohop-star-").tempdir_in(&place);
                let made = made.map_err(|error| {
                    format!("{}: {error}; name another directory by --directory", place.display())
                })?;
                let files = generate(made.path(), args.facts)?;
                (Directory::Made(made), files)
            }
        };
        let are_far_too = args.far.is_some();
        let (mut bytes, mut paths) = (0, Vec::new());
        for is_far in [false, true] {
            if is_far && !are_far_too {
                continue;
            }
            bytes = 0;
            for file in &files {
                let name = file.local.file_name().ok_or("a file without a name")?.to_string_lossy();
                let path = format!("{}/{}/{name}", base(is_far), file.table);
                bytes += copy(file, &fs, &path, create_options(is_far))?;
                paths.push(path);
            }
        }
        let blocks = find(&fs, &paths, &data_directories(conf, home.as_deref()))?;
        let in_hdfs = CacheDropper::choose(blocks.iter().flat_map(|file| file.all()).collect());
        let on_disk = CacheDropper::Files(files.into_iter().map(|file| file.local).collect());
        in_hdfs.settle()?;
        on_disk.settle()?;
        Ok(Self { bytes, directory, are_far_too, fs, in_hdfs, on_disk })
    }

    /// The URL of a table for a source.
    pub fn url(&self, source: Source, table: &str) -> String {
        match source {
            Source::Files => format!("file://{}/{table}/", self.directory.path().display()),
            Source::LocalReads => format!("{}{}/{table}/", self.fs.uri(), base(false)),
            Source::Tcp => format!("{}{}/{table}/", self.fs.uri(), base(self.are_far_too)),
        }
    }

    /// How the files in HDFS leave the page cache, for people.
    pub fn how_dropped(&self) -> String {
        match &self.in_hdfs {
            CacheDropper::Files(_) => "by posix_fadvise(2) on block and meta files".to_owned(),
            CacheDropper::Machine => "with the whole machine's".to_owned(),
            CacheDropper::Impossible(why) => format!("not: {why}"),
        }
    }

    /// Drops all files from the page cache, in both places.
    pub fn drop_from_page_cache(&self) -> Result<()> {
        self.on_disk.drop_cluster()?;
        Ok(self.in_hdfs.drop_cluster()?)
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        if let Err(error) = self.fs.delete(BASE_DIRECTORY, true) {
            eprintln!("{BASE_DIRECTORY} was not deleted: {error}");
        }
    }
}

/// The directory of the tables on this machine's DataNode, or on the far one.
fn base(is_far: bool) -> String {
    format!("{BASE_DIRECTORY}/{}", if is_far { "far" } else { "near" })
}

/// How a file is made whose replica is to be on this machine's DataNode, or on the far one.
pub fn create_options(is_far: bool) -> CreateOptions {
    let favored = if is_far { vec![far_datanode()] } else { Vec::new() };
    CreateOptions::overwriting().favored_nodes(favored)
}

fn copy(file: &TableFile, fs: &FileSystem, path: &str, options: CreateOptions) -> Result<u64> {
    let reader = File::open(&file.local)?;
    let mut reader = std::io::BufReader::with_capacity(BUFFER_LEN, reader);
    let mut writer = fs.create(path, options)?;
    let copied = std::io::copy(&mut reader, &mut writer)?;
    writer.close()?;
    Ok(copied)
}
