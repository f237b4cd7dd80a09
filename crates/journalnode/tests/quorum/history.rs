//! A short history of writers, and what must hold of it.
//!
//! An edit counts when its append was acknowledged. A writer whose call fails has ended, as a NameNode ends then; one that was
//! replaced without knowing goes on to write.

use crate::connection::{Faulty, Link, Plan, Planned, Reader};
use crate::nodes::{Nodes, append, info, options, read_marks};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use zerohop_journal::log::{Journal, OpenSegment};
use zerohop_quorum::{Connection, QuorumJournal, QuorumOptions, RpcConnection};
use zerohop_transport::rpc::ClientOptions;
use zerohop_wire::TxId;

pub type Outcome<T = ()> = Result<T, String>;

/// What a writer does when it has taken over.
#[derive(Clone, Debug)]
pub struct Term {
    /// The lengths of each segment's batches.
    pub segments: Vec<Vec<i64>>,
    /// Whether it ends its last segment; the others it ends in any case.
    pub ends_last: bool,
    /// Whether old segments are removed, which is none of them.
    pub purges: bool,
    /// Whether it goes on to write when it was replaced.
    pub wakes: bool,
    /// Whether the writer object of the term before takes over again, as in a NameNode that was a standby meanwhile.
    pub same_object: bool,
}

/// JournalNodes for several histories, each of which has a journal of its own.
pub struct Cluster {
    nodes: Arc<Mutex<Nodes>>,
    links: Vec<Link>,
    made: usize,
}

impl Cluster {
    pub fn start(count: usize) -> Self {
        // Transfers that stall must not take long here.
        let settings = [("zerohop.journal.transfer.stall.timeout.ms", "300")];
        let nodes = Nodes::start_many(count, &settings);
        let addresses = nodes.addresses.clone();
        let nodes = Arc::new(Mutex::new(nodes));
        let link = |(number, address): (usize, &std::net::SocketAddr)| {
            let options = ClientOptions { connect_retries: 20, ..ClientOptions::default() };
            let rpc = Arc::new(RpcConnection::new(&address.to_string(), options).unwrap());
            let nodes = Arc::clone(&nodes);
            let restart = Arc::new(move || {
                let mut nodes = nodes.lock().unwrap_or_else(PoisonError::into_inner);
                nodes.down(number);
                nodes.up(number);
            });
            Link { rpc, restart }
        };
        let links = addresses.iter().enumerate().map(link).collect();
        Self { nodes, links, made: 0 }
    }

    /// Runs a history on a new journal; the calls that each JournalNode got.
    pub fn run(
        &mut self,
        terms: &[Term],
        planned: &[Planned],
        settles: bool,
    ) -> Outcome<Vec<Vec<&'static str>>> {
        self.made += 1;
        let nodes = self.links.len();
        let mut history = History {
            cluster: self,
            plan: Plan::new(planned, nodes),
            settles,
            is_single: planned.len() <= 1,
            acknowledged: BTreeMap::new(),
            known: Vec::new(),
            mark: 0,
            replaced: Vec::new(),
            tails: Vec::new(),
            number: 0,
            last: None,
        };
        let outcome = history.run(terms);
        let plan = Arc::clone(&history.plan);
        drop(history);
        outcome.map_err(|error| {
            format!("{error}\nplanned {planned:?}\nhappened {:?}", plan.happened())
        })?;
        Ok(plan.calls())
    }

    fn journal(
        &self,
        recent_max: Option<u32>,
        connect: impl Fn(usize, Link) -> Arc<dyn Connection>,
    ) -> QuorumJournal {
        let nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        let address = nodes.address(&format!("history-{}", self.made));
        let connections = self.links.iter().cloned().enumerate();
        let connections = connections.map(|(node, link)| connect(node, link)).collect();
        let options = QuorumOptions { recent_max, ..options() };
        QuorumJournal::over(address, info(), options, connections).unwrap()
    }
}

/// A writer that was replaced and does not know it.
struct Replaced {
    number: usize,
    writer: Arc<QuorumJournal>,
    segment: Option<Box<dyn OpenSegment>>,
    next: i64,
}

