//! What DataNodes find slow, as they say it in heartbeats.

use tokio::runtime::Runtime;
use zerohop_interop::Outcome;
use zerohop_interop::cluster::Cluster;
use zerohop_interop::harm::Explain;
use zerohop_proto::hdfs::datanode::{
    DatanodeRegistrationProto, HeartbeatRequestProto, HeartbeatResponseProto, SlowDiskReportProto,
    SlowPeerReportProto,
};
use zerohop_proto::hdfs::{
    DatanodeReportTypeProto, GetDatanodeStorageReportRequestProto,
    GetDatanodeStorageReportResponseProto,
};
use zerohop_proto::hdfs::{VersionRequestProto, VersionResponseProto};
use zerohop_transport::login::User;
use zerohop_transport::rpc::{ClientOptions, RpcClient};

const CLIENT: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
const DATANODE: &str = "org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol";

/// One more heartbeat in the name of a DataNode: it finds another one slow, and a disk of its own.
pub fn report_slow(cluster: &Cluster, reporter: usize, slow: usize, disk: &str) -> Outcome {
    let runtime = Runtime::new().at("a runtime")?;
    let _inside = runtime.enter();
    let namenode = format!("127.0.0.1:{}", cluster.site.rpc_port);
    let user = User::of_process();
    let rpc =
        |protocol| RpcClient::new(namenode.clone(), protocol, 1, &user, ClientOptions::default());
    let (client, datanode) = (rpc(CLIENT), rpc(DATANODE));
    let version: VersionResponseProto = runtime
        .block_on(datanode.call("versionRequest", &VersionRequestProto {}))
        .at("the version")?;
    let live =
        GetDatanodeStorageReportRequestProto { r#type: DatanodeReportTypeProto::Live.into() };
    let live: GetDatanodeStorageReportResponseProto =
        runtime.block_on(client.call("getDatanodeStorageReport", &live)).at("the storages")?;
    let port = u32::from(cluster.site.data_ports[reporter]);
    let mut reports = live.datanode_storage_reports.into_iter();
    let this = reports.find(|one| one.datanode_info.id.xfer_port == port).ok_or("no reporter")?;
    let beat = HeartbeatRequestProto {
        registration: DatanodeRegistrationProto {
            datanode_id: this.datanode_info.id,
            storage_info: version.info.storage_info,
            software_version: version.info.software_version,
            ..DatanodeRegistrationProto::default()
        },
        reports: this.storage_reports,
        slow_peers: vec![SlowPeerReportProto {
            data_node_id: Some(cluster.datanode_address(slow)),
            aggregate_latency: Some(345.5),
            median: Some(2.25),
            mad: Some(0.5),
            upper_limit_latency: Some(6.75),
        }],
        slow_disks: vec![SlowDiskReportProto {
            base_path: Some(disk.to_owned()),
            mean_write_io_latency: Some(123.25),
            ..SlowDiskReportProto::default()
        }],
        ..HeartbeatRequestProto::default()
    };
    let _: HeartbeatResponseProto =
        runtime.block_on(datanode.call("sendHeartbeat", &beat)).at("a heartbeat")?;
    Ok(())
}
