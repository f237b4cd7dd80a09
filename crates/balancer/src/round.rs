//! One iteration of the balancer as a state machine: blocks and ends of moves in, requests and moves out.

use crate::candidate::{may_move, proxy};
use crate::moved::MovedBlocks;
use crate::nodes::{Group, Nodes};
use crate::plan::Plan;
use std::time::{Duration, Instant};
use zerohop_client::{ReplicaMove, StoredBlock};
use zerohop_wire::Block;

/// How long a DataNode with which a move failed is left alone.
const DELAY_AFTER_FAILURE: Duration = Duration::from_secs(10);

/// What one iteration may ask of the cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Bytes of blocks asked for at a time.
    pub(crate) fetch_size: u64,
    /// Bytes of the smallest block that is moved.
    pub(crate) block_len_min: u64,
    /// Moves at a time.
    pub(crate) moves_max: usize,
    /// Moves that a DataNode takes part in at a time.
    pub(crate) moves_per_node_max: usize,
    /// Requests for blocks at a time.
    pub(crate) fetches_max: usize,
    /// Time between two requests for blocks.
    pub(crate) fetch_interval: Duration,
    /// How long a source may find no DataNode that it can give to.
    pub(crate) no_move_max: Duration,
}

/// What is to be done next.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    /// Ask for so many bytes of blocks of a source.
    Fetch(Group, u64),
    /// Move a replica.
    Move(Planned),
}

/// A move that is decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Planned {
    pub(crate) block: Block,
    pub(crate) source: Group,
    pub(crate) target: Group,
    pub(crate) proxy: usize,
}

impl Planned {
    /// The move with the DataNodes themselves.
    pub(crate) fn with_nodes(self, nodes: &Nodes) -> Option<ReplicaMove> {
        Some(ReplicaMove {
            block: self.block,
            source: nodes.info(self.source.node)?.clone(),
            proxy: nodes.info(self.proxy)?.clone(),
            target: nodes.info(self.target.node)?.clone(),
            storage_type: self.target.kind,
        })
    }
}

/// A block of a source, with the places of its replicas.
#[derive(Debug)]
struct Found {
    block: Block,
    replicas: Vec<Group>,
}

/// Bytes that a source has still to give to a target.
#[derive(Debug)]
struct Share {
    target: Group,
    open: u64,
}

#[derive(Debug)]
struct Source {
    group: Group,
    shares: Vec<Share>,
    /// Bytes of blocks that may still be asked for.
    to_fetch: u64,
    found: Vec<Found>,
    is_fetching: bool,
    /// Nothing can be done before something changes.
    is_waiting: bool,
    is_done: bool,
    last_move: Instant,
}

/// What a source finds when it looks for a block to move.
enum Choice {
    Move(Planned),
    /// The DataNodes are busy.
    Busy,
    /// None of its blocks may be moved.
    NoBlock,
}

/// Moves of a DataNode.
#[derive(Clone, Debug, Default)]
struct Load {
    moves: usize,
    delayed_until: Option<Instant>,
}

/// How busy DataNodes are.
#[derive(Debug)]
pub(crate) struct Loads {
    all: Vec<Load>,
    moves: usize,
    moves_max: usize,
    per_node_max: usize,
}

impl Loads {
    pub(crate) fn new(nodes: usize, moves_max: usize, per_node_max: usize) -> Self {
        Self { all: vec![Load::default(); nodes], moves: 0, moves_max, per_node_max }
    }

    pub(crate) const fn moves(&self) -> usize {
        self.moves
    }

    pub(crate) const fn is_full(&self) -> bool {
        self.moves >= self.moves_max
    }

    /// Whether a DataNode can take part in one more move.
    pub(crate) fn is_free(&self, node: usize, now: Instant) -> bool {
        self.all.get(node).is_some_and(|load| {
            load.moves < self.per_node_max && load.delayed_until.is_none_or(|until| until <= now)
        })
    }

    pub(crate) fn begin(&mut self, planned: &Planned) {
        self.moves += 1;
        self.change(planned, |load| load.moves += 1);
    }

