//! Images that cannot be written, and what a crash left of one.

use super::*;
use std::os::unix::fs::symlink;

/// The disk is full while an image is written: there is none, and no half of one, but edits go on.
#[test]
fn an_image_that_cannot_be_written_stops_no_edits() {
    let directories = Directories::formatted(1);
    let (storage, log) = directories.start();
    let ended = log.roll().0;
    symlink("/dev/full", directories.path(0, "fsimage.ckpt_0000000000000000002")).unwrap();
    refused(storage.save_image(ended.0, image_of(2)), "No space left on device");
    assert!(
        !directories.names(0).iter().any(|name| name.contains("ckpt")),
        "{:?}",
        directories.names(0)
    );
    assert!(!storage.dirs()[0].has_failed());
    log.log(one(&edit("/a"))).wait().unwrap();
    let (ended, sync) = log.roll();
    sync.wait().unwrap();
    storage.save_image(ended.0, image_of(ended.0 as u64)).unwrap();
    log.close().unwrap();
}

/// With a second directory the image is there, and the first one still takes edits.
#[test]
fn a_full_directory_gets_its_next_image() {
    let directories = Directories::formatted(2);
    let (storage, log) = directories.start();
    let ended = log.roll().0;
    symlink("/dev/full", directories.path(0, "fsimage.ckpt_0000000000000000002")).unwrap();
    storage.save_image(ended.0, image_of(2)).unwrap();
    let has = |n: usize, name: &str| directories.names(n).iter().any(|found| found == name);
    assert!(!has(0, "fsimage_0000000000000000002") && has(1, "fsimage_0000000000000000002"));
    let (ended, sync) = log.roll();
    sync.wait().unwrap();
    storage.save_image(ended.0, image_of(4)).unwrap();
    assert!(has(0, "fsimage_0000000000000000004"));
    log.close().unwrap();
}

#[test]
fn images_a_crash_left_unfinished_go_at_the_next_start() {
    let directories = Directories::formatted(1);
    fs::write(directories.path(0, "fsimage.ckpt_0000000000000000007"), "half").unwrap();
    drop(directories.load().unwrap());
    assert!(!directories.names(0).contains(&"fsimage.ckpt_0000000000000000007".to_owned()));
}

/// A new directory's first image fails, or the process is killed meanwhile: it is tried again at the
/// next start, with the edits that it got.
#[test]
fn a_new_directory_without_its_first_image_is_still_one_of_them() {
    let mut directories = Directories::formatted(1);
    directories.session(&["/a"], true);
    let second = directories.root.path().join("name1");
    fs::create_dir(&second).unwrap();
    directories.config.image_dirs.push(second.clone());
    directories.config.edits_dirs.push(second);
    // Killed before its VERSION was whole, then with half an image, then out of room for one.
    fs::create_dir(directories.path(1, "")).unwrap();
    fs::write(directories.path(1, "VERSION.tmp"), "").unwrap();
    assert!(directories.load().unwrap().1.needs_save);
    fs::write(directories.path(1, "fsimage.ckpt_0000000000000000003"), "half").unwrap();
    let (storage, report, _) = directories.load().unwrap();
    assert!(report.needs_save);
    symlink("/dev/full", directories.path(1, "fsimage.ckpt_0000000000000000003")).unwrap();
    storage.save_image(report.last_txid, image_of(3)).unwrap();
    let log = EditLog::start(Arc::clone(&storage), 4, |failure| panic!("{failure}")).unwrap();
    log.log(one(&edit("/b"))).wait().unwrap();
    drop((log, storage));
    let (storage, report, seen) = directories.load().unwrap();
    assert_eq!((report.image_txid, report.needs_save, seen.paths()), (3, true, vec!["/b"]));
    // Alone it is nothing yet.
    drop(storage);
    let both = directories.config.clone();
    directories.config.image_dirs.remove(0);
    directories.config.edits_dirs.remove(0);
    refused(directories.load(), "No valid image files found");
    let alone = std::mem::replace(&mut directories.config, both);
    let (storage, report, _) = directories.load().unwrap();
    storage.save_image(report.last_txid, image_of(5)).unwrap();
    drop(storage);
    directories.config = alone;
    let (_storage, report, _) = directories.load().unwrap();
    assert_eq!((report.image_txid, report.last_txid, report.needs_save), (5, 5, false));
}

/// A section this build does not know: its content would be gone with the next image.
#[test]
fn an_image_with_an_unknown_section_is_not_loaded() {
    let directories = Directories::formatted(1);
    let image = directories.path(0, "fsimage_0000000000000000000");
    let (storage, report, _) = directories.load().unwrap();
    let save = || {
        let write = |image: &mut ImageWriter<'_>| {
            image_of(0)(image)?;
            image.end(SectionName::CacheManager)?;
            Ok(())
        };
        storage.save_image(report.last_txid, write).unwrap();
    };
    let before = fs::read(&image).unwrap();
    save();
    assert_eq!(fs::read(&image).unwrap(), before, "a good image of the transaction stays");
    fs::remove_file(&image).unwrap();
    save();
    drop(storage);
    let mut bytes = fs::read(&image).unwrap();
    let at = bytes.windows(13).position(|name| name == b"CACHE_MANAGER").unwrap();
    bytes[at..at + 13].copy_from_slice(b"SHADOW_SECRET");
    fs::write(&image, &bytes).unwrap();
    let digest = <md5::Md5 as md5::Digest>::digest(&bytes);
    zerohop_journal::image::write_md5(&image, &digest.into()).unwrap();
    refused(directories.load(), "Unrecognized section SHADOW_SECRET");
}
