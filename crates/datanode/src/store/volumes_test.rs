//! Replicas that move between volumes, volumes that fail, and replicas whose writers wait for a restart.

use super::store_test::{Readers, block, identity, message, placement, writer, written};
use super::write::Placement;
use super::*;
use crate::outliers::DiskCall;
use crate::settings::Settings;
use std::fs;
use std::path::PathBuf;
use zerohop_conf::Conf;
use zerohop_replica::Durability;
use zerohop_wire::GenerationStamp;
use zerohop_wire::StorageType;
use zerohop_wire::block_report::ReplicaState;

struct Two {
    directory: tempfile::TempDir,
    settings: Settings,
    store: Arc<Store>,
}

/// A store of a DISK and an ARCHIVE volume that tolerates so many failures.
fn two(tolerated: &str) -> Two {
    two_with(&[("dfs.datanode.failed.volumes.tolerated", tolerated)])
}

fn two_with(settings: &[(&str, &str)]) -> Two {
    two_at(tempfile::tempdir().unwrap(), settings)
}

fn two_at(directory: tempfile::TempDir, settings: &[(&str, &str)]) -> Two {
    let mut conf = Conf::new();
    let at = directory.path().display();
    conf.set("dfs.datanode.data.dir", format!("[DISK]{at}/disk,[ARCHIVE]{at}/archive"));
    settings.iter().for_each(|(name, value)| conf.set(name, *value));
    let settings = Settings::read(&conf).unwrap();
    let store = Arc::new(Store::open(&settings).unwrap());
    store.setup().open_pool(&identity("CID-1")).unwrap();
    Two { directory, settings, store }
}

impl Two {
    /// Block files in a volume's directory.
    fn files(&self, volume: &str) -> usize {
        let mut directories = vec![self.directory.path().join(volume)];
        let mut count = 0;
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap()) {
                if entry.file_type().unwrap().is_dir() {
                    directories.push(entry.path());
                } else if entry.file_name().to_string_lossy().starts_with("blk_") {
                    count += 1;
                }
            }
        }
        count
    }

    /// Looks at the volumes, and waits for the disks.
    fn look(&self) {
        self.store.look_at_volumes();
        self.store.volumes().all().iter().for_each(|volume| volume.wait_for_check());
    }

    fn finalized(&self, id: i64, len: usize) {
        let target = written(&self.store, id, len);
        self.store.writes().finalize(&target.replica, Durability::PageCache).unwrap();
    }

    fn used(&self) -> Vec<(u64, u64)> {
        self.store.volumes().all().iter().map(|v| (v.used(), v.blocks())).collect()
    }
}

const LEN: usize = 3_000_001;

#[test]
fn a_replica_moves_to_another_volume_under_its_readers() {
    let two = two("0");
    let archive = StorageType::Archive;
    let wanted = block(1, 1001, LEN as u64);
    let open = written(&two.store, 1, LEN);
    assert!(
        message(two.store.moves().move_to_type(&wanted, archive).map(drop)).contains("Cannot move")
    );
    two.store.writes().finalize(&open.replica, Durability::PageCache).unwrap();
    two.finalized(2, 100);
    let before = two.used();
    let mut readers = Readers::new(&two.store);
    let [moved, other] = [1, 2].map(|id| readers.hold(&two.store, id));
    let opened = two.store.reads().open_replica(&wanted, 0).unwrap();

    let same = two.store.moves().move_to_type(&wanted, StorageType::Disk).map(drop);
    assert!(message(same).contains("already exists on storage DISK"));
    let short = two.store.moves().move_to_type(&block(1, 1001, 7), archive).map(drop);
    assert!(message(short).contains("expected length is 7"));
    let done = two.store.moves().move_to_type(&wanted, archive).unwrap();
    assert!(!readers.may_go_on(moved) && readers.may_go_on(other));
    assert_eq!(done.replica.volume.location.storage_type, archive);
    two.store.moves().clean_up(&wanted.pool, &done);

    // Who has it open reads on; who opens it, by the new or the old way to it, gets the new files.
    opened.reader.verify().unwrap();
    let again = two.store.reads().open_replica(&wanted, 0).unwrap();
    again.reader.verify().unwrap();
    assert_eq!(again.visible, LEN as u64);
    assert!(again.reader.path().starts_with(two.directory.path().join("archive")));
    assert_eq!(
        two.store.reads().open_files(&wanted).unwrap().data.metadata().unwrap().len(),
        LEN as u64
    );
    assert_eq!((two.files("disk"), two.files("archive")), (2, 2));
    let after = two.used();
    assert_eq!(after[0].0 + after[1].0, before[0].0);
    assert_eq!((after[0].1, after[1].1), (1, 1));

    // And back, found again after a restart, and deleted where it is.
    let back = two.store.moves().move_to_type(&wanted, StorageType::Disk).unwrap();
    two.store.moves().clean_up(&wanted.pool, &back);
    assert_eq!(two.used(), before);
    let pool = two.store.pools().get(&wanted.pool).unwrap();
    two.store.removal().delete(&pool, wanted.block).unwrap();
    assert_eq!((two.files("disk"), two.files("archive")), (2, 0));
}

