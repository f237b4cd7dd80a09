//! Figures of two readings of a NameNode and a DataNode of Apache Hadoop 3.4.3, recorded from their `/jmx` with eleven seconds and
//! a write and a read between them; beans that are not read here are left out.

use crate::beans::Beans;
use crate::figures::Figures;
use crate::history::History;
use crate::sample::{DataNodeAnswer, NameNodeAnswer, Sample};
use crate::text;

fn sample(at_ms: u64, namenode: &str, datanode: &str) -> Sample {
    let beans = |page: &str| Beans::parse(page.as_bytes()).map_err(|error| error.to_string());
    Sample {
        at_ms,
        namenodes: vec![NameNodeAnswer {
            address: "127.0.0.1:19870".to_owned(),
            id: String::new(),
            beans: beans(namenode),
        }],
        datanodes: vec![DataNodeAnswer {
            name: "localhost:19866".to_owned(),
            beans: beans(datanode),
        }],
    }
}

fn first() -> Sample {
    sample(
        0,
        include_str!("../testdata/namenode-1.json"),
        include_str!("../testdata/datanode-1.json"),
    )
}

fn second() -> Sample {
    sample(
        11_000,
        include_str!("../testdata/namenode-2.json"),
        include_str!("../testdata/datanode-2.json"),
    )
}

fn both() -> Figures {
    let mut history = History::default();
    history.take(&first());
    assert!(!history.is_settled());
    let figures = history.take(&second());
    assert!(history.is_settled());
    figures
}

#[test]
fn the_cluster_and_its_data_nodes() {
    assert_eq!(
        first().datanode_addresses(),
        [("localhost:19866".to_owned(), "127.0.0.1:19864".to_owned())]
    );
    let figures = both();
    assert_eq!(figures.shown.as_deref(), Some("127.0.0.1:19870"));
    assert_eq!(figures.name_nodes[0].state.as_deref(), Some("active"));
    let cluster = &figures.cluster;
    assert_eq!((cluster.used, cluster.capacity), (Some(1_258_556), Some(541_106_348_032)));
    assert_eq!(
        (cluster.files, cluster.blocks, cluster.under_replicated_blocks),
        (Some(5), Some(4), Some(4))
    );
    assert_eq!(
        (cluster.missing_blocks, cluster.corrupt_blocks, cluster.safe_mode.as_ref()),
        (Some(0), Some(0), None)
    );
    assert_eq!((cluster.live_data_nodes, cluster.dead_data_nodes), (Some(1), Some(0)));
    let [node] = &figures.data_nodes[..] else { panic!("{:?}", figures.data_nodes) };
    assert_eq!(
        (&*node.name, &*node.state, &*node.rack),
        ("localhost:19866", "In Service", "/default-rack")
    );
    assert_eq!(
        (node.used, node.blocks, node.xceivers, node.failed_volumes),
        (1_258_556, 4, Some(0), 0)
    );
    assert_eq!((&*node.version, node.problem.as_ref()), ("3.4.3", None));
}

#[test]
fn calls_by_kind_and_by_user() {
    let figures = both();
    let calls = &figures.calls;
    // 39 and 61 calls in all.
    assert_eq!((calls.per_second, calls.seconds), (Some(2.0), Some(11.0)));
    assert_eq!((calls.queue_length, calls.connections, calls.has_kinds), (Some(0), Some(1), true));
    let of = |kind: &str| calls.kinds.iter().find(|known| known.kind == kind);
    let heartbeats = of("SendHeartbeat").unwrap();
    assert_eq!((heartbeats.calls, heartbeats.per_second), (18, Some(9.0 / 11.0)));
    assert_eq!(calls.kinds[0].kind, "SendHeartbeat");
    // There was none before the first reading.
    let located = of("GetBlockLocations").unwrap();
    assert_eq!(
        (located.calls, located.per_second, located.mean_ms),
        (1, Some(1.0 / 11.0), Some(15.0))
    );
    // Each call is in a second counter, from its arrival on.
    assert!(calls.kinds.iter().all(|kind| !kind.kind.starts_with("Overall")));
    let users = figures.users.unwrap();
    let [ann] = &users.users[..] else { panic!("{users:?}") };
    assert_eq!((users.window_s, &*ann.user, ann.calls, ann.per_second), (60.0, "ann", 24, 0.4));
    assert_eq!(ann.kinds[0], ("getfileinfo".to_owned(), 15));
    assert_eq!(figures.directories, None);
}

