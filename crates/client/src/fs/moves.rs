//! What the balancer and the mover ask: the blocks of a DataNode, and moves of replicas.

use super::FileSystem;
use crate::client::Client;
use crate::error::{Error, ErrorKind, Result};
use crate::namenode::{self, NameNode};
use crate::types::{DatanodeInfo, StorageType};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use zerohop_conf::Conf;
use zerohop_proto::hdfs::namenode::{
    GetBlocksRequestProto, GetBlocksResponseProto, IsUpgradeFinalizedRequestProto,
    IsUpgradeFinalizedResponseProto,
};
use zerohop_proto::hdfs::{
    BaseHeaderProto, BlockOpResponseProto, BlockWithLocationsProto, OpReplaceBlockProto, Status,
    VersionRequestProto, VersionResponseProto,
};
use zerohop_wire::transfer::frame;
use zerohop_wire::transfer::op::{self, OpCode};
use zerohop_wire::{Block, ExtendedBlock};

const PROTOCOL: &str = "org.apache.hadoop.hdfs.server.protocol.NamenodeProtocol";
/// DataNodes say twice in their socket timeout that a move is under way; so many silent timeouts end it.
const SILENT_TIMEOUTS: u32 = 5;

/// A block, and where it is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StoredBlock {
    /// The block; of an erasure-coded one the whole group.
    pub block: Block,
    /// The DataNodes that have it, by uuid, with the type of the storage that it is on.
    pub locations: Vec<(String, StorageType)>,
    /// Whether it is a group of erasure-coded cells.
    pub is_striped: bool,
}

impl From<BlockWithLocationsProto> for StoredBlock {
    fn from(proto: BlockWithLocationsProto) -> Self {
        let types: Vec<StorageType> = proto.storage_types().map(Into::into).collect();
        let with_type = |(at, uuid)| (uuid, types.get(at).copied().unwrap_or(StorageType::Disk));
        Self {
            block: Block::from(&proto.block),
            is_striped: proto.indices.is_some(),
            locations: proto.datanode_uuids.into_iter().enumerate().map(with_type).collect(),
        }
    }
}

/// Which blocks of a DataNode are wanted.
#[derive(Clone, Copy, Debug)]
pub struct BlocksWanted {
    /// Their bytes in sum.
    pub bytes: u64,
    /// Bytes of the smallest.
    pub len_min: u64,
    /// Blocks of files changed within this time come last.
    pub hot_for: Duration,
    /// The type of the storages that they are on.
    pub storage_type: StorageType,
}

/// A replica that is to be moved.
#[derive(Clone, Debug)]
pub struct ReplicaMove {
    /// The block.
    pub block: Block,
    /// The DataNode that shall no longer have it.
    pub source: DatanodeInfo,
    /// The DataNode that the bytes are copied from: the source, or one with another replica.
    pub proxy: DatanodeInfo,
    /// The DataNode that gets it; the source, where a replica moves between volumes.
    pub target: DatanodeInfo,
    /// The type of the storage that it gets to.
    pub storage_type: StorageType,
}

/// How a move ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveOutcome {
    /// The target has the replica, and the NameNode deletes that of the source.
    Moved,
    /// The replica is pinned to its DataNode.
    Pinned,
}

/// Looks for replicas and moves them. Only the superuser may.
#[derive(Clone)]
pub struct ReplicaMoves {
    client: Arc<Client>,
    namenode: NameNode,
    pool: Arc<str>,
}

impl ReplicaMoves {
    /// For the cluster of `fs`, which was made from `conf`.
    pub async fn connect(conf: &Conf, fs: &FileSystem) -> Result<Self> {
        let client = Arc::clone(&fs.client);
        let namenode = namenode::connect(PROTOCOL, conf, &client.target, &client.user)?;
        let version: VersionResponseProto =
            namenode.call("versionRequest", &VersionRequestProto {}).await?;
        Ok(Self { client, namenode, pool: version.info.block_pool_id.into() })
    }

    /// The id of the cluster's block pool.
    pub fn pool(&self) -> &str {
        &self.pool
    }

    /// Whether no upgrade of the NameNode's image waits to be finalized.
    pub async fn is_upgrade_finalized(&self) -> Result<bool> {
        let answer: IsUpgradeFinalizedResponseProto =
            self.namenode.call("isUpgradeFinalized", &IsUpgradeFinalizedRequestProto {}).await?;
        Ok(answer.is_upgrade_finalized)
    }

