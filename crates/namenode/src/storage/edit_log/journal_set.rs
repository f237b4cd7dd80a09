//! The same records into every journal.

use super::copies::Copies;
use super::member::{Member, Role, append_to_all};
use crate::storage::StorageError;
use zerohop_journal::log::Batch;
use zerohop_wire::TxId;

/// All journals the log is written to. One that fails is dropped for the process's life, and the log fails when too few are
/// left or a required one is gone.
pub(super) struct JournalSet {
    /// Those that an answer waits for.
    members: Vec<Member>,
    /// Those that are written behind the shared one.
    copies: Option<Copies>,
    /// `dfs.namenode.edits.dir.minimum`
    minimum: usize,
}

impl JournalSet {
    pub fn new(mut members: Vec<Member>, minimum: usize) -> Self {
        members.sort_by_key(|member| member.role != Role::Shared);
        let mut copies = None;
        if members.iter().any(|member| member.role == Role::Shared) {
            let behind;
            (behind, members) = members.into_iter().partition(|it| it.role == Role::Redundant);
            // Out of threads: answers wait for them.
            match Copies::start(behind) {
                Ok(started) => copies = Some(started),
                Err(behind) => members.extend(behind),
            }
        }
        Self { members, copies, minimum }
    }

    /// The shared journals, and their copies or what else there is.
    fn by_order(&mut self) -> [&mut [Member]; 2] {
        let shared = self.members.iter().take_while(|member| member.role == Role::Shared).count();
        let (shared, others) = self.members.split_at_mut(shared);
        [shared, others]
    }

    /// Begins a segment in every journal that has not failed.
    pub fn begin(&mut self, first: TxId) -> Result<(), StorageError> {
        for member in self.members.iter_mut().filter(|member| member.is_used()) {
            member.begin(first);
            if member.role == Role::Shared && !member.is_writing() {
                return Err(lost(member, "starting log segment"));
            }
        }
        if let Some(copies) = &self.copies {
            copies.begin(first);
        }
        self.check()
    }

    /// Writes records and makes them durable in every journal that an answer waits for: in the slowest one's time, not in the sum
    /// of all. Only the shared journal comes before the others; copies of it are written behind it.
    pub fn append(&mut self, batch: &Batch<'_>) -> Result<(), StorageError> {
        for members in self.by_order() {
            append_to_all(members, batch);
            if let Some(lost_one) =
                members.iter().find(|it| it.role == Role::Shared && !it.is_writing())
            {
                return Err(lost(lost_one, "flush"));
            }
        }
        if let Some(copies) = &self.copies {
            copies.append(batch);
        }
        self.check()
    }

    /// Finalizes the segment in every journal.
    pub fn finalize(&mut self, last: TxId) -> Result<(), StorageError> {
        for member in &mut self.members {
            member.finalize(last);
            if member.role == Role::Shared && !member.is_used() {
                return Err(lost(member, "finalize log segment"));
            }
        }
        if let Some(copies) = &self.copies {
            copies.finalize(last);
        }
        if self.members.iter().any(Member::is_used) { Ok(()) } else { Err(self.none_left()) }
    }

    /// That the required journals, and enough of all, write the segment.
    pub fn check(&self) -> Result<(), StorageError> {
        let is_lost = |member: &&Member| member.role != Role::Redundant && !member.is_writing();
        if let Some(lost) = self.members.iter().find(is_lost) {
            let message = format!("required edits directory {} failed", lost.journal.name());
            return Err(StorageError::Config(message));
        }
        let local = self.members.iter().filter(|member| member.role != Role::Shared);
        let writing = local.filter(|member| member.is_writing()).count()
            + self.copies.as_ref().map_or(0, Copies::used);
        if writing < self.minimum.max(1) { Err(self.none_left()) } else { Ok(()) }
    }

    fn none_left(&self) -> StorageError {
        let reason = self.members.iter().find_map(|member| member.usability.failure());
        let reason = reason.or_else(|| self.copies.as_ref()?.failure());
        let reason = reason.unwrap_or_else(|| "none is configured".to_owned());
        StorageError::NoneLeft { what: "edits", reason }
    }
}

/// The journal that others go on from has failed.
fn lost(member: &Member, what: &'static str) -> StorageError {
    let reason = member.usability.failure().unwrap_or_else(|| "no segment was begun".to_owned());
    StorageError::SharedJournal { what, journal: member.journal.name(), reason }
}

#[cfg(test)]
mod tests {
    use super::super::member::Usability;
    use super::*;
    use std::ops::RangeInclusive;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::sync::{Arc, OnceLock};
    use zerohop_journal::JournalError;
    use zerohop_journal::log::{Completer, EditSource, EditStream, Recovery, Selection};
    use zerohop_journal::log::{Completion, Journal, OpenSegment};

