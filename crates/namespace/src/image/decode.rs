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
    let name = String::from_utf8_lossy(message.name());
    if id != InodeId::ROOT && (name.is_empty() || name.contains('/')) {
        return Err(format!("inode {id} has the name {name:?}"));
    }
    let name = CompactString::from(&*name);
    // The body is replaced in each case; this one costs nothing.
    let mut node = Inode::new(id, Permission::default(), Body::Free(NO_SLOT));
    let (mut blocks, mut cut) = (SmallVec::new(), None);
    if let Some(file) = message.file {
        cut = file.file_uc.as_ref().and_then(truncate_target);
        blocks = fill_file(&mut node, file, names)?;
    } else if let Some(link) = message.symlink {
        node.permission = names.permission(link.permission());
        node = node.with_times(link.modification_time(), link.access_time());
        node.body = Body::Symlink(Box::new(Symlink { target: link.target().to_vec() }));
    } else {
        let directory = message.directory.unwrap_or_default();
        node.permission = names.permission(directory.permission());
        node = node.with_times(directory.modification_time(), directory.access_time());
        node.body = Body::Directory(Box::new(Directory {
            quota: load_quota(&directory),
            acl: load_acl(directory.acl, names),
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
    node.permission = names.permission(message.permission());
    node.set_mtime(message.modification_time());
    node.set_atime(message.access_time());
    let mut file = File::new(
        message.replication().min(u32::from(u16::MAX)) as u16,
        message.preferred_block_size(),
        message.storage_policy_id() as u8,
    );
    let blocks: SmallVec<[Block; 1]> = message.blocks.iter().map(Block::from).collect();
    blocks.iter().for_each(|block| file.blocks.push(block.id));
    file.set_writer(message.file_uc.map(|writer| Writer {
        client_name: writer.client_name().into(),
        client_machine: writer.client_machine().into(),
    }));
    node.body = Body::File(file);
    node.set_acl(load_acl(message.acl, names));
    node.set_xattrs(load_xattrs(node.id, message.x_attrs, names)?);
    Ok(blocks)
}

fn load_quota(directory: &inode::INodeDirectory) -> Option<Box<Quota>> {
    let mut limit = Counts { names: -1, space: -1, types: [-1; TYPES] };
    limit.names = directory.ns_quota.map_or(-1, |quota| quota as i64);
    limit.space = directory.ds_quota.map_or(-1, |quota| quota as i64);
    for entry in directory.type_quotas.iter().flat_map(|feature| &feature.quotas) {
        if let Some(kind) = StorageType::from_number(entry.storage_type) {
            limit.types[kind as usize] = entry.quota as i64;
        }
    }
    let quota = Quota { limit };
    quota.is_set().then(|| Box::new(quota))
}

fn load_acl(acl: Option<inode::AclFeatureProto>, names: &NameReader) -> Option<Acl> {
    let entries: Vec<_> = acl?.entries.iter().map(|bits| names.acl_entry(*bits)).collect();
    (!entries.is_empty()).then(|| entries.into())
}

fn load_xattrs(
    id: InodeId,
    xattrs: Option<inode::XAttrFeatureProto>,
    names: &NameReader,
) -> Result<Vec<XAttr>> {
    let all = xattrs.map(|feature| feature.x_attrs).unwrap_or_default();
    let all: Vec<_> = all.into_iter().filter_map(|xattr| names.xattr(xattr)).collect();
    match all.iter().find_map(feature_of) {
        Some(feature) => Err(format!("inode {id} needs {feature}, {ADVICE}")),
        None => Ok(all),
    }
}
