//! Where new replicas go, and which one a reader is sent to.

use super::*;

fn refusals(cluster: &Cluster, request: &PlacementRequest<'_>) -> Vec<String> {
    unplaced::refusals(&cluster.blocks.placement(), request)
}

#[test]
fn the_writers_node_comes_first_and_two_racks_are_used() {
    let cluster = Cluster::new(&["/a", "/a", "/b", "/b", "/c"]);
    for _ in 0..50 {
        let chosen = cluster.choose(request("10.0.0.1", 3));
        assert_eq!(chosen.len(), 3);
        assert_eq!(chosen[0], "dn1");
        let rack = |host: &str| match host {
            "dn0" | "dn1" => "a",
            "dn2" | "dn3" => "b",
            _ => "c",
        };
        assert!(chosen.iter().any(|host| rack(host) != "a"), "{chosen:?}");
        let mut distinct = chosen.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), 3);
    }
}

#[test]
fn excluded_nodes_are_left_out_and_favored_ones_preferred() {
    let cluster = Cluster::new(&["/a"; 4]);
    let excluded = ["uuid-0".to_owned(), "uuid-1".to_owned()];
    let mut chosen =
        cluster.choose(PlacementRequest { excluded: &excluded, ..request("10.0.0.0", 3) });
    chosen.sort();
    assert_eq!(chosen, ["dn2", "dn3"]);
    let favored = ["10.0.0.3:9866".to_owned()];
    assert_eq!(
        cluster.choose(PlacementRequest { favored: &favored, ..request("elsewhere", 1) }),
        ["dn3"]
    );
}

/// The number comes from a client: memory for as many was asked for before.
#[test]
fn a_pipeline_gets_no_more_nodes_than_there_are() {
    let cluster = Cluster::new(&["/a"; 4]);
    let found = cluster.blocks.choose_more_targets(&request("10.0.0.0", usize::MAX));
    assert_eq!(found.len(), 4);
}

#[test]
fn without_datanodes_the_error_is_hadoops() {
    let cluster = Cluster::new(&[]);
    let error = cluster.blocks.choose_targets(&request("x", 3)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "File /f could only be written to 0 of the 1 minReplication nodes. There are 0 datanode(s) running and no node(s) \
         are excluded in this operation."
    );
}

#[test]
fn the_nearest_replica_comes_first() {
    let mut cluster = Cluster::new(&["/a", "/a", "/b", "/b"]);
    let block = cluster.written(1, 3, &[1, 2, 3]);
    for _ in 0..20 {
        let hosts = |client: &str| -> Vec<String> {
            let found = cluster.blocks.lookup().locations(block.id, client).unwrap();
            found.replicas.iter().map(|replica| replica.node.id.host.clone()).collect()
        };
        assert_eq!(hosts("10.0.0.3")[..2], ["dn3", "dn2"]);
        assert_eq!(hosts("10.0.0.0")[0], "dn1");
        assert_eq!(hosts("dn2")[0], "dn2");
    }
}

#[test]
fn a_refused_block_names_each_datanode_and_its_reason() {
    let mut cluster = Cluster::new(&["/a"; 3]);
    let excluded = ["uuid-1".to_owned()];
    let wanted =
        PlacementRequest { excluded: &excluded, block_size: 51 * GB, ..request("10.0.0.0", 1) };
    assert!(cluster.blocks.choose_targets(&wanted).is_err());
    let roomless = "not enough storage space: 53687091200 bytes at most on one volume, 0 block(s) on their way";
    let reasons = refusals(&cluster, &wanted);
    assert_eq!(reasons[0], format!("10.0.0.0:9866 ({roomless})"));
    assert_eq!(reasons[1], "10.0.0.1:9866 (excluded by the client, or holds the block)");
    assert_eq!(reasons[2], format!("10.0.0.2:9866 ({roomless})"));
    cluster.pass(11 * 60 * 1000);
    assert_eq!(refusals(&cluster, &wanted)[0], "10.0.0.0:9866 (not in service)");
    let cold = PlacementRequest { storage_policy: 12, ..request("10.0.0.0", 1) };
    let cluster = Cluster::new(&["/a"]);
    assert!(cluster.blocks.choose_targets(&cold).is_ok(), "DISK stands in");
    let only_memory =
        refusals(&cluster, &PlacementRequest { storage_policy: 2, ..request("10.0.0.0", 1) });
    assert_eq!(only_memory, ["10.0.0.0:9866 (no usable volume of type ARCHIVE)"]);
}

