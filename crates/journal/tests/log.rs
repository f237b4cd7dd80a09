//! Directories of edits: written, recovered, and read while they are written.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;
use zerohop_journal::log::{
    Batch, DirectoryJournal, EditCursor, EditSource, EditStream, Journal, OpenSegment, Selection,
};
use zerohop_journal::op::{self, OP_SIZE_MAX};
use zerohop_journal::segment::{SegmentKind, in_progress_name};
use zerohop_journal::types::RpcIds;
use zerohop_journal::{EditOp, JournalError, LayoutVersion};
use zerohop_wire::TxId;

fn record(txid: i64) -> Vec<u8> {
    let op: EditOp = op::AllowSnapshot { root: format!("/{txid}") }.into();
    let mut bytes = Vec::new();
    op::encode(&op, TxId(txid), &RpcIds::NONE, LayoutVersion::CURRENT, &mut bytes);
    bytes
}

struct Dir {
    root: TempDir,
    journal: DirectoryJournal,
}

fn dir() -> Dir {
    let root = tempfile::tempdir().unwrap();
    let journal = DirectoryJournal::new(root.path().join("current"), OP_SIZE_MAX);
    journal.format().unwrap();
    Dir { root, journal }
}

impl Dir {
    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join("current").join(name)
    }

    fn in_progress(&self, first: i64) -> PathBuf {
        self.path(&in_progress_name(TxId(first)))
    }

    fn start(&self, first: i64) -> Box<dyn OpenSegment> {
        self.journal.start_segment(TxId(first)).unwrap()
    }

    /// A finalized segment.
    fn write(&self, first: i64, last: i64) {
        let mut segment = self.start(first);
        (first..=last).for_each(|txid| append(&mut segment, txid));
        segment.finalize(TxId(last)).unwrap();
    }

    /// The stream of the only segment.
    fn stream(&self) -> Box<dyn EditStream> {
        let selection = Selection { from: TxId(1), in_progress: true };
        let mut streams = self.journal.streams(selection).unwrap();
        assert_eq!(streams.len(), 1);
        streams.remove(0)
    }
}

fn append(segment: &mut Box<dyn OpenSegment>, txid: i64) {
    let records = record(txid);
    let batch = Batch { first: TxId(txid), count: 1, records: &records };
    segment.append(&batch).unwrap().wait().unwrap();
}

fn next(stream: &mut dyn EditStream) -> Option<i64> {
    stream.next().unwrap().map(|record| record.txid.0)
}

/// What can be read now.
fn rest(edits: &mut EditCursor<'_>) -> Vec<i64> {
    std::iter::from_fn(|| edits.next().unwrap().map(|record| record.txid.0)).collect()
}

#[test]
fn a_stream_follows_the_segment_that_is_written() {
    let dir = dir();
    let mut segment = dir.start(1);
    let mut stream = dir.stream();
    assert_eq!((next(&mut *stream), stream.is_in_progress()), (None, true), "only padding");
    append(&mut segment, 1);
    append(&mut segment, 2);
    assert_eq!(
        (next(&mut *stream), next(&mut *stream), next(&mut *stream)),
        (Some(1), Some(2), None)
    );
    append(&mut segment, 3);
    assert_eq!((next(&mut *stream), next(&mut *stream)), (Some(3), None));
}

#[test]
fn a_half_written_record_is_read_when_it_is_whole() {
    let dir = dir();
    let mut segment = dir.start(1);
    append(&mut segment, 1);
    drop(segment);
    let mut stream = dir.stream();
    assert_eq!(next(&mut *stream), Some(1));
    let path = dir.in_progress(1);
    let mut bytes = fs::read(&path).unwrap();
    let record = record(2);
    let start = 8 + record.len();
    for len in 1..record.len() {
        bytes[start..start + len].copy_from_slice(&record[..len]);
        fs::write(&path, &bytes).unwrap();
        assert_eq!(next(&mut *stream), None, "{len} bytes of it");
    }
    bytes[start..start + record.len()].copy_from_slice(&record);
    fs::write(&path, &bytes).unwrap();
    assert_eq!((next(&mut *stream), next(&mut *stream)), (Some(2), None));
    // A file that ends within a record instead of padding.
    bytes.truncate(start + record.len() + 5);
    fs::write(&path, &bytes).unwrap();
    assert_eq!(next(&mut *stream), None);
}

