//! Keeps what is being written alive: leases at the NameNode, pipelines at the DataNodes.

use crate::namenode::NameNode;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// Half of the soft limit, after which another client may take a file over.
const RENEW_AFTER: Duration = Duration::from_secs(30);
/// Time between two looks.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// What is kept alive while a file is open for writing.
pub(crate) trait Keepable: Send + Sync {
    /// Whether its lease is still needed.
    fn is_open(&self) -> bool;
    /// Whether its pipeline has heard nothing for a while.
    fn is_quiet(&self) -> bool;
    /// Tells its pipeline that the writer lives. Blocks the thread.
    fn heartbeat(&self);
}

/// The files that a client is writing.
pub(crate) struct Leases {
    namenode: NameNode,
    /// The client's name, which the leases are given to.
    holder: String,
    runtime: Handle,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    writers: Vec<Weak<dyn Keepable>>,
    is_kept: bool,
}

impl Leases {
    pub(crate) fn new(namenode: NameNode, holder: String, runtime: Handle) -> Arc<Self> {
        Arc::new(Self { namenode, holder, runtime, state: Mutex::default() })
    }

    /// Keeps `writer` alive until it is dropped or says that it is closed.
    pub(crate) fn keep(self: &Arc<Self>, writer: Weak<dyn Keepable>) {
        let mut state = self.state.lock();
        state.writers.push(writer);
        if !state.is_kept {
            state.is_kept = true;
            self.runtime.spawn(keep_all(Arc::downgrade(self)));
        }
    }

    /// The writers that are open; when there are none, nobody looks after them any more.
    fn open(&self) -> Vec<Arc<dyn Keepable>> {
        let mut state = self.state.lock();
        state.writers.retain(|writer| writer.upgrade().is_some_and(|w| w.is_open()));
        state.is_kept = !state.writers.is_empty();
        state.writers.iter().filter_map(Weak::upgrade).collect()
    }
}

async fn keep_all(leases: Weak<Leases>) {
    let mut renewed = Instant::now();
    loop {
        tokio::time::sleep(LOOK_INTERVAL).await;
        let Some(leases) = leases.upgrade() else { return };
        let writers = leases.open();
        if writers.is_empty() {
            return;
        }
        if renewed.elapsed() >= RENEW_AFTER {
            let holder = &leases.holder;
            match leases.namenode.renew_lease(holder).await {
                Ok(()) => renewed = Instant::now(),
                Err(error) => tracing::warn!("Failed to renew lease for {holder}: {error}"),
            }
        }
        for writer in writers.into_iter().filter(|writer| writer.is_quiet()) {
            tokio::task::spawn_blocking(move || writer.heartbeat());
        }
    }
}
