//! The connection to the first DataNode of a pipeline; no policy here.

use super::packet::Packet;
use crate::client::Client;
use crate::spans;
use crate::types::Replica;
use std::io::{self, Read, Write};
use std::time::Instant;
use tracing::Span;
use zerohop_proto::common::TokenProto;
use zerohop_proto::hdfs::op_write_block_proto::BlockConstructionStage;
use zerohop_proto::hdfs::{
    BaseHeaderProto, BlockOpResponseProto, CachingStrategyProto, ClientOperationHeaderProto,
    OpTransferBlockProto, OpWriteBlockProto, Status,
};
use zerohop_system::clock;
use zerohop_transport::net::DataStream;
use zerohop_transport::trace;
use zerohop_wire::ExtendedBlock;
use zerohop_wire::checksum_type::DataChecksum;
use zerohop_wire::transfer::block_write::{self, Silence, SilenceLimits};
use zerohop_wire::transfer::op::{self, OpCode};
use zerohop_wire::transfer::pipeline_fault::PipelineFault;

/// Room for acknowledgements: one takes some thirty bytes.
const ACKS_LEN: usize = 8 << 10;

/// What is asked when a pipeline is set up.
pub(super) struct Setup<'a> {
    pub(super) block: &'a ExtendedBlock,
    /// Size at which the block is full; servers expect it in place of the block's length.
    pub(super) block_size: u64,
    pub(super) token: &'a TokenProto,
    pub(super) nodes: &'a [Replica],
    pub(super) stage: BlockConstructionStage,
    pub(super) acked_len: u64,
    pub(super) sent_len: u64,
    pub(super) new_stamp: u64,
    pub(super) checksum: DataChecksum,
    pub(super) lazy_persist: bool,
    pub(super) pinnings: &'a [bool],
}

pub(super) struct Pipeline {
    stream: DataStream,
    limits: SilenceLimits,
    sent_at: Instant,
    /// Room for acknowledgements.
    room: Vec<u8>,
    /// Of the request that set it up; it ends with the pipeline.
    _span: Span,
}

impl Pipeline {
    /// Connects to the first DataNode and lets it set up the rest.
    pub(super) fn open(client: &Client, setup: &Setup<'_>) -> Result<Self, PipelineFault> {
        let Some(first) = setup.nodes.first() else {
            return Err(PipelineFault::lost("no DataNodes"));
        };
        let span = spans::of_request(OpCode::WriteBlock, setup.block, &first.node);
        let opened = span.in_scope(|| Self::connect(client, setup, first));
        let (stream, limits) = opened.inspect_err(|fault| trace::record_failure(&span, fault))?;
        Ok(Self::of(stream, limits, span))
    }

    fn connect(
        client: &Client,
        setup: &Setup<'_>,
        first: &Replica,
    ) -> Result<(DataStream, SilenceLimits), PipelineFault> {
        let settings = &client.settings;
        let read_timeout = settings.pipeline_read_timeout(setup.nodes.len());
        let write_timeout = settings.pipeline_write_timeout(setup.nodes.len());
        let stream = client
            .transfer_addr(&first.node)
            .and_then(|addr| client.connect(addr, read_timeout, write_timeout))
            .map_err(PipelineFault::lost)?;
        (&stream).write_all(&encode(client, setup, first)).map_err(PipelineFault::lost)?;
        let answer = stream.read_message().map_err(PipelineFault::lost)?;
        let is_named = |link: &str, node: &Replica| node.node.transfer_addr(false) == link;
        let place_of = |link: &str| setup.nodes.iter().position(|node| is_named(link, node));
        if let Some(fault) = PipelineFault::of_answer(&answer, place_of) {
            return Err(fault);
        }
        let heartbeat_after = settings.socket_timeout / 2;
        stream.set_read_timeout(heartbeat_after).map_err(PipelineFault::lost)?;
        Ok((stream, SilenceLimits { heartbeat_after, silence_max: read_timeout }))
    }

    fn of(stream: DataStream, limits: SilenceLimits, span: Span) -> Self {
        Self { stream, limits, sent_at: clock::now(), room: vec![0; ACKS_LEN], _span: span }
    }

    /// One that stands already, and is quiet at once.
    #[cfg(test)]
    pub(super) fn over(stream: DataStream) -> Self {
        let heartbeat_after = std::time::Duration::from_nanos(1);
        let silence_max = std::time::Duration::from_secs(30);
        Self::of(stream, SilenceLimits { heartbeat_after, silence_max }, Span::none())
    }

