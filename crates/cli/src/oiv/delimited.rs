//! A line for each file and directory (`PBImageDelimitedTextWriter`).

use std::collections::HashMap;
use std::io::Write;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use zerohop_journal::image::{ImageReader, SectionName};
use zerohop_proto::hdfs::fsimage::INodeSection;
use zerohop_proto::hdfs::fsimage::i_node_directory_section::DirEntry;
use zerohop_proto::hdfs::fsimage::i_node_section::{INode, i_node::Type};

use super::names::Names;
use crate::failure::{Failure, Outcome};
use crate::fs::permission;

/// The inode of `/`.
const ROOT: u64 = 16385;
/// Deeper trees are a circle.
const DEPTH_MAX: usize = 100_000;
const TITLES: [&str; 12] = [
    "Path",
    "Replication",
    "ModificationTime",
    "AccessTime",
    "PreferredBlockSize",
    "BlocksCount",
    "FileSize",
    "NSQUOTA",
    "DSQUOTA",
    "Permission",
    "UserName",
    "GroupName",
];

/// Hadoop's own erasure coding policies, whose numbers begin at 1.
const ERASURE_CODING: [&str; 5] =
    ["RS-6-3-1024k", "RS-3-2-1024k", "RS-LEGACY-6-3-1024k", "XOR-2-1-1024k", "RS-10-4-1024k"];

/// Optional fields of a line.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fields {
    /// The number of the storage policy.
    pub storage_policy: bool,
    /// The name of the erasure coding policy.
    pub erasure_coding: bool,
}

/// Where each inode is, and what directories are called.
#[derive(Default)]
struct Tree {
    parents: HashMap<u64, u64>,
    directories: HashMap<u64, String>,
}

/// Prints all inodes in the order of the image.
pub fn write(image: &ImageReader, delimiter: &str, fields: Fields, out: &mut dyn Write) -> Outcome {
    let names = Names::read(image).map_err(Failure::of)?;
    let mut tree = Tree::default();
    each_inode(image, |inode| {
        if inode.r#type() == Type::Directory {
            tree.directories.insert(inode.id, name_of(&inode));
        }
        Ok(())
    })?;
    if let Some(mut section) = image.section(SectionName::InodeDir).map_err(Failure::of)? {
        while let Some(entry) = section.next::<DirEntry>().map_err(Failure::of)? {
            let parent = entry.parent();
            tree.parents.extend(entry.children.iter().map(|child| (*child, parent)));
        }
    }
    let mut titles = TITLES.to_vec();
    titles.extend(fields.storage_policy.then_some("StoragePolicyId"));
    titles.extend(fields.erasure_coding.then_some("ErasureCodingPolicy"));
    writeln!(out, "{}", titles.join(delimiter))?;
    each_inode(image, |inode| {
        let Some(path) = tree.path(&inode) else { return Ok(()) };
        let mut line = line(&inode, &path, &names);
        let policies = Policies::of(&inode, &names);
        line.extend(fields.storage_policy.then(|| policies.storage.to_string()));
        line.extend(fields.erasure_coding.then(|| field(&policies.erasure_coding)));
        writeln!(out, "{}", line.join(delimiter))?;
        Ok(())
    })
}

fn each_inode(image: &ImageReader, mut visit: impl FnMut(INode) -> Outcome) -> Outcome {
    let Some(mut section) = image.section(SectionName::Inode).map_err(Failure::of)? else {
        return Err(Failure::io("the image has no inodes"));
    };
    let head: INodeSection = section.expect().map_err(Failure::of)?;
    (0..head.num_inodes()).try_for_each(|_| visit(section.expect().map_err(Failure::of)?))
}

fn name_of(inode: &INode) -> String {
    String::from_utf8_lossy(inode.name()).into_owned()
}

impl Tree {
    /// `None` for an inode that no directory has: it is in a snapshot only.
    fn path(&self, inode: &INode) -> Option<String> {
        if inode.id == ROOT {
            return Some("/".to_owned());
        }
        let mut parts = vec![name_of(inode)];
        let mut at = *self.parents.get(&inode.id)?;
        while at != ROOT {
            parts.push(self.directories.get(&at)?.clone());
            at = *self.parents.get(&at)?;
            if parts.len() > DEPTH_MAX {
                return None;
            }
        }
        parts.reverse();
        Some(format!("/{}", parts.join("/")))
    }
}

