//! The life of replicas, without network.

use super::write::{Placement, Writable};
use super::writer::Writer;
use super::*;
use crate::namenodes::PoolIdentity;
use crate::settings::Settings;
use crate::short_circuit::{BlockKey, SegmentGuard};
use zerohop_conf::Conf;
use zerohop_replica::{Durability, Packet, Place};
use zerohop_transport::domain::Peer;
use zerohop_transport::shm::Segment;
use zerohop_wire::StorageType;
use zerohop_wire::block_report::ReplicaState;
use zerohop_wire::{Block, BlockId, DataChecksum, GenerationStamp, Slot, SlotId};

/// What is set aside for a replica here.
pub(crate) const ROOM: u64 = 1 << 20;

struct Fixture {
    _directory: tempfile::TempDir,
    settings: Settings,
    store: Store,
}

pub(super) fn identity(cluster: &str) -> PoolIdentity {
    PoolIdentity {
        pool_id: "BP-1-127.0.0.1-1".into(),
        cluster_id: cluster.to_owned(),
        namespace_id: 7,
        ctime: 0,
        software_version: "3.4.3".to_owned(),
    }
}

fn fixture() -> Fixture {
    let directory = tempfile::tempdir().unwrap();
    let mut conf = Conf::new();
    conf.set("dfs.datanode.data.dir", directory.path().join("data").display().to_string());
    let settings = Settings::read(&conf).unwrap();
    let store = Store::open(&settings).unwrap();
    store.setup().open_pool(&identity("CID-1")).unwrap();
    Fixture { _directory: directory, settings, store }
}

pub(super) fn block(id: i64, stamp: i64, len: u64) -> ExtendedBlock {
    let block = Block { id: BlockId(id), stamp: GenerationStamp(stamp), len };
    ExtendedBlock { pool: "BP-1-127.0.0.1-1".into(), block }
}

pub(super) fn writer() -> Arc<Writer> {
    Writer::new(Arc::new(zerohop_transport::domain::pair().unwrap().0.into()))
}

pub(super) fn placement() -> Placement {
    let (storage_type, checksum) = (StorageType::Disk, DataChecksum::default());
    Placement { storage_type, checksum, room: ROOM }
}

pub(super) fn put(target: &Writable, offset: u64, len: usize) {
    let data: Vec<u8> = (offset..offset + len as u64).map(|at| (at % 251) as u8).collect();
    target.live.write(&Packet { offset, data: &data, sums: &[] }).unwrap();
    target.live.flush().unwrap();
}

pub(super) fn written(store: &Store, id: i64, len: usize) -> Writable {
    let by = writer();
    let stamp = GenerationStamp(0);
    let target = store.writes().create_rbw(&block(id, 1001, 0), stamp, placement(), &by).unwrap();
    put(&target, 0, len);
    target.live.set_acked(len as u64);
    target.replica.release(&by);
    target
}

/// An empty replica that `by` is to write, in a store of its own.
pub(crate) fn new_target(by: &Arc<Writer>) -> (impl Sized + use<>, Writable) {
    let kept = fixture();
    let stamp = GenerationStamp(0);
    let target =
        kept.store.writes().create_rbw(&block(1, 1001, 0), stamp, placement(), by).unwrap();
    (kept, target)
}

pub(super) fn message<T>(result: Result<T, Failure>) -> String {
    match result {
        Ok(_) => panic!("it should fail"),
        Err(failure) => failure.to_string(),
    }
}

#[test]
fn a_replica_is_written_finalized_found_again_and_deleted() {
    let Fixture { _directory, settings, store } = fixture();
    let target = written(&store, 1, 1000);
    let again =
        store.writes().create_rbw(&block(1, 1001, 0), GenerationStamp(0), placement(), &writer());
    assert!(message(again).contains("already exists in state RBW"));
    assert_eq!(store.reads().visible_len(&block(1, 1001, 0)).unwrap(), 1000);
    let done = store.writes().finalize(&target.replica, Durability::PageCache).unwrap();
    assert_eq!(done.len, 1000);
    let used = store.volumes().all()[0].used();
    assert!(used > 1000);
    drop((target, store));
    let store = Store::open(&settings).unwrap();
    store.setup().open_pool(&identity("CID-1")).unwrap();
    assert_eq!(store.volumes().all()[0].used(), used);
    let pool = store.pools().get("BP-1-127.0.0.1-1").unwrap();
    let wrong = store.removal().delete(&pool, block(1, 1002, 0).block);
    assert!(message(wrong).contains("GenerationStamp not matched"));
    store.removal().delete(&pool, done).unwrap();
    assert_eq!((store.volumes().all()[0].used(), store.volumes().all()[0].blocks()), (0, 0));
    let gone = message(store.reads().open_replica(&block(1, 1001, 0), 0).map(drop));
    assert!(gone.contains("ReplicaNotFoundException: Replica not found for BP-1"), "{gone}");
}

