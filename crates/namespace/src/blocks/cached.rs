//! Which replicas DataNodes hold locked in memory, and which they shall
//! (`CacheReplicationMonitor.rescanCachedBlockMap`).

use super::replicas::Replicas;
use super::types::{Command, NodeIdx};
use hashbrown::{HashMap, HashSet};
use std::collections::{BTreeMap, BTreeSet};
use zerohop_wire::BlockId;

/// What a DataNode holds in memory, and what it is to be told.
#[derive(Debug, Default)]
struct NodeCache {
    /// As its last report says.
    held: HashSet<BlockId>,
    /// It shall lock these, which it does not hold.
    wanted: BTreeSet<BlockId>,
    /// It shall let these go, which it holds.
    unwanted: BTreeSet<BlockId>,
    /// When it was last told, ms of the steady clock.
    told_ms: Option<u64>,
}

/// What all DataNodes hold in memory.
#[derive(Debug, Default)]
pub(super) struct Caches {
    by_node: HashMap<NodeIdx, NodeCache>,
}

impl Caches {
    /// A DataNode reports what it holds now.
    pub(super) fn report(&mut self, node: NodeIdx, held: impl IntoIterator<Item = BlockId>) {
        let cache = self.by_node.entry(node).or_default();
        cache.held = held.into_iter().collect();
        cache.wanted.retain(|id| !cache.held.contains(id));
        cache.unwanted.retain(|id| cache.held.contains(id));
    }

    /// A DataNode is dead: it holds nothing.
    pub(super) fn forget(&mut self, node: NodeIdx) {
        self.by_node.remove(&node);
    }

    /// Forgets the orders to lock and release blocks (`DatanodeManager.clearPendingCachingCommands`).
    pub(super) fn forget_orders(&mut self) {
        for cache in self.by_node.values_mut() {
            cache.wanted.clear();
            cache.unwanted.clear();
            cache.told_ms = None;
        }
    }

    /// Whether a DataNode holds a block in memory.
    pub(super) fn is_held(&self, node: NodeIdx, id: BlockId) -> bool {
        self.by_node.get(&node).is_some_and(|cache| cache.held.contains(&id))
    }

    /// How many DataNodes hold a block in memory.
    pub(super) fn held_count(&self, replicas: Replicas<'_>, id: BlockId) -> usize {
        replicas.holders(id).into_iter().filter(|node| self.is_held(*node, id)).count()
    }

    /// What a DataNode shall do about its memory; repeated only after a while.
    pub(super) fn commands(&mut self, node: NodeIdx, now_ms: u64, retry_ms: u64) -> Vec<Command> {
        let cache = self.by_node.entry(node).or_default();
        if cache.told_ms.is_some_and(|told_ms| now_ms < told_ms.saturating_add(retry_ms)) {
            return Vec::new();
        }
        cache.told_ms = Some(now_ms);
        let mut commands = Vec::new();
        if !cache.wanted.is_empty() {
            commands.push(Command::Cache(cache.wanted.iter().copied().collect()));
        }
        if !cache.unwanted.is_empty() {
            commands.push(Command::Uncache(cache.unwanted.iter().copied().collect()));
        }
        commands
    }
}

/// Decides which DataNode shall hold what, a slice at a time, so that each of these blocks is in the memory of so many, and
/// no other block is.
pub(crate) struct CachePlan {
    wanted: BTreeMap<BlockId, u16>,
    /// The DataNodes when it began; what others hold is looked at by the next plan.
    nodes: usize,
    /// The memory that each one has left, as far as they were looked at.
    room: Vec<u64>,
}

impl CachePlan {
    pub(super) fn new(wanted: BTreeMap<BlockId, u16>, nodes: usize) -> Self {
        Self { wanted, nodes, room: Vec::new() }
    }

