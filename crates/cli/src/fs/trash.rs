//! The trash: `/user/NAME/.Trash/Current` and its dated checkpoints, as Hadoop's default policy keeps it.

use std::sync::Arc;
use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use zerohop_conf::keys;

use super::item::Item;
use super::location::{Location, child, file_name, parent};
use super::shell::Shell;
use super::status::Status;
use super::store::Store;
use crate::failure::{Failure, Kind, Outcome};
use crate::units::{now_ms, time};

const CHECKPOINT: &str = "%y%m%d%H%M%S";

/// How long trash is kept; the server's word counts more than ours. Zero: there is no trash.
fn interval(shell: &Shell, store: &Arc<dyn Store>) -> Outcome<Duration> {
    let server = store.trash_interval_min()?;
    if server > 0 {
        return Ok(Duration::from_secs(60 * server.unsigned_abs()));
    }
    Ok(shell.conf.get(&keys::FS_TRASH_INTERVAL)?)
}

/// Moves a path to the trash; false where there is no trash or the path lies in it.
pub fn move_to_trash(shell: &mut Shell, item: &Item) -> Outcome<bool> {
    let advise = |failure: Failure| match failure.kind {
        Kind::NotFound => failure,
        _ => Failure {
            text: format!("{}. Consider using -skipTrash option", failure.text),
            ..failure
        },
    };
    // A mount point leads to a file system with its own trash.
    let below = item.store.resolve(&item.path)?;
    let below = below.map(|at| Item { store: at.store, path: at.path, ..item.clone() });
    let place = below.unwrap_or_else(|| item.clone());
    let kept = interval(shell, &place.store).map_err(|failure| Failure {
        kind: Kind::Io,
        text: format!("Failed to get server trash configuration: {}", failure.text),
    });
    if kept.map_err(advise)?.is_zero() {
        return Ok(false);
    }
    let (item, root) = match item.store.trash_root_inside(&item.path)? {
        Some(root) => (item, root),
        None => (&place, place.store.trash_root()),
    };
    let Some(target) = move_item(item, &root).map_err(advise)? else { return Ok(false) };
    let target = Item { path: target, ..item.clone() };
    shell.flush()?;
    noteln!("Moved: '{}' to trash at: {}", item.qualified(), target.qualified());
    Ok(true)
}

fn move_item(item: &Item, root: &str) -> Outcome<Option<String>> {
    let current = child(root, "Current");
    if is_below(&item.path, root) {
        return Ok(None);
    }
    if is_below(parent(root).unwrap_or("/"), &item.path) {
        let path = item.qualified();
        return Err(Failure::io(format!(
            "Cannot move \"{path}\" to the trash, as it contains the trash"
        )));
    }
    let directory = format!("{current}{}", parent(&item.path).unwrap_or("/"));
    let directory = free_directory(&item.store, directory.trim_end_matches('/'))?;
    make_private(&item.store, &directory)?;
    let mut target = child(&directory, file_name(&item.path));
    if item.store.exists(&target)? {
        target.push_str(&now_ms().to_string());
    }
    item.store.rename_to_trash(&item.path, &target)?;
    Ok(Some(target))
}

/// The directory, or one of a similar name where something in the trash that is no directory is in its way:
/// a file that had the name of a directory above was deleted before.
fn free_directory(store: &Arc<dyn Store>, directory: &str) -> Outcome<String> {
    let mut directory = directory.to_owned();
    while let Some(file) = file_in_the_way(store, &directory)? {
        let below = directory.split_off(file.len());
        directory = format!("{file}{}{below}", now_ms());
    }
    Ok(directory)
}

/// What of a path, or of those above it, is there and is no directory.
fn file_in_the_way(store: &Arc<dyn Store>, path: &str) -> Outcome<Option<String>> {
    if store.status(path).is_ok_and(|status| status.is_dir()) {
        return Ok(None);
    }
    let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
    for above in ends.filter_map(|end| path.get(..end)) {
        match store.status(above) {
            Ok(status) if status.is_dir() => {}
            Ok(_) => return Ok(Some(above.to_owned())),
            Err(failure) if failure.is_not_found() => return Ok(None),
            Err(failure) => return Err(failure),
        }
    }
    Ok(None)
}

fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || directory == "/")
}

/// Directories of the trash belong to their user alone.
fn make_private(store: &Arc<dyn Store>, directory: &str) -> Outcome {
    if store.exists(directory)? {
        return Ok(());
    }
    let mut missing = vec![directory];
    while let Some(above) = missing.last().and_then(|path| parent(path)) {
        if store.exists(above)? {
            break;
        }
        missing.push(above);
    }
    let in_trash = |path: &&&str| path.contains("/.Trash");
    store.mkdirs(directory)?;
    missing.iter().filter(in_trash).try_for_each(|path| store.set_permission(path, 0o700))
}

/// Deletes checkpoints that are old enough (or all), and makes the current trash a checkpoint.
pub fn expunge(shell: &mut Shell, immediately: bool) -> Outcome {
    let store = shell.store(&Location::parse("/"))?;
    let keep = interval(shell, &store)?;
    if keep.is_zero() && !immediately {
        return Ok(());
    }
    let root = store.trash_root();
    let entries = match store.list_all(&root) {
        Err(failure) if failure.is_not_found() => return Ok(()),
        other => other?,
    };
    for entry in entries.iter().filter(|entry| entry.name() != "Current") {
        if is_old(entry, keep, immediately) {
            store.delete(&entry.path, true)?;
        }
    }
    let current = child(&root, "Current");
    if !store.exists(&current)? {
        return Ok(());
    }
    if immediately {
        store.delete(&current, true)?;
        return Ok(());
    }
    let checkpoint = child(&root, &time(now_ms(), CHECKPOINT, &TimeZone::system()));
    store.rename(&current, &checkpoint)?;
    shell.flush()
}

/// Only names that are checkpoints count; whatever else lies in the trash stays.
fn is_old(entry: &Status, keep: Duration, immediately: bool) -> bool {
    let digits = entry.name().split('-').next().unwrap_or_default();
    let Ok(made) = DateTime::strptime(CHECKPOINT, digits) else { return false };
    let Ok(made) = made.to_zoned(TimeZone::system()) else { return false };
    let age = now_ms() - made.timestamp().as_millisecond();
    immediately || age > i64::try_from(keep.as_millis()).unwrap_or(i64::MAX)
}
