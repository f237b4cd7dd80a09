//! Carries out what a round decides.

use crate::nodes::{Group, Nodes};
use crate::observer::Observer;
use crate::round::{Planned, Round, Step};
use crate::session::Session;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;
use zerohop_client::{BlocksWanted, Error, MoveOutcome, ReplicaMoves, Result, StoredBlock};
use zerohop_system::clock;

/// How often a round looks for what has become possible by time alone.
const TICK: Duration = Duration::from_millis(50);

/// What bounds the work of a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Bytes of the smallest block that is moved.
    pub(crate) block_len_min: u64,
    /// Blocks of files changed within this time come last.
    pub(crate) hot_for: Duration,
    /// How long one move may take.
    pub(crate) move_timeout: Option<Duration>,
    /// How long the round may take.
    pub(crate) round_timeout: Option<Duration>,
}

enum Ended {
    Fetch(Group, Result<Vec<StoredBlock>>),
    Move(Planned, Result<MoveOutcome>),
}

/// Runs a round to its end; the bytes that it has moved.
pub(crate) async fn run(
    session: &mut Session,
    nodes: &Nodes,
    round: &mut Round<'_>,
    bounds: Bounds,
    observer: &dyn Observer,
) -> u64 {
    let mut tasks = JoinSet::new();
    let (began, mut bytes, mut failures) = (clock::now(), 0, Failures::default());
    loop {
        while let Some(step) = round.next(clock::now()) {
            match step {
                Step::Fetch(group, size) => fetch(&mut tasks, session, nodes, bounds, group, size),
                Step::Move(planned) => begin(&mut tasks, session, nodes, bounds, planned),
            }
        }
        if round.is_over() {
            break;
        }
        tokio::select! {
            Some(ended) = tasks.join_next() => match ended {
                Ok(Ended::Fetch(group, blocks)) => {
                    let blocks = blocks.inspect_err(|error| failures.add(error)).ok();
                    round.fetched(group, blocks);
                }
                Ok(Ended::Move(planned, outcome)) => {
                    let is_moved = failures.sort(&outcome);
                    round.moved(&planned, outcome.is_err(), clock::now());
                    if is_moved {
                        bytes += planned.block.len;
                        session.bytes_moved += planned.block.len;
                        session.blocks_moved += 1;
                    }
                    observer.moved(planned.block.len);
                }
                // A task that panicked is not waited for again.
                Err(error) => {
                    failures.add(error);
                    break;
                }
            },
            () = clock::sleep(TICK) => round.look_again(),
        }
        if bounds.round_timeout.is_some_and(|limit| clock::since(began) > limit) {
            round.stop();
            // The DataNodes finish what they have begun.
            break;
        }
    }
    failures.tell(observer);
    bytes
}

fn fetch(
    tasks: &mut JoinSet<Ended>,
    session: &Session,
    nodes: &Nodes,
    bounds: Bounds,
    group: Group,
    bytes: u64,
) {
    let Some(node) = nodes.info(group.node).cloned() else { return };
    let moves = session.moves.clone();
    let Bounds { block_len_min: len_min, hot_for, .. } = bounds;
    let wanted = BlocksWanted { bytes, len_min, hot_for, storage_type: group.kind };
    tasks.spawn(async move { Ended::Fetch(group, moves.blocks_on(&node, wanted).await) });
}

fn begin(
    tasks: &mut JoinSet<Ended>,
    session: &Session,
    nodes: &Nodes,
    bounds: Bounds,
    planned: Planned,
) {
    let (moves, wanted) = (session.moves.clone(), planned.with_nodes(nodes));
    tasks.spawn(async move {
        let outcome = match wanted {
            Some(wanted) => move_within(&moves, &wanted, bounds.move_timeout).await,
            None => Ok(MoveOutcome::Pinned),
        };
        Ended::Move(planned, outcome)
    });
}

/// Moves a replica within a time; without one, a move takes as long as it takes.
pub(crate) async fn move_within(
    moves: &ReplicaMoves,
    wanted: &zerohop_client::ReplicaMove,
    limit: Option<Duration>,
) -> Result<MoveOutcome> {
    tracing::info!(
        "moving {} from {} to {} through {}",
        wanted.block,
        wanted.source,
        wanted.target,
        wanted.proxy
    );
    let moving = moves.move_replica(wanted);
    match limit {
        Some(limit) => timeout(limit, moving).await.unwrap_or_else(|_| {
            let text = format!("move of {} to {}: timed out", wanted.block, wanted.target);
            Err(Error::new(zerohop_client::ErrorKind::Io, text))
        }),
        None => moving.await,
    }
}

/// Counts what failed, and keeps the last one's words.
#[derive(Default)]
pub(crate) struct Failures {
    count: u64,
    last: String,
}

impl Failures {
    pub(crate) fn add(&mut self, error: impl std::fmt::Display) {
        self.count += 1;
        self.last = error.to_string();
        tracing::warn!("{}", self.last);
    }

    /// Whether a replica was moved.
    pub(crate) fn sort(&mut self, outcome: &Result<MoveOutcome>) -> bool {
        if let Err(error) = outcome {
            self.add(error);
        }
        matches!(outcome, Ok(MoveOutcome::Moved))
    }

    /// One line, however many there are.
    pub(crate) fn tell(&self, observer: &dyn Observer) {
        if self.count > 0 {
            observer.problem(&format!(
                "{} request(s) to DataNodes or the NameNode failed, the last one: {}",
                self.count, self.last
            ));
        }
    }
}
