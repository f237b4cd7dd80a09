//! Keeps the files that are being written alive: their leases at the NameNode, their pipelines at the DataNodes.

use crate::namenode::NameNode;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use zerohop_system::clock;

/// Half of the soft limit, after which another client may take a file over.
const RENEW_AFTER: Duration = Duration::from_secs(30);
/// Time between two checks of the open writers.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// State of an open file between two calls of its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Idle {
    /// Nothing to do, or a call is under way.
    Well,
    /// A heartbeat is due.
    Quiet,
    /// The pipeline has failed.
    Broken,
}

/// What is kept alive while a file is open for writing.
pub(crate) trait Keepable: Send + Sync {
    /// Whether its lease is still needed.
    fn is_open(&self) -> bool;
    /// Reads the answers of its DataNodes that have arrived, without waiting.
    fn look(&self) -> Idle;
    /// Sends a heartbeat down its pipeline. Blocks the thread.
    fn heartbeat(&self);
    /// Starts the recovery of its pipeline in the background, as Hadoop's client does in a thread of its own: a writer that waits
    /// for its next call may lose the other DataNodes, too.
    fn repair(self: Arc<Self>);
}

/// The files that a client is writing.
pub(crate) struct Leases {
    namenode: NameNode,
    /// The client's name, which the leases are given to.
    holder: String,
    runtime: Handle,
    pace: Pace,
    state: Mutex<State>,
}

/// How often writers are checked and leases renewed.
#[derive(Clone, Copy)]
struct Pace {
    look_interval: Duration,
    renew_after: Duration,
}

const PACE: Pace = Pace { look_interval: LOOK_INTERVAL, renew_after: RENEW_AFTER };

#[derive(Default)]
struct State {
    writers: Vec<Weak<dyn Keepable>>,
    is_kept: bool,
}

impl Leases {
    pub(crate) fn new(namenode: NameNode, holder: String, runtime: Handle) -> Arc<Self> {
        Self::with_pace(namenode, holder, runtime, PACE)
    }

    fn with_pace(namenode: NameNode, holder: String, runtime: Handle, pace: Pace) -> Arc<Self> {
        Arc::new(Self { namenode, holder, runtime, pace, state: Mutex::default() })
    }

    /// Keeps `writer` alive until it is dropped or closed.
    pub(crate) fn keep(self: &Arc<Self>, writer: Weak<dyn Keepable>) {
        let mut state = self.state.lock();
        state.writers.push(writer);
        if !state.is_kept {
            state.is_kept = true;
            self.runtime.spawn(keep_all(Arc::downgrade(self)));
        }
    }

    /// The writers that are open; without any, the task that keeps them alive ends.
    fn open(&self) -> Vec<Arc<dyn Keepable>> {
        let mut state = self.state.lock();
        // Each is looked at once: one may be dropped at any moment.
        let writers: Vec<_> = state.writers.iter().filter_map(Weak::upgrade).collect();
        let (open, closed): (Vec<_>, Vec<_>) = writers.into_iter().partition(|w| w.is_open());
        state.writers = open.iter().map(Arc::downgrade).collect();
        state.is_kept = !open.is_empty();
        drop(state);
        // May be the last of a writer, and that of a client.
        drop(closed);
        open
    }
}

/// Pipelines come first: a DataNode ends a silent one after a minute, and a NameNode that hangs
/// delays a renewal for longer.
async fn keep_all(leases: Weak<Leases>) {
    let mut renewed = clock::now();
    let mut renewal: Option<JoinHandle<bool>> = None;
    let Some(Pace { look_interval, renew_after }) = leases.upgrade().map(|l| l.pace) else {
        return;
    };
    loop {
        clock::sleep(look_interval).await;
        let Some(leases) = leases.upgrade() else { return };
        let writers = leases.open();
        if writers.is_empty() {
            return;
        }
        for writer in writers {
            match writer.look() {
                Idle::Well => {}
                Idle::Quiet => drop(tokio::task::spawn_blocking(move || writer.heartbeat())),
                Idle::Broken => writer.repair(),
            }
        }
        if let Some(ended) = renewal.take_if(|renewal| renewal.is_finished())
            && ended.await.unwrap_or(false)
        {
            renewed = clock::now();
        }
        if renewal.is_none() && clock::since(renewed) >= renew_after {
            let (namenode, holder) = (leases.namenode.clone(), leases.holder.clone());
            renewal = Some(tokio::spawn(renew(namenode, holder)));
        }
    }
}

