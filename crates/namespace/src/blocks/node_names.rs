//! DataNodes by the names that messages call them.

use super::types::{DatanodeId, NodeIdx};
use hashbrown::HashMap;
use smallvec::SmallVec;

/// Which DataNode has a UUID, and which are at an address or of a host name.
#[derive(Debug, Default)]
pub(super) struct NodeNames {
    by_uuid: HashMap<String, NodeIdx>,
    by_host: HashMap<String, SmallVec<[NodeIdx; 1]>>,
}

impl NodeNames {
    pub(super) fn by_uuid(&self, uuid: &str) -> Option<NodeIdx> {
        self.by_uuid.get(uuid).copied()
    }

    /// DataNodes at an address or of a host name, the dead ones too.
    pub(super) fn by_host(&self, host: &str) -> &[NodeIdx] {
        self.by_host.get(host).map_or(&[], |nodes| nodes)
    }

    pub(super) fn insert(&mut self, node: NodeIdx, id: &DatanodeId) {
        self.by_uuid.insert(id.uuid.clone(), node);
        for host in hosts(id) {
            self.by_host.entry(host.to_owned()).or_default().push(node);
        }
    }

    /// Forgets a DataNode under these names; its UUID only if no other DataNode has it now.
    pub(super) fn remove(&mut self, node: NodeIdx, id: &DatanodeId) {
        if self.by_uuid(&id.uuid) == Some(node) {
            self.by_uuid.remove(&id.uuid);
        }
        for host in hosts(id) {
            if let Some(nodes) = self.by_host.get_mut(host) {
                nodes.retain(|other| *other != node);
            }
        }
    }
}

fn hosts(id: &DatanodeId) -> impl Iterator<Item = &str> {
    let name = Some(&id.host).filter(|host| **host != id.ip);
    std::iter::once(&id.ip).chain(name).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(ip: &str, uuid: &str) -> DatanodeId {
        let (ip, uuid) = (ip.to_owned(), uuid.to_owned());
        DatanodeId { ip, host: "dn".to_owned(), uuid, ..DatanodeId::default() }
    }

    #[test]
    fn a_datanode_is_found_by_its_last_address_only() {
        let mut names = NodeNames::default();
        let (old, new) = (id("10.0.0.1", "a"), id("10.0.0.2", "a"));
        names.insert(NodeIdx(0), &old);
        names.remove(NodeIdx(0), &old);
        names.insert(NodeIdx(0), &new);
        assert_eq!(names.by_uuid("a"), Some(NodeIdx(0)));
        assert_eq!(names.by_host("10.0.0.2"), [NodeIdx(0)]);
        assert_eq!(names.by_host("dn"), [NodeIdx(0)]);
        assert!(names.by_host("10.0.0.1").is_empty());
    }

    #[test]
    fn a_datanode_that_lost_its_uuid_to_another_takes_nothing_from_it() {
        let mut names = NodeNames::default();
        names.insert(NodeIdx(0), &id("10.0.0.1", "a"));
        names.insert(NodeIdx(1), &id("10.0.0.1", "a"));
        names.remove(NodeIdx(0), &id("10.0.0.1", "a"));
        assert_eq!(names.by_uuid("a"), Some(NodeIdx(1)));
        assert_eq!(names.by_host("10.0.0.1"), [NodeIdx(1)]);
    }
}
