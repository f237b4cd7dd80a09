//! The configuration in force, and what became of the last reconfiguration.

use super::adjustable::Adjustable;
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use std::time::SystemTime;
use zerohop_conf::{Conf, keys};

pub(super) const DATA_DIR: &str = keys::DFS_DATANODE_DATA_DIR.name;

/// A key whose value has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) name: &'static str,
    pub(crate) old: Option<String>,
    pub(crate) new: Option<String>,
    /// Why the new value is not in force.
    pub(crate) error: Option<String>,
}

/// The last reconfiguration. Times are in ms since 1970, 0 for none.
#[derive(Debug, Clone, Default)]
pub(crate) struct TaskStatus {
    pub(crate) started_ms: u64,
    pub(crate) ended_ms: u64,
    pub(crate) changes: Vec<Change>,
}

/// The configuration in force, and how it is changed.
pub(crate) struct Reconfiguration {
    /// The configuration at the start: what the program and the command line set then, and which files
    /// are read again.
    at_start: Arc<Conf>,
    conf: RwLock<Arc<Conf>>,
    adjustable: RwLock<Adjustable>,
    status: Mutex<TaskStatus>,
}

impl Reconfiguration {
    /// With the configuration at the start.
    pub(crate) fn new(conf: Arc<Conf>, adjustable: Adjustable) -> Self {
        Self {
            at_start: Arc::clone(&conf),
            conf: RwLock::new(conf),
            adjustable: RwLock::new(adjustable),
            status: Mutex::default(),
        }
    }

    /// The keys that can be changed.
    pub(crate) fn properties() -> Vec<String> {
        [DATA_DIR].into_iter().chain(Adjustable::KEYS).map(str::to_owned).collect()
    }

    /// The configuration in force.
    pub(crate) fn conf(&self) -> Arc<Conf> {
        Arc::clone(&self.conf.read())
    }

    /// The settings that may change.
    pub(crate) fn adjustable(&self) -> Adjustable {
        *self.adjustable.read()
    }

    /// The last reconfiguration.
    pub(crate) fn status(&self) -> TaskStatus {
        self.status.lock().clone()
    }

    /// The configuration at the start, whose files are read again.
    pub(super) fn at_start(&self) -> &Conf {
        &self.at_start
    }

    /// A task begins, unless one is under way.
    pub(super) fn begin(&self) -> Result<(), String> {
        let mut status = self.status.lock();
        if status.started_ms > 0 && status.ended_ms == 0 {
            return Err("Another reconfiguration task is running.".to_owned());
        }
        *status = TaskStatus { started_ms: now_ms(), ..TaskStatus::default() };
        Ok(())
    }

    /// The task has ended.
    pub(super) fn end(&self, changes: Vec<Change>) {
        let mut status = self.status.lock();
        (status.ended_ms, status.changes) = (now_ms(), changes);
    }

    /// A configuration is in force.
    pub(super) fn set_conf(&self, conf: Conf) {
        *self.conf.write() = Arc::new(conf);
    }

    /// Settings are in force.
    pub(super) fn set_adjustable(&self, adjustable: Adjustable) {
        *self.adjustable.write() = adjustable;
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
