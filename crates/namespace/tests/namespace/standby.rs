//! A standby commits the edits of another NameNode while DataNodes report to it too: the reports may come before the edits
//! or after them.

use crate::world::World;
use zerohop_namespace::blocks::{Command, Heartbeat, ReplicaEvent};
use zerohop_namespace::{LocatedBlock, LocatedBlocks};
use zerohop_wire::Block;

/// An active NameNode, and a standby that the same DataNodes report to.
struct Pair {
    active: World,
    standby: World,
}

impl Pair {
    fn new() -> Self {
        Self { active: World::new(), standby: World::new() }
    }

    /// The standby commits what the active NameNode has logged.
    fn catch_up(&mut self) {
        self.active.catch_up(&mut self.standby.namespace);
        assert_eq!(self.standby.namespace.miscounted(), None);
    }

    fn create_with_block(&mut self, path: &str) -> LocatedBlock {
        let root = self.active.root();
        self.active.create_as(&root, path, false).unwrap();
        self.active.add_block(path, None).unwrap()
    }

    fn located_on_standby(&self, path: &str) -> LocatedBlocks {
        let root = self.standby.root();
        self.standby.namespace.view(&root).block_locations(path, 0, u64::MAX).unwrap().0
    }

    fn replicas_on_standby(&self, path: &str) -> usize {
        self.located_on_standby(path).blocks[0].locations.replicas.len()
    }

    fn check_same(&self) {
        assert_eq!(self.active.namespace.difference(&self.standby.namespace), None);
    }
}

/// One DataNode of a block tells a NameNode of its replica.
fn tell(world: &mut World, located: &LocatedBlock, which: usize, event: ReplicaEvent) {
    let replica = &located.locations.replicas[which];
    let storage = (&replica.storage_id, replica.kind);
    let uuid = &replica.node.id.uuid;
    world
        .namespace
        .blocks_mut()
        .block_reports()
        .incremental_report(uuid, storage, [event])
        .unwrap();
}

#[test]
fn replicas_reported_before_the_close_count_when_it_arrives() {
    let mut pair = Pair::new();
    let located = pair.create_with_block("/f");
    pair.catch_up();
    let block = Block { len: 10, ..located.block() };
    pair.standby.received(&located, block);
    assert!(!pair.standby.namespace.blocks().is_complete(block.id));
    pair.active.received(&located, block);
    assert!(pair.active.close("/f", Some(block)));
    pair.catch_up();
    assert!(pair.standby.namespace.blocks().is_complete(block.id));
    assert!(pair.standby.namespace.blocks().lookup().has_min_replication(block.id));
    assert_eq!(pair.replicas_on_standby("/f"), 2);
    pair.check_same();
}

#[test]
fn replicas_reported_after_the_close_are_found_where_it_left_none() {
    let mut pair = Pair::new();
    let located = pair.create_with_block("/f");
    let block = Block { len: 10, ..located.block() };
    pair.active.received(&located, block);
    assert!(pair.active.close("/f", Some(block)));
    pair.catch_up();
    assert!(pair.standby.namespace.blocks().is_complete(block.id));
    assert_eq!(pair.replicas_on_standby("/f"), 0);
    pair.check_same();
    pair.standby.received(&located, block);
    assert_eq!(pair.replicas_on_standby("/f"), 2);
}

/// The active NameNode waits for replicas of a block before it counts as complete; a standby cannot tell how many the
/// active one knows.
#[test]
fn the_block_before_a_new_one_is_complete_on_a_standby_that_knows_no_replica() {
    let mut pair = Pair::new();
    let first = pair.create_with_block("/f").block();
    let first = Block { len: 10, ..first };
    pair.active.add_block("/f", Some(first)).unwrap();
    pair.catch_up();
    assert!(!pair.active.namespace.blocks().is_complete(first.id));
    assert!(pair.standby.namespace.blocks().is_complete(first.id));
    assert_eq!(pair.standby.stat("/f").unwrap().len, 10);
}

#[test]
fn a_replica_that_a_new_pipeline_left_out_does_not_count_on_a_standby() {
    let mut pair = Pair::new();
    let root = pair.active.root();
    let located = pair.create_with_block("/f");
    pair.catch_up();
    let old = located.block();
    let stamp =
        pair.active.namespace.file_writes(&root).update_block_for_pipeline(old, "client").unwrap();
    let new = Block { len: 0, ..stamp.block() };
    let kept = &located.locations.replicas[0];
    let storages = [(kept.node.id.uuid.clone(), kept.storage_id.to_string())];
    pair.active
        .namespace
        .file_writes(&root)
        .update_pipeline("client", old, new, &storages)
        .unwrap();
    let block = Block { len: 10, ..new };
    // The standby hears of both replicas before it reads of the new pipeline.
    tell(&mut pair.standby, &located, 1, ReplicaEvent::Receiving(old));
    tell(&mut pair.standby, &located, 0, ReplicaEvent::Received(block));
    tell(&mut pair.active, &located, 0, ReplicaEvent::Received(block));
    assert!(pair.active.close("/f", Some(block)));
    pair.catch_up();
    assert!(pair.standby.namespace.blocks().is_complete(block.id));
    let on_standby = pair.located_on_standby("/f");
    let replicas = &on_standby.blocks[0].locations.replicas;
    assert_eq!(replicas.len(), 1);
    assert_eq!(replicas[0].node.id.uuid, kept.node.id.uuid);
    pair.check_same();
}

/// The active NameNode asks a DataNode to cut the block; the standby keeps the target length, and asks no DataNode.
#[test]
fn a_standby_orders_no_recovery_for_a_truncate() {
    let mut pair = Pair::new();
    let root = pair.active.root();
    let located = pair.create_with_block("/f");
    let block = Block { len: 10, ..located.block() };
    pair.active.received(&located, block);
    assert!(pair.active.close("/f", Some(block)));
    pair.catch_up();
    pair.standby.received(&located, block);
    assert!(!pair.active.namespace.files(&root).truncate("/f", 4, "client").unwrap());
    pair.catch_up();
    let asked =
        |world: &World| world.namespace.blocks().lookup().recovery(block.id).unwrap().is_asked();
    assert!(asked(&pair.active) && !asked(&pair.standby));
    let now = pair.standby.now;
    for replica in &located.locations.replicas {
        let standby = &mut pair.standby.namespace;
        let reply = standby.heartbeat(&replica.node.id.uuid, Heartbeat::default(), &[], now);
        let is_recovery = |command: &Command| matches!(command, Command::Recover(_));
        assert!(!reply.commands.iter().any(is_recovery));
    }
    pair.check_same();
}