#[test]
fn a_segment_without_a_header_has_no_edits_yet() {
    let dir = dir();
    let path = dir.in_progress(1);
    fs::write(&path, []).unwrap();
    let mut stream = dir.stream();
    assert_eq!(next(&mut *stream), None);
    fs::write(&path, [0xff; 4096]).unwrap();
    assert_eq!(next(&mut *stream), None);
    let mut segment = dir.start(1);
    append(&mut segment, 1);
    assert_eq!(next(&mut *stream), Some(1));
}

#[test]
fn a_stream_survives_that_its_segment_is_finalized() {
    let dir = dir();
    let mut segment = dir.start(1);
    append(&mut segment, 1);
    let mut begun = dir.stream();
    let mut unopened = dir.stream();
    assert_eq!((next(&mut *begun), next(&mut *begun)), (Some(1), None));
    append(&mut segment, 2);
    segment.finalize(TxId(2)).unwrap();
    assert_eq!((next(&mut *begun), next(&mut *begun)), (Some(2), None));
    assert_eq!(begun.last(), Some(TxId(2)));
    assert_eq!(
        (next(&mut *unopened), next(&mut *unopened), next(&mut *unopened)),
        (Some(1), Some(2), None)
    );
    assert!(!unopened.is_in_progress());
}

/// What was no damage while it might be half a record is damage once the name says that it is a record.
#[test]
fn damage_at_the_end_is_an_error_once_the_segment_is_finalized() {
    let dir = dir();
    let mut segment = dir.start(1);
    append(&mut segment, 1);
    append(&mut segment, 2);
    drop(segment);
    let path = dir.in_progress(1);
    let mut bytes = fs::read(&path).unwrap();
    bytes[8 + record(1).len() + 15] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let mut stream = dir.stream();
    assert_eq!((next(&mut *stream), next(&mut *stream)), (Some(1), None));
    fs::rename(&path, dir.path("edits_0000000000000000001-0000000000000000002")).unwrap();
    assert!(matches!(stream.next(), Err(JournalError::Corrupt { last_txid: 1, .. })));
}

#[test]
fn a_segment_that_vanishes_is_an_error() {
    let dir = dir();
    append(&mut dir.start(1), 1);
    let mut stream = dir.stream();
    assert_eq!(next(&mut *stream), Some(1));
    fs::remove_file(dir.in_progress(1)).unwrap();
    assert!(stream.next().unwrap_err().to_string().contains("it is gone"));
}

/// As after a crash of the writer before its first record.
#[test]
fn a_segment_that_is_begun_anew_is_read_from_its_begin() {
    let dir = dir();
    drop(dir.start(1));
    let mut stream = dir.stream();
    assert_eq!(next(&mut *stream), None);
    dir.journal.recover_unfinalized_segments().outcome.unwrap();
    assert!(dir.journal.segments().unwrap().is_empty(), "moved aside");
    assert_eq!(next(&mut *stream), None);
    append(&mut dir.start(1), 1);
    assert_eq!((next(&mut *stream), next(&mut *stream)), (Some(1), None));
}

#[test]
fn a_cursor_goes_on_with_the_next_segment() {
    let dir = dir();
    dir.write(1, 3);
    let mut segment = dir.start(4);
    append(&mut segment, 4);
    let mut edits = EditCursor::new(&dir.journal, TxId(2), true);
    assert_eq!(rest(&mut edits), [2, 3, 4]);
    append(&mut segment, 5);
    segment.finalize(TxId(5)).unwrap();
    let mut segment = dir.start(6);
    append(&mut segment, 6);
    assert_eq!((rest(&mut edits), edits.next_txid()), (vec![5, 6], TxId(7)));
    let mut finished = EditCursor::new(&dir.journal, TxId(1), false);
    assert_eq!(rest(&mut finished), [1, 2, 3, 4, 5], "what is in progress was not asked for");
}