/// A create with a stamp removed whatever replica of the block there was.
#[test]
fn a_repeated_create_removed_a_finalized_or_newer_replica() {
    let Fixture { _directory, store, .. } = fixture();
    let create = |id, stamp| {
        let by = writer();
        store.writes().create_rbw(&block(id, 1001, 0), GenerationStamp(stamp), placement(), &by)
    };
    let known = |id| store.pools().replica(&block(id, 1001, 0)).unwrap();
    let finalized = written(&store, 1, 700);
    store.writes().finalize(&finalized.replica, Durability::PageCache).unwrap();
    assert!(message(create(1, 1002)).contains("already exists in state FINALIZED"));
    assert_eq!(known(1).block().len, 700);

    // What the client's earlier attempt left is replaced, and its writer is stopped.
    written(&store, 2, 0);
    let again = create(2, 1003).unwrap();
    assert_eq!(known(2).block().stamp, GenerationStamp(1003));
    let by = again.replica.lock().writer().cloned().unwrap();
    for late in [1002, 1003] {
        assert!(message(create(2, late)).contains("already exists in state RBW"), "{late}");
    }
    let now = again.replica.lock().writer().cloned().unwrap();
    assert!(Arc::ptr_eq(&now, &by), "the newer writer goes on");

    written(&store, 3, 700);
    store.recovery().init_recovery(&block(3, 1001, 0), GenerationStamp(1005)).unwrap();
    assert!(message(create(3, 1006)).contains("already exists in state RUR"));
    assert_eq!(known(3).block().len, 700);
}

/// The source of a pipeline's new DataNode sends whole chunks, of which the last bytes may not be
/// acknowledged: the newcomer showed them to readers.
#[test]
fn a_replacement_shows_only_acknowledged_bytes() {
    let Fixture { _directory, store, .. } = fixture();
    let by = writer();
    let wanted = block(1, 1001, 700);
    let target = store.writes().create_temporary(&wanted, true, placement(), &by).unwrap();
    put(&target, 0, 1024);
    store.writes().convert_temporary_to_rbw(&wanted, &target.replica).unwrap();
    assert_eq!(store.reads().visible_len(&wanted).unwrap(), 700);
    let again = store.writes().recover_rbw(&wanted, GenerationStamp(1002), 700, 1024, &by).unwrap();
    assert_eq!((again.live.received(), again.live.acked()), (700, 700));
}

/// A block file that had lost its end was only logged; the NameNode went on counting the replica.
#[test]
fn a_short_block_file_is_found_damaged() {
    let Fixture { _directory, store, .. } = fixture();
    let target = written(&store, 1, 5000);
    let known = block(1, 1001, 5000);
    assert!(store.check_damage(&known, Suspicion::Disk).is_none(), "it is being written");
    store.writes().finalize(&target.replica, Durability::PageCache).unwrap();
    assert!(!store.reads().open_replica(&known, 0).unwrap().is_short);
    assert!(store.check_damage(&known, Suspicion::Short).is_none());
    let [data, _] = store.reads().paths(&known).unwrap().1;
    std::fs::OpenOptions::new().write(true).open(&data).unwrap().set_len(4000).unwrap();
    let opened = store.reads().open_replica(&known, 0).unwrap();
    assert_eq!((opened.is_short, opened.visible), (true, 4000), "the rest can be read");
    assert!(matches!(store.reads().open_files(&known), Err(Failure::Unsummed(..))));
    let older = block(1, 1000, 0);
    let (damaged, volume) = store.check_damage(&older, Suspicion::Short).unwrap();
    assert_eq!((damaged, volume.has_failed()), (known, false));
}

#[test]
fn the_length_is_asked_again_later_while_a_pool_is_not_open() {
    let Fixture { _directory, store, .. } = fixture();
    let other = ExtendedBlock { pool: "BP-2-127.0.0.1-2".into(), ..block(1, 1001, 0) };
    let said = message(store.reads().visible_len(&other));
    assert!(
        said.contains("RetriableException: Datanode not registered. Try again later."),
        "{said}"
    );
}

