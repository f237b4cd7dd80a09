//! Given a block's replicas and the DataNodes' room, the move that is expected.

use super::*;
use zerohop_client::StorageType::{Archive, Disk};
use zerohop_proto::hdfs::{
    DatanodeIdProto, DatanodeInfoProto, DatanodeStorageProto, DatanodeStorageReportProto,
    ExtendedBlockProto, LocatedBlockProto, StorageReportProto,
};

fn info(at: usize, rack: &str) -> DatanodeInfoProto {
    let id = DatanodeIdProto { datanode_uuid: format!("dn{at}"), ..Default::default() };
    DatanodeInfoProto { id, location: Some(rack.to_owned()), ..Default::default() }
}

/// A type, and the room on it.
type Room = (StorageType, u64);
/// A DataNode and a type.
type Place = (usize, StorageType);

/// DataNodes: the rack, and the room on each type.
fn places(nodes: &[(&str, &[Room])]) -> Places {
    let report = |(at, (rack, rooms)): (usize, &(&str, &[Room]))| {
        let volume = |(kind, room): &Room| StorageReportProto {
            remaining: Some(*room),
            storage: Some(DatanodeStorageProto {
                storage_type: Some(kind.number()),
                ..Default::default()
            }),
            ..Default::default()
        };
        DatanodeStorage::from(DatanodeStorageReportProto {
            datanode_info: info(at, rack),
            storage_reports: rooms.iter().map(volume).collect(),
        })
    };
    Places::new(&nodes.iter().enumerate().map(report).collect::<Vec<_>>())
}

/// A block of ten bytes with replicas on these DataNodes and types.
fn block(replicas: &[Place]) -> LocatedBlock {
    LocatedBlock::from(LocatedBlockProto {
        b: ExtendedBlockProto { num_bytes: Some(10), ..Default::default() },
        locs: replicas.iter().map(|(at, _)| info(*at, "/r")).collect(),
        storage_types: replicas.iter().map(|(_, kind)| kind.number()).collect(),
        ..Default::default()
    })
}

/// The source, the target and the proxy of the move to archives.
fn chosen(
    places: &Places,
    replicas: &[Place],
    pinned: Option<&BTreeSet<String>>,
) -> Option<(Place, Place, usize)> {
    let found: Vec<_> = replicas.iter().map(|replica| replica.1).collect();
    let difference = Difference::new(&vec![Archive; replicas.len()], &found);
    let loads = Loads::new(places.nodes.len(), 10, 10);
    match places.choose(&block(replicas), &difference, &loads, pinned) {
        Choice::Move(Planned { source, target, proxy, .. }) => {
            Some(((source.node, source.kind), (target.node, target.kind), proxy))
        }
        Choice::None => None,
        Choice::Busy => panic!("nobody is busy"),
    }
}

#[test]
fn a_replica_goes_to_another_volume_of_its_datanode_first() {
    let places =
        places(&[("/r", &[(Disk, 100), (Archive, 20)]), ("/r", &[(Disk, 100), (Archive, 100)])]);
    assert_eq!(chosen(&places, &[(0, Disk)], None), Some(((0, Disk), (0, Archive), 0)));
}

#[test]
fn a_replica_leaves_its_datanode_where_that_has_no_room() {
    let places = places(&[
        ("/a", &[(Disk, 100), (Archive, 9)]),
        ("/b", &[(Archive, 1000)]),
        ("/a", &[(Archive, 10)]),
    ]);
    let moved = chosen(&places, &[(0, Disk)], None);
    assert_eq!(moved, Some(((0, Disk), (2, Archive), 0)), "the same rack comes first");
}

#[test]
fn a_replica_goes_to_no_datanode_that_has_one() {
    let places = places(&[("/r", &[(Disk, 100)]), ("/r", &[(Disk, 100), (Archive, 100)])]);
    let both = [(0, Disk), (1, Archive)];
    assert_eq!(chosen(&places, &both, None), None);
    assert_eq!(chosen(&places, &both[..1], None), Some(((0, Disk), (1, Archive), 0)));
}

#[test]
fn a_pinned_replica_only_moves_within_its_datanode() {
    let pinned = BTreeSet::from(["dn0".to_owned()]);
    let apart = places(&[("/r", &[(Disk, 100)]), ("/r", &[(Archive, 100)])]);
    assert_eq!(chosen(&apart, &[(0, Disk)], Some(&pinned)), None);
    let within = places(&[("/r", &[(Disk, 100), (Archive, 100)])]);
    assert_eq!(chosen(&within, &[(0, Disk)], Some(&pinned)), Some(((0, Disk), (0, Archive), 0)));
}

#[test]
fn room_that_is_taken_is_not_given_twice() {
    let mut places = places(&[("/r", &[(Disk, 100), (Archive, 15)])]);
    let archive = Group { node: 0, kind: Archive };
    assert!(chosen(&places, &[(0, Disk)], None).is_some());
    places.take_room(archive, 10);
    assert_eq!(chosen(&places, &[(0, Disk)], None), None);
}

#[test]
fn a_round_ends_as_apache_s_does() {
    let result = |has_remaining, has_scheduled, has_failed, has_moved| RoundResult {
        has_remaining,
        has_scheduled,
        has_failed,
        has_moved,
    };
    for (result, status, only_failed) in [
        (result(false, false, false, false), ExitStatus::Success, false),
        (result(false, true, false, true), ExitStatus::Success, false),
        (result(true, true, false, true), ExitStatus::InProgress, false),
        (result(true, false, false, false), ExitStatus::NoMoveBlock, false),
        (result(false, true, true, false), ExitStatus::InProgress, true),
        (result(false, true, true, true), ExitStatus::InProgress, false),
    ] {
        assert_eq!((result.status(), result.only_failed()), (status, only_failed), "{result:?}");
    }
}
