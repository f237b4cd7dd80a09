//! What a journal promises to writers: given what happened, when a call comes, then this.

use crate::calls::RequestInfo;
use crate::error::{Error, Result};
use crate::fixture::{Caller, info, open, records};
use crate::journal::Journal;
use crate::segments::SegmentState;
use std::path::Path;
use tempfile::TempDir;
use zerohop_wire::TxId;

const LAYOUT: i32 = -67;

/// A formatted journal whose writer has epoch 1 and has begun segment 1.
fn written_to(last: i64) -> (TempDir, Journal, Caller) {
    let directory = tempfile::tempdir().unwrap();
    let mut journal = formatted(directory.path());
    let mut writer = Caller::new(1);
    journal.new_epoch(&info(), 1).unwrap();
    journal.start_segment(writer.request(), TxId(1), LAYOUT).unwrap();
    if last >= 1 {
        write(&mut journal, &mut writer, 1, 1, last).unwrap();
    }
    (directory, journal, writer)
}

fn formatted(root: &Path) -> Journal {
    let mut journal = open(root);
    journal.format(info(), false).unwrap();
    journal
}

fn write(
    journal: &mut Journal,
    writer: &mut Caller,
    segment: i64,
    first: i64,
    last: i64,
) -> Result<()> {
    journal.write(&[writer.write(segment, first, last)]).remove(0)
}

/// A journal that has the wished segment.
struct Other(Vec<u8>);

impl Other {
    fn with(first: u64, last: u64) -> Self {
        let header = [&LAYOUT.to_be_bytes()[..], &[0; 4]].concat();
        Self([&header[..], &records(first, last)].concat())
    }
}

impl Other {
    fn fetch(&self, to: &Path) {
        std::fs::write(to, &self.0).unwrap();
    }
}

/// Accepts a recovery's state, with the segment of `source` if one must be fetched.
fn accept(
    journal: &mut Journal,
    request: RequestInfo,
    state: SegmentState,
    source: Option<&Other>,
) -> Result<()> {
    let to = journal.begin_accept(request, state)?;
    if let Some(to) = &to {
        source.expect("a segment that is here already was fetched").fetch(to);
    }
    journal.finish_accept(request.epoch, state, to.as_deref())
}

fn state(first: i64, last: i64, in_progress: bool) -> SegmentState {
    SegmentState { first: TxId(first), last: TxId(last), in_progress }
}

#[test]
fn nothing_is_done_before_the_journal_is_formatted() {
    let directory = tempfile::tempdir().unwrap();
    let mut journal = open(directory.path());
    let request = Caller::new(1).request();
    assert!(matches!(journal.promised(), Err(Error::NotFormatted { .. })));
    // Its text used to send an operator who had lost one disk to the commands that format all JournalNodes.
    let text = journal.promised().unwrap_err().to_string();
    assert!(text.contains("lost its disk, stop it and run `journalnode -format'"), "{text}");
    assert!(matches!(journal.new_epoch(&info(), 1), Err(Error::NotFormatted { .. })));
    assert!(matches!(journal.check(request), Err(Error::NotFormatted { .. })));
    assert!(matches!(journal.manifest(TxId(0), true), Err(Error::NotFormatted { .. })));
}

#[test]
fn formatting_destroys_nothing_without_force() {
    let (_directory, mut journal, _) = written_to(3);
    assert!(matches!(journal.format(info(), false), Err(Error::NotEmpty(_))));
    assert_eq!(journal.promised().unwrap(), 1, "it goes on as before");
    assert!(matches!(journal.format(info(), true), Err(Error::HoldsEdits(_))));
    assert_eq!(journal.promised().unwrap(), 1);
}

