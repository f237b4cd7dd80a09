//! The DataNodes of an iteration.

use std::collections::HashMap;
use zerohop_client::{DatanodeInfo, StorageType};

/// The storages of one type of a DataNode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Group {
    /// The place of the DataNode in the list of this iteration.
    pub node: usize,
    /// The type.
    pub kind: StorageType,
}

/// The live DataNodes of an iteration, by their places and by their uuids.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    all: Vec<Node>,
    by_uuid: HashMap<String, usize>,
}

#[derive(Debug)]
struct Node {
    info: DatanodeInfo,
    takes_part: bool,
}

impl Nodes {
    /// Adds a DataNode; one that does not take part is left alone, and yet its replicas count.
    pub(crate) fn add(&mut self, info: DatanodeInfo, takes_part: bool) -> usize {
        self.by_uuid.insert(info.uuid().to_owned(), self.all.len());
        self.all.push(Node { info, takes_part });
        self.all.len() - 1
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn info(&self, at: usize) -> Option<&DatanodeInfo> {
        self.all.get(at).map(|node| &node.info)
    }

    pub(crate) fn takes_part(&self, at: usize) -> bool {
        self.all.get(at).is_some_and(|node| node.takes_part)
    }

    pub(crate) fn location(&self, at: usize) -> &str {
        self.info(at).map_or("", DatanodeInfo::location)
    }

    pub(crate) fn by_uuid(&self, uuid: &str) -> Option<usize> {
        self.by_uuid.get(uuid).copied()
    }
}