#[test]
fn an_append_goes_on_only_from_the_right_length() {
    let Fixture { _directory, store, .. } = fixture();
    let target = written(&store, 1, 700);
    let stamp = GenerationStamp(1002);
    let open = store.writes().append(&block(1, 1001, 0), stamp, 700, &writer());
    assert!(message(open).contains("unfinalized"));
    store.writes().finalize(&target.replica, Durability::PageCache).unwrap();
    let short = store.writes().append(&block(1, 1001, 0), stamp, 600, &writer());
    assert!(message(short).contains("Corrupted replica"));
    let by = writer();
    let target = store.writes().append(&block(1, 1001, 0), stamp, 700, &by).unwrap();
    put(&target, 700, 300);
    target.replica.release(&by);
    let done = store.writes().finalize(&target.replica, Durability::Disk).unwrap();
    assert_eq!((done.len, done.stamp), (1000, stamp));
    store.reads().open_replica(&block(1, 1002, 0), 0).unwrap().reader.verify().unwrap();
}

#[test]
fn bytes_nobody_acknowledged_are_dropped_when_a_pipeline_recovers() {
    let Fixture { _directory, store, .. } = fixture();
    let target = written(&store, 1, 1000);
    put(&target, 1000, 24);
    let stamp = GenerationStamp(1002);
    let too_short = store.writes().recover_rbw(&block(1, 1001, 0), stamp, 1200, 2000, &writer());
    assert!(message(too_short).contains("BytesAcked = 1000 BytesRcvd = 1024"));
    let by = writer();
    store.writes().recover_rbw(&block(1, 1001, 0), stamp, 900, 2000, &by).unwrap();
    assert_eq!(target.replica.block(), block(1, 1002, 1000).block);
    // The writer is there until it is stopped; a recovered close waits for that.
    target.replica.release(&by);
    let replica =
        store.writes().recover_close(&block(1, 1002, 0), GenerationStamp(1003), 1000).unwrap();
    assert_eq!(replica.block(), block(1, 1003, 1000).block);
    assert_eq!(replica.state(), ReplicaState::Finalized);
}

#[test]
fn a_recovery_makes_a_replica_final_with_its_stamp_and_length() {
    let Fixture { _directory, store, .. } = fixture();
    let target = written(&store, 1, 1000);
    let id = GenerationStamp(1005);
    let info = store.recovery().init_recovery(&block(1, 1001, 0), id).unwrap().unwrap();
    assert_eq!((info.original, info.block.len), (ReplicaState::Rbw, 1000));
    let older = store.recovery().init_recovery(&block(1, 1001, 0), GenerationStamp(1004));
    assert!(message(older).contains("RecoveryInProgressException"));
    let old = ExtendedBlock { block: info.block, ..block(1, 1001, 0) };
    let wrong = store.recovery().update_recovered(&old, GenerationStamp(1004), BlockId(0), 900);
    assert!(message(wrong.map(drop)).contains("rur.getRecoveryID()"));
    let (_, done) = store.recovery().update_recovered(&old, id, BlockId(0), 900).unwrap();
    assert_eq!(done, block(1, 1005, 900).block);
    assert_eq!(target.replica.state(), ReplicaState::Finalized);
    assert!(store.recovery().init_recovery(&block(9, 1001, 0), id).unwrap().is_none());
}

#[test]
fn a_truncated_copy_leaves_the_original_as_it_was() {
    let Fixture { _directory, store, .. } = fixture();
    let target = written(&store, 1, 1000);
    store.writes().finalize(&target.replica, Durability::PageCache).unwrap();
    let id = GenerationStamp(1005);
    let info = store.recovery().init_recovery(&block(1, 1001, 0), id).unwrap().unwrap();
    let old = ExtendedBlock { block: info.block, ..block(1, 1001, 0) };
    let (_, copy) = store.recovery().update_recovered(&old, id, BlockId(2), 600).unwrap();
    assert_eq!(copy, block(2, 1005, 600).block);
    assert_eq!(target.replica.block(), block(1, 1001, 1000).block);
    store.reads().open_replica(&block(2, 1005, 0), 0).unwrap().reader.verify().unwrap();
}

