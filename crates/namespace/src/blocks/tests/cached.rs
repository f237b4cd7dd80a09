//! Which DataNode is told to hold what in memory.

use super::*;

impl Cluster {
    /// Ids to lock and to let go that a DataNode with so much memory is told of.
    fn told(&mut self, index: usize, capacity: u64) -> (Vec<i64>, Vec<i64>) {
        let beat = Heartbeat { cache_capacity: capacity, ..Heartbeat::default() };
        let (mut lock, mut let_go) = (Vec::new(), Vec::new());
        for command in self.beat_with(index, beat) {
            match command {
                Command::Cache(ids) => lock.extend(ids.iter().map(|id| id.0)),
                Command::Uncache(ids) => let_go.extend(ids.iter().map(|id| id.0)),
                other => panic!("{other:?}"),
            }
        }
        (lock, let_go)
    }

    fn want(&mut self, wanted: &[(i64, u16)]) {
        let wanted = wanted.iter().map(|(id, count)| (BlockId(*id), *count)).collect();
        let mut plan = self.blocks.plan_caches(wanted);
        while self.blocks.advance_plan(&mut plan, 1) {}
    }

    fn holds(&mut self, index: usize, ids: &[i64]) {
        let ids = ids.iter().map(|id| BlockId(*id));
        self.blocks.datanode_manager().cache_report(&format!("uuid-{index}"), ids).unwrap();
    }
}

const NOTHING: (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());

#[test]
fn a_block_is_locked_where_it_is_and_there_is_room() {
    let mut cluster = Cluster::new(&["/a", "/a", "/a"]);
    cluster.written(1, 2, &[0, 1]);
    // Blocks are 100 bytes long: it does not fit on the first DataNode, and is not on the third.
    for (index, capacity) in [(0, 99), (1, 250), (2, 1000)] {
        assert_eq!(cluster.told(index, capacity), NOTHING);
    }
    cluster.want(&[(1, 2)]);
    assert_eq!((cluster.told(0, 99), cluster.told(2, 1000)), (NOTHING, NOTHING));
    assert_eq!(cluster.told(1, 250), (vec![1], vec![]));
    // Told once, then again only after a while.
    assert_eq!(cluster.told(1, 250), NOTHING);
    cluster.now.mono_ms += 30_000;
    assert_eq!(cluster.told(1, 250), (vec![1], vec![]));

    cluster.holds(1, &[1]);
    assert_eq!(cluster.blocks.lookup().held_count(BlockId(1)), 1);
    let found = cluster.blocks.lookup().locations(BlockId(1), "").unwrap().replicas;
    let held = found.iter().filter(|replica| replica.is_held).map(|r| r.node.id.host.as_str());
    assert_eq!(held.collect::<Vec<_>>(), ["dn1"]);
    cluster.want(&[(1, 1)]);
    assert_eq!(cluster.told(1, 250), NOTHING);
}

#[test]
fn a_cached_replica_that_no_directive_asks_for_is_dropped() {
    let mut cluster = Cluster::new(&["/a", "/a"]);
    cluster.written(1, 2, &[0, 1]);
    cluster.holds(0, &[1, 7]);
    cluster.holds(1, &[1]);
    cluster.want(&[(1, 1)]);
    // One of two is enough, and the other block is no longer known at all.
    let let_go = [cluster.told(0, 1000).1, cluster.told(1, 1000).1].concat();
    assert_eq!(let_go.iter().filter(|id| **id == 1).count(), 1);
    assert_eq!(let_go.iter().filter(|id| **id == 7).count(), 1);
    cluster.want(&[]);
    assert!(cluster.told(0, 1000).1.contains(&7));
}

#[test]
fn a_dead_datanode_holds_nothing() {
    let mut cluster = Cluster::new(&["/a"]);
    cluster.written(1, 1, &[0]);
    cluster.holds(0, &[1]);
    cluster.blocks.datanode_manager().remove("uuid-0");
    assert_eq!(cluster.blocks.lookup().held_count(BlockId(1)), 0);
    assert!(cluster.blocks.datanode_manager().cache_report("uuid-0", []).is_err());
}
