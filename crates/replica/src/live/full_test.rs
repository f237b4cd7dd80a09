//! A volume that is full in the middle of a write.

use super::*;
use crate::{PoolVersion, Volume};
use std::os::unix::fs::FileExt;
use zerohop_wire::{BlockId, GenerationStamp, meta_header};

fn pool() -> (tempfile::TempDir, Volume, Pool) {
    let directory = tempfile::tempdir().unwrap();
    let mut volume = Volume::open(directory.path()).unwrap();
    volume.claim("CID-1", "uuid-1").unwrap();
    let pool_id = "BP-1-127.0.0.1-2".to_owned();
    let pool = volume.open_pool(&PoolVersion { pool_id, namespace_id: 7, ctime: 2 }).unwrap();
    (directory, volume, pool)
}

/// Sends the bytes from `from` on; as clients do, from the start of its chunk on.
fn put(live: &LiveReplica, from: u64, len: usize, extent: FlushExtent) -> u64 {
    let offset = live.files.checksum.chunk_start(from);
    let data: Vec<u8> = (offset..from + len as u64).map(|at| (at % 251) as u8).collect();
    live.write_run(&[Packet { offset, data: &data, sums: &[] }], extent).unwrap()
}

/// Takes another packet behind all that was received, writes the first `share` of its data and sums,
/// and is out of space.
fn write_a_part(live: &LiveReplica, written: u64, share: f64) -> Error {
    let part = |bytes: &[u8]| bytes[..(bytes.len() as f64 * share) as usize].to_vec();
    let mut state = live.lock();
    let offset = live.files.checksum.chunk_start(state.block.len);
    let packet = Packet { offset, data: &[7; 3000], sums: &[] };
    let new = state.take(live.files.checksum, &packet).unwrap().unwrap();
    live.files.data.write_all_at(&part(&[&state.buffer[..], new].concat()), written).unwrap();
    let chunk_start = state.sums_from * live.files.checksum.bytes_per_checksum() as u64;
    let at = meta_header::sum_offset(live.files.checksum, chunk_start);
    live.files.meta.write_all_at(&part(&state.sums), at).unwrap();
    live.files.write_failed(&mut state, written, rustix::io::Errno::NOSPC.into())
}

/// One write on a full disk made what was acknowledged unreadable, and its block could not be recovered.
#[test]
fn a_full_volume_takes_nothing_from_what_was_written_before() {
    let (_directory, _volume, pool) = pool();
    let unit = WRITE_UNIT as usize;
    for (id, len) in (1..).zip([0, 512, 1000, unit, unit + 100]) {
        for share in [0.0, 0.5, 1.0] {
            let block = Block { id: BlockId(id), stamp: GenerationStamp(1001), len: 0 };
            let live = pool.create(block, Place::Rbw, DataChecksum::default()).unwrap();
            put(&live, 0, len, FlushExtent::All);
            live.set_acked(len as u64);
            // It waits in memory, where no reader was told of it.
            let written = put(&live, len as u64, 700, FlushExtent::Units);
            assert_eq!(written, len as u64);
            let error = write_a_part(&live, written, share);
            assert_eq!(error.kind(), ErrorKind::Full);
            assert_eq!((live.received(), live.acked()), (written, written));
            live.open().unwrap().verify().unwrap();
            // There is room again.
            put(&live, written, 2000, FlushExtent::Units);
            live.truncate(written).unwrap();
            live.restamp(GenerationStamp(1002)).unwrap();
            let stored = live.finalize(Durability::PageCache).unwrap();
            assert_eq!(stored.block.len, written);
            pool.open(&stored.block, stored.place).unwrap().verify().unwrap();
            pool.delete(&stored.block, stored.place).unwrap();
        }
    }
}

#[test]
fn after_another_failure_nothing_is_trusted() {
    let (_directory, _volume, pool) = pool();
    let block = Block { id: BlockId(1), stamp: GenerationStamp(1001), len: 0 };
    let live = pool.create(block, Place::Rbw, DataChecksum::default()).unwrap();
    put(&live, 0, 1000, FlushExtent::All);
    let error = live.files.write_failed(&mut live.lock(), 1000, rustix::io::Errno::IO.into());
    assert_eq!(error.kind(), ErrorKind::Io);
    assert_eq!(live.open().unwrap_err().kind(), ErrorKind::Poisoned);
}
