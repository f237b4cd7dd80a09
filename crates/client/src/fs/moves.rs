//! What the balancer and the mover ask: the blocks of a DataNode, and moves of replicas.

use super::FileSystem;
use crate::client::Client;
use crate::error::{Error, ErrorKind, Result};
use crate::namenode::{self, NameNode};
use crate::runtime;
use crate::types::{DatanodeInfo, StorageType};
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
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
use zerohop_transport::net::DataStream;
use zerohop_transport::trace;
use zerohop_wire::transfer::frame;
use zerohop_wire::transfer::op::{self, OpCode};
use zerohop_wire::{Block, ExtendedBlock};

const PROTOCOL: &str = "org.apache.hadoop.hdfs.server.protocol.NamenodeProtocol";
/// A DataNode reports twice in its socket timeout that a move is in progress; after so many timeouts without a report
/// the move has failed.
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
    /// The DataNode that loses it.
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
        let (target, user, runtime) = (&client.target, &client.user, &client.runtime);
        let namenode = namenode::connect(PROTOCOL, conf, target, user, runtime)?;
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

    /// Moves a replica. Dropping the future closes the connection; the DataNodes may finish the move all the same.
    pub async fn move_replica(&self, wanted: &ReplicaMove) -> Result<MoveOutcome> {
        let doing = format!("move of {} to {}", wanted.block, wanted.target);
        let block = ExtendedBlock { pool: Arc::clone(&self.pool), block: wanted.block };
        let message = OpReplaceBlockProto {
            header: BaseHeaderProto {
                block: (&block).into(),
                token: Some(Default::default()),
                trace_info: trace::transfer_info(),
            },
            del_hint: wanted.source.uuid().to_owned(),
            source: wanted.proxy.proto().clone(),
            storage_type: Some(wanted.storage_type.number()),
            storage_id: None,
        };
        let request = op::encode(OpCode::ReplaceBlock, &message);
        let limit = self.client.settings.socket_timeout;
        let (client, target, sending) =
            (Arc::clone(&self.client), wanted.target.clone(), doing.clone());
        let send = move || {
            let send = || {
                let stream = client.connect(client.transfer_addr(&target)?, limit, limit)?;
                (&stream).write_all(&request).map(|()| stream)
            };
            send().map_err(|error| Error::io(sending, error))
        };
        let stream = self.client.on_thread(send).await?;
        let silent = if limit.is_zero() { Duration::MAX } else { limit };
        let answer = last_answer(stream, silent.saturating_mul(SILENT_TIMEOUTS));
        let answer = runtime::within(&self.client.runtime, answer).await;
        let answer = answer.map_err(|error| Error::io(&doing, error))?;
        match answer.status() {
            Status::Success => Ok(MoveOutcome::Moved),
            Status::ErrorBlockPinned => Ok(MoveOutcome::Pinned),
            status => {
                let (status, text) = (status.as_str_name(), answer.message());
                Err(Error::new(ErrorKind::Io, format!("{doing}: {status}, {text}")))
            }
        }
    }
}

/// Waits for the last answer without a thread. Dropping the future closes the connection.
async fn last_answer(stream: DataStream, silent: Duration) -> io::Result<BlockOpResponseProto> {
    // SAFETY: the stream owns its socket: the descriptor stays open, and the same, until the stream is dropped.
    let stream = unsafe { AsyncFd::register_with_interest(stream, Interest::READABLE)? };
    let (mut bytes, mut room) = (Vec::new(), [0; 1024]);
    loop {
        let invalid = |e: frame::FrameError| io::Error::new(io::ErrorKind::InvalidData, e);
        match frame::take::<BlockOpResponseProto>(&bytes).map_err(invalid)? {
            Some((answer, len)) if answer.status() == Status::InProgress => {
                bytes.drain(..len);
            }
            Some((answer, _)) => return Ok(answer),
            None => match timeout(silent, read_some(&stream, &mut room)).await?? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => bytes.extend_from_slice(room.get(..read).unwrap_or_default()),
            },
        }
    }
}

async fn read_some(stream: &AsyncFd<DataStream>, room: &mut [u8]) -> io::Result<usize> {
    loop {
        let mut ready = stream.readable().await?;
        match stream.get_ref().read_ready(room)? {
            Some(read) => return Ok(read),
            None => ready.clear_ready(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    fn answer(status: Status) -> Vec<u8> {
        frame::encode(&BlockOpResponseProto { status: status.into(), ..Default::default() })
    }

    /// The client's stream and the DataNode's end.
    fn connection() -> (DataStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (stream.into(), listener.accept().unwrap().0)
    }

    /// A slow DataNode reports again and again that it is in progress, before it sends the answer.
    #[tokio::test]
    async fn answers_that_a_move_is_under_way_are_not_its_end() {
        let (stream, mut datanode) = connection();
        let progress = answer(Status::InProgress);
        let all = [&progress[..], &progress, &answer(Status::ErrorBlockPinned)].concat();
        let sending = std::thread::spawn(move || {
            for byte in all {
                datanode.write_all(&[byte]).unwrap();
            }
            datanode
        });
        let ended = last_answer(stream, Duration::MAX).await.unwrap();
        assert_eq!(ended.status(), Status::ErrorBlockPinned);
        drop(sending.join().unwrap());
    }

    #[tokio::test]
    async fn a_move_ends_with_its_connection_or_after_silence() {
        let (stream, datanode) = connection();
        let silent = last_answer(stream, Duration::from_millis(1)).await.unwrap_err();
        assert_eq!(silent.kind(), io::ErrorKind::TimedOut);
        drop(datanode);
        let (stream, datanode) = connection();
        drop(datanode);
        let ended = last_answer(stream, Duration::MAX).await.unwrap_err();
        assert_eq!(ended.kind(), io::ErrorKind::UnexpectedEof);
    }
}
