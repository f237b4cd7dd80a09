//! What is kept of blocks while they are written or recovered.

use super::map::{BlockMap, Slot};
use super::nodes::Nodes;
use super::types::{Completed, RecoverCommand, StorageIdx, Storages};
use hashbrown::HashMap;
use smallvec::SmallVec;
use zerohop_wire::{Block, BlockId, GenerationStamp};

/// How long the leader of a recovery has before another is asked: Apache waits as long between tries.
const RECOVERY_RETRY_MS: u64 = 30_000;

/// One replica of a block under construction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub(super) storage: StorageIdx,
    pub(super) stamp: GenerationStamp,
    /// It has been asked to lead a recovery.
    led: bool,
    /// The pipeline or the recovery goes on without it: it is only kept in mind to be deleted.
    left_out: bool,
}

impl Expected {
    pub(super) fn new(storage: StorageIdx, stamp: GenerationStamp) -> Self {
        Self { storage, stamp, led: false, left_out: false }
    }
}

/// What is kept of a block only while it is not complete.
#[derive(Clone, Debug, Default)]
pub(super) struct Construction {
    replicas: SmallVec<[Expected; 3]>,
    recovery: Option<Recovery>,
    /// Its targets count as being sent to: they are new, not reopened or found after a start.
    is_scheduled: bool,
}

/// A recovery under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The stamp the block gets; answers with another belong to an older try.
    pub stamp: GenerationStamp,
    /// For a truncate: what the block shall become.
    pub truncate: Option<Block>,
    /// When the last leader was asked, on the caller's steady clock; none if no replica was known.
    pub(super) started_ms: Option<u64>,
}

impl Recovery {
    /// A truncate to `target`, of which no DataNode was asked yet.
    pub(super) fn unasked(target: Block) -> Self {
        Self { stamp: target.stamp, truncate: Some(target), started_ms: None }
    }

    /// Whether a DataNode was asked since this NameNode started. What one answers that was asked before
    /// must not count: others may have been asked later, under stamps that no edit carries, and would
    /// change the replicas afterwards.
    pub fn is_asked(&self) -> bool {
        self.started_ms.is_some()
    }
}

impl Construction {
    pub(super) fn with_targets(stamp: GenerationStamp, targets: &[StorageIdx]) -> Self {
        let expected = |storage: &StorageIdx| Expected::new(*storage, stamp);
        Self { replicas: targets.iter().map(expected).collect(), ..Self::default() }
    }

    /// The same, whose targets count as being sent to.
    pub(super) fn scheduled(self) -> Self {
        Self { is_scheduled: true, ..self }
    }

    /// The replicas that take part.
    pub(super) fn storages(&self) -> impl Iterator<Item = StorageIdx> + '_ {
        self.replicas.iter().filter(|replica| !replica.left_out).map(|replica| replica.storage)
    }

    /// All replicas known, those left out too.
    pub(super) fn replicas(&self) -> &[Expected] {
        &self.replicas
    }

    /// Whether its targets count as being sent to.
    pub(super) fn is_scheduled(&self) -> bool {
        self.is_scheduled
    }

    fn choose_leader(&mut self, nodes: &Nodes) -> Option<StorageIdx> {
        let able = |replica: &&mut Expected| !replica.left_out && nodes.is_alive(replica.storage);
        if self.replicas.iter_mut().filter(able).all(|replica| replica.led) {
            self.replicas.iter_mut().for_each(|replica| replica.led = false);
        }
        let fresh = self.replicas.iter_mut().filter(able).filter(|replica| !replica.led);
        let leader = fresh.max_by_key(|replica| nodes.last_heartbeat_ms(replica.storage))?;
        leader.led = true;
        Some(leader.storage)
    }
}

/// The blocks that are not complete, and those that became so.
#[derive(Default)]
pub(super) struct Constructions {
    by_slot: HashMap<Slot, Construction>,
    completed: Vec<Completed>,
    /// End of the time after a failover in which DataNodes may write replicas that they have not reported here.
    unreported_until_ms: u64,
    /// End of the time in which an empty block counts as written: a DataNode that has not reported may hold flushed bytes.
    written_until_ms: u64,
}

