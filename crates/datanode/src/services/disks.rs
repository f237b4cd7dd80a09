//! Volumes that fail while the DataNode runs: the NameNodes hear of it, and the DataNode goes on with
//! the others, or ends when too few are left (`DataNode.handleVolumeFailures`).

use crate::node::{Ending, Node};
use std::sync::Arc;
use std::time::Duration;
use zerohop_proto::hdfs::datanode::error_report_request_proto::ErrorCode;
use zerohop_system::clock;

/// Between two looks at the volumes: heartbeats say how much space there was at the last one.
const LOOK_INTERVAL_MAX: Duration = Duration::from_secs(1);
const LOOK_INTERVAL_MIN: Duration = Duration::from_millis(10);

/// Looks after the volumes until too many have failed.
pub(crate) async fn watch(node: Arc<Node>) {
    // A hung disk is found soon after its timeout, however short that is.
    let interval =
        LOOK_INTERVAL_MAX.min(node.settings.disk_check_timeout / 2).max(LOOK_INTERVAL_MIN);
    loop {
        tokio::select! {
            () = clock::sleep(interval) => node.store.look_at_volumes(),
            () = node.store.failures().failed() => {}
        }
        let failures = node.store.failures().untold();
        if failures.is_empty() {
            continue;
        }
        let directories: String = failures.iter().map(|f| f.directory.clone() + ";").collect();
        let text = format!("DataNode failed volumes:{directories}");
        match node.store.failures().check() {
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

async fn tell(node: &Node, code: ErrorCode, text: &str) {
    for service in node.services() {
        for link in service.links() {
            link.report_error(code as u32, text.to_owned()).await;
        }
    }
}
