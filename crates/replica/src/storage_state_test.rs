//! Every combination of directories that `Storage.analyzeStorage` tells apart, for volumes and block pools.

use crate::{Place, Pool, PoolVersion, StartOptions, Volume};
use std::fs;
use std::path::PathBuf;
use zerohop_wire::{Block, BlockId, DataChecksum, GenerationStamp, meta_header};

pub(crate) const POOL: &str = "BP-1-127.0.0.1-2";
pub(crate) const OLD: i64 = 2;
pub(crate) const NEW: i64 = 3;
pub(crate) const BLOCKS: usize = 5;

pub(crate) fn version(ctime: i64) -> PoolVersion {
    PoolVersion { pool_id: POOL.to_owned(), namespace_id: 7, ctime }
}

/// A volume with a block pool of some replicas that Apache's DataNode is taken to have left.
pub(crate) struct Home {
    pub(crate) directory: tempfile::TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        let home = Self { directory: tempfile::tempdir().unwrap() };
        let pool = home.open(OLD).unwrap();
        for id in 1..=BLOCKS {
            put(&pool, id as i64, Place::Finalized);
        }
        put(&pool, 99, Place::Rbw);
        home
    }

    pub(crate) fn volume(&self) -> Result<Volume, String> {
        let mut volume = Volume::open(self.directory.path()).map_err(|e| e.to_string())?;
        volume.claim("CID-1", "uuid-1").map_err(|e| e.to_string())?;
        Ok(volume)
    }

    pub(crate) fn open(&self, ctime: i64) -> Result<Pool, String> {
        self.open_with(ctime, false)
    }

    pub(crate) fn open_with(&self, ctime: i64, rolls_back: bool) -> Result<Pool, String> {
        let options = StartOptions { rolls_back, ..StartOptions::default() };
        self.volume()?.open_pool_with(&version(ctime), options).map_err(|e| e.to_string())
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().join("current").join(POOL)
    }

    pub(crate) fn rename(&self, from: &str, to: &str) {
        fs::rename(self.root().join(from), self.root().join(to)).unwrap();
    }

    /// Links the replicas of a directory into a new `current`, all or the first ones.
    fn link(&self, from: &str, count: usize) {
        let (from, to) = (self.root().join(from), self.root().join("current"));
        let below = "finalized/subdir0/subdir0";
        fs::create_dir_all(to.join(below)).unwrap();
        for id in 1..=count {
            for name in [format!("blk_{id}"), format!("blk_{id}_1001.meta")] {
                fs::hard_link(from.join(below).join(&name), to.join(below).join(&name)).unwrap();
            }
        }
        fs::create_dir_all(to.join("rbw")).unwrap();
    }

    /// Does what an upgrade does, except that it links three replicas only.
    fn upgrade(&self, ctime: i64) {
        self.rename("current", "previous");
        self.link("previous", 3);
        self.write_version("current", ctime);
    }

    fn write_version(&self, directory: &str, ctime: i64) {
        let path = self.root().join(directory).join("VERSION");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        version(ctime).write(&path).unwrap();
    }

    /// Returns the names of the pool's directories, except for `tmp`.
    pub(crate) fn directories(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| name != "tmp").collect();
        names.sort();
        names
    }

    /// Returns all files below the volume with their lengths.
    fn files(&self) -> Vec<(PathBuf, u64)> {
        let mut found = Vec::new();
        let mut below = vec![self.directory.path().to_owned()];
        while let Some(directory) = below.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let entry = entry.unwrap();
                match entry.file_type().unwrap().is_dir() {
                    true => below.push(entry.path()),
                    false => found.push((entry.path(), entry.metadata().unwrap().len())),
                }
            }
        }
        found.sort();
        found
    }
}