impl Constructions {
    /// Blocks that are not complete.
    pub(super) fn len(&self) -> usize {
        self.by_slot.len()
    }

    pub(super) fn get(&self, slot: Slot) -> Option<&Construction> {
        self.by_slot.get(&slot)
    }

    /// A block is not complete; what is known of it stays.
    pub(super) fn begin(&mut self, slot: Slot) {
        self.by_slot.entry(slot).or_default();
    }

    /// A block has these replicas now; what was known before.
    pub(super) fn replace(&mut self, slot: Slot, new: Construction) -> Option<Construction> {
        self.by_slot.insert(slot, new)
    }

    /// A block that was complete is written again by these replicas; a truncate of it goes on.
    pub(super) fn reopen(&mut self, slot: Slot, new: Construction) {
        let recovery = self.recovery(slot);
        self.by_slot.insert(slot, Construction { recovery, ..new });
    }

    /// A block is complete.
    pub(super) fn end(&mut self, slot: Slot) {
        self.by_slot.remove(&slot);
    }

    /// A block is not written any more: the DataNodes it was being sent to need no room for it.
    pub(super) fn cancel(&mut self, nodes: &mut Nodes, slot: Slot) {
        if let Some(construction) = self.by_slot.remove(&slot)
            && construction.is_scheduled
        {
            construction.storages().for_each(|storage| nodes.unschedule(storage));
        }
    }

    /// Keeps a block that became complete for [`Constructions::take_completed`].
    pub(super) fn note_completed(&mut self, id: BlockId) {
        self.completed.push(id);
    }

    /// Blocks that became complete since the last call.
    pub(super) fn take_completed(&mut self) -> Vec<Completed> {
        std::mem::take(&mut self.completed)
    }

    pub(super) fn recovery(&self, slot: Slot) -> Option<Recovery> {
        self.get(slot)?.recovery
    }

    pub(super) fn set_recovery(&mut self, slot: Slot, recovery: Recovery) {
        self.by_slot.entry(slot).or_default().recovery = Some(recovery);
    }

    /// The recovery under way for a block.
    pub(super) fn recovery_of(&self, map: &BlockMap, id: BlockId) -> Option<Recovery> {
        self.recovery(map.slot(id)?)
    }

    /// Whether a recovery may be started: none was in the last 30 s.
    pub(super) fn is_recovery_due(&self, map: &BlockMap, id: BlockId, now_ms: u64) -> bool {
        let started = self.recovery_of(map, id).and_then(|last| last.started_ms);
        started.is_none_or(|started_ms| now_ms >= started_ms + RECOVERY_RETRY_MS)
    }

    /// The storages a block under construction is expected on.
    pub(super) fn targets(&self, map: &BlockMap, id: BlockId) -> Storages {
        let construction = map.slot(id).and_then(|slot| self.get(slot));
        construction.map(|construction| construction.storages().collect()).unwrap_or_default()
    }

    /// Another NameNode chose until now where blocks are written: DataNodes have until then to report it.
    pub(super) fn await_reports(&mut self, until_ms: u64) {
        self.unreported_until_ms = until_ms;
    }

    /// Keeps empty blocks until `until_ms`.
    pub(super) fn keep_empty(&mut self, until_ms: u64) {
        self.written_until_ms = self.written_until_ms.max(until_ms);
    }

    /// Returns `true` if a DataNode that has not reported yet may hold bytes of a block that seems to be empty.
    pub(super) fn keeps_empty(&self, now_ms: u64) -> bool {
        now_ms < self.written_until_ms
    }

    /// Forgets which recoveries were ordered: another NameNode may have ordered later ones since, under stamps that no edit
    /// carries. What truncates want stays.
    pub(super) fn forget_recoveries(&mut self) {
        for construction in self.by_slot.values_mut() {
            let truncate = construction.recovery.and_then(|recovery| recovery.truncate);
            construction.recovery = truncate.map(Recovery::unasked);
            construction.replicas.iter_mut().for_each(|replica| replica.led = false);
        }
    }