#[test]
fn a_writer_of_another_name_space_gets_no_promise() {
    let directory = tempfile::tempdir().unwrap();
    let mut journal = formatted(directory.path());
    for other in [
        crate::storage::StorageInfo { namespace_id: 8, ..info() },
        crate::storage::StorageInfo { cluster_id: "CID-y".to_owned(), ..info() },
    ] {
        assert!(matches!(journal.new_epoch(&other, 1), Err(Error::OtherNamespace(_))));
    }
    assert_eq!(journal.promised().unwrap(), 0);
}

#[test]
fn a_writer_is_fenced_by_the_next_promise_also_after_a_restart() {
    let (directory, mut journal, mut first) = written_to(3);
    assert_eq!(journal.new_epoch(&info(), 2).unwrap(), Some(TxId(1)));
    let refused = write(&mut journal, &mut first, 1, 4, 4).unwrap_err();
    assert!(matches!(refused, Error::Fenced { epoch: 1, promised: 2, .. }), "{refused}");
    assert!(matches!(journal.new_epoch(&info(), 2), Err(Error::EpochNotNew { .. })));
    drop(journal);
    let mut journal = open(directory.path());
    assert!(matches!(journal.check(first.request()), Err(Error::Fenced { .. })));
    assert_eq!(journal.promised().unwrap(), 2);
}

#[test]
fn a_promise_alone_does_not_let_a_writer_continue_the_others_segment() {
    let (_directory, mut journal, _) = written_to(3);
    let mut second = Caller::new(2);
    // Its promise came from a majority without this journal.
    let refused = write(&mut journal, &mut second, 1, 4, 4).unwrap_err();
    assert!(matches!(refused, Error::NotTheWriter { epoch: 2, writer: 1, .. }), "{refused}");
    assert_eq!(journal.promised().unwrap(), 2, "and the first one is fenced");
}

#[test]
fn calls_that_come_twice_or_out_of_order_change_nothing() {
    let (_directory, mut journal, mut writer) = written_to(3);
    let early = writer.write(1, 4, 4);
    let late = writer.write(1, 5, 5);
    let answers = journal.write(&[early.clone(), late, early]);
    assert!(matches!(answers[..], [Ok(()), Ok(()), Err(Error::OutOfSync(_))]), "{answers:?}");
    assert!(matches!(write(&mut journal, &mut writer, 1, 7, 7), Err(Error::OutOfSync(_))), "a gap");
    write(&mut journal, &mut writer, 1, 6, 6).unwrap();
}

#[test]
fn a_writer_that_missed_a_new_segment_waits_for_the_next_one() {
    let (_directory, mut journal, mut writer) = written_to(3);
    // finalizeLogSegment and startLogSegment were lost.
    assert!(matches!(write(&mut journal, &mut writer, 4, 4, 5), Err(Error::OutOfSync(_))));
    assert!(matches!(write(&mut journal, &mut writer, 1, 4, 4), Err(Error::OutOfSync(_))));
    journal.start_segment(writer.request(), TxId(6), LAYOUT).unwrap();
    write(&mut journal, &mut writer, 6, 6, 7).unwrap();
    let last = |state: &SegmentState| (state.first.0, state.last.0);
    let known: Vec<_> =
        journal.manifest(TxId(0), true).unwrap().segments.iter().map(last).collect();
    assert_eq!(known, [(1, 3), (6, 7)]);
}

#[test]
fn a_segment_ends_where_its_writer_says_or_not_at_all() {
    let (_directory, mut journal, mut writer) = written_to(3);
    assert!(matches!(
        journal.finalize(writer.request(), TxId(1), TxId(4)),
        Err(Error::OutOfSync(_))
    ));
    assert!(matches!(
        journal.finalize(writer.request(), TxId(9), TxId(9)),
        Err(Error::OutOfSync(_))
    ));
    journal.finalize(writer.request(), TxId(1), TxId(3)).unwrap();
    journal.finalize(writer.request(), TxId(1), TxId(3)).unwrap();
    assert!(matches!(
        journal.finalize(writer.request(), TxId(1), TxId(2)),
        Err(Error::BadRequest(_))
    ));
    assert!(matches!(
        journal.start_segment(writer.request(), TxId(1), LAYOUT),
        Err(Error::WouldLose(_))
    ));
    assert_eq!(journal.manifest(TxId(3), false).unwrap().segments, [state(1, 3, false)]);
    assert!(journal.manifest(TxId(4), false).unwrap().segments.is_empty());
    journal.purge(writer.request(), TxId(4)).unwrap();
    assert!(journal.manifest(TxId(0), true).unwrap().segments.is_empty());
}

