//! Where new replicas go, and which one a reader is sent to.

use super::*;

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

#[test]
fn without_datanodes_the_error_is_hadoops() {
    let cluster = Cluster::new(&[]);
    let error = cluster.blocks.choose_targets(&request("x", 3)).unwrap_err();
    assert_eq!(
        error.message,
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
            let found = cluster.blocks.locations(block.id, client).unwrap();
            found.replicas.iter().map(|replica| replica.node.id.host.clone()).collect()
        };
        assert_eq!(hosts("10.0.0.3")[..2], ["dn3", "dn2"]);
        assert_eq!(hosts("10.0.0.0")[0], "dn1");
        assert_eq!(hosts("dn2")[0], "dn2");
    }
}