    /// Whether a DataNode may write a replica that it has not reported here.
    pub(super) fn are_reports_awaited(&self, now_ms: u64) -> bool {
        now_ms < self.unreported_until_ms
    }

    /// Whether any DataNode was chosen for a block or has reported a replica of it, good or stale.
    pub(super) fn has_targets_or_replicas(&self, map: &BlockMap, id: BlockId) -> bool {
        map.slot(id).is_some_and(|slot| {
            self.get(slot).is_some_and(|known| !known.replicas.is_empty())
                || !map.storages(slot).is_empty()
        })
    }

    /// Blocks of truncates that no DataNode was asked to cut since this NameNode started, and that one could cut now.
    pub(super) fn unasked_truncates(&self, map: &BlockMap, nodes: &Nodes) -> Vec<BlockId> {
        let is_unasked = |(_, construction): &(&Slot, &Construction)| {
            let recovery = construction.recovery.filter(|recovery| recovery.truncate.is_some());
            recovery.is_some_and(|recovery| !recovery.is_asked())
        };
        let unasked = self.by_slot.iter().filter(is_unasked);
        let ids = unasked.filter_map(|(slot, construction)| {
            let known = map.storages(*slot).iter().copied();
            let mut replicas = construction.storages().chain(known);
            let entry = map.get(*slot)?;
            replicas.any(|storage| nodes.is_alive(storage)).then(|| entry.block().id)
        });
        ids.collect()
    }

    /// A replica that a pipeline or recovery went on without, unless more is known of its node.
    pub(super) fn leave_out(&mut self, nodes: &Nodes, slot: Slot, replica: Expected) {
        let construction = self.by_slot.entry(slot).or_default();
        let node = nodes.node_of(replica.storage);
        let is_in = |other: &Expected| nodes.node_of(other.storage) == node;
        match construction.replicas.iter_mut().find(|other| is_in(other)) {
            // A recovery that was given up has given a stale replica another stamp since.
            Some(known) => known.stamp = known.stamp.max(replica.stamp),
            None => construction.replicas.push(Expected { left_out: true, ..replica }),
        }
    }

    /// A try of which no answer came (this NameNode was down) may have truncated some replicas: their
    /// new stamp tells. DataNodes refuse to recover finalized replicas of two lengths together, and
    /// would for ever, so that the recovery goes on with the truncated ones alone.
    pub(super) fn leave_untruncated(&mut self, nodes: &Nodes, slot: Slot, stamp: GenerationStamp) {
        let Some(construction) = self.by_slot.get_mut(&slot) else { return };
        let is_truncated =
            |replica: &Expected| replica.stamp > stamp && nodes.is_alive(replica.storage);
        let is_any_truncated = construction.replicas.iter().any(is_truncated);
        for replica in &mut construction.replicas {
            replica.left_out = replica.stamp < stamp || is_any_truncated && !is_truncated(replica);
        }
    }

    /// Chooses who leads a recovery: among the live replicas that have not led yet, the one whose DataNode sent the last
    /// heartbeat. When all have led, each may lead again.
    pub(super) fn choose_leader(&mut self, nodes: &Nodes, slot: Slot) -> Option<StorageIdx> {
        self.by_slot.get_mut(&slot)?.choose_leader(nodes)
    }

    /// Orders the recovery of a block from its leader, with the answer to a heartbeat.
    pub(super) fn order_recovery(
        &self,
        nodes: &mut Nodes,
        slot: Slot,
        block: Block,
        leader: StorageIdx,
    ) {
        let Some(construction) = self.get(slot) else { return };
        let Some(recovery) = construction.recovery else { return };
        let rest = construction.storages();
        let rest = rest.filter(|storage| *storage != leader && nodes.is_alive(*storage));
        let storages: Storages = std::iter::once(leader).chain(rest).collect();
        let command = RecoverCommand {
            block,
            new_stamp: recovery.stamp,
            locations: nodes.locations(&storages),
            truncate: recovery.truncate,
        };
        nodes.queue_recovery(leader, command);
    }

