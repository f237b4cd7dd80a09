//! Traffic as it really is: what a client sends on each port, taken down on its way or made as it
//! makes it.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::Runtime;
use zerohop_client::{LocatedBlock, User};
use zerohop_interop::harm::{Explain, blocks, check, client, client_as, put, shape};
use zerohop_interop::{Outcome, content};
use zerohop_proto::hdfs::*;
use zerohop_transport::rpc::{ClientOptions, RpcClient};
use zerohop_wire::transfer::op::{self, OpCode};
use zerohop_wire::transfer::packet::PacketHeader;

/// Who sends it: a user who may do nothing outside its directory, whatever becomes of the bytes.
const MALLORY: &str = "mallory";

type Streams = Arc<Mutex<Vec<Vec<u8>>>>;

/// Stands before a port and takes down what each connection sends to it.
struct Recorder {
    port: u16,
    streams: Streams,
}

impl Recorder {
    fn before(target: u16) -> Outcome<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").at("a recorder")?;
        let port = listener.local_addr().at("a recorder")?.port();
        let streams = Streams::default();
        let all = Arc::clone(&streams);
        std::thread::spawn(move || {
            for there in listener.incoming().flatten() {
                let Ok(here) = TcpStream::connect(("127.0.0.1", target)) else { return };
                relay(there, here, &all);
            }
        });
        Ok(Self { port, streams })
    }

    fn taken(&self) -> Vec<Vec<u8>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Copies both ways, each on a thread, and takes down the first.
fn relay(there: TcpStream, here: TcpStream, all: &Streams) {
    let index = {
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(Vec::new());
        all.len() - 1
    };
    let (Ok(from), Ok(to)) = (there.try_clone(), here.try_clone()) else { return };
    let all = Arc::clone(all);
    std::thread::spawn(move || {
        copy(from, to, |bytes| {
            all.lock().unwrap_or_else(PoisonError::into_inner)[index].extend_from_slice(bytes);
        });
    });
    std::thread::spawn(move || copy(here, there, |_| {}));
}

