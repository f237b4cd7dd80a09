//! Volumes that fail while the DataNode runs: the NameNodes hear of it, and the DataNode goes on with
//! the others, or ends when too few are left (`DataNode.handleVolumeFailures`).

use crate::node::{Ending, Node};
use std::sync::Arc;
use zerohop_proto::hdfs::datanode::error_report_request_proto::ErrorCode;

/// Looks after the volumes until too many have failed.
pub(crate) async fn watch(node: Arc<Node>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(node.settings.heartbeat_interval) => look(&node).await,
            () = node.store.volume_failed() => {}
        }
        let failures = node.store.untold_failures();
        if failures.is_empty() {
            continue;
        }
        let folders: String = failures.iter().map(|f| f.folder.clone() + ";").collect();
        let text = format!("DataNode failed volumes:{folders}");
        match node.store.check_health() {
            Ok(()) => {
                tell(&node, ErrorCode::DiskError, &text).await;
                for service in node.services() {
                    service.links().iter().for_each(|link| link.ask_full_report());
                }
            }
            Err(error) => {
                tell(&node, ErrorCode::FatalDiskError, &text).await;
                node.end(Ending::Failed(error.to_string()));
                return;
            }
        }
    }
}

async fn look(node: &Arc<Node>) {
    let for_work = Arc::clone(node);
    let looked = tokio::task::spawn_blocking(move || for_work.store.look_at_volumes()).await;
    if let Err(error) = looked {
        tracing::error!("the volumes cannot be looked after: {error}");
    }
}

async fn tell(node: &Node, code: ErrorCode, text: &str) {
    for service in node.services() {
        for link in service.links() {
            link.report_error(code as u32, text.to_owned()).await;
        }
    }
}
