//! The NameNode's directories through their life: formatted, loaded, written, damaged, lost.

mod apart;
mod damaged;
mod empty;
mod finished;
mod full;
mod rollback;
mod upgrades;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use zerohop_journal::image::{ImageReader, ImageWriter, SectionName};
use zerohop_journal::op::{self, EditOp, Record};
use zerohop_journal::types::RpcIds;
use zerohop_namenode::storage::*;
use zerohop_proto::hdfs::fsimage::NameSystemSection;
use zerohop_wire::TxId;

/// Keeps what it is given.
#[derive(Default)]
struct Seen {
    image_txid: u64,
    edits: Vec<Record>,
}

impl Replay for Seen {
    fn image(&mut self, image: &ImageReader) -> Result<(), ReplayError> {
        let mut section = image.section(SectionName::NsInfo)?.ok_or("no counters")?;
        self.image_txid = section.expect::<NameSystemSection>()?.transaction_id();
        Ok(())
    }

    fn edit(&mut self, record: Record) -> Result<(), ReplayError> {
        self.edits.push(record);
        Ok(())
    }
}

impl Seen {
    fn paths(&self) -> Vec<&str> {
        let paths = self.edits.iter().filter_map(|record| match &record.op {
            EditOp::AllowSnapshot(op) => Some(op.root.as_str()),
            _ => None,
        });
        paths.collect()
    }
}

fn image_of(txid: u64) -> impl FnOnce(&mut ImageWriter<'_>) -> std::io::Result<()> {
    move |image| {
        image.message(&NameSystemSection { transaction_id: Some(txid), ..Default::default() })?;
        image.end(SectionName::NsInfo)?;
        Ok(())
    }
}

fn edit(path: &str) -> (EditOp, RpcIds) {
    (op::AllowSnapshot { root: path.to_owned() }.into(), RpcIds::NONE)
}

fn one((op, rpc): &(EditOp, RpcIds)) -> [(&EditOp, &RpcIds); 1] {
    [(op, rpc)]
}

/// `count` directories that exist, below one that goes away at the end.
struct Directories {
    root: TempDir,
    config: StorageConfig,
}

impl Directories {
    fn new(count: usize) -> Self {
        let root = tempfile::tempdir().unwrap();
        let dirs = (0..count).map(|n| root.path().join(format!("name{n}"))).collect();
        Self { root, config: StorageConfig::new(dirs) }
    }

    fn formatted(count: usize) -> Self {
        let directories = Self::new(count);
        let write = |_: &StorageInfo, image: &mut ImageWriter<'_>| image_of(0)(image);
        NameStorage::format(directories.config.clone(), FormatOptions::default(), write).unwrap();
        directories
    }

    fn path(&self, n: usize, name: &str) -> PathBuf {
        self.root.path().join(format!("name{n}/current/{name}"))
    }

    fn names(&self, n: usize) -> Vec<String> {
        let entries = fs::read_dir(self.path(n, "")).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn open(&self) -> Result<Arc<NameStorage>, StorageError> {
        NameStorage::open(self.config.clone()).map(Arc::new)
    }

    fn load(&self) -> Result<(Arc<NameStorage>, LoadReport, Seen), StorageError> {
        let storage = self.open()?;
        let mut seen = Seen::default();
        let report = storage.load(&mut seen)?;
        Ok((storage, report, seen))
    }

    fn start(&self) -> (Arc<NameStorage>, EditLog) {
        let (storage, report, _) = self.load().unwrap();
        let next = report.last_txid + 1;
        let log = EditLog::start(Arc::clone(&storage), next, |failure| panic!("{failure}"));
        (storage, log.unwrap())
    }

    /// One session that logs an edit for each path, and ends cleanly or as by a crash.
    fn session(&self, paths: &[&str], clean: bool) {
        let (_storage, log) = self.start();
        for path in paths {
            log.log(one(&edit(path))).wait().unwrap();
        }
        if clean {
            log.close().unwrap();
        }
    }
}

/// Asserts that directories do not open, and that the one line says why.
fn refused<T>(result: Result<T, StorageError>, text: &str) {
    let Err(error) = result else { panic!("it opened") };
    let line = error.to_string();
    assert!(line.contains(text) && !line.contains('\n'), "{line}");
}

#[test]
fn formatted_directories_look_like_apaches() {
    let directories = Directories::formatted(1);
    assert_eq!(
        directories.names(0),
        ["VERSION", "fsimage_0000000000000000000", "fsimage_0000000000000000000.md5", "seen_txid"]
    );
    assert_eq!(fs::read_to_string(directories.path(0, "seen_txid")).unwrap(), "0\n");
    let storage = directories.open().unwrap();
    let info = storage.info();
    assert!(info.cluster_id.starts_with("CID-") && info.block_pool_id.starts_with("BP-"));
    let lock = fs::read_to_string(directories.path(0, "../in_use.lock")).unwrap();
    assert!(lock.starts_with(&format!("{}@", std::process::id())), "{lock}");
}

#[test]
fn what_is_logged_is_loaded() {
    let directories = Directories::formatted(2);
    directories.session(&["/a", "/b"], true);
    directories.session(&["/c"], false);
    let (storage, report, seen) = directories.load().unwrap();
    assert_eq!(seen.paths(), ["/a", "/b", "/c"]);
    assert_eq!((report.image_txid, report.last_txid, report.needs_save), (0, 6, false));
    assert_eq!(
        seen.edits.iter().map(|record| record.txid.0).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5, 6]
    );
    for n in 0..2 {
        let names = directories.names(n);
        assert!(names.contains(&"edits_0000000000000000001-0000000000000000004".to_owned()));
        assert!(names.contains(&"edits_0000000000000000005-0000000000000000006".to_owned()));
    }
    drop(storage);
}

