//! The only place of this crate that reads a clock.

use std::time::{Instant, SystemTime, UNIX_EPOCH};
use zerohop_namespace::blocks::Now;

/// Both clocks; the steady one starts with the NameNode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    started: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { started: Instant::now() }
    }

    pub(crate) fn now(&self) -> Now {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Now { wall_ms: wall.as_millis() as u64, mono_ms: self.started.elapsed().as_millis() as u64 }
    }
}
