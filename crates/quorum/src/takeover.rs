//! A writer takes over: it has an epoch promised, and makes a majority agree on the segment that the writer before left.

use crate::copies::SegmentCopies;
use crate::majority::majority_of;
use crate::members::Members;
use crate::recovery::choose;
use crate::session::Session;
use std::collections::BTreeSet;
use zerohop_journal::JournalError;
use zerohop_journal::log::Recovery;
use zerohop_wire::TxId;

/// A writer's way to a promised epoch and a finished segment.
pub(crate) struct Takeover<'a> {
    pub(crate) members: &'a Members,
}

/// The reason a segment was not recovered.
struct Failure {
    error: JournalError,
    /// The JournalNodes whose copy was chosen, and not accepted by a majority.
    sources: Vec<usize>,
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        Self { error, sources: Vec::new() }
    }
}

impl Takeover<'_> {
    /// Recovers the last segment. If the chosen copy does not get to a majority, because transfers from the JournalNodes that have it
    /// stall, the recovery is repeated without them while the others are a majority: no acknowledged edit is theirs alone.
    ///
    /// Each try has an epoch of its own: within one, two copies must not be proposed.
    pub(crate) fn run(&self) -> Recovery {
        let count = self.members.queues.len();
        let mut passed_over = BTreeSet::new();
        loop {
            let (epoch, last) = match self.new_epoch() {
                Ok(promised) => promised,
                Err(error) => return Recovery { reached: TxId(0), outcome: Err(error) },
            };
            let Some(first) = last else { return Recovery { reached: TxId(0), outcome: Ok(()) } };
            let Failure { error, sources } = match self.recover(epoch, first, &passed_over) {
                Ok(reached) => return Recovery { reached, outcome: Ok(()) },
                Err(failure) => failure,
            };
            let before = passed_over.len();
            passed_over.extend(sources);
            if passed_over.len() == before || count - passed_over.len() < majority_of(count) {
                return Recovery { reached: first, outcome: Err(error) };
            }
            tracing::warn!(
                "recovering segment {first} without the copies that did not arrive: {error}"
            );
        }
    }

    /// Gets a majority to promise an epoch above all others. Returns the epoch, and the first transaction of the last segment.
    fn new_epoch(&self) -> Result<(u64, Option<TxId>), JournalError> {
        let members = self.members;
        let patience = members.options.state;
        let states = members.ask("getJournalState", patience, Session::promised);
        let states = states.map_err(|error| members.failed(error))?;
        let promised = states.into_iter().map(|(_, promised)| promised).max().unwrap_or(0);
        let (epoch, info) = (promised + 1, members.info.clone());
        let promises = members
            .ask("newEpoch", members.options.new_epoch, move |session| {
                session.node.new_epoch(&info, epoch)
            })
            .map_err(|error| members.failed(error))?;
        tracing::info!("{}: epoch {epoch} is promised", members.name());
        members.writer.begin(epoch);
        Ok((epoch, promises.into_iter().filter_map(|(_, last)| last).max()))
    }

    /// Makes a majority agree on a segment that a writer left, and finalizes it. Returns its last transaction, or `first` - 1
    /// if there is no segment. Copies on `passed_over` do not count.
    fn recover(
        &self,
        epoch: u64,
        first: TxId,
        passed_over: &BTreeSet<usize>,
    ) -> Result<TxId, Failure> {
        let (members, options) = (self.members, &self.members.options);
        let prepare = move |session: &mut Session| session.prepare_recovery(epoch, first);
        let (what, patience) = ("prepareRecovery", options.prepare_recovery);
        let prepared = match passed_over.is_empty() {
            true => members.ask(what, patience, prepare),
            // The others must be a majority, so the slowest of them may be needed.
            false => members.ask_every(what, patience, prepare),
        };
        let prepared = prepared.map_err(|error| members.failed(error))?;
        let counted = prepared.iter().filter(|(node, _)| !passed_over.contains(node));
        let counted: Vec<_> =
            counted.map(|(node, (prepared, _))| (*node, prepared.clone())).collect();
        if counted.len() < majority_of(members.queues.len()) {
            let reason =
                "prepareRecovery: too few JournalNodes besides those whose copy does not arrive";
            return Err(members.failed(reason).into());
        }
        let chosen = choose(&counted).map_err(|reason| members.failed(reason))?;
        let Some(chosen) = chosen else { return Ok(TxId(first.0 - 1)) };
        let sources: Vec<String> = prepared
            .into_iter()
            .filter(|(node, _)| chosen.nodes.contains(node))
            .filter_map(|(_, (_, url))| url)
            .collect();
        let state = chosen.state;
        tracing::info!(
            "{}: segment {first} is recovered up to {} from {}",
            members.name(),
            state.last,
            sources.join(", ")
        );
        let copies = SegmentCopies {
            journal: members.address.journal.clone(),
            namespace: members.info.to_colon_separated(),
            state,
            op_size_max: options.op_size_max,
            patience: options.fetch,
        };
        let nodes = chosen.nodes.clone();
        members
            .ask("acceptRecovery", options.accept_recovery, move |session| {
                session.accept_recovery(epoch, &chosen, &copies, &sources)
            })
            .map_err(|error| Failure { error: members.failed(error), sources: nodes })?;
        members
            .ask("finalizeLogSegment", options.finalize, move |session| {
                session.finalize(epoch, state.first, state.last)
            })
            .map_err(|error| members.failed(error))?;
        members.writer.commit(epoch, state.last);
        Ok(state.last)
    }
}
