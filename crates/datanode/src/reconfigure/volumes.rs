//! A new list of data directories: those that are new are opened, those that are gone are given up
//! (`DataNode.refreshVolumes`).

use crate::node::Node;
use crate::scan::verify_volume;
use crate::store::volume::{DataVolume, Location, VolumeOptions};
use std::sync::Arc;
use zerohop_conf::{Conf, keys};

/// What became of a new list.
pub(super) struct Changed {
    /// The list in force, where it is not the new one.
    pub(super) in_force: Option<String>,
    pub(super) result: Result<(), String>,
}

/// The new list beside the volumes there are.
struct Plan {
    added: Vec<Location>,
    unchanged: Vec<Location>,
    removed: Vec<Arc<DataVolume>>,
    /// Failed volumes that are tried again.
    retried: Vec<Arc<DataVolume>>,
}

impl Plan {
    fn new(node: &Node, conf: &Conf) -> Result<Self, String> {
        let texts = conf.get(&keys::DFS_DATANODE_DATA_DIR).map_err(|error| error.to_string())?;
        let wanted: Result<Vec<Location>, _> =
            texts.iter().map(|text| Location::parse(text)).collect();
        let mut added = wanted.map_err(|error| error.to_string())?;
        if added.is_empty() {
            return Err("No directory is specified.".to_owned());
        }
        let (mut unchanged, mut removed, mut retried) = (Vec::new(), Vec::new(), Vec::new());
        for volume in node.store.volumes().all().iter() {
            let known = &volume.location;
            let at = added.iter().position(|wanted| wanted.path == known.path);
            match at {
                None => removed.push(Arc::clone(volume)),
                Some(_) if volume.has_failed() => retried.push(Arc::clone(volume)),
                Some(at) => {
                    let wanted = added.remove(at);
                    if wanted.storage_type != known.storage_type {
                        return Err("Changing storage type is not allowed.".to_owned());
                    }
                    unchanged.push(wanted);
                }
            }
        }
        Ok(Self { added, unchanged, removed, retried })
    }
}

/// Opens and gives up volumes so that `conf`'s list is in force.
pub(super) fn change(node: &Arc<Node>, conf: &Conf) -> Changed {
    let plan = match Plan::new(node, conf) {
        Ok(plan) => plan,
        Err(error) => {
            let in_force = in_force(
                &node.store.volumes().all().iter().map(|v| v.location.clone()).collect::<Vec<_>>(),
            );
            return Changed { in_force: Some(in_force), result: Err(error) };
        }
    };
    let Plan { added, mut unchanged, removed, retried } = plan;
    // Their directories are locked until they are given up.
    retried.iter().for_each(|volume| remove(node, volume));
    let options = VolumeOptions::from_settings(&node.settings);
    let pools: Vec<_> = node.services().iter().filter_map(|service| service.identity()).collect();
    let mut failures = String::new();
    for location in added {
        match node.store.setup().add_volume(location.clone(), options, &pools) {
            Ok(volume) => {
                tracing::info!("added volume {location}");
                verify_volume(node, &volume);
                unchanged.push(location);
            }
            Err(error) => failures.push_str(&format!("FAILED TO ADD: {location}: {error}\n")),
        }
    }
    if unchanged.is_empty() {
        failures.push_str("Attempt to remove all volumes.");
        unchanged.extend(removed.iter().map(|volume| volume.location.clone()));
    } else {
        removed.iter().for_each(|volume| remove(node, volume));
        forget_failures(node, &unchanged);
    }
    node.store.failures().set_configured(unchanged.len());
    for service in node.services() {
        service.links().iter().for_each(|link| link.ask_full_report());
    }
    if failures.is_empty() {
        return Changed { in_force: None, result: Ok(()) };
    }
    Changed { in_force: Some(in_force(&unchanged)), result: Err(failures) }
}

fn in_force(locations: &[Location]) -> String {
    let texts: Vec<String> = locations.iter().map(ToString::to_string).collect();
    texts.join(",")
}

/// Gives up a volume; the NameNodes hear of each replica that went with it.
fn remove(node: &Arc<Node>, volume: &Arc<DataVolume>) {
    for (pool, blocks) in node.store.setup().remove_volume(volume) {
        for block in blocks {
            node.tell_deleted(&pool.id, volume, block);
        }
    }
    node.block_scanner.remove_volume(volume);
    tracing::info!("removed volume {volume}");
}

/// Directories that could not be opened at the start and are not configured any more did not fail.
fn forget_failures(node: &Node, configured: &[Location]) {
    let (_, summary) = node.store.failures().summary();
    for directory in summary.unwrap_or_default().failed_storage_locations {
        let path = std::path::Path::new(&directory);
        if configured.iter().all(|location| location.path != path) {
            node.store.failures().forget(path);
        }
    }
}
