//! Reads of an observer are not older than what their client has seen (`GlobalStateIdContext`).
//!
//! Each answer names the last transaction of the state that it comes from, and each request the newest one that its client has
//! seen. An observer answers a read when it has applied that transaction; `msync` asks the active NameNode for its last one.

use crate::call_error::CallError;
use crate::core::Core;
use crate::ha::HaState;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use zerohop_conf::{ConfError, keys};
use zerohop_system::clock;
use zerohop_transport::rpc::server::{Admission, RpcServer, StateAlignment};
use zerohop_wire::reads::{Freshness, read_freshness};

const CLIENT_PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";

/// Edits that an observer is taken to apply in a second, for a guess whether it makes sense to wait.
const APPLIED_PER_SECOND: f64 = 10_000.0 * 0.8;

/// What the port for clients knows of states.
pub(crate) struct StateIds {
    core: Arc<Core>,
    /// Longest wait of a call.
    wait_max: Duration,
}

impl StateIds {
    /// Has the port for clients say and obey states, where that is configured (`dfs.namenode.state.context.enabled`).
    ///
    /// # Errors
    /// If a value of the configuration is wrong.
    pub(crate) fn serve(server: &RpcServer, core: &Arc<Core>) -> Result<(), ConfError> {
        let is_enabled = core.conf.get(&keys::DFS_NAMENODE_STATE_CONTEXT_ENABLED)?;
        // The time after which Apache's server takes a client to be gone.
        let wait_max = core.conf.get(&keys::IPC_CLIENT_CONNECTION_MAXIDLETIME)? * 2;
        if is_enabled {
            server.align(Arc::new(Self { core: core.clone(), wait_max }));
        } else if core.ha.state() == HaState::Observer {
            tracing::warn!(
                "{} is false: reads of this observer may be older than what their clients have seen",
                keys::DFS_NAMENODE_STATE_CONTEXT_ENABLED.name
            );
        }
        Ok(())
    }

    fn is_far_behind(&self, seen: i64) -> bool {
        let behind = seen.saturating_sub(self.last_seen());
        behind as f64 > APPLIED_PER_SECOND * self.wait_max.as_secs() as f64
    }

    fn too_far_behind(&self, seen: i64) -> CallError {
        CallError::TooFarBehind { ours: self.last_seen(), seen }
    }

    /// Waits until what the client has seen is applied, or this NameNode follows edits no more.
    async fn wait_for(&self, seen: i64) -> Result<(), CallError> {
        let end = clock::runtime_now() + self.wait_max;
        loop {
            let mut advanced = pin!(self.core.served.advanced());
            // From here on nothing is missed.
            advanced.as_mut().enable();
            if self.last_seen() >= seen || !self.core.ha.serves_followed_reads() {
                return Ok(());
            }
            if tokio::time::timeout_at(end, advanced).await.is_err() {
                return Err(self.too_far_behind(seen));
            }
        }
    }
}

impl StateAlignment for StateIds {
    fn last_seen(&self) -> i64 {
        self.core.last_txid().0
    }

    fn admit(self: Arc<Self>, protocol: &str, method: &str, seen: Option<i64>) -> Admission {
        if !self.core.ha.serves_followed_reads()
            || protocol != CLIENT_PROTOCOL
            || read_freshness(method) != Some(Freshness::Coordinated)
        {
            return Admission::Now;
        }
        let is_observer = self.core.ha.state() == HaState::Observer;
        match seen {
            // Its client does not know of observers, and would take old answers for new ones.
            None if is_observer => Admission::Refused(CallError::NoStateId.into()),
            None => Admission::Now,
            Some(seen) if seen <= self.last_seen() => Admission::Now,
            Some(seen) if is_observer && self.is_far_behind(seen) => {
                Admission::Refused(self.too_far_behind(seen).into())
            }
            Some(seen) => Admission::Later(Box::pin(async move { Ok(self.wait_for(seen).await?) })),
        }
    }
}
