//! Where the DataNode of this machine keeps the blocks of a file.

use crate::files::Failure;
use std::path::PathBuf;
use zerohop_client::blocking::FileSystem;
use zerohop_replica::{block_directory, block_file_name, meta_file_name};

/// The block files of one file.
#[derive(Clone, Debug, Default)]
pub struct FileBlocks(Vec<(u64, PathBuf, PathBuf)>);

impl FileBlocks {
    /// Offsets and block files, in order.
    pub fn blocks(&self) -> Vec<(u64, PathBuf)> {
        self.0.iter().map(|(offset, data, _)| (*offset, data.clone())).collect()
    }

    /// Block files and meta files.
    pub fn all(&self) -> Vec<PathBuf> {
        self.0.iter().flat_map(|(_, data, meta)| [data.clone(), meta.clone()]).collect()
    }
}

/// Looks each block up in `directories`, the DataNode's; all files or none.
pub fn find(
    fs: &FileSystem,
    paths: &[String],
    directories: &[PathBuf],
) -> Result<Vec<FileBlocks>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        let mut blocks = Vec::new();
        for located in &fs.block_locations(path, 0, i64::MAX as u64)?.blocks {
            let (pool, block) = (&located.block.pool, &located.block.block);
            let found = directories.iter().find_map(|directory| {
                let finalized = directory.join(format!("current/{pool}/current/finalized"));
                let within = block_directory(&finalized, block.id);
                let data = within.join(block_file_name(block.id));
                let meta = within.join(meta_file_name(block));
                (data.exists() && meta.exists()).then_some((data, meta))
            });
            let Some((data, meta)) = found else {
                return Ok(Vec::new());
            };
            blocks.push((located.offset, data, meta));
        }
        files.push(FileBlocks(blocks));
    }
    Ok(files)
}