    /// A DataNode reported a replica of a block that is not complete; `stored` is the block as it is known.
    pub(super) fn expect_replica(
        &mut self,
        nodes: &Nodes,
        slot: Slot,
        storage: StorageIdx,
        stamp: GenerationStamp,
        stored: Block,
    ) {
        let node = nodes.node_of(storage);
        let left_out = stamp < stored.stamp;
        let replicas = &mut self.by_slot.entry(slot).or_default().replicas;
        // A DataNode may choose another of its storages than the one we named.
        match replicas.iter_mut().find(|replica| nodes.node_of(replica.storage) == node) {
            // A report that was overtaken.
            Some(replica) if stamp < replica.stamp => {}
            Some(replica) => {
                (replica.storage, replica.stamp, replica.left_out) = (storage, stamp, left_out);
            }
            None => replicas.push(Expected { left_out, ..Expected::new(storage, stamp) }),
        }
    }

    /// The last stamp that the replica on a storage's DataNode is known to have, while the block is not complete.
    pub(super) fn expected_stamp(
        &self,
        nodes: &Nodes,
        slot: Slot,
        storage: StorageIdx,
    ) -> Option<GenerationStamp> {
        let node = nodes.node_of(storage);
        let mut replicas = self.get(slot)?.replicas.iter();
        let known = replicas.find(|replica| nodes.node_of(replica.storage) == node);
        known.map(|replica| replica.stamp)
    }

    /// A DataNode deleted its replica: a recovery that asked it alone would find that nothing was ever written.
    pub(super) fn expect_no_replica(
        &mut self,
        nodes: &Nodes,
        slot: Slot,
        storage: StorageIdx,
        stamp: GenerationStamp,
    ) {
        let Some(construction) = self.by_slot.get_mut(&slot) else { return };
        let node = nodes.node_of(storage);
        let is_gone =
            |replica: &Expected| nodes.node_of(replica.storage) == node && replica.stamp <= stamp;
        construction.replicas.retain(|replica| !is_gone(replica));
    }

    /// A DataNode that a pipeline or a recovery went on without needs no room for the block, one that joined it does.
    pub(super) fn reschedule(
        &mut self,
        nodes: &mut Nodes,
        slot: Slot,
        old: &Construction,
        targets: &[StorageIdx],
    ) {
        if !old.is_scheduled {
            return;
        }
        if let Some(new) = self.by_slot.get_mut(&slot) {
            new.is_scheduled = true;
        }
        let old: Storages = old.storages().collect();
        let is_in = |storages: &[StorageIdx], storage: StorageIdx| {
            let node = nodes.node_of(storage);
            storages.iter().any(|other| nodes.node_of(*other) == node)
        };
        let left: Storages =
            old.iter().copied().filter(|storage| !is_in(targets, *storage)).collect();
        let joined: Storages =
            targets.iter().copied().filter(|storage| !is_in(&old, *storage)).collect();
        left.into_iter().for_each(|storage| nodes.unschedule(storage));
        joined.into_iter().for_each(|storage| nodes.schedule(storage));
    }
}

#[cfg(test)]
mod tests {
    use super::super::types::{BlockState, DatanodeId, NodeIdx, Now, StorageType, StoredBlock};
    use super::*;
    use zerohop_wire::InodeId;

    const SLOT: Slot = 0;

    /// Live DataNodes with one storage each, of which the first sent the last heartbeat.
    fn nodes(count: u32) -> (Nodes, Storages) {
        let mut nodes = Nodes::default();
        let storages = (0..count).map(|index| {
            let id = DatanodeId { uuid: index.to_string(), ..DatanodeId::default() };
            let node = nodes.add_node(id, "/a".into());
            let known = nodes.node_mut(node).unwrap();
            known.alive = true;
            known.last_update = Now { wall_ms: 0, mono_ms: u64::from(count - index) };
            nodes.ensure_storage(node, &"DS".into(), StorageType::Disk)
        });
        let storages = storages.collect();
        (nodes, storages)
    }

