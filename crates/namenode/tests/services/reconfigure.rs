//! `dfsadmin -reconfig namenode`

use crate::harness::*;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use zerohop_conf::Conf;
use zerohop_namenode::{FormatOptions, NameNode};
use zerohop_proto::hdfs::*;
use zerohop_transport::rpc::RpcClient;
use zerohop_wire::JavaException;

const RECONFIGURATION: &str = "org.apache.hadoop.hdfs.protocol.ReconfigurationProtocol";

fn write_site(directory: &Path, more: &[(&str, &str)]) {
    let name = directory.join("name").display().to_string();
    let fixed = [
        ("dfs.namenode.name.dir", name.as_str()),
        ("dfs.namenode.rpc-address", "127.0.0.1:0"),
        ("dfs.namenode.http-address", "127.0.0.1:0"),
    ];
    let properties: String = (fixed.iter().chain(more))
        .map(|(name, value)| {
            format!("<property><name>{name}</name><value>{value}</value></property>")
        })
        .collect();
    let site = format!("<configuration>{properties}</configuration>");
    fs::write(directory.join("hdfs-site.xml"), site).unwrap();
}

async fn harness() -> Harness {
    let directory = tempfile::tempdir().unwrap();
    write_site(directory.path(), &[]);
    let conf = Arc::new(Conf::load(directory.path()).unwrap());
    NameNode::format(&conf, FormatOptions::default()).unwrap();
    let node = NameNode::start(conf.clone()).await.unwrap();
    Harness { directory, conf, node }
}

/// Runs a task to its end: what it changed.
async fn reconfigure(client: &RpcClient) -> Vec<GetReconfigurationStatusConfigChangeProto> {
    let q = StartReconfigurationRequestProto {};
    let _: StartReconfigurationResponseProto = call(client, "startReconfiguration", q).await;
    let mut changes = Vec::new();
    until("the end of the task", async || {
        let q = GetReconfigurationStatusRequestProto {};
        let status: GetReconfigurationStatusResponseProto =
            call(client, "getReconfigurationStatus", q).await;
        changes = status.changes;
        status.end_time.is_some()
    })
    .await;
    changes
}

/// A NameNode had to be restarted for each of them.
#[tokio::test(flavor = "multi_thread")]
async fn keys_are_changed_while_the_namenode_runs() {
    let harness = harness().await;
    let (client, admin) = (harness.superuser(), harness.client_of(RECONFIGURATION));
    let q = ListReconfigurablePropertiesRequestProto {};
    let known: ListReconfigurablePropertiesResponseProto =
        call(&admin, "listReconfigurableProperties", q).await;
    assert!(known.name.iter().any(|name| name == "fs.protected.directories"));
    assert!(known.name.is_sorted() || known.name.last().unwrap().starts_with("hadoop."));
    for path in ["/kept", "/kept/below", "/gone", "/gone/below"] {
        let _: MkdirsResponseProto = call(&client, "mkdirs", mkdirs(path)).await;
    }
    assert!(reconfigure(&admin).await.is_empty(), "nothing has changed");

    write_site(
        harness.directory.path(),
        &[
            ("fs.protected.directories", "/kept"),
            ("dfs.block.invalidate.limit", "many"),
            ("dfs.storage.policy.satisfier.mode", "external"),
            ("dfs.namenode.handler.count", "11"),
        ],
    );
    let changes = reconfigure(&admin).await;
    let error = |name: &str| {
        let change = changes.iter().find(|change| change.name == name);
        change.unwrap_or_else(|| panic!("{name}: {changes:?}")).error_message.clone()
    };
    assert_eq!(error("fs.protected.directories"), None);
    assert!(error("dfs.block.invalidate.limit").unwrap().contains("`many'"), "{changes:?}");
    let refused = error("dfs.storage.policy.satisfier.mode").unwrap();
    assert!(refused.contains("dfs.storage.policy.satisfier.mode cannot be changed"), "{refused}");
    assert_eq!(changes.len(), 3, "Apache's task says nothing of other keys either: {changes:?}");

    let delete = |path: &str| DeleteRequestProto { src: path.to_owned(), recursive: true };
    let kept = client.call::<_, DeleteResponseProto>("delete", &delete("/kept")).await;
    assert_eq!(kept.map_err(kind), Err(Some(JavaException::AccessControl)));
    assert!(call::<DeleteResponseProto>(&client, "delete", delete("/gone")).await.result);
    let page = harness.page("/conf?name=fs.protected.directories").await;
    assert!(page.contains("/kept"), "{page}");

    // What is not in the file any more has its default again.
    write_site(harness.directory.path(), &[]);
    let changes = reconfigure(&admin).await;
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert!(call::<DeleteResponseProto>(&client, "delete", delete("/kept")).await.result);
    harness.node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_superuser_reconfigures() {
    let harness = Harness::start().await;
    let options = zerohop_transport::rpc::ClientOptions::default();
    let eve = zerohop_transport::login::User::new("eve");
    let client = RpcClient::new(harness.node.rpc_addr(), RECONFIGURATION, 1, &eve, options);
    let q = StartReconfigurationRequestProto {};
    let refused =
        client.call::<_, StartReconfigurationResponseProto>("startReconfiguration", &q).await;
    assert_eq!(refused.map_err(kind), Err(Some(JavaException::AccessControl)));
    harness.node.stop().await;
}
