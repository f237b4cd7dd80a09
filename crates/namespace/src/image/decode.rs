//! Decodes an inode's message. The namespace is not needed for it, so several threads do it.

use super::names::NameReader;
use crate::answers::XAttr;
use crate::error::ADVICE;
use crate::quota::{Counts, Quota, TYPES};
use crate::tree::{Acl, Body, Directory, File, Inode, NO_SLOT, Permission, Symlink, Writer};
use crate::unsupported::feature_of;
use compact_str::CompactString;
use smallvec::SmallVec;
use zerohop_proto::hdfs::fsimage::i_node_section as inode;
use zerohop_wire::{Block, GenerationStamp, InodeId, StorageType};

/// What is wrong with a message.
type Result<T> = std::result::Result<T, String>;

/// An inode that is not in the tree yet.
pub(super) struct DecodedInode {
    pub(super) node: Inode,
    pub(super) name: CompactString,
    /// For the block manager; most files have one.
    pub(super) blocks: SmallVec<[Block; 1]>,
    /// Length and stamp that the last block gets from a truncate that is under way.
    pub(super) cut: Option<(u64, GenerationStamp)>,
}

pub(super) fn decode_inode(message: inode::INode, names: &NameReader) -> Result<DecodedInode> {
    let id = InodeId(message.id);
    let Ok(name) = std::str::from_utf8(message.name()) else {
        return Err(format!("inode {id} has a name that is not UTF-8: {:?}", message.name()));
    };
    if id != InodeId::ROOT && (name.is_empty() || name.contains('/')) {
        return Err(format!("inode {id} has the name {name:?}"));
    }
    let name = CompactString::from(name);
    let in_inode = |what: String| format!("inode {id} {what}");
    // The body is replaced in each case; this one costs nothing.
    let mut node = Inode::new(id, Permission::default(), Body::Free(NO_SLOT));
    let (mut blocks, mut cut) = (SmallVec::new(), None);
    let (is_file, is_link, is_directory) =
        (message.file.is_some(), message.symlink.is_some(), message.directory.is_some());
    let fits = match message.r#type() {
        inode::i_node::Type::File => is_file && !is_link && !is_directory,
        inode::i_node::Type::Symlink => is_link && !is_file && !is_directory,
        inode::i_node::Type::Directory => is_directory && !is_file && !is_link,
    };
    if !fits {
        return Err(in_inode(format!("says that it is a {:?}, and is not", message.r#type())));
    }
    if let Some(file) = message.file {
        cut = file.file_uc.as_ref().and_then(truncate_target);
        blocks = fill_file(&mut node, file, names)?;
    } else if let Some(link) = message.symlink {
        node.permission = names.permission(link.permission()).map_err(in_inode)?;
        node = node.with_times(link.modification_time(), link.access_time());
        node.body = Body::Symlink(Box::new(Symlink { target: link.target().to_vec() }));
    } else {
        let directory = message.directory.unwrap_or_default();
        node.permission = names.permission(directory.permission()).map_err(in_inode)?;
        node = node.with_times(directory.modification_time(), directory.access_time());
        node.body = Body::Directory(Box::new(Directory {
            quota: load_quota(&directory).map_err(in_inode)?,
            acl: load_acl(directory.acl, names).map_err(in_inode)?,
            xattrs: load_xattrs(id, directory.x_attrs, names)?,
            ..Directory::default()
        }));
    }
    Ok(DecodedInode { node, name, blocks, cut })
}

fn truncate_target(writer: &inode::FileUnderConstructionFeature) -> Option<(u64, GenerationStamp)> {
    Some((writer.truncate_length?, GenerationStamp(writer.truncate_gen_stamp? as i64)))
}

fn fill_file(
    node: &mut Inode,
    message: inode::INodeFile,
    names: &NameReader,
) -> Result<SmallVec<[Block; 1]>> {
    if message.block_type.is_some_and(|kind| kind != 0) {
        return Err(format!("file {} needs erasure coding, {ADVICE}", node.id));
    }
    let id = node.id;
    let in_inode = |what: String| format!("inode {id} {what}");
    node.permission = names.permission(message.permission()).map_err(in_inode)?;
    let Ok(replication) = u16::try_from(message.replication()) else {
        return Err(in_inode(format!("has the replication {}", message.replication())));
    };
    let Ok(policy) = u8::try_from(message.storage_policy_id()) else {
        return Err(in_inode(format!("has the storage policy {}", message.storage_policy_id())));
    };
    node.set_mtime(message.modification_time());
    node.set_atime(message.access_time());
    let mut file = File::new(replication, message.preferred_block_size(), policy);
    let blocks: SmallVec<[Block; 1]> = message.blocks.iter().map(Block::from).collect();
    blocks.iter().for_each(|block| file.blocks.push(block.id));
    file.set_writer(message.file_uc.map(|writer| Writer {
        client_name: writer.client_name().into(),
        client_machine: writer.client_machine().into(),
    }));
    node.body = Body::File(file);
    node.set_acl(load_acl(message.acl, names).map_err(in_inode)?);
    node.set_xattrs(load_xattrs(node.id, message.x_attrs, names)?);
    Ok(blocks)
}

fn load_quota(directory: &inode::INodeDirectory) -> Result<Option<Box<Quota>>> {
    let mut limit = Counts { names: -1, space: -1, types: [-1; TYPES] };
    limit.names = directory.ns_quota.map_or(-1, |quota| quota as i64);
    limit.space = directory.ds_quota.map_or(-1, |quota| quota as i64);
    for entry in directory.type_quotas.iter().flat_map(|feature| &feature.quotas) {
        let Some(kind) = StorageType::from_number(entry.storage_type) else {
            return Err(format!("has a quota of the unknown storage type {}", entry.storage_type));
        };
        limit.types[kind as usize] = entry.quota as i64;
    }
    let quota = Quota { limit };
    Ok(quota.is_set().then(|| Box::new(quota)))
}

fn load_acl(acl: Option<inode::AclFeatureProto>, names: &NameReader) -> Result<Option<Acl>> {
    let entries = acl.map(|feature| feature.entries).unwrap_or_default();
    let entries: Vec<_> =
        entries.iter().map(|bits| names.acl_entry(*bits)).collect::<Result<_>>()?;
    Ok((!entries.is_empty()).then(|| entries.into()))
}

fn load_xattrs(
    id: InodeId,
    xattrs: Option<inode::XAttrFeatureProto>,
    names: &NameReader,
) -> Result<Vec<XAttr>> {
    let all = xattrs.map(|feature| feature.x_attrs).unwrap_or_default();
    let all: Result<Vec<_>> = all.into_iter().map(|xattr| names.xattr(xattr)).collect();
    let all = all.map_err(|what| format!("inode {id} {what}"))?;
    match all.iter().find_map(feature_of) {
        Some(feature) => Err(format!("inode {id} needs {feature}, {ADVICE}")),
        None => Ok(all),
    }
}
