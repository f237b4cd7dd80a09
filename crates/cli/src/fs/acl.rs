//! `-getfacl` and `-setfacl`

use super::item::Item;
use super::options::Options;
use super::shell::Shell;
use super::store::{AclChange, AclEntry, AclKind, Status};
use crate::failure::{Failure, Outcome};

/// `rwx` of three bits.
fn symbol(bits: u32) -> String {
    let letter = |bit: u32, letter: char| if bits & bit != 0 { letter } else { '-' };
    [letter(4, 'r'), letter(2, 'w'), letter(1, 'x')].iter().collect()
}

impl AclEntry {
    fn text(&self) -> String {
        let kind = match self.kind {
            AclKind::User => "user",
            AclKind::Group => "group",
            AclKind::Mask => "mask",
            AclKind::Other => "other",
        };
        let scope = if self.is_default { "default:" } else { "" };
        format!(
            "{scope}{kind}:{}:{}",
            self.name.as_deref().unwrap_or_default(),
            symbol(self.permission)
        )
    }

    fn parse(text: &str, with_permission: bool) -> Outcome<AclEntry> {
        let invalid = || Failure::usage(format!("Invalid <aclSpec> : {text}"));
        let mut fields: Vec<&str> = text.split(':').collect();
        // Java's split leaves trailing empty fields out.
        while fields.last().is_some_and(|field| field.is_empty()) {
            fields.pop();
        }
        let mut fields = fields.into_iter().peekable();
        let is_default = fields.next_if_eq(&"default").is_some();
        let kind = match fields.next().ok_or_else(invalid)?.to_ascii_lowercase().as_str() {
            "user" => AclKind::User,
            "group" => AclKind::Group,
            "mask" => AclKind::Mask,
            "other" => AclKind::Other,
            _ => return Err(Failure::usage(format!("Invalid type of acl in <aclSpec> :{text}"))),
        };
        let name = fields.next().filter(|name| !name.is_empty()).map(str::to_owned);
        let mut permission = 7;
        if with_permission {
            let letters = fields.next().ok_or_else(invalid)?;
            permission = (0..8).find(|bits| symbol(*bits) == letters).ok_or_else(|| {
                Failure::usage(format!("Invalid permission in <aclSpec> : {text}"))
            })?;
        }
        match fields.next() {
            Some(_) => Err(invalid()),
            None => Ok(AclEntry { is_default, kind, name, permission }),
        }
    }
}

/// The entries that permission bits and extended entries make together, in order.
fn full_list(status: &Status, extended: &[AclEntry]) -> Vec<AclEntry> {
    let bits = |shift: u32| (status.mode >> shift) & 7;
    let entry = |kind, permission| AclEntry { is_default: false, kind, name: None, permission };
    let (access, default): (Vec<_>, Vec<_>) =
        extended.iter().cloned().partition(|entry| !entry.is_default);
    let mut list = vec![entry(AclKind::User, bits(6))];
    if access.is_empty() {
        list.push(entry(AclKind::Group, bits(3)));
    } else {
        // The group bits of the file are the mask; the group's own entry is among the extended.
        list.extend(access);
        list.push(entry(AclKind::Mask, bits(3)));
    }
    list.push(entry(AclKind::Other, bits(0)));
    list.extend(default);
    list
}

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
    let list = full_list(status, &extended);
    for entry in &list {
        let mask =
            list.iter().find(|one| one.kind == AclKind::Mask && one.is_default == entry.is_default);
        let masked = entry.name.is_some() || entry.kind == AclKind::Group;
        let effective = mask.filter(|_| masked).map(|mask| mask.permission & entry.permission);
        match effective.filter(|effective| *effective != entry.permission) {
            Some(effective) => {
                shell.line(format!("{}\t#effective:{}", entry.text(), symbol(effective)))?;
            }
            None => shell.line(entry.text())?,
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
            .map(|part| AclEntry::parse(part, !given.has("x")))
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

/// Below a folder, files take the access entries only.
fn entries_for(item: &Item, recursive: bool, entries: &[AclEntry]) -> Vec<AclEntry> {
    let keep = |entry: &&AclEntry| !recursive || item.is_dir() || !entry.is_default;
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

/// All entries of a path, for a copy that keeps them.
pub fn all_entries(item: &Item) -> Outcome<Vec<AclEntry>> {
    Ok(full_list(item.found()?, &item.store.acl(&item.path)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_and_written() {
        let text = |spec: &str| AclEntry::parse(spec, true).unwrap().text();
        assert_eq!(text("user:bruce:rw-"), "user:bruce:rw-");
        assert_eq!(text("default:GROUP::r-x"), "default:group::r-x");
        assert_eq!(AclEntry::parse("user:bruce", false).unwrap().permission, 7);
        let error = |spec: &str| AclEntry::parse(spec, true).unwrap_err().text;
        assert_eq!(error("user:bruce:rwz"), "Invalid permission in <aclSpec> : user:bruce:rwz");
        assert_eq!(error("who:bruce:rwx"), "Invalid type of acl in <aclSpec> :who:bruce:rwx");
        assert_eq!(error("user:bruce"), "Invalid <aclSpec> : user:bruce");
        assert_eq!(error(":::"), "Invalid <aclSpec> : :::");
    }
}
