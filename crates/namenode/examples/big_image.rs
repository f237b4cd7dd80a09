//! A namespace of many one-block files as a NameNode's directory, and how long it takes to load it.
//!
//! `cargo run --profile fast -p zerohop-namenode --example big_image DIR FILES [THREADS [BLOCK_LEN]]` formats DIR, which must exist, and writes an image of so many
//! files, 1000 a directory. Without FILES it loads the image that is there, prints how long that took and the resident
//! memory, and saves it again.
#![allow(clippy::disallowed_methods, reason = "this measures")]
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use std::time::Instant;
use zerohop_journal::image::{ImageFormat, ImageReader};
use zerohop_journal::op::{self, EditOp, Record};
use zerohop_journal::types::PermissionStatus;
use zerohop_namenode::storage::{FormatOptions, NameStorage, Replay, ReplayError, StorageConfig};
use zerohop_namespace::blocks::{BlockManager, BlockParams};
use zerohop_namespace::{ImageInfo, Namespace, NamespaceParams};
use zerohop_wire::{Block, BlockId, GenerationStamp, InodeId, TxId};

const FILES_PER_DIRECTORY: u64 = 1000;

fn empty() -> Namespace {
    Namespace::new(NamespaceParams::default(), BlockManager::new(BlockParams::default()))
}

struct Loaded(Namespace);

impl Replay for Loaded {
    fn image(&mut self, image: &ImageReader) -> Result<(), ReplayError> {
        self.0.load_image(image, 0)?;
        Ok(())
    }

    fn edit(&mut self, record: Record) -> Result<(), ReplayError> {
        self.0.apply(record.txid, &record.op)?;
        Ok(())
    }
}

/// A namespace as edits make it.
fn filled(files: u64, block_len: u64) -> Namespace {
    let (mut namespace, mut txid, mut inode) = (empty(), TxId(0), InodeId::ROOT.0);
    let mut apply = |op: EditOp| {
        txid.0 += 1;
        namespace.apply(txid, &op).expect("apply");
    };
    let permissions =
        PermissionStatus { user: "root".into(), group: "supergroup".into(), mode: 0o755 };
    for n in 0..files {
        if n % FILES_PER_DIRECTORY == 0 {
            inode += 1;
            apply(
                op::Mkdir {
                    inode_id: InodeId(inode),
                    path: format!("/d{:06}", n / FILES_PER_DIRECTORY),
                    permissions: permissions.clone(),
                    ..op::Mkdir::default()
                }
                .into(),
            );
        }
        inode += 1;
        let block = Block {
            id: BlockId((1 << 30) + n as i64),
            stamp: GenerationStamp(1001),
            len: block_len,
        };
        let path = format!("/d{:06}/part-{n:08}", n / FILES_PER_DIRECTORY);
        let add = op::Add {
            path: path.clone(),
            inode_id: InodeId(inode),
            replication: 3,
            block_size: 128 << 20,
            permissions: permissions.clone(),
            client_name: "client".to_owned(),
            ..op::Add::default()
        };
        apply(add.into());
        let close = op::Close {
            path,
            inode_id: InodeId(inode),
            replication: 3,
            block_size: 128 << 20,
            blocks: vec![block],
            permissions: permissions.clone(),
            ..op::Close::default()
        };
        apply(close.into());
    }
    namespace
}

fn resident_mb() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or(0) / 256
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let done = work();
    println!("{what}: {} ms, {} MiB resident", begun.elapsed().as_millis(), resident_mb());
    done
}

fn main() {
    let mut args = std::env::args().skip(1);
    let dir = args.next().expect("DIR [FILES [THREADS [BLOCK_LEN]]]");
    let files: u64 = args.next().and_then(|arg| arg.parse().ok()).unwrap_or(0);
    let threads = args.next().and_then(|arg| arg.parse().ok()).unwrap_or(2);
    let block_len = args.next().and_then(|arg| arg.parse().ok()).unwrap_or(1 << 20);
    let mut config = StorageConfig::new(vec![dir.into()]);
    config.image_format = ImageFormat { threads, ..ImageFormat::default() };
    if files > 0 {
        let namespace = timed("made", || filled(files, block_len));
        let options = FormatOptions { force: true, cluster_id: None };
        // Formatted with it, it is the image of a namespace without edits.
        NameStorage::format(config.clone(), options, |info, image| {
            let namespace_id = info.namespace_id as u32;
            namespace.save_image(image, ImageInfo { namespace_id, txid: TxId(0) })
        })
        .expect("format");
    }
    let storage = NameStorage::open(config).expect("open");
    let mut loaded = Loaded(empty());
    timed("loaded", || storage.load(&mut loaded)).expect("load");
    let info = ImageInfo { namespace_id: storage.info().namespace_id as u32, txid: TxId(1) };
    timed("saved", || storage.save_image(1, |image| loaded.0.save_image(image, info)))
        .expect("save");
    std::fs::remove_file(storage.dirs()[0].root().join("current/fsimage_0000000000000000001"))
        .expect("remove");
}
