//! What a majority answers.

use crate::journal_node::Refusal;
use parking_lot::Mutex;
use std::fmt;
use std::sync::mpsc::Receiver;
use std::time::Duration;
use zerohop_journal::JournalError;
use zerohop_journal::log::Completer;
use zerohop_system::clock;

/// How many of `nodes` are a majority.
pub(crate) fn majority_of(nodes: usize) -> usize {
    nodes / 2 + 1
}

/// Too many JournalNodes did not do what they were asked for.
#[derive(Debug)]
pub(crate) struct NoMajority {
    /// What was asked: "newEpoch".
    pub(crate) what: &'static str,
    pub(crate) refusals: Vec<Refusal>,
    /// JournalNodes that have not answered in time.
    pub(crate) silent: usize,
    pub(crate) nodes: usize,
}

impl fmt::Display for NoMajority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, refusals, silent, nodes } = self;
        let needed = majority_of(*nodes);
        write!(f, "{what}: {needed} of {nodes} JournalNodes are needed")?;
        if *silent > 0 {
            write!(f, "; {silent} did not answer in time")?;
        }
        refusals.iter().try_for_each(|refusal| write!(f, "; {refusal}"))
    }
}

/// Collects answers of `nodes` until a majority has done it, or cannot any more. Each comes with the number of its JournalNode.
pub(crate) fn wait_for_majority<T>(
    what: &'static str,
    nodes: usize,
    answers: &Receiver<(usize, Result<T, Refusal>)>,
    patience: Duration,
) -> Result<Vec<(usize, T)>, NoMajority> {
    let needed = majority_of(nodes);
    let deadline = clock::now() + patience;
    let (mut done, mut refusals) = (Vec::new(), Vec::new());
    while done.len() < needed && refusals.len() <= nodes - needed {
        let rest = deadline.saturating_duration_since(clock::now());
        match answers.recv_timeout(rest) {
            Ok((node, Ok(answer))) => done.push((node, answer)),
            Ok((_, Err(refusal))) => refusals.push(refusal),
            Err(_) => break,
        }
    }
    if done.len() >= needed {
        return Ok(done);
    }
    let silent = nodes - done.len() - refusals.len();
    Err(NoMajority { what, refusals, silent, nodes })
}

/// Counts who has a batch, and completes it when a majority has.
pub(crate) struct Tally(Mutex<Counts>);

struct Counts {
    nodes: usize,
    done: usize,
    refusals: Vec<Refusal>,
    /// Gone when it was told.
    completer: Option<Completer>,
}

impl Tally {
    pub(crate) fn new(nodes: usize, completer: Completer) -> Self {
        Self(Mutex::new(Counts {
            nodes,
            done: 0,
            refusals: Vec::new(),
            completer: Some(completer),
        }))
    }

    /// One JournalNode has answered; `on_majority` runs before the batch counts as durable.
    pub(crate) fn count(&self, answer: Result<(), Refusal>, on_majority: impl FnOnce()) {
        let mut counts = self.0.lock();
        match answer {
            Ok(()) => counts.done += 1,
            Err(refusal) => counts.refusals.push(refusal),
        }
        let needed = majority_of(counts.nodes);
        if counts.done >= needed {
            if let Some(completer) = counts.completer.take() {
                on_majority();
                completer.complete(Ok(()));
            }
        } else if counts.refusals.len() > counts.nodes - needed
            && let Some(completer) = counts.completer.take()
        {
            let refusals = std::mem::take(&mut counts.refusals);
            let nodes = counts.nodes;
            let failed = NoMajority { what: "journal", refusals, silent: 0, nodes };
            completer.complete(Err(JournalError::NoQuorum { reason: failed.to_string() }));
        }
    }
}
