//! Directories that went different ways: one was left behind, or was written without the others.

use super::*;

impl Directories {
    /// A session with the first directory only.
    fn session_without_the_second(&mut self, paths: &[&str], clean: bool) {
        let both = self.config.clone();
        self.config.image_dirs.truncate(1);
        self.config.edits_dirs.truncate(1);
        self.session(paths, clean);
        self.config = both;
    }

    fn flip(&self, n: usize, name: &str, at: usize) {
        let mut bytes = fs::read(self.path(n, name)).unwrap();
        bytes[at] ^= 1;
        fs::write(self.path(n, name), bytes).unwrap();
    }

    /// Cuts a segment behind its padding, and `back` bytes more.
    fn cut(&self, n: usize, name: &str, back: usize) {
        let bytes = fs::read(self.path(n, name)).unwrap();
        let end = bytes.iter().rposition(|byte| *byte != 0xff).unwrap() + 1;
        fs::write(self.path(n, name), &bytes[..end - back]).unwrap();
    }
}

const SECOND: &str = "edits_inprogress_0000000000000000004";

/// Edits 4 to 6 are in the first directory only, and it cannot be used: going on with the second one
/// would lose them.
#[test]
fn a_directory_left_behind_does_not_stand_in_for_a_damaged_one() {
    // In its middle; in its header; it cannot get its final name.
    for case in 0..3 {
        let mut directories = Directories::formatted(2);
        directories.session(&["/a"], true);
        directories.session_without_the_second(&["/b", "/c"], false);
        match case {
            0 => directories.flip(0, SECOND, 40),
            1 => directories.flip(0, SECOND, 5),
            _ => {
                let taken = "edits_0000000000000000004-0000000000000000006";
                fs::create_dir(directories.path(0, taken)).unwrap();
            }
        }
        // And again: the first refusal must not take away what told.
        for _ in 0..2 {
            let result = directories.load();
            let Err(error) = result else { panic!("case {case}: it opened") };
            let line = error.to_string();
            assert!(line.contains("up until at least txid 6 but unable to"), "{line}");
            assert!(line.contains("name0 is not used: "), "{line}");
        }
    }
}

/// The same within one segment: nothing but the records behind the damage tell how far it went.
#[test]
fn a_shorter_copy_of_a_segment_does_not_stand_in_for_a_damaged_one() {
    let first = "edits_inprogress_0000000000000000001";
    for at in [40, 5] {
        let directories = Directories::formatted(2);
        directories.session(&["/a", "/b", "/c"], false);
        directories.flip(0, first, at);
        let whole = fs::read(directories.path(1, first)).unwrap();
        directories.cut(1, first, 1);
        refused(directories.load(), "up until at least txid 4 but unable to");
        // The second directory's was finished up to where it goes; now bring back what was cut.
        fs::remove_file(directories.path(1, "edits_0000000000000000001-0000000000000000003"))
            .unwrap();
        fs::write(directories.path(1, first), whole).unwrap();
        assert_eq!(directories.load().unwrap().2.paths(), ["/a", "/b", "/c"]);
    }
}

/// An edit that was never acknowledged is in the second directory; then the first one was written alone.
/// Neither way's edits may follow the other's.
#[test]
fn two_histories_are_not_spliced() {
    let mut directories = Directories::formatted(2);
    directories.session(&["/a", "/unacknowledged"], false);
    directories.cut(0, "edits_inprogress_0000000000000000001", 1);
    directories.session_without_the_second(&["/b", "/c"], true);
    refused(directories.load(), "there appears to be an out-of-order edit in the edit log");
    let stale = directories.path(1, "edits_0000000000000000001-0000000000000000003");
    fs::rename(&stale, directories.root.path().join("elsewhere")).unwrap();
    assert_eq!(directories.load().unwrap().2.paths(), ["/a", "/b", "/c"]);
}

/// A power cut may keep a later block of a batch and lose an earlier one: the line says how to go on
/// then, and that works.
#[test]
fn a_batch_with_a_hole_can_be_cut_as_the_line_says() {
    let directories = Directories::formatted(1);
    let long = "/x".repeat(2048);
    directories.session(&["/a", &long, &long, &long], false);
    let name = "edits_inprogress_0000000000000000001";
    let mut bytes = fs::read(directories.path(0, name)).unwrap();
    bytes[4096..8192].fill(0xff);
    fs::write(directories.path(0, name), &bytes).unwrap();
    let Err(error) = directories.load() else { panic!("it opened") };
    let line = error.to_string();
    assert!(line.contains("whole records up to transaction 5 follow"), "{line}");
    let (_, command) = line.split_once("truncate -s ").unwrap();
    let len = command.split(' ').next().unwrap().parse().unwrap();
    fs::File::options().write(true).open(directories.path(0, name)).unwrap().set_len(len).unwrap();
    assert_eq!(directories.load().unwrap().2.paths(), ["/a"]);
}
