//! The numbers of HDFS, each a type of its own.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// A block's id; sequential ids start at 2^30 + 1, ids below 0 belong to erasure-coded groups.
    BlockId(i64)
}
id! {
    /// A block's generation stamp: grows at append and recovery, so stale replicas show; from 1001.
    GenerationStamp(i64)
}
id! {
    /// A transaction id of the edit log; the first is 1.
    TxId(i64)
}
id! {
    /// An inode's id; the root is 16385.
    InodeId(u64)
}

impl BlockId {
    /// The last id reserved for random (legacy) ids; the first sequential id is one more.
    pub const LAST_RESERVED: BlockId = BlockId(1024 * 1024 * 1024);
}

impl GenerationStamp {
    /// The last reserved stamp; the first block's is one more.
    pub const LAST_RESERVED: GenerationStamp = GenerationStamp(1000);
    /// The stamp a client may send to mean any (`HdfsConstants.GRANDFATHER_GENERATION_STAMP`).
    pub const GRANDFATHER: GenerationStamp = GenerationStamp(0);
}

impl InodeId {
    /// The root directory's id; ids below are reserved.
    pub const ROOT: InodeId = InodeId(16385);
    /// What clients send when they do not know the id (`HdfsConstants.GRANDFATHER_INODE_ID`).
    pub const GRANDFATHER: InodeId = InodeId(0);
}
