//! The last argument of a copy or move: what it stands for, and what may go there.

use super::item::Item;
use super::location::file_name;
use super::shell::Shell;
use crate::failure::{Failure, Outcome};

/// The rules about the last argument of a copy or move.
pub struct Destination;

impl Destination {
    /// Several sources need a directory; one source needs a free name below a directory that exists.
    pub fn check(target: &Item, sources: &[Item], overwrite: bool) -> Outcome {
        match &target.status {
            None if sources.len() > 1 => Err(Failure::not_found(&target.text)),
            Some(status) if sources.len() > 1 && !status.is_dir() => {
                Err(Failure::not_directory(&target.text))
            }
            Some(status) if sources.len() == 1 && !status.is_dir() && !overwrite => {
                Err(Failure::exists(&target.text))
            }
            None if !target.parent_exists()? => Err(target.no_parent()),
            _ => Ok(()),
        }
    }

    /// Where a source goes: into the directory, or to the name itself.
    pub fn of(target: &Item, source: &Item) -> Outcome<Item> {
        if target.is_dir() || target.looks_like_directory() {
            return target.child(file_name(&source.path));
        }
        Ok(target.clone())
    }

    /// A directory cannot be put into itself.
    pub fn check_not_inside(source: &Item, to: &Item) -> Outcome {
        if !source.is_dir() || source.store.uri() != to.store.uri() {
            return Ok(());
        }
        let (from, into) = (&source.path, &to.path);
        let (problem, named) = if from == into {
            ("are identical", to.qualified())
        } else if into.starts_with(&format!("{}/", from.trim_end_matches('/'))) {
            ("is a subdirectory of itself", to.text.clone())
        } else {
            return Ok(());
        };
        Err(Failure::io(format!("`{}' to `{named}': {problem}", source.text)))
    }
}

/// The last argument as destination; `.` where there is only one argument.
pub fn remote_destination(shell: &mut Shell, args: &mut Vec<String>) -> Outcome<Item> {
    if args.len() < 2 {
        return shell.item(".");
    }
    let text = args.pop().unwrap_or_default();
    let mut items = shell.expand(&text)?;
    match (items.pop(), items.is_empty()) {
        (Some(item), true) => Ok(item),
        _ => Err(Failure::path(text, "Too many matches")),
    }
}