struct History<'a> {
    cluster: &'a Cluster,
    plan: Arc<Plan>,
    /// Whether all queues are empty before each call: then the plan alone says what happens.
    settles: bool,
    /// One fault at most: no call of a majority may fail.
    is_single: bool,
    /// Marks of acknowledged edits by transaction.
    acknowledged: BTreeMap<i64, i64>,
    /// The marks that the last writer found when it took over: these stay.
    known: Vec<i64>,
    /// The last mark that was tried.
    mark: i64,
    replaced: Vec<Replaced>,
    /// What a standby has read of segments in progress, and when.
    tails: Vec<(String, Vec<i64>)>,
    /// The writer's.
    number: usize,
    /// The last writer that took over.
    last: Option<Arc<QuorumJournal>>,
}

impl History<'_> {
    fn run(&mut self, terms: &[Term]) -> Outcome {
        self.reader(&[]).format().map_err(|error| error.to_string())?;
        for term in terms {
            let writer = self.take_over(term.same_object)?;
            if let Some(replaced) = self.write(writer, term)?.filter(|_| term.wakes) {
                self.replaced.push(replaced);
            }
        }
        let last = self.take_over(false)?;
        // Any majority has all of it.
        for left_out in self.minorities() {
            self.compare(&last, &left_out)?;
        }
        for (when, tail) in &self.tails {
            if self.known.get(..tail.len()) != Some(&tail[..]) {
                return Err(format!(
                    "a standby had read {tail:?} {when}, and there is {:?}",
                    self.known
                ));
            }
        }
        Ok(())
    }

    /// Reads on as a standby does, out of JournalNodes' memory or their segments, with one of them less. What it finds must stay.
    fn tail(&mut self, when: &str) {
        let round = self.tails.len();
        let minorities = self.minorities();
        let left_out = &minorities[round % minorities.len()];
        let recent_max = round.is_multiple_of(2).then_some(1000);
        let reader = self.reader_with(left_out, recent_max);
        // Where no two of the others agree there is nothing to read yet.
        if let Ok(tail) = read_marks(&reader, true) {
            let number = self.number;
            let memory = recent_max.is_some();
            self.tails
                .push((format!("{when} of {number}, without {left_out:?}, memory {memory}"), tail));
        }
    }

    /// Returns each set of JournalNodes that may be left out.
    fn minorities(&self) -> Vec<Vec<usize>> {
        let count = self.cluster.links.len();
        let all = (0..count).flat_map(|one| {
            (one..count).map(move |two| if one == two { vec![one] } else { vec![one, two] })
        });
        let size = (count - 1) / 2;
        all.filter(|nodes| nodes.len() == size).collect()
    }

    fn reader(&self, left_out: &[usize]) -> QuorumJournal {
        self.reader_with(left_out, None)
    }

    fn reader_with(&self, left_out: &[usize], recent_max: Option<u32>) -> QuorumJournal {
        let reader = |node, link| -> Arc<dyn Connection> {
            Arc::new(Reader { link, is_left_out: left_out.contains(&node) })
        };
        self.cluster.journal(recent_max, reader)
    }

    /// Waits until all queues are empty.
    fn settle(&self, writer: &QuorumJournal) {
        if self.settles {
            // The answer does not matter, only that all have given one.
            let _ = writer.has_data();
        }
    }

    /// A call of a majority: may it fail?
    fn judge<T, E: std::fmt::Display>(
        &self,
        what: &str,
        result: Result<T, E>,
    ) -> Outcome<Option<T>> {
        match result {
            Ok(done) => Ok(Some(done)),
            Err(error) if self.is_single => Err(format!(
                "writer {}: {what} fails, though at most one call did: {error}",
                self.number
            )),
            Err(_) => Ok(None),
        }
    }

    /// Another writer takes over; one that fails is followed by the next.
    fn take_over(&mut self, same_object: bool) -> Outcome<Arc<QuorumJournal>> {
        let mut last = self.last.take().filter(|_| same_object);
        for _ in 0..20 {
            self.number += 1;
            let (plan, writer) = (Arc::clone(&self.plan), self.number);
            let connect = |node, link| -> Arc<dyn Connection> {
                Arc::new(Faulty { plan: Arc::clone(&plan), link, writer, node })
            };
            let writer =
                last.take().unwrap_or_else(|| Arc::new(self.cluster.journal(None, connect)));
            self.last = Some(Arc::clone(&writer));
            let recovery = writer.recover_unfinalized_segments();
            self.settle(&writer);
            if self.judge("the recovery", recovery.outcome)?.is_some() {
                self.plan.deliver(&self.cluster.links);
                self.wake_replaced()?;
                self.compare(&writer, &[])?;
                if recovery.reached.0 > self.known.len() as i64 {
                    return Err(format!(
                        "{} were recovered, not {:?}",
                        recovery.reached, self.known
                    ));
                }
                return Ok(writer);
            }
        }
        Err("no writer could take over, though all faults are over".to_owned())
    }

    /// What a reader finds: every acknowledged edit once and in its place, and what was found before.
    fn compare(&mut self, writer: &QuorumJournal, left_out: &[usize]) -> Outcome {
        let read = || read_marks(&self.reader(left_out), false);
        // The only one of a majority that has an edit may be started anew just now, for a call of the writer's that waited.
        let found = read().or_else(|_| {
            let _ = writer.has_data();
            read()
        });
        let found = found.map_err(|error| error.to_string())?;
        let wrong = |what: &str| {
            let (known, acknowledged) = (&self.known, &self.acknowledged);
            Err(format!(
                "writer {}: {what}: found {found:?}, acknowledged {acknowledged:?}, before {known:?}",
                self.number
            ))
        };
        for (txid, mark) in &self.acknowledged {
            if found.get(*txid as usize - 1) != Some(mark) {
                return wrong(&format!("acknowledged transaction {txid} is lost"));
            }
        }
        if found.get(..self.known.len()) != Some(&self.known[..]) {
            return wrong("what was recovered before is gone");
        }
        let mut marks = found.clone();
        marks.sort_unstable();
        marks.dedup();
        if marks.len() != found.len() {
            return wrong("an edit is there twice");
        }
        if marks.last().is_some_and(|last| *last > self.mark) {
            return wrong("an edit is there that was never written");
        }
        self.known = found;
        Ok(())
    }

    fn marks(&mut self, count: i64) -> Vec<i64> {
        let marks = (self.mark + 1..=self.mark + count).collect();
        self.mark += count;
        marks
    }

    /// A writer's work; it is returned if none of its calls failed.
    fn write(&mut self, writer: Arc<QuorumJournal>, term: &Term) -> Outcome<Option<Replaced>> {
        let mut next = self.known.len() as i64 + 1;
        let mut open = None;
        for (at, batches) in term.segments.iter().enumerate() {
            let started = writer.start_segment(TxId(next));
            self.settle(&writer);
            let Some(mut segment) = self.judge("startLogSegment", started)? else {
                return Ok(None);
            };
            for count in batches {
                let marks = self.marks(*count);
                let written = append(&mut *segment, next, &marks);
                self.settle(&writer);
                if self.judge("journal", written)?.is_none() {
                    self.tail("after a failure");
                    return Ok(None);
                }
                self.acknowledged.extend((next..).zip(marks));
                self.tail("after a batch");
                next += count;
            }
            let is_last = at + 1 == term.segments.len();
            if !is_last || term.ends_last {
                let ended = segment.finalize(TxId(next - 1));
                self.settle(&writer);
                if self.judge("finalizeLogSegment", ended)?.is_none() {
                    return Ok(None);
                }
            } else {
                open = Some(segment);
            }
            if term.purges {
                writer.purge(TxId(1), None);
                self.settle(&writer);
            }
        }
        Ok(Some(Replaced { number: self.number, writer, segment: open, next }))
    }

    /// Nothing that a replaced writer does counts.
    fn wake_replaced(&mut self) -> Outcome {
        for mut replaced in std::mem::take(&mut self.replaced) {
            let mark = self.marks(1);
            let written = match &mut replaced.segment {
                Some(segment) => append(&mut **segment, replaced.next, &mark),
                // The object has taken over again.
                None if self
                    .last
                    .as_ref()
                    .is_some_and(|last| Arc::ptr_eq(last, &replaced.writer)) =>
                {
                    continue;
                }
                None => replaced.writer.start_segment(TxId(replaced.next)).map(drop),
            };
            self.settle(&replaced.writer);
            if written.is_ok() {
                return Err(format!(
                    "writer {} still writes after {}",
                    replaced.number, self.number
                ));
            }
            let Some(segment) = replaced.segment.take() else { continue };
            let ended = segment.finalize(TxId(replaced.next - 1));
            self.settle(&replaced.writer);
            if ended.is_ok() {
                return Err(format!(
                    "writer {} ends a segment after {}",
                    replaced.number, self.number
                ));
            }
        }
        Ok(())
    }
}
