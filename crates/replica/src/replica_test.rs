//! Replicas through their life, against a plain byte vector as the model.

use crate::live::WRITE_UNIT;
use crate::*;
use proptest::prelude::*;
use std::fs;
use zerohop_wire::{Block, BlockId, ChecksumType, DataChecksum, GenerationStamp, meta_header};

pub(crate) struct Home {
    directory: tempfile::TempDir,
    volume: Volume,
    pub(crate) pool: Pool,
}

fn pool_version() -> PoolVersion {
    PoolVersion { pool_id: "BP-1-127.0.0.1-2".to_owned(), namespace_id: 7, ctime: 2 }
}

pub(crate) fn home() -> Home {
    let directory = tempfile::tempdir().unwrap();
    let mut volume = Volume::open(directory.path()).unwrap();
    volume.claim("CID-1", "uuid-1").unwrap();
    let pool = volume.open_pool(&pool_version()).unwrap();
    Home { directory, volume, pool }
}

pub(crate) fn block(stamp: i64) -> Block {
    Block { id: BlockId((1 << 30) + 1), stamp: GenerationStamp(stamp), len: 0 }
}

pub(crate) fn bytes(from: u64, len: usize) -> Vec<u8> {
    (from..from + len as u64).map(|i| (i * 7 + (i >> 8) * 13) as u8).collect()
}

/// Sends bytes as a client does: sums for chunks counted from `offset`.
pub(crate) fn send(live: &LiveReplica, offset: u64, data: &[u8]) -> Result<()> {
    let mut sums = vec![0; live.checksum().sums_len(data.len())];
    live.checksum().compute(data, &mut sums).unwrap();
    live.write(&Packet { offset, data, sums: &sums })
}

pub(crate) fn check(reader: &ReplicaReader, expected: &[u8]) {
    assert_eq!(reader.len(), expected.len() as u64);
    reader.verify().unwrap();
    let mut read = vec![0; expected.len()];
    reader.read_at(0, &mut read).unwrap();
    assert!(read == expected);
}

#[derive(Clone, Debug)]
enum Step {
    Packet(usize),
    /// A packet that repeats the open chunk from its start, as clients do after hflush.
    FromChunkStart(usize),
    /// Bytes within the chunk only, as clients do after append.
    WithinChunk(usize),
    /// A packet that was there already, in part.
    Again(usize, usize),
    Unsummed(usize),
    /// Several packets at once; all of them are to be in the file then, or whole units.
    Run(Vec<usize>, FlushExtent),
    Flush,
    Read,
    Truncate(prop::sample::Index),
    Reopen,
    Append,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let len = prop_oneof![1usize..2000, 60_000usize..70_000, 500_000usize..600_000];
    let step = prop_oneof![
        len.clone().prop_map(Step::Packet),
        (1usize..2000).prop_map(Step::FromChunkStart),
        (1usize..600).prop_map(Step::WithinChunk),
        (1usize..3, 1usize..3000).prop_map(|(chunks, len)| Step::Again(chunks, len)),
        len.clone().prop_map(Step::Unsummed),
        (
            prop::collection::vec(len, 1..5),
            prop_oneof![Just(FlushExtent::Units), Just(FlushExtent::All)]
        )
            .prop_map(|(lens, extent)| Step::Run(lens, extent)),
        Just(Step::Flush),
        Just(Step::Read),
        any::<prop::sample::Index>().prop_map(Step::Truncate),
        Just(Step::Reopen),
        Just(Step::Append),
    ];
    prop::collection::vec(step, 1..14)
}

