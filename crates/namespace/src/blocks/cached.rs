//! Which replicas DataNodes hold locked in memory, and which they shall
//! (`CacheReplicationMonitor.rescanCachedBlockMap`).

use super::{BlockManager, Command, NodeIdx, Result};
use std::collections::BTreeMap;
use zerohop_wire::BlockId;

impl BlockManager {
    /// What a DataNode holds in memory now.
    ///
    /// # Errors
    /// `IOException` when the DataNode is unknown or dead: it must register again first.
    pub fn cache_report(
        &mut self,
        uuid: &str,
        held: impl IntoIterator<Item = BlockId>,
    ) -> Result<()> {
        let node = self.reporting_node(uuid)?;
        if let Some(known) = self.nodes.node_mut(node) {
            let cache = &mut known.cache;
            cache.held = held.into_iter().collect();
            cache.wanted.retain(|id| !cache.held.contains(id));
            cache.unwanted.retain(|id| cache.held.contains(id));
        }
        Ok(())
    }

    /// Whether a DataNode holds a block in memory.
    pub(super) fn is_held(&self, node: NodeIdx, id: BlockId) -> bool {
        self.nodes.node(node).is_some_and(|known| known.cache.held.contains(&id))
    }

    /// How many DataNodes hold a block in memory.
    pub(crate) fn held_count(&self, id: BlockId) -> usize {
        self.holders_of(id).into_iter().filter(|node| self.is_held(*node, id)).count()
    }

    fn holders_of(&self, id: BlockId) -> Vec<NodeIdx> {
        self.map.slot(id).map(|slot| self.replicas().serving_nodes(slot)).unwrap_or_default()
    }

    /// What a DataNode shall do about its memory; repeated only after a while.
    pub(super) fn cache_commands(&mut self, node: NodeIdx) -> Vec<Command> {
        let (now_ms, retry_ms) = (self.now.mono_ms, self.params.cache_retry_ms);
        let Some(known) = self.nodes.node_mut(node) else { return Vec::new() };
        let cache = &mut known.cache;
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
    pub(crate) fn new(wanted: BTreeMap<BlockId, u16>, blocks: &BlockManager) -> Self {
        Self { wanted, nodes: blocks.nodes.nodes.len(), room: Vec::new() }
    }

    /// Looks at up to `max` blocks, at all that one DataNode holds at least; true if there are more.
    pub(crate) fn advance(&mut self, blocks: &mut BlockManager, max: usize) -> bool {
        let mut left = max;
        while left > 0 && self.room.len() < self.nodes {
            left = left.saturating_sub(self.begin_node(blocks));
        }
        while left > 0
            && let Some((id, count)) = self.wanted.pop_first()
        {
            left -= 1;
            self.plan_block(blocks, id, usize::from(count));
        }
        if left == 0 {
            return true;
        }
        // Those that were told a part of it are told all.
        blocks.nodes.nodes.iter_mut().for_each(|known| known.cache.told_ms = None);
        false
    }

    /// What the next DataNode was told before counts first; what does not fit any more is asked of others. The number of
    /// blocks that were looked at.
    fn begin_node(&mut self, blocks: &mut BlockManager) -> usize {
        let at = self.room.len();
        let node = NodeIdx(at as u32);
        self.room.push(0);
        let Some(known) = blocks.nodes.nodes.get_mut(at) else { return 1 };
        let cache = &mut known.cache;
        cache.wanted.retain(|id| self.wanted.contains_key(id));
        let is_unwanted = |id: &&BlockId| !self.wanted.contains_key(*id);
        cache.unwanted = cache.held.iter().filter(is_unwanted).copied().collect();
        let looks = 1 + cache.wanted.len() + cache.held.len();
        self.room[at] = known.cache_capacity.saturating_sub(known.cache_used);
        let told: Vec<BlockId> = known.cache.wanted.iter().copied().collect();
        for id in told {
            let len = blocks.get(id).map_or(0, |stored| stored.block.len);
            if blocks.holders_of(id).contains(&node) && self.has_room(node, len) {
                self.take(node, len);
            } else if let Some(known) = blocks.nodes.node_mut(node) {
                known.cache.wanted.remove(&id);
            }
        }
        looks
    }

    fn plan_block(&mut self, blocks: &mut BlockManager, id: BlockId, count: usize) {
        let len = blocks.get(id).map_or(0, |stored| stored.block.len);
        let holders = blocks.holders_of(id);
        let is_told = |node: &NodeIdx| {
            blocks.nodes.node(*node).is_some_and(|known| known.cache.wanted.contains(&id))
        };
        let (held, others): (Vec<NodeIdx>, Vec<NodeIdx>) =
            holders.into_iter().partition(|node| blocks.is_held(*node, id));
        let (mut told, mut free): (Vec<NodeIdx>, Vec<NodeIdx>) =
            others.into_iter().partition(is_told);
        for node in held.iter().skip(count) {
            if let Some(known) = blocks.nodes.node_mut(*node) {
                known.cache.unwanted.insert(id);
            }
        }
        while held.len() + told.len() > count
            && let Some(node) = told.pop()
        {
            if let Some(known) = blocks.nodes.node_mut(node) {
                known.cache.wanted.remove(&id);
            }
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
            if let Some(known) = blocks.nodes.node_mut(node) {
                known.cache.wanted.insert(id);
            }
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
