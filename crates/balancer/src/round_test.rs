//! Given a plan and the blocks of the sources, the steps that are expected.

use super::fixture::nodes;
use super::*;
use crate::plan::Transfer;
use zerohop_client::StorageType;
use zerohop_wire::{BlockId, GenerationStamp};

const LIMITS: Limits = Limits {
    fetch_size: 1000,
    block_len_min: 1,
    moves_max: 100,
    moves_per_node_max: 2,
    fetches_max: 10,
    fetch_interval: Duration::ZERO,
    no_move_max: Duration::from_secs(60),
};

const fn disk(node: usize) -> Group {
    Group { node, kind: StorageType::Disk }
}

/// From DataNode 0 to DataNode 1.
fn plan(bytes: u64) -> Plan {
    Plan {
        bytes_left: bytes,
        transfers: vec![Transfer { source: disk(0), target: disk(1), bytes }],
    }
}

/// A block of ten bytes with a replica on each of these DataNodes.
fn block(id: i64, on: &[usize]) -> StoredBlock {
    use zerohop_proto::hdfs::{BlockProto, BlockWithLocationsProto};
    let block = Block { id: BlockId(id), stamp: GenerationStamp(1), len: 10 };
    StoredBlock::from(BlockWithLocationsProto {
        block: BlockProto::from(block),
        datanode_uuids: on.iter().map(|node| format!("dn{node}")).collect(),
        storage_types: on.iter().map(|_| StorageType::Disk.number()).collect(),
        ..Default::default()
    })
}

/// All that the round wants to do now: bytes that it asks for, blocks that it moves.
fn steps(round: &mut Round<'_>, now: Instant) -> (Vec<u64>, Vec<Planned>) {
    let mut found = (Vec::new(), Vec::new());
    while let Some(step) = round.next(now) {
        match step {
            Step::Fetch(_, bytes) => found.0.push(bytes),
            Step::Move(planned) => found.1.push(planned),
        }
    }
    found
}

fn ids(moves: &[Planned]) -> Vec<i64> {
    moves.iter().map(|planned| planned.block.id.0).collect()
}

#[test]
fn blocks_are_asked_for_and_moved_until_enough_are_under_way() {
    let (nodes, now) = (nodes(&["/r", "/r"]), Instant::now());
    let mut moved = MovedBlocks::new(Duration::from_secs(60), now);
    let mut round = Round::new(&nodes, &plan(30), LIMITS, &mut moved, now);
    assert_eq!(steps(&mut round, now), (vec![60], vec![]), "twice what is to be moved");
    round.fetched(disk(0), Some((1..=5).map(|id| block(id, &[0])).collect()));
    let first = steps(&mut round, now).1;
    assert_eq!(ids(&first), [1, 2], "a DataNode takes part in two moves at a time");
    assert_eq!((first[0].source, first[0].target, first[0].proxy), (disk(0), disk(1), 0));
    round.moved(&first[0], false, now);
    let second = steps(&mut round, now).1;
    assert_eq!(ids(&second), [3]);
    assert!(!round.is_over());
    round.moved(&first[1], false, now);
    round.moved(&second[0], false, now);
    assert_eq!(steps(&mut round, now), (vec![], vec![]), "thirty bytes are moved");
    assert!(round.is_over());
}

#[test]
fn blocks_that_the_target_has_or_that_were_moved_lately_stay() {
    let (nodes, now) = (nodes(&["/r", "/r"]), Instant::now());
    let mut moved = MovedBlocks::new(Duration::from_secs(60), now);
    moved.add(BlockId(2));
    let mut round = Round::new(&nodes, &plan(100), LIMITS, &mut moved, now);
    steps(&mut round, now);
    round.fetched(disk(0), Some(vec![block(1, &[0, 1]), block(2, &[0]), block(3, &[0])]));
    let (_, moves) = steps(&mut round, now);
    assert_eq!(ids(&moves), [3]);
}

#[test]
fn a_source_without_blocks_ends() {
    let (nodes, now) = (nodes(&["/r", "/r"]), Instant::now());
    for answer in [None, Some(Vec::new())] {
        let mut moved = MovedBlocks::new(Duration::from_secs(60), now);
        let mut round = Round::new(&nodes, &plan(30), LIMITS, &mut moved, now);
        assert_eq!(steps(&mut round, now).0.len(), 1);
        round.fetched(disk(0), answer);
        assert_eq!(steps(&mut round, now), (vec![], vec![]));
        assert!(round.is_over());
    }
}

