//! What a message may ask for.

use crate::harness::*;
use zerohop_proto::common::*;
use zerohop_proto::hdfs::*;
use zerohop_transport::login::User;
use zerohop_transport::rpc::{ClientOptions, RpcClient};
use zerohop_wire::JavaException;

#[tokio::test(flavor = "multi_thread")]
async fn modes_have_no_bits_beyond_the_sticky_one() {
    let harness = Harness::start().await;
    let client = harness.superuser();
    let (masked, unmasked) = (permission(0o177_755), Some(permission(0o177_777)));
    let q = MkdirsRequestProto { masked, unmasked, ..mkdirs("/a") };
    let _: MkdirsResponseProto = call(&client, "mkdirs", q).await;
    let q = CreateRequestProto { masked, unmasked, ..create("/f") };
    let _: CreateResponseProto = call(&client, "create", q).await;
    for path in ["/a", "/f"] {
        assert_eq!(status(&client, path).await.unwrap().permission.perm, 0o1755, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_has_no_block_size() {
    let harness = Harness::start().await;
    let client = harness.superuser();
    let _: CreateResponseProto = call(&client, "create", create("/f")).await;
    let of = |path: &str| GetPreferredBlockSizeRequestProto { filename: path.into() };
    let size: GetPreferredBlockSizeResponseProto =
        call(&client, "getPreferredBlockSize", of("/f")).await;
    assert_eq!(size.bsize, 128 << 20);
    let refused = client
        .call::<_, GetPreferredBlockSizeResponseProto>("getPreferredBlockSize", &of("/"))
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("Path is not a file: /"), "{refused}");
    assert_eq!(kind(refused), Some(JavaException::FileNotFound));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batched_listing_goes_on_with_the_paths_it_began_with() {
    let harness = Harness::with(&[("dfs.ls.limit", "2")]).await;
    let client = harness.superuser();
    for name in ["a/1", "a/2", "a/3", "b/4"] {
        let q = MkdirsRequestProto { create_parent: true, ..mkdirs(&format!("/{name}")) };
        let _: MkdirsResponseProto = call(&client, "mkdirs", q).await;
    }
    let mut q = GetBatchedListingRequestProto {
        paths: ["/a", "/none", "/b"].map(String::from).into(),
        ..GetBatchedListingRequestProto::default()
    };
    let mut names = Vec::new();
    loop {
        let page: GetBatchedListingResponseProto =
            call(&client, "getBatchedListing", q.clone()).await;
        for listing in &page.listings {
            let found = listing.partial_listing.iter();
            names.extend(found.map(|entry| String::from_utf8_lossy(&entry.path).into_owned()));
            names.extend(listing.exception.iter().map(|error| error.message().to_owned()));
        }
        if !page.has_more {
            break;
        }
        q.start_after = page.start_after;
    }
    assert_eq!(names, ["1", "2", "3", "Path /none does not exist", "4"]);
    q.paths.reverse();
    let error = client.call::<_, GetBatchedListingResponseProto>("getBatchedListing", &q).await;
    assert_eq!(kind(error.unwrap_err()), Some(JavaException::IllegalArgument));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batched_listing_takes_so_many_paths() {
    let harness = Harness::start().await;
    let client = harness.superuser();
    let of = |count: usize| GetBatchedListingRequestProto {
        paths: vec!["/".to_owned(); count],
        ..GetBatchedListingRequestProto::default()
    };
    let listed: GetBatchedListingResponseProto = call(&client, "getBatchedListing", of(100)).await;
    assert_eq!(listed.listings.len(), 100);
    let refused = client
        .call::<_, GetBatchedListingResponseProto>("getBatchedListing", &of(101))
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("Too many source paths (101 > 100)"), "{refused}");
    assert_eq!(kind(refused), Some(JavaException::IllegalArgument));
}

/// Anybody could ask for a health check or a transition.
#[tokio::test(flavor = "multi_thread")]
async fn ha_transitions_asked_for_by_others_were_not_refused_for_that() {
    const HA: &str = "org.apache.hadoop.ha.HAServiceProtocol";
    let harness = Harness::start().await;
    let as_user = |user: &User| {
        RpcClient::new(harness.node.rpc_addr(), HA, 1, user, ClientOptions::default())
    };
    let (eve, superuser) = (as_user(&User::new("eve")), as_user(&User::of_process()));
    let health = MonitorHealthRequestProto {};
    let denied = eve.call::<_, MonitorHealthResponseProto>("monitorHealth", &health).await;
    assert_eq!(kind(denied.unwrap_err()), Some(JavaException::AccessControl));
    let _: MonitorHealthResponseProto = call(&superuser, "monitorHealth", health).await;
    for method in ["transitionToActive", "transitionToStandby", "transitionToObserver"] {
        let req_info =
            HaStateChangeRequestInfoProto { req_source: HaRequestSource::RequestByUser.into() };
        // All three have the same messages.
        let q = TransitionToActiveRequestProto { req_info };
        let denied = eve.call::<_, TransitionToActiveResponseProto>(method, &q).await;
        assert_eq!(kind(denied.unwrap_err()), Some(JavaException::AccessControl), "{method}");
        let failed = superuser.call::<_, TransitionToActiveResponseProto>(method, &q).await;
        assert_eq!(kind(failed.unwrap_err()), Some(JavaException::ServiceFailed), "{method}");
    }
    let state = GetServiceStatusRequestProto {};
    let _: GetServiceStatusResponseProto = call(&eve, "getServiceStatus", state).await;
}

/// dfs.reformat.disabled was accepted and had no effect.
#[tokio::test(flavor = "multi_thread")]
async fn directories_with_data_were_formatted_where_that_is_disabled() {
    use zerohop_namenode::{FormatOptions, NameNode};
    let harness = Harness::with(&[("dfs.reformat.disabled", "true")]).await;
    harness.node.stop().await;
    let options = FormatOptions { force: true, ..FormatOptions::default() };
    let refused = NameNode::format(&harness.conf, options).unwrap_err().to_string();
    assert!(refused.contains("reformat is disabled"), "{refused}");
}