/// The first try was cut off: by a crash, which left a replica, or by an error, which left files.
#[test]
fn a_truncated_copy_is_made_at_the_second_try() {
    let Fixture { _directory, store, .. } = fixture();
    let target = written(&store, 1, 1000);
    store.writes().finalize(&target.replica, Durability::PageCache).unwrap();
    written(&store, 2, 300);
    let id = GenerationStamp(1005);
    let info = store.recovery().init_recovery(&block(1, 1001, 0), id).unwrap().unwrap();
    let old = ExtendedBlock { block: info.block, ..block(1, 1001, 0) };
    let files = target.replica.volume.pool(&old.pool).unwrap();
    let in_the_way = files.data_path(BlockId(2), Place::Finalized);
    std::fs::create_dir_all(in_the_way.parent().unwrap()).unwrap();
    std::fs::write(&in_the_way, "").unwrap();
    let first = store.recovery().update_recovered(&old, id, BlockId(2), 600);
    let said = message(first.map(drop));
    assert!(said.contains("is there already"), "{said}");
    std::fs::remove_file(&in_the_way).unwrap();
    let (_, copy) = store.recovery().update_recovered(&old, id, BlockId(2), 600).unwrap();
    assert_eq!(copy, block(2, 1005, 600).block);
    store.reads().open_replica(&block(2, 1005, 0), 0).unwrap().reader.verify().unwrap();
    assert_eq!(target.replica.block(), block(1, 1001, 1000).block);
}

/// After a crash it may have fewer bytes than an hflush promised.
#[test]
fn a_replica_that_waits_for_its_recovery_is_not_shown_to_readers() {
    let Fixture { _directory, settings, store } = fixture();
    drop(written(&store, 1, 1000));
    drop(store);
    let store = Store::open(&settings).unwrap();
    store.setup().open_pool(&identity("CID-1")).unwrap();
    let (waiting, id) = (block(1, 1001, 0), GenerationStamp(1005));
    let is_hidden = |state| {
        assert_eq!(store.pools().replica(&waiting).unwrap().state(), state);
        let said = message(store.reads().open_replica(&waiting, 0).map(drop));
        assert!(said.contains("Replica is not readable") && said.contains("VisibleLength()=-1"));
        assert!(message(store.reads().visible_len(&waiting)).contains("not readable"));
        assert_eq!(
            store.reads().open_files(&waiting).unwrap().data.metadata().unwrap().len(),
            1000
        );
    };
    is_hidden(ReplicaState::Rwr);
    store.recovery().init_recovery(&waiting, id).unwrap().unwrap();
    is_hidden(ReplicaState::Rur);
    store.recovery().update_recovered(&block(1, 1001, 1000), id, BlockId(1), 1000).unwrap();
    assert_eq!(store.reads().visible_len(&block(1, 1005, 0)).unwrap(), 1000);
}

#[test]
fn a_directory_of_another_cluster_is_refused_by_name() {
    let Fixture { _directory, settings, store } = fixture();
    drop(store);
    let store = Store::open(&settings).unwrap();
    let error = store.setup().open_pool(&identity("CID-2")).unwrap_err().to_string();
    assert!(error.contains("Incompatible clusterIDs"), "{error}");
}

/// A finalized replica of `len` bytes, open, in a store that is gone.
pub(crate) fn sample(len: usize) -> (tempfile::TempDir, zerohop_replica::ReplicaReader) {
    let Fixture { _directory, store, .. } = fixture();
    let target = written(&store, 1, len);
    store.writes().finalize(&target.replica, Durability::PageCache).unwrap();
    let opened = store.reads().open_replica(&block(1, 1001, 0), 0).unwrap();
    (_directory, opened.reader)
}

/// Local readers of a store.
pub(super) struct Readers {
    segment_guard: SegmentGuard,
    segment: Segment,
    held: i32,
}

const PEER: Peer = Peer { pid: 1, uid: 1 };

impl Readers {
    pub(super) fn new(store: &Store) -> Self {
        let (segment_guard, fd) = store.slots().create("reader", PEER).unwrap();
        Self { segment_guard, segment: Segment::map(fd).unwrap(), held: 0 }
    }

    /// Another one, of this block; tells how to ask whether it may go on.
    pub(super) fn hold(&mut self, store: &Store, id: i64) -> usize {
        let index = self.held;
        self.held += 1;
        self.segment.slot(index as usize).unwrap().claim();
        let slot = SlotId { shm: self.segment_guard.id(), index };
        store.slots().register(slot, PEER, &BlockKey::from(&block(id, 1001, 0)), false).unwrap();
        index as usize
    }

    pub(super) fn may_go_on(&self, reader: usize) -> bool {
        self.segment.slot(reader).unwrap().is_valid()
    }
}

