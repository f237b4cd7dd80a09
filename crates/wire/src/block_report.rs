//! The replicas of a storage as a DataNode reports them: a run of varints, four a replica.
//!
//! ```text
//! +----------------+--------+------------------+--------+--
//! | block id       | length | generation stamp | state  |
//! | zig-zag varint | varint | varint           | varint |
//! +----------------+--------+------------------+--------+--
//! ```
//! The run is cut into buffers of 64 KiB, anywhere. Readers mask the length to 48 bits and the state
//! to 4. DataNodes of Hadoop 2 send a list of longs instead: two counts, the finalized replicas with
//! three longs each, three times -1, the others with four. (`protocol/BlockListAsLongs`)

use crate::block::Block;
use crate::ids::{BlockId, GenerationStamp};
use bytes::Bytes;
use std::fmt;

/// Bytes of each buffer but the last.
pub const BUFFER_LEN: usize = 64 * 1024;

const LEN_MASK: u64 = (1 << 48) - 1;
const STATE_MASK: u64 = 0xf;

/// The state of a replica on its DataNode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReplicaState {
    /// Complete; no client writes to it.
    Finalized,
    /// Being written.
    Rbw,
    /// Was being written when its DataNode stopped; waits for recovery.
    Rwr,
    /// Under recovery.
    Rur,
    /// Being copied here from another DataNode; a restart drops it.
    Temporary,
}

impl ReplicaState {
    /// The state with this number.
    pub const fn from_code(code: u64) -> Option<Self> {
        match code {
            0 => Some(Self::Finalized),
            1 => Some(Self::Rbw),
            2 => Some(Self::Rwr),
            3 => Some(Self::Rur),
            4 => Some(Self::Temporary),
            _ => None,
        }
    }

    /// Hadoop's name of the state.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Finalized => "FINALIZED",
            Self::Rbw => "RBW",
            Self::Rwr => "RWR",
            Self::Rur => "RUR",
            Self::Temporary => "TEMPORARY",
        }
    }
}

impl fmt::Display for ReplicaState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A replica in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportedReplica {
    /// The block with the length on disk.
    pub block: Block,
    /// Its state.
    pub state: ReplicaState,
}

/// The report cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportError {
    /// It ends within a replica, or holds fewer than announced.
    Truncated,
    /// A number is longer than ten bytes.
    Varint,
    /// A state that does not exist.
    State(u64),
    /// The list of longs lacks its delimiter.
    Delimiter,
}

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("block report ends within a replica"),
            Self::Varint => f.write_str("block report holds a number of more than ten bytes"),
            Self::State(state) => write!(f, "block report holds the unknown replica state {state}"),
            Self::Delimiter => f.write_str("block report lacks its delimiter"),
        }
    }
}

impl std::error::Error for ReportError {}

/// Builds a report, replica after replica.
#[derive(Debug, Default)]
pub struct ReportBuilder {
    bytes: Vec<u8>,
    count: u64,
}

impl ReportBuilder {
    /// Adds a replica.
    pub fn add(&mut self, replica: &ReportedReplica) {
        let id = replica.block.id.0;
        self.varint((id.wrapping_shl(1) ^ (id >> 63)) as u64);
        self.varint(replica.block.len);
        self.varint(replica.block.stamp.0 as u64);
        self.varint(replica.state as u64);
        self.count += 1;
    }

    fn varint(&mut self, value: u64) {
        prost::encoding::encode_varint(value, &mut self.bytes);
    }

    /// How many replicas it holds: the message's `numberOfBlocks`.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The message's `blocksBuffers`; one empty buffer for no replicas, as Hadoop sends it.
    pub fn into_buffers(self) -> Vec<Bytes> {
        let all = Bytes::from(self.bytes);
        let cut = |start| all.slice(start..all.len().min(start + BUFFER_LEN));
        (0..all.len().max(1)).step_by(BUFFER_LEN).map(cut).collect()
    }
}

/// The replicas of a report in buffers; ends after the announced count or the first error.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    rest: &'a [u8],
    buffers: std::slice::Iter<'a, Bytes>,
    left: u64,
}

impl<'a> Report<'a> {
    /// A report of `count` replicas. Memory for them is not taken: the count is a promise only.
    pub fn new(count: u64, buffers: &'a [Bytes]) -> Self {
        Self { rest: &[], buffers: buffers.iter(), left: count }
    }

    fn byte(&mut self) -> Result<u8, ReportError> {
        loop {
            if let Some((first, rest)) = self.rest.split_first() {
                self.rest = rest;
                return Ok(*first);
            }
            self.rest = self.buffers.next().ok_or(ReportError::Truncated)?;
        }
    }

    fn varint(&mut self) -> Result<u64, ReportError> {
        let mut value = 0u64;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).wrapping_shl(shift);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(ReportError::Varint)
    }

    fn replica(&mut self) -> Result<ReportedReplica, ReportError> {
        let id = self.varint()?;
        let id = BlockId((id >> 1) as i64 ^ -((id & 1) as i64));
        let len = self.varint()? & LEN_MASK;
        let stamp = GenerationStamp(self.varint()? as i64);
        let state = self.varint()? & STATE_MASK;
        let state = ReplicaState::from_code(state).ok_or(ReportError::State(state))?;
        Ok(ReportedReplica { block: Block { id, stamp, len }, state })
    }
}

