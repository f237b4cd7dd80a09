//! Configuration keys that are changed while a daemon runs (`dfsadmin -reconfig`): the configuration in force, the task
//! that puts a new one into force, and the three calls that administrators make (`ReconfigurableBase`).

use crate::rpc::server::Reply;
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use std::thread;
use std::time::SystemTime;
use zerohop_conf::Conf;
use zerohop_proto::hdfs::{
    GetReconfigurationStatusConfigChangeProto, GetReconfigurationStatusResponseProto,
    ListReconfigurablePropertiesResponseProto, StartReconfigurationResponseProto,
};
use zerohop_system::clock;
use zerohop_wire::JavaException;

/// A daemon some of whose keys can be changed while it runs.
pub trait Reconfigurable: Send + Sync + 'static {
    /// The keys that can be changed.
    fn keys(&self) -> &'static [&'static str];

    /// Keys that Apache's daemon can change and this one cannot: a change of one is refused by name.
    fn fixed_keys(&self) -> &'static [&'static str] {
        &[]
    }

    /// The configuration, and how it is changed.
    fn reconfiguration(&self) -> &Reconfiguration;

    /// Whether a key is put into force although its value has not changed.
    fn is_due(&self, _key: &'static str) -> bool {
        false
    }

    /// Puts one key's value in `conf` into force; gives the configuration in force then.
    ///
    /// # Errors
    /// If the value makes no sense, or a part of it could not be put into force.
    fn put_into_force(this: &Arc<Self>, key: &'static str, conf: Conf) -> Result<Conf, Refused>;
}

/// Why a value is not in force.
#[derive(Debug)]
pub struct Refused {
    /// The reason.
    pub reason: String,
    /// The configuration in force, if a part of the value is.
    pub in_force: Option<Box<Conf>>,
}

impl<E: std::fmt::Display> From<E> for Refused {
    fn from(error: E) -> Self {
        Self { reason: error.to_string(), in_force: None }
    }
}

/// A key whose value has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The key.
    pub name: &'static str,
    /// The value before; none if the key was not set.
    pub old: Option<String>,
    /// The value in the files.
    pub new: Option<String>,
    /// Why the new value is not in force.
    pub error: Option<String>,
}

/// The last reconfiguration. Times are in ms since 1970, 0 for none.
#[derive(Debug, Clone, Default)]
pub struct TaskStatus {
    /// When it began.
    pub started_ms: u64,
    /// When it ended.
    pub ended_ms: u64,
    /// What it changed.
    pub changes: Vec<Change>,
}

/// The configuration in force, and what became of the last reconfiguration.
pub struct Reconfiguration {
    /// The configuration at the start: what the program and the command line set then, and which files
    /// are read again.
    at_start: Arc<Conf>,
    conf: RwLock<Arc<Conf>>,
    status: Mutex<TaskStatus>,
}

impl Reconfiguration {
    /// With the configuration at the start.
    pub fn new(conf: Arc<Conf>) -> Self {
        Self { at_start: Arc::clone(&conf), conf: RwLock::new(conf), status: Mutex::default() }
    }

    /// The configuration in force.
    pub fn conf(&self) -> Arc<Conf> {
        Arc::clone(&self.conf.read())
    }

    /// The last reconfiguration.
    pub fn status(&self) -> TaskStatus {
        self.status.lock().clone()
    }

    /// A task begins, unless one is under way.
    fn begin(&self) -> Result<(), String> {
        let mut status = self.status.lock();
        if status.started_ms > 0 && status.ended_ms == 0 {
            return Err("Another reconfiguration task is running.".to_owned());
        }
        *status = TaskStatus { started_ms: now_ms(), ..TaskStatus::default() };
        Ok(())
    }

    /// The task has ended.
    fn end(&self, changes: Vec<Change>) {
        let mut status = self.status.lock();
        (status.ended_ms, status.changes) = (now_ms(), changes);
    }
}