fn put(pool: &Pool, id: i64, place: Place) {
    let block = Block { id: BlockId(id), stamp: GenerationStamp(1001), len: 4 };
    fs::create_dir_all(pool.directory(block.id, place)).unwrap();
    let mut sums = [0; 4];
    DataChecksum::default().compute(b"data", &mut sums).unwrap();
    fs::write(pool.data_path(block.id, place), b"data").unwrap();
    let meta = [&meta_header::encode(DataChecksum::default())[..], &sums].concat();
    fs::write(pool.meta_path(&block, place), meta).unwrap();
}

pub(crate) fn count(pool: &Pool) -> (usize, usize) {
    let found = pool.scan().unwrap();
    for replica in &found.finalized {
        pool.open(&replica.block, Place::Finalized).unwrap().verify().unwrap();
    }
    (found.finalized.len(), found.rbw.len())
}

/// The result of a start.
enum Outcome {
    /// The pool has this number of finalized replicas and these directories.
    Opens(usize, &'static [&'static str]),
    /// An error with this text; nothing is changed.
    Refuses(&'static str),
}
use Outcome::{Opens, Refuses};

/// A name of a state, the function that makes it, the NameNode's cTime, true for a start with `-rollback`, and the result.
type Row = (&'static str, fn(&Home), (i64, bool), Outcome);

const ROWS: &[Row] = &[
    ("ready", |_| (), (OLD, false), Opens(BLOCKS, &["current"])),
    (
        "previous.tmp without current: it was made new, and all replicas were gone",
        |home| home.rename("current", "previous.tmp"),
        (OLD, false),
        Opens(BLOCKS, &["current"]),
    ),
    (
        "previous.tmp without current, the NameNode is upgraded",
        |home| home.rename("current", "previous.tmp"),
        (NEW, false),
        Opens(BLOCKS, &["current", "previous"]),
    ),
    (
        "previous.tmp and a half-linked current without VERSION",
        |home| {
            home.rename("current", "previous.tmp");
            home.link("previous.tmp", 2);
        },
        (OLD, false),
        Opens(BLOCKS, &["current"]),
    ),
    (
        "previous.tmp and an empty current",
        |home| {
            home.rename("current", "previous.tmp");
            fs::create_dir(home.root().join("current")).unwrap();
        },
        (NEW, false),
        Opens(BLOCKS, &["current", "previous"]),
    ),
    (
        "previous.tmp and a whole current",
        |home| {
            home.rename("current", "previous.tmp");
            home.link("previous.tmp", BLOCKS);
            home.write_version("current", NEW);
        },
        (NEW, false),
        Opens(BLOCKS, &["current", "previous"]),
    ),
    (
        "previous.tmp and a whole current with an empty VERSION",
        |home| {
            home.rename("current", "previous.tmp");
            home.link("previous.tmp", BLOCKS);
            fs::write(home.root().join("current/VERSION"), b"").unwrap();
        },
        (NEW, false),
        Opens(BLOCKS, &["current", "previous"]),
    ),
    (
        "previous.tmp and an empty current with VERSION, as zerohop made it",
        |home| {
            home.rename("current", "previous.tmp");
            home.link("previous.tmp", 0);
            home.write_version("current", OLD);
        },
        (OLD, false),
        Opens(BLOCKS, &["current"]),
    ),
    (
        "previous.tmp and a current without VERSION that has a block of its own",
        |home| {
            home.rename("current", "previous.tmp");
            home.link("previous.tmp", 2);
            let own = home.root().join("current/finalized/subdir0/subdir0/blk_9");
            fs::write(own, b"data").unwrap();
        },
        (OLD, false),
        Refuses("blocks that are not in previous.tmp"),
    ),
    (
        "previous.tmp without VERSION",
        |home| {
            home.rename("current", "previous.tmp");
            fs::remove_file(home.root().join("previous.tmp/VERSION")).unwrap();
        },
        (OLD, false),
        Refuses("previous.tmp"),
    ),
    (
        "previous.tmp of an older layout",
        |home| {
            home.rename("current", "previous.tmp");
            let path = home.root().join("previous.tmp/VERSION");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, text.replace("-57", "-56")).unwrap();
        },
        (OLD, false),
        Refuses("upgrade it with Apache's DataNode first"),
    ),
    (
        "the NameNode is upgraded: replicas went on in place, and a rollback of it found them deleted",
        |_| (),
        (NEW, false),
        Opens(BLOCKS, &["current", "previous"]),
    ),
    (
        "an upgrade that is not finalized, and the next one",
        |home| home.upgrade(OLD),
        (NEW, false),
        Opens(3, &["current", "previous"]),
    ),
    (
        "previous and current",
        |home| home.upgrade(NEW),
        (NEW, false),
        Opens(3, &["current", "previous"]),
    ),
    (
        "previous and current, with -rollback",
        |home| home.upgrade(NEW),
        (OLD, true),
        Opens(BLOCKS, &["current"]),
    ),
    (
        "previous is newer than the NameNode, with -rollback",
        |home| {
            home.rename("current", "previous");
            home.write_version("previous", NEW);
            home.link("previous", 3);
            home.write_version("current", NEW);
        },
        (OLD, true),
        Refuses("its cTime 3 is newer than the NameNode's, 2"),
    ),
    (
        "previous and trash, with -rollback",
        |home| {
            home.upgrade(NEW);
            fs::create_dir(home.root().join("trash")).unwrap();
        },
        (OLD, true),
        Refuses("trash also exists"),
    ),
    (
        "previous without current",
        |home| home.rename("current", "previous"),
        (OLD, false),
        Refuses("previous: current has no VERSION"),
    ),
    (
        "previous and a current without VERSION",
        |home| {
            home.rename("current", "previous");
            home.link("previous", 3);
        },
        (OLD, false),
        Refuses("previous: current has no VERSION"),
    ),
    (
        "previous and previous.tmp",
        |home| {
            home.rename("current", "previous.tmp");
            fs::create_dir(home.root().join("previous")).unwrap();
        },
        (OLD, false),
        Refuses("previous.tmp: previous also exists"),
    ),
    (
        "removed.tmp and current",
        |home| fs::create_dir(home.root().join("removed.tmp")).unwrap(),
        (OLD, false),
        Opens(BLOCKS, &["current"]),
    ),
    (
        "removed.tmp and previous, without current",
        |home| {
            home.rename("current", "removed.tmp");
            home.link("removed.tmp", 3);
            home.write_version("current", OLD);
            home.rename("current", "previous");
        },
        (OLD, false),
        Opens(BLOCKS, &["current", "previous"]),
    ),
    (
        "removed.tmp and previous, without current, with -rollback",
        |home| {
            home.upgrade(NEW);
            home.rename("current", "removed.tmp");
        },
        (OLD, true),
        Opens(BLOCKS, &["current"]),
    ),
    (
        "removed.tmp, current and previous",
        |home| {
            fs::create_dir(home.root().join("removed.tmp")).unwrap();
            fs::create_dir(home.root().join("previous")).unwrap();
        },
        (OLD, false),
        Refuses("removed.tmp: both current and previous exist"),
    ),
    (
        "removed.tmp alone",
        |home| home.rename("current", "removed.tmp"),
        (OLD, false),
        Refuses("removed.tmp: neither current nor previous"),
    ),
    (
        "removed.tmp, previous and a current without VERSION",
        |home| {
            home.rename("current", "removed.tmp");
            fs::create_dir(home.root().join("previous")).unwrap();
            home.link("removed.tmp", 3);
        },
        (OLD, false),
        Refuses("current: it has no VERSION, and removed.tmp exists"),
    ),
    (
        "finalized.tmp and current: it kept the space of deleted blocks for ever",
        |home| fs::create_dir_all(home.root().join("finalized.tmp/finalized/subdir0")).unwrap(),
        (OLD, false),
        Opens(BLOCKS, &["current"]),
    ),
    (
        "finalized.tmp without current: Apache's DataNode deletes it and then stops",
        |home| home.rename("current", "finalized.tmp"),
        (OLD, false),
        Refuses("finalized.tmp: current has no VERSION"),
    ),
    (
        "finalized.tmp and previous",
        |home| {
            fs::create_dir(home.root().join("finalized.tmp")).unwrap();
            fs::create_dir(home.root().join("previous")).unwrap();
        },
        (OLD, false),
        Refuses("finalized.tmp: previous also exists"),
    ),
    (
        "lastcheckpoint.tmp and current",
        |home| {
            fs::create_dir(home.root().join("lastcheckpoint.tmp")).unwrap();
            fs::create_dir(home.root().join("previous.checkpoint")).unwrap();
        },
        (OLD, false),
        Opens(BLOCKS, &["current", "previous.checkpoint"]),
    ),
    (
        "lastcheckpoint.tmp without current",
        |home| home.rename("current", "lastcheckpoint.tmp"),
        (OLD, false),
        Opens(BLOCKS, &["current"]),
    ),
    (
        "two steps at once",
        |home| {
            home.rename("current", "previous.tmp");
            fs::create_dir(home.root().join("removed.tmp")).unwrap();
        },
        (OLD, false),
        Refuses("removed.tmp: previous.tmp also exists"),
    ),
    (
        "current without VERSION: it was taken for a pool of this NameNode",
        |home| fs::remove_file(home.root().join("current/VERSION")).unwrap(),
        (OLD, false),
        Refuses("current: it holds files but no VERSION"),
    ),
    (
        "current.tmp without current",
        |home| home.rename("current", "current.tmp"),
        (OLD, false),
        Refuses("current.tmp: current has no VERSION"),
    ),
    (
        "what Apache's DataNode was deleting when it was killed",
        |home| {
            for name in ["current.tmp", "finalized.tmp.tmp", "previous.checkpoint.tmp"] {
                fs::create_dir_all(home.root().join(name).join("finalized")).unwrap();
            }
        },
        (OLD, false),
        Opens(BLOCKS, &["current"]),
    ),
    (
        "detach, which the layout does not use any more",
        |home| {
            let detach = home.root().join("current/detach");
            fs::create_dir(&detach).unwrap();
            fs::write(detach.join("blk_7"), b"data").unwrap();
        },
        (OLD, false),
        Opens(BLOCKS, &["current"]),
    ),
    (
        "a VERSION that a crash cut short, of a pool without anything else",
        |home| {
            fs::remove_dir_all(home.root()).unwrap();
            fs::create_dir_all(home.root().join("current")).unwrap();
            fs::write(home.root().join("current/VERSION.tmp"), b"#").unwrap();
            fs::write(home.root().join("current/VERSION"), b"").unwrap();
        },
        (OLD, false),
        Opens(0, &["current"]),
    ),
    (
        "current is newer than the NameNode",
        |home| home.write_version("current", NEW),
        (OLD, false),
        Refuses("its cTime is 3, the NameNode's is 2"),
    ),
];

/// A DataNode whose upgrade by Apache was interrupted got an empty `current` and reported no replicas, and Apache's
/// DataNode deleted the others later.
#[test]
fn every_state_of_a_block_pool_is_completed_or_refused_by_name() {
    for (name, make, (ctime, rolls_back), outcome) in ROWS {
        let home = Home::new();
        make(&home);
        let before = home.files();
        let opened = home.open_with(*ctime, *rolls_back);
        match (opened, outcome) {
            (Ok(pool), Opens(finalized, directories)) => {
                assert_eq!(count(&pool).0, *finalized, "{name}");
                assert_eq!(home.directories(), *directories, "{name}");
                // The state is settled: another start finds the same.
                drop(pool);
                assert_eq!(count(&home.open(*ctime).unwrap()).0, *finalized, "{name}");
            }
            (Err(error), Refuses(text)) => {
                assert!(error.contains(text), "{name}: {error}");
                assert!(error.contains(POOL), "{name}: {error}");
                assert_eq!(home.files(), before, "{name}");
            }
            (Ok(pool), Refuses(_)) => panic!("{name}: opened with {:?}", count(&pool)),
            (Err(error), Opens(..)) => panic!("{name}: {error}"),
        }
    }
}
