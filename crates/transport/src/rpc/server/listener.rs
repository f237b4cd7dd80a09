//! The port and the connections it has taken.

use super::activity::{CallActivity, QueueLength};
use super::alignment::StateAlignment;
use super::budget::Budget;
use super::connection;
use super::counters::ServerCounters;
use super::fair::{CallQueue, Handlers};
use super::options::ServerOptions;
use super::readers::Readers;
use super::service::RpcService;
use super::shared::Shared;
use parking_lot::Mutex;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use zerohop_daemon::log_limiter::LogLimiter;
use zerohop_system::clock;

/// Wait before accepting again where the system could not give a connection (no descriptors left).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A server on one port. Bound first, so that the port is known; started when its services are
/// registered; dropped or stopped, it closes every connection.
pub struct RpcServer {
    shared: Arc<Shared>,
    local: SocketAddr,
    listener: Mutex<Option<StdListener>>,
    accepting: Mutex<Option<JoinHandle<()>>>,
    readers: Mutex<Option<Arc<Readers>>>,
    handlers: Mutex<Option<Handlers>>,
}

impl RpcServer {
    /// Takes the port; 0 means any free one. Connections wait until [`start`](Self::start).
    pub fn bind(addr: SocketAddr, options: ServerOptions) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        socket.set_nonblocking(true)?;
        socket.bind(&addr.into())?;
        socket.listen(options.backlog)?;
        let listener: StdListener = socket.into();
        let local = listener.local_addr()?;
        let queue = options
            .fair
            .as_ref()
            .map(|fair| Arc::new(CallQueue::new(fair, options.waiting_calls_max)));
        let counters = Arc::<ServerCounters>::default();
        let activity = Arc::new(CallActivity::new(
            options.slow_calls,
            &options.quantiles,
            Arc::clone(&counters),
            queue.as_ref().map(length_of),
        ));
        let budget = Budget::new(options.request_memory_max, options.frame_len_max);
        let shared = Arc::new(Shared {
            queue,
            activity,
            budget,
            options,
            services: Mutex::default(),
            counters,
            closed: LogLimiter::default(),
            alignment: OnceLock::new(),
        });
        let listener = Mutex::new(Some(listener));
        Ok(Self {
            shared,
            local,
            listener,
            accepting: Mutex::default(),
            readers: Mutex::default(),
            handlers: Mutex::default(),
        })
    }

    /// Offers a protocol to connections that are made from now on.
    pub fn register(&self, service: Arc<dyn RpcService>) {
        self.shared.counters.know_methods(service.methods());
        let mut services = self.shared.services.lock();
        Arc::make_mut(&mut services).insert(service);
    }

    /// Has answers say which state they come from, and calls wait for states that their clients have seen; the first one stays.
    pub fn align(&self, alignment: Arc<dyn StateAlignment>) {
        _ = self.shared.alignment.set(alignment);
    }

    /// Where this server listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// Connections that are open.
    pub fn connections(&self) -> usize {
        self.shared.counters.connections.load(Ordering::Relaxed)
    }

    /// What its calls do.
    pub fn activity(&self) -> Arc<CallActivity> {
        Arc::clone(&self.shared.activity)
    }

    /// Returns the bytes that requests take of [`ServerOptions::request_memory_max`].
    #[cfg(test)]
    pub(crate) fn request_memory(&self) -> usize {
        self.shared.budget.used()
    }

    /// Calls that wait for their answer.
    pub fn waiting_calls(&self) -> usize {
        self.shared.counters.waiting.load(Ordering::Relaxed)
    }

    /// Serves, inside the caller's tokio runtime or by the threads that the options ask for. A
    /// second call does nothing.
    pub fn start(&self) -> io::Result<()> {
        let Some(listener) = self.listener.lock().take() else { return Ok(()) };
        let listener = TcpListener::from_std(listener)?;
        let options = &self.shared.options;
        let readers = match options.readers {
            0 => None,
            count => Some(Arc::new(Readers::start(&options.name, count)?)),
        };
        self.readers.lock().clone_from(&readers);
        if let Some(queue) = &self.shared.queue {
            let handlers = Handlers::start(&options.name, queue, options.handlers)?;
            *self.handlers.lock() = Some(handlers);
        }
        let task = tokio::spawn(accept_all(listener, Arc::clone(&self.shared), readers));
        *self.accepting.lock() = Some(task);
        Ok(())
    }

    /// Closes the port and every connection; answers not yet sent are lost.
    pub async fn stop(&self) {
        self.listener.lock().take();
        let task = self.accepting.lock().take();
        if let Some(task) = task {
            task.abort();
            // The task's JoinSet aborts the connections when it is dropped.
            let _ = task.await;
        }
        let readers = self.readers.lock().take().and_then(Arc::into_inner);
        let mut threads = readers.map(Readers::close).unwrap_or_default();
        let handlers = self.handlers.lock().take();
        threads.extend(handlers.into_iter().flat_map(Handlers::close));
        if !threads.is_empty() {
            let joined = tokio::task::spawn_blocking(move || {
                threads.into_iter().for_each(|thread| _ = thread.join());
            });
            let _ = joined.await;
        }
    }
}

impl Drop for RpcServer {
    fn drop(&mut self) {
        if let Some(task) = self.accepting.lock().take() {
            task.abort();
        }
    }
}

/// The queue's services know of this server's calls, so these do not hold the queue.
fn length_of(queue: &Arc<CallQueue>) -> QueueLength {
    let queue = Arc::downgrade(queue);
    Box::new(move || queue.upgrade().map_or(0, |queue| queue.len()))
}

async fn accept_all(listener: TcpListener, shared: Arc<Shared>, readers: Option<Arc<Readers>>) {
    let mut connections = JoinSet::new();
    let refused = LogLimiter::default();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, remote)) => admit(&mut connections, &shared, readers.as_deref(), stream, remote),
                Err(error) => {
                    if refused.allow() {
                        tracing::warn!("IPC Server listener on {}: {error}", shared.options.name);
                    }
                    clock::sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

fn admit(
    connections: &mut JoinSet<()>,
    shared: &Arc<Shared>,
    readers: Option<&Readers>,
    stream: TcpStream,
    remote: SocketAddr,
) {
    let limit = shared.options.connections_max;
    if shared.counters.connections.load(Ordering::Relaxed) >= limit {
        shared.counters.dropped_connections.increment();
        if shared.closed.allow() {
            tracing::warn!(
                "IPC Server on {}: {limit} connections are open, closed the one from {remote} \
                 (ipc.server.max.connections, or three quarters of the process's descriptors)",
                shared.options.name
            );
        }
        return;
    }
    if let Err(error) = stream.set_nodelay(shared.options.tcp_nodelay) {
        tracing::debug!("{remote}: {error}");
    }
    shared.counters.connections.fetch_add(1, Ordering::Relaxed);
    let counted = Counted(Arc::clone(shared));
    let serve = move |stream| async move {
        connection::serve(stream, remote, &counted.0).await;
    };
    match readers {
        Some(readers) => readers.serve(stream, remote, serve),
        None => _ = connections.spawn(serve(stream)),
    }
}

/// Takes a connection off the count, however its task ends.
struct Counted(Arc<Shared>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.counters.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