fn line(inode: &INode, path: &str, names: &Names) -> Vec<String> {
    let zero = || "0".to_owned();
    let time = |ms: u64| {
        let moment = Timestamp::from_millisecond(ms as i64).unwrap_or_default();
        moment.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
    };
    let owner = |kind: &str, bits: u64, has_acl: bool| {
        let (user, group, mode) = names.owner(bits);
        let acl = if has_acl { "+" } else { "" };
        [format!("{kind}{}{acl}", permission(mode)), field(user), field(group)]
    };
    let mut fields = vec![field(path)];
    match inode.r#type() {
        Type::File => {
            let file = inode.file.clone().unwrap_or_default();
            let size: u64 = file.blocks.iter().map(|block| block.num_bytes()).sum();
            let has_acl = file.acl.as_ref().is_some_and(|acl| !acl.entries.is_empty());
            fields.extend([file.replication().to_string(), time(file.modification_time())]);
            fields.extend([time(file.access_time()), file.preferred_block_size().to_string()]);
            fields.extend([file.blocks.len().to_string(), size.to_string(), zero(), zero()]);
            fields.extend(owner("-", file.permission(), has_acl));
        }
        Type::Directory => {
            let directory = inode.directory.clone().unwrap_or_default();
            let has_acl = directory.acl.as_ref().is_some_and(|acl| !acl.entries.is_empty());
            fields.extend([zero(), time(directory.modification_time()), time(0)]);
            fields.extend([zero(), zero(), zero()]);
            fields.push((directory.ns_quota() as i64).to_string());
            fields.push((directory.ds_quota() as i64).to_string());
            fields.extend(owner("d", directory.permission(), has_acl));
        }
        Type::Symlink => {
            let link = inode.symlink.clone().unwrap_or_default();
            fields.extend([zero(), time(link.modification_time()), time(link.access_time())]);
            fields.extend([zero(), zero(), zero(), zero(), zero()]);
            fields.extend(owner("-", link.permission(), false));
        }
    }
    fields
}

/// The policies of an inode itself; those of its parents count for it, too, and are not shown.
struct Policies {
    /// 0 without one.
    storage: i32,
    /// A dash without one.
    erasure_coding: String,
}

impl Policies {
    fn of(inode: &INode, names: &Names) -> Policies {
        let (storage, erasure_coding) = match inode.r#type() {
            Type::File => {
                let file = inode.file.clone().unwrap_or_default();
                let erasure_coding = file
                    .erasure_coding_policy_id
                    .and_then(|id| ERASURE_CODING.get(usize::try_from(id).ok()?.checked_sub(1)?));
                (file.storage_policy_id() as i32, erasure_coding.map(|name| (*name).to_owned()))
            }
            Type::Directory => {
                let attributes = inode.directory.clone().unwrap_or_default().x_attrs;
                let value = |name: &str| {
                    let mut all = attributes.iter().flat_map(|attributes| &attributes.x_attrs);
                    let found = all.find(|one| names.system_attribute(one.name) == Some(name));
                    found.map(|one| one.value().to_vec())
                };
                let storage = value("hsm.block.storage.policy.id");
                let storage = storage.and_then(|value| value.first().copied());
                // The name follows its length.
                let name = value("hdfs.erasurecoding.policy");
                let name = name.and_then(|value| Some(value.split_first_chunk::<4>()?.1.to_vec()));
                let name = name.map(|name| String::from_utf8_lossy(&name).into_owned());
                (storage.map_or(0, |id| id.cast_signed().into()), name)
            }
            Type::Symlink => (0, None),
        };
        Policies { storage, erasure_coding: erasure_coding.unwrap_or_else(|| "-".to_owned()) }
    }
}

/// Quoted where a reader of comma-separated values would trip.
fn field(text: &str) -> String {
    let quoted = match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    };
    match quoted.contains("\r\n") {
        true => quoted.replace("\r\n", "%x0D%x0A"),
        false => quoted.replace('\n', "%x0A"),
    }
}