#[test]
fn datanodes_with_which_a_move_failed_are_left_alone_for_a_while() {
    let (nodes, now) = (nodes(&["/r", "/r"]), Instant::now());
    let mut moved = MovedBlocks::new(Duration::from_secs(60), now);
    let mut round = Round::new(&nodes, &plan(100), LIMITS, &mut moved, now);
    steps(&mut round, now);
    round.fetched(disk(0), Some((1..=3).map(|id| block(id, &[0])).collect()));
    let first = steps(&mut round, now).1;
    first.iter().for_each(|planned| round.moved(planned, true, now));
    assert_eq!(steps(&mut round, now), (vec![], vec![]), "and no blocks are asked for meanwhile");
    round.look_again();
    let later = steps(&mut round, now + DELAY_AFTER_FAILURE).1;
    assert_eq!(ids(&later), [3], "a block that could not be moved is not tried again");
}

#[test]
fn a_source_whose_blocks_may_not_move_ends() {
    let (nodes, now) = (nodes(&["/r", "/r"]), Instant::now());
    let mut moved = MovedBlocks::new(Duration::from_secs(60), now);
    let mut round = Round::new(&nodes, &plan(10), LIMITS, &mut moved, now);
    steps(&mut round, now);
    // Each time the NameNode has blocks, and none that may move: they count as received.
    round.fetched(disk(0), Some(vec![block(1, &[0, 1])]));
    assert_eq!(steps(&mut round, now).0, [10]);
    round.fetched(disk(0), Some(vec![block(2, &[0, 1])]));
    assert_eq!(steps(&mut round, now), (vec![], vec![]));
    assert!(round.is_over());
}

#[test]
fn a_source_whose_targets_all_fail_is_given_up() {
    let (nodes, now) = (nodes(&["/r", "/r"]), Instant::now());
    let mut moved = MovedBlocks::new(Duration::from_secs(60), now);
    let limits = Limits { no_move_max: Duration::from_secs(5), ..LIMITS };
    let mut round = Round::new(&nodes, &plan(100), limits, &mut moved, now);
    steps(&mut round, now);
    round.fetched(disk(0), Some((1..=3).map(|id| block(id, &[0])).collect()));
    let first = steps(&mut round, now).1;
    round.moved(&first[0], true, now);
    // The other one is still under way.
    steps(&mut round, now + Duration::from_secs(6));
    round.moved(&first[1], true, now);
    assert!(!round.is_over());
    assert_eq!(steps(&mut round, now + Duration::from_secs(6)), (vec![], vec![]));
    assert!(round.is_over());
}

#[test]
fn requests_for_blocks_keep_their_distance() {
    let (nodes, now) = (nodes(&["/r", "/r", "/r"]), Instant::now());
    let mut moved = MovedBlocks::new(Duration::from_secs(60), now);
    let transfer =
        |source, target| Transfer { source: disk(source), target: disk(target), bytes: 9 };
    let plan = Plan { bytes_left: 9, transfers: vec![transfer(0, 2), transfer(1, 2)] };
    let limits = Limits { fetch_interval: Duration::from_millis(50), ..LIMITS };
    let mut round = Round::new(&nodes, &plan, limits, &mut moved, now);
    assert_eq!(steps(&mut round, now).0.len(), 1);
    round.look_again();
    assert_eq!(steps(&mut round, now + Duration::from_millis(49)).0.len(), 0);
    round.look_again();
    assert_eq!(steps(&mut round, now + Duration::from_millis(50)).0.len(), 1);
}

#[test]
fn a_round_that_is_stopped_waits_for_what_is_under_way() {
    let (nodes, now) = (nodes(&["/r", "/r"]), Instant::now());
    let mut moved = MovedBlocks::new(Duration::from_secs(60), now);
    let mut round = Round::new(&nodes, &plan(100), LIMITS, &mut moved, now);
    steps(&mut round, now);
    round.fetched(disk(0), Some(vec![block(1, &[0]), block(2, &[0])]));
    let first = round.next(now);
    let Some(Step::Move(first)) = first else { panic!("{first:?}") };
    round.stop();
    assert_eq!(steps(&mut round, now), (vec![], vec![]));
    assert!(!round.is_over());
    round.moved(&first, false, now);
    assert!(round.is_over());
}