    pub(super) fn send(&mut self, packet: &mut Packet) -> io::Result<()> {
        packet.write_to(&self.stream)?;
        self.sent_at = clock::now();
        Ok(())
    }

    /// Sends a packet without data, which shows that this writer is alive.
    pub(super) fn heartbeat(&mut self) -> io::Result<()> {
        let (bytes, start) = block_write::heartbeat();
        (&self.stream).write_all(bytes.get(start..).unwrap_or_default())?;
        self.sent_at = clock::now();
        Ok(())
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.limits.is_heartbeat_due(clock::since(self.sent_at))
    }

    /// Bytes of acknowledgements that have arrived; `None` where none have.
    pub(super) fn ready_acks(&mut self) -> io::Result<Option<&[u8]>> {
        match self.stream.read_ready(&mut self.room)? {
            Some(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Some(read) => Ok(self.room.get(..read)),
            None => Ok(None),
        }
    }

    /// The next bytes of acknowledgements. While DataNodes are busy syncing they get heartbeats.
    pub(super) fn wait_for_acks(&mut self) -> io::Result<&[u8]> {
        let since = clock::now();
        loop {
            match (&self.stream).read(&mut self.room) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => return Ok(self.room.get(..read).unwrap_or_default()),
                Err(error) if is_timeout(&error) => match self.limits.after(clock::since(since)) {
                    Silence::GiveUp => return Err(error),
                    Silence::Heartbeat => self.heartbeat()?,
                },
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn header(client: &Client, block: ExtendedBlock, token: &TokenProto) -> ClientOperationHeaderProto {
    ClientOperationHeaderProto {
        base_header: BaseHeaderProto {
            block: (&block).into(),
            token: Some(token.clone()),
            trace_info: trace::transfer_info(),
        },
        client_name: client.name.clone(),
    }
}

fn encode(client: &Client, setup: &Setup<'_>, first: &Replica) -> Vec<u8> {
    let below = setup.nodes.get(1..).unwrap_or_default();
    let block = crate::types::with_len(setup.block, setup.block_size);
    let message = OpWriteBlockProto {
        header: header(client, block, setup.token),
        targets: below.iter().map(|r| r.node.proto().clone()).collect(),
        source: None,
        stage: setup.stage.into(),
        pipeline_size: setup.nodes.len() as u32,
        min_bytes_rcvd: setup.acked_len,
        max_bytes_rcvd: setup.sent_len,
        latest_generation_stamp: setup.new_stamp,
        requested_checksum: setup.checksum.into(),
        caching_strategy: Some(CachingStrategyProto::default()),
        storage_type: Some(first.storage_type.number()),
        target_storage_types: below.iter().map(|r| r.storage_type.number()).collect(),
        allow_lazy_persist: Some(setup.lazy_persist),
        pinning: Some(setup.pinnings.first().copied().unwrap_or(false)),
        target_pinnings: setup.pinnings.get(1..).unwrap_or_default().to_vec(),
        storage_id: Some(first.storage_id.clone()),
        target_storage_ids: below.iter().map(|r| r.storage_id.clone()).collect(),
    };
    op::encode(OpCode::WriteBlock, &message)
}

/// Lets `source` copy its replica to `target`, which is to join the pipeline.
pub(super) fn transfer(
    client: &Client,
    block: &ExtendedBlock,
    token: &TokenProto,
    source: &Replica,
    target: &Replica,
    sent_len: u64,
) -> io::Result<()> {
    let span = spans::of_request(OpCode::TransferBlock, block, &source.node);
    let _within = span.enter();
    let settings = &client.settings;
    // One more time-out for each 200 packets of 64 KB, as Hadoop's client gives.
    let multiplier = 2 + (sent_len / (200 * 65536)) as usize;
    let addr = client.transfer_addr(&source.node)?;
    let stream = client.connect(
        addr,
        settings.pipeline_read_timeout(multiplier),
        settings.pipeline_write_timeout(2),
    )?;
    let message = OpTransferBlockProto {
        header: header(client, block.clone(), token),
        targets: vec![target.node.proto().clone()],
        target_storage_types: vec![target.storage_type.number()],
        target_storage_ids: vec![target.storage_id.clone()],
    };
    (&stream).write_all(&op::encode(OpCode::TransferBlock, &message))?;
    let answer: BlockOpResponseProto = stream.read_message()?;
    match answer.status() {
        Status::Success => Ok(()),
        status => Err(io::Error::other(format!(
            "Failed to add a datanode. Response status: {}",
            status.as_str_name()
        ))),
    }
}
