//! How far a start is (`StartupProgress`), for the page that is there before the NameNode is.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use zerohop_system::clock;

/// What a start does, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartPhase {
    Image,
    Edits,
    Checkpoint,
}

impl StartPhase {
    pub(crate) const ALL: [Self; 3] = [Self::Image, Self::Edits, Self::Checkpoint];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Image => "Loading the image",
            Self::Edits => "Applying the edit log",
            Self::Checkpoint => "Saving a checkpoint",
        }
    }
}

/// When each phase began, and how long it took once it has ended.
type Phases = [Option<(Instant, Option<Duration>)>; 3];

/// Counted while a NameNode loads.
#[derive(Debug, Default)]
pub(crate) struct StartProgress {
    phases: Mutex<Phases>,
    edits: AtomicU64,
}

/// One phase as it is now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhaseState {
    pub(crate) phase: StartPhase,
    /// None before it begins.
    pub(crate) took: Option<Duration>,
    pub(crate) is_done: bool,
}

impl StartProgress {
    /// A phase begins; the one before has ended.
    pub(crate) fn begin(&self, phase: StartPhase) {
        let mut phases = self.phases.lock();
        end(&mut phases);
        if let Some(state) = phases.get_mut(phase as usize) {
            _ = state.get_or_insert((clock::now(), None));
        }
    }

    /// Everything is loaded.
    pub(crate) fn finish(&self) {
        end(&mut self.phases.lock());
    }

    /// Edits were applied.
    pub(crate) fn count_edits(&self, count: u64) {
        self.edits.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn edits(&self) -> u64 {
        self.edits.load(Ordering::Relaxed)
    }

    pub(crate) fn phases(&self) -> Vec<PhaseState> {
        let phases = self.phases.lock();
        let state = |(phase, state): (StartPhase, &Option<(Instant, Option<Duration>)>)| {
            let took = state.map(|(begun, took)| took.unwrap_or_else(|| clock::since(begun)));
            let is_done = state.is_some_and(|(_, took)| took.is_some());
            PhaseState { phase, took, is_done }
        };
        StartPhase::ALL.into_iter().zip(phases.iter()).map(state).collect()
    }
}

fn end(phases: &mut Phases) {
    for (begun, took) in phases.iter_mut().flatten() {
        took.get_or_insert_with(|| clock::since(*begun));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_ends_when_the_next_begins() {
        let progress = StartProgress::default();
        assert!(progress.phases().iter().all(|state| state.took.is_none()));
        progress.begin(StartPhase::Image);
        progress.begin(StartPhase::Edits);
        progress.count_edits(7);
        let done: Vec<_> = progress.phases().iter().map(|state| state.is_done).collect();
        assert_eq!((done, progress.edits()), (vec![true, false, false], 7));
        progress.finish();
        assert!(progress.phases()[1].is_done && progress.phases()[2].took.is_none());
    }
}