#[test]
fn what_is_committed_is_told_and_never_goes_back() {
    let (directory, mut journal, mut writer) = written_to(3);
    let told = |writer: &mut Caller, txid| crate::calls::RequestInfo {
        committed: Some(txid),
        ..writer.request()
    };
    journal.check(told(&mut writer, 3)).unwrap();
    assert!(matches!(journal.check(told(&mut writer, 2)), Err(Error::BadRequest(_))));
    assert_eq!(journal.manifest(TxId(0), true).unwrap().committed, Some(3));
    drop(journal);
    assert_eq!(open(directory.path()).manifest(TxId(0), true).unwrap().committed, Some(3));
}

#[test]
fn those_who_follow_get_edits_from_memory() {
    let (_directory, mut journal, mut writer) = written_to(3);
    write(&mut journal, &mut writer, 1, 4, 6).unwrap();
    let (count, bytes) = journal.edits(2, 100).unwrap();
    assert_eq!((count, &bytes[8..]), (5, &records(2, 6)[..]));
    assert_eq!(journal.edits(7, 100).unwrap().0, 0);
    assert!(matches!(journal.edits(8, 100), Err(Error::TooNew { highest: 6, since: 8 })));
}

#[test]
fn a_recovery_takes_what_is_here_if_it_is_what_was_decided() {
    let (_directory, mut journal, _) = written_to(3);
    journal.new_epoch(&info(), 2).unwrap();
    let mut second = Caller::new(2);
    let prepared = journal.prepare_recovery(second.request(), TxId(1)).unwrap();
    assert_eq!(prepared.state, Some(state(1, 3, true)));
    assert_eq!((prepared.accepted_in, prepared.last_writer), (None, 1));
    accept(&mut journal, second.request(), state(1, 3, true), None).unwrap();
    let again = journal.prepare_recovery(second.request(), TxId(1)).unwrap();
    assert_eq!((again.state, again.accepted_in), (Some(state(1, 3, true)), Some(2)));
    journal.finalize(second.request(), TxId(1), TxId(3)).unwrap();
    let finalized = journal.prepare_recovery(second.request(), TxId(1)).unwrap();
    assert_eq!((finalized.state, finalized.accepted_in), (Some(state(1, 3, false)), None));
}

#[test]
fn a_recovery_fetches_what_is_longer_shorter_or_missing_here() {
    for (here, decided) in [(3, 5), (3, 2), (0, 4)] {
        let (directory, mut journal, _) = written_to(here);
        journal.new_epoch(&info(), 2).unwrap();
        let mut second = Caller::new(2);
        journal.prepare_recovery(second.request(), TxId(1)).unwrap();
        let decision = state(1, decided, true);
        let source = Other::with(1, decided as u64);
        accept(&mut journal, second.request(), decision, Some(&source)).unwrap();
        drop(journal);
        let mut journal = open(directory.path());
        let prepared = journal.prepare_recovery(second.request(), TxId(1)).unwrap();
        assert_eq!(prepared.state, Some(decision), "{here} {decided}");
        journal.finalize(second.request(), TxId(1), TxId(decided)).unwrap();
        journal.start_segment(second.request(), TxId(decided + 1), LAYOUT).unwrap();
        write(&mut journal, &mut second, decided + 1, decided + 1, decided + 1).unwrap();
    }
}