    /// What a journal of a test does with records.
    #[derive(Clone)]
    enum Appends {
        /// They are durable at once; the sender is told of them.
        AtOnce(Sender<TxId>),
        /// They are durable when the test says so.
        Later(Sender<Completer>),
        Fail,
    }

    struct Fake {
        name: &'static str,
        appends: Appends,
        finalized: Option<Sender<TxId>>,
    }

    impl EditSource for Fake {
        fn name(&self) -> String {
            self.name.to_owned()
        }

        fn streams(&self, _: Selection) -> Result<Vec<Box<dyn EditStream>>, JournalError> {
            Ok(Vec::new())
        }
    }

    impl Journal for Fake {
        fn has_data(&self) -> Result<bool, JournalError> {
            Ok(false)
        }

        fn format(&self) -> Result<(), JournalError> {
            Ok(())
        }

        fn recover_unfinalized_segments(&self) -> Recovery {
            Recovery { reached: TxId(0), outcome: Ok(()) }
        }

        fn start_segment(&self, _: TxId) -> Result<Box<dyn OpenSegment>, JournalError> {
            Ok(Box::new(FakeSegment(self.appends.clone(), self.finalized.clone())))
        }

        fn purge(&self, _: TxId, _: Option<RangeInclusive<i64>>) {}

        fn close(&self) {}
    }

    /// Finalizing it sends to the second, where there is one.
    struct FakeSegment(Appends, Option<Sender<TxId>>);

    impl OpenSegment for FakeSegment {
        fn append(&mut self, batch: &Batch<'_>) -> Result<Completion, JournalError> {
            match &self.0 {
                Appends::AtOnce(told) => {
                    told.send(batch.first).unwrap();
                    Ok(Completion::done())
                }
                Appends::Later(told) => {
                    let (completer, completion) = Completion::pending();
                    told.send(completer).unwrap();
                    Ok(completion)
                }
                Appends::Fail => Err(JournalError::GivenUp),
            }
        }

        fn finalize(self: Box<Self>, last: TxId) -> Result<(), JournalError> {
            self.1.map_or(Ok(()), |told| told.send(last).map_err(|_| JournalError::GivenUp))
        }
    }

    #[derive(Default)]
    struct Used(OnceLock<String>);

    impl Usability for Used {
        fn drop_journal(&self, reason: &JournalError) {
            self.0.set(reason.to_string()).unwrap();
        }

        fn failure(&self) -> Option<String> {
            self.0.get().cloned()
        }
    }

    fn member(name: &'static str, appends: Appends, is_required: bool) -> Member {
        let role = if is_required { Role::Required } else { Role::Redundant };
        Member::new(Arc::new(Fake { name, appends, finalized: None }), role, Arc::<Used>::default())
    }

    fn good() -> (Appends, Receiver<TxId>) {
        let (told, batches) = channel();
        (Appends::AtOnce(told), batches)
    }

