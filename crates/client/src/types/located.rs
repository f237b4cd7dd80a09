//! Where blocks are.

use crate::error::{Error, ErrorKind, Result};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use zerohop_proto::common::TokenProto;
use zerohop_proto::hdfs::datanode_info_proto::AdminState;
use zerohop_proto::hdfs::{DatanodeInfoProto, LocatedBlockProto, LocatedBlocksProto};
use zerohop_wire::{Block, ExtendedBlock, StorageType, erasure_policy_name};

/// A DataNode as the NameNode describes it. Cheap to clone; two with the same uuid are equal.
#[derive(Clone)]
pub struct DatanodeInfo(Arc<DatanodeInfoProto>);

impl DatanodeInfo {
    /// The message itself: capacity, usage, last contact and more.
    pub fn proto(&self) -> &DatanodeInfoProto {
        &self.0
    }

    /// Its uuid.
    pub fn uuid(&self) -> &str {
        &self.0.id.datanode_uuid
    }

    /// Its host name.
    pub fn host(&self) -> &str {
        &self.0.id.host_name
    }

    /// Its address in the cluster.
    pub fn ip(&self) -> &str {
        &self.0.id.ip_addr
    }

    /// `ip:port` for block data, or `host:port` where the configuration asks for names.
    pub fn transfer_addr(&self, by_name: bool) -> String {
        let host = if by_name { self.host() } else { self.ip() };
        format!("{host}:{}", self.0.id.xfer_port)
    }

    /// The port for block data.
    pub fn transfer_port(&self) -> u16 {
        self.0.id.xfer_port as u16
    }

    /// The port for RPC.
    pub fn ipc_port(&self) -> u16 {
        self.0.id.ipc_port as u16
    }

    /// Its place in the topology, as `/rack1`.
    pub fn location(&self) -> &str {
        self.0.location()
    }

    /// Whether it is being taken out of service.
    pub fn admin_state(&self) -> AdminState {
        self.0.admin_state()
    }
}

impl From<DatanodeInfoProto> for DatanodeInfo {
    fn from(proto: DatanodeInfoProto) -> Self {
        Self(Arc::new(proto))
    }
}

impl PartialEq for DatanodeInfo {
    fn eq(&self, other: &Self) -> bool {
        self.uuid() == other.uuid() && self.transfer_port() == other.transfer_port()
    }
}

impl Eq for DatanodeInfo {}

impl Hash for DatanodeInfo {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.uuid().hash(state);
    }
}

impl fmt::Display for DatanodeInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.ip(), self.transfer_port())
    }
}

impl fmt::Debug for DatanodeInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatanodeInfo[{self},{}]", self.uuid())
    }
}

/// One replica of a block.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Replica {
    /// The DataNode that has it.
    pub node: DatanodeInfo,
    /// What its volume is made of.
    pub storage_type: StorageType,
    /// The volume's id.
    pub storage_id: String,
    /// Whether the DataNode holds it in memory.
    pub is_cached: bool,
}

impl fmt::Display for Replica {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.storage_type.as_str_name();
        write!(f, "DatanodeInfoWithStorage[{},{},{kind}]", self.node, self.storage_id)
    }
}

/// A block of a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LocatedBlock {
    /// The block; its length is what the NameNode knows of.
    pub block: ExtendedBlock,
    /// Where in the file it begins.
    pub offset: u64,
    /// Every replica is corrupt.
    pub is_corrupt: bool,
    /// Its replicas, nearest first.
    pub replicas: Vec<Replica>,
    /// What a DataNode wants to see.
    pub(crate) token: TokenProto,
}

