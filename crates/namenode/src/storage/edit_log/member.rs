//! One of the journals that the log is written to, and writing to several of them at once.

use parking_lot::Mutex;
use std::sync::Arc;
use zerohop_journal::JournalError;
use zerohop_journal::log::{Batch, Completion, Journal, OpenSegment};
use zerohop_wire::TxId;

/// A journal of the set.
pub(super) struct Member {
    pub journal: Arc<dyn Journal>,
    pub role: Role,
    pub usability: Arc<dyn Usability>,
    /// Its copy of the segment being written.
    segment: Option<Box<dyn OpenSegment>>,
}

/// What the log is without a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It has failed, and so has every other journal: this one is written first, and others are copies of it that never have
    /// more. Other NameNodes go on from it.
    Shared,
    /// It has failed.
    Required,
    /// It goes on if enough others are left.
    Redundant,
}

/// Whether a journal is used: a directory of edits may be dropped because of its images, too.
pub(super) trait Usability: Send + Sync {
    /// The journal is not used any more.
    fn drop_journal(&self, reason: &JournalError);

    /// Why it is not used any more; none while it is.
    fn failure(&self) -> Option<String>;
}

impl Member {
    pub fn new(journal: Arc<dyn Journal>, role: Role, usability: Arc<dyn Usability>) -> Self {
        Self { journal, role, usability, segment: None }
    }

    pub fn is_used(&self) -> bool {
        self.usability.failure().is_none()
    }

    pub fn is_writing(&self) -> bool {
        self.segment.is_some() && self.is_used()
    }

    fn fail(&mut self, error: &JournalError) {
        self.segment = None;
        self.usability.drop_journal(error);
    }

    pub fn begin(&mut self, first: TxId) {
        match self.journal.start_segment(first) {
            Ok(segment) => self.segment = Some(segment),
            Err(error) => self.fail(&error),
        }
    }

    /// Gives the records to the journal; what it returns may have to be waited for.
    fn append(&mut self, batch: &Batch<'_>) -> Option<Completion> {
        let appended = self.segment.as_mut()?.append(batch);
        appended.inspect_err(|error| self.fail(error)).ok()
    }

    pub fn finalize(&mut self, last: TxId) {
        let Some(segment) = self.segment.take() else { return };
        // A directory that was dropped because of its images has got no records since: its segment ends before `last`.
        if !self.is_used() {
            return;
        }
        if let Err(error) = segment.finalize(last) {
            self.fail(&error);
        }
    }
}

/// Writes records and makes them durable in every one of these journals.
pub(super) fn append_to_all(members: &mut [Member], batch: &Batch<'_>) {
    let writing = members.iter_mut().filter(|member| member.is_writing());
    let mut writing: Vec<(&mut Member, Option<Completion>)> =
        writing.map(|member| (member, None)).collect();
    let helpers = writing.len().saturating_sub(1);
    side_by_side(&mut writing, helpers, |(member, completion)| {
        *completion = member.append(batch);
    });
    for (member, completion) in writing {
        if let Some(Err(error)) = completion.map(Completion::wait) {
            member.fail(&error);
        }
    }
}

/// Does `work` for each item, on `helpers` threads beside this one, or on as many as can be started.
fn side_by_side<T: Send>(items: &mut [T], helpers: usize, work: impl Fn(&mut T) + Sync) {
    if helpers == 0 {
        return items.iter_mut().for_each(work);
    }
    let rest = Mutex::new(items.iter_mut());
    let next = || rest.lock().next();
    let take_part = || {
        while let Some(item) = next() {
            work(item);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..helpers {
            let helper = std::thread::Builder::new().name("edit-log writer".to_owned());
            // Out of threads: the rest is done here.
            if helper.spawn_scoped(scope, take_part).is_err() {
                break;
            }
        }
        take_part();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_has_its_turn_with_and_without_helpers() {
        for helpers in 0..4 {
            let mut items = [0, 10, 20];
            side_by_side(&mut items, helpers, |item| *item += 1);
            assert_eq!(items, [1, 11, 21], "{helpers} helpers");
        }
    }
}