#[test]
fn a_cursor_reads_while_a_thread_writes() {
    const LAST: i64 = 600;
    let dir = dir();
    let ended = Arc::new(AtomicBool::new(false));
    let read = std::thread::scope(|scope| {
        scope.spawn(|| {
            for first in (1..LAST).step_by(100) {
                dir.write(first, first + 99);
            }
            ended.store(true, Ordering::Release);
        });
        let mut edits = EditCursor::new(&dir.journal, TxId(1), true);
        let mut read = Vec::new();
        loop {
            let is_last = ended.load(Ordering::Acquire);
            read.extend(rest(&mut edits));
            if is_last {
                return read;
            }
        }
    });
    assert_eq!(read, (1..=LAST).collect::<Vec<_>>());
}

/// Copies of one log.
struct Both<'a>([&'a DirectoryJournal; 2]);

impl EditSource for Both<'_> {
    fn name(&self) -> String {
        "both".to_owned()
    }

    fn streams(&self, selection: Selection) -> Result<Vec<Box<dyn EditStream>>, JournalError> {
        let streams: Result<Vec<_>, _> =
            self.0.iter().map(|journal| journal.streams(selection)).collect();
        Ok(streams?.into_iter().flatten().collect())
    }
}

#[test]
fn another_copy_takes_the_place_of_a_damaged_one() {
    let (one, two) = (dir(), dir());
    [&one, &two].into_iter().for_each(|dir| dir.write(1, 4));
    let path = one.path("edits_0000000000000000001-0000000000000000004");
    let mut bytes = fs::read(&path).unwrap();
    bytes[8 + 2 * record(1).len() + 15] ^= 1;
    fs::write(&path, &bytes).unwrap();
    for both in [Both([&one.journal, &two.journal]), Both([&two.journal, &one.journal])] {
        assert_eq!(rest(&mut EditCursor::new(&both, TxId(1), false)), [1, 2, 3, 4]);
    }
    let mut alone = EditCursor::new(&one.journal, TxId(1), false);
    assert_eq!((alone.next().unwrap().is_some(), alone.next().unwrap().is_some()), (true, true));
    assert!(matches!(alone.next(), Err(JournalError::Corrupt { last_txid: 2, .. })));
}

#[test]
fn a_copy_that_the_writer_dropped_is_left_for_the_one_that_goes_on() {
    let (dropped, other) = (dir(), dir());
    let both = Both([&dropped.journal, &other.journal]);
    let (mut stale, mut segment) = (dropped.start(1), other.start(1));
    append(&mut stale, 1);
    append(&mut segment, 1);
    let mut edits = EditCursor::new(&both, TxId(1), true);
    assert_eq!(rest(&mut edits), [1]);
    append(&mut segment, 2);
    segment.finalize(TxId(2)).unwrap();
    append(&mut other.start(3), 3);
    assert_eq!(rest(&mut edits), [2, 3]);
}

#[test]
fn recovery_finalizes_what_a_crash_left_and_says_how_far_it_goes() {
    let dir = dir();
    assert!(!dir.journal.has_data().unwrap());
    dir.write(1, 2);
    let mut segment = dir.start(3);
    append(&mut segment, 3);
    drop(segment);
    let recovery = dir.journal.recover_unfinalized_segments();
    recovery.outcome.unwrap();
    assert_eq!(recovery.reached, TxId(3));
    let kinds: Vec<_> = dir.journal.segments().unwrap().into_iter().map(|file| file.kind).collect();
    assert_eq!(kinds, [SegmentKind::Finalized(TxId(2)), SegmentKind::Finalized(TxId(3))]);
    assert!(dir.journal.has_data().unwrap());
}

#[test]
fn segments_before_a_transaction_are_purged_but_for_those_to_be_kept() {
    let dir = dir();
    [(1, 2), (3, 4), (5, 6), (7, 8)].into_iter().for_each(|(first, last)| dir.write(first, last));
    dir.journal.purge(TxId(7), Some(4..=4));
    let firsts = || -> Vec<i64> {
        dir.journal.segments().unwrap().into_iter().map(|file| file.first.0).collect()
    };
    assert_eq!(firsts(), [3, 7]);
    dir.journal.purge(TxId(8), None);
    assert_eq!(firsts(), [7]);
    dir.journal.format().unwrap();
    assert!(firsts().is_empty());
}