/// Which volume takes a block is the DataNode's choice.
#[test]
fn a_block_on_another_volume_than_the_one_named_has_arrived() {
    let mut cluster = Cluster::new(&["/a"]);
    let disks = [disk(0), StorageReport { id: storage(1), ..disk(0) }];
    let beat = |cluster: &mut Cluster, remaining: u64| {
        let disks = disks.clone().map(|disk| StorageReport { remaining, ..disk });
        cluster.blocks.heartbeat("uuid-0", Heartbeat::default(), &disks, cluster.now, &|_| 0);
    };
    beat(&mut cluster, 50 * GB);
    let mut volumes = std::collections::BTreeSet::new();
    for id in 0..20 {
        cluster.blocks.put_under_construction(block(id, 0), FILE, 1);
        let targets = cluster.blocks.choose_targets(&request("10.0.0.0", 1)).unwrap();
        cluster.blocks.under_construction().set_targets(BlockId(id), &targets);
        volumes.extend(targets);
        cluster.received(0, block(id, 10));
        assert!(cluster.blocks.commit(block(id, 10)).unwrap());
    }
    assert_eq!(volumes.len(), 2, "either was named");
    assert_eq!(cluster.blocks.datanodes().reports(NodeFilter::All)[0].scheduled_blocks, 0);
    // Room for one block on each.
    beat(&mut cluster, GB);
    let gigabyte = PlacementRequest { block_size: GB, ..request("10.0.0.0", 1) };
    for id in [20, 21] {
        let targets = cluster.blocks.choose_targets(&gigabyte).unwrap();
        cluster.blocks.put_under_construction(block(id, 0), FILE, 1);
        cluster.blocks.under_construction().set_targets(BlockId(id), &targets);
    }
    assert!(cluster.blocks.choose_targets(&gigabyte).is_err());
}

/// What will never arrive must not take the room of what could (Hadoop forgets it after 10 to 20 minutes).
#[test]
fn room_is_kept_only_for_blocks_that_are_on_their_way() {
    let mut cluster = Cluster::new(&["/a"; 4]);
    let scheduled = |cluster: &Cluster| -> Vec<u64> {
        let reports = cluster.blocks.datanodes().reports(NodeFilter::All);
        reports.iter().map(|report| report.scheduled_blocks).collect()
    };
    let sum = |cluster: &Cluster| scheduled(cluster).iter().sum::<u64>();
    cluster.blocks.put_under_construction(block(1, 0), FILE, 3);
    let targets = cluster.blocks.choose_targets(&request("10.0.0.0", 3)).unwrap();
    cluster.blocks.under_construction().set_targets(BlockId(1), &targets);
    assert_eq!(sum(&cluster), 3);
    let place = |target: &StorageIdx| {
        let host = &cluster.blocks.datanodes().locations(&[*target])[0].node.id.host;
        host.trim_start_matches("dn").parse::<usize>().unwrap()
    };
    let places: Vec<usize> = targets.iter().map(place).collect();
    let stamp = GenerationStamp(1002);
    cluster.blocks.update_pipeline(BlockId(1), stamp, 0, &targets[..2]).unwrap();
    assert_eq!(scheduled(&cluster)[places[2]], 0, "the pipeline goes on without it");
    assert_eq!(sum(&cluster), 2);
    let stamp = GenerationStamp(1003);
    cluster.blocks.update_pipeline(BlockId(1), stamp, 0, &targets).unwrap();
    assert_eq!(sum(&cluster), 3, "it joins again");
    let stamp = GenerationStamp(1004);
    assert!(cluster.blocks.begin_recovery(BlockId(1), stamp, None).unwrap());
    cluster.blocks.end_recovery(BlockId(1), stamp, 10, &targets[..1]).unwrap();
    assert_eq!(sum(&cluster), 1, "recovered without two of them");
    let recovered = Block { stamp, ..block(1, 10) };
    cluster.received(places[0], recovered);
    assert!(cluster.blocks.commit(recovered).unwrap());
    assert_eq!(sum(&cluster), 0);

    cluster.pass(3_000);
    (0..4).for_each(|index| _ = cluster.beat(index));
    assert_eq!(sum(&cluster), 2, "copies are ordered");
    cluster.pass(6 * 60_000);
    (0..4).for_each(|index| _ = cluster.beat(index));
    assert_eq!(sum(&cluster), 2, "they were late, and are ordered once more");
    cluster.blocks.remove(BlockId(1));
    assert_eq!(sum(&cluster), 0, "nothing of a deleted block will come");
}

