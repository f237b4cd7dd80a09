//! `/health` of a NameNode.

use crate::core::Core;
use serde_json::{Value, json};
use zerohop_daemon::http::Health;

/// A NameNode whose edit log has failed cannot serve. Safe mode is normal after a start: it is shown. So is the state of one
/// of several: a standby is well. Host files that cannot be read are shown, because the lists before them are in force.
pub(super) fn health(core: &Core) -> Health {
    let (tip, is_low) = core.read(|namespace| {
        let safe_mode = namespace.blocks().safe_mode();
        (safe_mode.is_on().then(|| safe_mode.tip()), safe_mode.is_low_on_resources())
    });
    let failed: Vec<Value> = core
        .storage
        .dirs()
        .iter()
        .filter(|dir| dir.has_failed())
        .map(|dir| json!(dir.root().display().to_string()))
        .collect();
    let health = Health::new()
        .with("state", core.ha.state().name())
        .with("safeMode", tip)
        .with("failedDirectories", failed)
        .with("hostFiles", core.hosts.problem());
    let health = match core.log_failed.borrow().clone() {
        Some(reason) => health.with_problem(reason),
        None => health,
    };
    let health = match core.following.gap() {
        Some(reason) => health.with_problem(format!("it can no longer catch up: {reason}")),
        None => health,
    };
    match is_low {
        true => health.with_problem("the volumes of the edit log are low on space"),
        false => health,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FormatOptions, NameNode};
    use std::sync::Arc;
    use zerohop_conf::Conf;

    fn shown(node: &NameNode) -> (u16, Value) {
        let page = health(node.core()).page("NameNode");
        (page.status.as_u16(), serde_json::from_str(&page.body).unwrap())
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn safe_mode_is_shown_and_a_failed_edit_log_is_unhealthy() {
        let directory = tempfile::tempdir().unwrap();
        let mut conf = Conf::new();
        conf.set("dfs.namenode.name.dir", directory.path().join("name").to_str().unwrap());
        conf.set("fs.defaultFS", "hdfs://127.0.0.1:0");
        conf.set("dfs.namenode.http-address", "127.0.0.1:0");
        NameNode::format(&conf, FormatOptions::default()).unwrap();
        let node = NameNode::start(Arc::new(conf)).await.unwrap();
        node.core().write(|namespace| namespace.blocks_mut().safe_mode_mut().enter());
        let (status, page) = shown(&node);
        assert_eq!((status, &page["state"]), (200, &json!("active")));
        assert!(page["safeMode"].is_string(), "{page}");
        node.core().log_failed.send_replace(Some("the disk is gone".to_owned()));
        let (status, page) = shown(&node);
        assert_eq!((status, &page["reasons"]), (503, &json!(["the disk is gone"])));
        node.stop().await;
    }
}