#[test]
fn a_fetched_segment_that_is_not_what_was_decided_is_refused() {
    let (directory, mut journal, _) = written_to(3);
    journal.new_epoch(&info(), 2).unwrap();
    let mut second = Caller::new(2);
    let refused =
        accept(&mut journal, second.request(), state(1, 6, true), Some(&Other::with(1, 5)));
    assert!(matches!(refused, Err(Error::OutOfSync(_))), "{refused:?}");
    let garbage = Other(b"garbage".to_vec());
    accept(&mut journal, second.request(), state(1, 6, true), Some(&garbage)).unwrap_err();
    let left = std::fs::read_dir(directory.path().join("current")).unwrap();
    let names: Vec<_> =
        left.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!names.iter().any(|name| name.contains("epoch=")), "{names:?}");
    assert_eq!(
        journal.prepare_recovery(second.request(), TxId(1)).unwrap().state,
        Some(state(1, 3, true))
    );
}

#[test]
fn a_crash_between_accepting_and_replacing_is_made_good() {
    let (directory, mut journal, _) = written_to(3);
    journal.new_epoch(&info(), 2).unwrap();
    let mut second = Caller::new(2);
    accept(&mut journal, second.request(), state(1, 5, true), Some(&Other::with(1, 5))).unwrap();
    drop(journal);
    // As it was when the decision was written down and the segment not put in place yet.
    let current = directory.path().join("current");
    let in_place = current.join("edits_inprogress_0000000000000000001");
    std::fs::rename(&in_place, current.join("edits_inprogress_0000000000000000001.epoch=2"))
        .unwrap();
    std::fs::write(&in_place, &Other::with(1, 3).0).unwrap();
    let mut journal = open(directory.path());
    let prepared = journal.prepare_recovery(second.request(), TxId(1)).unwrap();
    assert_eq!((prepared.state, prepared.accepted_in), (Some(state(1, 5, true)), Some(2)));
}

#[test]
fn a_recovery_never_takes_back_what_is_committed_or_finalized() {
    let (_directory, mut journal, mut writer) = written_to(5);
    let request = crate::calls::RequestInfo { committed: Some(5), ..writer.request() };
    journal.check(request).unwrap();
    journal.new_epoch(&info(), 2).unwrap();
    let mut second = Caller::new(2);
    let shorter =
        accept(&mut journal, second.request(), state(1, 4, true), Some(&Other::with(1, 4)));
    assert!(matches!(shorter, Err(Error::WouldLose(_))), "{shorter:?}");
    accept(&mut journal, second.request(), state(1, 5, true), None).unwrap();
    journal.finalize(second.request(), TxId(1), TxId(5)).unwrap();
    let longer =
        accept(&mut journal, second.request(), state(1, 6, true), Some(&Other::with(1, 6)));
    assert!(matches!(longer, Err(Error::WouldLose(_))), "{longer:?}");
}

/// The next writer had not seen it, and had begun the segment anew on the others: as long as this one, and different.
#[test]
fn what_a_replaced_writer_left_is_neither_finalized_nor_read_without_a_recovery() {
    let (_directory, mut journal, _) = written_to(3);
    journal.new_epoch(&info(), 2).unwrap();
    let mut second = Caller::new(2);
    let finalized = journal.finalize(second.request(), TxId(1), TxId(3));
    assert!(matches!(finalized, Err(Error::OutOfSync(_))), "{finalized:?}");
    assert_eq!(journal.manifest(TxId(0), true).unwrap().segments, []);
    assert!(journal.edits(1, 10).is_err(), "not out of memory either");
    journal.prepare_recovery(second.request(), TxId(1)).unwrap();
    accept(&mut journal, second.request(), state(1, 3, true), None).unwrap();
    journal.finalize(second.request(), TxId(1), TxId(3)).unwrap();
}

