//! Attributes of files and directories that `-p` preserves.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use zerohop_wire::checksum_type::{ChecksumType, DataChecksum};

use crate::failure::{Failure, Outcome};
use crate::fs::acl_entry::{AclChange, full_list};
use crate::fs::status::Status;
use crate::fs::store::{CreateHow, Store, Times};

const STICKY: u32 = 0o1000;

/// Attributes to preserve.
#[derive(Debug, Clone, Copy, Default)]
pub struct Attributes {
    pub replication: bool,
    pub block_size: bool,
    pub user: bool,
    pub group: bool,
    pub permission: bool,
    pub checksum_type: bool,
    pub acl: bool,
    pub xattr: bool,
    pub times: bool,
    pub erasure_policy: bool,
    /// `raw.*` extended attributes: preserved for paths below `/.reserved/raw`, without a letter.
    pub raw_xattr: bool,
}

/// Attributes of a source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    pub modified_ms: i64,
    pub accessed_ms: i64,
    pub owner: String,
    pub group: String,
    pub mode: u32,
    pub has_acl: bool,
    /// `None` for directories and erasure-coded files.
    pub replication: Option<i32>,
}

impl Facts {
    pub fn of(status: &Status) -> Facts {
        let is_replicated = !status.is_dir() && status.erasure_policy.is_empty();
        Facts {
            modified_ms: status.modified_ms,
            accessed_ms: status.accessed_ms,
            owner: status.owner.clone(),
            group: status.group.clone(),
            mode: status.mode,
            has_acl: status.has_acl,
            replication: is_replicated.then_some(status.replication),
        }
    }
}

impl Attributes {
    /// Adds attributes by their letters, in either case.
    pub fn add(&mut self, letters: &str) -> Outcome {
        for letter in letters.chars() {
            let attribute = match letter.to_ascii_lowercase() {
                'r' => &mut self.replication,
                'b' => &mut self.block_size,
                'u' => &mut self.user,
                'g' => &mut self.group,
                'p' => &mut self.permission,
                'c' => &mut self.checksum_type,
                'a' => &mut self.acl,
                'x' => &mut self.xattr,
                't' => &mut self.times,
                'e' => &mut self.erasure_policy,
                _ => {
                    return Err(Failure::usage(format!(
                        "-p{letters}: No enum constant for {letter}; the letters are rbugpcaxte"
                    )));
                }
            };
            *attribute = true;
        }
        Ok(())
    }

    /// Returns the options for creating a copy: replication, block size and checksum type.
    pub fn create_how(self, source: &dyn Store, path: &str, status: &Status) -> Outcome<CreateHow> {
        let mut how = CreateHow { overwrite: true, ..CreateHow::default() };
        if self.replication && status.erasure_policy.is_empty() {
            how.replication = u16::try_from(status.replication).ok().filter(|count| *count > 0);
        }
        if self.block_size || self.checksum_type {
            how.block_size = u64::try_from(status.block_size).ok().filter(|size| *size > 0);
        }
        if self.checksum_type {
            how.checksum = source.checksum(path)?.and_then(|sum| checksum_of(&sum.algorithm));
        }
        Ok(how)
    }

    /// Applies the attributes to a copy as `DistCpUtils.preserve`: equal attributes are left alone.
    pub fn apply(
        self,
        source: (&dyn Store, &str),
        facts: &Facts,
        target: &dyn Store,
        path: &str,
    ) -> Outcome {
        let asks = self.replication
            || self.user
            || self.group
            || self.permission
            || self.acl
            || self.xattr
            || self.raw_xattr
            || self.times;
        if !asks {
            return Ok(());
        }
        let found = target.status(path)?;
        if self.acl {
            apply_acl(source, facts, target, path, &found)?;
        } else if self.permission && facts.mode != found.mode {
            target.set_permission(path, facts.mode)?;
        }
        if self.xattr || self.raw_xattr {
            self.apply_xattrs(source, target, path)?;
        }
        if let Some(replication) = facts.replication
            && self.replication
            && !found.is_dir()
            && found.erasure_policy.is_empty()
            && replication != found.replication
        {
            target.set_replication(path, replication)?;
        }
        let owner = Some(facts.owner.as_str()).filter(|name| self.user && *name != found.owner);
        let group = Some(facts.group.as_str()).filter(|name| self.group && *name != found.group);
        if owner.is_some() || group.is_some() {
            target.set_owner(path, owner, group)?;
        }
        if self.times {
            let (modified_ms, accessed_ms) = (Some(facts.modified_ms), Some(facts.accessed_ms));
            target.set_times(path, Times { modified_ms, accessed_ms })?;
        }
        Ok(())
    }

    fn apply_xattrs(self, source: (&dyn Store, &str), target: &dyn Store, path: &str) -> Outcome {
        let is_kept =
            |name: &str| if name.starts_with("raw") { self.raw_xattr } else { self.xattr };
        let wanted: BTreeMap<String, Vec<u8>> =
            source.0.xattrs(source.1)?.into_iter().filter(|(name, _)| is_kept(name)).collect();
        let found: BTreeMap<String, Vec<u8>> = target.xattrs(path)?.into_iter().collect();
        if wanted != found {
            for (name, value) in &wanted {
                target.set_xattr(path, name, value)?;
            }
        }
        Ok(())
    }
}

fn apply_acl(
    source: (&dyn Store, &str),
    facts: &Facts,
    target: &dyn Store,
    path: &str,
    found: &Status,
) -> Outcome {
    let extended = if facts.has_acl { source.0.acl(source.1)? } else { Vec::new() };
    let wanted = full_list(facts.mode, &extended);
    if wanted != full_list(found.mode, &target.acl(path)?) {
        // `setAcl` alone would keep default entries that the source does not have.
        target.change_acl(path, AclChange::RemoveAll)?;
        target.change_acl(path, AclChange::Set(wanted))?;
    }
    match facts.mode & STICKY != found.mode & STICKY {
        true => target.set_permission(path, facts.mode),
        false => Ok(()),
    }
}

/// Parses the checksum type from the name of a file checksum: `MD5-of-0MD5-of-512CRC32C`, `COMPOSITE-CRC32C`.
fn checksum_of(algorithm: &str) -> Option<DataChecksum> {
    let kind = match algorithm {
        _ if algorithm.ends_with("CRC32C") => ChecksumType::Crc32c,
        _ if algorithm.ends_with("CRC32") => ChecksumType::Crc32,
        _ => return None,
    };
    let bytes = match algorithm.rsplit_once("MD5-of-") {
        Some((_, sum)) => sum.split("CRC").next()?.parse().ok()?,
        None => DataChecksum::default().bytes_per_checksum().try_into().ok()?,
    };
    DataChecksum::new(kind, bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_types_are_read_from_the_names_of_checksums() {
        let sum = |kind, bytes| DataChecksum::new(kind, bytes).ok();
        for (name, expected) in [
            ("MD5-of-0MD5-of-512CRC32C", sum(ChecksumType::Crc32c, 512)),
            ("MD5-of-262144MD5-of-1024CRC32", sum(ChecksumType::Crc32, 1024)),
            ("COMPOSITE-CRC32C", sum(ChecksumType::Crc32c, 512)),
            ("MD5-of-0MD5-of-0CRC32", None),
            ("ETAG", None),
        ] {
            assert_eq!(checksum_of(name), expected, "{name}");
        }
    }
}
