//! The operations on blocks that run now, and how many have ended.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_daemon::metrics::IntervalMean;
use zerohop_system::clock;
use zerohop_wire::ExtendedBlock;
use zerohop_wire::transfer::op::{OpCode, Request};

/// Longer names of clients are cut.
const CLIENT_NAME_MAX: usize = 255;

/// The operations of one DataNode.
#[derive(Debug, Default)]
pub(crate) struct RunningOperations(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    next: u64,
    running: BTreeMap<u64, RunningOperation>,
    ended: BTreeMap<&'static str, OperationTimes>,
}

/// An operation that runs.
#[derive(Clone, Debug)]
pub(crate) struct RunningOperation {
    pub(crate) code: OpCode,
    pub(crate) block: ExtendedBlock,
    /// Who asked, by address.
    pub(crate) peer: String,
    /// The name of the client; empty for a DataNode.
    pub(crate) client: String,
    /// The DataNodes after this one in the pipeline.
    pub(crate) downstream: Vec<String>,
    pub(crate) begun: Instant,
}

/// The operations of a kind that have ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OperationTimes {
    pub(crate) count: u64,
    pub(crate) total: Duration,
    /// How long one takes lately, in milliseconds.
    pub(crate) lately: IntervalMean,
}

/// One operation, until it is dropped.
#[derive(Debug)]
pub(crate) struct OperationGuard {
    all: Arc<RunningOperations>,
    id: u64,
}

impl RunningOperations {
    /// An operation begins; none for those that are not about one block.
    pub(crate) fn begin(self: &Arc<Self>, request: &Request, peer: &str) -> Option<OperationGuard> {
        let (header, client, targets) = match request {
            Request::WriteBlock(op) => {
                (&op.header.base_header, op.header.client_name.as_str(), op.targets.as_slice())
            }
            Request::ReadBlock(op) => {
                (&op.header.base_header, op.header.client_name.as_str(), &[][..])
            }
            Request::TransferBlock(op) => {
                (&op.header.base_header, op.header.client_name.as_str(), op.targets.as_slice())
            }
            Request::ReplaceBlock(op) => (&op.header, "", &[][..]),
            Request::CopyBlock(op) => (&op.header, "", &[][..]),
            Request::BlockChecksum(op) => (&op.header, "", &[][..]),
            _ => return None,
        };
        let name = |id: &zerohop_proto::hdfs::DatanodeIdProto| {
            format!("{}:{}", id.host_name, id.xfer_port)
        };
        let operation = RunningOperation {
            code: request.code(),
            block: ExtendedBlock::from(&header.block),
            peer: peer.to_owned(),
            client: client.chars().take(CLIENT_NAME_MAX).collect(),
            downstream: targets.iter().map(|target| name(&target.id)).collect(),
            begun: clock::now(),
        };
        let mut state = self.0.lock();
        let id = state.next;
        state.next += 1;
        state.running.insert(id, operation);
        drop(state);
        Some(OperationGuard { all: Arc::clone(self), id })
    }

    /// Those that run, the oldest first.
    pub(crate) fn running(&self) -> Vec<RunningOperation> {
        self.0.lock().running.values().cloned().collect()
    }

    /// Those that have ended, by kind.
    pub(crate) fn ended(&self) -> BTreeMap<&'static str, OperationTimes> {
        self.0.lock().ended.clone()
    }
}

impl Drop for OperationGuard {
    fn drop(&mut self) {
        let mut state = self.all.0.lock();
        if let Some(operation) = state.running.remove(&self.id) {
            let times = state.ended.entry(operation.code.name()).or_default();
            let (now, took) = (clock::now(), clock::since(operation.begun));
            times.count += 1;
            times.total += took;
            times.lately.add(now, took.as_secs_f64() * 1000.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_proto::hdfs::OpReadBlockProto;

    #[test]
    fn an_operation_is_shown_until_its_guard_is_dropped() {
        let all = Arc::new(RunningOperations::default());
        let mut read = OpReadBlockProto::default();
        read.header.client_name = "x".repeat(1000);
        let guard = all.begin(&Request::ReadBlock(Box::new(read)), "/127.0.0.1:1").unwrap();
        let running = all.running();
        assert_eq!((running.len(), running[0].client.len()), (1, CLIENT_NAME_MAX));
        assert!(all.ended().is_empty());
        drop(guard);
        assert!(all.running().is_empty());
        assert_eq!(all.ended().values().map(|times| times.count).sum::<u64>(), 1);
    }
}