impl Iterator for Report<'_> {
    type Item = Result<ReportedReplica, ReportError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let replica = self.replica();
        if replica.is_err() {
            self.left = 0;
        }
        Some(replica)
    }
}

/// The replicas of a report in longs, as DataNodes of Hadoop 2 send it.
pub fn decode_longs(longs: &[u64]) -> Result<Vec<ReportedReplica>, ReportError> {
    let Some(([finalized, _others], rest)) = longs.split_first_chunk::<2>() else {
        return if longs.is_empty() { Ok(Vec::new()) } else { Err(ReportError::Truncated) };
    };
    let finalized = usize::try_from(*finalized).ok().and_then(|count| count.checked_mul(3));
    let (finalized, rest) =
        finalized.and_then(|len| rest.split_at_checked(len)).ok_or(ReportError::Truncated)?;
    let block = |id: u64, len: u64, stamp: u64| Block {
        id: BlockId(id as i64),
        stamp: GenerationStamp(stamp as i64),
        len: len & LEN_MASK,
    };
    let mut replicas = Vec::with_capacity(longs.len() / 3);
    for [id, len, stamp] in finalized.as_chunks::<3>().0 {
        let block = block(*id, *len, *stamp);
        replicas.push(ReportedReplica { block, state: ReplicaState::Finalized });
    }
    let others = match rest {
        [] => return Ok(replicas),
        [u64::MAX, u64::MAX, u64::MAX, others @ ..] => others,
        _ => return Err(ReportError::Delimiter),
    };
    let (others, leftover) = others.as_chunks::<4>();
    for [id, len, stamp, state] in others {
        let state = ReplicaState::from_code(*state).ok_or(ReportError::State(*state))?;
        replicas.push(ReportedReplica { block: block(*id, *len, *stamp), state });
    }
    if leftover.is_empty() { Ok(replicas) } else { Err(ReportError::Truncated) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn replicas() -> impl Strategy<Value = ReportedReplica> {
        let fields = (any::<i64>(), 0..=LEN_MASK, any::<i64>(), 0u64..5);
        fields.prop_map(|(id, len, stamp, state)| ReportedReplica {
            block: Block { id: BlockId(id), stamp: GenerationStamp(stamp), len },
            state: ReplicaState::from_code(state).unwrap(),
        })
    }

    fn build(replicas: &[ReportedReplica]) -> (u64, Vec<Bytes>) {
        let mut report = ReportBuilder::default();
        replicas.iter().for_each(|replica| report.add(replica));
        (report.count(), report.into_buffers())
    }

    proptest! {
        #[test]
        fn a_report_goes_there_and_back_however_it_is_cut(
            replicas in prop::collection::vec(replicas(), 0..40), cut in 1usize..9,
        ) {
            let (count, buffers) = build(&replicas);
            let read: Result<Vec<_>, _> = Report::new(count, &buffers).collect();
            prop_assert_eq!(read.as_ref(), Ok(&replicas));
            let crumbs: Vec<Bytes> = buffers.iter()
                .flat_map(|b| b.chunks(cut).map(Bytes::copy_from_slice)).collect();
            let read: Result<Vec<_>, _> = Report::new(count, &crumbs).collect();
            prop_assert_eq!(read.as_ref(), Ok(&replicas));
        }

        #[test]
        fn random_bytes_never_panic(count: u64, bytes: Vec<u8>, longs: Vec<u64>) {
            let buffers = [Bytes::from(bytes)];
            let _ = Report::new(count, &buffers).last();
            let _ = decode_longs(&longs);
        }
    }

    #[test]
    fn long_reports_come_in_buffers_of_64_kib() {
        let block = Block { id: BlockId(1 << 30), stamp: GenerationStamp(1001), len: 1 << 27 };
        let all = vec![ReportedReplica { block, state: ReplicaState::Finalized }; 10_000];
        let (count, buffers) = build(&all);
        assert_eq!(buffers[0].len(), BUFFER_LEN);
        assert_eq!(Report::new(count, &buffers).filter_map(Result::ok).count(), 10_000);
        assert_eq!(build(&[]).1, [Bytes::new()]);
    }

    #[test]
    fn a_report_of_longs_has_a_delimiter() {
        let gap = u64::MAX;
        let read = decode_longs(&[1, 1, 7, 100, 1001, gap, gap, gap, 8, 50, 1002, 1]).unwrap();
        let states: Vec<_> = read.iter().map(|replica| replica.state).collect();
        assert_eq!(states, [ReplicaState::Finalized, ReplicaState::Rbw]);
        assert_eq!(decode_longs(&[0, 1, 8, 50, 1002]), Err(ReportError::Delimiter));
    }
}