    /// Looks at up to `max` blocks, at all that one DataNode holds at least; true if there are more.
    pub(super) fn advance(
        &mut self,
        caches: &mut Caches,
        replicas: Replicas<'_>,
        max: usize,
    ) -> bool {
        let mut left = max;
        while left > 0 && self.room.len() < self.nodes {
            left = left.saturating_sub(self.begin_node(caches, replicas));
        }
        while left > 0
            && let Some((id, count)) = self.wanted.pop_first()
        {
            left -= 1;
            self.plan_block(caches, replicas, id, usize::from(count));
        }
        if left == 0 {
            return true;
        }
        // DataNodes that got commands while the plan was incomplete get the rest at once.
        caches.by_node.values_mut().for_each(|cache| cache.told_ms = None);
        false
    }

    /// Begins with the next DataNode: what it was told to lock before counts first, as far as it fits. Returns the number of
    /// blocks that were looked at.
    fn begin_node(&mut self, caches: &mut Caches, replicas: Replicas<'_>) -> usize {
        let at = self.room.len();
        let node = NodeIdx(at as u32);
        let known = replicas.nodes.node(node);
        self.room.push(known.map_or(0, |it| it.cache_capacity.saturating_sub(it.cache_used)));
        let Some(cache) = caches.by_node.get_mut(&node) else { return 1 };
        cache.wanted.retain(|id| self.wanted.contains_key(id));
        let is_unwanted = |id: &&BlockId| !self.wanted.contains_key(*id);
        cache.unwanted = cache.held.iter().filter(is_unwanted).copied().collect();
        let looks = 1 + cache.wanted.len() + cache.held.len();
        cache.wanted.retain(|id| {
            let len = replicas.len_of(*id);
            let fits = replicas.holders(*id).contains(&node) && self.has_room(node, len);
            if fits {
                self.take(node, len);
            }
            fits
        });
        looks
    }

    fn plan_block(
        &mut self,
        caches: &mut Caches,
        replicas: Replicas<'_>,
        id: BlockId,
        count: usize,
    ) {
        let len = replicas.len_of(id);
        let (held, others): (Vec<NodeIdx>, Vec<NodeIdx>) =
            replicas.holders(id).into_iter().partition(|node| caches.is_held(*node, id));
        let is_told = |node: &NodeIdx| {
            caches.by_node.get(node).is_some_and(|cache| cache.wanted.contains(&id))
        };
        let (mut told, mut free): (Vec<NodeIdx>, Vec<NodeIdx>) =
            others.into_iter().partition(is_told);
        for node in held.iter().skip(count) {
            caches.by_node.entry(*node).or_default().unwanted.insert(id);
        }
        while held.len() + told.len() > count
            && let Some(node) = told.pop()
        {
            caches.by_node.entry(node).or_default().wanted.remove(&id);
        }
        // Those with the most room first.
        free.sort_by_cached_key(|node| {
            std::cmp::Reverse(self.room.get(node.0 as usize).copied().unwrap_or_default())
        });
        let missing = count.saturating_sub(held.len() + told.len());
        let fits = |node: &NodeIdx| self.has_room(*node, len);
        let chosen: Vec<NodeIdx> = free.into_iter().filter(fits).take(missing).collect();
        for node in chosen {
            self.take(node, len);
            caches.by_node.entry(node).or_default().wanted.insert(id);
        }
    }

    fn has_room(&self, node: NodeIdx, len: u64) -> bool {
        self.room.get(node.0 as usize).is_some_and(|room| *room >= len)
    }

    fn take(&mut self, node: NodeIdx, len: u64) {
        if let Some(room) = self.room.get_mut(node.0 as usize) {
            *room = room.saturating_sub(len);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datanode_is_told_again_after_a_while_unless_it_reports_the_block() {
        let (node, block) = (NodeIdx(1), BlockId(7));
        let mut caches = Caches::default();
        caches.by_node.entry(node).or_default().wanted.insert(block);
        assert!(
            matches!(&caches.commands(node, 0, 100)[..], [Command::Cache(ids)] if ids == &[block])
        );
        assert!(caches.commands(node, 99, 100).is_empty());
        assert_eq!(caches.commands(node, 100, 100).len(), 1);
        caches.report(node, [block]);
        assert!(caches.is_held(node, block) && caches.commands(node, 200, 100).is_empty());
        caches.forget(node);
        assert!(!caches.is_held(node, block));
    }
}
