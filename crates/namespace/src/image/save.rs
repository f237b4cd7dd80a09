//! Writing the sections.

use super::ImageInfo;
use super::cache::save_cache;
use super::names::{MASK_BITS, NameTable, NameWriter};
use super::slices::{Slices, all_slots};
use crate::answers::XAttr;
use crate::commit::DurableState;
use crate::quota::QUOTA_TYPES;
use crate::tree::{Acl, Body, Directory, File, Inode, Slot};
use bytes::Bytes;
use std::io;
use zerohop_journal::image::{ImageWriter, SectionName, put_message};
use zerohop_proto::hdfs::fsimage::{
    ErasureCodingSection, INodeSection, NameSystemSection, SecretManagerSection, SnapshotSection,
    StringTableSection, files_under_construction_section, i_node_directory_section as dir,
    i_node_section as inode, string_table_section,
};
use zerohop_proto::hdfs::{BlockProto, BlockTypeProto};

/// Saves a namespace.
#[derive(Clone, Copy)]
pub(crate) struct ImageSaver<'s> {
    pub(crate) state: &'s DurableState,
}

impl ImageSaver<'_> {
    /// Writes all sections of an image; deleted subtrees that are still to be freed are not in it.
    ///
    /// # Errors
    /// As writing to `out` fails.
    pub(crate) fn save(&self, out: &mut ImageWriter<'_>, info: ImageInfo) -> io::Result<()> {
        let names = NameTable::default();
        out.message(&self.name_system(info))?;
        out.end(SectionName::NsInfo)?;
        if !self.state.ec_policies().is_empty() {
            out.message(&ErasureCodingSection { policies: self.state.ec_policies().to_vec() })?;
            out.end(SectionName::ErasureCoding)?;
        }
        let all = all_slots(self.state.tree());
        let slices = Slices::of(&all, out.format());
        out.message(&INodeSection {
            last_inode_id: Some(self.state.ids().inode.0),
            num_inodes: Some(all.len() as u64),
        })?;
        let mut open = Vec::new();
        let parts = (SectionName::Inode, SectionName::InodeSub);
        slices.save(out, parts, &|slots| self.encode_inodes(slots, &names), &mut open)?;
        let parts = (SectionName::InodeDir, SectionName::InodeDirSub);
        slices.save(
            out,
            parts,
            &|slots| (self.encode_directories(slots), Vec::new()),
            &mut open,
        )?;
        self.save_open_files(out, &open)?;
        out.message(&SnapshotSection {
            snapshot_counter: Some(0),
            snapshottable_dir: Vec::new(),
            num_snapshots: Some(0),
        })?;
        out.end(SectionName::Snapshot)?;
        out.message(&SecretManagerSection {
            current_id: Some(0),
            token_sequence_number: Some(0),
            num_keys: Some(0),
            num_tokens: Some(0),
        })?;
        out.end(SectionName::SecretManager)?;
        save_cache(self.state.cache(), out)?;
        out.end(SectionName::CacheManager)?;
        save_names(out, names)
    }

    fn name_system(&self, info: ImageInfo) -> NameSystemSection {
        let ids = self.state.ids();
        NameSystemSection {
            namespace_id: Some(info.namespace_id),
            genstamp_v1: Some(ids.legacy_stamp.0 as u64),
            genstamp_v2: Some(ids.stamp.0 as u64),
            genstamp_v1_limit: Some(ids.legacy_stamp_limit.0 as u64),
            last_allocated_block_id: Some(ids.block.0 as u64),
            transaction_id: Some(info.txid.0 as u64),
            rolling_upgrade_start_time: self.state.rolling_upgrade().for_image(),
            last_allocated_striped_block_id: Some(ids.striped_block.0 as u64),
        }
    }

    fn inode_message(&self, slot: Slot, names: &mut NameWriter<'_>) -> inode::INode {
        let node = self.state.tree().get(slot);
        let (user, group) =
            (self.state.tree().user(node.permission), self.state.tree().group(node.permission));
        let permission = names.permission(user, group, node.permission.mode());
        let mut message = inode::INode {
            r#type: inode::i_node::Type::File as i32,
            id: node.id.0,
            name: Some(Bytes::copy_from_slice(self.state.tree().name(slot).as_bytes())),
            ..Default::default()
        };
        match &node.body {
            Body::Directory(directory) => {
                message.r#type = inode::i_node::Type::Directory as i32;
                message.directory = Some(directory_message(node, directory, permission, names));
            }
            Body::Symlink(link) => {
                message.r#type = inode::i_node::Type::Symlink as i32;
                message.symlink = Some(inode::INodeSymlink {
                    permission: Some(permission),
                    target: Some(Bytes::copy_from_slice(&link.target)),
                    modification_time: Some(node.mtime()),
                    access_time: Some(node.atime()),
                });
            }
            Body::File(file) => {
                message.file = Some(self.file_message(slot, node, file, permission, names))
            }
            Body::Free(_) => {}
        }
        message
    }

    fn file_message(
        &self,
        slot: Slot,
        node: &Inode,
        file: &File,
        permission: u64,
        names: &mut NameWriter<'_>,
    ) -> inode::INodeFile {
        let writer = file.writer().map(|writer| {
            let cut = self.state.files().pending_truncate(slot);
            inode::FileUnderConstructionFeature {
                client_name: Some(writer.client_name.to_string()),
                client_machine: Some(writer.client_machine.to_string()),
                truncate_length: cut.map(|cut| cut.len),
                truncate_gen_stamp: cut.map(|cut| cut.stamp.0 as u64),
            }
        });
        inode::INodeFile {
            replication: Some(file.replication().into()),
            modification_time: Some(node.mtime()),
            access_time: Some(node.atime()),
            preferred_block_size: Some(file.block_size()),
            permission: Some(permission),
            blocks: self
                .state
                .files()
                .stored_blocks(slot)
                .into_iter()
                .map(BlockProto::from)
                .collect(),
            file_uc: writer,
            acl: acl_message(node.acl(), names),
            x_attrs: xattr_message(node.xattrs(), names),
            storage_policy_id: Some(file.storage_policy().into()),
            block_type: Some(BlockTypeProto::Contiguous as i32),
            erasure_coding_policy_id: None,
        }
    }

    /// The messages of inodes, and those of them that are open files.
    fn encode_inodes(&self, slots: &[Slot], names: &NameTable) -> (Vec<u8>, Vec<Slot>) {
        let (mut out, mut names) = (Vec::new(), NameWriter::new(names));
        let mut open = Vec::new();
        for slot in slots {
            put_message(&mut out, &self.inode_message(*slot, &mut names));
            if self.state.files().writer(*slot).is_some() {
                open.push(*slot);
            }
        }
        (out, open)
    }

    /// Which children the directories among the inodes have.
    fn encode_directories(&self, slots: &[Slot]) -> Vec<u8> {
        let mut out = Vec::new();
        for slot in slots {
            let node = self.state.tree().get(*slot);
            let Some(directory) =
                node.as_directory().filter(|directory| !directory.children.is_empty())
            else {
                continue;
            };
            let children =
                directory.children.iter().map(|child| self.state.tree().get(child).id.0).collect();
            let entry =
                dir::DirEntry { parent: Some(node.id.0), children, ref_children: Vec::new() };
            put_message(&mut out, &entry);
        }
        out
    }

    fn save_open_files(&self, out: &mut ImageWriter<'_>, open: &[Slot]) -> io::Result<()> {
        for slot in open {
            out.message(&files_under_construction_section::FileUnderConstructionEntry {
                inode_id: Some(self.state.tree().get(*slot).id.0),
                full_path: Some(self.state.tree().path(*slot)),
            })?;
        }
        out.end(SectionName::FilesUnderConstruction)
    }
}