#[test]
fn a_directory_that_apache_wrote() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../journal/tests/fixtures");
    let directories = Directories::new(1);
    fs::create_dir_all(directories.path(0, "")).unwrap();
    for entry in fs::read_dir(fixture.join("apache-3.4.3/current")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), directories.path(0, entry.file_name().to_str().unwrap())).unwrap();
    }
    let (storage, report, seen) = directories.load().unwrap();
    assert_eq!((report.image_txid, report.last_txid, report.edits), (143, 149, 6));
    assert_eq!(seen.image_txid, 143);
    assert_eq!(storage.info().cluster_id, "testClusterID");
    // The padding of the segment in progress is gone, and the segment is final.
    let last = directories.path(0, "edits_0000000000000000144-0000000000000000149");
    assert_eq!(fs::metadata(last).unwrap().len(), 323);
}

#[test]
fn formatting_destroys_nothing_by_accident() {
    let directories = Directories::formatted(1);
    let config = || directories.config.clone();
    assert_eq!(config().dirs_with_data(), directories.config.image_dirs);
    let write = |_: &StorageInfo, image: &mut ImageWriter<'_>| image_of(0)(image);
    refused(NameStorage::format(config(), FormatOptions::default(), write), "format with -force");
    let open = directories.open().unwrap();
    let force = FormatOptions { force: true, cluster_id: Some("mine".to_owned()) };
    refused(NameStorage::format(config(), force.clone(), write), "already locked by");
    drop(open);
    assert_eq!(NameStorage::format(config(), force, write).unwrap().cluster_id, "mine");
}

#[test]
fn directories_that_do_not_open_say_why() {
    let directories = Directories::new(1);
    refused(directories.open(), "does not exist or is not accessible");
    fs::create_dir_all(directories.path(0, "..")).unwrap();
    refused(directories.open(), "NameNode is not formatted.");
    fs::create_dir_all(directories.path(0, "")).unwrap();
    fs::write(directories.path(0, "edits_0000000000000000001-0000000000000000004"), "").unwrap();
    refused(directories.open(), "no VERSION");
    let directories = Directories::formatted(2);
    let open = directories.open().unwrap();
    refused(directories.open(), &format!("already locked by {}@", std::process::id()));
    drop(open);
    let version = fs::read_to_string(directories.path(1, "VERSION")).unwrap();
    let with =
        |from, to| fs::write(directories.path(1, "VERSION"), version.replace(from, to)).unwrap();
    with("layoutVersion=-67", "layoutVersion=-68");
    refused(directories.open(), "Reported: -68. Expecting = -67.");
    with("namespaceID=", "namespaceID=1");
    refused(directories.open(), "namespaceID is incompatible with others.");
    with("layoutVersion=-67", "layoutVersion=-66");
    refused(directories.open(), "layoutVersion is incompatible with others.");
    fs::write(
        directories.path(0, "VERSION"),
        version.replace("layoutVersion=-67", "layoutVersion=-66"),
    )
    .unwrap();
    refused(directories.open(), "An upgrade to version -67 is required");
}

#[test]
fn a_torn_last_record_is_cut() {
    let directories = Directories::formatted(1);
    directories.session(&["/a", "/b"], false);
    let path = directories.path(0, "edits_inprogress_0000000000000000001");
    let records = fs::read(&path).unwrap();
    let end = records.iter().rposition(|byte| *byte != 0xff).unwrap();
    fs::write(&path, &records[..end]).unwrap();
    let (_storage, report, seen) = directories.load().unwrap();
    assert_eq!((report.last_txid, seen.paths()), (2, vec!["/a"]));
}

