//! The two clocks that the namespace is told, as numbers.

use std::time::{Instant, UNIX_EPOCH};
use zerohop_namespace::blocks::Now;
use zerohop_system::clock;

/// Both clocks; the steady one starts with the NameNode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    started: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { started: clock::now() }
    }

    pub(crate) fn now(&self) -> Now {
        let wall = clock::wall().duration_since(UNIX_EPOCH).unwrap_or_default();
        Now {
            wall_ms: wall.as_millis() as u64,
            mono_ms: clock::since(self.started).as_millis() as u64,
        }
    }
}
