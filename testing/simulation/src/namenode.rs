//! The NameNode's own start: its directories are opened, and the namespace is loaded from them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use zerohop_journal::image::ImageReader;
use zerohop_journal::op::Record;
use zerohop_namenode::storage::{
    FormatOptions, NameStorage, Replay, ReplayError, StorageConfig, StorageError,
};
use zerohop_namespace::blocks::{BlockManager, BlockParams, Now};
use zerohop_namespace::{ImageInfo, Namespace, NamespaceParams, OpContext};
use zerohop_wire::{CallerIdentity, RpcIds, TxId};

/// Begin of time, ms since the epoch.
pub const WALL_MS: u64 = 1_700_000_000_000;

/// A NameNode that has loaded its directories and not begun to serve.
pub struct Loaded {
    /// The namespace.
    pub namespace: Namespace,
    /// Its directories, locked.
    pub storage: Arc<NameStorage>,
    /// The last transaction in them.
    pub last: i64,
}

/// The superuser.
pub fn root() -> OpContext {
    OpContext {
        identity: CallerIdentity::simple("root", None),
        groups: ["root".to_owned()].into(),
        superuser: true,
        now: Now { wall_ms: WALL_MS, mono_ms: 1_000_000 },
        client_host: "127.0.0.1".into(),
        client_rack: None,
        rpc: RpcIds::new(&[7; 16], 42),
    }
}

/// A namespace without files.
pub fn empty() -> Namespace {
    let params = NamespaceParams { superuser: "root".into(), ..NamespaceParams::default() };
    let blocks =
        BlockParams { replication_min: 1, safemode_extension_ms: 0, ..BlockParams::default() };
    Namespace::new(params, BlockManager::new(blocks))
}

/// Which directories below one there are, and how much is kept in them.
#[derive(Clone, Debug)]
pub struct Layout {
    images: Vec<&'static str>,
    edits: Vec<&'static str>,
    checkpoints_retained: usize,
    extra_edits_retained: i64,
}

impl Layout {
    /// One, two or three directories.
    pub fn any(rng: &mut fastrand::Rng) -> Self {
        let (images, edits) = match rng.u8(0..6) {
            0..3 => (vec!["name"], vec!["name"]),
            3 | 4 => (vec!["name", "copy"], vec!["name", "copy"]),
            _ => (vec!["name", "copy"], vec!["edits", "copy"]),
        };
        let (checkpoints_retained, extra_edits_retained) = (rng.usize(1..3), rng.i64(0..40));
        Self { images, edits, checkpoints_retained, extra_edits_retained }
    }

    /// A directory of edits.
    pub fn any_edits_dir(&self, rng: &mut fastrand::Rng) -> &'static str {
        self.edits[rng.usize(0..self.edits.len())]
    }

    /// How many copies of the edits there are.
    pub fn copies(&self) -> usize {
        self.edits.len()
    }

    fn config(&self, root: &Path) -> StorageConfig {
        let below = |names: &[&str]| names.iter().map(|name| root.join(name)).collect();
        let mut config = StorageConfig::new(below(&self.images));
        config.edits_dirs = below(&self.edits);
        config.checkpoints_retained = self.checkpoints_retained;
        config.extra_edits_retained = self.extra_edits_retained;
        config
    }

    /// Makes the directories.
    ///
    /// # Errors
    /// Those of the real formatting.
    pub fn format(&self, root: &Path) -> Result<(), StorageError> {
        NameStorage::format(self.config(root), FormatOptions::default(), |info, image| {
            let info = ImageInfo { namespace_id: info.namespace_id as u32, txid: TxId(0) };
            empty().save_image(image, info)
        })
        .map(drop)
    }

    /// Opens and loads.
    ///
    /// # Errors
    /// Those of the real start.
    pub fn load(&self, root: &Path) -> Result<Loaded, StorageError> {
        let storage = NameStorage::open(self.config(root))?;
        let mut loader = Loader(empty());
        let report = storage.load(&mut loader)?;
        Ok(Loaded { namespace: loader.0, storage: Arc::new(storage), last: report.last_txid })
    }
}

/// The namespace after a transaction, from the directories of a NameNode that serves.
///
/// # Errors
/// If they do not reach as far.
pub fn load_until(storage: &NameStorage, txid: i64) -> Result<Namespace, StorageError> {
    let mut loader = Loader(empty());
    storage.load_until(txid, &mut loader)?;
    Ok(loader.0)
}

/// The command that an error names, if it names one: cut this file to this length.
pub fn advice(error: &str) -> Option<(PathBuf, u64)> {
    let (_, command) = error.split_once("truncate -s ")?;
    let (len, rest) = command.split_once(' ')?;
    let path = rest.split(',').next()?;
    Some((path.into(), len.parse().ok()?))
}

struct Loader(Namespace);

impl Replay for Loader {
    fn image(&mut self, image: &ImageReader) -> Result<(), ReplayError> {
        self.0.load_image(image, WALL_MS)?;
        Ok(())
    }

    fn edit(&mut self, record: Record) -> Result<(), ReplayError> {
        self.0.apply(record.txid, &record.op)?;
        Ok(())
    }
}