#[test]
fn a_torn_middle_says_where() {
    let directories = Directories::formatted(1);
    directories.session(&["/a", "/b"], false);
    let path = directories.path(0, "edits_inprogress_0000000000000000001");
    let mut records = fs::read(&path).unwrap();
    records[40] ^= 1;
    fs::write(&path, &records).unwrap();
    refused(
        directories.load(),
        "edits_inprogress_0000000000000000001 is corrupt at offset 25, after transaction 1",
    );
}

/// The same damage, with a second directory: it stands in, the damaged one is not used any more.
#[test]
fn another_directory_stands_in_for_a_damaged_one() {
    let directories = Directories::formatted(2);
    directories.session(&["/a", "/b"], false);
    let path = directories.path(0, "edits_inprogress_0000000000000000001");
    let mut records = fs::read(&path).unwrap();
    records[40] ^= 1;
    fs::write(&path, &records).unwrap();
    let (storage, _, seen) = directories.load().unwrap();
    assert_eq!(seen.paths(), ["/a", "/b"]);
    assert!(storage.dirs()[0].has_failed() && !storage.dirs()[1].has_failed());
}

/// A finished segment that is damaged in one directory is read on from another.
#[test]
fn a_damaged_finished_segment_is_read_on_elsewhere() {
    let directories = Directories::formatted(2);
    directories.session(&["/a", "/b"], true);
    let name = "edits_0000000000000000001-0000000000000000004";
    for (n, at) in [(0, 40), (1, 8)] {
        let mut records = fs::read(directories.path(n, name)).unwrap();
        records[at] ^= 1;
        fs::write(directories.path(n, name), &records).unwrap();
        match directories.load() {
            Ok((_, _, seen)) => assert_eq!((n, seen.paths()), (0, vec!["/a", "/b"])),
            Err(e) => assert!(n == 1 && e.to_string().contains("is corrupt at offset"), "{e}"),
        }
    }
}

#[test]
fn missing_edits_are_a_gap() {
    let directories = Directories::formatted(1);
    for path in ["/a", "/b", "/c"] {
        directories.session(&[path], true);
    }
    let last = directories.path(0, "edits_0000000000000000007-0000000000000000009");
    let kept = fs::read(&last).unwrap();
    fs::remove_file(&last).unwrap();
    refused(
        directories.load(),
        "until at least txid 7 but unable to find any edit logs containing txid 7",
    );
    fs::write(&last, kept).unwrap();
    fs::remove_file(directories.path(0, "edits_0000000000000000004-0000000000000000006")).unwrap();
    refused(
        directories.load(),
        "until at least txid 9 but unable to find any edit logs containing txid 4",
    );
}

#[test]
fn a_saved_image_is_where_loading_begins() {
    let directories = Directories::formatted(2);
    let (storage, log) = directories.start();
    log.log(one(&edit("/a"))).wait().unwrap();
    let (ended, sync) = log.roll();
    sync.wait().unwrap();
    assert_eq!(ended, TxId(3));
    storage.save_image(3, image_of(3)).unwrap();
    log.log(one(&edit("/b"))).wait().unwrap();
    log.close().unwrap();
    drop((log, storage));
    let (_storage, report, seen) = directories.load().unwrap();
    assert_eq!((seen.image_txid, report.image_txid, report.edits), (3, 3, 3));
    assert_eq!(seen.paths(), ["/b"]);
    assert_eq!(fs::read_to_string(directories.path(1, "seen_txid")).unwrap(), "4\n");
}

/// A bad image falls back to its copy, and if there is none, not to an older image.
#[test]
fn a_damaged_image_is_not_loaded() {
    let directories = Directories::formatted(2);
    let (storage, log) = directories.start();
    let ended = log.roll().0;
    storage.save_image(ended.0, image_of(ended.0 as u64)).unwrap();
    log.close().unwrap();
    drop((log, storage));
    for n in 0..2 {
        let path = directories.path(n, "fsimage_0000000000000000002");
        let mut bytes = fs::read(&path).unwrap();
        bytes[10] ^= 1;
        fs::write(&path, bytes).unwrap();
        if n == 0 {
            assert_eq!(directories.load().unwrap().1.image_txid, 2);
        }
    }
    refused(directories.load(), "its MD5 is");
}

