//! Makes a volume of many tiny replicas, and measures how long a DataNode takes to list them at its start.
//!
//! `cargo run --release -p zerohop-replica --example many_replicas -- DIRECTORY COUNT`

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
    let mut volume = Volume::open(Path::new(&directory))?;
    volume.claim("CID-1", "uuid-1")?;
    let version = PoolVersion { pool_id: "BP-1-127.0.0.1-1".into(), namespace_id: 7, ctime: 0 };
    let pool = volume.open_pool(&version)?;
    let began = Instant::now();
    make(&pool, count.parse()?)?;
    println!("made after {} ms", began.elapsed().as_millis());
    let began = Instant::now();
    let found = pool.scan()?;
    println!("listed {} replicas in {} ms", found.finalized.len(), began.elapsed().as_millis());
    Ok(())
}

/// Replicas of one byte, as the NameNode numbers them; those that are there stay.
fn make(pool: &Pool, count: i64) -> std::io::Result<()> {
    let header = meta_header::encode(DataChecksum::default());
    for id in (1 << 30)..(1 << 30) + count {
        let block = Block { id: BlockId(id), stamp: GenerationStamp(1001), len: 1 };
        let data = pool.data_path(block.id, Place::Finalized);
        if id % 256 == 0 || id == 1 << 30 {
            fs::create_dir_all(pool.folder(block.id, Place::Finalized))?;
            if data.exists() {
                return Ok(());
            }
        }
        fs::write(data, "x")?;
        fs::write(pool.meta_path(&block, Place::Finalized), [&header[..], &[0; 4]].concat())?;
    }
    Ok(())
}