#[test]
fn local_readers_are_told_when_a_replica_changes() {
    let Fixture { _directory, store, .. } = fixture();
    for id in 1..=4 {
        let target = written(&store, id, 700);
        store.writes().finalize(&target.replica, Durability::PageCache).unwrap();
    }
    let mut readers = Readers::new(&store);
    let [deleted, appended, truncated, untouched] = [1, 2, 3, 4].map(|id| readers.hold(&store, id));

    let pool = store.pools().get("BP-1-127.0.0.1-1").unwrap();
    store.removal().delete(&pool, block(1, 1001, 0).block).unwrap();
    assert!(!readers.may_go_on(deleted));

    assert!(readers.may_go_on(appended));
    store.writes().append(&block(2, 1001, 0), GenerationStamp(1002), 700, &writer()).unwrap();
    assert!(!readers.may_go_on(appended));

    let id = GenerationStamp(1002);
    store.recovery().init_recovery(&block(3, 1001, 700), id).unwrap().unwrap();
    assert!(readers.may_go_on(truncated));
    store.recovery().update_recovered(&block(3, 1001, 700), id, BlockId(3), 600).unwrap();
    assert!(!readers.may_go_on(truncated));

    assert!(readers.may_go_on(untouched));
}

#[test]
fn only_what_a_client_may_read_is_passed_and_only_for_reading() {
    let Fixture { _directory, store, .. } = fixture();
    let target = written(&store, 1, 700);
    let being_written = store.reads().open_files(&block(1, 1001, 0)).unwrap();
    store.writes().finalize(&target.replica, Durability::PageCache).unwrap();
    let finalized = store.reads().open_files(&block(1, 1001, 0)).unwrap();
    for passed in [being_written, finalized] {
        for file in [&passed.data, &passed.meta] {
            let flags = rustix::fs::fcntl_getfl(file).unwrap();
            assert_eq!(flags & rustix::fs::OFlags::RWMODE, rustix::fs::OFlags::RDONLY);
        }
        assert_eq!(passed.data.metadata().unwrap().len(), 700);
    }
    for wrong in [block(1, 1000, 0), block(1, 1002, 0), block(9, 1001, 0)] {
        let said = message(store.reads().open_files(&wrong));
        assert!(said.contains(&format!("No data exists for block {wrong}")), "{said}");
    }
    let copy =
        store.writes().create_temporary(&block(2, 1001, 0), false, placement(), &writer()).unwrap();
    put(&copy, 0, 100);
    assert!(message(store.reads().open_files(&block(2, 1001, 0))).contains("No data exists"));
}

/// The stamp was looked at, then a recovery came in between: the replica of the new stamp is not the one to delete.
#[test]
fn a_replica_with_another_stamp_is_not_deleted() {
    let Fixture { _directory, store, .. } = fixture();
    let target = written(&store, 1, 700);
    store.writes().finalize(&target.replica, Durability::PageCache).unwrap();
    let by = writer();
    let stamp = GenerationStamp(1002);
    let target = store.writes().append(&block(1, 1001, 0), stamp, 700, &by).unwrap();
    target.replica.release(&by);
    let pool = store.pools().get("BP-1-127.0.0.1-1").unwrap();
    let late = store.removal().remove(&pool, &target.replica, Some(GenerationStamp(1001)));
    assert!(message(late).contains("GenerationStamp not matched"));
    store.writes().finalize(&target.replica, Durability::PageCache).unwrap();
    store.reads().open_replica(&block(1, 1002, 0), 0).unwrap().reader.verify().unwrap();
}

/// A copy that is coming in takes no part in a recovery, and must not stand in the way of the next copy.
#[test]
fn a_recovery_finds_no_replica_in_a_copy_that_is_coming_in() {
    let Fixture { _directory, store, .. } = fixture();
    let by = writer();
    let copy =
        store.writes().create_temporary(&block(1, 1001, 0), false, placement(), &by).unwrap();
    put(&copy, 0, 300);
    // A late recovery of an older stamp leaves it alone.
    assert_eq!(
        store.recovery().init_recovery(&block(1, 1000, 0), GenerationStamp(1001)).unwrap(),
        None
    );
    assert!(!by.is_stopped());
    copy.replica.release(&by);
    assert_eq!(
        store.recovery().init_recovery(&block(1, 1001, 0), GenerationStamp(1005)).unwrap(),
        None
    );
    drop(copy);
    let again =
        store.writes().create_temporary(&block(1, 1005, 0), false, placement(), &writer()).unwrap();
    put(&again, 0, 300);
    store.writes().finalize(&again.replica, Durability::PageCache).unwrap();
    store.reads().open_replica(&block(1, 1005, 0), 0).unwrap().reader.verify().unwrap();
}
