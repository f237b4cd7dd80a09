//! `/health` of a DataNode.

use crate::namenodes::Progress;
use crate::node::Node;
use zerohop_daemon::http::Health;

/// A DataNode without a volume in use cannot serve, nor can one that all its NameNodes refused. One that is not registered yet
/// serves those who know of its replicas: that is shown.
pub(crate) fn health(node: &Node) -> Health {
    let (mut links, mut connected, mut refusals) = (0, 0, Vec::new());
    for service in node.services() {
        for link in service.links() {
            links += 1;
            match &*link.progress().borrow() {
                Progress::Registered | Progress::Reported => connected += 1,
                Progress::Refused(reason) => refusals.push(format!("{}: {reason}", link.addr)),
                Progress::Connecting => {}
            }
        }
    }
    let (failed, _) = node.store.failures().summary();
    let in_use = node.store.volumes().in_use().len();
    let health = Health::new()
        .with("volumesInUse", in_use)
        .with("volumesFailed", failed)
        .with("nameNodes", links)
        .with("nameNodesConnected", connected);
    let health = match in_use {
        0 => health.with_problem("no volume is in use: all have failed"),
        _ => health,
    };
    match links > 0 && refusals.len() == links {
        true => refusals.into_iter().fold(health, Health::with_problem),
        false => health,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_node::TestNode;
    use serde_json::{Value, json};

    fn shown(node: &TestNode) -> (u16, Value) {
        let page = health(&node.node).page("DataNode");
        (page.status.as_u16(), serde_json::from_str(&page.body).unwrap())
    }

    #[test]
    fn a_datanode_is_well_until_its_last_volume_has_failed() {
        let tolerated = ("dfs.datanode.failed.volumes.tolerated", "1");
        let node = TestNode::start(&["d0", "d1"], &[tolerated]);
        let (status, page) = shown(&node);
        assert_eq!((status, &page["volumesInUse"]), (200, &json!(2)));
        for (name, expected) in [("d0", 200), ("d1", 503)] {
            std::fs::remove_dir_all(node.directory(name)).unwrap();
            node.node.store.look_at_volumes();
            node.node.store.volumes().all().iter().for_each(|volume| volume.wait_for_check());
            let (status, page) = shown(&node);
            assert_eq!(status, expected, "{page}");
        }
        let (_, page) = shown(&node);
        assert_eq!(page["reasons"], json!(["no volume is in use: all have failed"]));
    }
}