#[test]
fn a_segment_without_a_record_is_moved_aside_by_the_next_writer() {
    let (directory, journal, _) = written_to(0);
    drop(journal);
    let mut journal = open(directory.path());
    assert_eq!(journal.new_epoch(&info(), 2).unwrap(), None);
    let mut second = Caller::new(2);
    assert_eq!(journal.prepare_recovery(second.request(), TxId(1)).unwrap().state, None);
    journal.start_segment(second.request(), TxId(1), LAYOUT).unwrap();
    write(&mut journal, &mut second, 1, 1, 2).unwrap();
}

#[test]
fn a_missing_segment_is_only_added_when_it_is_committed_and_whole() {
    let (directory, mut journal, mut writer) = written_to(3);
    journal.finalize(writer.request(), TxId(1), TxId(3)).unwrap();
    let fetched = directory.path().join("fetched");
    let add = |journal: &mut Journal, first, last| {
        Other::with(first as u64, last as u64).fetch(&fetched);
        journal.add_fetched(&fetched, TxId(first), TxId(last)).unwrap()
    };
    assert!(!add(&mut journal, 4, 6), "nobody said that 6 is committed");
    let request = crate::calls::RequestInfo { committed: Some(6), ..writer.request() };
    journal.check(request).unwrap();
    assert!(!add(&mut journal, 3, 6), "3 is here already");
    assert!(add(&mut journal, 4, 6));
    assert!(!add(&mut journal, 4, 6));
    std::fs::write(&fetched, b"garbage").unwrap();
    assert_eq!(
        journal.manifest(TxId(0), false).unwrap().segments,
        [state(1, 3, false), state(4, 6, false)]
    );
}

/// It was fetched again and again: another segment was being written.
#[test]
fn what_a_crash_left_of_a_segment_kept_the_whole_one_out() {
    let (directory, journal, _) = written_to(3);
    drop(journal);
    let mut journal = open(directory.path());
    journal.new_epoch(&info(), 2).unwrap();
    let mut writer = Caller::new(2);
    journal.start_segment(writer.request(), TxId(9), LAYOUT).unwrap();
    write(&mut journal, &mut writer, 9, 9, 9).unwrap();
    let request = crate::calls::RequestInfo { committed: Some(9), ..writer.request() };
    journal.check(request).unwrap();
    let fetched = directory.path().join("fetched");
    for (first, last) in [(6, 8), (1, 5)] {
        Other::with(first as u64, last as u64).fetch(&fetched);
        assert!(journal.add_fetched(&fetched, TxId(first), TxId(last)).unwrap(), "{first}");
    }
    Other::with(9, 9).fetch(&fetched);
    assert!(!journal.add_fetched(&fetched, TxId(9), TxId(9)).unwrap(), "it is being written");
    let whole = [state(1, 5, false), state(6, 8, false)];
    assert_eq!(journal.manifest(TxId(0), false).unwrap().segments, whole);
}

/// As docs/ha.md says for a disk that was lost.
#[test]
fn a_directory_with_nothing_but_version_takes_part_again() {
    let (other, _journal, _) = written_to(3);
    let directory = tempfile::tempdir().unwrap();
    let current = directory.path().join("current");
    std::fs::create_dir(&current).unwrap();
    std::fs::copy(other.path().join("current/VERSION"), current.join("VERSION")).unwrap();
    let mut journal = open(directory.path());
    assert_eq!(journal.new_epoch(&info(), 2).unwrap(), None);
    let mut writer = Caller::new(2);
    let prepared = journal.prepare_recovery(writer.request(), TxId(1)).unwrap();
    assert_eq!(prepared.state, None);
    accept(&mut journal, writer.request(), state(1, 3, true), Some(&Other::with(1, 3))).unwrap();
    journal.finalize(writer.request(), TxId(1), TxId(3)).unwrap();
    journal.start_segment(writer.request(), TxId(4), LAYOUT).unwrap();
    write(&mut journal, &mut writer, 4, 4, 4).unwrap();
}

