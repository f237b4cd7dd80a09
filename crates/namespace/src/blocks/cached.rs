//! Which replicas DataNodes hold locked in memory, and which they shall
//! (`CacheReplicationMonitor.rescanCachedBlockMap`).

use super::{BlockManager, Command, NodeIdx, Result};
use hashbrown::HashMap;
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

    /// Decides which DataNode shall hold what, so that each of these blocks is in the memory of so many,
    /// and no other block is.
    pub(crate) fn plan_cache(&mut self, wanted: &HashMap<BlockId, u16>) {
        let mut room: Vec<u64> = Vec::with_capacity(self.nodes.nodes.len());
        for known in &mut self.nodes.nodes {
            let cache = &mut known.cache;
            cache.wanted.retain(|id| wanted.contains_key(id));
            cache.unwanted =
                cache.held.iter().filter(|id| !wanted.contains_key(*id)).copied().collect();
            cache.told_ms = None;
            room.push(known.cache_capacity.saturating_sub(known.cache_used));
        }
        self.keep_what_fits(&mut room);
        let mut ids: Vec<(BlockId, u16)> = wanted.iter().map(|(id, count)| (*id, *count)).collect();
        ids.sort_unstable();
        for (id, count) in ids {
            self.plan_block(id, usize::from(count), &mut room);
        }
    }

    /// What DataNodes were told before is counted first; what does not fit any more is asked of others.
    fn keep_what_fits(&mut self, room: &mut [u64]) {
        for at in 0..self.nodes.nodes.len() {
            let node = NodeIdx(at as u32);
            let Some(known) = self.nodes.node(node) else { continue };
            let told: Vec<BlockId> = known.cache.wanted.iter().copied().collect();
            for id in told {
                let len = self.get(id).map_or(0, |stored| stored.block.len);
                let stays = self.holders_of(id).contains(&node)
                    && room.get(at).is_some_and(|room| *room >= len);
                if stays {
                    take(room, node, len);
                } else if let Some(known) = self.nodes.node_mut(node) {
                    known.cache.wanted.remove(&id);
                }
            }
        }
    }

    fn plan_block(&mut self, id: BlockId, count: usize, room: &mut [u64]) {
        let len = self.get(id).map_or(0, |stored| stored.block.len);
        let holders = self.holders_of(id);
        let is_told = |node: &NodeIdx| {
            self.nodes.node(*node).is_some_and(|known| known.cache.wanted.contains(&id))
        };
        let (held, others): (Vec<NodeIdx>, Vec<NodeIdx>) =
            holders.into_iter().partition(|node| self.is_held(*node, id));
        let (mut told, mut free): (Vec<NodeIdx>, Vec<NodeIdx>) =
            others.into_iter().partition(is_told);
        for node in held.iter().skip(count) {
            if let Some(known) = self.nodes.node_mut(*node) {
                known.cache.unwanted.insert(id);
            }
        }
        while held.len() + told.len() > count
            && let Some(node) = told.pop()
        {
            if let Some(known) = self.nodes.node_mut(node) {
                known.cache.wanted.remove(&id);
            }
        }
        // Those with the most room first.
        free.sort_by_cached_key(|node| {
            std::cmp::Reverse(room.get(node.0 as usize).copied().unwrap_or_default())
        });
        let missing = count.saturating_sub(held.len() + told.len());
        let fits = |node: &NodeIdx| room.get(node.0 as usize).is_some_and(|room| *room >= len);
        let chosen: Vec<NodeIdx> = free.into_iter().filter(fits).take(missing).collect();
        for node in chosen {
            take(room, node, len);
            if let Some(known) = self.nodes.node_mut(node) {
                known.cache.wanted.insert(id);
            }
        }
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

fn take(room: &mut [u64], node: NodeIdx, len: u64) {
    if let Some(room) = room.get_mut(node.0 as usize) {
        *room = room.saturating_sub(len);
    }
}
