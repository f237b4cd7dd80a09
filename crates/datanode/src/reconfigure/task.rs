//! One reconfiguration at a time: the configuration is read again, and each changed key is put into
//! force (`ReconfigurableBase`).

use super::adjustable::Adjustable;
use super::state::{Change, DATA_DIR};
use super::volumes;
use crate::node::Node;
use std::sync::Arc;
use std::thread;
use zerohop_conf::Conf;

/// Reads the configuration again and puts the changes into force, on a thread of its own.
pub(crate) fn reconfigure(node: &Arc<Node>) -> Result<(), String> {
    node.reconfiguration.begin()?;
    let for_work = Arc::clone(node);
    let run = move || for_work.reconfiguration.end(put_changes_into_force(&for_work));
    let started = thread::Builder::new().name("reconfiguration".to_owned()).spawn(run);
    started.map(drop).map_err(|error| {
        node.reconfiguration.end(Vec::new());
        error.to_string()
    })
}

fn put_changes_into_force(node: &Arc<Node>) -> Vec<Change> {
    let old = node.reconfiguration.conf();
    let new = match node.reconfiguration.at_start().reload() {
        Ok(new) => new,
        Err(error) => {
            // Apache's task reports no change of a configuration that cannot be read.
            tracing::error!("the configuration cannot be read again: {error}");
            return Vec::new();
        }
    };
    let mut changes = Vec::new();
    for name in [DATA_DIR].into_iter().chain(Adjustable::KEYS) {
        let (before, after) = (old.get_raw(name), new.get_raw(name));
        // Failed volumes are tried again although their names have not changed.
        let retries = name == DATA_DIR && node.store.failures().0 > 0;
        if before == after && !retries {
            continue;
        }
        let shown = |value: &Option<String>| value.clone().unwrap_or("<default>".to_owned());
        tracing::info!(
            "change property: {name} from \"{}\" to \"{}\"",
            shown(&before),
            shown(&after)
        );
        let error = put_into_force(node, name, &new).err();
        if let Some(error) = &error {
            tracing::error!("{name} is not changed: {error}");
        }
        changes.push(Change { name, old: before, new: after, error });
    }
    changes
}

/// Puts one key's new value into force. Of directories some may be, also where there is an error.
fn put_into_force(node: &Arc<Node>, name: &'static str, new: &Conf) -> Result<(), String> {
    let mut conf = Conf::clone(&node.reconfiguration.conf());
    match new.get_raw(name) {
        Some(value) => conf.set(name, value),
        None => conf.unset(name),
    }
    if name == DATA_DIR {
        let changed = volumes::change(node, &conf);
        if let Some(in_force) = changed.in_force {
            conf.set(name, in_force);
        }
        node.reconfiguration.set_conf(conf);
        return changed.result;
    }
    let adjustable = Adjustable::read(&conf).map_err(|error| error.to_string())?;
    node.reconfiguration.set_adjustable(adjustable);
    node.reconfiguration.set_conf(conf);
    Ok(())
}