#[test]
fn an_upgrade_can_be_rolled_back_until_it_is_finalized() {
    let (directory, mut journal, mut writer) = written_to(3);
    journal.finalize(writer.request(), TxId(1), TxId(3)).unwrap();
    let upgraded = crate::storage::StorageInfo { c_time_ms: 9, layout: -68, ..info() };
    journal.begin_upgrade().unwrap();
    journal.complete_upgrade(&upgraded).unwrap();
    assert_eq!(journal.c_time().unwrap(), 9);
    assert_eq!(journal.promised().unwrap(), 1, "promises are kept");
    assert!(journal.can_roll_back(&upgraded, &info(), -67).unwrap());
    journal.roll_back().unwrap();
    assert_eq!(journal.c_time().unwrap(), 5);
    assert_eq!(journal.manifest(TxId(0), false).unwrap().segments, [state(1, 3, false)]);
    journal.begin_upgrade().unwrap();
    drop(journal);
    // The process ended before the new directory was complete.
    let mut journal = open(directory.path());
    assert_eq!(journal.c_time().unwrap(), 5);
    journal.begin_upgrade().unwrap();
    journal.complete_upgrade(&upgraded).unwrap();
    journal.finalize_upgrade().unwrap();
    assert!(!journal.can_roll_back(&upgraded, &info(), -67).unwrap());
}

#[test]
fn transactions_that_a_rollback_discards_are_gone() {
    let (_directory, mut journal, mut writer) = written_to(3);
    journal.finalize(writer.request(), TxId(1), TxId(3)).unwrap();
    journal.start_segment(writer.request(), TxId(4), LAYOUT).unwrap();
    write(&mut journal, &mut writer, 4, 4, 5).unwrap();
    journal.finalize(writer.request(), TxId(4), TxId(5)).unwrap();
    assert!(matches!(journal.discard_from(writer.request(), TxId(2)), Err(Error::BadRequest(_))));
    journal.discard_from(writer.request(), TxId(4)).unwrap();
    let manifest = journal.manifest(TxId(0), true).unwrap();
    assert_eq!((manifest.segments, manifest.committed), (vec![state(1, 3, false)], Some(3)));
}

/// The journal refused every later recovery of the segment: it had accepted one of which nothing was left.
#[test]
fn what_was_accepted_for_a_discarded_segment_stayed() {
    let (_directory, mut journal, _) = written_to(3);
    journal.new_epoch(&info(), 2).unwrap();
    let mut second = Caller::new(2);
    accept(&mut journal, second.request(), state(1, 3, true), None).unwrap();
    journal.discard_from(second.request(), TxId(1)).unwrap();
    journal.new_epoch(&info(), 3).unwrap();
    let mut third = Caller::new(3);
    let prepared = journal.prepare_recovery(third.request(), TxId(1)).unwrap();
    assert_eq!((prepared.state, prepared.accepted_in), (None, None));
}

/// A crash cut the last write: what is there of it was never acknowledged.
#[test]
fn a_torn_record_at_the_end_of_a_segment_is_cut_off() {
    let (directory, journal, _) = written_to(3);
    drop(journal);
    let current = directory.path().join("current");
    let in_progress = current.join("edits_inprogress_0000000000000000001");
    let cut = records(4, 4);
    let content = [&Other::with(1, 3).0[..], &cut[..cut.len() - 1]].concat();
    std::fs::write(&in_progress, content).unwrap();
    let mut journal = open(directory.path());
    assert_eq!(journal.new_epoch(&info(), 2).unwrap(), Some(TxId(1)));
    let mut second = Caller::new(2);
    let prepared = journal.prepare_recovery(second.request(), TxId(1)).unwrap();
    assert_eq!(prepared.state, Some(state(1, 3, true)));
    accept(&mut journal, second.request(), state(1, 3, true), None).unwrap();
    journal.finalize(second.request(), TxId(1), TxId(3)).unwrap();
    let finalized = current.join("edits_0000000000000000001-0000000000000000003");
    assert_eq!(std::fs::read(finalized).unwrap(), Other::with(1, 3).0);
}
