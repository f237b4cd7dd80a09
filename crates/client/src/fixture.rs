//! For tests: a NameNode that answers as a test says, and a DataNode with some blocks.

use crate::client::Client;
use crate::runtime;
use crate::types::{LocatedBlock, Replica, StorageType};
use bytes::Bytes;
use parking_lot::{Condvar, Mutex};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use zerohop_conf::Conf;
use zerohop_proto::common::TokenProto;
use zerohop_proto::hdfs::{
    BlockOpResponseProto, ChecksumProto, ChecksumTypeProto, ClientReadStatusProto, DatanodeIdProto,
    DatanodeInfoProto, GetBlockLocationsRequestProto, GetBlockLocationsResponseProto,
    LocatedBlocksProto, OpReadBlockProto, ReadOpChecksumInfoProto, Status,
};
use zerohop_transport::login::User;
use zerohop_transport::rpc::{CallContext, Reply, RpcServer, RpcService, ServerOptions};
use zerohop_wire::transfer::frame;
use zerohop_wire::transfer::op::{self, Request};
use zerohop_wire::transfer::packet::PacketHeader;
use zerohop_wire::{Block, BlockId, ExtendedBlock, GenerationStamp};

const CHUNK_LEN: u64 = 512;

/// A replica on a DataNode of this machine with the port `number`.
pub(crate) fn replica(number: u32) -> Replica {
    let id = DatanodeIdProto {
        ip_addr: "127.0.0.1".to_owned(),
        datanode_uuid: format!("uuid-{number}"),
        xfer_port: number,
        ..DatanodeIdProto::default()
    };
    Replica {
        node: DatanodeInfoProto { id, ..DatanodeInfoProto::default() }.into(),
        storage_type: StorageType::Disk,
        storage_id: format!("DS-{number}"),
        is_cached: false,
    }
}

/// A block with one replica.
pub(crate) fn located(id: i64, offset: u64, len: u64) -> LocatedBlock {
    let block = Block { id: BlockId(id), stamp: GenerationStamp(1001), len };
    LocatedBlock {
        block: ExtendedBlock { pool: "BP-1-127.0.0.1-1".into(), block },
        offset,
        is_corrupt: false,
        replicas: vec![replica(1)],
        token: TokenProto::default(),
    }
}

/// What the DataNode has in a block.
pub(crate) fn bytes_of(id: i64, range: Range<u64>) -> Vec<u8> {
    range.map(|at| ((id as u64 * 37 + at) % 251) as u8).collect()
}

/// A NameNode and its client, and a DataNode.
pub(crate) struct Cluster {
    pub(crate) client: Arc<Client>,
    pub(crate) datanode: Arc<DataNode>,
    /// The blocks of the only file.
    pub(crate) blocks: Arc<Mutex<Vec<LocatedBlock>>>,
    /// Whether another client appends to it.
    pub(crate) is_appended: Arc<AtomicBool>,
    /// Largest length to report for the file, to make it shorter than its blocks.
    pub(crate) file_len: Arc<AtomicU64>,
    _namenode: RpcServer,
}

impl Cluster {
    /// With a NameNode that answers by method and request.
    pub(crate) fn answering(answer: impl Fn(&str, Bytes) -> Reply + Send + Sync + 'static) -> Self {
        Self::start(&[], Arc::default(), Arc::default(), &[], Box::new(answer))
    }

    /// With one file under every path, and a DataNode that has the blocks `has`.
    pub(crate) fn with_file(
        settings: &[(&str, &str)],
        blocks: Vec<LocatedBlock>,
        has: &[i64],
    ) -> Self {
        let blocks = Arc::new(Mutex::new(blocks));
        let file = Arc::clone(&blocks);
        let is_appended = Arc::new(AtomicBool::new(false));
        let appended = Arc::clone(&is_appended);
        let file_len = Arc::new(AtomicU64::new(u64::MAX));
        let max_len = Arc::clone(&file_len);
        let answer = move |method: &str, param: Bytes| {
            assert_eq!(method, "getBlockLocations");
            let asked: GetBlockLocationsRequestProto = zerohop_proto::decode(param).unwrap();
            let mut found = locations(&file.lock(), &asked);
            found.under_construction = appended.load(Ordering::Relaxed);
            found.file_length = found.file_length.min(max_len.load(Ordering::Relaxed));
            Reply::message(&GetBlockLocationsResponseProto { locations: Some(found) })
        };
        let cluster = Self::start(settings, blocks, is_appended, has, Box::new(answer));
        Self { file_len, ..cluster }
    }

    fn start(
        settings: &[(&str, &str)],
        blocks: Arc<Mutex<Vec<LocatedBlock>>>,
        is_appended: Arc<AtomicBool>,
        has: &[i64],
        answer: Box<Answer>,
    ) -> Self {
        let runtime = runtime::background().unwrap();
        let _inside = runtime.enter();
        let options = ServerOptions::from_conf(&Conf::new(), 0, 1).unwrap();
        let namenode = RpcServer::bind(SocketAddr::from(([127, 0, 0, 1], 0)), options).unwrap();
        namenode.register(Arc::new(NameNode(answer)));
        namenode.start().unwrap();
        let mut conf = Conf::new();
        conf.set("fs.defaultFS", format!("hdfs://{}", namenode.local_addr()));
        conf.set("dfs.client.retry.window.base", "0");
        for (key, value) in settings {
            conf.set(key, *value);
        }
        let client = Client::new(&conf, None, User::new("test"), runtime.clone()).unwrap();
        let datanode = DataNode::start(has);
        let file_len = Arc::default();
        let cluster = Self { client, datanode, blocks, is_appended, file_len, _namenode: namenode };
        let file = cluster.blocks.lock().clone();
        cluster.set_file(file);
        cluster
    }

