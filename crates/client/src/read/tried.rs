//! What was tried for one read, and what may still be.

use super::local::ToldPaths;
use super::local_outcome::LocalError;
use super::plan::{NotLocal, ReadReason};
use super::race::{Contender, Lost};
use super::suspects::Suspects;
use crate::types::{DatanodeInfo, LocatedBlock, Replica};
use tokio::sync::OwnedSemaphorePermit;

/// How often a local replica that was taken back is asked for again in one read.
const REOPENS_MAX: u32 = 3;

/// What was tried for one read.
#[derive(Default)]
pub(super) struct Tried {
    /// DataNodes that failed in this round.
    nodes: Vec<DatanodeInfo>,
    suspects: Suspects,
    /// Rounds in which every replica failed, since bytes were read last.
    rounds: u32,
    /// The first round in which every replica failed is the last.
    is_impatient: bool,
    is_token_renewed: bool,
    /// Local replicas that were dropped in the middle; a few are asked for again.
    reopened: u32,
    /// Set when the files of a local replica failed: its DataNode is asked for the bytes.
    without_local: Option<NotLocal>,
    /// A DataNode's answer about the paths of the next replica's files, if files are opened by their paths.
    told: Option<ToldPaths>,
    last_error: Option<String>,
    /// Set for an attempt of a hedged read.
    contender: Option<Contender>,
}

impl Tried {
    /// Makes the first round in which every replica fails the last one.
    pub(super) fn without_waits(mut self) -> Self {
        self.is_impatient = true;
        self
    }

    /// Whether a DataNode has failed in this round.
    pub(super) fn has_failed(&self, node: &DatanodeInfo) -> bool {
        self.nodes.contains(node)
    }

    /// Notes that a replica could not be read.
    pub(super) fn note_failure(
        &mut self,
        block: &LocatedBlock,
        replica: &Replica,
        error: String,
        is_corrupt: bool,
    ) {
        self.nodes.push(replica.node.clone());
        match &self.contender {
            Some(contender) => contender.note_failure(block, replica, &error, is_corrupt),
            None if is_corrupt => self.suspects.add(block, replica),
            None => {}
        }
        self.last_error = Some(error);
    }

    /// What the last replica failed with.
    pub(super) fn last_error(&self) -> Option<&str> {
        self.last_error.as_deref()
    }

    /// Begins a round in which every replica may be tried again: how many there were before it. `None` after
    /// `rounds_max` of them.
    pub(super) fn begin_round(&mut self, rounds_max: u32) -> Option<u32> {
        if self.is_impatient || self.rounds >= rounds_max {
            return None;
        }
        let before = self.rounds;
        self.rounds += 1;
        self.nodes.clear();
        Some(before)
    }

    /// Notes that bytes were read: rounds are counted anew.
    pub(super) fn note_progress(&mut self) {
        self.rounds = 0;
    }

    /// Whether a new token was asked for: one that is refused as well is not renewed again.
    pub(super) fn is_token_renewed(&self) -> bool {
        self.is_token_renewed
    }

    /// Notes that a new token is asked for.
    pub(super) fn renew_token(&mut self) {
        self.is_token_renewed = true;
    }

    /// Why local replicas are not read any more, if they are not.
    pub(super) fn without_local(&self) -> Option<&NotLocal> {
        self.without_local.as_ref()
    }

    /// Decides whether a local replica that failed is opened again. If not, no local replica is read from then on.
    pub(super) fn may_reopen(&mut self, cause: &LocalError) -> bool {
        let is_first = self.reopened == 0;
        self.reopened += 1;
        let may_reopen = match cause {
            LocalError::Revoked => self.reopened <= REOPENS_MAX,
            LocalError::Corrupt(_) => is_first,
            _ => false,
        };
        if !may_reopen {
            self.without_local = Some(NotLocal::new(ReadReason::LocalFailed, cause.to_string()));
        }
        may_reopen
    }

    /// Keeps a DataNode's answer about the paths of a replica's files.
    pub(super) fn set_told(&mut self, told: Option<ToldPaths>) {
        self.told = told;
    }

    /// Takes the answer about the paths of a replica's files.
    pub(super) fn take_told(&mut self) -> Option<ToldPaths> {
        self.told.take()
    }

    /// Makes this an attempt of a hedged read.
    pub(super) fn contend(&mut self, contender: Contender) {
        self.contender = Some(contender);
    }

    /// Keeps a place in the pool of hedged reads as long as this attempt lasts.
    pub(super) fn hold(&mut self, permit: Option<OwnedSemaphorePermit>) {
        if let Some(contender) = &mut self.contender {
            contender.hold(permit);
        }
    }

    /// This attempt's side of a hedged read, if it is one of a hedged read.
    pub(super) fn contender(&self) -> Option<&Contender> {
        self.contender.as_ref()
    }

    /// Chooses a DataNode; false if the other attempt of a hedged read has chosen it.
    pub(super) fn choose(&self, node: &DatanodeInfo) -> bool {
        self.contender.as_ref().is_none_or(|contender| contender.choose(node))
    }

    /// Whether the other attempt of a hedged read was faster.
    pub(super) fn is_beaten(&self) -> bool {
        self.contender.as_ref().is_some_and(Contender::is_beaten)
    }

    /// Goes on where both attempts of a hedged read have failed.
    pub(super) fn continue_after(&mut self, lost: Lost) {
        (self.nodes, self.suspects, self.last_error) = (lost.nodes, lost.suspects, lost.last_error);
    }

    /// Takes the corrupt replicas that are reported to the NameNode.
    pub(super) fn take_corrupt(&mut self) -> Vec<LocatedBlock> {
        self.suspects.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{located, replica};

    #[test]
    fn a_round_begins_with_every_replica_and_progress_begins_anew() {
        let mut tried = Tried::default();
        let (block, one) = (located(1, 0, 100), replica(1));
        tried.note_failure(&block, &one, "gone".to_owned(), false);
        assert!(tried.has_failed(&one.node));
        assert_eq!(tried.last_error(), Some("gone"));
        assert_eq!(tried.begin_round(2), Some(0));
        assert!(!tried.has_failed(&one.node));
        assert_eq!((tried.begin_round(2), tried.begin_round(2)), (Some(1), None));
        tried.note_progress();
        assert_eq!(tried.begin_round(2), Some(0));
        assert_eq!(Tried::default().without_waits().begin_round(2), None);
        assert!(tried.take_corrupt().is_empty());
    }

    #[test]
    fn a_local_replica_is_opened_again_a_few_times() {
        let revoked = LocalError::Revoked;
        let mut tried = Tried::default();
        for _ in 0..REOPENS_MAX {
            assert!(tried.may_reopen(&revoked) && tried.without_local().is_none());
        }
        assert!(!tried.may_reopen(&revoked) && tried.without_local().is_some());
        let corrupt = LocalError::Corrupt("chunk".to_owned());
        let mut tried = Tried::default();
        assert_eq!((tried.may_reopen(&corrupt), tried.may_reopen(&corrupt)), (true, false));
    }
}
