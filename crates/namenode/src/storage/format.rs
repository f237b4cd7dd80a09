//! Making new directories.

use super::NameStorage;
use super::StorageConfig;
use super::error::StorageError;
use super::open::{configured, open_dir};
use super::version::StorageInfo;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zerohop_daemon::storage::DirectoryLock;
use zerohop_journal::image::ImageWriter;

/// How to format.
#[derive(Clone, Debug, Default)]
pub struct FormatOptions {
    /// The cluster's id; a fresh one if none.
    pub cluster_id: Option<String>,
    /// Whether directories that hold data are emptied.
    pub force: bool,
}

impl NameStorage {
    /// The configured directories that hold anything, for a question before formatting.
    pub fn dirs_with_data(config: &StorageConfig) -> Vec<PathBuf> {
        let dirs = configured(config).into_iter().map(|(root, ..)| root);
        dirs.filter(|root| holds_data(root)).collect()
    }

    /// Makes every directory anew: ids, VERSION, seen_txid, and the image that `write_image` writes,
    /// which is to be that of an empty namespace at transaction 0.
    pub fn format(
        config: StorageConfig,
        options: FormatOptions,
        write_image: impl FnOnce(&StorageInfo, &mut ImageWriter<'_>) -> std::io::Result<()>,
    ) -> Result<StorageInfo, StorageError> {
        for (root, ..) in configured(&config) {
            // A directory that cannot be looked into must not count as one that may be emptied.
            if let Err(e) = std::fs::read_dir(&root)
                && e.kind() != std::io::ErrorKind::NotFound
            {
                return Err(StorageError::io("read", root)(e));
            }
        }
        if let Some(path) = Self::dirs_with_data(&config).into_iter().next()
            && !options.force
        {
            return Err(StorageError::HoldsData { path });
        }
        let info = StorageInfo::generate(options.cluster_id);
        let mut dirs = Vec::new();
        for (root, images, edits) in configured(&config) {
            clear(&root, config.dir_mode)?;
            dirs.push(Arc::new(open_dir(root, images, edits)?.0));
        }
        let storage = Self { config, info: info.clone(), dirs, saving: Arc::default() };
        storage.save_image(0, |image| write_image(&info, image))?;
        for dir in &storage.dirs {
            dir.write_seen_txid(0)?;
            tracing::info!(
                "storage directory {} has been successfully formatted",
                dir.root().display()
            );
        }
        Ok(info)
    }
}

fn holds_data(root: &Path) -> bool {
    match std::fs::read_dir(root) {
        Ok(mut entries) => entries.next().is_some(),
        Err(e) => e.kind() != std::io::ErrorKind::NotFound,
    }
}

/// Leaves only an empty `current`; what Hadoop does not know stays.
fn clear(root: &Path, mode: u32) -> Result<(), StorageError> {
    let current = root.join("current");
    if root.is_dir() {
        // Not under the feet of a running NameNode.
        let _lock = DirectoryLock::acquire(root)?;
        for name in ["current", "previous", "previous.tmp", "removed.tmp", "finalized.tmp"] {
            let path = root.join(name);
            match std::fs::remove_dir_all(&path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(StorageError::io("remove", path)(e));
                }
                _ => {}
            }
        }
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(mode);
    builder.create(&current).map_err(StorageError::io("create", current))
}
