//! Rolling upgrades: prepared, queried, finalized and rolled back, with the files that they leave.

use crate::harness::*;
use std::fs;
use zerohop_namenode::{NameNode, StartOption};
use zerohop_proto::hdfs::*;
use zerohop_transport::rpc::RpcClient;
use zerohop_wire::JavaException;

async fn upgrade(
    client: &RpcClient,
    action: RollingUpgradeActionProto,
) -> Option<RollingUpgradeInfoProto> {
    let q = RollingUpgradeRequestProto { action: action.into() };
    call::<RollingUpgradeResponseProto>(client, "rollingUpgrade", q).await.rolling_upgrade_info
}

async fn set_safe_mode(client: &RpcClient, action: SafeModeActionProto) {
    let q = SetSafeModeRequestProto { action: action.into(), checked: None };
    let _: SetSafeModeResponseProto = call(client, "setSafeMode", q).await;
}

async fn prepare(client: &RpcClient) -> RollingUpgradeInfoProto {
    set_safe_mode(client, SafeModeActionProto::SafemodeEnter).await;
    upgrade(client, RollingUpgradeActionProto::Start).await.unwrap()
}

impl Harness {
    /// The names in the name directory that begin so, without MD5 files.
    fn name_files(&self, prefix: &str) -> Vec<String> {
        let entries = fs::read_dir(self.directory.path().join("name/current")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> =
            names.filter(|name| name.starts_with(prefix) && !name.ends_with(".md5")).collect();
        names.sort();
        names
    }

    async fn roll_back(&mut self) {
        self.node.stop().await;
        let option = StartOption::RollingUpgradeRollback;
        self.node = NameNode::start_with(self.conf.clone(), option).await.unwrap();
    }
}

const ROLLBACK_IMAGE: &str = "fsimage_rollback_0000000000000000003";

/// Everything since the prepare is gone, also after images were saved and the NameNode was restarted.
#[tokio::test(flavor = "multi_thread")]
async fn a_rolling_upgrade_is_rolled_back_to_its_prepare() {
    // Nothing but the images' own needs keeps edits.
    let mut harness = Harness::with(&[
        ("dfs.namenode.num.extra.edits.retained", "0"),
        ("dfs.namenode.num.checkpoints.retained", "1"),
    ])
    .await;
    let client = harness.superuser();
    let _: MkdirsResponseProto = call(&client, "mkdirs", mkdirs("/before")).await;
    let refused = RollingUpgradeRequestProto { action: RollingUpgradeActionProto::Start.into() };
    let refused = client.call::<_, RollingUpgradeResponseProto>("rollingUpgrade", &refused).await;
    assert!(refused.unwrap_err().to_string().contains("Safe mode should be turned ON"));
    assert_eq!(upgrade(&client, RollingUpgradeActionProto::Query).await, None);
    assert_eq!(upgrade(&client, RollingUpgradeActionProto::Finalize).await, None);

    let info = prepare(&client).await;
    assert!(info.created_rollback_images && info.start_time > 0 && info.finalize_time == 0);
    assert_eq!(harness.name_files("fsimage_rollback_"), [ROLLBACK_IMAGE]);
    assert_eq!(upgrade(&client, RollingUpgradeActionProto::Query).await, Some(info.clone()));
    assert_eq!(upgrade(&client, RollingUpgradeActionProto::Start).await, Some(info.clone()));
    let jmx = harness.page("/jmx?qry=Hadoop:service=NameNode,name=NameNodeInfo").await;
    assert!(jmx.replace(' ', "").contains("\"createdRollbackImages\":true"), "{jmx}");

    // Safe mode has ended with the prepare. Images of the upgrade come and go, the one to roll back to stays.
    let _: MkdirsResponseProto = call(&client, "mkdirs", mkdirs("/during")).await;
    for _ in 0..3 {
        set_safe_mode(&client, SafeModeActionProto::SafemodeEnter).await;
        let q = SaveNamespaceRequestProto::default();
        assert!(call::<SaveNamespaceResponseProto>(&client, "saveNamespace", q).await.saved());
        set_safe_mode(&client, SafeModeActionProto::SafemodeLeave).await;
    }
    assert_eq!(harness.name_files("fsimage_rollback_"), [ROLLBACK_IMAGE]);
    let kept = harness.name_files("edits_0000000000000000004-");
    assert_eq!(kept.len(), 1, "the edits that Apache's NameNode needs to roll back");
    harness.restart().await;
    let client = harness.superuser();
    assert_eq!(upgrade(&client, RollingUpgradeActionProto::Query).await, Some(info));

    harness.roll_back().await;
    let client = harness.superuser();
    assert!(status(&client, "/before").await.is_some());
    assert!(status(&client, "/during").await.is_none());
    assert_eq!(upgrade(&client, RollingUpgradeActionProto::Query).await, None);
    assert_eq!(harness.name_files("fsimage_"), ["fsimage_0000000000000000003"]);
    assert!(harness.name_files("edits_0000000000000000004-")[0].ends_with(".trash"));
    let _: MkdirsResponseProto = call(&client, "mkdirs", mkdirs("/after")).await;
    harness.restart().await;
    let client = harness.superuser();
    for path in ["/before", "/after"] {
        assert!(status(&client, path).await.is_some(), "{path}");
    }
    harness.node.stop().await;
    let again =
        NameNode::start_with(harness.conf.clone(), StartOption::RollingUpgradeRollback).await;
    let Err(refused) = again else { panic!("it rolled back twice") };
    assert!(refused.to_string().contains("no rolling upgrade was prepared"), "{refused}");
}

/// DataNodes hear of it with their heartbeats, and delete what they kept only when it is over for good.
#[tokio::test(flavor = "multi_thread")]
async fn a_rolling_upgrade_is_finalized() {
    let mut harness = Harness::start().await;
    let client = harness.superuser();
    let datanode = join(&harness).await;
    assert_eq!(datanode.beat().await.rolling_upgrade_status_v2, None);
    prepare(&client).await;
    let _: MkdirsResponseProto = call(&client, "mkdirs", mkdirs("/during")).await;
    let answer = datanode.beat().await;
    let told = answer.rolling_upgrade_status_v2.unwrap();
    assert_eq!((told.block_pool_id.as_str(), told.finalized()), (datanode.pool.as_str(), false));
    assert!(answer.rolling_upgrade_status.is_some());

    set_safe_mode(&client, SafeModeActionProto::SafemodeEnter).await;
    let q = RollingUpgradeRequestProto { action: RollingUpgradeActionProto::Finalize.into() };
    let refused = client.call::<_, RollingUpgradeResponseProto>("rollingUpgrade", &q).await;
    assert_eq!(refused.map_err(kind), Err(Some(JavaException::SafeMode)));
    set_safe_mode(&client, SafeModeActionProto::SafemodeLeave).await;

    // As by a crash between the edit and the new name of the image.
    let image =
        harness.directory.path().join("name/current").join(ROLLBACK_IMAGE.replace('3', "2"));
    let copies = [image.clone(), image.with_extension("md5")];
    let saved: Vec<_> = copies.iter().map(|path| fs::read(path).unwrap()).collect();
    let ended = upgrade(&client, RollingUpgradeActionProto::Finalize).await.unwrap();
    assert!(ended.status.finalized() && ended.finalize_time > 0);
    assert!(harness.name_files("fsimage_rollback_").is_empty());
    assert_eq!(upgrade(&client, RollingUpgradeActionProto::Query).await, None);
    let answer = datanode.beat().await;
    assert_eq!(answer.rolling_upgrade_status, None);
    assert!(answer.rolling_upgrade_status_v2.unwrap().finalized());
    copies.iter().zip(saved).for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    harness.restart().await;
    assert!(harness.name_files("fsimage_rollback_").is_empty());
    assert!(status(&harness.superuser(), "/during").await.is_some());
    harness.node.stop().await;
}
