//! Segments that a crash, a full disk or a power failure left without a record.

use super::*;

#[test]
fn segments_without_records_do_not_stand_in_the_way() {
    let directories = Directories::formatted(1);
    directories.session(&["/a"], true);
    fs::write(directories.path(0, "edits_inprogress_0000000000000000004"), "").unwrap();
    directories.session(&["/b"], true);
    let header = [0xff, 0xff, 0xff, 0xbd, 0, 0, 0, 0, 0xff, 0xff];
    fs::write(directories.path(0, "edits_inprogress_0000000000000000007"), header).unwrap();
    let (storage, report, seen) = directories.load().unwrap();
    assert_eq!((report.last_txid, seen.paths()), (6, vec!["/a", "/b"]));
    assert!(
        directories.names(0).contains(&"edits_inprogress_0000000000000000007.empty".to_owned())
    );
    drop(storage);
    // A full disk: made longer, and the header was never written. One that was is another matter.
    let padded = directories.path(0, "edits_inprogress_0000000000000000007");
    fs::write(&padded, [0xff; 4096]).unwrap();
    assert_eq!(directories.load().unwrap().1.last_txid, 6);
    fs::write(&padded, [[0xff; 2048], [7; 2048]].concat()).unwrap();
    refused(directories.load(), "has no valid header");
}

/// Power was lost while the segment was made: some of its pages never got to the disk, among them that of the header. Zeros
/// before records are damage.
#[test]
fn zero_pages_of_a_segment_just_made_are_an_empty_segment() {
    let directories = Directories::formatted(1);
    directories.session(&["/a"], true);
    let path = directories.path(0, "edits_inprogress_0000000000000000004");
    let (zeros, filled) = ([0_u8; 4096], [0xff_u8; 4096]);
    for pages in [[zeros, filled], [filled, zeros], [zeros, zeros]] {
        fs::write(&path, pages.concat()).unwrap();
        let (_storage, report, seen) = directories.load().unwrap();
        assert_eq!((report.last_txid, seen.paths()), (3, vec!["/a"]));
    }
    // A part of the header, over zeros and over what fills the file.
    for part in 1..8 {
        for fill in [0_u8, 0xff] {
            let mut page = [fill; 4096];
            page[..part].copy_from_slice(&[0xff, 0xff, 0xff, 0xbd, 0, 0, 0][..part]);
            fs::write(&path, page).unwrap();
            let (_storage, report, _) = directories.load().unwrap();
            assert_eq!(report.last_txid, 3, "{part} bytes of the header");
        }
    }
    directories.session(&["/b"], false);
    let mut records = fs::read(&path).unwrap();
    records.splice(..0, zeros);
    fs::write(&path, records).unwrap();
    refused(directories.load(), "its records go up to transaction 5");
}