impl LocatedBlock {
    /// Where in the file it ends.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.block.block.len)
    }

    /// The DataNodes of its replicas.
    pub fn nodes(&self) -> impl Iterator<Item = &DatanodeInfo> {
        self.replicas.iter().map(|replica| &replica.node)
    }

    /// The message of this block, as reports of bad blocks need it.
    pub(crate) fn to_proto(&self) -> LocatedBlockProto {
        LocatedBlockProto {
            b: (&self.block).into(),
            offset: self.offset,
            locs: self.nodes().map(|node| node.proto().clone()).collect(),
            corrupt: self.is_corrupt,
            block_token: self.token.clone(),
            storage_types: self.replicas.iter().map(|r| r.storage_type.number()).collect(),
            storage_i_ds: self.replicas.iter().map(|r| r.storage_id.clone()).collect(),
            ..Default::default()
        }
    }
}

impl From<LocatedBlockProto> for LocatedBlock {
    fn from(proto: LocatedBlockProto) -> Self {
        let types: Vec<StorageType> = proto.storage_types().map(Into::into).collect();
        let mut ids = proto.storage_i_ds.into_iter();
        let replicas = proto.locs.into_iter().enumerate().map(|(at, node)| Replica {
            node: node.into(),
            storage_type: types.get(at).copied().unwrap_or(StorageType::Disk),
            storage_id: ids.next().unwrap_or_default(),
            is_cached: proto.is_cached.get(at).copied().unwrap_or(false),
        });
        Self {
            replicas: replicas.collect(),
            block: (&proto.b).into(),
            offset: proto.offset,
            is_corrupt: proto.corrupt,
            token: proto.block_token,
        }
    }
}

/// The blocks of a range of a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LocatedBlocks {
    /// The file's length without a last block that is being written.
    pub file_len: u64,
    /// The blocks of the range asked, by offset.
    pub blocks: Vec<LocatedBlock>,
    /// The file is being written.
    pub is_under_construction: bool,
    /// The file's last block, wherever the range is.
    pub last_block: Option<LocatedBlock>,
    /// Whether the last block's length is final.
    pub is_last_complete: bool,
    /// The erasure coding policy of the file; its blocks are then groups of cells.
    pub erasure_policy: Option<String>,
    /// The bytes in the blocks are encrypted.
    pub is_encrypted: bool,
}

impl LocatedBlocks {
    /// Refuses a file that this client cannot decode: it would return the bytes as the DataNodes store them.
    pub(crate) fn check_readable(&self, src: &str) -> Result<()> {
        self.check_replicated(src)?;
        match self.is_encrypted {
            true => Err(unreadable(src, "it is encrypted")),
            false => Ok(()),
        }
    }

    /// Refuses a file whose blocks are groups of cells.
    pub(crate) fn check_replicated(&self, src: &str) -> Result<()> {
        match &self.erasure_policy {
            Some(policy) => Err(unreadable(src, &format!("it is erasure coded ({policy})"))),
            None => Ok(()),
        }
    }

    /// The block that holds `offset`.
    pub fn at(&self, offset: u64) -> Option<&LocatedBlock> {
        let after = self.blocks.partition_point(|block| block.offset <= offset);
        let block = self.blocks.get(after.checked_sub(1)?)?;
        (offset < block.end()).then_some(block)
    }
}

impl From<LocatedBlocksProto> for LocatedBlocks {
    fn from(proto: LocatedBlocksProto) -> Self {
        let mut blocks: Vec<LocatedBlock> = proto.blocks.into_iter().map(Into::into).collect();
        blocks.sort_by_key(|block| block.offset);
        Self {
            file_len: proto.file_length,
            blocks,
            is_under_construction: proto.under_construction,
            last_block: proto.last_block.map(Into::into),
            is_last_complete: proto.is_last_block_complete,
            erasure_policy: proto.ec_policy.as_ref().map(erasure_policy_name),
            is_encrypted: proto.file_encryption_info.is_some(),
        }
    }
}

fn unreadable(src: &str, what: &str) -> Error {
    Error::new(ErrorKind::Unsupported, format!("{src}: {what}; this client cannot read it yet"))
}

/// `block` with another length.
pub(crate) fn with_len(block: &ExtendedBlock, len: u64) -> ExtendedBlock {
    ExtendedBlock { pool: Arc::clone(&block.pool), block: Block { len, ..block.block } }
}