#[test]
fn a_corrupt_replica_does_not_move() {
    let two = two("0");
    two.finalized(1, LEN);
    let wanted = block(1, 1001, LEN as u64);
    let path = two.store.reads().paths(&wanted).unwrap().1[0].clone();
    let mut bytes = fs::read(&path).unwrap();
    bytes[2_000_000] ^= 1;
    fs::write(&path, bytes).unwrap();
    let failed = message(two.store.moves().move_to_type(&wanted, StorageType::Archive).map(drop));
    assert!(failed.contains("at offset 1999872"), "{failed}");
    assert_eq!((two.files("disk"), two.files("archive")), (2, 0));
    assert_eq!(two.used()[1], (0, 0));
}

/// A crash between the switch and the deletion leaves both copies: one of them serves after the start.
#[test]
fn what_a_move_left_behind_goes_at_the_next_start() {
    let two = two("0");
    two.finalized(1, 5000);
    let wanted = block(1, 1001, 5000);
    drop(two.store.moves().move_to_type(&wanted, StorageType::Archive).unwrap());
    assert_eq!((two.files("disk"), two.files("archive")), (2, 2));
    let Two { directory, settings, store } = two;
    drop(store);
    let store = Arc::new(Store::open(&settings).unwrap());
    store.setup().open_pool(&identity("CID-1")).unwrap();
    let two = Two { directory, settings, store };
    assert_eq!(two.files("disk") + two.files("archive"), 2);
    two.store.reads().open_replica(&wanted, 0).unwrap().reader.verify().unwrap();
    assert_eq!(two.used().iter().map(|used| used.1).sum::<u64>(), 1);
}

fn moved_away(two: &Two, volume: &str) -> PathBuf {
    let aside = two.directory.path().join("aside");
    fs::rename(two.directory.path().join(volume), &aside).unwrap();
    aside
}

#[test]
fn a_volume_that_is_gone_is_noticed_and_its_readers_are_told() {
    let two = two("1");
    two.finalized(1, 700);
    let mut readers = Readers::new(&two.store);
    let held = readers.hold(&two.store, 1);
    two.look();
    assert!(two.store.failures().untold().is_empty() && readers.may_go_on(held));

    let aside = moved_away(&two, "disk");
    // An empty directory in its place: as when a disk is unmounted.
    fs::create_dir(two.directory.path().join("disk")).unwrap();
    two.look();
    assert!(!readers.may_go_on(held));
    let [failure] = &two.store.failures().untold()[..] else { panic!("one failure") };
    assert!(failure.directory.ends_with("/disk") && failure.reason.contains("it is gone"));
    assert!(two.store.failures().untold().is_empty());
    two.store.failures().check().unwrap();
    assert!(
        message(two.store.reads().open_replica(&block(1, 1001, 0), 0).map(drop))
            .contains("not found")
    );
    let state = two.store.storage_reports(None);
    assert_eq!((state.reports.len(), state.failed_volumes), (1, 1));
    let summary = state.failure_summary.unwrap();
    assert!(summary.failed_storage_locations[0].ends_with("/disk"));
    assert!(summary.estimated_capacity_lost_total > 0 && summary.last_volume_failure_date > 0);
    assert_eq!(two.store.block_reports("BP-1-127.0.0.1-1", |_| false).len(), 1);

    drop(aside);
    moved_twice(&two);
}

/// The second one is more than is tolerated.
fn moved_twice(two: &Two) {
    fs::remove_dir_all(two.directory.path().join("archive")).unwrap();
    two.look();
    let said = two.store.failures().check().unwrap_err().to_string();
    assert!(said.starts_with("2 of 2 volumes in dfs.datanode.data.dir failed"), "{said}");
    assert!(said.contains("failed.volumes.tolerated is 1; first: volume"), "{said}");
}

