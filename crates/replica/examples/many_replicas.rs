//! Makes a volume of many replicas of one byte, and measures how long it takes to list them.
//!
//! `cargo run --profile fast -p zerohop-replica --example many_replicas -- DIRECTORY COUNT [NAME_DIRECTORY]`
//!
//! The block ids are those of the NameNode's example `big_image`. With NAME_DIRECTORY the replicas belong to the
//! namespace of that name directory, so that a DataNode can be started on them.
#![allow(clippy::disallowed_methods, reason = "this measures")]
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;
use zerohop_replica::{Place, Pool, PoolVersion, Volume};
use zerohop_wire::{Block, BlockId, DataChecksum, GenerationStamp, meta_header};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(directory), Some(count)) = (words.next(), words.next()) else {
        return Err("DIRECTORY and COUNT are needed".into());
    };
    let (cluster_id, version) = match words.next() {
        Some(name_directory) => namespace_of(Path::new(&name_directory))?,
        None => {
            let pool_id = "BP-1-127.0.0.1-1".to_owned();
            ("CID-1".to_owned(), PoolVersion { pool_id, namespace_id: 7, ctime: 0 })
        }
    };
    let mut volume = Volume::open(Path::new(&directory))?;
    volume.claim(&cluster_id, "uuid-1")?;
    let pool = volume.open_pool(&version)?;
    let began = Instant::now();
    make(&pool, count.parse()?)?;
    println!("made after {} ms", began.elapsed().as_millis());
    let began = Instant::now();
    let found = pool.scan()?;
    println!("listed {} replicas in {} ms", found.finalized.len(), began.elapsed().as_millis());
    Ok(())
}

/// Cluster and block pool of a NameNode's directory.
fn namespace_of(name_directory: &Path) -> Result<(String, PoolVersion), Box<dyn Error>> {
    let text = fs::read_to_string(name_directory.join("current/VERSION"))?;
    let get = |key: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        value.ok_or_else(|| format!("VERSION lacks {key}"))
    };
    let version = PoolVersion {
        pool_id: get("blockpoolID")?.to_owned(),
        namespace_id: get("namespaceID")?.parse()?,
        ctime: get("cTime")?.parse()?,
    };
    Ok((get("clusterID")?.to_owned(), version))
}

/// Replicas of one byte, as the NameNode numbers them; those that are there stay.
fn make(pool: &Pool, count: i64) -> std::io::Result<()> {
    let header = meta_header::encode(DataChecksum::default());
    for id in (1 << 30)..(1 << 30) + count {
        let block = Block { id: BlockId(id), stamp: GenerationStamp(1001), len: 1 };
        let data = pool.data_path(block.id, Place::Finalized);
        if id % 256 == 0 || id == 1 << 30 {
            fs::create_dir_all(pool.directory(block.id, Place::Finalized))?;
            if data.exists() {
                return Ok(());
            }
        }
        fs::write(data, "x")?;
        fs::write(pool.meta_path(&block, Place::Finalized), [&header[..], &[0; 4]].concat())?;
    }
    Ok(())
}
