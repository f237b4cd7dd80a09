//! The fsimage's container: sections of protobuf messages, a summary at the end, an MD5 file beside.
//!
//! ```text
//! +------------+-------------------+-----+--------------------------+-----------------+
//! | "HDFSIMG1" | section: messages | ... | FileSummary, with length | its size, 4     |
//! +------------+-------------------+-----+--------------------------+-----------------+
//! ```
//! Each message has its length in front as a varint. With a codec, each section is one compressed
//! stream. The summary says where each section is, so readers take them in their own order.
//! What the messages mean is the namespace's matter. Source: `FSImageFormatProtobuf`.

mod format;
mod md5;
mod reader;
mod writer;

pub use format::{ImageCodec, ImageFormat, ImageParts};
pub use md5::{md5_path, read_md5, verify_md5, write_md5};
pub use reader::{Batch, ImageReader, SectionErrors, SectionReader};
pub use writer::{ImageWriter, put_message};

/// The first bytes of an image.
pub const MAGIC: &[u8; 8] = b"HDFSIMG1";

/// The container's version.
pub const FILE_VERSION: u32 = 1;

/// The longest single message, bytes: a directory of twenty million children.
pub const MESSAGE_LEN_MAX: u64 = 256 * 1024 * 1024;

/// The sections an image may have, in the order in which they are to be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SectionName {
    /// One `NameSystemSection`: counters.
    NsInfo,
    /// `StringTableSection`, then its entries: names of users, groups, attributes.
    StringTable,
    /// Not written by any release.
    ExtendedAcl,
    /// One `ErasureCodingSection`.
    ErasureCoding,
    /// `INodeSection`, then each inode.
    Inode,
    /// A part of the inodes, for loading in parallel.
    InodeSub,
    /// Each inode reference (snapshots).
    InodeReference,
    /// A part of the references.
    InodeReferenceSub,
    /// `SnapshotSection`, then each snapshot.
    Snapshot,
    /// Each directory with its children's ids.
    InodeDir,
    /// A part of the directories.
    InodeDirSub,
    /// Each file being written.
    FilesUnderConstruction,
    /// Differences between snapshots.
    SnapshotDiff,
    /// A part of the differences.
    SnapshotDiffSub,
    /// `SecretManagerSection`, then keys and tokens.
    SecretManager,
    /// `CacheManagerSection`, then pools and directives.
    CacheManager,
}

/// All names, in loading order.
const SECTION_NAMES: &[(SectionName, &str)] = &[
    (SectionName::NsInfo, "NS_INFO"),
    (SectionName::StringTable, "STRING_TABLE"),
    (SectionName::ExtendedAcl, "EXTENDED_ACL"),
    (SectionName::ErasureCoding, "ERASURE_CODING"),
    (SectionName::Inode, "INODE"),
    (SectionName::InodeSub, "INODE_SUB"),
    (SectionName::InodeReference, "INODE_REFERENCE"),
    (SectionName::InodeReferenceSub, "INODE_REFERENCE_SUB"),
    (SectionName::Snapshot, "SNAPSHOT"),
    (SectionName::InodeDir, "INODE_DIR"),
    (SectionName::InodeDirSub, "INODE_DIR_SUB"),
    (SectionName::FilesUnderConstruction, "FILES_UNDERCONSTRUCTION"),
    (SectionName::SnapshotDiff, "SNAPSHOT_DIFF"),
    (SectionName::SnapshotDiffSub, "SNAPSHOT_DIFF_SUB"),
    (SectionName::SecretManager, "SECRET_MANAGER"),
    (SectionName::CacheManager, "CACHE_MANAGER"),
];

impl SectionName {
    /// As the summary spells it.
    pub fn as_str(self) -> &'static str {
        SECTION_NAMES.iter().find(|(name, _)| *name == self).map_or("", |(_, text)| text)
    }

    /// From the summary's spelling.
    pub fn parse(text: &str) -> Option<Self> {
        SECTION_NAMES.iter().find(|(_, name)| *name == text).map(|(name, _)| *name)
    }

    /// Whether it repeats a part of another section for parallel loading.
    pub fn is_sub(self) -> bool {
        self.as_str().ends_with("_SUB")
    }
}