/// A read that finds nothing asks first whether the volume is there: replicas on a lost volume are
/// not reported as lost one by one.
#[test]
fn a_read_on_a_volume_that_is_gone_takes_it_out() {
    let two = two("-1");
    two.finalized(1, 700);
    let being_written = written(&two.store, 2, 700);
    moved_away(&two, "disk");
    let failure = two.store.reads().open_replica(&block(1, 1001, 0), 0).map(drop).unwrap_err();
    assert!(matches!(failure, Failure::Files(_)), "{failure}");
    assert_eq!(two.store.failures().untold().len(), 1);
    two.store.failures().check().unwrap();
    assert!(two.store.pools().get("BP-1-127.0.0.1-1").unwrap().all().is_empty());
    // A writer that was there already is not served any further.
    assert!(two.store.writes().finalize(&being_written.replica, Durability::PageCache).is_err());
}

#[test]
fn another_volume_in_the_same_place_is_not_taken_for_it() {
    let (one, other) = (two("1"), two("1"));
    moved_away(&one, "disk");
    fs::rename(other.directory.path().join("disk"), one.directory.path().join("disk")).unwrap();
    one.look();
    let failures = one.store.failures().untold();
    assert!(failures[0].reason.contains("it is another volume now, DS-"), "{failures:?}");
}

/// Stops and starts the store with one replica of 1000 bytes that is being written, marked for so long.
fn over_a_restart(time: Duration) -> Two {
    let two = two("0");
    let target = written(&two.store, 1, 1000);
    mark_restart("BP-1-127.0.0.1-1", &target.replica, time).unwrap();
    drop(target);
    let Two { directory, settings, store } = two;
    drop(store);
    let store = Arc::new(Store::open(&settings).unwrap());
    store.setup().open_pool(&identity("CID-1")).unwrap();
    Two { directory, settings, store }
}

#[test]
fn a_replica_waits_for_its_writer_over_a_restart() {
    let two = over_a_restart(Duration::from_secs(600));
    let replica = two.store.pools().replica(&block(1, 1001, 0)).unwrap();
    assert_eq!((replica.state(), replica.block().len), (ReplicaState::Rbw, 1000));
    assert_eq!(two.used()[0], (0, 0));
    let (stamp, by) = (GenerationStamp(1002), writer());
    two.store.writes().recover_rbw(&block(1, 1001, 0), stamp, 1000, 2000, &by).unwrap();
    replica.release(&by);
    let done = two.store.writes().finalize(&replica, Durability::PageCache).unwrap();
    assert_eq!(done, block(1, 1002, 1000).block);
    // The mark is good for one start.
    let marks = fs::read_dir(two.directory.path().join("disk/current/BP-1-127.0.0.1-1/current"));
    let names = marks.unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().all(|name| !name.contains("restart")));
}

#[test]
fn a_replica_whose_writer_waited_too_long_waits_to_be_recovered() {
    let two = over_a_restart(Duration::ZERO);
    let replica = two.store.pools().replica(&block(1, 1001, 0)).unwrap();
    assert_eq!(replica.state(), ReplicaState::Rwr);
}

/// An append or a recovery waited for the lock that a move held, and went on with the old files, which
/// the move deletes.
#[test]
fn who_waits_while_a_replica_moves_works_with_the_new_one() {
    let two = two("0");
    two.finalized(1, 1000);
    let waited = std::cell::Cell::new(false);
    let archive = Arc::clone(&two.store.volumes().all()[1]);
    let worked = two.store.pools().with_current(
        &block(1, 1001, 0),
        |replica| {
            if !waited.replace(true) {
                two.store.moves().move_to_type(&block(1, 1001, 1000), StorageType::Archive)?;
            }
            replica.lock_now()
        },
        |replica, status| {
            assert!(Arc::ptr_eq(&replica.volume, &archive) && status.block().len == 1000);
            Ok(())
        },
    );
    worked.unwrap();
}

/// A disk that hangs: its VERSION file is a pipe that nobody writes to, so that a read does not return.
struct HungDisk(PathBuf);

impl HungDisk {
    fn new(two: &Two, volume: &str) -> Self {
        let version = two.directory.path().join(volume).join("current/VERSION");
        fs::remove_file(&version).unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &version,
            rustix::fs::FileType::Fifo,
            mode,
            rustix::fs::makedev(0, 0),
        )
        .unwrap();
        Self(version)
    }
}

impl Drop for HungDisk {
    /// Lets the threads go that wait for it.
    fn drop(&mut self) {
        let flags = rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::NONBLOCK;
        let _nobody_waits_any_more = rustix::fs::open(&self.0, flags, rustix::fs::Mode::empty());
    }
}

fn two_with_timeout(timeout: &str) -> Two {
    two_with(&[
        ("dfs.datanode.failed.volumes.tolerated", "1"),
        ("dfs.datanode.disk.check.timeout", timeout),
    ])
}

