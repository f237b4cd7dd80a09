//! `-getfacl` and `-setfacl`

use zerohop_client::{AclEntry, AclKind};

use super::acl_entry::{self, AclChange, full_list, symbol};
use super::item::Item;
use super::options::Options;
use super::shell::Shell;
use crate::failure::{Failure, Outcome};

pub fn getfacl(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let given = Options::new(0, usize::MAX, &["R"]).parse(args)?;
    check_one_path(&given.rest)?;
    let recursive = given.has("R");
    shell.walk_args(&given.rest, recursive, &mut |shell, item, _| print(shell, item))
}

fn check_one_path(paths: &[String]) -> Outcome {
    match paths.len() {
        0 => Err(Failure::usage("<path> is missing")),
        1 => Ok(()),
        _ => Err(Failure::usage("Too many arguments")),
    }
}

fn print(shell: &mut Shell, item: &Item) -> Outcome {
    let status = item.found()?;
    let extended = if status.has_acl { item.store.acl(&item.path)? } else { Vec::new() };
    shell.line(format!("# file: {}", item.text))?;
    shell.line(format!("# owner: {}", status.owner))?;
    shell.line(format!("# group: {}", status.group))?;
    if status.mode & 0o1000 != 0 {
        shell.line(if status.mode & 1 != 0 { "# flags: --t" } else { "# flags: --T" })?;
    }
    let list = full_list(status.mode, &extended);
    for entry in &list {
        let mask = list.iter().find(|one| one.kind == AclKind::Mask && one.scope == entry.scope);
        let masked = entry.name.is_some() || entry.kind == AclKind::Group;
        let effective = mask.filter(|_| masked).map(|mask| mask.permission & entry.permission);
        match effective.filter(|effective| *effective != entry.permission) {
            Some(effective) => {
                shell.line(format!("{}\t#effective:{}", entry, symbol(effective)))?;
            }
            None => shell.line(entry.to_string())?,
        }
    }
    shell.line("")
}

pub fn setfacl(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let mut given = Options::new(0, usize::MAX, &["b", "k", "R", "m", "x", "-set"]).parse(args)?;
    let flags = ["b", "k", "m", "x", "-set"].into_iter().filter(|flag| given.has(flag));
    let flags: Vec<&str> = flags.collect();
    if flags.len() > 1 {
        return Err(Failure::usage("Specified flags contains both remove and modify flags"));
    }
    let mut entries = Vec::new();
    if flags.iter().any(|flag| matches!(*flag, "m" | "x" | "-set")) {
        match given.rest.len() {
            0 => return Err(Failure::usage("Missing arguments: <acl_spec> <path>")),
            1 => return Err(Failure::usage("Missing either <acl_spec> or <path>")),
            _ => {}
        }
        let spec = given.take_first();
        let parts = spec.split(',').map(str::trim).filter(|part| !part.is_empty());
        entries = parts
            .map(|part| acl_entry::parse(part, !given.has("x")))
            .collect::<Outcome<Vec<AclEntry>>>()?;
        if entries.is_empty() {
            return Err(Failure::usage("Missing <acl_spec> entry"));
        }
    }
    check_one_path(&given.rest)?;
    let Some(flag) = flags.first().copied() else {
        return Err(Failure::usage("Expected one of -b, -k, -m, -x or --set options"));
    };
    let recursive = given.has("R");
    shell.walk_args(&given.rest, recursive, &mut |_, item, _| {
        change(item, flag, entries_for(item, recursive, &entries))
    })
}

/// Below a directory, files take the access entries only.
fn entries_for(item: &Item, recursive: bool, entries: &[AclEntry]) -> Vec<AclEntry> {
    let keep = |entry: &&AclEntry| !recursive || item.is_dir() || !entry.is_default();
    entries.iter().filter(keep).cloned().collect()
}

fn change(item: &Item, flag: &str, entries: Vec<AclEntry>) -> Outcome {
    let change = match flag {
        "b" => AclChange::RemoveAll,
        "k" => AclChange::RemoveDefault,
        _ if entries.is_empty() => return Ok(()),
        "m" => AclChange::Modify(entries),
        "x" => AclChange::Remove(entries),
        _ => AclChange::Set(entries),
    };
    item.store.change_acl(&item.path, change)
}
