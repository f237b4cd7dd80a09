//! Leases for full block reports.

use crate::harness::*;
use zerohop_proto::hdfs::datanode as dn;
use zerohop_proto::hdfs::datanode::datanode_command_proto::Type;
use zerohop_proto::hdfs::{DatanodeStorageProto, StorageReportProto};
use zerohop_wire::JavaException;

async fn lease(datanode: &FakeDatanode) -> u64 {
    let q = dn::HeartbeatRequestProto {
        registration: datanode.registration.clone(),
        request_full_block_report_lease: Some(true),
        ..dn::HeartbeatRequestProto::default()
    };
    let answer: dn::HeartbeatResponseProto = call(&datanode.client, "sendHeartbeat", q).await;
    answer.full_block_report_lease_id()
}

/// The report was taken for sent, and the blocks were missing until the next one, hours later: after a long start and a failover
/// (HDFS-14208).
#[tokio::test(flavor = "multi_thread")]
async fn a_datanode_is_told_that_the_lease_of_its_full_report_ran_out_and_reports_again() {
    let harness = Harness::start().await;
    let datanode = join(&harness).await;
    let report = |lease: u64| dn::BlockReportRequestProto {
        registration: datanode.registration.clone(),
        block_pool_id: datanode.pool.clone(),
        reports: Vec::new(),
        context: Some(dn::BlockReportContextProto {
            total_rpcs: 1,
            cur_rpc: 0,
            id: 7,
            lease_id: Some(lease),
        }),
    };
    let old = lease(&datanode).await;
    // As after its time: another one has taken its place.
    let new = lease(&datanode).await;
    let late = report(old);
    let refused = datanode.client.call::<_, dn::BlockReportResponseProto>("blockReport", &late);
    assert_eq!(kind(refused.await.unwrap_err()), Some(JavaException::InvalidBlockReportLease));
    let _: dn::BlockReportResponseProto = call(&datanode.client, "blockReport", report(new)).await;
    harness.node.stop().await;
}

/// A DataNode deleted what it kept from before an upgrade while a storage had not reported: that may hold the only replicas left.
#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_was_finalized_before_all_storages_had_reported() {
    let harness = Harness::start().await;
    let datanode = join(&harness).await;
    let storage = |id: &str| DatanodeStorageProto {
        storage_uuid: id.to_owned(),
        ..DatanodeStorageProto::default()
    };
    let report = |id: &str| StorageReportProto {
        storage_uuid: id.to_owned(),
        storage: Some(storage(id)),
        ..StorageReportProto::default()
    };
    let beat = dn::HeartbeatRequestProto {
        registration: datanode.registration.clone(),
        reports: vec![report("DS-1"), report("DS-2")],
        ..dn::HeartbeatRequestProto::default()
    };
    let _: dn::HeartbeatResponseProto = call(&datanode.client, "sendHeartbeat", beat).await;
    let mut answers = Vec::new();
    for id in ["DS-1", "DS-2"] {
        let blocks = dn::StorageBlockReportProto {
            storage: storage(id),
            number_of_blocks: Some(0),
            ..dn::StorageBlockReportProto::default()
        };
        let q = dn::BlockReportRequestProto {
            registration: datanode.registration.clone(),
            block_pool_id: datanode.pool.clone(),
            reports: vec![blocks],
            context: None,
        };
        let answer: dn::BlockReportResponseProto = call(&datanode.client, "blockReport", q).await;
        answers.push(answer.cmd.map(|command| command.cmd_type()));
    }
    assert_eq!(answers, [None, Some(Type::FinalizeCommand)]);
    harness.node.stop().await;
}
