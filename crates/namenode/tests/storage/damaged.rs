//! Damaged edits, and what `namenode -recover` saves of them.

use super::*;
use RecoveryChoice::{Continue, Quit, Stop};

/// Gives answers in order, and keeps the questions.
struct Answers {
    choices: Vec<RecoveryChoice>,
    asked: Vec<String>,
}

impl RecoveryQuestions for Answers {
    fn ask(&mut self, problem: &str, _: &str) -> RecoveryChoice {
        self.asked.push(problem.to_owned());
        self.choices.remove(0)
    }
}

/// Writes over a byte of the edit of a path.
fn damage(file: PathBuf, path: &str) {
    let mut bytes = fs::read(&file).unwrap();
    let at = bytes.windows(path.len()).position(|it| it == path.as_bytes()).unwrap();
    bytes[at] ^= 0x55;
    fs::write(file, bytes).unwrap();
}

const FIRST: &str = "edits_0000000000000000001-0000000000000000005";

/// Transactions 1 to 5 and 6 to 8.
fn two_segments(count: usize) -> Directories {
    let directories = Directories::formatted(count);
    directories.session(&["/a", "/b", "/c"], true);
    directories.session(&["/d"], true);
    directories
}

fn recover(
    directories: &Directories,
    choices: &[RecoveryChoice],
) -> (Option<LoadReport>, Vec<String>, Vec<String>) {
    let storage = directories.open().unwrap();
    let mut seen = Seen::default();
    let mut answers = Answers { choices: choices.to_vec(), asked: Vec::new() };
    let report = storage.load_damaged(&mut seen, &mut answers).unwrap();
    if let Some(report) = &report {
        let last = report.last_txid;
        storage.save_image(last, image_of(last as u64)).unwrap();
    }
    assert!(answers.choices.is_empty(), "{:?}", answers.asked);
    (report, seen.paths().into_iter().map(str::to_owned).collect(), answers.asked)
}

#[test]
fn a_recovery_goes_on_behind_a_damage() {
    let directories = two_segments(1);
    damage(directories.path(0, FIRST), "/b");
    assert!(directories.load().is_err());
    let (report, paths, asked) = recover(&directories, &[Continue, Continue]);
    assert_eq!(paths, ["/a", "/c", "/d"]);
    assert_eq!(
        asked,
        [
            "We failed to read txId 3",
            "There appears to be a gap in the edit log.  We expected txid 3, but got txid 4."
        ]
    );
    assert_eq!(report.unwrap().last_txid, 8);
    // It starts as if nothing had been.
    let (_, report, seen) = directories.load().unwrap();
    assert_eq!((report.image_txid, report.last_txid, seen.edits.len()), (8, 8, 0));
}

#[test]
fn a_recovery_that_is_stopped_abandons_later_edits_and_one_that_is_quit_changes_nothing() {
    let directories = two_segments(1);
    damage(directories.path(0, FIRST), "/b");
    let before = directories.names(0);
    let (report, _, _) = recover(&directories, &[Quit]);
    assert_eq!((report, directories.names(0)), (None, before));
    let (report, paths, _) = recover(&directories, &[Stop]);
    assert_eq!((report.unwrap().last_txid, paths), (8, vec!["/a".to_owned()]));
    let (_, report, seen) = directories.load().unwrap();
    assert_eq!((report.last_txid, seen.edits.len()), (8, 0));
}

#[test]
fn a_copy_in_another_directory_answers_before_anybody_is_asked() {
    let directories = two_segments(2);
    damage(directories.path(0, FIRST), "/b");
    damage(directories.path(1, FIRST), "/c");
    let (_, paths, asked) = recover(&directories, &[]);
    assert_eq!((paths.len(), asked.len()), (4, 0), "{paths:?} {asked:?}");
    let directories = two_segments(2);
    for n in 0..2 {
        damage(directories.path(n, FIRST), "/b");
    }
    damage(directories.path(0, FIRST), "/c");
    let (_, paths, _) = recover(&directories, &[Continue, Continue]);
    assert_eq!(paths, ["/a", "/c", "/d"]);
}

#[test]
fn what_a_crash_left_is_recovered_too_and_a_missing_segment_is_asked_about() {
    let directories = Directories::formatted(1);
    directories.session(&["/a", "/b", "/c"], false);
    damage(directories.path(0, "edits_inprogress_0000000000000000001"), "/b");
    assert!(directories.load().is_err());
    let (report, paths, _) = recover(&directories, &[Continue, Continue]);
    assert_eq!((report.unwrap().last_txid, paths), (4, vec!["/a".to_owned(), "/c".to_owned()]));

    let directories = two_segments(1);
    fs::remove_file(directories.path(0, FIRST)).unwrap();
    let (report, paths, asked) = recover(&directories, &[Continue]);
    assert_eq!(paths, ["/d"]);
    assert!(asked[0].ends_with("We expected txid 1, but got txid 6."), "{asked:?}");
    assert_eq!(report.unwrap().last_txid, 8);
}

/// An image under the name of another transaction was loaded, and the edits up to that one were left out.
#[test]
fn an_image_of_another_transaction_was_loaded() {
    let directories = two_segments(1);
    let (storage, _, _) = directories.load().unwrap();
    storage.save_image(5, image_of(5)).unwrap();
    drop(storage);
    let image = |txid: i64, end: &str| directories.path(0, &format!("fsimage_{txid:019}{end}"));
    fs::rename(image(5, ""), image(7, "")).unwrap();
    let md5 = fs::read_to_string(image(5, ".md5")).unwrap();
    fs::write(image(7, ".md5"), md5.replace("0000005", "0000007")).unwrap();
    fs::remove_file(image(5, ".md5")).unwrap();
    refused(directories.load(), "up to transaction 5, not up to 7");
}
