//! The requests to a DataNode over its domain socket: a segment of shared memory, descriptors.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use zerohop_proto::common::TokenProto;
use zerohop_proto::hdfs::{
    BaseHeaderProto, BlockOpResponseProto, OpRequestShortCircuitAccessProto,
    ShortCircuitFdResponse, ShortCircuitShmRequestProto, ShortCircuitShmResponseProto, Status,
};
use zerohop_transport::net::DataStream;
use zerohop_transport::shm::Segment;
use zerohop_transport::trace;
use zerohop_wire::transfer::op::{OpCode, encode};
use zerohop_wire::{ExtendedBlock, ShmId, Slot, SlotId};

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The only format of block files there is.
const FORMAT_VERSION: u32 = 1;

/// Why there are no descriptors.
#[derive(Debug)]
pub enum NoDescriptors {
    /// The socket failed, or what came over it is no answer of a DataNode.
    Answer(String),
    /// The DataNode says no.
    Refused(Status, String),
}

impl From<io::Error> for NoDescriptors {
    fn from(error: io::Error) -> Self {
        NoDescriptors::Answer(match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                format!("no answer within {} s", PATIENCE.as_secs())
            }
            io::ErrorKind::UnexpectedEof => {
                "the connection was closed without an answer".to_owned()
            }
            _ => error.to_string(),
        })
    }
}

/// A segment of slots; its connection ends it.
pub struct Slots {
    id: ShmId,
    segment: Segment,
    _connection: DataStream,
}

/// A replica's files.
pub struct Files {
    pub data: File,
    pub meta: File,
}

fn connect(path: &Path) -> io::Result<DataStream> {
    let connection = DataStream::connect_domain(path, PATIENCE)?;
    connection.set_read_timeout(PATIENCE)?;
    connection.set_write_timeout(PATIENCE)?;
    Ok(connection)
}

/// The byte that carries descriptors, and those.
fn descriptors(connection: &DataStream, count: usize) -> Result<(u8, Vec<File>), NoDescriptors> {
    let (mut byte, mut fds) = ([0], Vec::new());
    match connection.recv_with_fds(&mut byte, &mut fds)? {
        1 if fds.len() == count => Ok((byte[0], fds.into_iter().map(File::from).collect())),
        1 => Err(NoDescriptors::Answer(format!("{} descriptors came, not {count}", fds.len()))),
        _ => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
    }
}

/// Asks for a segment (REQUEST_SHORT_CIRCUIT_SHM).
pub fn slots(path: &Path) -> Result<Slots, NoDescriptors> {
    let connection = connect(path)?;
    let client_name = format!("zerohop-doctor-{}", std::process::id());
    let trace_info = trace::transfer_info();
    let request = ShortCircuitShmRequestProto { client_name, trace_info };
    (&connection).write_all(&encode(OpCode::RequestShortCircuitShm, &request))?;
    let response: ShortCircuitShmResponseProto = connection.read_message()?;
    match (response.status(), response.id) {
        (Status::Success, Some(id)) => {
            let (_, fds) = descriptors(&connection, 1)?;
            let segment = fds.first().map(Segment::map);
            let segment =
                segment.ok_or_else(|| NoDescriptors::Answer("no segment came".to_owned()))??;
            Ok(Slots { id: id.into(), segment, _connection: connection })
        }
        (Status::Success, None) => Err(NoDescriptors::Answer("a segment without an id".to_owned())),
        (status, _) => Err(NoDescriptors::Refused(status, response.error.unwrap_or_default())),
    }
}

impl Slots {
    /// Takes a slot, for a replica that is asked for next.
    pub fn claim(&self, index: usize) -> Option<SlotId> {
        self.segment.slot(index)?.claim();
        Some(SlotId { shm: self.id, index: i32::try_from(index).ok()? })
    }

    /// Whether the DataNode lets the replica be used.
    pub fn is_valid(&self, slot: SlotId) -> bool {
        let index = usize::try_from(slot.index).unwrap_or(usize::MAX);
        self.segment.slot(index).is_some_and(|slot| slot.is_valid())
    }
}

/// Asks for a replica's descriptors (REQUEST_SHORT_CIRCUIT_FDS).
pub fn files(
    path: &Path,
    block: &ExtendedBlock,
    slot: Option<SlotId>,
) -> Result<Files, NoDescriptors> {
    let connection = connect(path)?;
    let request = OpRequestShortCircuitAccessProto {
        header: BaseHeaderProto {
            block: block.into(),
            token: Some(TokenProto::default()),
            trace_info: trace::transfer_info(),
        },
        max_version: FORMAT_VERSION,
        slot_id: slot.map(Into::into),
        supports_receipt_verification: Some(true),
    };
    (&connection).write_all(&encode(OpCode::RequestShortCircuitFds, &request))?;
    let response: BlockOpResponseProto = connection.read_message()?;
    if response.status() != Status::Success {
        return Err(NoDescriptors::Refused(
            response.status(),
            response.message.unwrap_or_default(),
        ));
    }
    let (byte, mut fds) = descriptors(&connection, 2)?;
    if i32::from(byte) == ShortCircuitFdResponse::UseReceiptVerification as i32 {
        (&connection).write_all(&[0])?;
    }
    match (fds.pop(), fds.pop()) {
        (Some(meta), Some(data)) => Ok(Files { data, meta }),
        _ => Err(NoDescriptors::Answer("no descriptors came".to_owned())),
    }
}
