//! Images to roll back to.

use super::*;

/// Two directories, and a history: three edits, an image to roll back to, two more edits.
fn prepared() -> (Directories, i64) {
    let directories = Directories::formatted(2);
    let (storage, log) = directories.start();
    log.log(one(&edit("/a"))).wait().unwrap();
    let (ended, sync) = log.roll();
    sync.wait().unwrap();
    storage.save_rollback_image(ended.0, image_of(ended.0 as u64)).unwrap();
    log.log(one(&edit("/b"))).wait().unwrap();
    log.roll().1.wait().unwrap();
    log.log(one(&edit("/c"))).wait().unwrap();
    drop(log);
    (directories, ended.0)
}

/// A power cut in the middle: the next one carries it out, and no start takes half of it for the whole.
#[test]
fn a_rollback_that_was_cut_short_is_carried_out_by_the_next_one() {
    let (directories, txid) = prepared();
    let name = format!("fsimage_rollback_{txid:019}");
    // Only the first directory got through.
    let other: Vec<_> = directories.names(1).iter().map(|name| directories.path(1, name)).collect();
    let saved: Vec<_> = other.iter().map(|path| fs::read(path).unwrap()).collect();
    let storage = directories.open().unwrap();
    let report = storage.rollback_images().load(&mut Seen::default()).unwrap();
    assert_eq!((report.image_txid, report.last_txid), (txid, txid));
    storage.rollback_images().roll_back(txid).unwrap();
    drop(storage);
    for name in directories.names(1) {
        fs::remove_file(directories.path(1, &name)).unwrap();
    }
    other.iter().zip(saved).for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    assert!(!directories.path(0, &name).exists() && directories.path(1, &name).exists());

    let storage = directories.open().unwrap();
    let mut seen = Seen::default();
    storage.rollback_images().load(&mut seen).unwrap();
    assert_eq!((seen.image_txid, seen.edits.len()), (txid as u64, 0));
    storage.rollback_images().roll_back(txid).unwrap();
    drop(storage);
    let (storage, report, seen) = directories.load().unwrap();
    assert_eq!((report.last_txid, seen.paths().len()), (txid, 0));
    drop(storage);
    assert!(directories.names(1).iter().any(|name| name.ends_with(".trash")));
    directories.session(&["/d"], true);
    assert_eq!(directories.load().unwrap().2.paths(), ["/d"]);
}

/// Without `-rollingUpgrade rollback` it is an image like others, with all edits behind it.
#[test]
fn an_image_to_roll_back_to_is_one_to_start_from() {
    let (directories, txid) = prepared();
    let (storage, report, seen) = directories.load().unwrap();
    assert_eq!((report.image_txid, seen.paths()), (txid, vec!["/b", "/c"]));
    storage.rollback_images().finalize().unwrap();
    assert!(!storage.rollback_images().exist());
    drop(storage);
    let image = format!("fsimage_{txid:019}");
    let md5 = fs::read_to_string(directories.path(0, &format!("{image}.md5"))).unwrap();
    assert!(md5.trim_end().ends_with(&format!(" *{image}")), "{md5}");
    assert_eq!(directories.load().unwrap().2.paths(), ["/b", "/c"]);
}

#[test]
fn a_segment_across_the_image_is_not_thrown_away() {
    let directories = Directories::formatted(1);
    let (storage, log) = directories.start();
    log.log(one(&edit("/a"))).wait().unwrap();
    storage.save_rollback_image(1, image_of(1)).unwrap();
    drop((storage, log));
    let storage = directories.open().unwrap();
    let error = storage.rollback_images().roll_back(1).unwrap_err().to_string();
    assert!(error.contains("goes beyond transaction 1"), "{error}");

    drop(storage);
    assert_eq!(directories.load().unwrap().2.paths(), ["/a"]);
}