/// Heartbeats asked the disks for their space, and checks of a disk that did not return were waited for.
#[test]
fn a_disk_that_does_not_answer_is_taken_out_and_nobody_waits_for_it() {
    let two = two_with_timeout("300ms");
    two.finalized(1, 700);
    let mut readers = Readers::new(&two.store);
    let held = readers.hold(&two.store, 1);
    let hung = HungDisk::new(&two, "disk");
    let began = std::time::Instant::now();
    two.store.look_at_volumes();
    // What a heartbeat says is known while the disk hangs.
    let state = two.store.storage_reports(None);
    assert_eq!((state.reports.len(), state.failed_volumes), (2, 0));
    assert!(state.reports.iter().all(|report| report.capacity() > 0));
    while two.store.failures().untold().is_empty() {
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::yield_now();
        two.store.look_at_volumes();
    }
    assert!(began.elapsed() >= Duration::from_millis(300));
    assert!(!readers.may_go_on(held));
    let state = two.store.storage_reports(None);
    assert_eq!((state.reports.len(), state.failed_volumes), (1, 1));
    drop(hung);
}

/// An I/O error makes a thread ask whether the disk is well: it does not wait for ever either.
#[test]
fn an_error_on_a_disk_that_hangs_takes_it_out() {
    let two = two_with_timeout("200ms");
    let volume = Arc::clone(&two.store.volumes().all()[0]);
    let hung = HungDisk::new(&two, "disk");
    two.store.volume_checks().check(&volume);
    assert!(volume.has_failed());
    let failures = two.store.failures().untold();
    assert!(failures[0].reason.contains("did not answer a check within 200 ms"), "{failures:?}");
    drop(hung);
}

/// A thread that waits for the disk holds a replica's lock: the volume was taken out never.
#[test]
fn a_replica_that_is_locked_does_not_keep_its_volume_in_use() {
    let two = two("1");
    two.finalized(1, 700);
    let (locked, volume) =
        (two.store.pools().replica(&block(1, 1001, 0)).unwrap(), &two.store.volumes().all()[0]);
    let lock = locked.lock();
    assert!(volume.fail());
    two.store.volume_checks().take_out(volume, "it hangs".to_owned());
    assert!(two.store.pools().get("BP-1-127.0.0.1-1").unwrap().all().is_empty());
    drop(lock);
}

/// `dfs.datanode.max.slowdisks.to.exclude` was accepted and not obeyed.
#[test]
fn the_slowest_disk_gets_no_new_replicas_while_another_of_its_type_has_room() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path().display();
    let mut conf = Conf::new();
    let disks = format!("[DISK]{at}/a,[DISK]{at}/b,[DISK]{at}/c,[DISK]{at}/d,[ARCHIVE]{at}/e");
    conf.set("dfs.datanode.data.dir", disks);
    conf.set("dfs.datanode.min.outlier.detection.disks", "3");
    conf.set("dfs.datanode.max.slowdisks.to.exclude", "2");
    let store = Store::open(&Settings::read(&conf).unwrap()).unwrap();
    store.setup().open_pool(&identity("CID-1")).unwrap();
    for (volume, seconds) in store.volumes().all().iter().zip([1, 50, 1, 1, 50]) {
        volume.times.note(DiskCall::Write, Duration::from_secs(seconds));
    }
    let volume_of = |id, storage_type| {
        let placement = Placement { storage_type, ..placement() };
        let target = store.writes().create_rbw(
            &block(id, 1001, 0),
            GenerationStamp(0),
            placement,
            &writer(),
        );
        target.unwrap().replica.volume.root().file_name().unwrap().to_owned()
    };
    let disks: Vec<_> = (1..=4).map(|id| volume_of(id, StorageType::Disk)).collect();
    assert_eq!(disks, ["a", "c", "d", "a"]);
    assert_eq!(volume_of(5, StorageType::Archive), "e");
}

/// The directories of volumes and the files of blocks could be read by every user of the machine.
#[test]
fn block_files_are_for_the_owner_unless_the_permissions_say_otherwise() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let two = two_with(&[]);
    two.finalized(1, 700);
    let (_, [data, meta]) = two.store.reads().paths(&block(1, 1001, 0)).unwrap();
    let root = two.directory.path().join("disk");
    assert_eq!(
        [&root, &root.join("current"), &data, &meta].map(mode),
        [0o700, 0o700, 0o600, 0o600]
    );
    // The legacy reader of another user of the group needs 750; existing directories follow the key.
    let Two { directory, store, .. } = two;
    drop(store);
    let two = two_at(directory, &[("dfs.datanode.data.dir.perm", "750")]);
    assert_eq!(mode(&root), 0o750);
    two.finalized(2, 700);
    let (_, [data, _]) = two.store.reads().paths(&block(2, 1001, 0)).unwrap();
    assert_eq!(mode(&data), 0o640);
}