/// Readers were sent to a DataNode as before that all others had found to be slow.
#[test]
fn slow_datanodes_are_listed_last_and_avoided_if_so_configured() {
    let params = BlockParams {
        avoid_slow_for_write: true,
        safemode_extension_ms: 0,
        ..BlockParams::default()
    };
    let mut cluster = Cluster::with(&["/a", "/a", "/a", "/a"], params);
    let block = cluster.written(1, 3, &[0, 1, 2]);
    let peer =
        |name: &str| vec![(name.to_owned(), PeerLatency { mean_ms: 90.0, ..Default::default() })];
    cluster.blocks.datanode_manager().report_slow("uuid-0", &peer("10.0.0.1:9866"), Vec::new());
    cluster.blocks.datanode_manager().report_slow("uuid-2", &peer("10.0.0.77:9866"), Vec::new());
    assert!(cluster.blocks.datanodes().is_slow("uuid-1"));
    let found = cluster.blocks.datanodes().slow_peers(5);
    assert_eq!((found.len(), found[0].node.as_str()), (1, "10.0.0.1:9866"));
    for _ in 0..20 {
        let located = cluster.blocks.lookup().locations(block.id, "elsewhere").unwrap();
        assert_eq!(located.replicas.last().unwrap().node.id.host, "dn1");
        let chosen = cluster.choose(request("elsewhere", 3));
        assert!(!chosen.contains(&"dn1".to_owned()), "{chosen:?}");
    }
    cluster.pass(3 * 1_800_000);
    assert!(!cluster.blocks.datanodes().is_slow("uuid-1"), "the report is old");
}

fn rack_of_dn(host: &str) -> &'static str {
    match host {
        "dn0" | "dn1" | "dn2" => "/a",
        "dn3" | "dn4" | "dn5" => "/b",
        _ => "/c",
    }
}

fn three_racks(params: BlockParams) -> Cluster {
    let racks = ["/a", "/a", "/a", "/b", "/b", "/b", "/c", "/c", "/c"];
    Cluster::with(&racks, BlockParams { safemode_extension_ms: 0, ..params })
}

/// The first replica of such a writer was placed anywhere, although Apache's NameNode looks for its rack.
#[test]
fn a_client_that_is_no_datanode_writes_and_reads_in_its_rack() {
    let mut cluster = three_racks(BlockParams::default());
    let block = cluster.written(1, 3, &[0, 3, 4]);
    for rack in ["/a", "/b", "/c"] {
        for _ in 0..50 {
            let wanted = PlacementRequest { client_rack: Some(rack), ..request("10.9.9.9", 3) };
            let chosen = cluster.choose(wanted);
            assert_eq!(rack_of_dn(&chosen[0]), rack, "{chosen:?}");
            assert_ne!(rack_of_dn(&chosen[1]), rack, "{chosen:?}");
            assert_eq!(rack_of_dn(&chosen[1]), rack_of_dn(&chosen[2]), "{chosen:?}");
            let client = ClientLocation { host: "10.9.9.9", rack: Some(rack) };
            let found = cluster.blocks.lookup().locations(block.id, client).unwrap().replicas;
            let racks: Vec<&str> =
                found.iter().map(|replica| rack_of_dn(&replica.node.id.host)).collect();
            match rack {
                "/a" => assert_eq!(racks, ["/a", "/b", "/b"]),
                "/b" => assert_eq!(racks, ["/b", "/b", "/a"]),
                _ => {}
            }
        }
    }
    let nowhere = PlacementRequest { client_rack: Some("/z"), ..request("10.9.9.9", 3) };
    assert_eq!(cluster.choose(nowhere).len(), 3);
}

