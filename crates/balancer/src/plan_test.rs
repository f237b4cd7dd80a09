//! Given how full storages are, the transfers that are expected.

use super::*;

const LIMITS: Limits = Limits { threshold: 10.0, size_to_move_max: 1000, fullest_first: false };

const fn group(node: usize, kind: StorageType) -> Group {
    Group { node, kind }
}

/// Disks of a hundred bytes each: their rack, and how many bytes are used.
fn disks(all: &[(&str, u64)]) -> Vec<Usage> {
    let usage = |(node, (rack, used)): (usize, &(&str, u64))| Usage {
        group: group(node, StorageType::Disk),
        location: (*rack).to_owned(),
        capacity: 100,
        room: 100 - used,
        used: *used,
        total: 100,
        is_source: true,
    };
    all.iter().enumerate().map(usage).collect()
}

/// Source, target, bytes.
fn transfers(plan: &Plan) -> Vec<(usize, usize, u64)> {
    plan.transfers.iter().map(|t| (t.source.node, t.target.node, t.bytes)).collect()
}

#[test]
fn full_disks_give_to_empty_ones() {
    let plan = plan(&disks(&[("/r", 60), ("/r", 0)]), &LIMITS);
    // The average is 30: each is 30 away from it, 20 beyond the threshold.
    assert_eq!((transfers(&plan), plan.bytes_left), (vec![(0, 1, 30)], 20));
}

#[test]
fn what_is_within_the_threshold_is_left_alone() {
    let plan = plan(&disks(&[("/r", 50), ("/r", 40), ("/r", 30)]), &LIMITS);
    assert_eq!(plan, Plan::default());
}

#[test]
fn a_full_disk_gives_to_those_below_the_average_when_none_is_under_utilized() {
    // The average is 40: only the first differs by more than ten points.
    let plan = plan(&disks(&[("/r", 70), ("/r", 30), ("/r", 30), ("/r", 30)]), &LIMITS);
    assert_eq!(transfers(&plan), [(0, 1, 10), (0, 2, 10), (0, 3, 10)]);
    assert_eq!(plan.bytes_left, 20);
}

#[test]
fn an_empty_disk_takes_from_those_above_the_average_when_none_is_over_utilized() {
    let plan = plan(&disks(&[("/r", 60), ("/r", 60), ("/r", 60), ("/r", 20)]), &LIMITS);
    // The average is 50.
    assert_eq!(transfers(&plan), [(0, 3, 10), (1, 3, 10), (2, 3, 10)]);
    assert_eq!(plan.bytes_left, 20);
}

#[test]
fn disks_of_the_same_rack_come_first() {
    let plan = plan(&disks(&[("/a", 80), ("/b", 80), ("/b", 20), ("/a", 20)]), &LIMITS);
    assert_eq!(transfers(&plan), [(0, 3, 30), (1, 2, 30)]);
    let plan = super::plan(&disks(&[("/a", 80), ("/b", 20)]), &LIMITS);
    assert_eq!(transfers(&plan), [(0, 1, 30)], "no other rack, no choice");
}

#[test]
fn types_of_storage_are_balanced_each_by_itself() {
    let mut usages = disks(&[("/r", 80), ("/r", 20), ("/r", 90), ("/r", 90)]);
    for usage in &mut usages[2..] {
        usage.group = group(usage.group.node - 2, StorageType::Archive);
    }
    let plan = plan(&usages, &LIMITS);
    let disk = |node| group(node, StorageType::Disk);
    assert_eq!(plan.transfers, [Transfer { source: disk(0), target: disk(1), bytes: 30 }]);
}

#[test]
fn no_more_moves_in_one_iteration_than_the_limit_and_the_room_allow() {
    let limits = Limits { size_to_move_max: 7, ..LIMITS };
    let usages = disks(&[("/r", 60), ("/r", 0)]);
    assert_eq!(transfers(&plan(&usages, &limits)), [(0, 1, 7)]);
    let mut usages = usages;
    usages[1].room = 5;
    assert_eq!(transfers(&plan(&usages, &LIMITS)), [(0, 1, 5)]);
}

#[test]
fn only_sources_that_were_named_give() {
    let mut usages = disks(&[("/r", 60), ("/r", 60), ("/r", 0)]);
    usages[0].is_source = false;
    let plan = plan(&usages, &LIMITS);
    assert_eq!(transfers(&plan), [(1, 2, 20)]);
    // What the other one has too much does not count; the empty one is 40 below, 30 beyond the threshold.
    assert_eq!(plan.bytes_left, 30);
}

#[test]
fn the_fullest_give_first_where_that_is_asked_for() {
    let usages = disks(&[("/r", 70), ("/r", 90), ("/r", 0), ("/r", 40)]);
    let limits = Limits { fullest_first: true, ..LIMITS };
    let first = |limits| transfers(&plan(&usages, &limits)).first().map(|transfer| transfer.0);
    assert_eq!((first(LIMITS), first(limits)), (Some(0), Some(1)));
}

#[test]
fn large_disks_count_by_their_share() {
    let mut usages = disks(&[("/r", 50), ("/r", 0)]);
    (usages[0].capacity, usages[0].total, usages[0].used) = (1000, 1000, 500);
    let plan = plan(&usages, &LIMITS);
    // The average is 45.45: the large one is 4.5 points above it.
    assert_eq!(transfers(&plan), [(0, 1, 45)]);
    assert_eq!(plan.bytes_left, 35);
}
