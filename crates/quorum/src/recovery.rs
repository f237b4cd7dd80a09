//! Which JournalNode's copy of a segment is the one to recover (`SegmentRecoveryComparator`).

use crate::journal_node::{Prepared, SegmentState};

/// The copy of a segment that is recovered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// The numbers of the JournalNodes that have it.
    pub(crate) nodes: Vec<usize>,
    pub(crate) state: SegmentState,
    /// The epoch of the writer, or of the recovery in which it was accepted.
    epoch: u64,
}

impl Chosen {
    /// Whether a JournalNode has a copy that looks the same and may hold other transactions: those of an earlier writer, whose
    /// successor did not see them and began the segment anew elsewhere.
    pub(crate) fn may_differ_from(&self, prepared: &Prepared) -> bool {
        let looks_same = |state: SegmentState| state.in_progress && state.last == self.state.last;
        prepared.state.is_some_and(looks_same) && epoch(prepared) < self.epoch
    }
}

/// When a copy was written, or accepted.
fn epoch(prepared: &Prepared) -> u64 {
    prepared.last_writer.max(prepared.accepted_in.unwrap_or(0))
}

/// The copy of a segment that is to be recovered; none if no JournalNode has the segment.
///
/// 1. A segment comes before none.
/// 2. A finalized one comes before one in progress: it was decided before.
/// 3. The later writer's comes first, or that of the later recovery in which it was accepted.
/// 4. The longer one comes first.
///
/// # Errors
/// If two finalized copies differ: that must not happen.
pub(crate) fn choose(answers: &[(usize, Prepared)]) -> Result<Option<Chosen>, String> {
    let rank = |prepared: &Prepared, state: &SegmentState| {
        // Among finalized copies no epoch counts: all are the same.
        (!state.in_progress, if state.in_progress { epoch(prepared) } else { 0 }, state.last)
    };
    let mut best: Option<(&Prepared, SegmentState)> = None;
    for (_, prepared) in answers {
        let Some(state) = prepared.state else { continue };
        if let Some((_, other)) = best
            && !other.in_progress
            && !state.in_progress
            && other.last != state.last
        {
            return Err(format!(
                "finalized segments that begin with {} end with {} and with {}",
                state.first, other.last, state.last
            ));
        }
        if best.is_none_or(|(known, other)| rank(prepared, &state) > rank(known, &other)) {
            best = Some((prepared, state));
        }
    }
    let committed = answers.iter().filter_map(|(_, prepared)| prepared.committed).max();
    let Some((prepared, state)) = best else { return Ok(None) };
    let is_as_good = |(_, other): &&(usize, Prepared)| {
        other.state.is_some_and(|copy| rank(other, &copy) == rank(prepared, &state))
    };
    let nodes = answers.iter().filter(is_as_good).map(|(node, _)| *node).collect();
    match committed.and_then(|txid| i64::try_from(txid).ok()) {
        Some(committed) if committed >= state.first.0 && committed > state.last.0 => Err(format!(
            "the best copy of segment {} ends with {}, but {committed} is committed",
            state.first, state.last
        )),
        _ => Ok(Some(Chosen { nodes, state, epoch: epoch(prepared) })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_wire::TxId;

    fn answer(state: Option<(i64, bool)>, last_writer: u64, accepted_in: Option<u64>) -> Prepared {
        let state = state.map(|(last, in_progress)| SegmentState {
            first: TxId(1),
            last: TxId(last),
            in_progress,
        });
        Prepared { state, accepted_in, last_writer, committed: None }
    }

    fn chosen(answers: &[Prepared]) -> Option<(usize, i64)> {
        let numbered: Vec<_> = answers.iter().cloned().enumerate().collect();
        choose(&numbered).unwrap().map(|chosen| (chosen.nodes[0], chosen.state.last.0))
    }

    #[test]
    fn the_copy_of_the_latest_decision_is_chosen() {
        let none = answer(None, 5, None);
        assert_eq!(chosen(&[none.clone(), none.clone()]), None);
        let short = answer(Some((3, true)), 1, None);
        assert_eq!(chosen(&[none, short.clone()]), Some((1, 3)));
        let long = answer(Some((7, true)), 1, None);
        assert_eq!(chosen(&[short.clone(), long.clone()]), Some((1, 7)));
        let newer = answer(Some((2, true)), 2, None);
        assert_eq!(chosen(&[long.clone(), newer.clone()]), Some((1, 2)), "the later writer");
        let accepted = answer(Some((4, true)), 1, Some(3));
        assert_eq!(chosen(&[newer, accepted.clone()]), Some((1, 4)), "an accepted recovery");
        let finalized = answer(Some((3, false)), 1, None);
        assert_eq!(chosen(&[accepted, long, finalized.clone(), finalized]), Some((2, 3)));
    }

    #[test]
    fn copies_that_cannot_be_are_refused() {
        let finalized =
            [(0, answer(Some((3, false)), 1, None)), (1, answer(Some((4, false)), 1, None))];
        choose(&finalized).unwrap_err();
        let committed = Prepared { committed: Some(9), ..answer(Some((5, true)), 1, None) };
        choose(&[(0, committed)]).unwrap_err();
    }

    #[test]
    fn a_copy_of_the_same_length_by_an_earlier_writer_may_differ() {
        let chosen = choose(&[(0, answer(Some((4, false)), 3, None))]).unwrap().unwrap();
        assert!(chosen.may_differ_from(&answer(Some((4, true)), 2, None)));
        assert!(!chosen.may_differ_from(&answer(Some((4, true)), 3, None)), "the same writer");
        assert!(!chosen.may_differ_from(&answer(Some((4, true)), 2, Some(3))), "accepted since");
        assert!(!chosen.may_differ_from(&answer(Some((5, true)), 2, None)), "it is fetched anyway");
        assert!(!chosen.may_differ_from(&answer(None, 2, None)));
    }
}
