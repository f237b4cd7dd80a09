//! Upgrades and rollbacks that are cut short, rolled back or finalized, and volumes in the middle of one.

use crate::storage_state_test::{BLOCKS, Home, NEW, OLD, POOL, count, version};
use crate::{Place, StartOptions, Volume, delete_pool, is_pool_empty};
use std::fs;
use std::path::Path;
use zerohop_wire::{Block, BlockId, GenerationStamp};

/// A start is killed after each of its steps in turn: the next start has all replicas.
#[test]
fn an_upgrade_and_a_rollback_may_be_cut_at_every_step() {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    struct Killed;
    let mut cuts = 0;
    for (ctime, rolls_back) in [(NEW, false), (OLD, true)] {
        for step in 1.. {
            let home = Home::new();
            if rolls_back {
                assert_eq!(count(&home.open(NEW).unwrap()), (BLOCKS, 1));
                fs::remove_dir_all(home.root().join("current/finalized")).unwrap();
            }
            let left = Cell::new(step);
            let answered = || {
                left.set(left.get() - 1);
                if left.get() == 0 {
                    std::panic::resume_unwind(Box::new(Killed));
                }
            };
            let volume = home.volume().unwrap();
            let options = StartOptions { rolls_back, answered: &answered };
            let start = AssertUnwindSafe(|| volume.open_pool_with(&version(ctime), options));
            let Err(cut) = catch_unwind(start) else { break };
            assert!(cut.is::<Killed>());
            drop(volume);
            cuts += 1;
            let pool = home.open_with(ctime, rolls_back).unwrap();
            assert_eq!(count(&pool), (BLOCKS, 1), "cut after {step}");
            let kept: &[_] = if rolls_back { &["current"] } else { &["current", "previous"] };
            assert_eq!(home.directories(), kept, "cut after {step}");
        }
    }
    assert!(cuts > 20, "{cuts}");
}

/// The replicas of an upgrade share their files with `previous`.
#[test]
fn an_upgrade_is_rolled_back_or_finalized() {
    let home = Home::new();
    let pool = home.open(NEW).unwrap();
    assert_eq!(count(&pool), (BLOCKS, 1));
    let block = Block { id: BlockId(1), stamp: GenerationStamp(1001), len: 4 };
    pool.discard(&block, Place::Finalized).unwrap();
    assert_eq!(count(&pool), (BLOCKS - 1, 1));
    drop(pool);
    let pool = home.open_with(OLD, true).unwrap();
    assert_eq!((count(&pool), home.directories()), ((BLOCKS, 1), vec!["current".to_owned()]));
    drop(pool);
    let pool = home.open(NEW).unwrap();
    pool.trash().finalize_upgrade().unwrap();
    pool.trash().finalize_upgrade().unwrap();
    assert_eq!((count(&pool), home.directories()), ((BLOCKS, 1), vec!["current".to_owned()]));
    assert!(home.open(OLD).is_err());
}

fn opened(root: &Path) -> Result<String, String> {
    let mut volume = Volume::open(root).map_err(|e| e.to_string())?;
    volume.claim("CID-1", "uuid-1").map_err(|e| e.to_string())?;
    Ok(volume.storage_id().to_owned())
}

/// A volume whose `current` an upgrade had renamed was formatted, with another storage id.
#[test]
fn an_interrupted_volume_was_formatted() {
    let make = || {
        let directory = tempfile::tempdir().unwrap();
        let id = opened(directory.path()).unwrap();
        (directory, id)
    };
    for temporary in ["previous.tmp", "lastcheckpoint.tmp"] {
        let (directory, id) = make();
        fs::rename(directory.path().join("current"), directory.path().join(temporary)).unwrap();
        assert_eq!(opened(directory.path()).unwrap(), id, "{temporary}");
        assert!(!directory.path().join(temporary).exists());
    }
    for (names, text) in [
        (&["previous"][..], "previous: current has no VERSION"),
        (&["removed.tmp"], "removed.tmp: neither"),
        (&["finalized.tmp"], "finalized.tmp: current has no VERSION"),
        (&["previous.tmp", "previous"], "previous.tmp: previous also exists"),
    ] {
        let (directory, _) = make();
        let root = directory.path();
        fs::rename(root.join("current"), root.join(names[0])).unwrap();
        names[1..].iter().for_each(|name| fs::create_dir(root.join(name)).unwrap());
        let error = opened(root).unwrap_err();
        assert!(error.contains(text), "{error}");
        assert!(!root.join("current").exists());
    }
    let (directory, _) = make();
    fs::write(directory.path().join("storage"), [0; 4]).unwrap();
    assert!(opened(directory.path()).unwrap_err().contains("storage: it is from a release"));
    let (directory, id) = make();
    fs::create_dir_all(directory.path().join("finalized.tmp/subdir0")).unwrap();
    assert_eq!(opened(directory.path()).unwrap(), id);
    assert!(!directory.path().join("finalized.tmp").exists());
}

#[test]
fn a_volume_from_before_federation_is_finalized_and_not_rolled_back() {
    let home = Home::new();
    let previous = home.directory.path().join("previous/subdir0");
    fs::create_dir_all(&previous).unwrap();
    fs::create_dir(home.directory.path().join("blocksBeingWritten")).unwrap();
    assert!(home.open_with(OLD, true).unwrap_err().contains("with -rollback"));
    assert!(home.open(OLD).is_ok());
    assert!(crate::finalize_volume_upgrade(home.directory.path()).unwrap());
    assert!(!crate::finalize_volume_upgrade(home.directory.path()).unwrap());
    assert!(!home.directory.path().join("blocksBeingWritten").exists());
    assert_eq!(count(&home.open(OLD).unwrap()), (BLOCKS, 1));
}

/// A pool whose replicas an upgrade had moved away counted as empty, and was deleted without force.
#[test]
fn a_pool_in_the_middle_of_an_upgrade_was_empty() {
    for name in ["previous", "previous.tmp", "removed.tmp", "lastcheckpoint.tmp", "trash"] {
        let home = Home::new();
        home.rename("current", name);
        assert!(!is_pool_empty(home.directory.path(), POOL).unwrap(), "{name}");
    }
    let home = Home::new();
    fs::remove_dir_all(home.root().join("current/finalized")).unwrap();
    fs::remove_dir_all(home.root().join("current/rbw")).unwrap();
    fs::create_dir(home.root().join("previous")).unwrap();
    assert!(is_pool_empty(home.directory.path(), POOL).unwrap());
    delete_pool(home.directory.path(), POOL).unwrap();
    assert!(!home.root().exists());
}
