//! Keeps what is being written alive: leases at the NameNode, pipelines at the DataNodes.

use crate::client::Client;
use crate::write::Keepable;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Half of the soft limit, after which another client may take a file over.
const RENEW_AFTER: Duration = Duration::from_secs(30);
/// Time between two looks.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// The files that a client is writing.
#[derive(Default)]
pub(crate) struct Leases(Mutex<State>);

#[derive(Default)]
struct State {
    writers: Vec<Weak<dyn Keepable>>,
    is_kept: bool,
}

impl Leases {
    /// Keeps `writer` alive until it is dropped or says that it is closed.
    pub(crate) fn keep(&self, client: &Arc<Client>, writer: Weak<dyn Keepable>) {
        let mut state = self.0.lock();
        state.writers.push(writer);
        if !state.is_kept {
            state.is_kept = true;
            client.runtime.spawn(keep_all(Arc::downgrade(client)));
        }
    }

    /// The writers that are open; when there are none, nobody looks after them any more.
    fn open(&self) -> Vec<Arc<dyn Keepable>> {
        let mut state = self.0.lock();
        state.writers.retain(|writer| writer.upgrade().is_some_and(|w| w.is_open()));
        state.is_kept = !state.writers.is_empty();
        state.writers.iter().filter_map(Weak::upgrade).collect()
    }
}

async fn keep_all(client: Weak<Client>) {
    let mut renewed = Instant::now();
    loop {
        tokio::time::sleep(LOOK_INTERVAL).await;
        let Some(client) = client.upgrade() else { return };
        let writers = client.leases.open();
        if writers.is_empty() {
            return;
        }
        if renewed.elapsed() >= RENEW_AFTER {
            match client.namenode.renew_lease(&client.name).await {
                Ok(()) => renewed = Instant::now(),
                Err(error) => tracing::warn!("Failed to renew lease for {}: {error}", client.name),
            }
        }
        for writer in writers.into_iter().filter(|writer| writer.is_quiet()) {
            tokio::task::spawn_blocking(move || writer.heartbeat());
        }
    }
}
