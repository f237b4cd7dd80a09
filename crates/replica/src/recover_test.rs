//! What a DataNode that was killed finds at its next start.

use crate::replica_test::{block, bytes, check, home, send};
use crate::*;
use std::fs;
use zerohop_checksum::Algorithm;
use zerohop_wire::{Block, BlockId, DataChecksum, GenerationStamp};

/// A packet's data was in the file and its checksums were not: the whole last chunk was cut off,
/// with up to 511 bytes that were acknowledged.
#[test]
fn a_kill_between_data_and_checksums_loses_no_acknowledged_byte() {
    for (acked, more) in [(700, 300), (700, 324), (700, 90_000), (1, 1), (511, 2), (1024, 5)] {
        for is_append in [false, true] {
            let home = home();
            let all = bytes(0, acked + more);
            let mut live = home.pool.create(block(1001), Place::Rbw, DataChecksum::default());
            send(live.as_ref().unwrap(), 0, &all[..acked]).unwrap();
            if is_append {
                let stored = live.unwrap().finalize(Durability::PageCache).unwrap();
                live = home.pool.append(stored.block, GenerationStamp(1002));
            }
            let known = live.map(|live| live.block()).unwrap();
            let data = home.pool.data_path(known.id, Place::Rbw);
            fs::write(&data, &all).unwrap();
            let found = home.pool.scan().unwrap().rbw;
            assert_eq!(found[0].block, Block { len: acked as u64, ..known });
            let live = home.pool.adopt(found[0].block, Place::Rbw).unwrap();
            check(&live.open().unwrap(), &all[..acked]);
        }
    }
}

/// A SIGKILL between two pages of a write left one byte of a chunk's new checksum before three of the old one. The
/// chunk was cut off, with the bytes of it that were acknowledged.
#[test]
fn a_checksum_half_written_across_two_pages_loses_no_acknowledged_byte() {
    // The header has 7 bytes, so that the checksum of chunk 1022 begins with the last byte of a page.
    let (chunk, acked, more) = (1022 * 512, 1022 * 512 + 200, 100);
    let home = home();
    let all = bytes(0, acked + more);
    let live = home.pool.create(block(1001), Place::Rbw, DataChecksum::default()).unwrap();
    send(&live, 0, &all[..acked]).unwrap();
    live.flush().unwrap();
    let known = live.block();
    let [data, meta] =
        [home.pool.data_path(known.id, Place::Rbw), home.pool.meta_path(&known, Place::Rbw)];
    drop(live);
    let mut torn = fs::read(&meta).unwrap();
    let new = Algorithm::Crc32c.update(0, &all[chunk..]).to_be_bytes();
    assert_eq!(torn.len(), 4096 + 3);
    assert_ne!(torn[4095], new[0]);
    torn[4095] = new[0];
    fs::write(&meta, torn).unwrap();
    fs::write(&data, &all).unwrap();
    let found = home.pool.scan().unwrap().rbw;
    assert_eq!(found[0].block.len, acked as u64);
    let live = home.pool.adopt(found[0].block, Place::Rbw).unwrap();
    check(&live.open().unwrap(), &all[..acked]);
}

/// The data was cut before its checksums: a kill in between lost what remained of the last chunk.
#[test]
fn a_kill_within_a_truncation_keeps_what_was_to_remain() {
    let home = home();
    let all = bytes(0, 5000);
    let live = home.pool.create(block(1001), Place::Rbw, DataChecksum::default()).unwrap();
    send(&live, 0, &all).unwrap();
    live.flush().unwrap();
    let known = live.block();
    let [data, meta] =
        [home.pool.data_path(known.id, Place::Rbw), home.pool.meta_path(&known, Place::Rbw)];
    let sums = fs::read(&meta).unwrap();
    live.truncate(700).unwrap();
    drop(live);
    let cut = fs::read(&meta).unwrap();
    // Killed after the meta file was cut, and after its last checksum was written.
    for (state, least) in [(&sums[..cut.len()], 1024), (&cut[..], 700)] {
        fs::write(&meta, state).unwrap();
        fs::write(&data, &all).unwrap();
        assert_eq!(home.pool.scan().unwrap().rbw[0].block.len, least);
    }
}

/// The chunk at the new end was summed anew from the disk, flipped bits and all: readers got wrong bytes with a right
/// checksum.
#[test]
fn a_truncation_gives_damaged_bytes_no_checksum_that_fits() {
    for (damaged, is_found) in [(600, true), (100, true), (900, true), (1500, false)] {
        for len in [5000, 800] {
            let home = home();
            let all = bytes(0, len);
            let live = home.pool.create(block(1001), Place::Rbw, DataChecksum::default()).unwrap();
            send(&live, 0, &all).unwrap();
            live.flush().unwrap();
            let data = home.pool.data_path(live.block().id, Place::Rbw);
            let mut found = fs::read(&data).unwrap();
            if let Some(byte) = found.get_mut(damaged) {
                *byte ^= 0x10;
            }
            fs::write(&data, &found).unwrap();
            live.truncate(700).unwrap();
            let reader = live.open().unwrap();
            let is_damaged = is_found && damaged < len;
            assert_eq!(reader.verify().is_err(), is_damaged, "byte {damaged} of {len}");
            drop(reader);
            let stored = live.finalize(Durability::PageCache).unwrap();
            drop(live);
            let reader = home.pool.open(&stored.block, stored.place).unwrap();
            assert_eq!(reader.verify().is_err(), is_damaged, "byte {damaged} of {len}");
        }
    }
}

/// One file with the wrong owner took the whole volume out of use.
#[test]
fn an_rbw_file_that_cannot_be_opened_does_not_fail_its_volume() {
    let home = home();
    let live = home.pool.create(block(1001), Place::Rbw, DataChecksum::default()).unwrap();
    send(&live, 0, b"good").unwrap();
    drop(live);
    let bad = Block { id: BlockId(5), ..block(1001) };
    drop(home.pool.create(bad, Place::Rbw, DataChecksum::default()).unwrap());
    // A link to itself cannot be opened by root either.
    let path = home.pool.data_path(bad.id, Place::Rbw);
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&path, &path).unwrap();
    let scan = home.pool.scan().unwrap();
    let len = |id| scan.rbw.iter().find(|found| found.block.id == id).unwrap().block.len;
    assert_eq!((len(block(1001).id), len(bad.id)), (4, 0));
    assert!(scan.unreadable[0].is_volume_fault(), "the volume is checked");
}