/// Whether the leases were renewed.
async fn renew(namenode: NameNode, holder: String) -> bool {
    let result = namenode.renew_lease(&holder).await;
    if let Err(error) = &result {
        tracing::warn!("Failed to renew lease for {holder}: {error}");
    }
    result.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Cluster;
    use crate::runtime;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use zerohop_transport::rpc::Reply;

    const FAST: Pace =
        Pace { look_interval: Duration::from_millis(5), renew_after: Duration::from_millis(10) };
    const PATIENCE: Duration = Duration::from_secs(20);

    /// Reports each heartbeat.
    struct Writer {
        heartbeats: mpsc::SyncSender<()>,
        /// Taken and dropped while it is looked at.
        itself: Mutex<Option<Arc<Writer>>>,
    }

    impl Writer {
        fn new() -> (Arc<Self>, mpsc::Receiver<()>) {
            let (heartbeats, heard) = mpsc::sync_channel(100);
            (Arc::new(Self { heartbeats, itself: Mutex::default() }), heard)
        }
    }

    impl Keepable for Writer {
        fn is_open(&self) -> bool {
            self.itself.lock().take();
            true
        }

        fn look(&self) -> Idle {
            Idle::Quiet
        }

        fn heartbeat(&self) {
            _ = self.heartbeats.try_send(());
        }

        fn repair(self: Arc<Self>) {}
    }

    fn leases(cluster: &Cluster) -> Arc<Leases> {
        let namenode = cluster.client.namenode.clone();
        Leases::with_pace(namenode, "me".to_owned(), runtime::background().unwrap(), FAST)
    }

    /// A renewal that waited for its answer held the heartbeats up until the DataNodes gave up.
    #[test]
    fn a_namenode_that_hangs_holds_no_heartbeat_up() {
        let renewals = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&renewals);
        let cluster = Cluster::answering(move |method, _| {
            assert_eq!(method, "renewLease");
            counted.fetch_add(1, Ordering::SeqCst);
            Reply::later(std::future::pending())
        });
        let leases = leases(&cluster);
        let (writer, heard) = Writer::new();
        let kept: Weak<Writer> = Arc::downgrade(&writer);
        leases.keep(kept);
        let mut after_renewal = 0;
        while after_renewal < 10 {
            heard.recv_timeout(PATIENCE).expect("a heartbeat");
            after_renewal += renewals.load(Ordering::SeqCst).min(1);
        }
        assert_eq!(renewals.load(Ordering::SeqCst), 1, "one at a time");
    }

    /// The writer was open when it was looked at first and dropped when it was looked at again: then
    /// the next writers were not kept alive.
    #[test]
    fn a_writer_dropped_while_it_is_looked_at_leaves_the_next_one_kept() {
        let cluster = Cluster::answering(|_, _| Reply::later(std::future::pending()));
        let leases = leases(&cluster);
        let (writer, _heard) = Writer::new();
        let kept: Weak<Writer> = Arc::downgrade(&writer);
        *writer.itself.lock() = Some(Arc::clone(&writer));
        drop(writer);
        leases.keep(kept.clone());
        while kept.upgrade().is_some() {
            std::thread::yield_now();
        }
        let (next, heard) = Writer::new();
        let kept: Weak<Writer> = Arc::downgrade(&next);
        leases.keep(kept);
        heard.recv_timeout(PATIENCE).expect("a heartbeat");
    }
}
