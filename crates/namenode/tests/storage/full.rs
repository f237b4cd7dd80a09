//! Images that cannot be written, and what a crash left of one.

use super::*;
use std::os::unix::fs::symlink;

/// The disk is full while an image is written: there is none, and no half of one, but edits go on.
#[test]
fn an_image_that_cannot_be_written_stops_no_edits() {
    let folders = Folders::formatted(1);
    let (storage, log) = folders.start();
    let ended = log.roll().0;
    symlink("/dev/full", folders.path(0, "fsimage.ckpt_0000000000000000002")).unwrap();
    refused(storage.save_image(ended.0, image_of(2)), "No space left on device");
    assert!(!folders.names(0).iter().any(|name| name.contains("ckpt")), "{:?}", folders.names(0));
    assert!(!storage.dirs()[0].has_failed());
    log.log(one(&edit("/a"))).wait().unwrap();
    let (ended, ticket) = log.roll();
    ticket.wait().unwrap();
    storage.save_image(ended.0, image_of(ended.0 as u64)).unwrap();
    log.close().unwrap();
}

/// With a second folder the image is there, and the first one still takes edits.
#[test]
fn a_full_folder_gets_its_next_image() {
    let folders = Folders::formatted(2);
    let (storage, log) = folders.start();
    let ended = log.roll().0;
    symlink("/dev/full", folders.path(0, "fsimage.ckpt_0000000000000000002")).unwrap();
    storage.save_image(ended.0, image_of(2)).unwrap();
    let has = |n: usize, name: &str| folders.names(n).iter().any(|found| found == name);
    assert!(!has(0, "fsimage_0000000000000000002") && has(1, "fsimage_0000000000000000002"));
    let (ended, ticket) = log.roll();
    ticket.wait().unwrap();
    storage.save_image(ended.0, image_of(4)).unwrap();
    assert!(has(0, "fsimage_0000000000000000004"));
    log.close().unwrap();
}

#[test]
fn images_a_crash_left_unfinished_go_at_the_next_start() {
    let folders = Folders::formatted(1);
    fs::write(folders.path(0, "fsimage.ckpt_0000000000000000007"), "half").unwrap();
    drop(folders.load().unwrap());
    assert!(!folders.names(0).contains(&"fsimage.ckpt_0000000000000000007".to_owned()));
}