    /// A failure delays the use of both DataNodes.
    pub(crate) fn end(&mut self, planned: &Planned, has_failed: bool, now: Instant) {
        self.moves -= 1;
        self.change(planned, |load| {
            load.moves -= 1;
            if has_failed {
                load.delayed_until = Some(now + DELAY_AFTER_FAILURE);
            }
        });
    }

    fn change(&mut self, planned: &Planned, mut change: impl FnMut(&mut Load)) {
        self.all.get_mut(planned.proxy).map(&mut change);
        if planned.proxy != planned.target.node {
            self.all.get_mut(planned.target.node).map(change);
        }
    }
}

/// One iteration of the balancer.
#[derive(Debug)]
pub(crate) struct Round<'a> {
    nodes: &'a Nodes,
    limits: Limits,
    moved: &'a mut MovedBlocks,
    sources: Vec<Source>,
    loads: Loads,
    fetches: usize,
    next_fetch: Instant,
}

impl<'a> Round<'a> {
    pub(crate) fn new(
        nodes: &'a Nodes,
        plan: &Plan,
        limits: Limits,
        moved: &'a mut MovedBlocks,
        now: Instant,
    ) -> Self {
        let mut sources: Vec<Source> = Vec::new();
        for transfer in &plan.transfers {
            let share = Share { target: transfer.target, open: transfer.bytes };
            match sources.iter_mut().find(|source| source.group == transfer.source) {
                Some(source) => source.shares.push(share),
                None => sources.push(Source::new(transfer.source, share, now)),
            }
        }
        for source in &mut sources {
            // Not every block may be moved.
            source.to_fetch = source.open().saturating_mul(2);
        }
        let loads = Loads::new(nodes.len(), limits.moves_max, limits.moves_per_node_max);
        Self { nodes, limits, moved, sources, loads, fetches: 0, next_fetch: now }
    }

    /// What can be done now; `None` until something changes.
    pub(crate) fn next(&mut self, now: Instant) -> Option<Step> {
        for at in 0..self.sources.len() {
            let source = self.sources.get_mut(at)?;
            if source.is_done || source.is_waiting || source.is_fetching {
                continue;
            }
            if let Some(step) = self.step_of(at, now) {
                return Some(step);
            }
        }
        None
    }

    fn step_of(&mut self, at: usize, now: Instant) -> Option<Step> {
        let choice = self.choose(at, now);
        let source = self.sources.get_mut(at)?;
        match choice {
            Choice::Move(planned) => {
                source.begin(&planned, now);
                self.moved.add(planned.block.id);
                self.loads.begin(&planned);
                return Some(Step::Move(planned));
            }
            Choice::Busy => {
                let idle_for = now.saturating_duration_since(source.last_move);
                // A move that is under way may take long.
                source.is_done = self.loads.moves() == 0 && idle_for > self.limits.no_move_max;
                source.is_waiting = true;
                return None;
            }
            Choice::NoBlock => source.found.clear(),
        }
        source.is_done = source.to_fetch == 0 || source.open() == 0;
        if !source.is_done && self.fetches < self.limits.fetches_max && self.next_fetch <= now {
            source.is_fetching = true;
            self.fetches += 1;
            self.next_fetch = now + self.limits.fetch_interval;
            return Some(Step::Fetch(source.group, source.to_fetch.min(self.limits.fetch_size)));
        }
        source.is_waiting = true;
        None
    }

    fn choose(&self, at: usize, now: Instant) -> Choice {
        let Some(source) = self.sources.get(at) else { return Choice::NoBlock };
        if self.loads.is_full() {
            return Choice::Busy;
        }
        let mut is_busy = false;
        for share in &source.shares {
            if !self.loads.is_free(share.target.node, now) {
                is_busy = true;
                continue;
            }
            for found in source.found.iter().filter(|found| !self.moved.has(found.block.id)) {
                if !may_move(self.nodes, &found.replicas, source.group, share.target) {
                    continue;
                }
                let is_free = |node: usize| self.loads.is_free(node, now);
                match proxy(self.nodes, &found.replicas, source.group, share.target, is_free) {
                    Some(proxy) => {
                        let (block, source, target) = (found.block, source.group, share.target);
                        return Choice::Move(Planned { block, source, target, proxy });
                    }
                    None => is_busy = true,
                }
            }
        }
        if is_busy { Choice::Busy } else { Choice::NoBlock }
    }