    /// Another file takes the path.
    pub(crate) fn set_file(&self, mut blocks: Vec<LocatedBlock>) {
        for block in &mut blocks {
            block.replicas = vec![self.datanode.replica()];
        }
        *self.blocks.lock() = blocks;
    }
}

type Answer = dyn Fn(&str, Bytes) -> Reply + Send + Sync;

struct NameNode(Box<Answer>);

impl RpcService for NameNode {
    fn protocol(&self) -> &'static str {
        "org.apache.hadoop.hdfs.protocol.ClientProtocol"
    }

    fn version(&self) -> u64 {
        1
    }

    fn call(self: Arc<Self>, _: CallContext, method: &str, param: Bytes) -> Reply {
        (self.0)(method, param)
    }
}

fn locations(blocks: &[LocatedBlock], asked: &GetBlockLocationsRequestProto) -> LocatedBlocksProto {
    let end = asked.offset.saturating_add(asked.length);
    let is_asked = |block: &&LocatedBlock| block.end() > asked.offset && block.offset < end;
    LocatedBlocksProto {
        file_length: blocks.last().map_or(0, LocatedBlock::end),
        blocks: blocks.iter().filter(is_asked).map(LocatedBlock::to_proto).collect(),
        last_block: blocks.last().map(LocatedBlock::to_proto),
        is_last_block_complete: true,
        ..LocatedBlocksProto::default()
    }
}

/// Serves blocks as [`bytes_of`] has them, without checksums.
pub(crate) struct DataNode {
    port: u16,
    has: Vec<i64>,
    gate: Mutex<Gate>,
    changed: Condvar,
}

#[derive(Default)]
struct Gate {
    asked: usize,
    is_closed: bool,
}

impl DataNode {
    pub(crate) fn start(has: &[i64]) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (gate, changed) = Default::default();
        let datanode = Arc::new(Self { port, has: has.to_vec(), gate, changed });
        let serving = Arc::clone(&datanode);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let serving = Arc::clone(&serving);
                // Ends with the connection.
                std::thread::spawn(move || serving.serve(stream));
            }
        });
        datanode
    }

    /// Its replica of any block.
    pub(crate) fn replica(&self) -> Replica {
        replica(u32::from(self.port))
    }

    /// Lets requests wait until [`open`](Self::open).
    pub(crate) fn close(&self) {
        self.gate.lock().is_closed = true;
    }

    pub(crate) fn open(&self) {
        self.gate.lock().is_closed = false;
        self.changed.notify_all();
    }

    /// How many requests have come.
    pub(crate) fn asked(&self) -> usize {
        self.gate.lock().asked
    }

    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        let mut input = Vec::new();
        loop {
            let request = receive(&mut stream, &mut input, |bytes| op::take(bytes).unwrap())?;
            let Request::ReadBlock(asked) = request else { panic!("{request:?}") };
            {
                let mut gate = self.gate.lock();
                gate.asked += 1;
                self.changed.wait_while(&mut gate, |gate| gate.is_closed);
            }
            if !self.has.contains(&(asked.header.base_header.block.block_id as i64)) {
                return Ok(());
            }
            send_block(&mut stream, &asked)?;
            let _: ClientReadStatusProto =
                receive(&mut stream, &mut input, |bytes| frame::take(bytes).unwrap())?;
        }
    }
}

/// One message from a connection.
fn receive<T>(
    stream: &mut TcpStream,
    input: &mut Vec<u8>,
    take: impl Fn(&[u8]) -> Option<(T, usize)>,
) -> io::Result<T> {
    loop {
        if let Some((message, len)) = take(input) {
            input.drain(..len);
            return Ok(message);
        }
        let mut more = [0; 1024];
        match stream.read(&mut more)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            len => input.extend_from_slice(&more[..len]),
        }
    }
}

fn send_block(stream: &mut TcpStream, asked: &OpReadBlockProto) -> io::Result<()> {
    let id = asked.header.base_header.block.block_id as i64;
    let first = asked.offset - asked.offset % CHUNK_LEN;
    let checksum = ChecksumProto {
        r#type: ChecksumTypeProto::ChecksumNull.into(),
        bytes_per_checksum: CHUNK_LEN as u32,
    };
    let answer = BlockOpResponseProto {
        status: Status::Success.into(),
        read_op_checksum_info: Some(ReadOpChecksumInfoProto { checksum, chunk_offset: first }),
        ..BlockOpResponseProto::default()
    };
    stream.write_all(&frame::encode(&answer))?;
    let data = bytes_of(id, first..asked.offset + asked.len);
    for (seqno, data) in [data.as_slice(), &[]].into_iter().enumerate() {
        let header = PacketHeader {
            offset_in_block: first as i64,
            seqno: seqno as i64,
            last: data.is_empty(),
            data_len: data.len() as u32,
            sync: false,
        };
        let (head, len) = header.encode(0);
        stream.write_all(&head[..len])?;
        stream.write_all(data)?;
    }
    Ok(())
}
