//! The file that local reads are measured on.

use crate::dfsio::matrix::{FileBlocks, ReadMode, find};
use crate::files::Failure;
use std::path::PathBuf;
use zerohop_client::CreateOptions;
use zerohop_client::blocking::FileSystem;
use zerohop_conf::Conf;

/// Bytes of each sequential call.
pub(super) const BUFFER_LEN: usize = 1 << 20;

pub(super) const BLOCK_LEN: u64 = 128 << 20;

/// What to read, and how often.
#[derive(Clone)]
pub struct LocalReads {
    /// The client's configuration.
    pub conf: Conf,
    /// A directory on the cluster; the caller deletes it.
    pub directory: String,
    /// Bytes of the file.
    pub file_len: u64,
    /// For plain files; on the DataNode's disk.
    pub local_directory: PathBuf,
    /// The DataNode's directories, where its block files are opened for the raw calls.
    pub data_directories: Vec<PathBuf>,
    /// Rounds that count.
    pub runs: usize,
}

/// What is there to be read.
pub(super) struct Files {
    pub(super) work: LocalReads,
    pub(super) mapped: FileSystem,
    pub(super) path: String,
    /// Empty where they cannot be opened from here.
    pub(super) blocks: Vec<FileBlocks>,
}

impl Files {
    /// Writes it.
    pub(super) fn make(work: &LocalReads) -> Result<Self, Failure> {
        let mapped = FileSystem::connect(&ReadMode::LocalMapped.configure(&work.conf), None)?;
        let path = format!("{}/local", work.directory);
        let mut bytes = vec![0; BUFFER_LEN];
        fastrand::Rng::with_seed(7).fill(&mut bytes);
        let options = CreateOptions::overwriting().replication(1).block_size(BLOCK_LEN);
        let mut writer = mapped.create(&path, options)?;
        let mut left = work.file_len;
        while left > 0 {
            let take = left.min(BUFFER_LEN as u64);
            writer.write_data(&bytes[..take as usize])?;
            left -= take;
        }
        writer.close()?;
        let blocks = find(&mapped, std::slice::from_ref(&path), &work.data_directories)?;
        Ok(Self { work: work.clone(), mapped, path, blocks })
    }
}