    /// The answer to [`Step::Fetch`]; `None` if there was none.
    pub(crate) fn fetched(&mut self, group: Group, blocks: Option<Vec<StoredBlock>>) {
        self.fetches -= 1;
        let Some(at) = self.sources.iter().position(|source| source.group == group) else { return };
        let mut received = 0;
        for stored in blocks.into_iter().flatten() {
            let block = stored.block;
            if block.len < self.limits.block_len_min || stored.is_striped {
                continue;
            }
            received += block.len;
            let replicas = self.replicas(&stored);
            let is_known = |found: &Found| found.block.id == block.id;
            let is_useful = self.sources.get(at).is_some_and(|source| {
                !source.found.iter().any(is_known)
                    && source.can_give(self.nodes, &replicas)
                    && !self.moved.has(block.id)
            });
            if let Some(source) = self.sources.get_mut(at).filter(|_| is_useful) {
                source.found.push(Found { block, replicas });
            }
        }
        if let Some(source) = self.sources.get_mut(at) {
            source.is_fetching = false;
            source.to_fetch = source.to_fetch.saturating_sub(received);
            // The NameNode has no more.
            source.is_done |= received == 0;
        }
    }

    fn replicas(&self, stored: &StoredBlock) -> Vec<Group> {
        let places = stored.locations.iter().filter_map(|(uuid, kind)| {
            Some(Group { node: self.nodes.by_uuid(uuid)?, kind: *kind })
        });
        places.collect()
    }

    /// The end of a [`Step::Move`].
    pub(crate) fn moved(&mut self, planned: &Planned, has_failed: bool, now: Instant) {
        self.loads.end(planned, has_failed, now);
        self.look_again();
    }

    /// Time has passed.
    pub(crate) fn look_again(&mut self) {
        self.sources.iter_mut().for_each(|source| source.is_waiting = false);
    }

    /// Begins nothing any more.
    pub(crate) fn stop(&mut self) {
        self.sources.iter_mut().for_each(|source| source.is_done = true);
    }

    /// Whether nothing is left to do or to wait for.
    pub(crate) fn is_over(&self) -> bool {
        self.sources.iter().all(|source| source.is_done)
            && self.loads.moves() == 0
            && self.fetches == 0
    }
}

impl Source {
    fn new(group: Group, share: Share, now: Instant) -> Self {
        Self {
            group,
            shares: vec![share],
            to_fetch: 0,
            found: Vec::new(),
            is_fetching: false,
            is_waiting: false,
            is_done: false,
            last_move: now,
        }
    }

    /// Bytes that it has still to give.
    fn open(&self) -> u64 {
        self.shares.iter().map(|share| share.open).sum()
    }

    fn can_give(&self, nodes: &Nodes, replicas: &[Group]) -> bool {
        self.shares.iter().any(|share| may_move(nodes, replicas, self.group, share.target))
    }

    fn begin(&mut self, planned: &Planned, now: Instant) {
        self.last_move = now;
        self.found.retain(|found| found.block.id != planned.block.id);
        for share in self.shares.iter_mut().filter(|share| share.target == planned.target) {
            share.open = share.open.saturating_sub(planned.block.len);
        }
        self.shares.retain(|share| share.open > 0);
    }
}

/// DataNodes for tests.
#[cfg(test)]
pub(crate) mod fixture {
    use super::*;
    use zerohop_client::DatanodeInfo;
    use zerohop_proto::hdfs::{DatanodeIdProto, DatanodeInfoProto};

    /// DataNodes `dn0`, `dn1`, ... in these racks.
    pub(crate) fn nodes(racks: &[&str]) -> Nodes {
        let mut nodes = Nodes::default();
        for (at, rack) in racks.iter().enumerate() {
            let id = DatanodeIdProto { datanode_uuid: format!("dn{at}"), ..Default::default() };
            let location = Some((*rack).to_owned());
            let proto = DatanodeInfoProto { id, location, ..Default::default() };
            nodes.add(DatanodeInfo::from(proto), true);
        }
        nodes
    }
}

#[cfg(test)]
#[path = "round_test.rs"]
mod tests;
