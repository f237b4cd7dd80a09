//! The hosts file of JSON: DataNodes in maintenance.

use crate::harness::*;
use zerohop_proto::hdfs::datanode_info_proto::AdminState;
use zerohop_proto::hdfs::*;
use zerohop_transport::rpc::RpcClient;

async fn state(client: &RpcClient) -> AdminState {
    let q = GetDatanodeReportRequestProto { r#type: DatanodeReportTypeProto::All.into() };
    let nodes = call::<GetDatanodeReportResponseProto>(client, "getDatanodeReport", q).await.di;
    nodes[0].admin_state()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_datanode_goes_into_maintenance_and_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("dfs.hosts.json");
    let write = |state: &str| {
        let entry = format!(
            "{{\"hostName\": \"127.0.0.1\", \"upgradeDomain\": \"ud7\", \"adminState\": \"{state}\"}}"
        );
        std::fs::write(&file, format!("[{entry}]")).unwrap();
    };
    write("NORMAL");
    let class = "org.apache.hadoop.hdfs.server.blockmanagement.CombinedHostFileManager";
    let settings = [
        ("dfs.hosts", file.to_str().unwrap()),
        ("dfs.namenode.hosts.provider.classname", class),
        // A file with one replica needs none while its DataNode is away.
        ("dfs.namenode.maintenance.replication.min", "0"),
    ];
    let harness = Harness::with(&settings).await;
    let (client, datanode) = (harness.superuser(), join(&harness).await);
    let block = finished_file(&client, &datanode, "/f").await;
    datanode.full_report(&[block]).await;
    for (wanted, expected) in [
        ("IN_MAINTENANCE", AdminState::InMaintenance),
        ("NORMAL", AdminState::Normal),
        ("DECOMMISSIONED", AdminState::DecommissionInprogress),
    ] {
        write(wanted);
        let _: RefreshNodesResponseProto =
            call(&client, "refreshNodes", RefreshNodesRequestProto {}).await;
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while state(&client).await != expected {
            assert!(std::time::Instant::now() < deadline, "{:?}", state(&client).await);
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
    let check = "/fsck?path=/f&files=1&blocks=1&upgradedomains=1";
    assert!(harness.page(check).await.contains("(ud=ud7)"));
    harness.node.stop().await;
}