/// The first replica of a writer whose own DataNode was full was placed anywhere.
#[test]
fn a_replica_that_the_writers_datanode_cannot_take_goes_to_its_rack() {
    let mut cluster = three_racks(BlockParams::default());
    let report = StorageReport { remaining: 0, ..disk(4) };
    cluster.blocks.heartbeat("uuid-4", Heartbeat::default(), &[report], cluster.now, &|_| 0);
    let excluded = ["uuid-0".to_owned()];
    for _ in 0..50 {
        let full = cluster.choose(request("10.0.0.4", 3));
        assert_eq!(rack_of_dn(&full[0]), "/b", "{full:?}");
        let refused = PlacementRequest { excluded: &excluded, ..request("10.0.0.0", 3) };
        let elsewhere = cluster.choose(refused);
        assert_eq!(rack_of_dn(&elsewhere[0]), "/a", "{elsewhere:?}");
        let avoided = PlacementRequest { avoid_local: true, ..request("10.0.0.7", 3) };
        let beside = cluster.choose(avoided);
        assert_eq!(rack_of_dn(&beside[0]), "/c", "{beside:?}");
        assert!(!beside.contains(&"dn7".to_owned()), "{beside:?}");
    }
}

/// Such a writer got one replica less, although its own DataNode had room (`NO_LOCAL_WRITE` is a wish).
#[test]
fn the_writers_datanode_is_used_after_all_if_no_others_are_left() {
    let cluster = Cluster::new(&["/a", "/b"]);
    let avoided = PlacementRequest { avoid_local: true, ..request("10.0.0.0", 2) };
    assert_eq!(cluster.choose(avoided), ["dn0", "dn1"]);
    let alone = Cluster::new(&["/a"]);
    assert_eq!(
        alone.choose(PlacementRequest { avoid_local: true, ..request("10.0.0.0", 1) }),
        ["dn0"]
    );
}

/// A busy DataNode used to refuse the first replica of a writer on its own host. Hadoop ignores the load there.
#[test]
fn the_writers_datanode_may_be_busy() {
    let mut cluster = Cluster::new(&["/a"; 4]);
    cluster.beat_with(2, Heartbeat { xceivers: 100, ..Heartbeat::default() });
    for _ in 0..20 {
        assert_eq!(cluster.choose(request("10.0.0.2", 3))[0], "dn2");
        assert!(!cluster.choose(request("elsewhere", 3)).contains(&"dn2".to_owned()));
    }
}

/// With `dfs.namenode.avoid.write.stale.datanode` writes failed while every DataNode was stale, as after a pause of the
/// NameNode.
#[test]
fn writes_use_stale_datanodes_if_there_are_no_others() {
    let params = BlockParams { avoid_stale_for_write: true, ..BlockParams::default() };
    let mut cluster = three_racks(params.clone());
    cluster.pass(31_000);
    assert_eq!(cluster.choose(request("10.0.0.0", 3)).len(), 3, "all of them are stale");

    // Four of nine are no more than the half of them.
    (4..9).for_each(|index| _ = cluster.beat(index));
    cluster.pass(1);
    let fresh = |host: &String| ["dn4", "dn5", "dn6", "dn7", "dn8"].contains(&host.as_str());
    for _ in 0..50 {
        let chosen = cluster.choose(request("10.0.0.0", 3));
        assert!(chosen.iter().all(fresh), "{chosen:?}");
        let chosen = cluster.choose(request("elsewhere", 7));
        assert_eq!((chosen.len(), chosen.iter().filter(|host| fresh(host)).count()), (7, 5));
    }

    // Of nine six are too many to avoid.
    cluster.pass(31_000);
    (6..9).for_each(|index| _ = cluster.beat(index));
    cluster.pass(1);
    assert_eq!(cluster.choose(request("10.0.0.0", 3))[0], "dn0");

    // A larger ratio avoids them, as far as a rack may have two of three replicas.
    let params = BlockParams { stale_for_write_ratio: 0.9, safemode_extension_ms: 0, ..params };
    cluster.blocks.set_params(params);
    for _ in 0..50 {
        let chosen = cluster.choose(request("10.0.0.0", 3));
        let fresh = chosen.iter().filter(|host| rack_of_dn(host) == "/c").count();
        assert_eq!(fresh, 2, "{chosen:?}");
    }
}
