//! Random choices are uniform among what is acceptable, whatever lies next to it in the tables, and judge few DataNodes.

use super::super::random::SplitMix64;
use super::chi_square::assert_uniform;
use super::*;
use std::collections::BTreeMap;

const RACKS: usize = 10;
const IN_RACK: usize = 40;

/// 10 racks of 40 DataNodes that registered in the order of the racks. Of each rack 8 cannot take a replica: runs of full,
/// dead, decommissioning and excluded ones.
struct Uneven {
    cluster: Cluster,
    excluded: Vec<String>,
}

impl Uneven {
    fn new() -> Self {
        let racks: Vec<String> = (0..RACKS * IN_RACK).map(rack_of).collect();
        let racks: Vec<&str> = racks.iter().map(String::as_str).collect();
        let mut cluster = Cluster::new(&racks);
        let mut excluded = Vec::new();
        for index in 0..RACKS * IN_RACK {
            match index % IN_RACK {
                10..12 => fill(&mut cluster, index),
                12..14 => cluster.blocks.datanode_manager().remove(&format!("uuid-{index}")),
                14..16 => {
                    let node = cluster.blocks.datanodes().by_uuid(&format!("uuid-{index}"));
                    let mut admin = cluster.blocks.datanode_admin();
                    admin.apply_host(node.unwrap(), |_| Admission::Excluded);
                }
                16..18 => excluded.push(format!("uuid-{index}")),
                _ => {}
            }
        }
        Self { cluster, excluded }
    }

    fn is_acceptable(index: usize) -> bool {
        !(10..18).contains(&(index % IN_RACK))
    }

    /// Chooses targets `times` over, and counts the DataNodes at `place` of the answers. Panics for a DataNode that is not
    /// acceptable or that `may` excludes.
    fn count(
        &self,
        times: usize,
        request: &PlacementRequest<'_>,
        place: usize,
        may: impl Fn(usize) -> bool,
    ) -> Vec<u64> {
        let request = PlacementRequest { excluded: &self.excluded, ..request.clone() };
        let all = (0..RACKS * IN_RACK).filter(|index| may(*index) && Self::is_acceptable(*index));
        let mut counts: BTreeMap<usize, u64> = all.map(|index| (index, 0)).collect();
        for _ in 0..times {
            let found = self.cluster.blocks.placement().place(&request, request.chosen.is_empty());
            let chosen = index_of(&self.cluster, found[place]);
            *counts.get_mut(&chosen).unwrap_or_else(|| panic!("dn{chosen} was chosen")) += 1;
        }
        counts.into_values().collect()
    }
}

fn rack_of(index: usize) -> String {
    format!("/rack{}", index / IN_RACK)
}

fn index_of(cluster: &Cluster, storage: StorageIdx) -> usize {
    let host = &cluster.blocks.datanodes().locations(&[storage])[0].node.id.host;
    host.trim_start_matches("dn").parse().unwrap()
}

/// Leaves no room on the disk of a DataNode.
fn fill(cluster: &mut Cluster, index: usize) {
    let report = StorageReport { remaining: 0, ..disk(index) };
    let uuid = format!("uuid-{index}");
    cluster.blocks.heartbeat(&uuid, Heartbeat::default(), &[report], cluster.now, &|_| 0);
}

/// A DataNode that registered after a run of unacceptable ones got the share of the whole run: 12.8 times the mean.
#[test]
fn each_acceptable_datanode_is_as_likely_as_any_other() {
    let uneven = Uneven::new();
    let elsewhere = request("elsewhere", 1);
    assert_uniform("the first replica", &uneven.count(8_000, &elsewhere, 0, |_| true));
    let local = request("10.0.0.80", 3);
    let is_remote = |index| rack_of(index) != rack_of(80);
    let found = uneven.count(8_000, &local, 0, |index| index == 80);
    assert_eq!(found, [8_000], "the writer's own DataNode");
    assert_uniform("the second replica", &uneven.count(8_000, &local, 1, is_remote));
    assert_uniform("the third replica", &uneven.count(8_000, &local, 2, is_remote));
}

#[test]
fn each_acceptable_datanode_is_as_likely_to_get_a_copy() {
    let uneven = Uneven::new();
    let source = uneven.cluster.blocks.datanodes().by_uuid("uuid-80");
    let chosen = [uneven.cluster.disk_of(80)];
    let copy =
        PlacementRequest { chosen: &chosen, source, ignore_locality: true, ..request("", 1) };
    let is_remote = |index| rack_of(index) != rack_of(80);
    assert_uniform("a copy", &uneven.count(8_000, &copy, 0, is_remote));
    let both = [chosen[0], uneven.cluster.disk_of(120)];
    let third = PlacementRequest { chosen: &both, ..copy };
    let is_near = |index| index != 80 && rack_of(index) == rack_of(80);
    assert_uniform("the third copy", &uneven.count(1_500, &third, 0, is_near));
    let source = uneven.cluster.blocks.datanodes().by_uuid("uuid-120");
    let is_near = |index| index != 120 && rack_of(index) == rack_of(120);
    let third = PlacementRequest { source, ..third };
    assert_uniform("the third copy of another", &uneven.count(1_500, &third, 0, is_near));
}