fn save_names(out: &mut ImageWriter<'_>, names: NameTable) -> io::Result<()> {
    let entries = names.into_entries();
    out.message(&StringTableSection {
        num_entry: Some(entries.len() as u32),
        mask_bits: Some(MASK_BITS),
    })?;
    for (id, name) in entries {
        out.message(&string_table_section::Entry { id: Some(id), str: Some(name.to_string()) })?;
    }
    out.end(SectionName::StringTable)
}

fn directory_message(
    node: &Inode,
    directory: &Directory,
    permission: u64,
    names: &mut NameWriter<'_>,
) -> inode::INodeDirectory {
    let quota = directory.quota.as_deref().copied().unwrap_or(crate::quota::Quota::unlimited());
    let limits = QUOTA_TYPES.into_iter().filter_map(|kind| {
        let quota = quota.limit.types[kind as usize];
        (quota >= 0).then_some(inode::QuotaByStorageTypeEntryProto {
            storage_type: kind.number(),
            quota: quota as u64,
        })
    });
    let quotas: Vec<_> = limits.collect();
    inode::INodeDirectory {
        modification_time: Some(node.mtime()),
        ns_quota: Some(quota.limit.names as u64),
        ds_quota: Some(quota.limit.space as u64),
        permission: Some(permission),
        acl: acl_message(node.acl(), names),
        x_attrs: xattr_message(node.xattrs(), names),
        type_quotas: (!quotas.is_empty())
            .then_some(inode::QuotaByStorageTypeFeatureProto { quotas }),
        access_time: Some(node.atime()).filter(|atime| *atime > 0),
    }
}

fn acl_message(acl: Option<&Acl>, names: &mut NameWriter<'_>) -> Option<inode::AclFeatureProto> {
    let entries = acl?.iter().map(|entry| names.acl_entry(entry)).collect();
    Some(inode::AclFeatureProto { entries })
}

fn xattr_message(xattrs: &[XAttr], names: &mut NameWriter<'_>) -> Option<inode::XAttrFeatureProto> {
    let x_attrs: Vec<_> = xattrs.iter().map(|xattr| names.xattr(xattr)).collect();
    (!x_attrs.is_empty()).then_some(inode::XAttrFeatureProto { x_attrs })
}