    /// Some blocks of a DataNode, from a random place on.
    pub async fn blocks_on(
        &self,
        node: &DatanodeInfo,
        wanted: BlocksWanted,
    ) -> Result<Vec<StoredBlock>> {
        let request = GetBlocksRequestProto {
            datanode: node.proto().id.clone(),
            size: wanted.bytes,
            min_block_size: Some(wanted.len_min),
            time_interval: Some(wanted.hot_for.as_millis() as u64),
            storage_type: Some(wanted.storage_type.number()),
        };
        let answer: GetBlocksResponseProto = self.namenode.call("getBlocks", &request).await?;
        Ok(answer.blocks.blocks.into_iter().map(StoredBlock::from).collect())
    }

    /// Moves a replica. A call that is given up ends the connection; the DataNodes may finish the move all the same.
    pub async fn move_replica(&self, wanted: &ReplicaMove) -> Result<MoveOutcome> {
        let (client, target) = (Arc::clone(&self.client), wanted.target.clone());
        let doing = || format!("move of {} to {}", wanted.block, wanted.target);
        let lookup = move || client.transfer_addr(&target).map_err(|e| Error::io(target, e));
        let addr = self.client.on_thread(lookup).await?;
        let block = ExtendedBlock { pool: Arc::clone(&self.pool), block: wanted.block };
        let message = OpReplaceBlockProto {
            header: BaseHeaderProto {
                block: (&block).into(),
                token: Some(Default::default()),
                trace_info: None,
            },
            del_hint: wanted.source.uuid().to_owned(),
            source: wanted.proxy.proto().clone(),
            storage_type: Some(wanted.storage_type.number()),
            storage_id: None,
        };
        let request = op::encode(OpCode::ReplaceBlock, &message);
        let limit = self.client.settings.socket_timeout;
        let answer = replace(addr, &request, limit).await.map_err(|e| Error::io(doing(), e))?;
        match answer.status() {
            Status::Success => Ok(MoveOutcome::Moved),
            Status::ErrorBlockPinned => Ok(MoveOutcome::Pinned),
            status => {
                let (status, text) = (status.as_str_name(), answer.message());
                Err(Error::new(ErrorKind::Io, format!("{}: {status}, {text}", doing())))
            }
        }
    }
}

/// Sends the request and waits for the last answer; a socket timeout of zero means no limit.
async fn replace(
    addr: SocketAddr,
    request: &[u8],
    socket_timeout: Duration,
) -> io::Result<BlockOpResponseProto> {
    let limit = if socket_timeout.is_zero() { Duration::MAX } else { socket_timeout };
    let mut stream = timeout(limit, TcpStream::connect(addr)).await??;
    rustix::net::sockopt::set_socket_keepalive(&stream, true)?;
    timeout(limit, stream.write_all(request)).await??;
    let mut bytes = Vec::new();
    loop {
        let invalid = |e: frame::FrameError| io::Error::new(io::ErrorKind::InvalidData, e);
        match frame::take::<BlockOpResponseProto>(&bytes).map_err(invalid)? {
            Some((answer, len)) if answer.status() == Status::InProgress => {
                bytes.drain(..len);
            }
            Some((answer, _)) => return Ok(answer),
            None => {
                let silent = limit.saturating_mul(SILENT_TIMEOUTS);
                if timeout(silent, stream.read_buf(&mut bytes)).await?? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    fn answer(status: Status) -> Vec<u8> {
        frame::encode(&BlockOpResponseProto { status: status.into(), ..Default::default() })
    }

    /// A DataNode that is slow says so again and again; only then comes the answer.
    #[tokio::test]
    async fn answers_that_a_move_is_under_way_are_not_its_end() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let datanode = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4];
            stream.read_exact(&mut request).await.unwrap();
            let progress = answer(Status::InProgress);
            let all = [&progress[..], &progress, &answer(Status::ErrorBlockPinned)].concat();
            for byte in all {
                stream.write_all(&[byte]).await.unwrap();
            }
            request
        };
        let (request, ended) = tokio::join!(datanode, replace(addr, b"move", Duration::ZERO));
        assert_eq!(&request, b"move");
        assert_eq!(ended.unwrap().status(), Status::ErrorBlockPinned);
    }
}