/// A DataNode of the rack of the second replica was not looked for there alone.
#[test]
fn a_replica_that_finds_no_place_in_a_rack_is_placed_anywhere() {
    let mut uneven = Uneven::new();
    // Of the first rack only dn0 is left.
    (1..IN_RACK).for_each(|index| fill(&mut uneven.cluster, index));
    let local = request("10.0.0.0", 2);
    let counts = uneven.count(8_000, &local, 1, |index| index >= IN_RACK);
    assert_uniform("the second replica", &counts);
    fill(&mut uneven.cluster, 0);
    let counts = uneven.count(8_000, &request("10.0.0.0", 1), 0, |index| index >= IN_RACK);
    assert_uniform("the first replica", &counts);
}

#[test]
fn each_storage_with_room_is_as_likely_as_any_other() {
    let mut cluster = Cluster::new(&["/a"]);
    let full = |at: usize| (2..5).contains(&at);
    let disks: Vec<StorageReport> = (0..8)
        .map(|at| StorageReport {
            id: storage(at),
            remaining: if full(at) { 0 } else { 50 * GB },
            ..disk(0)
        })
        .collect();
    cluster.blocks.heartbeat("uuid-0", Heartbeat::default(), &disks, cluster.now, &|_| 0);
    let mut counts = BTreeMap::new();
    for _ in 0..5_000 {
        *counts.entry(cluster.blocks.choose_targets(&request("x", 1)).unwrap()[0]).or_insert(0) +=
            1;
    }
    assert_eq!(counts.len(), 5);
    assert_uniform("storages", &counts.into_values().collect::<Vec<u64>>());
}

#[test]
fn each_replica_is_as_likely_to_be_the_source_of_a_copy_or_the_first_for_a_reader() {
    let mut cluster = Cluster::new(&["/a"; 8]);
    let block = cluster.written(1, 5, &[0, 1, 3, 6, 7]);
    cluster.blocks.datanode_manager().remove("uuid-3");
    let (mut sources, mut first) = (BTreeMap::new(), BTreeMap::new());
    let storages: Vec<StorageIdx> = [0, 1, 3, 6, 7].map(|index| cluster.disk_of(index)).into();
    for _ in 0..4_000 {
        let random = SplitMix64::new(first.values().sum());
        let replicas = cluster.blocks.replicas();
        let source = replicas.nodes.choose_source(&storages, 2, || random.next());
        *sources.entry(source.unwrap()).or_insert(0) += 1;
        let located = cluster.blocks.lookup().locations(block.id, "elsewhere").unwrap();
        *first.entry(located.replicas[0].storage).or_insert(0) += 1;
    }
    assert_eq!((sources.len(), first.len()), (4, 4));
    assert_uniform("sources", &sources.into_values().collect::<Vec<u64>>());
    assert_uniform("readers", &first.into_values().collect::<Vec<u64>>());
}

/// A client of WebHDFS was always sent to the first DataNode in service if the cluster was full.
#[test]
fn each_datanode_in_service_is_as_likely_to_be_any() {
    let uneven = Uneven::new();
    let mut counts = BTreeMap::new();
    for _ in 0..8_000 {
        let found = uneven.cluster.blocks.datanodes().any_in_service(&uneven.excluded).unwrap();
        *counts.entry(found.uuid.clone()).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), RACKS * 34, "a full one serves reads");
    assert_uniform("any", &counts.into_values().collect::<Vec<u64>>());
}

/// A choice walked from a random start to the next acceptable DataNode, over the whole rack of the writer or farther.
/// Before that each placement summed up the load of all DataNodes.
#[test]
fn a_choice_judges_few_of_many_datanodes() {
    let racks: Vec<String> = (0..4_000).map(|index| format!("/rack{}", index / 400)).collect();
    let racks: Vec<&str> = racks.iter().map(String::as_str).collect();
    let mut cluster = Cluster::new(&racks);
    let judged = |cluster: &Cluster, times: usize| {
        let count = || {
            let nodes = cluster.blocks.replicas().nodes;
            nodes.judged.load(std::sync::atomic::Ordering::Relaxed)
        };
        let before = count();
        for _ in 0..times {
            assert_eq!(cluster.blocks.choose_targets(&request("10.0.0.7", 3)).unwrap().len(), 3);
        }
        (count() - before) / times
    };
    assert!(judged(&cluster, 100) <= 4);
    // Nine in ten are full.
    (0..4_000).filter(|index| index % 10 > 0).for_each(|index| fill(&mut cluster, index));
    let mean = judged(&cluster, 300);
    assert!(mean <= 50, "{mean}: about 10 for each of three replicas, and 1 for the writer's own");
}

/// A choice used to judge every DataNode if the policy asked for a storage type that few have.
#[test]
fn datanodes_without_the_wanted_storage_type_are_not_judged() {
    let mut cluster = Cluster::new(&["/a", "/a", "/b", "/b", "/c", "/c"]);
    cluster.beat_on(4, StorageType::Ssd, Heartbeat::default());
    let all_ssd = PlacementRequest { storage_policy: 12, ..request("elsewhere", 1) };
    let judged = |cluster: &Cluster| {
        let nodes = cluster.blocks.replicas().nodes;
        nodes.judged.load(std::sync::atomic::Ordering::Relaxed)
    };
    let before = judged(&cluster);
    assert_eq!(cluster.choose(all_ssd), ["dn4"]);
    assert_eq!(judged(&cluster), before + 1);
}