    fn batch() -> Batch<'static> {
        Batch { first: TxId(1), count: 1, records: b"record" }
    }

    fn set(members: Vec<Member>, minimum: usize) -> JournalSet {
        let mut set = JournalSet::new(members, minimum);
        set.begin(TxId(1)).unwrap();
        set
    }

    /// As a quorum does that has not heard of its majority yet.
    #[test]
    fn records_are_durable_when_the_slowest_journal_says_so_and_others_do_not_wait_for_it() {
        let (told, completers) = channel();
        let (fast, batches) = good();
        let members =
            vec![member("slow", Appends::Later(told), false), member("fast", fast, false)];
        let mut set = set(members, 1);
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let appending = scope.spawn(|| {
                let done = set.append(&batch());
                ended.store(true, Ordering::Release);
                done
            });
            let completer = completers.recv().unwrap();
            assert_eq!(batches.recv().unwrap(), TxId(1));
            assert!(!ended.load(Ordering::Acquire));
            completer.complete(Ok(()));
            appending.join().unwrap().unwrap();
        });
    }

    #[test]
    fn a_journal_that_fails_later_is_dropped_like_one_that_fails_at_once() {
        let (told, completers) = channel();
        let (fast, batches) = good();
        let members = vec![
            member("slow", Appends::Later(told), false),
            member("broken", Appends::Fail, false),
            member("fast", fast, false),
        ];
        let mut set = set(members, 1);
        std::thread::scope(|scope| {
            let appending = scope.spawn(|| set.append(&batch()));
            drop(completers.recv().unwrap());
            appending.join().unwrap().unwrap();
        });
        set.append(&batch()).unwrap();
        assert_eq!(batches.try_iter().count(), 2);
        assert!(completers.try_recv().is_err(), "it is not asked again");
        set.finalize(TxId(2)).unwrap();
        set.begin(TxId(3)).unwrap();
    }

    /// Its segment got the name of a whole one, and the next start found that it ended before that.
    #[test]
    fn a_directory_dropped_because_of_its_images_does_not_finalize_a_segment_that_lacks_records() {
        let ((fast, _batches), (kept, _others)) = (good(), good());
        let ((told, finalized), usability) = (channel(), Arc::<Used>::default());
        let journal = Arc::new(Fake { name: "dropped", appends: fast, finalized: Some(told) });
        let dropped = Member::new(journal, Role::Redundant, usability.clone());
        let mut set = set(vec![dropped, member("kept", kept, false)], 1);
        set.append(&batch()).unwrap();
        usability.drop_journal(&JournalError::GivenUp);
        set.append(&batch()).unwrap();
        set.finalize(TxId(2)).unwrap();
        assert!(finalized.try_recv().is_err());
    }

    #[test]
    fn the_log_fails_with_a_required_journal_and_below_the_minimum() {
        let failing = |minimum, is_required| {
            let (fast, batches) = good();
            let members = vec![member("/a", Appends::Fail, is_required), member("/b", fast, false)];
            let outcome = set(members, minimum).append(&batch()).map_err(|e| e.to_string());
            drop(batches);
            outcome
        };
        failing(1, false).unwrap();
        assert_eq!(failing(1, true).unwrap_err(), "required edits directory /a failed");
        let error = failing(2, false).unwrap_err();
        assert!(error.contains("while records were on their way"), "{error}");
    }

    fn shared(appends: Appends) -> Member {
        let journal = Arc::new(Fake { name: "shared", appends, finalized: None });
        Member::new(journal, Role::Shared, Arc::<Used>::default())
    }

    /// Else a directory could hold an edit that no other NameNode will ever see.
    #[test]
    fn a_copy_never_has_more_than_the_shared_journal() {
        let (told, completers) = channel();
        let (copy, batches) = good();
        let mut set = set(vec![member("copy", copy, false), shared(Appends::Later(told))], 1);
        std::thread::scope(|scope| {
            let appending = scope.spawn(|| set.append(&batch()));
            let completer = completers.recv().unwrap();
            assert!(batches.try_recv().is_err());
            completer.complete(Ok(()));
            assert_eq!(batches.recv().unwrap(), TxId(1));
            appending.join().unwrap().unwrap();
        });
        std::thread::scope(|scope| {
            let appending = scope.spawn(|| set.append(&batch()));
            drop(completers.recv().unwrap());
            let error = appending.join().unwrap().unwrap_err().to_string();
            assert!(error.starts_with("flush failed for required journal (shared): "), "{error}");
        });
        assert!(batches.try_recv().is_err(), "nothing is written behind a failure");
    }

    /// The sync of a directory came on top of that of the majority.
    #[test]
    fn an_answer_does_not_wait_for_copies_of_the_shared_journal_and_the_end_of_a_segment_does() {
        let (quick, _batches) = good();
        let (told, completers) = channel();
        let (finalized_at, finalized) = channel();
        let journal = Arc::new(Fake {
            name: "copy",
            appends: Appends::Later(told),
            finalized: Some(finalized_at),
        });
        let copy = Member::new(journal, Role::Redundant, Arc::<Used>::default());
        let mut set = set(vec![copy, shared(quick)], 1);
        set.append(&batch()).unwrap();
        let first = completers.recv().unwrap();
        // It is not durable in the copy, and more come.
        set.append(&Batch { first: TxId(2), ..batch() }).unwrap();
        std::thread::scope(|scope| {
            let ending = scope.spawn(|| set.finalize(TxId(2)));
            assert!(finalized.try_recv().is_err());
            first.complete(Ok(()));
            completers.recv().unwrap().complete(Ok(()));
            assert_eq!(finalized.recv().unwrap(), TxId(2));
            ending.join().unwrap().unwrap();
        });
    }

    #[test]
    fn an_answer_waits_for_a_required_directory_beside_the_shared_journal() {
        let ((quick, _batches), (told, completers)) = (good(), channel());
        let mut set = set(vec![shared(quick), member("required", Appends::Later(told), true)], 1);
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let appending = scope.spawn(|| {
                set.append(&batch()).unwrap();
                ended.store(true, Ordering::Release);
            });
            let completer = completers.recv().unwrap();
            assert!(!ended.load(Ordering::Acquire));
            completer.complete(Ok(()));
            appending.join().unwrap();
        });
    }

    #[test]
    fn the_log_ends_when_too_few_copies_are_left() {
        let (quick, _batches) = good();
        let mut set = set(vec![member("copy", Appends::Fail, false), shared(quick)], 1);
        // The failure is seen with the next batch at the latest, and with the end of a segment.
        let ended = set.append(&batch()).and_then(|()| {
            set.finalize(TxId(1)).unwrap();
            set.begin(TxId(2))
        });
        let error = ended.unwrap_err().to_string();
        assert!(error.contains("while records were on their way"), "{error}");
    }
}
