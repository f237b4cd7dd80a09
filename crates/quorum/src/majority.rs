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
        refusals.iter().try_for_each(|refusal| write!(f, "; {refusal}"))?;
        self.advice().map_or(Ok(()), |advice| write!(f, "; {advice}"))
    }
}

impl NoMajority {
    /// What to do about refusals that no later try changes, Apache's and ours.
    fn advice(&self) -> Option<&'static str> {
        let any = |text: &str| self.refusals.iter().any(|refusal| refusal.reason.contains(text));
        // Apache's JournalNode says the second where its directory is of a newer release.
        if any("Unexpected version") || any("storage has clusterId ''") {
            return Some(
                "a JournalNode of dfs.namenode.shared.edits.dir cannot read VERSION of its directory: start it with a release that is \
                 not older than the one that wrote it",
            );
        }
        if any("Incompatible namespaceID") || any("Incompatible clusterID") {
            return Some(
                "dfs.namenode.shared.edits.dir names JournalNodes, or a journal, of another cluster: name this cluster's",
            );
        }
        any("not formatted").then_some(
            "the journal of dfs.namenode.shared.edits.dir is not formatted: if a JournalNode lost its disk, stop it and run \
             `journalnode -format' there; if there was never a journal, stop the NameNodes and run `namenode \
             -initializeSharedEdits'",
        )
    }
}

/// Collects answers of `nodes` until a majority has done it, or cannot any more. Each comes with the number of its JournalNode.
pub(crate) fn wait_for_majority<T>(
    what: &'static str,
    nodes: usize,
    answers: &Receiver<(usize, Result<T, Refusal>)>,
    patience: Duration,
) -> Result<Vec<(usize, T)>, NoMajority> {
    wait_for(what, (nodes, majority_of(nodes)), answers, patience)
}

/// As [`wait_for_majority`], and collects further answers until each of `nodes` has answered or the time is over.
pub(crate) fn wait_for_all<T>(
    what: &'static str,
    nodes: usize,
    answers: &Receiver<(usize, Result<T, Refusal>)>,
    patience: Duration,
) -> Result<Vec<(usize, T)>, NoMajority> {
    wait_for(what, (nodes, nodes), answers, patience)
}

/// Collects until `wanted` of `nodes` have done it, or a majority cannot any more; a majority must have.
fn wait_for<T>(
    what: &'static str,
    (nodes, wanted): (usize, usize),
    answers: &Receiver<(usize, Result<T, Refusal>)>,
    patience: Duration,
) -> Result<Vec<(usize, T)>, NoMajority> {
    let needed = majority_of(nodes);
    let deadline = clock::now() + patience;
    let (mut done, mut refusals) = (Vec::new(), Vec::new());
    while done.len() < wanted
        && done.len() + refusals.len() < nodes
        && refusals.len() <= nodes - needed
    {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A damaged segment may be whole on the slowest of them.
    #[test]
    fn all_that_answer_in_time_are_waited_for() {
        let (sender, answers) = std::sync::mpsc::channel();
        let refusal = Refusal { node: "b:1".to_owned(), reason: "no".to_owned() };
        for answer in [(0, Ok(1)), (1, Err(refusal)), (2, Ok(2))] {
            sender.send(answer).unwrap();
        }
        let hour = Duration::from_secs(3600);
        assert_eq!(wait_for_all("x", 3, &answers, hour).unwrap(), [(0, 1), (2, 2)]);
        sender.send((0, Ok(1))).unwrap();
        sender.send((2, Ok(2))).unwrap();
        assert_eq!(wait_for_all("x", 3, &answers, Duration::ZERO).unwrap().len(), 2, "one is late");
        sender.send((0, Ok(1))).unwrap();
        assert_eq!(wait_for_all("x", 3, &answers, Duration::ZERO).unwrap_err().silent, 2);
    }

    fn refused(reason: &str) -> String {
        let refusal = |node: &str| Refusal { node: node.to_owned(), reason: reason.to_owned() };
        let refusals = vec![refusal("a:1"), refusal("b:1")];
        NoMajority { what: "newEpoch", refusals, silent: 0, nodes: 3 }.to_string()
    }

    #[test]
    fn journal_nodes_of_another_cluster_or_without_the_journal_are_named_with_the_key() {
        let other = refused("Incompatible clusterID for journal /x: NameNode has clusterId 'a'");
        assert!(other.starts_with("newEpoch: 2 of 3 JournalNodes are needed; a:1: "), "{other}");
        assert!(other.ends_with("of another cluster: name this cluster's"), "{other}");
        let empty = refused("Journal ns not formatted");
        assert!(empty.contains("dfs.namenode.shared.edits.dir is not formatted"), "{empty}");
        assert!(empty.contains("-initializeSharedEdits"), "{empty}");
        // A copy of another JournalNode's directory would forget the epoch that was promised.
        assert!(empty.contains("`journalnode -format'") && !empty.contains("copy"), "{empty}");
        let older =
            refused("Unexpected version of storage directory /x. Reported: -68. Expecting = -67.");
        assert!(older.contains("start it with a release that is not older"), "{older}");
        assert!(!refused("connection refused").contains("dfs.namenode"));
    }
}