#[test]
fn old_images_and_edits_go() {
    let mut directories = Directories::formatted(1);
    directories.config.extra_edits_retained = 1;
    let (storage, log) = directories.start();
    for _ in 0..4 {
        let (ended, sync) = log.roll();
        sync.wait().unwrap();
        storage.save_image(ended.0, image_of(ended.0 as u64)).unwrap();
    }
    // Needed are the edits behind image 6; of those before, one transaction's segment is wanted.
    assert_eq!(
        directories.names(0),
        [
            "VERSION",
            "edits_0000000000000000005-0000000000000000006",
            "edits_0000000000000000007-0000000000000000008",
            "edits_inprogress_0000000000000000009",
            "fsimage_0000000000000000006",
            "fsimage_0000000000000000006.md5",
            "fsimage_0000000000000000008",
            "fsimage_0000000000000000008.md5",
            "seen_txid",
        ]
    );
    log.close().unwrap();
}

#[test]
fn a_new_directory_becomes_a_copy() {
    let mut directories = Directories::formatted(1);
    directories.session(&["/a"], true);
    let second = directories.root.path().join("name1");
    fs::create_dir(&second).unwrap();
    directories.config.image_dirs.push(second.clone());
    directories.config.edits_dirs.push(second);
    let (storage, report, _) = directories.load().unwrap();
    assert!(report.needs_save);
    storage.save_image(report.last_txid, image_of(3)).unwrap();
    drop(storage);
    directories.config.image_dirs.remove(0);
    directories.config.edits_dirs.remove(0);
    let (_storage, report, seen) = directories.load().unwrap();
    assert_eq!((report.image_txid, seen.image_txid), (3, 3));
}

#[test]
fn one_directory_may_fail_the_last_one_not() {
    let directories = Directories::formatted(2);
    let (storage, report, _) = directories.load().unwrap();
    let failures = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&failures);
    let log = EditLog::start(Arc::clone(&storage), report.last_txid + 1, move |failure| {
        told.lock().unwrap().push(failure.to_string());
    })
    .unwrap();
    fs::remove_dir_all(directories.path(0, "")).unwrap();
    log.roll().1.wait().unwrap();
    assert!(storage.dirs()[0].has_failed());
    log.log(one(&edit("/a"))).wait().unwrap();
    assert!(failures.lock().unwrap().is_empty());
    fs::remove_dir_all(directories.path(1, "")).unwrap();
    assert!(log.roll().1.wait().is_err());
    assert_eq!(failures.lock().unwrap().len(), 1);
    assert!(log.log(one(&edit("/b"))).wait().is_err());
    assert!(log.close().is_err());
}

#[test]
fn a_required_directory_may_not_fail() {
    let mut directories = Directories::formatted(2);
    directories.config.edits_dirs_required = vec![directories.config.edits_dirs[0].clone()];
    let (storage, report, _) = directories.load().unwrap();
    let log = EditLog::start(storage, report.last_txid + 1, |_| {}).unwrap();
    fs::remove_dir_all(directories.path(0, "")).unwrap();
    let failure = log.roll().1.wait().unwrap_err().to_string();
    assert!(failure.contains("required edits directory"), "{failure}");
}

#[test]
fn nothing_is_logged_behind_the_end() {
    let directories = Directories::formatted(1);
    let (_storage, log) = directories.start();
    log.close().unwrap();
    assert!(log.log(one(&edit("/late"))).wait().is_err());
    assert!(log.roll().1.wait().is_err());
    assert!(log.log([]).wait().is_ok(), "nothing to wait for");
}

/// Many callers share syncs, and the order on disk is the order in which they logged.
#[test]
fn callers_share_syncs() {
    const CALLERS: usize = 8;
    const EACH: usize = 200;
    let directories = Directories::formatted(1);
    let (_storage, log) = directories.start();
    let order = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (log, order) = (&log, &order);
            scope.spawn(move || {
                for n in 0..EACH {
                    let path = format!("/{caller}/{n}");
                    let sync = {
                        let mut order = order.lock().unwrap();
                        let sync = log.log(one(&edit(&path)));
                        order.push(path);
                        sync
                    };
                    if n % 50 == 0 {
                        log.roll().1.wait().unwrap();
                    }
                    sync.wait().unwrap();
                }
            });
        }
    });
    let stats = log.stats();
    assert_eq!(stats.synced_txid, stats.last_txid);
    assert!(stats.syncs < (CALLERS * EACH) as u64, "{stats:?}");
    log.close().unwrap();
    drop((log, _storage));
    let (_storage, _, seen) = directories.load().unwrap();
    assert_eq!(seen.paths(), *order.lock().unwrap());
}