/// Reads the configuration again and puts the changes into force, on a thread of its own.
///
/// # Errors
/// If another such task is under way, or no thread can be started.
pub fn reconfigure<R: Reconfigurable>(daemon: &Arc<R>) -> Result<(), String> {
    daemon.reconfiguration().begin()?;
    let for_work = Arc::clone(daemon);
    let run = move || {
        let changes = put_changes_into_force(&for_work);
        for_work.reconfiguration().end(changes);
    };
    let started = thread::Builder::new().name("reconfiguration".to_owned()).spawn(run);
    started.map(drop).map_err(|error| {
        daemon.reconfiguration().end(Vec::new());
        error.to_string()
    })
}

fn put_changes_into_force<R: Reconfigurable>(daemon: &Arc<R>) -> Vec<Change> {
    let reconfiguration = daemon.reconfiguration();
    let old = reconfiguration.conf();
    let new = match reconfiguration.at_start.reload() {
        Ok(new) => new,
        Err(error) => {
            // Apache's task reports no change of a configuration that cannot be read.
            tracing::error!("the configuration cannot be read again: {error}");
            return Vec::new();
        }
    };
    let mut changes = Vec::new();
    for name in daemon.keys().iter().chain(daemon.fixed_keys()).copied() {
        let (before, after) = (old.get_raw(name), new.get_raw(name));
        if before == after && !daemon.is_due(name) {
            continue;
        }
        let shown = |value: &Option<String>| value.clone().unwrap_or("<default>".to_owned());
        tracing::info!(
            "change property: {name} from \"{}\" to \"{}\"",
            shown(&before),
            shown(&after)
        );
        let error = put_key_into_force(daemon, name, after.as_deref()).err();
        if let Some(error) = &error {
            tracing::error!("{name} is not changed: {error}");
        }
        changes.push(Change { name, old: before, new: after, error });
    }
    changes
}

fn put_key_into_force<R: Reconfigurable>(
    daemon: &Arc<R>,
    name: &'static str,
    value: Option<&str>,
) -> Result<(), String> {
    if daemon.fixed_keys().contains(&name) {
        return Err(format!("{name} cannot be changed while this program runs: restart it"));
    }
    let reconfiguration = daemon.reconfiguration();
    let mut conf = Conf::clone(&reconfiguration.conf());
    match value {
        Some(value) => conf.set(name, value),
        None => conf.unset(name),
    }
    let (in_force, result) = match R::put_into_force(daemon, name, conf) {
        Ok(conf) => (Some(conf), Ok(())),
        Err(refused) => (refused.in_force.map(|conf| *conf), Err(refused.reason)),
    };
    if let Some(conf) = in_force {
        *reconfiguration.conf.write() = Arc::new(conf);
    }
    result
}

/// Starts a task (`startReconfiguration`).
pub fn start<R: Reconfigurable>(daemon: &Arc<R>) -> Reply {
    match reconfigure(daemon) {
        Ok(()) => Reply::message(&StartReconfigurationResponseProto {}),
        Err(text) => Reply::exception(JavaException::Io.with(text)),
    }
}

/// How far the last task is (`getReconfigurationStatus`).
pub fn status<R: Reconfigurable>(daemon: &R) -> Reply {
    let status = daemon.reconfiguration().status();
    let change = |change: Change| GetReconfigurationStatusConfigChangeProto {
        name: change.name.to_owned(),
        old_value: change.old.unwrap_or_default(),
        new_value: change.new,
        error_message: change.error,
    };
    Reply::message(&GetReconfigurationStatusResponseProto {
        start_time: status.started_ms as i64,
        end_time: (status.ended_ms > 0).then_some(status.ended_ms as i64),
        changes: status.changes.into_iter().map(change).collect(),
    })
}

/// What can be changed (`listReconfigurableProperties`).
pub fn properties<R: Reconfigurable>(daemon: &R) -> Reply {
    let name = daemon.keys().iter().map(|name| (*name).to_owned()).collect();
    Reply::message(&ListReconfigurablePropertiesResponseProto { name })
}

fn now_ms() -> u64 {
    let since = clock::wall().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