fn run(home: &Home, checksum: DataChecksum, steps: &[Step]) {
    let mut stamp = 1001;
    let mut live = home.pool.create(block(stamp), Place::Rbw, checksum).unwrap();
    let mut model: Vec<u8> = Vec::new();
    for step in steps {
        let len = model.len() as u64;
        let chunk = checksum.chunk_start(len);
        match step {
            Step::Packet(more) | Step::Unsummed(more) if chunk == len => {
                let data = bytes(len, *more);
                match step {
                    Step::Packet(_) => send(&live, len, &data).unwrap(),
                    _ => live.write(&Packet { offset: len, data: &data, sums: &[] }).unwrap(),
                }
                model.extend(data);
            }
            Step::FromChunkStart(more) | Step::Packet(more) | Step::Unsummed(more) => {
                let end = len + *more as u64;
                send(&live, chunk, &bytes(chunk, (end - chunk) as usize)).unwrap();
                model.extend(bytes(len, *more));
            }
            Step::WithinChunk(more) => {
                let room = (checksum.chunk_start(len) + checksum.bytes_per_checksum() as u64 - len)
                    as usize;
                let data = bytes(len, room.min(*more));
                send(&live, len, &data).unwrap();
                model.extend(data);
            }
            Step::Again(chunks, more) => {
                let start = chunk.saturating_sub((chunks * checksum.bytes_per_checksum()) as u64);
                send(&live, start, &bytes(start, *more)).unwrap();
                let end = start + *more as u64;
                model.extend(bytes(len, end.saturating_sub(len) as usize));
            }
            Step::Run(lens, extent) => {
                let chunk_len = checksum.bytes_per_checksum();
                let mut runs = Vec::new();
                let mut at = chunk;
                for len in lens {
                    let data = bytes(at, len.next_multiple_of(chunk_len));
                    let mut sums = vec![0; checksum.sums_len(data.len())];
                    checksum.compute(&data, &mut sums).unwrap();
                    runs.push((at, data, sums));
                    at = runs.last().map_or(at, |(at, data, _)| at + data.len() as u64);
                }
                let packets: Vec<_> = runs
                    .iter()
                    .map(|(offset, data, sums)| Packet { offset: *offset, data, sums })
                    .collect();
                let written = live.write_run(&packets, *extent).unwrap();
                let unit = if *extent == FlushExtent::All { 1 } else { WRITE_UNIT };
                assert!(written >= at - at % unit && written <= at);
                let file = home.pool.data_path(live.block().id, live.place());
                assert_eq!(fs::metadata(file).unwrap().len(), written);
                model.extend(bytes(len, (at - len) as usize));
            }
            Step::Flush => assert_eq!(live.flush().unwrap(), len),
            Step::Read => check(&live.open().unwrap(), &model),
            Step::Truncate(at) => {
                let to = at.index(model.len() + 1);
                live.truncate(to as u64).unwrap();
                model.truncate(to);
            }
            Step::Reopen => {
                live.flush().unwrap();
                let found = live.block();
                drop(live);
                live = home.pool.adopt(found, Place::Rbw).unwrap();
            }
            Step::Append => {
                let found = live.finalize(Durability::PageCache).unwrap();
                check(&home.pool.open(&found.block, Place::Finalized).unwrap(), &model);
                stamp += 1;
                live = home.pool.append(found.block, GenerationStamp(stamp)).unwrap();
            }
        }
        assert_eq!(live.received(), model.len() as u64);
    }
    let found = live.finalize(Durability::PageCache).unwrap();
    check(&home.pool.open(&found.block, Place::Finalized).unwrap(), &model);
    let meta = fs::metadata(home.pool.meta_path(&found.block, Place::Finalized)).unwrap();
    assert_eq!(
        (meta.len(), found.meta_len),
        (found.meta_len, meta_header::file_len(checksum, found.block.len))
    );
    let scan = home.pool.scan().unwrap();
    // The scan takes the usual length of a meta file for granted.
    let meta_len = meta_header::file_len(DataChecksum::default(), found.block.len);
    assert_eq!(scan.finalized, [StoredReplica { meta_len, ..found }]);
    home.pool.delete(&found.block, Place::Finalized).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_order_of_packets_cuts_and_reads_keeps_data_and_sums(
        steps in steps(), chunk_len in prop_oneof![Just(512u32), Just(100), Just(4096)],
        kind in prop_oneof![Just(ChecksumType::Crc32c), Just(ChecksumType::Crc32), Just(ChecksumType::Null)],
    ) {
        run(&home(), DataChecksum::new(kind, chunk_len).unwrap(), &steps);
    }
}

