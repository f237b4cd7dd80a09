//! `-createSnapshot`, `-deleteSnapshot`, `-renameSnapshot`

use super::item::Item;
use super::shell::Shell;
use crate::failure::{Failure, Outcome};

/// The one directory that the argument stands for.
fn directory(shell: &mut Shell, text: &str) -> Outcome<Item> {
    let mut items = shell.expand(text)?;
    let Some(item) = items.pop().filter(|_| items.is_empty()) else {
        return Err(Failure::path(text, "Too many matches"));
    };
    item.found()?;
    if item.is_dir() { Ok(item) } else { Err(Failure::not_directory(&item.text)) }
}

pub fn create(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let (path, name) = match args.as_slice() {
        [] => return Err(Failure::usage("<snapshotDir> is missing.")),
        [path] => (path, None),
        [path, name] => (path, Some(name.as_str())),
        _ => return Err(Failure::usage("Too many arguments.")),
    };
    let item = directory(shell, path)?;
    let snapshot = item.store.create_snapshot(&item.path, name)?;
    shell.line(format!("Created snapshot {snapshot}"))
}

pub fn delete(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let [path, name] = args.as_slice() else {
        return Err(Failure::usage("Incorrect number of arguments."));
    };
    let item = directory(shell, path)?;
    item.store.delete_snapshot(&item.path, name)?;
    shell.line(format!("Deleted snapshot {name} under {}", item.qualified()))
}

pub fn rename(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let [path, from, to] = args.as_slice() else {
        return Err(Failure::usage("Incorrect number of arguments."));
    };
    let item = directory(shell, path)?;
    item.store.rename_snapshot(&item.path, from, to)?;
    shell.line(format!("Renamed snapshot {from} to {to} under {}", item.qualified()))
}
