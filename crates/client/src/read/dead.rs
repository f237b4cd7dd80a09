//! DataNodes that failed a short while ago. Each open file has a list of those that failed its reads, as
//! Apache's streams have; a client has one of those to which no connection could be made. A DataNode that
//! lacks one block still serves other files.

use crate::types::DatanodeInfo;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use zerohop_system::clock;

/// How long a DataNode is avoided; one that comes back is used again after this.
const DEAD_FOR: Duration = Duration::from_secs(60);

/// DataNodes to be avoided, each for a while.
#[derive(Default)]
pub(crate) struct DeadNodes(Mutex<HashMap<DatanodeInfo, Instant>>);

impl DeadNodes {
    pub(crate) fn contains(&self, node: &DatanodeInfo) -> bool {
        let mut nodes = self.0.lock();
        match nodes.get(node) {
            Some(since) if clock::since(*since) < DEAD_FOR => true,
            Some(_) => {
                nodes.remove(node);
                false
            }
            None => false,
        }
    }

    pub(crate) fn add(&self, node: &DatanodeInfo) {
        self.0.lock().insert(node.clone(), clock::now());
    }

    /// Lets `nodes` be used again.
    pub(crate) fn remove<'a>(&self, nodes: impl Iterator<Item = &'a DatanodeInfo>) {
        let mut dead = self.0.lock();
        for node in nodes {
            dead.remove(node);
        }
    }
}