#[test]
fn bytes_and_disks() {
    let figures = both();
    let [traffic] = &figures.traffic[..] else { panic!("{:?}", figures.traffic) };
    assert_eq!(traffic.local_write, Some(300_000.0 / 11.0));
    assert_eq!(traffic.local_read, Some(302_344.0 / 11.0));
    assert_eq!((traffic.remote_read, traffic.remote_write), (Some(0.0), Some(0.0)));
    assert_eq!(traffic.short_circuit, None);
    let [one, two] = &figures.disks[..] else { panic!("{:?}", figures.disks) };
    assert_eq!((&*one.volume, &*two.volume), ("/data/d0", "/data/d1"));
    assert_eq!(
        (one.used, one.blocks, one.storage_type.as_deref()),
        (Some(629_278), Some(2), Some("DISK"))
    );
    assert_eq!((one.read_ms, two.read_ms, two.sync_ms), (None, Some(0.0), None));
    assert!((two.write_ms.unwrap() - 0.1).abs() < 1e-9);
    assert_eq!((two.errors, two.is_slow), (Some(0), false));
}

#[test]
fn slow_disks_and_peers_are_marked() {
    let page = include_str!("../testdata/namenode-2.json").replace(
        r#""SlowDisksReport": null"#,
        r#""SlowDisksReport": "[{\"SlowDiskID\":\"127.0.0.1:19867:/data/d1/\",\"Latencies\":{\"WRITE\":50.0}}]""#,
    );
    let figures =
        History::default().take(&sample(0, &page, include_str!("../testdata/datanode-2.json")));
    let slow: Vec<bool> = figures.disks.iter().map(|disk| disk.is_slow).collect();
    assert_eq!(slow, [false, true]);
}

#[test]
fn what_apache_does_not_serve_is_said() {
    let screen = text::screen(&both());
    for said in [
        "NameNode 127.0.0.1:19870: active",
        "Safe mode off",
        "Directories: Hot directories: not served by this NameNode.",
        "not served by these DataNodes",
        "Rates are over 11.0 s.",
        "  localhost:19866  In Service",
    ] {
        assert!(screen.contains(said), "{said} in:\n{screen}");
    }
}

#[test]
fn a_namenode_that_is_gone_leaves_its_problem() {
    let mut history = History::default();
    history.take(&first());
    let mut gone = second();
    gone.namenodes[0].beans = Err("Connection refused".to_owned());
    let figures = history.take(&gone);
    assert_eq!((figures.shown.as_ref(), figures.data_nodes.len()), (None, 0));
    assert_eq!(
        text::screen(&figures).lines().next(),
        Some("NameNode 127.0.0.1:19870: Connection refused")
    );
    // Of another NameNode, nothing is compared with the first one's counters.
    let mut other = second();
    other.namenodes[0].address = "127.0.0.1:29870".to_owned();
    assert_eq!(history.take(&other).calls.per_second, None);
}

/// Pages that are not as they should be are no reason to end.
#[test]
fn beans_of_other_shapes_are_passed_over() {
    for page in [
        r#"{"beans":[]}"#,
        r#"{"beans":[{"name":"Hadoop:service=NameNode,name=NameNodeStatus","State":"active"},
            {"name":"Hadoop:service=NameNode,name=NameNodeInfo","LiveNodes":"[]","DeadNodes":"{\"x\":7}","Total":-1},
            {"name":"Hadoop:service=NameNode,name=FSNamesystemState","TopUserOpCounts":"{\"windows\":[{}]}"},
            {"name":"Hadoop:service=NameNode,name=RpcDetailedActivityForPort1","xNumOps":"y"},
            {"name":"Hadoop:service=NameNode,name=HotDirectories","WindowLenMs":1,"Directories":[1,{"path":2}]}]}"#,
    ] {
        let figures = History::default().take(&sample(0, page, page));
        text::screen(&figures);
        serde_json::to_string(&figures).unwrap();
    }
}
