//! An image as XML; the elements are those of `PBImageXmlWriter`.

use std::fmt::Display;
use std::io::Write;

use zerohop_journal::image::{ImageReader, SectionName, SectionReader};
use zerohop_proto::Checked;
use zerohop_proto::hdfs::fsimage::files_under_construction_section::FileUnderConstructionEntry;
use zerohop_proto::hdfs::fsimage::i_node_directory_section::DirEntry;
use zerohop_proto::hdfs::fsimage::i_node_reference_section::INodeReference;
use zerohop_proto::hdfs::fsimage::i_node_section::{
    AclFeatureProto, INode, INodeDirectory, INodeFile, INodeSymlink, XAttrFeatureProto,
    i_node::Type,
};
use zerohop_proto::hdfs::fsimage::snapshot_diff_section::DiffEntry;
use zerohop_proto::hdfs::fsimage::{
    CacheManagerSection, ErasureCodingSection, INodeSection, NameSystemSection,
    SecretManagerSection, SnapshotSection,
};
use zerohop_proto::hdfs::{CacheDirectiveInfoProto, CachePoolInfoProto};
use zerohop_wire::StorageType;

use super::names::{Kind, Names};
use crate::failure::{Failure, Outcome};

const HERE: &str = "they are not supported here; Apache's viewer shows them";

/// Writes the whole image.
pub fn write(image: &ImageReader, out: &mut dyn Write) -> Outcome {
    let names = Names::read(image).map_err(Failure::of)?;
    let mut dump = Dump { out, names };
    dump.raw("<?xml version=\"1.0\"?>\n<fsimage><version>")?;
    dump.value("layoutVersion", image.layout())?;
    dump.value("onDiskVersion", zerohop_journal::image::FILE_VERSION)?;
    dump.value("oivRevision", concat!("zerohop ", env!("CARGO_PKG_VERSION")))?;
    dump.raw("</version>\n")?;
    for name in image.sections().map_err(Failure::of)? {
        if let Some(section) = image.section(name).map_err(Failure::of)? {
            dump.section(name, section)?;
        }
    }
    dump.raw("</fsimage>\n")
}

struct Dump<'a> {
    out: &'a mut dyn Write,
    names: Names,
}

fn expect<M: Checked>(section: &mut SectionReader) -> Outcome<M> {
    section.expect().map_err(Failure::of)
}

