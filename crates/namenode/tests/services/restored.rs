//! DataNodes with more, or other, replicas than the NameNode knows of.

use crate::harness::*;
use std::path::Path;
use zerohop_proto::hdfs::datanode as dn;
use zerohop_proto::hdfs::*;
use zerohop_wire::JavaException;

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Ids of the blocks that the DataNode is told to delete.
async fn told_to_delete(datanode: &FakeDatanode) -> Vec<u64> {
    let commands = datanode.beat().await.cmds.into_iter().filter_map(|command| command.blk_cmd);
    commands.flat_map(|command| command.blocks).map(|block| block.block_id).collect()
}

async fn leave_safe_mode(client: &zerohop_transport::rpc::RpcClient, is_forced: bool) -> bool {
    let action = if is_forced {
        SafeModeActionProto::SafemodeForceExit
    } else {
        SafeModeActionProto::SafemodeLeave
    };
    let q = SetSafeModeRequestProto { action: action.into(), checked: None };
    !call::<SetSafeModeResponseProto>(client, "setSafeMode", q).await.result
}

/// Reproduced: an older copy of the name directory was put back, and all data written since was deleted within seconds.
/// An empty namespace leaves safe mode as it starts, others when their blocks are reported.
#[tokio::test(flavor = "multi_thread")]
async fn an_older_name_directory_has_nothing_deleted_on_first_reports() {
    for is_empty in [true, false] {
        let settings = [
            ("dfs.namenode.safemode.extension", "0"),
            ("dfs.namenode.safemode.threshold-pct", "1"),
        ];
        let mut harness = Harness::with(&settings).await;
        let older = harness.directory.path().join("older");
        let (client, datanode) = (harness.superuser(), join(&harness).await);
        let mut replicas = Vec::new();
        if !is_empty {
            replicas.push(finished_file(&client, &datanode, "/old").await);
        }
        harness.restart_after(|name| copy(name, &older)).await;
        let (client, datanode) = (harness.superuser(), join(&harness).await);
        datanode.full_report(&replicas).await;
        assert!(leave_safe_mode(&client, false).await);
        let newer = finished_file(&client, &datanode, "/new").await;
        replicas.push(newer.clone());

        let put_back = |name: &Path| {
            std::fs::remove_dir_all(name).unwrap();
            std::fs::rename(&older, name).unwrap();
        };
        harness.restart_after(put_back).await;
        let (client, datanode) = (harness.superuser(), join(&harness).await);
        assert!(status(&client, "/new").await.is_none());
        datanode.full_report(&replicas).await;
        assert_eq!(leave_safe_mode(&client, false).await, is_empty, "newer blocks take force");
        assert!(leave_safe_mode(&client, true).await);
        assert!(told_to_delete(&datanode).await.is_empty());
        datanode.received(&newer, 10).await;
        assert!(told_to_delete(&datanode).await.is_empty());

        let list = harness.page("/pendingDeletions").await;
        assert!(list.contains(&format!("\"blockIds\":[{}]", newer.block_id)), "{list}");
        assert!(list.contains("\"newerThanMetadata\":1"), "{list}");
        assert!(harness.page("/").await.contains("1 replicas (10 B) of blocks that no file has"));
        assert!(harness.page("/jmx").await.contains("\"UnknownReplicas\": 1"));

        datanode.full_report(&replicas).await;
        assert_eq!(told_to_delete(&datanode).await, [newer.block_id]);
        let list = harness.page("/pendingDeletions").await;
        assert!(list.contains("\"storages\":[]"), "{list}");
        harness.node.stop().await;
    }
}

/// The directory of a DataNode was copied to another machine, and both run: each undid the other's reports.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_datanodes_with_one_uuid_the_first_is_refused_when_the_second_registers() {
    let harness = Harness::start().await;
    let client = harness.superuser();
    let first = join_at(&harness, 9866).await;
    let block = finished_file(&client, &first, "/f").await;
    let second = join_at(&harness, 9999).await;
    let refused = first.try_beat().await.map(drop).unwrap_err();
    assert_eq!(kind(refused), Some(JavaException::UnregisteredNode));
    let q = dn::BlockReportRequestProto {
        registration: first.registration.clone(),
        block_pool_id: first.pool.clone(),
        ..dn::BlockReportRequestProto::default()
    };
    let refused = first.client.call::<_, dn::BlockReportResponseProto>("blockReport", &q).await;
    assert_eq!(kind(refused.map(drop).unwrap_err()), Some(JavaException::UnregisteredNode));
    second.full_report(&[block]).await;
    second.beat().await;
    harness.node.stop().await;
}