#[test]
fn a_packet_beyond_the_end_is_refused_and_the_replica_goes_on() {
    let home = home();
    let live = home.pool.create(block(1001), Place::Rbw, DataChecksum::default()).unwrap();
    send(&live, 0, &bytes(0, 512)).unwrap();
    assert_eq!(send(&live, 1024, &bytes(1024, 1)).unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(send(&live, 100, &bytes(100, 600)).unwrap_err().kind(), ErrorKind::Invalid);
    send(&live, 512, &bytes(512, 1)).unwrap();
    check(&live.open().unwrap(), &bytes(0, 513));
}

#[test]
fn a_reader_keeps_the_last_sum_of_its_moment() {
    let home = home();
    let live = home.pool.create(block(1001), Place::Rbw, DataChecksum::default()).unwrap();
    send(&live, 0, &bytes(0, 700)).unwrap();
    let reader = live.open().unwrap();
    send(&live, 512, &bytes(512, 400)).unwrap();
    live.flush().unwrap();
    check(&reader, &bytes(0, 700));
    check(&live.open().unwrap(), &bytes(0, 912));
}

#[test]
fn after_a_kill_the_good_part_of_an_open_replica_is_found() {
    let home = home();
    let live = home.pool.create(block(1001), Place::Rbw, DataChecksum::default()).unwrap();
    let len = WRITE_UNIT as usize + 700;
    send(&live, 0, &bytes(0, len)).unwrap();
    // Killed: what was in memory only is gone.
    std::mem::forget(live);
    let found = home.pool.scan().unwrap().rbw;
    assert_eq!(found[0].block.len, WRITE_UNIT);
    // Torn: data without a sum, then a sum that does not match.
    let path = home.pool.data_path(block(1001).id, Place::Rbw);
    let mut data = fs::read(&path).unwrap();
    data.extend([1, 2, 3]);
    fs::write(&path, &data).unwrap();
    assert_eq!(home.pool.scan().unwrap().rbw[0].block.len, WRITE_UNIT);
    data.truncate(WRITE_UNIT as usize);
    data[WRITE_UNIT as usize - 1] ^= 1;
    fs::write(&path, &data).unwrap();
    let found = home.pool.scan().unwrap().rbw[0];
    assert_eq!(found.block.len, WRITE_UNIT - 512);
    let live = home.pool.adopt(found.block, Place::Rbw).unwrap();
    check(&live.open().unwrap(), &bytes(0, WRITE_UNIT as usize - 512));
}

#[test]
fn rot_is_found_and_says_where() {
    let home = home();
    let live = home.pool.create(block(1001), Place::Tmp, DataChecksum::default()).unwrap();
    send(&live, 0, &bytes(0, 2000)).unwrap();
    let found = live.finalize(Durability::Disk).unwrap();
    let path = home.pool.data_path(found.block.id, Place::Finalized);
    let mut data = fs::read(&path).unwrap();
    data[600] ^= 4;
    fs::write(&path, &data).unwrap();
    let error = home.pool.open(&found.block, Place::Finalized).unwrap().verify().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("at offset 512"), "{error}");
    data[1999] ^= 4;
    fs::write(&path, &data).unwrap();
    let error = home.pool.append(found.block, GenerationStamp(1002)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn a_volume_keeps_its_identity_and_refuses_strangers() {
    let Home { directory, volume, pool } = home();
    let storage_id = volume.storage_id().to_owned();
    assert!(storage_id.starts_with("DS-"));
    assert_eq!(volume.pools().unwrap(), ["BP-1-127.0.0.1-2"]);
    assert_eq!(Volume::open(directory.path()).unwrap_err().kind(), ErrorKind::Locked);
    drop((volume, pool));
    let mut volume = Volume::open(directory.path()).unwrap();
    volume.claim("CID-1", "uuid-1").unwrap();
    assert_eq!(volume.storage_id(), storage_id);
    let error = volume.claim("CID-2", "uuid-1").unwrap_err();
    assert!(error.to_string().contains("Incompatible clusterIDs"), "{error}");
    let stranger = PoolVersion { namespace_id: 8, ..pool_version() };
    let error = volume.open_pool(&stranger).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Inconsistent);
    assert!(error.to_string().contains("namespaceID is 7, the NameNode's is 8"), "{error}");
    let escape = PoolVersion { pool_id: "BP-1/../..".to_owned(), ..pool_version() };
    assert_eq!(volume.open_pool(&escape).unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn a_pool_is_deleted_and_nothing_beside_it() {
    let Home { directory, volume, pool } = home();
    let other = PoolVersion { pool_id: "BP-2-127.0.0.1-2".to_owned(), ..pool_version() };
    volume.open_pool(&other).unwrap();
    assert!(is_pool_empty(directory.path(), "BP-1-127.0.0.1-2").unwrap());
    let inner = pool.directory(block(1).id, Place::Finalized);
    fs::create_dir_all(&inner).unwrap();
    assert!(is_pool_empty(directory.path(), "BP-1-127.0.0.1-2").unwrap());
    fs::write(inner.join("blk_5"), "x").unwrap();
    assert!(!is_pool_empty(directory.path(), "BP-1-127.0.0.1-2").unwrap());
    drop(pool);
    for id in ["BP-2-127.0.0.1-2/../BP-1-127.0.0.1-2", "..", "", "VERSION", "BP-3"] {
        assert!(is_pool_empty(directory.path(), id).unwrap());
        delete_pool(directory.path(), id).unwrap();
    }
    assert_eq!(volume.pools().unwrap().len(), 2);
    assert!(directory.path().join("current/VERSION").exists());
    delete_pool(directory.path(), "BP-1-127.0.0.1-2").unwrap();
    assert_eq!(volume.pools().unwrap(), ["BP-2-127.0.0.1-2"]);
}

#[test]
fn another_layout_is_refused_with_what_to_do() {
    let Home { directory, volume, .. } = home();
    drop(volume);
    let path = directory.path().join("current/VERSION");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("layoutVersion=-57", "layoutVersion=-56")).unwrap();
    let error = Volume::open(directory.path()).unwrap_err().to_string();
    assert!(error.contains("-56") && error.contains("upgrade it"), "{error}");
}

#[test]
fn what_a_stopped_datanode_left_behind_is_cleaned() {
    let Home { directory, volume, pool } = home();
    pool.create(block(1001), Place::Tmp, DataChecksum::default()).unwrap();
    let current = directory.path().join("current/BP-1-127.0.0.1-2/current");
    fs::write(current.join("replicas"), b"stale").unwrap();
    drop(pool);
    let pool = volume.open_pool(&pool_version()).unwrap();
    assert!(!current.join("replicas").exists());
    assert!(!pool.data_path(block(1001).id, Place::Tmp).exists());
    let live = pool.create(block(1001), Place::Rbw, DataChecksum::default()).unwrap();
    let again = pool.create(block(1001), Place::Rbw, DataChecksum::default()).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Exists);
    send(&live, 0, &bytes(0, 10)).unwrap();
    live.restamp(GenerationStamp(1005)).unwrap();
    let found = live.finalize(Durability::PageCache).unwrap();
    assert_eq!(found.block.stamp, GenerationStamp(1005));
    let unlinked = pool.data_path(found.block.id, Place::Finalized);
    fs::rename(&unlinked, unlinked.with_extension("unlinked")).unwrap();
    assert_eq!(pool.scan().unwrap().finalized, [found]);
}

#[test]
fn a_finalized_replica_takes_no_packets() {
    let home = home();
    let live = home.pool.create(block(1001), Place::Rbw, DataChecksum::default()).unwrap();
    send(&live, 0, &bytes(0, 10)).unwrap();
    live.finalize(Durability::PageCache).unwrap();
    assert_eq!(send(&live, 0, &bytes(0, 20)).unwrap_err().kind(), ErrorKind::Invalid);
    live.delete().unwrap();
    assert_eq!(live.open().unwrap_err().kind(), ErrorKind::Poisoned);
}

#[test]
fn a_move_that_was_killed_half_way_is_completed() {
    let home = home();
    let live = home.pool.create(block(1001), Place::Rbw, DataChecksum::default()).unwrap();
    send(&live, 0, &bytes(0, 900)).unwrap();
    let found = live.finalize(Durability::PageCache).unwrap();
    let finalized = home.pool.data_path(found.block.id, Place::Finalized);
    let rbw = home.pool.data_path(found.block.id, Place::Rbw);
    // Killed while finalizing: only the meta file had moved.
    fs::rename(&finalized, &rbw).unwrap();
    let scan = home.pool.scan().unwrap();
    assert_eq!((scan.finalized, scan.rbw), (vec![found], vec![]));
    // Killed while reopening for append: the meta file has the new stamp and is in rbw.
    let block = Block { stamp: GenerationStamp(1002), ..found.block };
    let meta = home.pool.meta_path(&found.block, Place::Finalized);
    fs::rename(meta, home.pool.meta_path(&block, Place::Rbw)).unwrap();
    let scan = home.pool.scan().unwrap();
    assert_eq!((scan.finalized.len(), scan.rbw[0].block), (0, block));
    assert!(rbw.exists() && !finalized.exists());
}

/// Moves the directory away, so that whoever opens it fails.
struct Away {
    from: std::path::PathBuf,
    to: std::path::PathBuf,
}

impl Away {
    fn new(directory: std::path::PathBuf) -> Self {
        let to = directory.with_extension("away");
        fs::rename(&directory, &to).unwrap();
        Self { from: directory, to }
    }

    fn back(self) {
        fs::rename(&self.to, &self.from).unwrap();
    }
}

/// A file that no directory names is lost, however often it was synced: the first sync of a replica, and the first after
/// it got another name, force the directory too.
#[test]
fn a_sync_covers_new_names() {
    let home = home();
    let rbw = || home.pool.directory(block(1).id, Place::Rbw);
    let live = home.pool.create(block(1), Place::Rbw, DataChecksum::default()).unwrap();
    send(&live, 0, &bytes(0, 100)).unwrap();
    let away = Away::new(rbw());
    live.sync().unwrap_err();
    away.back();
    live.delete().unwrap();

    let live = home.pool.create(block(2), Place::Rbw, DataChecksum::default()).unwrap();
    send(&live, 0, &bytes(0, 100)).unwrap();
    live.sync().unwrap();
    let away = Away::new(rbw());
    assert_eq!(live.sync().unwrap(), 100, "its name is on disk");
    away.back();
    live.restamp(GenerationStamp(3)).unwrap();
    let _away = Away::new(rbw());
    live.sync().unwrap_err();
}

/// After an upgrade by Apache the state before it is there as hard links: a rollback must find it unchanged.
#[test]
fn an_append_leaves_other_names_of_the_files_alone() {
    let home = home();
    let live = home.pool.create(block(1), Place::Rbw, DataChecksum::default()).unwrap();
    let data = bytes(0, 700);
    send(&live, 0, &data).unwrap();
    let stored = live.finalize(Durability::PageCache).unwrap().block;
    let previous = home.directory.path().join("previous");
    fs::create_dir(&previous).unwrap();
    let files = [
        home.pool.data_path(stored.id, Place::Finalized),
        home.pool.meta_path(&stored, Place::Finalized),
    ];
    let kept: Vec<_> = files.iter().map(|file| previous.join(file.file_name().unwrap())).collect();
    let before: Vec<_> = files
        .iter()
        .zip(&kept)
        .map(|(file, link)| {
            fs::hard_link(file, link).unwrap();
            fs::read(file).unwrap()
        })
        .collect();
    let live = home.pool.append(stored, GenerationStamp(2)).unwrap();
    send(&live, 700, &bytes(700, 300)).unwrap();
    let stored = live.finalize(Durability::PageCache).unwrap().block;
    check(&home.pool.open(&stored, Place::Finalized).unwrap(), &bytes(0, 1000));
    for (link, before) in kept.iter().zip(before) {
        assert!(fs::read(link).unwrap() == before, "{}", link.display());
    }
    assert_eq!(fs::read_dir(home.pool.directory(stored.id, Place::Tmp)).unwrap().count(), 0);
}
