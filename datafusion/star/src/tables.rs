//! The same tables in HDFS and on the local disk, and their way out of the page cache.

use crate::args::BASE_DIRECTORY;
use crate::failure::Result;
use crate::generate::{TableFile, generate};
use std::fs::File;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use zerohop::blocking::FileSystem;
use zerohop::{Conf, CreateOptions};
use zerohop_bench::dfsio::matrix::{CacheDropper, find};
use zerohop_bench::directories::{data_directories, own_home};

/// Bytes that are copied at a time.
const BUFFER_LEN: usize = 1 << 20;

/// The tables; they are deleted in both places when dropped.
pub struct Tables {
    /// Bytes of all files.
    pub bytes: u64,
    /// The directories of the tables on the local disk are in this one.
    directory: TempDir,
    fs: FileSystem,
    in_hdfs: CacheDropper,
    on_disk: CacheDropper,
}

impl Tables {
    /// Makes the tables with a fact table of `facts` rows; `directory` is where the local ones are.
    pub fn make(facts: u64, fs: FileSystem, conf: &Conf, directory: Option<&Path>) -> Result<Self> {
        let home = own_home();
        let place = directory.map(PathBuf::from).or_else(|| home.clone());
        let place = place.unwrap_or_else(std::env::temp_dir);
        let directory = tempfile::Builder::new().prefix("zerohop-star-").tempdir_in(&place);
        let directory = directory.map_err(|error| {
            format!("{}: {error}; name another directory by --directory", place.display())
        })?;
        let files = generate(directory.path(), facts)?;
        let mut bytes = 0;
        let mut paths = Vec::new();
        for file in &files {
            let name = file.local.file_name().ok_or("a file without a name")?.to_string_lossy();
            let path = format!("{BASE_DIRECTORY}/{}/{name}", file.table);
            bytes += copy(file, &fs, &path)?;
            paths.push(path);
        }
        let blocks = find(&fs, &paths, &data_directories(conf, home.as_deref()))?;
        let in_hdfs = CacheDropper::choose(blocks.iter().flat_map(|file| file.all()).collect());
        let on_disk = CacheDropper::Files(files.into_iter().map(|file| file.local).collect());
        in_hdfs.settle()?;
        on_disk.settle()?;
        Ok(Self { bytes, directory, fs, in_hdfs, on_disk })
    }

    /// The URL of a table on the local disk.
    pub fn local_url(&self, table: &str) -> String {
        format!("file://{}/{table}/", self.directory.path().display())
    }

    /// The URL of a table in HDFS.
    pub fn hdfs_url(&self, table: &str) -> String {
        format!("{}{BASE_DIRECTORY}/{table}/", self.fs.uri())
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

fn copy(file: &TableFile, fs: &FileSystem, path: &str) -> Result<u64> {
    let reader = File::open(&file.local)?;
    let mut reader = std::io::BufReader::with_capacity(BUFFER_LEN, reader);
    let mut writer = fs.create(path, CreateOptions::overwriting())?;
    let copied = std::io::copy(&mut reader, &mut writer)?;
    writer.close()?;
    Ok(copied)
}
