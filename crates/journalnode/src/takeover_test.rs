//! Tests of calls that the writer before sends after a takeover.

use crate::calls::{JournalOptions, RequestInfo};
use crate::error::Error;
use crate::fixture::{Caller, OPTIONS, info, open, records};
use crate::journal::Journal;
use crate::segments::SegmentState;
use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use zerohop_journal::segment::scan;
use zerohop_wire::TxId;

const LAYOUT: i32 = -67;

fn state(last: i64) -> SegmentState {
    SegmentState { first: TxId(1), last: TxId(last), in_progress: true }
}

/// Creates a formatted journal whose writer has epoch 1 and has written segment 1 up to a transaction.
fn written_to(last: i64) -> (TempDir, Journal, Caller) {
    let directory = tempfile::tempdir().unwrap();
    let mut journal = open(directory.path());
    journal.format(info(), false).unwrap();
    let mut writer = Caller::new(1);
    journal.new_epoch(&info(), 1).unwrap();
    journal.start_segment(writer.request(), TxId(1), LAYOUT).unwrap();
    journal.write(&[writer.write(1, 1, last)]).remove(0).unwrap();
    (directory, journal, writer)
}

fn lasts(journal: &Journal) -> Vec<i64> {
    let manifest = journal.manifest(TxId(0), true).unwrap();
    manifest.segments.iter().map(|segment| segment.last.0).collect()
}

/// The call carried no epoch: one that was late took away what the next writer had written.
#[test]
fn discard_segments_of_a_replaced_writer_discarded_what_the_next_one_wrote() {
    let (_directory, mut journal, mut first) = written_to(3);
    journal.new_epoch(&info(), 2).unwrap();
    let mut second = Caller::new(2);
    journal.prepare_recovery(second.request(), TxId(1)).unwrap();
    assert!(journal.begin_accept(second.request(), state(3)).unwrap().is_none());
    journal.finish_accept(2, state(3), None).unwrap();
    journal.finalize(second.request(), TxId(1), TxId(3)).unwrap();
    let late = journal.discard_from(first.request(), TxId(1));
    assert!(matches!(late, Err(Error::Fenced { epoch: 1, promised: 2, .. })), "{late:?}");
    assert_eq!(lasts(&journal), [3]);
    journal.discard_from(second.request(), TxId(1)).unwrap();
    assert!(lasts(&journal).is_empty());
}

/// Apache's NameNodes send no epoch with it.
#[test]
fn discard_segments_without_an_epoch_comes_from_the_process_that_was_promised_one() {
    let (_directory, mut journal, mut writer) = written_to(3);
    journal.finalize(writer.request(), TxId(1), TxId(3)).unwrap();
    for stranger in [None, Some([1; 16])] {
        let refused = journal.discard_for(stranger, TxId(1));
        assert!(matches!(refused, Err(Error::NotThePromised { .. })), "{refused:?}");
    }
    journal.new_epoch(&info(), 2).unwrap();
    journal.promised_to(Some([2; 16]));
    assert!(journal.discard_for(Some([1; 16]), TxId(1)).is_err());
    assert_eq!(lasts(&journal), [3]);
    journal.discard_for(Some([2; 16]), TxId(1)).unwrap();
    assert!(lasts(&journal).is_empty());
}

/// The download is no longer on the journal's thread, so a takeover may come before its end.
#[test]
fn a_segment_that_was_fetched_before_a_takeover_is_not_put_in_place_after_it() {
    let (_directory, mut journal, _) = written_to(3);
    journal.new_epoch(&info(), 2).unwrap();
    let mut second = Caller::new(2);
    let to = journal.begin_accept(second.request(), state(5)).unwrap().unwrap();
    let header = [&LAYOUT.to_be_bytes()[..], &[0; 4]].concat();
    std::fs::write(&to, [&header[..], &records(1, 5)].concat()).unwrap();
    journal.new_epoch(&info(), 3).unwrap();
    let late = journal.finish_accept(2, state(5), Some(&to));
    assert!(matches!(late, Err(Error::Fenced { epoch: 2, promised: 3, .. })), "{late:?}");
    let prepared = journal.prepare_recovery(Caller::new(3).request(), TxId(1)).unwrap();
    assert_eq!((prepared.state, prepared.accepted_in), (Some(state(3)), None));
}

/// Removes what a failed sync left in memory. A later sync of the same file succeeds and does not write it.
fn lose_power(old: &std::fs::File, synced: u64) {
    old.set_len(synced).unwrap();
}

/// A recovery kept the copy that was here and synced the same file: the kernel had given up its pages. After a power loss a
/// finalized segment lacked what a majority had accepted.
#[test]
fn a_failed_sync_followed_by_a_power_loss_took_records_out_of_a_finalized_segment() {
    for kept_by_recovery in [true, false] {
        let (directory, journal, mut first) = written_to(3);
        let current = directory.path().join("current");
        let path = current.join("edits_inprogress_0000000000000000001");
        let old = OpenOptions::new().write(true).open(&path).unwrap();
        // The sync of the records failed, and the JournalNode was restarted.
        drop(journal);
        let mut journal = open(directory.path());
        if kept_by_recovery {
            journal.new_epoch(&info(), 2).unwrap();
            let mut second = Caller::new(2);
            journal.prepare_recovery(second.request(), TxId(1)).unwrap();
            assert!(journal.begin_accept(second.request(), state(3)).unwrap().is_none());
            journal.finish_accept(2, state(3), None).unwrap();
            journal.finalize(second.request(), TxId(1), TxId(3)).unwrap();
        } else {
            journal.finalize(first.request(), TxId(1), TxId(3)).unwrap();
        }
        drop(journal);
        lose_power(&old, 8);
        let whole = current.join("edits_0000000000000000001-0000000000000000003");
        assert_eq!(scan(&whole, 1 << 20).unwrap().last, Some(TxId(3)), "{kept_by_recovery}");
    }
}

fn open_with(root: &Path, format_over_data: bool) -> Journal {
    let options = JournalOptions { format_over_data, ..OPTIONS };
    Journal::open("ns", root, &options, Arc::default()).unwrap()
}

/// Any user who reached the port wiped the shared edits with `format(force)`.
#[test]
fn a_journal_with_edits_is_formatted_only_where_the_operator_allowed_it() {
    let (directory, journal, _) = written_to(3);
    drop(journal);
    let mut journal = open(directory.path());
    let refused = journal.format(info(), true).unwrap_err();
    assert!(matches!(refused, Error::HoldsEdits(_)), "{refused}");
    assert!(refused.to_string().contains("zerohop.journalnode.format.over.data"), "{refused}");
    assert_eq!(
        (journal.promised().unwrap(), lasts(&journal)),
        (1, vec![3]),
        "it goes on as before"
    );
    drop(journal);
    let mut journal = open_with(directory.path(), true);
    assert!(matches!(journal.format(info(), false), Err(Error::NotEmpty(_))), "force is needed");
    journal.format(info(), true).unwrap();
    assert!(lasts(&journal).is_empty());
    drop(journal);
    // A `namenode -format' that ended half-way is repeated.
    open(directory.path()).format(info(), true).unwrap();
}

/// Two downloads for one epoch must not write the same file.
#[test]
fn each_fetch_has_a_file_of_its_own() {
    let (_directory, mut journal, _) = written_to(3);
    journal.new_epoch(&info(), 2).unwrap();
    let mut second = Caller::new(2);
    let mut begin =
        |request: RequestInfo| journal.begin_accept(request, state(5)).unwrap().unwrap();
    assert_ne!(begin(second.request()), begin(second.request()));
}
