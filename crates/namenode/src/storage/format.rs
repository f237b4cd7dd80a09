//! Making new directories.

use super::NameStorage;
use super::StorageConfig;
use super::edit_log::EditLogMetrics;
use super::error::StorageError;
use super::open::{configured, open_dir};
use super::shared_edits::SharedEdits;
use super::version::StorageInfo;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zerohop_daemon::storage::DirectoryLock;
use zerohop_journal::image::ImageWriter;
use zerohop_journal::log::{EditSource, Journal};

/// How to format.
#[derive(Clone, Debug, Default)]
pub struct FormatOptions {
    /// The cluster's id; a fresh one if none.
    pub cluster_id: Option<String>,
    /// Whether directories that hold data are emptied.
    pub force: bool,
}

/// What formatting would destroy.
impl StorageConfig {
    /// The configured directories that hold anything, for a question before formatting.
    pub fn dirs_with_data(&self) -> Vec<PathBuf> {
        let dirs = configured(self).into_iter().map(|(root, ..)| root);
        dirs.filter(|root| holds_data(root)).collect()
    }

    /// The configured directories with anything in `current`.
    pub fn occupied_dirs(&self) -> Vec<PathBuf> {
        let dirs = configured(self).into_iter().map(|(root, ..)| root);
        let has_entries = |root: &PathBuf| {
            std::fs::read_dir(root.join("current")).is_ok_and(|mut it| it.next().is_some())
        };
        dirs.filter(has_entries).collect()
    }

    /// The shared journal if it holds anything, for a question before formatting.
    ///
    /// # Errors
    /// If one of its JournalNodes does not answer: it would stay without the journal.
    pub fn shared_edits_with_data(&self) -> Result<Option<String>, StorageError> {
        let Some(shared) = &self.shared_edits else { return Ok(None) };
        let shared = SharedEdits::open(shared, &StorageInfo::generate(None))?;
        Ok(shared.has_data()?.then(|| shared.name()))
    }
}

impl NameStorage {
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
        if let Some(path) = config.dirs_with_data().into_iter().next()
            && !options.force
        {
            return Err(StorageError::HoldsData { path });
        }
        if let Some(name) = config.shared_edits_with_data()?.filter(|_| !options.force) {
            return Err(StorageError::HoldsData { path: name.into() });
        }
        let info = StorageInfo::generate(options.cluster_id);
        // Before the directories: if a JournalNode refuses, they must not be changed.
        if let Some(shared) = &config.shared_edits {
            let shared = SharedEdits::open(shared, &info)?;
            shared.format()?;
            tracing::info!("{} has been successfully formatted", shared.name());
        }
        let storage = Self::create(config, info)?;
        let info = storage.info.clone();
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

    /// Empties the directories and opens them, with these ids. There is no image in them yet.
    ///
    /// # Errors
    /// If one of them cannot be emptied, or is in use.
    pub fn create(config: StorageConfig, info: StorageInfo) -> Result<Self, StorageError> {
        let mut dirs = Vec::new();
        for (root, images, edits) in configured(&config) {
            clear(&root, config.dir_mode)?;
            dirs.push(Arc::new(open_dir(root, images, edits)?.0));
        }
        let shared = config.shared_edits.as_ref();
        let shared = shared.map(|config| SharedEdits::open(config, &info)).transpose()?;
        let log_metrics = Arc::new(EditLogMetrics::new(&config.percentile_intervals));
        Ok(Self { config, info, dirs, saving: Arc::default(), shared, log_metrics })
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
