//! Disks that hang while a DataNode starts.

use super::store_test::identity;
use super::*;
use crate::settings::Settings;
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use std::fs;
use std::path::{Path, PathBuf};
use zerohop_conf::Conf;

/// Two volumes that were in use before; a disk may take 300 ms.
fn used_before(directory: &Path) -> (Settings, [PathBuf; 2]) {
    let paths = ["good", "hung"].map(|name| directory.join(name));
    let mut conf = Conf::new();
    let texts = paths.each_ref().map(|path| path.display().to_string());
    conf.set("dfs.datanode.data.dir", texts.join(","));
    conf.set("dfs.datanode.disk.check.timeout", "300ms");
    conf.set("dfs.datanode.failed.volumes.tolerated", "1");
    let settings = Settings::read(&conf).unwrap();
    Store::open(&settings).unwrap().setup().open_pool(&identity("CID-1")).unwrap();
    (settings, paths)
}

/// A file of which an open does not return until this is dropped: a FIFO without a writer.
struct Hang(PathBuf);

impl Hang {
    fn at(path: PathBuf) -> Self {
        fs::remove_file(&path).unwrap();
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        Self(path)
    }
}

impl Drop for Hang {
    fn drop(&mut self) {
        let flags = OFlags::WRONLY | OFlags::NONBLOCK;
        let _ended = rustix::fs::open(&self.0, flags, Mode::empty());
    }
}

fn roots(volumes: &[Arc<DataVolume>]) -> Vec<&Path> {
    volumes.iter().map(|volume| volume.root()).collect()
}

/// The start waited for ever for a disk that did not return from open.
#[test]
fn a_disk_that_hangs_at_the_start_is_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let (settings, [good, hung]) = used_before(directory.path());
    let _hang = Hang::at(hung.join("current/VERSION"));
    let store = Store::open(&settings).unwrap();
    assert_eq!(roots(&store.volumes().all()), [&good]);
    let (failed, summary) = store.failures().summary();
    assert_eq!((failed, summary.unwrap().failed_storage_locations.len()), (1, 1));
    store.setup().open_pool(&identity("CID-1")).unwrap();
    assert!(store.pools().wait_for(&identity("CID-1").pool_id, Duration::ZERO));
}

/// A copied disk was accepted: both volumes were one storage for the NameNode, and half of the replicas were missing.
#[test]
fn a_second_volume_with_the_same_storage_id_was_accepted() {
    let directory = tempfile::tempdir().unwrap();
    let (settings, [original, copy]) = used_before(directory.path());
    let version = |volume: &Path| volume.join("current/VERSION");
    let is_refused = |error: &str| {
        let named = [&original, &copy].iter().all(|path| error.contains(path.to_str().unwrap()));
        assert!(named && error.contains("storage id DS-"), "{error}");
    };
    let own = fs::read(version(&copy)).unwrap();
    fs::copy(version(&original), version(&copy)).unwrap();
    is_refused(&Store::open(&settings).err().unwrap().to_string());
    // A volume that is added later is refused as well, and its directory is unlocked.
    fs::write(version(&copy), own).unwrap();
    let store = Store::open(&settings).unwrap();
    let added = store.volumes().all()[1].location.clone();
    store.setup().remove_volume(&Arc::clone(&store.volumes().all()[1]));
    fs::copy(version(&original), version(&copy)).unwrap();
    let options = VolumeOptions::from_settings(&settings);
    let refused = store.setup().add_volume(added, options, &[]).err().unwrap();
    is_refused(&refused.to_string());
    assert!(!copy.join("in_use.lock").exists());
}

/// The registration waited for ever for a disk that hung while its replicas were listed.
#[test]
fn a_disk_that_hangs_while_it_is_listed_is_taken_out() {
    let directory = tempfile::tempdir().unwrap();
    let (settings, [good, hung]) = used_before(directory.path());
    let pool = identity("CID-1").pool_id;
    let _hang = Hang::at(hung.join("current").join(&*pool).join("current/VERSION"));
    let store = Store::open(&settings).unwrap();
    assert_eq!(store.volumes().in_use().len(), 2);
    store.setup().open_pool(&identity("CID-1")).unwrap();
    assert_eq!(roots(&store.volumes().in_use()), [&good]);
    assert!(store.failures().untold()[0].reason.contains("no answer within 300 ms"));
    // It can be given up although it is locked by the thread that hangs.
    let all = store.volumes().all();
    let hung = all.iter().find(|volume| volume.has_failed()).unwrap();
    store.setup().remove_volume(hung);
    assert_eq!(roots(&store.volumes().all()), [&good]);
}
