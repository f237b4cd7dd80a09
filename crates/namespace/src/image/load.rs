//! Reading the sections.

use super::ImageInfo;
use super::cache::load_cache;
use super::decode::{DecodedInode, decode_inode};
use super::names::NameReader;
use super::pipeline::decode_in_order;
use super::slices::all_slots;
use crate::commit::DurableState;
use crate::error::ADVICE;
use crate::rolling_upgrade::RollingUpgrade;
use crate::tree::{NO_SLOT, Slot};
use zerohop_journal::JournalError;
use zerohop_journal::image::{ImageReader, SectionName, SectionReader};
use zerohop_proto::hdfs::fsimage::{
    ErasureCodingSection, INodeSection, NameSystemSection, SecretManagerSection, SnapshotSection,
    StringTableSection, i_node_directory_section as dir, i_node_reference_section,
    i_node_section as inode, secret_manager_section, string_table_section,
};
use zerohop_wire::{Block, BlockId, GenerationStamp, InodeId, TxId};

type Result<T> = std::result::Result<T, JournalError>;

/// Fills an empty state from an image.
pub(crate) struct ImageLoader<'s> {
    pub(crate) state: &'s mut DurableState,
}

impl ImageLoader<'_> {
    /// Loads all sections.
    ///
    /// # Errors
    /// `JournalError` for a damaged image or one that uses what is not supported (snapshots, erasure coding,
    /// encryption zones, delegation tokens).
    ///
    /// `now_ms`: since the epoch; tokens that ran out before are dropped.
    pub(crate) fn load(&mut self, image: &ImageReader, now_ms: u64) -> Result<ImageInfo> {
        let info = self.load_name_system(required(image, SectionName::NsInfo)?)?;
        let mut names = match image.section(SectionName::StringTable)? {
            Some(section) => load_names(section)?,
            None => NameReader::default(),
        };
        names.intern(|name| self.state.load_image().intern(name));
        refuse_snapshots(image)?;
        refuse_tokens(image, now_ms)?;
        if let Some(mut section) = image.section(SectionName::ErasureCoding)? {
            let policies = section.expect::<ErasureCodingSection>()?.policies;
            self.state.load_image().set_ec_policies(policies);
        }
        self.load_inodes(image, &names)?;
        if let Some(section) = image.section(SectionName::InodeDir)? {
            self.load_directories(section)?;
        }
        let all = all_slots(self.state.tree());
        self.check_all_attached(image, all.len())?;
        self.state.load_image().finish(&all);
        if let Some(section) = image.section(SectionName::CacheManager)? {
            load_cache(&mut self.state.load_image(), section)?;
        }
        Ok(info)
    }

    fn load_name_system(&mut self, mut section: SectionReader) -> Result<ImageInfo> {
        let message: NameSystemSection = section.expect()?;
        let mut ids = *self.state.ids();
        let stamp = |value: u64| GenerationStamp(value as i64);
        ids.legacy_stamp = message.genstamp_v1.map_or(ids.legacy_stamp, stamp);
        ids.stamp = message.genstamp_v2.map_or(ids.stamp, stamp);
        ids.legacy_stamp_limit = stamp(message.genstamp_v1_limit());
        ids.block = message.last_allocated_block_id.map_or(ids.block, |id| BlockId(id as i64));
        ids.striped_block = message
            .last_allocated_striped_block_id
            .map_or(ids.striped_block, |id| BlockId(id as i64));
        let upgrade = RollingUpgrade::of_image(message.rolling_upgrade_start_time);
        self.state.load_image().set_counters(ids, upgrade);
        Ok(ImageInfo {
            namespace_id: message.namespace_id(),
            txid: TxId(message.transaction_id() as i64),
        })
    }

    fn load_inodes(&mut self, image: &ImageReader, names: &NameReader) -> Result<()> {
        let mut section = required(image, SectionName::Inode)?;
        let head: INodeSection = section.expect()?;
        let mut count = 0;
        let decode = |message: inode::INode| decode_inode(message, names);
        decode_in_order(section, image.threads(), &decode, |decoded| {
            count += decoded.len() as u64;
            decoded.into_iter().try_for_each(|decoded| self.take_loaded(decoded))
        })?;
        if count != head.num_inodes() {
            let reason = format!("it has {count} inodes, not {} as it says", head.num_inodes());
            return Err(JournalError::Image { path: image.path().to_owned(), reason });
        }
        self.state.load_image().raise_inode_id(InodeId(head.last_inode_id()));
        Ok(())
    }

    fn take_loaded(&mut self, decoded: DecodedInode) -> std::result::Result<(), String> {
        let cut = decoded.blocks.last().zip(decoded.cut);
        let cut = cut.map(|(last, (len, stamp))| Block { id: last.id, stamp, len });
        self.state.load_image().put_inode(decoded.node, &decoded.name, &decoded.blocks, cut)
    }

    fn load_directories(&mut self, mut section: SectionReader) -> Result<()> {
        while let Some(entry) = section.next::<dir::DirEntry>()? {
            if !entry.ref_children.is_empty() {
                return Err(section
                    .bad("it has references, which come from snapshots: they are not supported"));
            }
            let parent = InodeId(entry.parent());
            let directory = self.state.tree().find_any(parent);
            let Some(directory) =
                directory.filter(|slot| self.state.tree().get(*slot).is_directory())
            else {
                return Err(section.bad(format!("directory {parent} is not among the inodes")));
            };
            for child in entry.children {
                let attached = self
                    .loose_inode(InodeId(child))
                    .is_some_and(|slot| self.state.load_image().put_child(directory, slot));
                if !attached {
                    return Err(section.bad(format!(
                        "inode {child} of directory {parent} is missing or listed twice"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Refuses inodes that are not below the root: they would be lost.
    fn check_all_attached(&self, image: &ImageReader, attached: usize) -> Result<()> {
        let loose = self.state.tree().len() - attached;
        if loose == 0 {
            return Ok(());
        }
        let reason = format!("{loose} of its inodes are not below the root");
        Err(JournalError::Image { path: image.path().to_owned(), reason })
    }

    /// An inode that is in no directory yet.
    fn loose_inode(&self, id: InodeId) -> Option<Slot> {
        let slot = self.state.tree().find_any(id)?;
        (self.state.tree().get(slot).parent == NO_SLOT && slot != self.state.tree().root())
            .then_some(slot)
    }
}

fn required(image: &ImageReader, name: SectionName) -> Result<SectionReader> {
    image.section(name)?.ok_or_else(|| JournalError::Image {
        path: image.path().to_owned(),
        reason: format!("it has no section {}", name.as_str()),
    })
}

fn load_names(mut section: SectionReader) -> Result<NameReader> {
    let head: StringTableSection = section.expect()?;
    let mut names = NameReader::new(head.mask_bits());
    for _ in 0..head.num_entry() {
        let entry: string_table_section::Entry = section.expect()?;
        names.add(entry.id(), entry.str().into()).map_err(|reason| section.bad(reason))?;
    }
    Ok(names)
}

fn refuse_snapshots(image: &ImageReader) -> Result<()> {
    if let Some(mut section) = image.section(SectionName::Snapshot)? {
        let head: SnapshotSection = section.expect()?;
        if head.num_snapshots() > 0 {
            return Err(section.bad(format!("it has snapshots, {ADVICE}")));
        }
        // A snapshottable directory without snapshots would not be snapshottable in our next image.
        if let Some(first) = head.snapshottable_dir.first() {
            return Err(section.bad(format!(
                "it has directories that may have snapshots (dfsadmin -allowSnapshot), the first is inode {first}, {ADVICE}"
            )));
        }
    }
    if let Some(mut section) = image.section(SectionName::InodeReference)?
        && section.next::<i_node_reference_section::INodeReference>()?.is_some()
    {
        return Err(
            section.bad("it has references, which come from snapshots: they are not supported")
        );
    }
    Ok(())
}

/// Tokens that are valid are refused: their holders could not use them here. Keys alone, and tokens that have expired,
/// stay in an image for ever once a cluster has no Kerberos any more, and have no use.
fn refuse_tokens(image: &ImageReader, now_ms: u64) -> Result<()> {
    let Some(mut section) = image.section(SectionName::SecretManager)? else { return Ok(()) };
    let head: SecretManagerSection = section.expect()?;
    let (keys, tokens) = (head.num_keys(), head.num_tokens());
    for _ in 0..keys {
        section.expect::<secret_manager_section::DelegationKey>()?;
    }
    let mut valid = 0;
    for _ in 0..tokens {
        let token: secret_manager_section::PersistToken = section.expect()?;
        valid += u64::from(token.max_date() > now_ms);
    }
    if valid > 0 {
        return Err(section.bad(format!(
            "it has {valid} tokens of Kerberos clients that are valid (delegation tokens), {ADVICE}, or when they have run out"
        )));
    }
    if keys > 0 || tokens > 0 {
        tracing::warn!(
            "{keys} keys and {tokens} expired delegation tokens of the image are dropped"
        );
    }
    Ok(())
}
