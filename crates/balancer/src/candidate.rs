//! Whether a replica may move from one DataNode to another.

use crate::nodes::{Group, Nodes};
use crate::topology::Matcher;
use std::collections::BTreeSet;

/// Whether the replica of `source` may move to `target`: no replica is there already, and the block is in as many
/// racks afterwards as before.
pub(crate) fn may_move(nodes: &Nodes, replicas: &[Group], source: Group, target: Group) -> bool {
    if source == target {
        return false;
    }
    if source.node == target.node {
        return true;
    }
    let holders = || replicas.iter().map(|replica| replica.node);
    if holders().any(|node| node == target.node) {
        return false;
    }
    let racks = |holders: &mut dyn Iterator<Item = usize>| {
        holders.map(|node| nodes.location(node)).collect::<BTreeSet<_>>().len()
    };
    let rest = holders().filter(|node| *node != source.node);
    racks(&mut rest.chain([target.node])) >= racks(&mut holders())
}

/// The DataNode that the bytes are copied from: the source where a replica moves between its volumes, else the
/// replica nearest to the target, among those that are `free`.
pub(crate) fn proxy(
    nodes: &Nodes,
    replicas: &[Group],
    source: Group,
    target: Group,
    free: impl Fn(usize) -> bool,
) -> Option<usize> {
    if source.node == target.node {
        return free(source.node).then_some(source.node);
    }
    let target = nodes.location(target.node);
    let usable = |node: &usize| nodes.takes_part(*node) && free(*node);
    Matcher::ALL.into_iter().find_map(|matcher| {
        let holders = replicas.iter().map(|replica| replica.node).filter(usable);
        holders.into_iter().find(|node| matcher.matches(nodes.location(*node), target))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::fixture::nodes;
    use zerohop_client::StorageType;

    const fn disk(node: usize) -> Group {
        Group { node, kind: StorageType::Disk }
    }

    #[test]
    fn a_move_leaves_a_block_in_as_many_racks() {
        // 0 and 1 in /a, 2 and 3 in /b.
        let nodes = nodes(&["/a", "/a", "/b", "/b"]);
        let (one_rack, two_racks) = ([disk(0)], [disk(0), disk(2)]);
        for (replicas, from, to, may) in [
            (&one_rack[..], 0, 1, true),
            (&one_rack, 0, 2, true),
            (&two_racks, 0, 1, true),
            (&two_racks, 0, 2, false), // a replica is there
            (&two_racks, 0, 3, false), // both would be in /b
            (&two_racks, 2, 3, true),
        ] {
            assert_eq!(may_move(&nodes, replicas, disk(from), disk(to)), may, "{from} to {to}");
        }
        let archive = Group { node: 0, kind: StorageType::Archive };
        assert!(may_move(&nodes, &two_racks, disk(0), archive), "within a DataNode");
        assert!(!may_move(&nodes, &two_racks, disk(0), disk(0)));
    }

    #[test]
    fn the_bytes_come_from_the_nearest_replica_that_is_free() {
        let nodes = nodes(&["/a", "/b", "/b", "/b"]);
        let replicas = [disk(0), disk(1), disk(2)];
        let proxy_with = |busy: &[usize]| {
            proxy(&nodes, &replicas, disk(0), disk(3), |node| !busy.contains(&node))
        };
        assert_eq!(proxy_with(&[]), Some(1));
        assert_eq!(proxy_with(&[1]), Some(2));
        assert_eq!(proxy_with(&[1, 2]), Some(0));
        assert_eq!(proxy_with(&[0, 1, 2]), None);
        let archive = Group { node: 0, kind: StorageType::Archive };
        assert_eq!(proxy(&nodes, &replicas, disk(0), archive, |_| true), Some(0));
    }
}
