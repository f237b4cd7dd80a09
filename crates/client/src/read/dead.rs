//! DataNodes that failed a reader a short while ago.

use crate::types::DatanodeInfo;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How long a DataNode is passed over; one that comes back is used again after this.
const DEAD_FOR: Duration = Duration::from_secs(60);

/// The DataNodes that failed any reader of a client.
#[derive(Default)]
pub(crate) struct DeadNodes(Mutex<HashMap<DatanodeInfo, Instant>>);

impl DeadNodes {
    pub(crate) fn contains(&self, node: &DatanodeInfo) -> bool {
        let mut nodes = self.0.lock();
        match nodes.get(node) {
            Some(since) if since.elapsed() < DEAD_FOR => true,
            Some(_) => {
                nodes.remove(node);
                false
            }
            None => false,
        }
    }

    pub(crate) fn add(&self, node: &DatanodeInfo) {
        self.0.lock().insert(node.clone(), Instant::now());
    }

    /// Gives `nodes` another chance.
    pub(crate) fn forgive<'a>(&self, nodes: impl Iterator<Item = &'a DatanodeInfo>) {
        let mut dead = self.0.lock();
        for node in nodes {
            dead.remove(node);
        }
    }
}