fn copy(mut from: TcpStream, mut to: TcpStream, mut see: impl FnMut(&[u8])) {
    let mut buffer = [0; 1 << 14];
    while let Ok(got @ 1..) = from.read(&mut buffer) {
        see(&buffer[..got]);
        if to.write_all(&buffer[..got]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

/// What a client says to the NameNode while it makes, lists, changes and deletes.
pub fn namenode(conf: &Path, port: u16) -> Outcome<Vec<Vec<u8>>> {
    let root = client(conf, &[])?;
    root.mkdirs("/rec").at("/rec")?;
    root.set_permission("/rec", 0o777).at("/rec")?;
    let recorder = Recorder::before(port)?;
    let uri = format!("hdfs://127.0.0.1:{}", recorder.port);
    let fs = client_as(conf, &[("fs.defaultFS", &uri)], User::new(MALLORY))?;
    put(&fs, "/rec/a", 1, 3000, shape(1, 1 << 20))?;
    check(&fs, "/rec/a", 1, 3000)?;
    fs.mkdirs("/rec/d/e").at("mkdirs")?;
    fs.rename("/rec/a", "/rec/d/b").at("rename")?;
    fs.list("/rec/d").at("list")?;
    fs.set_permission("/rec/d/b", 0o600).at("chmod")?;
    fs.set_replication("/rec/d/b", 2).at("setrep")?;
    fs.set_times("/rec/d/b", Some(5), Some(6)).at("times")?;
    fs.content_summary("/rec").at("summary")?;
    fs.exists("/rec/none").at("status")?;
    fs.server_defaults().at("defaults")?;
    fs.truncate("/rec/d/b", 1000).at("truncate")?;
    fs.delete("/rec/d", true).at("delete")?;
    Ok(recorder.taken())
}

/// What is asked at a DataNode's IPC port.
pub fn datanode_rpc(port: u16, block: &LocatedBlock) -> Outcome<Vec<Vec<u8>>> {
    let recorder = Recorder::before(port)?;
    let runtime = Runtime::new().at("a runtime")?;
    let _inside = runtime.enter();
    let protocol = "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol";
    let address = format!("127.0.0.1:{}", recorder.port);
    let options = ClientOptions::default();
    let rpc = RpcClient::new(address, protocol, 1, &User::new(MALLORY), options);
    let visible = GetReplicaVisibleLengthRequestProto { block: extended(block) };
    for _ in 0..3 {
        let _: GetReplicaVisibleLengthResponseProto =
            runtime.block_on(rpc.call("getReplicaVisibleLength", &visible)).at("a length")?;
        // Refused to this user, and a valid request all the same.
        let request = GetDatanodeInfoRequestProto {};
        let _: Result<GetDatanodeInfoResponseProto, _> =
            runtime.block_on(rpc.call("getDatanodeInfo", &request));
    }
    Ok(recorder.taken())
}

fn extended(block: &LocatedBlock) -> ExtendedBlockProto {
    ExtendedBlockProto {
        pool_id: block.block.pool.to_string(),
        block_id: block.block.block.id.0 as u64,
        generation_stamp: block.block.block.stamp.0 as u64,
        num_bytes: Some(block.block.block.len),
    }
}

/// Reads, sums and copies of a block that is there, and the whole writing of one that is not.
pub fn transfers(block: &LocatedBlock) -> Vec<Vec<u8>> {
    let header = |block| ClientOperationHeaderProto {
        base_header: BaseHeaderProto { block, ..Default::default() },
        client_name: "recorded".to_owned(),
    };
    let there = extended(block);
    let base = BaseHeaderProto { block: there.clone(), ..Default::default() };
    let len = there.num_bytes.unwrap_or_default();
    let read = OpReadBlockProto {
        header: header(there.clone()),
        offset: 0,
        len,
        send_checksums: Some(true),
        caching_strategy: None,
    };
    let sum = OpBlockChecksumProto { header: base.clone(), ..Default::default() };
    let copied = OpCopyBlockProto { header: base };
    let checksum =
        ChecksumProto { r#type: ChecksumTypeProto::ChecksumCrc32.into(), bytes_per_checksum: 512 };
    let new = ExtendedBlockProto { block_id: 1 << 40, num_bytes: Some(0), ..there };
    let write = OpWriteBlockProto {
        header: header(new.clone()),
        stage: op_write_block_proto::BlockConstructionStage::PipelineSetupCreate.into(),
        pipeline_size: 1,
        latest_generation_stamp: new.generation_stamp,
        requested_checksum: checksum,
        ..Default::default()
    };
    let mut written = op::encode(OpCode::WriteBlock, &write);
    written.extend(packets());
    let two_reads = [op::encode(OpCode::ReadBlock, &read), vec![0x08, 0x06]].concat();
    vec![
        written,
        [two_reads.clone(), op::encode(OpCode::ReadBlock, &read)].concat(),
        op::encode(OpCode::BlockChecksum, &sum),
        op::encode(OpCode::CopyBlock, &copied),
    ]
}

/// Three packets with their sums, and the empty last one.
fn packets() -> Vec<u8> {
    let mut bytes = Vec::new();
    for seqno in 0..4u32 {
        let last = seqno == 3;
        let mut data = vec![0; if last { 0 } else { 1024 }];
        content::fill(3, u64::from(seqno) * 1024, &mut data);
        let sums: Vec<u8> =
            data.chunks(512).flat_map(|chunk| crc32fast::hash(chunk).to_be_bytes()).collect();
        let header = PacketHeader {
            offset_in_block: i64::from(seqno) * 1024,
            seqno: seqno.into(),
            last,
            data_len: data.len() as u32,
            sync: false,
        };
        let (prefix, len) = header.encode(sums.len());
        bytes.extend([&prefix[..len], &sums, &data].concat());
    }
    bytes
}

/// Requests of a browser.
pub fn http() -> Vec<Vec<u8>> {
    let request = |line: &str, more: &str| {
        format!(
            "{line} HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n{more}Connection: close\r\n\r\n"
        )
        .into_bytes()
    };
    vec![
        request("GET /jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState", ""),
        request("GET /conf?format=json&name=dfs.replication", "Accept-Encoding: gzip\r\n"),
        request("GET /shortcircuit", "Cookie: a=b; c=\"d\"\r\n"),
        request("GET /dfshealth.html", "User-Agent: curl/7.88.1\r\nRange: bytes=0-10\r\n"),
        request("HEAD /", ""),
        [request("POST /jmx", "Content-Length: 5\r\n"), b"a=b&c".to_vec()].concat(),
    ]
}

/// The only block of a new file.
pub fn a_block(conf: &Path) -> Outcome<LocatedBlock> {
    let fs = client(conf, &[])?;
    put(&fs, "/block", 6, 5000, shape(1, 1 << 20))?;
    blocks(&fs, "/block")?.pop().ok_or_else(|| "no block".to_owned())
}
