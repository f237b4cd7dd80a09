//! Commands on what hangs on a path: rights, owners, times, attributes, quotas.

use zerohop_client::blocking::FileSystem;
use zerohop_client::{AclEntry, AclKind, Error, XAttrFlags};

use crate::answer::{Answer, done, invalid, number, one};
use crate::paths::{hex, octal};

/// Runs a command on attributes; `None` for a command that is none.
pub fn run(fs: &FileSystem, command: &str, args: &[&str]) -> Option<Answer> {
    Some(match (command, args) {
        ("access", [path, action]) => bits(action).and_then(|m| fs.access(path, m)).map(done),
        ("setrep", [path, n]) => number(n).and_then(|n| fs.set_replication(path, n)).map(one),
        ("chmod", [path, mode]) => octal(mode).and_then(|m| fs.set_permission(path, m)).map(done),
        ("chown", [path, owner, group]) => fs.set_owner(path, given(owner), given(group)).map(done),
        ("settimes", [path, modified, accessed]) => {
            fs.set_times(path, modified.parse().ok(), accessed.parse().ok()).map(done)
        }
        ("times", [path]) => {
            fs.status(path).map(|s| vec![s.modified_ms.to_string(), s.accessed_ms.to_string()])
        }
        ("setxattr", [path, name, value]) => {
            unhex(value).and_then(|v| fs.set_xattr(path, name, &v, XAttrFlags::default())).map(done)
        }
        ("getxattr", [path, name]) => {
            fs.xattr(path, name).map(|v| one(hex(&v.unwrap_or_default())))
        }
        ("listxattr", [path]) => fs.list_xattrs(path).map(|mut names| {
            names.sort();
            names
        }),
        ("removexattr", [path, name]) => fs.remove_xattr(path, name).map(done),
        ("setacl", [path, spec]) => entries(spec).and_then(|e| fs.set_acl(path, &e)).map(done),
        ("modifyacl", [path, spec]) => {
            entries(spec).and_then(|e| fs.modify_acl(path, &e)).map(done)
        }
        ("removeacl", [path]) => fs.remove_acl(path).map(done),
        ("getacl", [path]) => fs
            .acl_status(path)
            .map(|status| one(status.entries.iter().map(text).collect::<Vec<_>>().join(","))),
        ("summary", [path]) => summary(fs, path),
        ("setquota", [path, names, space]) => {
            fs.set_quota(path, limit(names), limit(space)).map(done)
        }
        ("quota", [path]) => quota(fs, path),
        ("setpolicy", [path, name]) => fs.set_storage_policy(path, name).map(done),
        ("getpolicy", [path]) => fs.storage_policy(path).map(|policy| one(policy.name)),
        _ => return None,
    })
}

fn given(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// A quota of a request: -1 takes it away.
fn limit(text: &str) -> Option<Option<u64>> {
    Some(text.parse().ok())
}

fn summary(fs: &FileSystem, path: &str) -> Answer {
    let s = fs.content_summary(path)?;
    let counts = [s.len.to_string(), s.files.to_string(), s.directories.to_string()];
    let quotas = [s.quota.to_string(), s.space_consumed.to_string(), s.space_quota.to_string()];
    Ok([counts, quotas].concat())
}

fn quota(fs: &FileSystem, path: &str) -> Answer {
    let q = fs.quota_usage(path)?;
    Ok(vec![
        q.files_and_directories.to_string(),
        q.quota.to_string(),
        q.space_consumed.to_string(),
        q.space_quota.to_string(),
    ])
}

fn unhex(text: &str) -> Result<Vec<u8>, Error> {
    let digit = |at: usize| text.get(at..at + 2).and_then(|d| u8::from_str_radix(d, 16).ok());
    let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(digit).collect();
    bytes.ok_or_else(|| invalid(format!("not hex: {text}")))
}

/// `rwx` with `-` for what is not given.
fn bits(text: &str) -> Result<u8, Error> {
    let mut mode = 0;
    for c in text.chars() {
        mode |= match c {
            'r' => 4,
            'w' => 2,
            'x' => 1,
            '-' => 0,
            _ => return Err(invalid(format!("not permissions: {text}"))),
        };
    }
    Ok(mode)
}

fn entries(spec: &str) -> Result<Vec<AclEntry>, Error> {
    spec.split(',').map(entry).collect()
}

fn entry(spec: &str) -> Result<AclEntry, Error> {
    let rest = spec.strip_prefix("default:");
    let fields: Vec<&str> = rest.unwrap_or(spec).split(':').collect();
    let [kind, name, permission] = fields[..] else {
        return Err(invalid(format!("not an ACL entry: {spec}")));
    };
    let kind = match kind {
        "user" => AclKind::User,
        "group" => AclKind::Group,
        "mask" => AclKind::Mask,
        "other" => AclKind::Other,
        _ => return Err(invalid(format!("not an ACL entry: {spec}"))),
    };
    let mut entry = AclEntry::new(kind, bits(permission)?);
    entry.name = given(name).map(Into::into);
    Ok(if rest.is_some() { entry.default_scope() } else { entry })
}

fn text(entry: &AclEntry) -> String {
    let scope = if entry.is_default() { "default:" } else { "" };
    let kind = match entry.kind {
        AclKind::User => "user",
        AclKind::Group => "group",
        AclKind::Mask => "mask",
        AclKind::Other => "other",
    };
    let mark = |bit: u8, c: char| if entry.permission & bit != 0 { c } else { '-' };
    let name = entry.name.as_deref().unwrap_or_default();
    format!("{scope}{kind}:{name}:{}{}{}", mark(4, 'r'), mark(2, 'w'), mark(1, 'x'))
}