fn next<M: Checked>(section: &mut SectionReader) -> Outcome<Option<M>> {
    section.next().map_err(Failure::of)
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Dump<'_> {
    fn raw(&mut self, text: &str) -> Outcome {
        Ok(self.out.write_all(text.as_bytes())?)
    }

    fn value(&mut self, tag: &str, value: impl Display) -> Outcome {
        let text = escaped(&value.to_string());
        self.raw(&format!("<{tag}>{text}</{tag}>"))
    }

    fn section(&mut self, name: SectionName, mut section: SectionReader) -> Outcome {
        let section = &mut section;
        match name {
            SectionName::NsInfo => self.counters(section),
            SectionName::ErasureCoding => self.policies(section),
            SectionName::Inode => self.inodes(section),
            SectionName::InodeReference => self.references(section),
            SectionName::Snapshot => self.snapshots(section),
            SectionName::InodeDir => self.directories(section),
            SectionName::FilesUnderConstruction => self.open_files(section),
            SectionName::SnapshotDiff => {
                if next::<DiffEntry>(section)?.is_some() {
                    return Err(Failure::unsupported(format!("the image has snapshots: {HERE}")));
                }
                self.raw("<SnapshotDiffSection></SnapshotDiffSection>\n")
            }
            SectionName::SecretManager => self.tokens(section),
            SectionName::CacheManager => self.cache(section),
            _ => Ok(()),
        }
    }

    fn counters(&mut self, section: &mut SectionReader) -> Outcome {
        let head: NameSystemSection = expect(section)?;
        self.raw("<NameSection>")?;
        self.value("namespaceId", head.namespace_id() as i32)?;
        self.value("genstampV1", head.genstamp_v1() as i64)?;
        self.value("genstampV2", head.genstamp_v2() as i64)?;
        self.value("genstampV1Limit", head.genstamp_v1_limit() as i64)?;
        self.value("lastAllocatedBlockId", head.last_allocated_block_id() as i64)?;
        self.value("txid", head.transaction_id() as i64)?;
        self.raw("</NameSection>\n")
    }

    fn policies(&mut self, section: &mut SectionReader) -> Outcome {
        let head: ErasureCodingSection = expect(section)?;
        if head.policies.is_empty() {
            return Ok(());
        }
        self.raw("<ErasureCodingSection>\n")?;
        for policy in &head.policies {
            let shown = crate::ec::PolicyView::of(policy);
            self.raw("<erasureCodingPolicy>\n")?;
            self.value("policyId", policy.id)?;
            self.value("policyName", &shown.name)?;
            self.value("cellSize", shown.cell_size)?;
            self.value("policyState", shown.state)?;
            self.raw("<ecSchema>\n")?;
            self.value("codecName", &shown.codec)?;
            self.value("dataUnits", shown.data_units)?;
            self.value("parityUnits", shown.parity_units)?;
            if !shown.options.is_empty() {
                self.raw("<extraOptions>\n")?;
                for (key, value) in &shown.options {
                    self.raw("<option>\n")?;
                    self.value("key", key)?;
                    self.value("value", value)?;
                    self.raw("</option>\n")?;
                }
                self.raw("</extraOptions>\n")?;
            }
            self.raw("</ecSchema>\n</erasureCodingPolicy>\n\n")?;
        }
        self.raw("</ErasureCodingSection>\n\n")
    }

    fn inodes(&mut self, section: &mut SectionReader) -> Outcome {
        let head: INodeSection = expect(section)?;
        self.raw("<INodeSection>")?;
        self.value("lastInodeId", head.last_inode_id())?;
        self.value("numInodes", head.num_inodes())?;
        for _ in 0..head.num_inodes() {
            let inode: INode = expect(section)?;
            self.raw("<inode>")?;
            self.inode(&inode)?;
            self.raw("</inode>\n")?;
        }
        self.raw("</INodeSection>\n")
    }

    fn inode(&mut self, inode: &INode) -> Outcome {
        let kind = match inode.r#type() {
            Type::File => "FILE",
            Type::Directory => "DIRECTORY",
            Type::Symlink => "SYMLINK",
        };
        self.value("id", inode.id)?;
        self.value("type", kind)?;
        self.value("name", lossy(inode.name()))?;
        match (&inode.file, &inode.directory, &inode.symlink) {
            (Some(file), ..) => self.file(file),
            (None, Some(directory), _) => self.directory(directory),
            (None, None, Some(link)) => self.symlink(link),
            (None, None, None) => Ok(()),
        }
    }

    fn permission(&mut self, bits: u64) -> Outcome {
        let (user, group, mode) = self.names.owner(bits);
        let text = format!("{user}:{group}:{mode:04o}");
        self.value("permission", text)
    }

    fn file(&mut self, file: &INodeFile) -> Outcome {
        let is_striped = file.erasure_coding_policy_id.is_some();
        self.value("replication", if is_striped { 1 } else { file.replication() })?;
        self.value("mtime", file.modification_time() as i64)?;
        self.value("atime", file.access_time() as i64)?;
        self.value("preferredBlockSize", file.preferred_block_size())?;
        self.permission(file.permission())?;
        self.attributes(file.x_attrs.as_ref())?;
        self.acl(file.acl.as_ref())?;
        if !file.blocks.is_empty() {
            self.raw("<blocks>")?;
            for block in &file.blocks {
                self.raw("<block>")?;
                self.value("id", block.block_id as i64)?;
                self.value("genstamp", block.gen_stamp as i64)?;
                self.value("numBytes", block.num_bytes() as i64)?;
                self.raw("</block>\n")?;
            }
            self.raw("</blocks>\n")?;
        }
        if let Some(policy) = file.storage_policy_id {
            self.value("storagePolicyId", policy)?;
        }
        if let Some(policy) = file.erasure_coding_policy_id {
            self.value("blockType", file.block_type().as_str_name())?;
            self.value("erasureCodingPolicyId", policy)?;
        }
        if let Some(open) = &file.file_uc {
            self.raw("<file-under-construction>")?;
            self.value("clientName", open.client_name())?;
            self.value("clientMachine", open.client_machine())?;
            self.raw("</file-under-construction>\n")?;
        }
        Ok(())
    }

    fn directory(&mut self, directory: &INodeDirectory) -> Outcome {
        self.value("mtime", directory.modification_time() as i64)?;
        self.permission(directory.permission())?;
        self.attributes(directory.x_attrs.as_ref())?;
        self.acl(directory.acl.as_ref())?;
        if let (Some(names), Some(space)) = (directory.ns_quota, directory.ds_quota) {
            self.value("nsquota", names as i64)?;
            self.value("dsquota", space as i64)?;
        }
        for entry in directory.type_quotas.iter().flat_map(|quotas| &quotas.quotas) {
            let kind = StorageType::from_number(entry.storage_type).unwrap_or_default();
            self.raw("<typeQuota>")?;
            self.value("type", kind.as_str_name())?;
            self.value("quota", entry.quota as i64)?;
            self.raw("</typeQuota>")?;
        }
        Ok(())
    }

    fn symlink(&mut self, link: &INodeSymlink) -> Outcome {
        self.permission(link.permission())?;
        self.value("target", lossy(link.target()))?;
        self.value("mtime", link.modification_time() as i64)?;
        self.value("atime", link.access_time() as i64)
    }

    fn attributes(&mut self, attributes: Option<&XAttrFeatureProto>) -> Outcome {
        let Some(attributes) = attributes else { return Ok(()) };
        self.raw("<xattrs>")?;
        for xattr in &attributes.x_attrs {
            let namespace = match xattr.name >> 30 | (xattr.name >> 5 & 1) << 2 {
                0 => "USER",
                1 => "TRUSTED",
                2 => "SECURITY",
                3 => "SYSTEM",
                _ => "RAW",
            };
            let name = self.names.get(Kind::XAttr, xattr.name >> 6 & 0xff_ffff);
            let name = name.unwrap_or_default().to_owned();
            self.raw("<xattr>")?;
            self.value("ns", namespace)?;
            self.value("name", name)?;
            let value = xattr.value();
            match std::str::from_utf8(value) {
                Ok(text) => self.value("val", text)?,
                Err(_) => {
                    self.value("valHex", hex::encode(value))?;
                }
            }
            self.raw("</xattr>")?;
        }
        self.raw("</xattrs>")
    }

    fn acl(&mut self, acl: Option<&AclFeatureProto>) -> Outcome {
        let Some(acl) = acl.filter(|acl| !acl.entries.is_empty()) else { return Ok(()) };
        self.raw("<acls>")?;
        for bits in &acl.entries {
            let entry = self.names.acl_entry(*bits);
            self.value("acl", entry)?;
        }
        self.raw("</acls>")
    }

    fn references(&mut self, section: &mut SectionReader) -> Outcome {
        self.raw("<INodeReferenceSection>")?;
        while let Some(reference) = next::<INodeReference>(section)? {
            self.raw("<ref>")?;
            self.value("referredId", reference.referred_id())?;
            self.value("name", lossy(reference.name()))?;
            self.value("dstSnapshotId", reference.dst_snapshot_id() as i32)?;
            self.value("lastSnapshotId", reference.last_snapshot_id() as i32)?;
            self.raw("</ref>\n")?;
        }
        self.raw("</INodeReferenceSection>")
    }

    fn snapshots(&mut self, section: &mut SectionReader) -> Outcome {
        let head: SnapshotSection = expect(section)?;
        if head.num_snapshots() > 0 {
            return Err(Failure::unsupported(format!("the image has snapshots: {HERE}")));
        }
        self.raw("<SnapshotSection>")?;
        self.value("snapshotCounter", head.snapshot_counter())?;
        self.value("numSnapshots", head.num_snapshots())?;
        if !head.snapshottable_dir.is_empty() {
            self.raw("<snapshottableDir>")?;
            head.snapshottable_dir.iter().try_for_each(|id| self.value("dir", id))?;
            self.raw("</snapshottableDir>\n")?;
        }
        self.raw("</SnapshotSection>\n")
    }

    fn directories(&mut self, section: &mut SectionReader) -> Outcome {
        self.raw("<INodeDirectorySection>")?;
        while let Some(entry) = next::<DirEntry>(section)? {
            self.raw("<directory>")?;
            self.value("parent", entry.parent())?;
            entry.children.iter().try_for_each(|id| self.value("child", id))?;
            entry.ref_children.iter().try_for_each(|id| self.value("refChild", id))?;
            self.raw("</directory>\n")?;
        }
        self.raw("</INodeDirectorySection>\n")
    }

    fn open_files(&mut self, section: &mut SectionReader) -> Outcome {
        self.raw("<FileUnderConstructionSection>")?;
        while let Some(entry) = next::<FileUnderConstructionEntry>(section)? {
            self.raw("<inode>")?;
            self.value("id", entry.inode_id())?;
            self.value("path", entry.full_path())?;
            self.raw("</inode>\n")?;
        }
        self.raw("</FileUnderConstructionSection>\n")
    }

    fn tokens(&mut self, section: &mut SectionReader) -> Outcome {
        let head: SecretManagerSection = expect(section)?;
        if head.num_keys() > 0 || head.num_tokens() > 0 {
            return Err(Failure::unsupported(format!(
                "the image has tokens or their keys: {HERE}"
            )));
        }
        self.raw("<SecretManagerSection>")?;
        self.value("currentId", head.current_id())?;
        self.value("tokenSequenceNumber", head.token_sequence_number())?;
        self.value("numDelegationKeys", head.num_keys())?;
        self.value("numTokens", head.num_tokens())?;
        self.raw("</SecretManagerSection>")
    }

    fn cache(&mut self, section: &mut SectionReader) -> Outcome {
        let head: CacheManagerSection = expect(section)?;
        self.raw("<CacheManagerSection>")?;
        self.value("nextDirectiveId", head.next_directive_id)?;
        self.value("numDirectives", head.num_directives)?;
        self.value("numPools", head.num_pools)?;
        for _ in 0..head.num_pools {
            let pool: CachePoolInfoProto = expect(section)?;
            self.raw("<pool>")?;
            self.value("poolName", pool.pool_name())?;
            self.value("ownerName", pool.owner_name())?;
            self.value("groupName", pool.group_name())?;
            self.value("mode", pool.mode())?;
            self.value("limit", pool.limit())?;
            self.value("maxRelativeExpiry", pool.max_relative_expiry())?;
            self.raw("</pool>\n")?;
        }
        for _ in 0..head.num_directives {
            let directive: CacheDirectiveInfoProto = expect(section)?;
            let expiry = directive.expiration.unwrap_or_default();
            self.raw("<directive>")?;
            self.value("id", directive.id())?;
            self.value("path", directive.path())?;
            self.value("replication", directive.replication())?;
            self.value("pool", directive.pool())?;
            self.raw("<expiration>")?;
            self.value("millis", expiry.millis)?;
            if expiry.is_relative {
                self.raw("<relative/>")?;
            }
            self.raw("</expiration>\n</directive>\n")?;
        }
        self.raw("</CacheManagerSection>\n")
    }
}

/// As `XMLUtils.mangleXmlString` with references for the five letters that have names.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\t' | '\n' | '\r' => out.push(letter),
            '\\' | '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                out.push_str(&format!("\\{:04x};", letter as u32));
            }
            _ => out.push(letter),
        }
    }
    out
}
