//! Leases for full block reports.

use crate::harness::*;
use zerohop_proto::hdfs::datanode as dn;
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
