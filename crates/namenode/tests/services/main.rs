//! The services of a NameNode, over RPC and HTTP.
#![allow(clippy::disallowed_methods, reason = "this is a test")]

mod checkpoints;
mod datanode;
mod harness;
mod held;
mod hosts;
mod image_transfers;
mod limits;
mod pages;
mod protected_pages;
mod reconfigure;
mod removals;
mod report_leases;
mod restored;
mod rolling_upgrades;
mod strangers;

use harness::*;
use zerohop_proto::hdfs::datanode as dn;
use zerohop_proto::hdfs::namenode::*;
use zerohop_proto::hdfs::*;
use zerohop_wire::JavaException;

#[tokio::test(flavor = "multi_thread")]
async fn directories_survive_a_restart() {
    let mut harness = Harness::start().await;
    let client = harness.superuser();
    assert!(call::<MkdirsResponseProto>(&client, "mkdirs", mkdirs("/a/b")).await.result);
    harness.restart().await;
    let client = harness.superuser();
    let status = status(&client, "/a/b").await.unwrap();
    assert_eq!(status.permission.perm, 0o755);
    harness.node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_sent_again_gets_its_first_answer() {
    let harness = Harness::start().await;
    let client = harness.superuser();
    let _: MkdirsResponseProto = call(&client, "mkdirs", mkdirs("/a")).await;
    let q = DeleteRequestProto { src: "/a".into(), recursive: true };
    let id = client.next_call();
    for id in [id.clone(), id.again()] {
        let answer: DeleteResponseProto = client.call_with_id(&id, "delete", &q).await.unwrap();
        assert!(answer.result);
    }
    let fresh: DeleteResponseProto = client.call("delete", &q).await.unwrap();
    assert!(!fresh.result);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_sent_again_after_a_restart_gets_its_first_answer() {
    let mut harness = Harness::start().await;
    let client = harness.superuser();
    let (made, renamed, deleted) = (client.next_call(), client.next_call(), client.next_call());
    let q = create("/dir/file");
    let first: CreateResponseProto = client.call_with_id(&made, "create", &q).await.unwrap();
    let rename = RenameRequestProto { src: "/dir/file".into(), dst: "/dir/other".into() };
    let _: RenameResponseProto = client.call_with_id(&renamed, "rename", &rename).await.unwrap();
    let delete = DeleteRequestProto { src: "/dir/other".into(), recursive: false };
    let _: DeleteResponseProto = client.call_with_id(&deleted, "delete", &delete).await.unwrap();
    harness.restart().await;
    let client = harness.superuser();
    let again: CreateResponseProto = client.call_with_id(&made, "create", &q).await.unwrap();
    assert_eq!(again.fs.unwrap().file_id, first.fs.unwrap().file_id);
    let again: RenameResponseProto =
        client.call_with_id(&renamed, "rename", &rename).await.unwrap();
    let gone: DeleteResponseProto = client.call_with_id(&deleted, "delete", &delete).await.unwrap();
    assert!(again.result && gone.result);
    assert!(status(&client, "/dir/file").await.is_none());
}

/// Where the last block's replicas are is known only when a DataNode has said so again.
#[tokio::test(flavor = "multi_thread")]
async fn an_append_sent_again_after_a_restart_happens_once() {
    let mut harness = Harness::start().await;
    let client = harness.superuser();
    let datanode = join(&harness).await;
    let block = finished_file(&client, &datanode, "/f").await;
    let q = AppendRequestProto { src: "/f".into(), client_name: "test".into(), flag: None };
    let id = client.next_call();
    let first: AppendResponseProto = client.call_with_id(&id, "append", &q).await.unwrap();
    harness.restart().await;

    let client = harness.superuser();
    let again = client.call_with_id::<_, AppendResponseProto>(&id, "append", &q).await;
    assert_eq!(kind(again.unwrap_err()), Some(JavaException::Retriable));
    let datanode = join(&harness).await;
    datanode.received(&block, 10).await;
    let again: AppendResponseProto = client.call_with_id(&id, "append", &q).await.unwrap();
    let (again_block, first_block) = (again.block.unwrap(), first.block.unwrap());
    assert_eq!((again_block.b, again_block.locs.len()), (first_block.b, 1));
    assert_eq!(again.stat.unwrap().file_id, first.stat.unwrap().file_id);
    // Another one is another one.
    let other = client.call::<_, AppendResponseProto>("append", &q).await;
    assert_eq!(kind(other.unwrap_err()), Some(JavaException::AlreadyBeingCreated));
}

#[tokio::test(flavor = "multi_thread")]
async fn others_may_not_do_what_the_superuser_may() {
    let harness = Harness::start().await;
    let eve = harness.client("eve");
    let refused = eve.call::<_, MkdirsResponseProto>("mkdirs", &mkdirs("/eve")).await;
    assert_eq!(refused.map_err(kind), Err(Some(JavaException::AccessControl)));
    let enter = SetSafeModeRequestProto {
        action: SafeModeActionProto::SafemodeEnter.into(),
        checked: None,
    };
    let refused = eve.call::<_, SetSafeModeResponseProto>("setSafeMode", &enter).await;
    assert_eq!(refused.map_err(kind), Err(Some(JavaException::AccessControl)));
}

/// Nothing is moved and no segment ends while an administrator or the start holds the namespace still.
#[tokio::test(flavor = "multi_thread")]
async fn the_log_is_not_rolled_and_no_blocks_are_given_out_in_safe_mode() {
    let harness = Harness::start().await;
    let client = harness.superuser();
    let datanode = join(&harness).await;
    let balancer = harness.client_of(NAMENODE);
    let q = GetBlocksRequestProto {
        datanode: DatanodeIdProto { ..datanode.registration.datanode_id.clone() },
        size: 1,
        ..GetBlocksRequestProto::default()
    };
    for (action, refused) in
        [(SafeModeActionProto::SafemodeEnter, true), (SafeModeActionProto::SafemodeLeave, false)]
    {
        let set = SetSafeModeRequestProto { action: action.into(), checked: None };
        let _: SetSafeModeResponseProto = call(&client, "setSafeMode", set).await;
        let answers = [
            client
                .call::<_, RollEditsResponseProto>("rollEdits", &RollEditsRequestProto {})
                .await
                .map(|_| ()),
            balancer
                .call::<_, RollEditLogResponseProto>("rollEditLog", &RollEditLogRequestProto {})
                .await
                .map(|_| ()),
            balancer.call::<_, GetBlocksResponseProto>("getBlocks", &q).await.map(|_| ()),
        ];
        let words = ["Log not rolled", "Log not rolled", "Cannot execute getBlocks"];
        for (answer, words) in answers.into_iter().zip(words) {
            match answer {
                Ok(()) => assert!(!refused, "{words}"),
                Err(error) => {
                    assert!(refused, "{error}");
                    assert!(error.to_string().contains(words), "{error}");
                    assert_eq!(kind(error), Some(JavaException::SafeMode));
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_answers_by_name() {
    let harness = Harness::start().await;
    let client = harness.superuser();
    let q = AllowSnapshotRequestProto { snapshot_root: "/".into() };
    let refused = client.call::<_, AllowSnapshotResponseProto>("allowSnapshot", &q).await;
    let error = refused.unwrap_err();
    assert!(error.to_string().contains("allowSnapshot"), "{error}");
    assert_eq!(kind(error), Some(JavaException::UnsupportedOperation));
    let refused = client.call::<_, MsyncResponseProto>("noSuchThing", &MsyncRequestProto {}).await;
    assert_eq!(refused.map_err(kind), Err(Some(JavaException::RpcNoSuchMethod)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_files_blocks_are_deleted_with_the_next_heartbeat() {
    let harness = Harness::start().await;
    let client = harness.superuser();
    let datanode = join(&harness).await;
    let block = finished_file(&client, &datanode, "/f").await;
    assert!(
        harness.page("/fsck?path=%2F").await.ends_with("The filesystem under path '/' is HEALTHY")
    );
    let q = DeleteRequestProto { src: "/f".into(), recursive: false };
    let _: DeleteResponseProto = call(&client, "delete", q).await;
    let commands = datanode.beat().await.cmds;
    let [command] = commands.as_slice() else { panic!("{commands:?}") };
    let command = command.blk_cmd.as_ref().unwrap();
    assert_eq!(command.action(), dn::block_command_proto::Action::Invalidate);
    assert_eq!(command.blocks[0].block_id, block.block_id);
}

/// A crash now would bring the file back: its replicas must be there then.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_deleted_for_an_edit_that_is_not_on_disk() {
    let harness = Harness::start().await;
    let client = harness.superuser();
    let datanode = join(&harness).await;
    finished_file(&client, &datanode, "/f").await;
    harness.lose_the_log().await;
    assert!(datanode.beat().await.cmds.is_empty());
    let q = DeleteRequestProto { src: "/f".into(), recursive: false };
    assert!(client.call::<_, DeleteResponseProto>("delete", &q).await.is_err());
    assert_eq!(status(&client, "/f").await, None);
    let answer = datanode.try_beat().await;
    assert_eq!(answer.map_err(kind), Err(Some(JavaException::Io)));
}

/// The second call finds everything as it wants it, but no disk knows of it.
#[tokio::test(flavor = "multi_thread")]
async fn what_another_call_did_is_confirmed_only_when_it_is_on_disk() {
    let harness = Harness::start().await;
    let client = harness.superuser();
    let datanode = join(&harness).await;
    let block = written_block(&client, "/f").await;
    datanode.received(&block, 10).await;
    harness.lose_the_log().await;
    for _ in 0..2 {
        let made = client.call::<_, MkdirsResponseProto>("mkdirs", &mkdirs("/a")).await;
        assert_eq!(made.map_err(kind), Err(Some(JavaException::Io)));
        let q = complete("/f", &block);
        let done = client.call::<_, CompleteResponseProto>("complete", &q).await;
        assert_eq!(done.map_err(kind), Err(Some(JavaException::Io)));
    }
    assert!(status(&client, "/a").await.is_some(), "reads wait for nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_datanode_of_another_cluster_is_refused() {
    let harness = Harness::start().await;
    let datanode = join(&harness).await;
    let mut registration = datanode.registration.clone();
    registration.storage_info.cluster_id = "CID-other".into();
    let q = dn::RegisterDatanodeRequestProto { registration };
    let refused =
        datanode.client.call::<_, dn::RegisterDatanodeResponseProto>("registerDatanode", &q).await;
    assert_eq!(refused.map_err(kind), Err(Some(JavaException::UnregisteredNode)));
}

#[tokio::test(flavor = "multi_thread")]
async fn saving_needs_safe_mode_and_shortens_the_next_start() {
    let mut harness = Harness::start().await;
    let client = harness.superuser();
    let _: MkdirsResponseProto = call(&client, "mkdirs", mkdirs("/a")).await;
    let save = SaveNamespaceRequestProto::default();
    let refused = client.call::<_, SaveNamespaceResponseProto>("saveNamespace", &save).await;
    assert_eq!(refused.map_err(kind), Err(Some(JavaException::Io)));
    let enter = SetSafeModeRequestProto {
        action: SafeModeActionProto::SafemodeEnter.into(),
        checked: None,
    };
    assert!(call::<SetSafeModeResponseProto>(&client, "setSafeMode", enter).await.result);
    let refused = client.call::<_, MkdirsResponseProto>("mkdirs", &mkdirs("/b")).await;
    assert_eq!(refused.map_err(kind), Err(Some(JavaException::SafeMode)));
    assert!(call::<SaveNamespaceResponseProto>(&client, "saveNamespace", save).await.saved());
    harness.restart().await;
    assert!(status(&harness.superuser(), "/a").await.is_some());
}