    fn stamp(stamp: i64) -> GenerationStamp {
        GenerationStamp(stamp)
    }

    fn stored(stamp: i64) -> Block {
        Block { id: BlockId(1), stamp: GenerationStamp(stamp), len: 0 }
    }

    #[test]
    fn each_live_replica_leads_once_before_one_leads_again() {
        let (mut nodes, storages) = nodes(3);
        nodes.node_mut(NodeIdx(1)).unwrap().alive = false;
        let mut constructions = Constructions::default();
        constructions.replace(SLOT, Construction::with_targets(stamp(1001), &storages));
        let leaders: Vec<_> =
            (0..3).filter_map(|_| constructions.choose_leader(&nodes, SLOT)).collect();
        assert_eq!(leaders, [storages[0], storages[2], storages[0]]);
    }

    #[test]
    fn a_late_report_neither_makes_a_replica_older_nor_brings_it_back() {
        let (nodes, storages) = nodes(2);
        let mut constructions = Constructions::default();
        constructions.replace(SLOT, Construction::with_targets(stamp(1002), &storages[..1]));
        constructions.leave_out(&nodes, SLOT, Expected::new(storages[1], stamp(1001)));
        for storage in &storages {
            constructions.expect_replica(&nodes, SLOT, *storage, stamp(1001), stored(1002));
        }
        let known = constructions.get(SLOT).unwrap();
        assert_eq!(known.storages().collect::<Vec<_>>(), storages[..1]);
        assert_eq!(constructions.expected_stamp(&nodes, SLOT, storages[0]), Some(stamp(1002)));
        constructions.expect_replica(&nodes, SLOT, storages[1], stamp(1002), stored(1002));
        assert_eq!(constructions.get(SLOT).unwrap().storages().count(), 2);
        constructions.expect_no_replica(&nodes, SLOT, storages[1], stamp(1002));
        assert_eq!(constructions.expected_stamp(&nodes, SLOT, storages[1]), None);
    }

    #[test]
    fn room_is_kept_where_a_pipeline_goes_on() {
        let (mut nodes, storages) = nodes(3);
        let mut constructions = Constructions::default();
        let (old, new) = (&storages[..2], &storages[1..]);
        old.iter().for_each(|storage| nodes.schedule(*storage));
        constructions.replace(SLOT, Construction::with_targets(stamp(1001), old).scheduled());
        let replaced = constructions.replace(SLOT, Construction::with_targets(stamp(1002), new));
        constructions.reschedule(&mut nodes, SLOT, &replaced.unwrap(), new);
        let scheduled = |nodes: &Nodes| -> Vec<u64> {
            nodes.all().iter().map(|node| node.scheduled.total()).collect()
        };
        assert_eq!(scheduled(&nodes), [0, 1, 1]);
        constructions.cancel(&mut nodes, SLOT);
        assert_eq!(scheduled(&nodes), [0, 0, 0]);
    }

    #[test]
    fn a_recovery_is_due_again_when_its_leader_had_its_time() {
        let mut map = BlockMap::default();
        let slot = map.insert(StoredBlock {
            block: stored(1001),
            file: InodeId(16386),
            replication: 1,
            state: BlockState::UnderRecovery,
        });
        let mut constructions = Constructions::default();
        assert!(constructions.is_recovery_due(&map, BlockId(1), 0));
        let recovery = Recovery { stamp: stamp(1002), truncate: None, started_ms: Some(500) };
        constructions.set_recovery(slot, recovery);
        assert!(!constructions.is_recovery_due(&map, BlockId(1), 500 + RECOVERY_RETRY_MS - 1));
        assert!(constructions.is_recovery_due(&map, BlockId(1), 500 + RECOVERY_RETRY_MS));
        constructions.set_recovery(slot, Recovery::unasked(stored(1003)));
        assert!(constructions.is_recovery_due(&map, BlockId(1), 500), "nobody was asked");
    }
}
